"""Controls an arm by joint torques along a desired trajectory; the laws are in ``control.joint_space_control``."""

from functools import partial

import numpy as np

from robot_dynamics_ros.control.gain_limits import SampledLaw, SamplingLimit, check_stated
from robot_dynamics_ros.control.hold_position import HoldPosition
from robot_dynamics_ros.control.joint_space_control import Hold, JointSpaceControl, gains
from robot_dynamics_ros.control.joint_space_law import JointSpaceLaw
from robot_dynamics_ros.control.law import Law
from robot_dynamics_ros.control.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.base_node import BaseNode
from robot_dynamics_ros.nodes.control_loop import ControlLoop
from robot_dynamics_ros.nodes.controlled_arm import ControlledArm, torque_checks
from robot_dynamics_ros.nodes.feedforward_input import FeedforwardInput
from robot_dynamics_ros.nodes.payload_gravity_topics import PayloadGravityTopics
from robot_dynamics_ros.nodes.process import run
from robot_dynamics_ros.nodes.torque_publishers import CommandArray
from robot_dynamics_ros.nodes.trajectory_input import TrajectoryInput


class TorqueController(BaseNode):
    """``joint_states``, ``joint_trajectory`` and ``feedforward_torque`` with its info in, ``effort_commands`` out.

    Without a trajectory, or before it begins, it holds the measured position by PD + gravity. In pd_feedforward it
    follows only while a feedforward torque belongs to the state, by stamp and within ``feedforward_age_limit``, and
    its info fits. Law and gains may be changed while the node is inactive.
    """

    def __init__(self, **options):
        """Declare the parameters and subscribe to payload and gravity."""
        checks = {name: partial(self._check_gains, name) for name in ('stiffness', 'damping')}
        super().__init__('torque_controller', {**torque_checks(self), **checks}, **options)
        self.payload_gravity_topics = PayloadGravityTopics(self)

    def make_task(self) -> ControlLoop:
        """Return the control loop; ArgumentError where the robot takes no torques."""
        arm = ControlledArm(self)
        if not arm.policy.takes_commands:
            raise ArgumentError(f'preset {self.value("preset")}: the robot takes no torques')
        if arm.policy.motor_pd:
            raise ArgumentError(
                'preset motor_pd: the PD of this controller would be added to that of the motors, which hold another '
                'position; set the gains of the motors to 0 and choose preset effort_controller'
            )
        desired, fields = np.zeros((3, arm.robot.nv)), {}
        follower = TrajectoryFollower(arm.robot, desired, self.value('start_tolerance'), self.refuse)
        position = HoldPosition(arm.robot, self.value('start_tolerance'), self.refuse)
        feedforward = FeedforwardInput(self, arm, self.value('feedforward_age_limit'))

        def make_law() -> Law:
            name, terms = self.value('control_law'), arm.policy.terms
            gains = self.value('stiffness'), self.value('damping')
            for gain, values in zip(('stiffness', 'damping'), gains, strict=True):
                check_stated(gain, values)
            bandwidth = self.value('bandwidth')
            control = arm.blended(lambda robot: JointSpaceControl(robot, name, *gains, bandwidth, terms))
            hold = arm.blended(lambda robot: Hold(robot, *gains, terms))
            limit = SamplingLimit(arm.robot, *gains, bandwidth if name == 'computed_torque' else 0.0)
            fields['control law'], fields['period limit of the gains, s'] = name, f'{limit.period:.4g}'
            feedforward.reset()  # torques received before the activation are dropped
            source = feedforward if name == 'pd_feedforward' else None
            law = JointSpaceLaw(follower, desired, control, hold, source, position)
            follower.may_begin = law.may_begin
            rate = self.value('state_rate')
            if not rate:
                return SampledLaw(law, limit, self.refuse)
            fault = limit.fault(1.0 / rate)
            if fault:
                raise ArgumentError(fault)
            return law

        output, trajectory = CommandArray(self, arm, 'effort_commands'), TrajectoryInput(self, follower)
        return ControlLoop(
            self,
            arm,
            make_law(),
            output,
            trajectory,
            feedforward.inputs,
            fields,
            renew=make_law,
            reports=(position.report, feedforward.report),
            warns=lambda: feedforward.warnings() if fields['control law'] == 'pd_feedforward' else [],
        )

    def _check_gains(self, name: str, values) -> None:
        gains(name, values, self.robot.nv)


def main():
    """Run the node."""
    run(TorqueController)


if __name__ == '__main__':
    main()
