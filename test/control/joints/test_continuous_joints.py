"""Which joints are continuous, and differences of their positions modulo a turn."""

from dataclasses import replace

from support.robots.random_trees import BASE, random_joints
from support.robots.small_robots import AUBO, general, joint, link, mixed, one, robot

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.joints.continuous_joints import TURN, nearest, turns
from robot_dynamics_ros.model.model import Model

SEVERAL = ('cylindrical', 'planar', 'spherical', 'free')


def test_continuous_is_what_turns_without_limits():
    arm = mixed()
    assert arm.continuous_joints.dtype == bool
    assert arm.continuous_joints.tolist() == [True, False, False]
    assert turns(arm).tolist() == [2.0 * np.pi, 0.0, 0.0]
    assert AUBO.continuous_joints.tolist() == [False] * 6 and turns(AUBO).tolist() == [0.0] * 6


def test_a_spring_tells_turns_apart():
    drawn = random_joints(seed=4, count=2, prismatic=0.0)
    joints = [replace(it, stiffness=5.0 * k) for k, it in enumerate(drawn)]
    arm = Robot(Model.of('sprung', BASE, joints))
    assert (
        arm.continuous_joints.tolist() == [True, False]
        and abs(arm.spring_torque(np.full(2, TURN), np.zeros(2))[1]) > 1.0
    )


@pytest.mark.parametrize(
    ('kind', 'limit', 'expected'),
    [
        ('continuous', '', True),
        ('continuous', '<limit velocity="1" effort="2"/>', True),
        ('revolute', '<limit lower="-7" upper="7" velocity="1" effort="2"/>', False),
        ('prismatic', '<limit lower="-7" upper="7" velocity="1" effort="2"/>', False),
    ],
)
def test_kind_and_limits_decide(kind, limit, expected):
    arm = one(kind, inside=limit)
    assert arm.continuous_joints.tolist() == [expected]
    assert turns(arm).tolist() == [TURN if expected else 0.0]


def test_a_slide_without_limits_does_not_turn():
    slide = general('prismatic')
    assert (slide.limits.lower[0], slide.limits.upper[0]) == (-np.inf, np.inf)
    assert slide.continuous_joints.tolist() == [False]
    assert general('revolute').continuous_joints.tolist() == [True]


@pytest.mark.parametrize('kind', SEVERAL)
def test_of_joints_of_several_coordinates_none_counts_as_continuous(kind):
    """A number for each velocity, as in every joint vector of a control law."""
    arm = general(kind)
    assert arm.nv > 1
    assert arm.continuous_joints.tolist() == [False] * arm.nv
    assert turns(arm).tolist() == [0.0] * arm.nv


def test_it_outlives_payload_gravity_and_another_binding():
    arm = mixed()
    for changed in (arm.with_gravity((0, 0, 0)), arm.with_locked_joints({'slide': 0.1})):
        assert changed.continuous_joints.tolist() == [True, False, False][: changed.nv]
    assert robot(link('base'), link('arm', 1.0), joint('a', 'base', 'arm', 'fixed')).continuous_joints.tolist() == []


@pytest.mark.parametrize(
    ('difference', 'expected'),
    [
        (0.0, 0.0),
        (3.1, 3.1),
        (-3.1, -3.1),
        (6.282, 6.282 - TURN),
        (-6.282, TURN - 6.282),
        (TURN, 0.0),
        (-3 * TURN + 0.25, 0.25),
        (100 * TURN - 0.5, -0.5),
        (0.6 * TURN, -0.4 * TURN),
    ],
)
def test_differences_are_modulo_the_turn_where_there_is_one(difference, expected):
    found = nearest(np.array([difference, difference, difference]), np.array([TURN, 0.0, 1.0]))
    assert found[0] == pytest.approx(expected, abs=1e-12)
    assert found[1] == difference
    assert abs(found[2]) <= 0.5
    assert found[2] - difference == pytest.approx(round(found[2] - difference), abs=1e-12)


def test_half_a_turn_is_half_a_turn_whichever_way():
    found = nearest(np.array([np.pi, -np.pi]), np.array([TURN, TURN]))
    assert np.abs(found).tolist() == [np.pi, np.pi]


def test_a_difference_that_is_no_number_is_none():
    assert np.isnan(nearest(np.array([np.nan, np.nan]), np.array([TURN, 0.0]))).all()
