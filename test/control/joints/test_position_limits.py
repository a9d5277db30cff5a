"""Positions that the arm cannot have are refused by the joint's name, with the unit that they may be in."""

from support.robots.small_robots import joint, link, robot

import numpy as np
import pytest

from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.trajectories.segment_extremes import check_within
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.errors import ArgumentError

BODY = '0.1 0.2 0.3', (0.1, 0, 0, 0.1, 0, 0.1)
LIMITS = {
    'turn': ('continuous', ''),
    'swing': ('revolute', '<limit lower="-1" upper="2"/>'),
    'lift': ('prismatic', '<limit lower="0" upper="0.5"/>'),
    'open': ('prismatic', ''),
    'mixed': ('revolute', '<limit lower="1" upper="-1"/>'),
}


def arm():
    links = ['base', *LIMITS]
    joints = [
        joint(name, before, name, kind, inside=inside)
        for before, (name, (kind, inside)) in zip(links, LIMITS.items(), strict=False)
    ]
    return robot(link('base'), *(link(name, 1.0, *BODY) for name in LIMITS), *joints)


LIMITED = PositionLimits(arm(), 0.2)


@pytest.mark.parametrize(
    ('joint', 'position', 'fault'),
    [
        ('turn', 1e6, ''),
        ('swing', 2.2, ''),
        ('swing', -1.2, ''),
        ('swing', 2.21, 'is beyond its limits, -1 to 2 rad or m, by more than position_limit_tolerance (0.2)'),
        ('swing', -57.0, '(0.2); are they degrees?'),
        ('lift', 0.69, ''),
        ('lift', 250.0, '(0.2); are they millimetres?'),
        ('open', 99.0, ''),
        ('mixed', 9.0, ''),
    ],
)
def test_a_position_is_compared_with_the_limits_that_are_known(joint, position, fault):
    found = LIMITED.fault(list(LIMITS).index(joint), position)
    assert found.startswith(f'joint {joint!r}: position {position:.6g} is beyond') if fault else found == ''
    assert found.endswith(fault)


def test_a_trajectory_that_leaves_the_limits_between_its_points_is_refused_by_joint_and_time():
    points, rates = np.zeros((2, 5)), np.zeros((2, 5))
    points[:, 2], rates[:, 2] = 0.45, (1.0, -1.0)
    with pytest.raises(
        ArgumentError, match=r"^trajectory: 2\.750 s, between points 0 and 1: joint 'lift': position 1\.075 is beyond"
    ):
        check_within(Trajectory([1.5, 4.0], points, rates), LIMITED)
    check_within(Trajectory([1.5, 2.3], points, rates), LIMITED)  # 0.65 m, of 0.5 and the tolerance
    check_within(Trajectory([1.5, 4.0], points), LIMITED)


def test_the_first_state_that_is_refused_is_named():
    rows = np.zeros((4, 5))
    LIMITED.check('positions: state', rows)
    rows[2, 1], rows[3, 2] = 3.0, 9.0
    with pytest.raises(ArgumentError, match=r"^positions: state 2: joint 'swing': position 3 is beyond its limits"):
        LIMITED.check('positions: state', rows)
    with pytest.raises(ArgumentError, match=r"^trajectory point 1: joint 'lift': position 0\.8 "):
        check_within(Trajectory([0.0, 1.0], [np.zeros(5), [0.0, 0.0, 0.8, 0.0, 0.0]]), LIMITED)


def test_a_large_tolerance_accepts_any():
    PositionLimits(arm(), 10000.0).check('state', np.full((1, 5), 360.0))
