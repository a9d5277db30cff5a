"""trajectory_effort_node as a process that receives what MoveIt displays.

Where moveit_msgs is not installed, a package of that name is generated: that takes 12 s of processor time.
"""

from support.message_packages.moveit_msgs_package import installed

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_interfaces.msg import TrajectoryTorques
from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import check

ROBOT = Robot.named('aubo_i5')
START, END = np.full(6, 0.1), np.array([0.5, -0.3, 0.4, 0.1, 0.1, 0.1])


@pytest.fixture(scope='module')
def moveit_msgs(tmp_path_factory):
    with installed(tmp_path_factory.mktemp('moveit_msgs')):
        import moveit_msgs.msg  # noqa: PLC0415

        yield moveit_msgs.msg


@pytest.mark.slow
def test_a_displayed_plan_of_three_joints_is_checked_and_not_published(moveit_msgs, graph):
    graph.start('trajectory_effort_node', arguments=('-p', 'plan_topic:=display_planned_path'))
    plan = JointTrajectory(joint_names=list(ROBOT.joint_names[:3]))
    for second, q in enumerate((START, END)):
        plan.points.append(
            JointTrajectoryPoint(positions=q[:3].tolist(), velocities=[0.0] * 3, accelerations=[0.0] * 3)
        )
        plan.points[-1].time_from_start.sec = second
    shown = moveit_msgs.DisplayTrajectory(trajectory=[moveit_msgs.RobotTrajectory(joint_trajectory=plan)])
    shown.trajectory_start.joint_state = JointState(name=list(ROBOT.joint_names), position=START.tolist())
    reports = graph.listen(TrajectoryTorques, 'trajectory_torques')
    graph.repeat_until(lambda: graph.publish('display_planned_path', shown), lambda: reports, 'a report')
    rest = np.zeros((2, 6))
    expected = check(ROBOT, Trajectory([0.0, 1.0], [START, END], rest, rest))
    assert reports[0].peak_effort.tolist() == pytest.approx(expected.peak_effort.tolist())
    assert not reports[0].published and graph.node.count_publishers('trajectory_with_effort') == 0
