"""Locked joints are compared with where joint states say that they are, unless their position hardly matters."""

from support.robots.small_robots import joint, link, robot

import numpy as np
import pytest

from robot_dynamics_ros.control.arm.locked_joints import LockedJoints, relevant

THIN = (0.02, 0, 0, 0.02, 0, 0.02)


def arm(wheel='continuous'):
    """A torso that tilts, an arm of two joints, a light finger, and a wheel that turns about its centre of mass."""
    limit = '<limit lower="{}" upper="{}" velocity="1" effort="80"/>'
    return robot(
        link('base'), link('torso', 10.0, '0 0 0.3', THIN), link('upper', 2.0, '0.2 0 0', THIN),
        link('fore', 1.0, '0.15 0 0', THIN), link('finger', 0.02, '0 0 0.01', (1e-6, 0, 0, 1e-6, 0, 1e-6)),
        link('wheel', 5.0, '0 0 0', THIN), link('turret', 0.5, '0.1 0 0', THIN),
        joint('tilt', 'base', 'torso', 'revolute', '0 1 0', inside=limit.format(-1, 1)),
        joint('shoulder', 'torso', 'upper', 'revolute', '0 1 0', '0 0 0.6', inside=limit.format(-3, 3)),
        joint('elbow', 'upper', 'fore', 'revolute', '0 1 0', '0.4 0 0', inside=limit.format(-3, 3)),
        joint('grip', 'fore', 'finger', 'prismatic', '0 1 0', '0.3 0 0', inside=limit.format(0, 0.04)),
        joint('roll', 'base', 'wheel', wheel, '0 1 0', '0.3 0 0'),
        joint('turret_turn', 'fore', 'turret', 'continuous', '0 1 0', '0.3 0 0'),
    )  # fmt: skip


WHOLE = arm()
LOCKED = {'tilt': 0.0, 'grip': 0.02, 'roll': 0.0, 'turret_turn': 3.0}
ARM = ('shoulder', 'elbow')


def test_only_joints_whose_position_matters_are_compared():
    assert relevant(WHOLE, LOCKED, ARM) == ['tilt', 'turret_turn']
    assert relevant(WHOLE.with_gravity((0.0, 0.0, 0.0)), LOCKED, ARM) == ['tilt', 'turret_turn']  # for any mounting
    assert relevant(WHOLE, {}, ARM) == []
    assert LockedJoints(WHOLE, LOCKED, ARM, 0.05).names == ('tilt', 'turret_turn')


def test_joints_of_several_coordinates_elsewhere_do_no_harm():
    """A mobile base, of which the arm is cut off later."""
    mobile = arm('planar')
    assert mobile.nq > len(mobile.joint_names)
    assert relevant(mobile, {'tilt': 0.0, 'grip': 0.02}, ARM) == ['tilt']


@pytest.mark.parametrize(
    ('tilt', 'turret', 'named'),
    [
        (0.05, 3.05, ''),
        (0.0, 3.0 - 2.0 * np.pi, ''),  # a turn of a continuous joint
        (np.nan, np.nan, ''),
        (
            0.06,
            3.0,
            "joint 'tilt' is locked at 0 rad or m, and is at 0.06: more than locked_joint_tolerance (0.05) away",
        ),
        (np.nan, 2.9, "joint 'turret_turn' is locked at 3 rad or m, and is at 2.9"),
        (-0.8, 0.0, "joint 'tilt' is locked at 0 rad or m, and is at -0.8"),
    ],
)
def test_a_joint_that_is_elsewhere_is_named(tilt, turret, named):
    fault = LockedJoints(WHOLE, LOCKED, ARM, 0.05).fault(np.array([tilt, turret]))
    assert fault.startswith(named) if named else fault == ''
    assert "measured' there" in fault or not named


def test_where_a_joint_was_last_counts_until_a_message_has_it_again():
    locked = LockedJoints(WHOLE, LOCKED, ARM, 0.05)
    for tilt, wrong in ((0.0, False), (0.6, True), (np.nan, True), (0.01, False), (np.nan, False)):
        assert bool(locked.fault(np.array([tilt, np.nan]))) is wrong, tilt
