"""Mechanisms that come from one solution to another without a singular position."""

from support.robots.driven_mechanisms import closed, driven_robot
from support.robots.mechanisms import actuated, three_rpr

import numpy as np
import pytest

from robot_dynamics_ros.control.arm.following.cusps import two_ends
from robot_dynamics_ros.control.arm.mechanism_check import cusp_findings

RODS = [f'rod {k} joint' for k in range(3)]


@pytest.mark.parametrize('name', ['parallelogram', 'four-bar, revolute', 'palletizer', 'Stewart platform on a leg'])
def test_other_mechanisms_have_one_solution_in_each_assembly_mode(name):
    """A leg of the platform comes to the same pose with its universal joint flipped."""
    assert two_ends(closed(name).following) is None and not [*cusp_findings(closed(name))]


def test_a_planar_platform_on_three_legs_comes_from_one_solution_to_another():
    robot = driven_robot(actuated(three_rpr((-0.39, -1.49), 2.05), RODS).with_gravity([0.0, -9.81, 0.0]))
    straight, other = two_ends(robot.following)
    np.testing.assert_allclose(straight.y, other.y, atol=1e-12)
    legs, turn = ([it.q[k] for k in (0, 2, 4)] + [it.q[6]] for it in (straight, other)), 2.0 * np.pi
    first, second = map(np.array, legs)
    assert np.abs(first - second - turn * np.round((first - second) / turn)).max() > 0.1
    for it in (straight, other):
        assert np.abs(robot.following.mechanism.loop_errors(it.q)).max() < 1e-9 and it.distance > 0.05
    (found,) = cusp_findings(robot)
    assert 'two positions in one assembly mode' in found.message and "'rod 0 joint' at" in found.message
