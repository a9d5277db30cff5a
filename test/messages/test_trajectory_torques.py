"""The message on a checked plan: limits that are unknown or infinite leave no number that is not finite."""

import numpy as np

from robot_dynamics_interfaces.srv import CheckTrajectory
from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import check
from robot_dynamics_ros.messages.trajectory_torques import set_peaks, trajectory_torques

ROBOT = Robot.named('aubo_i5')
REST = np.zeros((2, 6))
FOUND = check(ROBOT, Trajectory([0.0, 1.0], [REST[0], REST[0] + 0.3], REST, REST))


def test_without_limits_there_is_no_margin_and_no_limiting_joint():
    unknown, none = np.full(6, np.nan), np.full(6, np.inf)
    limits = {'effort_limit': none, 'effort_margin': none, 'velocity_limit': unknown}
    message = trajectory_torques(FOUND._replace(**limits, time_scaling=None), ROBOT.joint_names)
    for field in ('effort_limit', 'effort_margin', 'velocity_limit', 'effort_use', 'velocity_use'):
        assert getattr(message, field).tolist() == [0.0] * 6
    assert (message.limiting_joint, message.smallest_margin) == ('', 1.0)
    assert (message.feasible, message.time_scaling) == (False, 0.0)


def test_the_response_of_the_service_has_the_joints_in_another_order():
    order = [3, 0, 5, 1, 4, 2]
    response = CheckTrajectory.Response()
    set_peaks(response, FOUND, order)
    assert response.peak_effort.tolist() == FOUND.peak_effort[order].tolist()
    assert response.peak_effort_time.tolist() == FOUND.peak_effort_time[order].tolist()
    assert (response.feasible, response.time_scaling) == (True, FOUND.time_scaling)
