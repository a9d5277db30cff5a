"""A motion for any arm: within its limits, from rest to rest, and fast enough to show what feedforward is worth."""

from support.robots.small_robots import joint, link, one, robot

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.laws.gain_limits import propose_gains
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.tools.demonstration.tracking_motion import (
    MASS_ERROR,
    REACH,
    SHARE_OF_EFFORT,
    SHARE_OF_VELOCITY,
    SLIDE,
    SPEED,
    joint_ranges,
    tracking_motion,
)

AUBO = Robot.named('aubo_i5')


def motion_of(robot, effort=None, rate=500.0):
    effort = np.full(robot.nv, np.inf) if effort is None else effort
    return tracking_motion(robot, propose_gains(robot, rate, 20.0), effort, rate)


def samples(motion):
    """Position, velocity and acceleration at 400 times, (400, n) each."""
    trajectory, found = motion.trajectory(), []
    for t in np.linspace(0.0, trajectory.duration, 400):
        state = np.zeros((3, motion.positions.shape[1]))
        trajectory.sample(t, *state)
        found.append(state)
    return np.array(found).swapaxes(0, 1)


@pytest.mark.compiled
def test_it_keeps_all_limits_and_needs_one_of_them():
    effort = AUBO.limits.effort
    motion = motion_of(AUBO, effort)
    q, qd, qdd = samples(motion)
    assert (q >= AUBO.limits.lower).all() and (q <= AUBO.limits.upper).all()
    torque = AUBO.inverse_dynamics(q, qd, qdd) + AUBO.friction_torque(qd)
    of_velocity = (np.abs(qd) / (SHARE_OF_VELOCITY * AUBO.limits.velocity)).max()
    of_effort = (np.abs(torque) / (SHARE_OF_EFFORT * effort)).max()
    assert of_velocity <= 1.0 + 1e-6
    assert of_effort <= 1.0 + 1e-3  # it is computed at other times
    assert max(of_velocity, of_effort) > 0.9
    assert motion.ratio < 0.25


@pytest.mark.compiled
def test_it_begins_and_ends_at_rest_where_it_began():
    motion = motion_of(AUBO, AUBO.limits.effort)
    q, qd, qdd = samples(motion)
    np.testing.assert_array_equal(q[0], motion.positions[0])
    np.testing.assert_allclose(q[-1], q[0], atol=1e-12)
    assert abs(qd[[0, -1]]).max() < 1e-9 and abs(qdd[[0, -1]]).max() < 1e-9
    assert (abs(motion.positions[1] - motion.positions[0]) > 0.01).all()


def test_what_the_model_lacks_is_a_part_of_the_links_and_friction_and_not_of_rotors():
    own = 2.0 * 0.5**2 + 0.3
    for rotors, ratio in ((0.0, MASS_ERROR / (1.0 + MASS_ERROR)), (9.0, MASS_ERROR / (10.0 + MASS_ERROR))):
        turned = one().with_actuators({'rotor_inertia': {'a': rotors * own}})
        # a controller of a high rate adds no delay
        assert motion_of(turned, rate=1e6).ratio == pytest.approx(ratio, rel=0.01)
    assert motion_of(one(), rate=500.0).ratio > 1.05 * MASS_ERROR / (1.0 + MASS_ERROR)


def limited(kind, lower=None, upper=None):
    """The range of one joint of a kind."""
    text = f'<limit lower="{lower}" upper="{upper}" effort="9" velocity="9"/>' if lower is not None else ''
    return tuple(float(part[0]) for part in joint_ranges(one(kind, inside=text)))


@pytest.mark.parametrize(
    ('found', 'middle', 'reach'),
    [
        (limited('revolute', -0.2, 0.6), 0.2, 0.8 * 0.4),
        (limited('revolute', -6.0, 5.0), -0.5, REACH),
        (limited('continuous'), 0.0, 0.8 * REACH),
        (limited('prismatic', 0.0, 0.1), 0.05, 0.8 * 0.05),
        (limited('prismatic', 0.0, 4.0), 2.0, SLIDE),
    ],
)
def test_it_is_centred_in_the_range_of_each_joint(found, middle, reach):
    assert found == pytest.approx((middle, reach))


def test_without_limits_speed_is_moderate():
    motion = motion_of(one())
    _, qd, _ = samples(motion)
    assert abs(qd).max() <= SHARE_OF_VELOCITY * SPEED + 1e-9


@pytest.mark.compiled
def test_a_joint_that_its_limit_hardly_holds_is_named():
    lying = robot(
        link('base'),
        link('arm', 2.0, '0.5 0 0', (0.3, 0, 0, 0.3, 0, 0.3)),
        joint('lift', 'base', 'arm', axis='0 1 0'),
    )
    weight = 2.0 * 9.81 * 0.5
    with pytest.raises(
        ArgumentError, match=r"joint 'lift': gravity needs 9.81 of 10 N m in mid-range; raise effort_limit"
    ):
        motion_of(lying, [10.0])
    assert motion_of(lying, [3.0 * weight]).ratio < 0.3


@pytest.mark.compiled
def test_limits_that_leave_too_little_for_accelerations_are_refused():
    slow = one(axis='0 1 0', inside='<limit effort="90" velocity="0.01"/>')
    with pytest.raises(ArgumentError, match=r'r: its effort and velocity limits leave too little .* leave \d\.\d\d of'):
        motion_of(slow, [90.0])
    with pytest.raises(
        ArgumentError, match=r'r: its velocity limits leave .* state larger ones: velocity limits in the'
    ):
        motion_of(slow, [np.inf])
