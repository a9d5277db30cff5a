"""What follows when the states stop: nothing, gravity where the arm was, or the way down to zero."""

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.handover import GravityTorque, Handover
from robot_dynamics_ros.control.payload_ramp import PayloadRamp
from robot_dynamics_ros.control.stale import ON_STALE, stale_answer
from robot_dynamics_ros.dynamics.errors import ArgumentError

ROBOT = Robot.named('aubo_i5')
HOLDING = Handover(GravityTorque, ROBOT, PayloadRamp())
SECOND = 1_000_000_000
Q = np.array([0.1, -0.7, 0.2, -0.1, 0.3, 0.0])


def test_silence_has_no_answer():
    assert ON_STALE[0] == 'silent'
    assert stale_answer('silent', HOLDING, np.zeros(6), 1.0) is None


def test_an_unknown_one_is_refused():
    with pytest.raises(ArgumentError, match=r"on_stale: expected one of silent, .*, got 'loud'"):
        stale_answer('loud', HOLDING, np.zeros(6), 1.0)


def test_gravity_only_carries_the_arm_where_it_was_seen_last():
    torque, position = np.full(6, 7.0), Q.copy()
    answer = stale_answer('gravity_only', HOLDING, torque, 1.0)
    answer.remember(0, position)
    position[:] = 9.0  # what was rejected since does not count
    assert answer.due and not answer.acts
    for overdue in (0.0, 0.1, 100.0):
        assert answer.compute(overdue)
        np.testing.assert_array_equal(torque, ROBOT.gravity_torque(Q))
        assert answer.acts
    answer.remember(0, Q)
    assert not answer.acts


def test_gravity_only_carries_the_arm_where_a_state_without_an_answer_shows_it():
    torque = np.zeros(6)
    answer = stale_answer('gravity_only', HOLDING, torque, 1.0)
    answer.remember(0, Q)
    answer.see(2.0 * Q)
    assert answer.compute(0.1)
    np.testing.assert_array_equal(torque, ROBOT.gravity_torque(2.0 * Q))


def test_gravity_only_goes_on_along_the_ramp_of_a_payload():
    payload, torque = Payload(3.0, (0.1, 0.0, 0.2)), np.zeros(6)
    holding = Handover(GravityTorque, ROBOT, PayloadRamp().to('ee_link', payload, 10 * SECOND, 2.0))
    answer = stale_answer('gravity_only', holding, torque, 1.0)
    answer.remember(10 * SECOND + SECOND // 2, Q)
    bare, loaded = ROBOT.gravity_torque(Q), ROBOT.with_payload(payload, 'ee_link').gravity_torque(Q)
    for overdue, share in ((0.0, 0.25), (0.5, 0.5), (1.5, 1.0)):
        assert answer.compute(overdue)
        np.testing.assert_allclose(torque, bare + share * (loaded - bare), rtol=0, atol=1e-12)


def test_gravity_that_somebody_else_adds_is_not_sent():
    with pytest.raises(ArgumentError, match='on_stale gravity_only: gravity is not among the terms'):
        stale_answer('gravity_only', None, np.zeros(6), 1.0)
    assert stale_answer('ramp_to_zero', None, np.zeros(6), 1.0) is not None


def test_ramp_goes_evenly_to_zero_which_is_the_last():
    torque = np.array([8.0, -4.0])
    answer = stale_answer('ramp_to_zero', HOLDING, torque, 2.0)
    answer.remember(0, None)
    answer.see(np.zeros(2))  # the same wherever the arm is
    for overdue, expected in ((0.0, [8.0, -4.0]), (0.5, [6.0, -3.0]), (1.5, [2.0, -1.0]), (2.5, [0.0, 0.0])):
        assert answer.compute(overdue) and answer.acts
        assert torque.tolist() == expected
    assert not answer.compute(3.0)
    assert not answer.compute(3.1)
    assert answer.acts


def test_ramp_goes_on_until_what_was_sent_is_zero():
    torque = np.array([8.0])
    answer = stale_answer('ramp_to_zero', HOLDING, torque, 1.0)
    answer.remember(0, None)
    assert answer.compute(2.0)
    torque[:] = 3.0  # all that the rate limit lets through
    assert answer.compute(2.1) and torque.tolist() == [0.0]
    assert not answer.compute(2.2)


def test_a_new_state_ends_the_ramp():
    torque = np.array([8.0])
    answer = stale_answer('ramp_to_zero', HOLDING, torque, 1.0)
    answer.remember(0, None)
    answer.compute(5.0)
    assert not answer.compute(5.1)
    torque[:] = 4.0
    answer.remember(0, None)
    assert answer.compute(0.5) and torque.tolist() == [2.0]


def test_the_reason_tells_what_is_done():
    reasons = [stale_answer(name, HOLDING, np.zeros(6), 1.0).reason for name in ON_STALE[1:]]
    assert reasons == ['no fresh joint state: gravity only', 'no fresh joint state: down to zero']


def test_what_is_computed_later_is_computed_once_before():
    torque = np.full(6, np.nan)
    stale_answer('gravity_only', HOLDING, torque, 1.0).warm_up()
    np.testing.assert_array_equal(torque, ROBOT.gravity_torque(np.zeros(6)))


@pytest.mark.parametrize('name', ON_STALE[1:])
def test_there_is_something_to_go_on_with_from_an_answer_until_nothing_is_asked_for(name):
    answer = stale_answer(name, HOLDING, np.zeros(6), 1.0)
    # or the first torque of all would not begin at zero: it would count as one that goes on
    assert not answer.due and not answer.acts
    answer.remember(0, Q)
    assert answer.due and not answer.acts
    assert answer.compute(0.1)
    answer.rest()
    assert not answer.due and answer.acts
    answer.forget()
    assert not answer.due and not answer.acts


def test_gravity_that_is_not_known_leaves_the_last_torque_what_it_was():
    answer = stale_answer('gravity_only', HOLDING, np.zeros(6), 1.0)
    answer.remember(0, np.full(6, 1e300))
    with pytest.raises(ArgumentError):
        answer.compute(0.0)
    assert not answer.acts
