"""Publishes planned trajectories with the efforts that the arm lacks, and the peak torques of each plan."""

from robot_dynamics_ros.algorithms.torque_presets import TERMS
from robot_dynamics_ros.control.guards.torque_limiter import effort_limits
from robot_dynamics_ros.control.terms.compensation import checked_terms
from robot_dynamics_ros.control.terms.torque_scale import torque_scales
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import PayloadGravityTopics
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.process.node_process import run
from robot_dynamics_ros.nodes.tasks.residual_file import check_residual_file
from robot_dynamics_ros.nodes.tasks.trajectory_efforts import TrajectoryEfforts


class TrajectoryEffortNode(BaseNode):
    """``planned_trajectory`` in, ``trajectory_with_effort`` and ``trajectory_torques`` out.

    With plan_topic ``display_planned_path`` that topic, of MoveIt, takes the place of ``planned_trajectory``, and plans
    are only checked.
    """

    def __init__(self, **options):
        """Declare the parameters and subscribe to payload and gravity."""
        checks = {
            'compensation': lambda terms: checked_terms([term for term in terms if term] or TERMS),
            'residual_file': lambda path: check_residual_file(self, path),
            'effort_limit': lambda limits: effort_limits(limits, self.robot.limits.effort, self.robot.joint_names),
            'torque_scale': lambda scales: torque_scales(scales, self.robot.nv),
        }
        super().__init__('trajectory_effort_node', checks, **options)
        self.payload_gravity_topics = PayloadGravityTopics(self)

    def make_task(self) -> TrajectoryEfforts:
        """Return the check of plans."""
        return TrajectoryEfforts(self)


def main():
    """Run the node."""
    run(TrajectoryEffortNode)


if __name__ == '__main__':
    main()
