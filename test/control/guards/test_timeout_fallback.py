"""Timeout fallback, when usable joint states stop: nothing, gravity at the last position, or a ramp to zero."""

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.guards.timeout_fallback import (
    ON_DEACTIVATE,
    ON_STALE,
    GravityFallback,
    RampToZero,
    timeout_fallback,
)
from robot_dynamics_ros.control.guards.torque_ramp import LONGEST
from robot_dynamics_ros.control.payload.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity, PayloadRamp
from robot_dynamics_ros.errors import ArgumentError

ROBOT = Robot.named('aubo_i5')
BARE = PayloadGravity.of(ROBOT)
HOLDING = PayloadBlender(GravityTorque, ROBOT, BARE)
SECOND = 1_000_000_000
Q = np.array([0.1, -0.7, 0.2, -0.1, 0.3, 0.0])
SENT = np.array([6.0, -5.0, 4.0, -3.0, 2.0, -1.0])


def fallback(name, joints=6, ramp_time=1.0, gravity=HOLDING):
    return timeout_fallback(name, gravity, joints, ramp_time)


def computed(fallback, overdue, out):
    """Return what ``torque`` returns and the torque as a list."""
    return fallback.torque(0, overdue, out), out.tolist()


def test_silence_is_the_first_choice_and_no_fallback():
    assert ON_STALE == ('silent', 'gravity_only', 'ramp_to_zero')
    assert ON_DEACTIVATE == ('silent', 'ramp_to_zero', 'zero')
    assert fallback('silent') is None
    assert isinstance(fallback('gravity_only'), GravityFallback)
    assert isinstance(fallback('ramp_to_zero'), RampToZero)


def test_an_unknown_one_is_refused():
    with pytest.raises(ArgumentError, match=r"on_stale: expected one of silent, .*, got 'loud'"):
        fallback('loud')


def test_gravity_only_holds_the_arm_at_the_last_measured_position():
    out, position = np.full(6, 7.0), Q.copy()
    holding = fallback('gravity_only')
    holding.record(position, SENT)
    position[:] = 9.0  # what was rejected since does not count
    for overdue in (0.0, 0.1, 100.0):
        out[:] = np.nan
        assert holding.torque(round(overdue * SECOND), overdue, out) is True
        np.testing.assert_array_equal(out, ROBOT.gravity_torque(Q))
        assert holding.armed


def test_gravity_only_holds_the_arm_where_an_incomplete_state_shows_it():
    out, holding = np.zeros(6), fallback('gravity_only')
    holding.record(Q, SENT)
    holding.see(2.0 * Q)
    assert holding.torque(0, 0.1, out)
    np.testing.assert_array_equal(out, ROBOT.gravity_torque(2.0 * Q))


def test_a_state_before_the_first_torque_arms_nothing():
    for name in ON_STALE[1:]:
        waiting = fallback(name)
        waiting.see(Q)
        assert not waiting.armed


def test_gravity_only_follows_the_ramp_of_a_payload():
    payload, out = Payload(3.0, (0.1, 0.0, 0.2)), np.zeros(6)
    load = PayloadGravity(PayloadRamp().to('ee_link', payload, 10 * SECOND, 2.0), BARE.gravity)
    holding = fallback('gravity_only', gravity=PayloadBlender(GravityTorque, ROBOT, load))
    holding.record(Q, SENT)
    bare, loaded = ROBOT.gravity_torque(Q), ROBOT.with_payload(payload, 'ee_link').gravity_torque(Q)
    for seconds, share in ((10.5, 0.25), (11.0, 0.5), (12.0, 1.0)):
        assert holding.torque(round(seconds * SECOND), 0.1, out)
        np.testing.assert_allclose(out, bare + share * (loaded - bare), rtol=0, atol=1e-12)


def test_without_gravity_among_the_terms_gravity_only_is_refused():
    with pytest.raises(ArgumentError, match='on_stale gravity_only: gravity is not among the terms'):
        fallback('gravity_only', gravity=None)
    assert isinstance(fallback('ramp_to_zero', gravity=None), RampToZero)
    assert fallback('silent', gravity=None) is None


def test_the_ramp_goes_evenly_to_zero_which_is_the_last():
    ramp, out = fallback('ramp_to_zero', 2, 2.0), np.array([8.0, -4.0])
    ramp.record(Q[:2], out)
    ramp.see(np.zeros(2))  # the same wherever the arm is
    for k in range(64):
        assert computed(ramp, k / 32, out) == (True, [8.0 - k / 8, -4.0 + k / 16])
    assert computed(ramp, 2.0, out) == (True, [0.0, 0.0])
    assert computed(ramp, 3.0, out) == computed(ramp, 3.1, out) == (False, [0.0, 0.0])


def test_at_the_end_of_the_ramp_zero_is_sent_once():
    ramp, out = fallback('ramp_to_zero', 1, 0.03125), np.array([8.0])
    ramp.record(Q[:1], out)
    assert computed(ramp, 0.0, out) == (True, [8.0])
    assert computed(ramp, 0.03125, out) == (True, [0.0])
    assert computed(ramp, 0.03125, out) == (False, [0.0])


def test_the_ramp_of_a_process_that_was_held_up_begins_late_with_the_last_torque():
    ramp, out = fallback('ramp_to_zero', 1, 2.0), np.array([8.0])
    ramp.record(Q[:1], out)
    for overdue, expected in ((3.0, [8.0]), (3.03125, [7.875])):
        assert computed(ramp, overdue, out) == (True, expected)
    ramp.record(Q[:1], np.array([8.0]))
    assert computed(ramp, 0.5, out) == (True, [8.0])


@pytest.mark.parametrize('pause', [LONGEST, 1.0, 60.0])
def test_a_pause_within_the_ramp_makes_no_step(pause):
    ramp, out, missing, sent = fallback('ramp_to_zero', 1, 1.0), np.array([1.0]), 0.3, []
    ramp.record(Q[:1], out)
    while ramp.torque(0, missing, out):
        sent.append(float(out[0]))
        missing += pause if len(sent) % 3 == 0 else 0.01
    assert (sent[0], sent[-1]) == (1.0, 0.0)
    steps = np.diff(sent)
    assert (steps < 0.0).all() and (steps > -LONGEST - 1e-12).all()


def test_the_ramp_does_not_end_with_a_torque_that_was_zero_from_the_beginning():
    ramp, out = fallback('ramp_to_zero', 1, LONGEST), np.array([0.0])
    ramp.record(Q[:1], out)
    assert computed(ramp, 0.5, out) == (True, [0.0])
    assert computed(ramp, 2.5, out) == (True, [0.0])
    assert computed(ramp, 2.6, out) == (False, [0.0])


def test_the_ramp_ends_where_the_sent_torque_is_zero():
    ramp, out = fallback('ramp_to_zero', 1, LONGEST), np.array([8.0])
    ramp.record(Q[:1], out)
    assert ramp.torque(0, 0.0, out) and ramp.torque(0, 2.0, out)
    out[:] = 3.0  # all that the rate limit lets through
    assert computed(ramp, 2.1, out) == (True, [0.0])
    assert not ramp.torque(0, 2.2, out)


def test_a_new_state_ends_the_ramp():
    ramp, out = fallback('ramp_to_zero', 1, LONGEST), np.array([8.0])
    ramp.record(Q[:1], out)
    assert ramp.torque(0, 0.0, out) and ramp.torque(0, 5.0, out)
    assert not ramp.torque(0, 5.1, out)
    ramp.record(Q[:1], np.array([4.0]))
    assert computed(ramp, 0.0, out) == (True, [4.0])
    assert computed(ramp, LONGEST / 2, out) == (True, [2.0])


def test_the_ramp_begins_with_a_copy_of_what_was_sent():
    ramp, sent, out = fallback('ramp_to_zero', 1), np.array([8.0]), np.array([8.0])
    ramp.record(Q[:1], sent)
    sent[:] = 100.0
    assert computed(ramp, 0.0, out) == (True, [8.0])
    assert computed(ramp, 0.03125, out) == (True, [7.75])


def test_a_gravity_torque_of_another_arm_is_not_sent():
    """A joint is not where the model has locked it."""
    right = [True, False]
    held = timeout_fallback('gravity_only', HOLDING, 6, 1.0, lambda: right.pop(0))
    held.record(Q, SENT)
    assert [held.torque(0, 0.0, np.zeros(6)) for _ in range(2)] == [True, False]


def test_the_reason_names_the_fallback():
    reasons = [fallback(name).reason for name in ON_STALE[1:]]
    assert reasons == ['an input is missing: gravity only', 'an input is missing: down to zero']


@pytest.mark.parametrize('name', ON_STALE[1:])
def test_it_is_armed_from_a_torque_until_it_is_reset(name):
    # or the first torque of all would not begin at zero: it would count as one that goes on
    armed, out = fallback(name), np.zeros(6)
    assert armed.armed is False
    armed.record(Q, SENT)
    assert armed.armed is True
    assert armed.torque(0, 0.1, out) and armed.armed is True
    armed.reset()
    assert armed.armed is False
    armed.record(Q, SENT)
    assert armed.armed is True


def test_missing_gravity_is_an_error():
    holding = fallback('gravity_only')
    holding.record(np.full(6, 1e300), SENT)
    with pytest.raises(ArgumentError):
        holding.torque(0.0, 0.0, np.zeros(6))
