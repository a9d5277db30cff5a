"""Publishes the torques that a desired motion requires, one for each joint state."""

from collections.abc import Callable
from functools import partial

import numpy as np

from robot_dynamics_ros.algorithms.torque_presets import TERMS
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.laws.acceleration_limits import acceleration_limits
from robot_dynamics_ros.control.laws.feedforward_law import FeedforwardLaw
from robot_dynamics_ros.control.terms.compensation import Compensation, MeasuredCompensation, checked_terms
from robot_dynamics_ros.control.trajectories.trajectory_follower import TrajectoryFollower
from robot_dynamics_ros.nodes.inputs.controller_state_input import ControllerStateInput
from robot_dynamics_ros.nodes.inputs.held_topic import HeldInput
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import PayloadGravityTopics
from robot_dynamics_ros.nodes.inputs.trajectory_input import TrajectoryInput
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.outputs.torque_info import TorqueInfoPublisher
from robot_dynamics_ros.nodes.outputs.torque_publishers import TorqueTopics
from robot_dynamics_ros.nodes.process.hot_path import Input
from robot_dynamics_ros.nodes.process.node_process import run
from robot_dynamics_ros.nodes.tasks.control_loop import ControlLoop
from robot_dynamics_ros.nodes.tasks.controlled_arm import (
    ControlledArm,
    check_acceleration_limit,
    check_fade_in_time,
    torque_checks,
)
from robot_dynamics_ros.nodes.tasks.residual_file import check_residual_file, residual_of


class FeedforwardNode(BaseNode):
    """``joint_states`` and ``joint_trajectory`` in, ``feedforward_torque`` with its info and commands out.

    With source ``controller_state`` that topic, of a joint_trajectory_controller, takes the place of
    ``joint_trajectory``, which is not subscribed to then.
    """

    def __init__(self, **options):
        """Declare the parameters and subscribe to payload and gravity."""
        checks = {
            **torque_checks(self),
            'compensation': lambda terms: checked_terms([term for term in terms if term] or TERMS),
            'residual_file': lambda path: check_residual_file(self, path),
            'fade_in_time': check_fade_in_time,
            'acceleration_limit': partial(check_acceleration_limit, self),
        }
        super().__init__('feedforward_node', checks, **options)
        self.payload_gravity_topics = PayloadGravityTopics(self)

    def make_task(self) -> ControlLoop:
        """Return the control loop along the motion of the source that the parameters name."""
        arm = ControlledArm(self, list(self.value('compensation')))
        terms, residual = checked_terms(arm.policy.terms), residual_of(self)
        info = TorqueInfoPublisher(self, arm, 'feedforward_torque', terms, self.value('source'))
        desired = np.zeros((3, arm.robot.nv))
        output = TorqueTopics(self, arm, 'feedforward_torque', info, desired)
        trajectory: TrajectoryInput | None = None
        inputs: list[Input] = []
        source: TrajectoryFollower | ControllerStateInput
        warns: Callable[[], list[str]] | None = None
        position_limits = PositionLimits(arm.robot, self.value('position_limit_tolerance'))
        if self.value('source') == 'joint_trajectory':
            limit = acceleration_limits(self.value('acceleration_limit'), arm.robot, arm.effort_limit)
            tolerance = self.value('start_tolerance')
            source = TrajectoryFollower(arm.robot, desired, tolerance, self.refuse, limit, position_limits)
            trajectory = TrajectoryInput(self, source, info.publish)
            info.name(source)
            inputs = [HeldInput(self, source).input]
        else:
            limits = self.value('reference_age_limit'), self.value('reference_cutoff')
            source = ControllerStateInput(arm.robot, *limits, desired, position_limits)
            source.subscribe(self)
            warns = source.warnings
        is_measured = self.value('evaluate_at') == 'measured'
        compensation = MeasuredCompensation if is_measured else Compensation
        blended = arm.blended(lambda robot: compensation(robot, terms, residual))
        law = FeedforwardLaw(source, desired, blended, is_measured)
        fields = {'compensation': '+'.join(terms)}
        parts = self, arm, law, output, trajectory, inputs
        return ControlLoop(*parts, fields=fields, warns=warns, needs_velocities=is_measured)


def main():
    """Run the node."""
    run(FeedforwardNode)


if __name__ == '__main__':
    main()
