"""Controls an arm by joint torques along a desired trajectory; the laws are in ``control.joint_space_control``."""

from functools import partial

import numpy as np
from rclpy.lifecycle import TransitionCallbackReturn

from robot_dynamics_ros.control.joint_space_control import Hold, JointSpaceControl, gains
from robot_dynamics_ros.control.joint_space_law import JointSpaceLaw
from robot_dynamics_ros.control.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.nodes.feedforward_input import TOPIC, FeedforwardInput
from robot_dynamics_ros.nodes.process import run
from robot_dynamics_ros.nodes.torque_node import TorqueNode
from robot_dynamics_ros.nodes.torque_publishers import CommandArray
from robot_dynamics_ros.nodes.trajectory_input import TrajectoryInput


class TorqueController(TorqueNode):
    """``joint_states``, ``joint_trajectory`` and ``feedforward_torque`` with its info in, ``effort_commands`` out.

    Without a trajectory, or before it begins, it holds the measured position by PD + gravity. In pd_feedforward it
    follows only while a feedforward torque belongs to the state, by stamp and within ``feedforward_age_limit``, and
    its info fits. Law and gains may be changed while the node is inactive.
    """

    def __init__(self, **options):
        """Declare the parameters."""
        checks = {name: partial(self._check_gains, name) for name in ('stiffness', 'damping')}
        super().__init__('torque_controller', checks, **options)

    def setup(self) -> None:
        """Create the inputs beside those of every torque node."""
        self._desired = np.zeros((3, self.robot.nv))
        self._follower = TrajectoryFollower(self.robot, self._desired, self.value('start_tolerance'), self.refuse)
        super().setup()
        self.trajectory = self.add(TrajectoryInput(self, self._follower))

    def inputs(self) -> dict:
        """Return the handler of the feedforward torque."""
        self._feedforward = self.add(FeedforwardInput(self, self.value('feedforward_age_limit')))
        return {TOPIC: self._feedforward.on_torque}

    def make_law(self) -> JointSpaceLaw:
        """Return the law that the parameters say; DynamicsError where they are wrong."""
        law, terms = self.value('control_law'), self.ownership.terms
        gains = self.value('stiffness'), self.value('damping')
        bandwidth = self.value('bandwidth')
        control = self.blended(lambda robot: JointSpaceControl(robot, law, *gains, bandwidth, terms))
        hold = self.blended(lambda robot: Hold(robot, *gains, terms))
        self._law_name = law
        feedforward = self._feedforward if law == 'pd_feedforward' else None
        return JointSpaceLaw(self._follower, self._desired, control, hold, feedforward)

    def make_output(self) -> CommandArray:
        """Return the publisher; ArgumentError where the robot takes no torques."""
        if not self.ownership.takes_commands:
            raise ArgumentError(f'preset {self.value("preset")}: the robot takes no torques')
        return CommandArray(self, 'effort_commands')

    def on_activate(self, state):
        """Take law and gains as the parameters are now."""
        try:
            self.renew_law()
            self.warm_up()
        except DynamicsError as error:
            self.get_logger().error(f'not activated: {error}')
            self.silence = f'not activated: {error}'
            return TransitionCallbackReturn.FAILURE
        self._feedforward.reset()  # what came before counts no more
        return super().on_activate(state)

    def load_changed(self) -> None:
        """Compare the feedforward torque's payload and gravity with the new ones, too."""
        super().load_changed()
        self._feedforward.compare()

    def report(self) -> dict[str, str]:
        """Add the law."""
        return {**super().report(), 'control law': self._law_name}

    def _check_gains(self, name: str, values) -> None:
        gains(name, values, self.robot.nv)


def main():
    """Run the node."""
    run(TorqueController)


if __name__ == '__main__':
    main()
