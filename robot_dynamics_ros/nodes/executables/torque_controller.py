"""Controls an arm by joint torques along a desired trajectory; its laws are made by ``ControllerLaw``."""

from functools import partial

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.laws.impedance.stated_impedance import OF_AXES, check_of_axes
from robot_dynamics_ros.control.laws.joint_space_control import gains
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.inputs.goal_arm import GoalArm
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import PayloadGravityTopics
from robot_dynamics_ros.nodes.inputs.trajectory_action import TrajectoryAction
from robot_dynamics_ros.nodes.inputs.trajectory_input import TrajectoryInput
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.outputs.torque_publishers import CommandArray
from robot_dynamics_ros.nodes.process.node_process import run
from robot_dynamics_ros.nodes.tasks.control_loop import ControlLoop
from robot_dynamics_ros.nodes.tasks.controlled_arm import ControlledArm, check_acceleration_limit, torque_checks
from robot_dynamics_ros.nodes.tasks.controller_law import ControllerLaw


class TorqueController(BaseNode):
    """``joint_states``, ``joint_trajectory``, ``feedforward_torque`` with its info in, ``effort_commands`` out.

    Without a trajectory, or before it begins, it holds the measured position by PD + gravity. In pd_feedforward it
    follows only while a feedforward torque belongs to the state, by stamp and within ``feedforward_age_limit``, and
    its info fits. In cartesian_impedance a frame is held and led instead of the joints, also to the poses on
    ``target_pose`` and by the velocities on ``target_twist``, and presses with ``target_wrench``. The action
    ``~/follow_joint_trajectory`` has a trajectory followed, too. Law and gains may be changed while the node is
    inactive.
    """

    def __init__(self, **options):
        """Declare the parameters and subscribe to payload and gravity."""
        checks = {name: partial(self._check_gains, name) for name in ('stiffness', 'damping')}
        checks |= {name: partial(check_of_axes, name) for name in OF_AXES}
        checks |= {name: partial(self._check_soft_limit, name) for name in ('soft_limit_distance', 'soft_limit_torque')}
        checks['impedance_frame'] = self._check_frame
        checks['acceleration_limit'] = partial(check_acceleration_limit, self)
        super().__init__('torque_controller', {**torque_checks(self), **checks}, **options)
        self.payload_gravity_topics = PayloadGravityTopics(self)
        self.trajectory_action = TrajectoryAction(self)

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
        law = ControllerLaw(self, arm)
        output = CommandArray(self, arm, 'effort_commands')
        trajectory = TrajectoryInput(self, law.follower, law.stopped, law.target_poses)
        state, tolerance = lambda: law.state, self.value('start_tolerance')
        goals = GoalArm(self.robot, trajectory, law.follower, law.desired, state, law.refuses_goals, tolerance)
        return ControlLoop(
            self,
            arm,
            law.make(),
            output,
            trajectory,
            law.feedforward.inputs,
            law.fields,
            renew=law.make,
            reports=(law.report,),
            warns=law.warnings,
            needs_velocities=True,
            unstable=law.unstable,
            hold=law,
            goals=goals,
        )

    def _check_frame(self, frame: str) -> None:
        if frame:
            self.robot.link_pose(self.robot.neutral(), frame)

    def _check_soft_limit(self, name: str, values) -> None:
        validation.of_each_joint(name, values, self.robot.nv, zero=True)

    def _check_gains(self, name: str, values) -> None:
        gains(name, values, self.robot.nv)


def main():
    """Run the node."""
    run(TorqueController)


if __name__ == '__main__':
    main()
