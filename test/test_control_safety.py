"""The envelope that every torque passes, and which states may be answered."""

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.safety import (
    CLAMPED,
    NOT_FINITE,
    SLOWED,
    Envelope,
    Freshness,
    effort_limits,
    rate_limits,
)
from robot_dynamics_ros.dynamics.errors import ArgumentError

SECOND = 1_000_000_000  # ns
MS = 1_000_000  # ns
FREE = [0.0, 0.0, 0.0]
NAMES = ('shoulder', 'elbow', 'wrist')


def test_a_torque_beyond_its_limit_is_clamped_in_place_and_counted():
    torque = np.array([11.0, -6.0, 1.5])
    envelope = Envelope([10.0, 5.0, 2.0], FREE, torque)
    assert envelope.admit(0.01) is True
    assert torque.tolist() == [10.0, -5.0, 1.5]
    assert envelope.counts == {CLAMPED: 1, SLOWED: 0, NOT_FINITE: 0}


def test_a_torque_within_its_limit_is_left_alone():
    torque = np.zeros(2)
    envelope = Envelope([10.0, 5.0], FREE[:2], torque)
    for given in ([10.0, -5.0], [-10.0, 5.0], [0.0, 0.0], [9.999, -4.999]):
        torque[:] = given
        assert envelope.admit(0.01) and torque.tolist() == given
    assert set(envelope.counts.values()) == {0}
    assert envelope.reasons(NAMES[:2]) == ''


def test_without_a_limit_nothing_is_clamped():
    torque = np.array([-1e300, 3.0])
    assert Envelope([np.inf, 1.0], FREE[:2], torque).admit(0.0)
    assert torque.tolist() == [-1e300, 1.0]


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_stopped_and_counted(value):
    torque = np.array([1.0, value, 50.0])
    envelope = Envelope([10.0, np.inf, 2.0], FREE, torque)
    assert envelope.admit(0.01) is False
    assert torque[[0, 2]].tolist() == [1.0, 50.0]  # nothing is repaired
    assert envelope.reasons(NAMES) == 'elbow: not finite'
    torque[:] = value
    assert not envelope.admit(0.01)
    assert envelope.counts == {CLAMPED: 0, SLOWED: 0, NOT_FINITE: 2}
    torque[:] = 1.0
    assert envelope.admit(0.01)  # and the envelope goes on


def test_a_torque_changes_no_faster_than_its_rate():
    torque = np.zeros(3)
    envelope = Envelope([100.0, 100.0, 100.0], [10.0, 0.0, 1000.0], torque)
    torque[:] = 50.0, 50.0, -50.0
    assert envelope.admit(0.1)
    assert torque.tolist() == [1.0, 50.0, -50.0]  # from zero; the second joint has no limit, the third is slow enough
    torque[:] = -50.0, -50.0, 50.0
    assert envelope.admit(0.2)
    assert torque == pytest.approx([-1.0, -50.0, 50.0])
    assert envelope.counts == {CLAMPED: 0, SLOWED: 2, NOT_FINITE: 0}
    assert envelope.reasons(NAMES) == 'shoulder: faster than the rate limit'


def test_small_joints_have_small_limits():
    """Limits and torques below 1 N m, of a wrist or a finger, keep their sign and count as any others."""
    torque = np.array([0.7, -0.7, 0.7, -0.7])
    envelope = Envelope([0.5, 0.5, 1.0, 1.0], [0.0, 0.0, 0.25, 0.25], torque)
    assert envelope.admit(0.5)
    assert torque.tolist() == [0.5, -0.5, 0.125, -0.125]
    assert envelope.latched.tolist() == [CLAMPED, CLAMPED, SLOWED, SLOWED]
    assert envelope.reasons('abcd') == (
        'a: beyond the effort limit; b: beyond the effort limit; '
        'c: faster than the rate limit; d: faster than the rate limit'
    )


def test_a_torque_that_changes_as_fast_as_it_may_is_left_alone():
    torque = np.array([1.0, -1.0])
    envelope = Envelope([10.0, 10.0], [8.0, 8.0], torque)
    assert envelope.admit(0.125)
    assert torque.tolist() == [1.0, -1.0]
    assert envelope.reasons(NAMES[:2]) == ''


def test_begun_anew_a_torque_starts_from_zero():
    torque = np.full(1, 5.0)
    envelope = Envelope([100.0], [10.0], torque)
    assert envelope.admit(1.0) and torque.tolist() == [5.0]
    envelope.begin()
    torque[:] = 5.0
    assert envelope.admit(0.0) and torque.tolist() == [0.0]


def test_a_torque_is_clamped_before_its_rate_is_limited():
    torque = np.full(1, 1e9)
    envelope = Envelope([10.0], [200.0], torque)
    assert envelope.admit(0.04) and torque.tolist() == [8.0]
    torque[:] = 1e9
    assert envelope.admit(0.04) and torque.tolist() == [10.0]
    assert envelope.reasons(['j']) == 'j: beyond the effort limit, faster than the rate limit'


def test_what_is_not_finite_is_not_what_the_next_one_starts_from():
    torque = np.full(1, 1.0)
    envelope = Envelope([10.0], [10.0], torque)
    assert envelope.admit(0.1)
    torque[:] = np.nan
    assert not envelope.admit(0.1)
    torque[:] = 9.0
    assert envelope.admit(0.1) and torque.tolist() == [2.0]


def test_reasons_stay_until_they_are_reset():
    torque = np.array([20.0, 0.0, 0.0])
    envelope = Envelope([10.0, 10.0, 10.0], FREE, torque)
    envelope.admit(0.01)
    torque[:] = 0.0
    envelope.admit(0.01)
    assert envelope.reasons(NAMES) == 'shoulder: beyond the effort limit'
    envelope.reset()
    assert envelope.reasons(NAMES) == ''
    assert set(envelope.counts.values()) == {0}


def test_the_envelope_of_the_arm_holds_its_rated_torques():
    torque, robot = np.full(6, -1000.0), Robot.named('aubo_i5')
    limits = effort_limits([0.0], robot.limits.effort, robot.joint_names)
    assert Envelope(limits, np.zeros(6), torque).admit(0.0)
    assert torque.tolist() == [-133.0, -133.0, -133.0, -13.5, -13.5, -13.5]


def test_effort_limits_are_those_stated_else_those_known():
    known = np.array([10.0, 20.0, 30.0])
    assert effort_limits([0.0], known, NAMES).tolist() == [10.0, 20.0, 30.0]
    assert effort_limits([0.0, 5.0, np.inf], known, NAMES).tolist() == [10.0, 5.0, np.inf]
    assert effort_limits([7.0], np.full(3, np.nan), NAMES).tolist() == [7.0, 7.0, 7.0]
    assert effort_limits([0.25, 0.0, 0.0], [10.0, 0.5, 30.0], NAMES).tolist() == [0.25, 0.5, 30.0]


@pytest.mark.parametrize('unknown', [0.0, np.nan, -1.0])
def test_an_unknown_effort_limit_is_refused_unless_one_is_stated(unknown):
    known = np.array([10.0, unknown, 30.0])
    with pytest.raises(ArgumentError, match="joint 'elbow': no effort limit is known"):
        effort_limits([0.0], known, NAMES)
    assert effort_limits([0.0, np.inf, 0.0], known, NAMES).tolist() == [10.0, np.inf, 30.0]


@pytest.mark.parametrize('stated', [[], [1.0, 2.0], [-1.0], [np.nan], [1.0, 2.0, -3.0], [[1.0, 2.0, 3.0]]])
def test_limits_that_fit_no_robot_are_refused_by_name(stated):
    with pytest.raises(ArgumentError, match='effort_limit: expected one number >= 0 or 3'):
        effort_limits(stated, np.ones(3), NAMES)
    with pytest.raises(ArgumentError, match='rate_limit: expected one number >= 0 or 3'):
        rate_limits(stated, NAMES)


def test_one_rate_limit_serves_all_joints():
    assert rate_limits([4.0], NAMES).tolist() == [4.0, 4.0, 4.0]
    assert rate_limits([4.0, 0.0, 1.0], NAMES).tolist() == [4.0, 0.0, 1.0]


def admits(freshness, stamp, now) -> bool:
    """Return whether a state is answered, and take it as answered then."""
    refused = freshness.refusal(stamp, now)
    if not refused:
        freshness.answered = stamp
    return not refused


def test_a_stated_age_limit_holds_whatever_the_period():
    for gap in (MS, SECOND):
        for age, expected in (
            (0, ''),
            (50 * MS, ''),
            (50 * MS + 1, 'too old'),
            (-50 * MS, ''),
            (-50 * MS - 1, 'from the future'),
        ):
            freshness = Freshness(0.05)
            for k in range(5):
                stamp = SECOND + k * gap
                assert freshness.refusal(stamp, stamp + age) == expected
            assert freshness.limit == 0.05


def test_after_a_state_was_answered_none_before_it_is():
    freshness = Freshness(1.0)
    assert admits(freshness, SECOND, SECOND)
    assert freshness.refusal(SECOND - 1, SECOND) == 'out of order'
    assert freshness.refusal(SECOND, SECOND) == ''  # the same once more
    assert freshness.refusal(SECOND + 1, SECOND) == ''


def test_a_state_that_was_not_answered_is_in_nobodys_way():
    freshness = Freshness(1.0)
    assert [freshness.refusal(SECOND - k, SECOND) for k in range(3)] == ['', '', '']


@pytest.mark.parametrize('stamp', [0, -1])
def test_a_state_without_a_stamp_is_refused(stamp):
    assert Freshness(1.0).refusal(stamp, SECOND) == 'without a stamp'


def test_in_simulated_time_the_first_state_may_come_at_once():
    assert Freshness(1.0).refusal(1, 1) == ''


def test_when_the_clock_is_set_back_all_begins_anew():
    freshness, last = regular(5 * MS)
    assert freshness.refusal(SECOND // 2, last + MS) == 'out of order'
    assert admits(freshness, SECOND // 2, SECOND // 2)
    assert freshness.period == 0.0


def regular(period, count=20, start=SECOND):
    """Return a Freshness that has seen ``count`` states, each at once, and the last one's stamp."""
    freshness = Freshness(0.0)
    assert all(admits(freshness, start + k * period, start + k * period) for k in range(count))
    return freshness, start + (count - 1) * period


@pytest.mark.parametrize('period', [MS, 5 * MS, 20 * MS])
def test_without_one_it_is_three_measured_periods(period):
    assert Freshness.PERIODS == 3
    freshness, last = regular(period)
    assert freshness.period == pytest.approx(period * 1e-9)
    assert freshness.limit == pytest.approx(3e-9 * period)
    for _ in range(10):
        last += period
        assert admits(freshness, last, last + 3 * period - 2)
        last += period
        assert freshness.refusal(last, last + 3 * period + 2) == 'too old'


@pytest.mark.parametrize('first', [1, 10_000 * SECOND, 99_998 * SECOND])
def test_the_limit_that_is_learnt_is_never_longer_than_a_second(first):
    """A first stamp of another clock is no period of hours or years."""
    freshness, now = Freshness(0.0), 100_000 * SECOND
    assert freshness.refusal(first, now) == 'too old'
    for _ in range(3):
        now += MS
        assert admits(freshness, now, now)
        assert freshness.limit <= 1.0
        assert freshness.refusal(now + SECOND + 1, now) == 'from the future'


def test_before_there_is_a_period_a_state_may_be_a_second_old():
    assert Freshness(0.0).refusal(5 * SECOND, 6 * SECOND) == ''
    assert Freshness(0.0).refusal(5 * SECOND, 6 * SECOND + 1) == 'too old'
    assert Freshness(0.0).refusal(6 * SECOND + 1, 5 * SECOND) == 'from the future'


def test_two_states_make_a_period():
    freshness = Freshness(0.0)
    assert freshness.period == 0.0
    admits(freshness, SECOND, SECOND)
    assert freshness.period == 0.0
    admits(freshness, SECOND + 5 * MS, SECOND + 5 * MS)
    assert freshness.period == pytest.approx(0.005)
    assert not admits(freshness, SECOND + 10 * MS, SECOND + 10 * MS + 16 * MS)


def test_the_period_is_smoothed():
    """A period that changes from 5 to 10 ms is followed by a tenth of the difference at a time."""
    freshness, last = regular(5 * MS)
    for k in range(1, 30):
        last += 10 * MS
        admits(freshness, last, last)
        assert freshness.period == pytest.approx(0.010 - 0.005 * 0.9**k)


def test_jitter_is_how_far_the_gaps_lie_from_the_period():
    freshness, last = regular(5 * MS)
    assert freshness.jitter == 0.0
    for k in range(200):
        last += (4 if k % 2 else 6) * MS
        admits(freshness, last, last)
    assert freshness.jitter == pytest.approx(0.001, rel=0.15)


def test_a_stamp_seen_twice_or_out_of_order_is_no_period():
    freshness, last = regular(5 * MS)
    for stamp in (last, last, last - 5 * MS):
        freshness.refusal(stamp, last)
    assert freshness.period == pytest.approx(0.005)


def test_after_a_pause_an_old_state_is_still_too_old():
    """The pause is no period: after it a state may not be a second old when the input comes each 5 ms."""
    freshness, last = regular(5 * MS)
    last += 10 * SECOND
    admits(freshness, last, last)
    assert not admits(freshness, last + 5 * MS, last + 5 * MS + SECOND)
