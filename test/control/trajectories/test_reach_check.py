"""Trajectories of a palletizer: those through a singular position, or out of reach, are refused with time and loop."""

from support.nodes.messages import trajectory
from support.robots.mechanisms import MECHANISMS, PALLETIZER_ACTUATED, actuated

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.trajectories.reach_check import check_reach
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of

ROBOT = actuated(MECHANISMS['palletizer'], PALLETIZER_ACTUATED)
ARM = DrivenRobot(ROBOT.with_loops([]), ClosedMechanism(ROBOT, ROBOT.loops.actuated))
HOME = ARM.following.home


def way(*positions):
    """Return a trajectory through positions, 2 s from one to the next, at rest in each."""
    points = [(2.0 * k, np.add(HOME, it), np.zeros(4), np.zeros(4)) for k, it in enumerate(positions)]
    return trajectory_of(ARM.joint_names, trajectory(ARM.joint_names, 0, *points))


def test_a_trajectory_within_reach_is_accepted():
    check_reach(way((0, 0, 0, 0), (1.0, -0.4, 0.3, 3.0), (-1.0, 0.3, -0.3, -3.0)), ARM)
    check_reach(way((0.1, 0, 0, 0)), ARM)


def test_one_through_a_singular_position_is_refused_where_it_comes_near():
    """Lever and upper arm are in line where their angles are equal, 1.6 rad from home."""
    with pytest.raises(ArgumentError, match=r"^trajectory: 3\.\d* s: loop '.*': .*singular"):
        check_reach(way((0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 2.0, 0)), ARM)


def test_a_way_back_does_not_hide_it():
    with pytest.raises(ArgumentError, match='singular'):
        check_reach(way((0, 0, 0, 0), (0, 0, 2.0, 0), (0, 0, 0, 0)), ARM)


def test_a_robot_without_loops_has_no_such_limit():
    check_reach(way((0, 0, 0, 0), (0, 0, 9.0, 0)), Robot.named('aubo_i5'))
