"""Acceleration limits of a robot: stated, or derived from what its description has."""

from support.robots.small_robots import AUBO, mixed, one

import numpy as np
import pytest

from robot_dynamics_ros.control.laws.acceleration_limits import acceleration_limits
from robot_dynamics_ros.errors import ArgumentError

INERTIA = 0.3 + 2.0 * 0.5**2
"""Of the joint of ``one``, kg m^2."""


def limited(effort='', velocity=''):
    inside = f'<limit lower="-1" upper="1" effort="{effort or 0}" velocity="{velocity or 0}"/>'
    return one('revolute', inside=inside)


@pytest.mark.parametrize(
    ('effort', 'velocity', 'expected'),
    [
        ('40', '1.5', 5.0),  # 0.3 s to the velocity limit
        ('4', '1.5', 0.5 * 4.0 / INERTIA),
        ('40', '', 0.5 * 40.0 / INERTIA),
        ('', '1.5', 5.0),
    ],
)
def test_the_smaller_one_of_those_by_velocity_and_effort_counts(effort, velocity, expected):
    assert acceleration_limits([0.0], limited(effort, velocity), [np.inf]) == pytest.approx([expected])


def test_a_stated_effort_limit_counts_where_the_description_has_none():
    assert acceleration_limits([0.0], limited(), [8.0]) == pytest.approx([4.0 / INERTIA])
    assert acceleration_limits([0.0], limited('40'), [8.0]) == pytest.approx([20.0 / INERTIA])


def test_unknown_limits_bound_nothing():
    assert acceleration_limits([0.0], limited(), [np.inf]).tolist() == [np.inf]


def test_stated_limits_count_as_stated():
    robot = mixed()
    assert acceleration_limits([7.0], robot, np.full(3, np.inf)).tolist() == [7.0] * 3
    found = acceleration_limits([7.0, 0.0, 0.5], robot, np.full(3, np.inf))
    assert found.tolist() == [7.0, pytest.approx(0.5 / 0.3), 0.5]
    for wrong in ([1.0, 2.0], [-1.0], [np.nan], [np.inf]):
        with pytest.raises(ArgumentError, match='acceleration_limit: expected one finite number >= 0 or 3'):
            acceleration_limits(wrong, robot, np.full(3, np.inf))


def test_those_of_an_arm_leave_room_for_its_gravity():
    found = acceleration_limits([0.0], AUBO, AUBO.limits.effort)
    assert found == pytest.approx(AUBO.limits.velocity / 0.3)
