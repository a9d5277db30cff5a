"""Controls an arm by joint torques along a desired trajectory; the laws are in ``control.joint_control``."""

from functools import partial

import numpy as np
from rclpy.lifecycle import TransitionCallbackReturn

from robot_dynamics_ros.control.handover import Handover
from robot_dynamics_ros.control.joint_control import LAWS, JointControl
from robot_dynamics_ros.dynamics.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.nodes.process import run
from robot_dynamics_ros.nodes.state_input import JointStateInput
from robot_dynamics_ros.nodes.torque_node import CommandArray
from robot_dynamics_ros.nodes.trajectory_node import TrajectoryNode
from robot_dynamics_ros.nodes.wire import stamp_of


class TorqueController(TrajectoryNode):
    """``joint_states``, ``joint_trajectory`` and ``feedforward_torque`` in, ``effort_commands`` out.

    Without a trajectory, or before it begins, it holds the position in which it meets the arm. In pd_feedforward it
    is silent unless a feedforward torque belongs to the state, by stamp and within ``feedforward_age_limit``. Law and
    gains may be changed while the node is inactive.
    """

    def __init__(self, **options):
        """Declare the parameters."""
        super().__init__('torque_controller', **options)
        self.declare(
            'control_law', 'pd_feedforward', f'one of {", ".join(LAWS)}; taken at activation, as the gains are'
        )
        self.declare('stiffness', [300.0, 400.0, 300.0, 60.0, 60.0, 60.0], 'Kp of each joint, N m/rad')
        self.declare('damping', [30.0, 40.0, 30.0, 4.0, 4.0, 4.0], 'Kd of each joint, N m s/rad')
        self.declare('bandwidth', 10.0, 'of computed_torque, rad/s', low=0.1, high=1000.0)
        self.declare(
            'feedforward_age_limit',
            0.05,
            'how far a feedforward torque may lie from the state, s',
            low=0.0,
            high=10.0,
        )

    def setup(self) -> None:
        """Create the inputs, the output and the law."""
        self._feedforward_age_limit = int(self.value('feedforward_age_limit') * 1e9)
        self._feedforward_stamp = 0
        self._feedforward_input = JointStateInput(self.robot.joint_names, 'effort')
        (self._feedforward,) = self._feedforward_input.numbers
        self._hold: np.ndarray | None = None
        super().setup()
        self._choose_law()

    def inputs(self) -> dict:
        """Return the handler of the feedforward torque."""
        return {'feedforward_torque': self._on_feedforward}

    def create_outputs(self) -> None:
        """Create the publisher; ArgumentError where the robot takes no torques."""
        if not self.ownership.takes_commands:
            raise ArgumentError(f'preset {self.value("preset")}: the robot takes no torques')
        self._commands = CommandArray(self, 'effort_commands')

    def warm_ups(self) -> dict:
        """Add the law."""
        rest = np.zeros((3, self.robot.nv))
        call = partial(self._control.torque, 0, rest[0], rest[1], rest, self._feedforward, out=self.torque)
        return {**super().warm_ups(), self._control.after.law: call}

    def on_activate(self, state):
        """Take law and gains as the parameters are now, and hold the arm where the next state says it is."""
        try:
            self._choose_law()
            self.warm_up()
        except DynamicsError as error:
            self.get_logger().error(f'not activated: {error}')
            self.silence = f'not activated: {error}'
            return TransitionCallbackReturn.FAILURE
        self._hold = None
        self._feedforward_stamp = 0  # what came before counts no more
        return super().on_activate(state)

    def report(self) -> dict[str, str]:
        """Add the law."""
        return {**super().report(), 'control law': self._control.after.law}

    def handovers(self) -> list[Handover]:
        """Add the law."""
        return [*super().handovers(), self._control]

    def compute(self, stamp: int) -> str:
        """Write the law's torque for the measured state."""
        if not self.state.has_velocity:
            return 'the joint state has no velocities'
        if self._needs_feedforward and abs(stamp - self._feedforward_stamp) > self._feedforward_age_limit:
            return 'no feedforward torque for this state'
        if not self.trajectory.follow(stamp, self.state.q, self.state.qd):
            self._hold = None
        else:
            if self._hold is None:
                self._hold = self.state.q.copy()
            for desired, held in zip(self.desired, (self._hold, 0.0, 0.0), strict=True):
                desired[:] = held
        self._control.torque(stamp, self.state.q, self.state.qd, self.desired, self._feedforward, out=self.torque)
        return ''

    def publish(self, stamp) -> None:
        """Publish the command."""
        self._commands.publish()

    def _choose_law(self) -> None:
        """Make the law that the parameters say; DynamicsError where they are wrong."""
        gains = (self.value('stiffness'), self.value('damping'), self.value('bandwidth'))
        law = self.value('control_law')
        self._control = Handover(
            lambda robot: JointControl(robot, law, *gains, self.ownership.terms), self.load.robot, self.load.ramp
        )
        self._needs_feedforward = law == 'pd_feedforward'

    def _on_feedforward(self, data: bytes) -> None:
        """Keep the newest feedforward torque; a wrong one is refused by name, and none is left."""
        self._feedforward_stamp = 0
        try:
            if self._feedforward_input.receive(data):
                self._feedforward_stamp = stamp_of(data)
            else:
                self.refuse(f'feedforward torque refused: {self._feedforward_input.missing("effort")}')
        except DynamicsError as error:
            self.refuse(f'feedforward torque refused: {error}')
        except Exception as error:  # no exception leaves a callback
            self.refuse(f'feedforward torque refused: internal error: {error!r}')


def main():
    """Run the node."""
    run(TorqueController)


if __name__ == '__main__':
    main()
