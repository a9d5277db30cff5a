"""Rotor inertias that a simulation assumes: of the size of links and drives, only where none is stated."""

from support.robots.small_robots import joint, link, one, robot

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.tools.demonstration.assumed_rotors import (
    LARGEST_DECELERATION,
    OWN_ACCELERATION,
    SHARE,
    SPEED,
    assumed_rotor_inertia,
)

OWN = 2.0 * 0.5**2 + 0.3
"""M_11 of ``one``."""


def rotors(robot):
    """The rotor inertias that are assumed with the effort limits of a robot's description."""
    return assumed_rotor_inertia(robot, robot.limits.effort)


def limit(effort=0, velocity=2):
    return f'<limit effort="{effort}" velocity="{velocity}"/>'


def test_a_share_of_the_links_inertia_where_nothing_else_is_known():
    assert rotors(one()) == {'a': pytest.approx(SHARE * OWN, rel=0.01)}


def test_a_strong_drive_has_a_large_rotor_but_none_beyond_the_links():
    of_drive = rotors(one(inside=limit(effort=0.5 * OWN * OWN_ACCELERATION)))['a']
    assert of_drive == pytest.approx(0.5 * OWN, rel=0.01)
    assert rotors(one(inside=limit(effort=1e6)))['a'] == pytest.approx(OWN, rel=0.01)
    # that of a wrist may be many times that of its link
    wrist = robot(
        link('base'),
        link('arm', 2.0, '0.5 0 0', (0.3, 0, 0, 0.3, 0, 0.3)),
        joint('a', 'base', 'arm'),
        link('hand', 1.0, '0 0 0', (1e-3, 0, 0, 1e-3, 0, 1e-3)),
        joint('b', 'arm', 'hand', axis='1 0 0', inside=limit(effort=0.05 * OWN_ACCELERATION)),
    )
    assert rotors(wrist)['b'] == pytest.approx(0.05, rel=0.01)


def test_an_effort_limit_that_is_stated_counts_and_none_says_nothing():
    weak = one(inside=limit(effort=1))
    stated = assumed_rotor_inertia(weak, [0.5 * OWN * OWN_ACCELERATION])
    assert stated == {'a': pytest.approx(0.5 * OWN, rel=0.01)}
    for unknown in (np.inf, np.nan):
        assert assumed_rotor_inertia(weak, [unknown]) == {'a': pytest.approx(SHARE * OWN, rel=0.01)}


def test_friction_belongs_to_a_drive_of_some_inertia():
    friction = '<dynamics damping="40" friction="30"/>'
    assert rotors(one(inside=friction))['a'] == pytest.approx((30.0 + 40.0 * SPEED) / LARGEST_DECELERATION, rel=0.01)


@pytest.mark.compiled
def test_what_is_stated_stays():
    robot = Robot.named('aubo_i5')
    assumed = rotors(robot)
    assert set(assumed) == {'upperArm_joint'}  # the only one that its actuator file leaves at 0
    stated = dict(zip(robot.joint_names, robot.rotor_inertia.tolist(), strict=True))
    assert rotors(robot.with_actuators({'rotor_inertia': stated | assumed})) == {}


def test_the_measured_rotors_are_as_the_file_says():
    robot = Robot.named('aubo_i5')
    own = np.round(robot.limits.effort / np.where(robot.rotor_inertia > 0.0, robot.rotor_inertia, np.inf))
    assert own.tolist() == [96, 0, 175, 321, 163, 147]
    assert own.max() == pytest.approx(OWN_ACCELERATION, rel=0.1)
