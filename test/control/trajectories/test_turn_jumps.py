"""Positions of continuous joints that jump by a turn are refused by name; whole turns that a joint can make are not."""

from support.robots.small_robots import mixed, one

import numpy as np
import pytest

from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.turn_jumps import check_jumps
from robot_dynamics_ros.errors import ArgumentError

ARM, FREE = mixed(), one()
"""Its first joint turns by 2 rad/s at most; one without a limit."""
TIMES = np.arange(0.0, 8.0, 0.1)
TURNING = np.stack([1.5 * TIMES, 0.0 * TIMES, 0.0 * TIMES], axis=1)


def wrapped(positions):
    return (positions + np.pi) % (2.0 * np.pi) - np.pi


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_positions_between_minus_pi_and_pi_are_refused_where_they_jump(sign):
    check_jumps(Trajectory(TIMES, sign * TURNING), ARM)
    with pytest.raises(ArgumentError) as refusal:
        check_jumps(Trajectory(TIMES, wrapped(sign * TURNING)), ARM)
    assert str(refusal.value) == (
        f"trajectory: joint 'turn' moves by {-sign * 6.13:.3g} rad between points 20 and 21, 0.1 s apart: too fast, "
        f'and {sign * 0.15:.3g} rad a turn further; state positions of a continuous joint without jumps'
    )


def test_turns_that_the_joint_can_make_are_motions():
    check_jumps(Trajectory([0.0, 4.0], [[0.0] * 3, [2.0 * np.pi, 0.0, 0.0]]), ARM)
    check_jumps(Trajectory([0.0, 0.1], [[0.0] * 3, [0.9, 0.0, 0.0]]), ARM)  # too fast, but no jump
    check_jumps(Trajectory([0.0, 0.1], [[0.0, -3.0, 0.0], [0.0, 3.0, 0.0]]), ARM)  # of a joint that is not continuous
    check_jumps(Trajectory([0.1], [[9.0, 0.0, 0.0]]), ARM)


def test_without_a_limit_the_velocities_of_the_points_say_how_fast_it_is():
    positions, rates = TURNING[:, :1], np.full((len(TIMES), 1), 1.5)
    check_jumps(Trajectory(TIMES, positions, rates), FREE)
    check_jumps(Trajectory(TIMES, wrapped(positions)), FREE)  # nobody can know
    with pytest.raises(ArgumentError, match=r"^trajectory: joint 'a' moves by -6\.13 rad between points 20 and 21"):
        check_jumps(Trajectory(TIMES, wrapped(positions), rates), FREE)
