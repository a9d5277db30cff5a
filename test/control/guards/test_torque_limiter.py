"""Torque limiter: every torque is finite, within the effort limit and within the rate limit."""

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.guards.torque_limiter import REASONS, Limited, TorqueLimiter, effort_limits, rate_limits
from robot_dynamics_ros.errors import ArgumentError

FREE = [0.0, 0.0, 0.0]
NAMES = ('shoulder', 'elbow', 'wrist')
EFFORT, RATE, NOT_FINITE = Limited


def limited(limiter, torque, elapsed=0.01):
    """Return the torque that may be sent, a list; None where none may."""
    array = np.array(torque, float)
    return array.tolist() if limiter.apply(array, elapsed) else None


def test_reasons_of_the_torque_limiter_are_flags():
    assert (int(EFFORT), int(RATE), int(NOT_FINITE)) == (1, 2, 4)
    assert list(REASONS) == [EFFORT, RATE, NOT_FINITE]


def test_a_torque_beyond_its_limit_is_clamped_in_place_and_counted():
    limiter, torque = TorqueLimiter([10.0, 5.0, 2.0], FREE), np.array([11.0, -6.0, 1.5])
    assert limiter.apply(torque, 0.01) is True
    assert torque.tolist() == limiter.last.tolist() == [10.0, -5.0, 1.5]
    assert limiter.counts == {EFFORT: 1, RATE: 0, NOT_FINITE: 0}
    assert limiter.by_joint.tolist() == [EFFORT, EFFORT, 0]


def test_a_torque_within_its_limit_is_left_alone():
    limiter = TorqueLimiter([10.0, 5.0], FREE[:2])
    for given in ([10.0, -5.0], [-10.0, 5.0], [0.0, 0.0], [9.999, -4.999]):
        assert limited(limiter, given) == given == limiter.last.tolist()
    assert set(limiter.counts.values()) == {0}
    assert limiter.reasons(NAMES[:2]) == ''


def test_without_a_limit_nothing_is_clamped():
    assert limited(TorqueLimiter([np.inf, 1.0], FREE[:2]), [-1e300, 3.0], 0.0) == [-1e300, 1.0]


def test_limits_are_copied():
    effort, rate = np.array([10.0]), np.array([4.0])
    limiter = TorqueLimiter(effort, rate)
    effort[:], rate[:] = 0.0, 0.0
    assert limited(limiter, [50.0], 1.0) == [4.0]
    assert limiter.effort_limit.tolist() == [10.0]


@pytest.mark.parametrize('enforced', [True, False])
@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_stopped_and_counted(value, enforced):
    limiter, torque = TorqueLimiter([10.0, np.inf, 2.0], FREE, enforced), np.array([1.0, value, 50.0])
    assert limiter.apply(torque, 0.01) is False
    assert torque[[0, 2]].tolist() == [1.0, 50.0]  # nothing is repaired
    assert limiter.reasons(NAMES) == 'elbow: not finite'
    assert limited(limiter, [value] * 3) is None
    assert limiter.counts == {EFFORT: 0, RATE: 0, NOT_FINITE: 2}
    assert limiter.by_joint.tolist() == [NOT_FINITE] * 3
    assert limiter.last.tolist() == FREE
    assert limited(limiter, [1.0, 1.0, 1.0]) == [1.0, 1.0, 1.0]  # and the limiter goes on


def test_a_torque_changes_no_faster_than_its_rate():
    limiter = TorqueLimiter([100.0, 100.0, 100.0], [10.0, 0.0, 1000.0])
    # from zero; the second joint has no limit, the third is slow enough
    assert limited(limiter, [50.0, 50.0, -50.0], 0.1) == [1.0, 50.0, -50.0]
    assert limited(limiter, [-50.0, -50.0, 50.0], 0.2) == pytest.approx([-1.0, -50.0, 50.0])
    assert limiter.last.tolist() == pytest.approx([-1.0, -50.0, 50.0])
    assert limiter.counts == {EFFORT: 0, RATE: 2, NOT_FINITE: 0}
    assert limiter.reasons(NAMES) == 'shoulder: faster than the rate limit'


def test_small_joints_have_small_limits():
    """Limits and torques below 1 N m, of a wrist or a finger, keep their sign and count as any others."""
    limiter = TorqueLimiter([0.5, 0.5, 1.0, 1.0], [0.0, 0.0, 0.25, 0.25])
    assert limited(limiter, [0.7, -0.7, 0.7, -0.7], 0.5) == [0.5, -0.5, 0.125, -0.125]
    assert limiter.by_joint.tolist() == [EFFORT, EFFORT, RATE, RATE]
    assert limiter.reasons('abcd') == (
        'a: beyond the effort limit; b: beyond the effort limit; '
        'c: faster than the rate limit; d: faster than the rate limit'
    )


def test_a_torque_that_changes_as_fast_as_it_may_is_left_alone():
    limiter = TorqueLimiter([10.0, 10.0], [8.0, 8.0])
    assert limited(limiter, [1.0, -1.0], 0.125) == [1.0, -1.0]
    assert limiter.reasons(NAMES[:2]) == ''


def test_the_first_torque_of_all_starts_from_zero():
    limiter = TorqueLimiter([100.0], [10.0])
    assert limited(limiter, [5.0], 0.0) == [0.0]
    assert limited(limiter, [5.0], 0.25) == [2.5]


def test_after_a_gap_a_torque_starts_from_the_last_that_was_sent():
    """80 N m, then three states lost at 100 Hz: the actuator holds 80 N m, and so the next torque is there at once."""
    limiter = TorqueLimiter([133.0], [200.0])
    assert limited(limiter, [80.0], 1.0) == [80.0]
    assert limited(limiter, [80.0], 0.04) == [80.0]
    assert limited(limiter, [0.0], 0.04) == [72.0]  # the time that has really passed, not one period
    assert limiter.counts[RATE] == 1


def test_a_silence_or_a_reset_does_not_change_where_the_next_torque_starts():
    limiter = TorqueLimiter([100.0], [10.0])
    assert limited(limiter, [50.0], 5.0) == [50.0]
    limiter.reset()
    assert limiter.last.tolist() == [50.0]
    assert limited(limiter, [-50.0], 0.5) == [45.0]
    assert limited(limiter, [np.nan]) is None
    assert limited(limiter, [-50.0], 0.5) == [40.0]


def test_a_burst_reaches_what_the_time_between_its_states_allows():
    """States 10 ms apart that arrive four at once: the first of a burst has 40 ms, the others have next to nothing."""
    limiter, sent = TorqueLimiter([133.0], [200.0]), []
    for _ in range(10):
        sent += [limited(limiter, [80.0], elapsed)[0] for elapsed in (0.04, 0.0, 0.0, 0.0)]
    assert sent == pytest.approx(np.repeat(np.arange(8.0, 88.0, 8.0), 4))


def test_a_torque_is_clamped_before_its_rate_is_limited():
    limiter = TorqueLimiter([10.0], [200.0])
    assert limited(limiter, [1e9], 0.04) == [8.0]
    assert limited(limiter, [1e9], 0.04) == [10.0]
    assert limiter.by_joint.tolist() == [EFFORT | RATE]
    assert limiter.counts == {EFFORT: 2, RATE: 1, NOT_FINITE: 0}
    assert limiter.reasons(['j']) == 'j: beyond the effort limit, faster than the rate limit'


def test_what_is_not_finite_is_not_what_the_next_one_starts_from():
    limiter = TorqueLimiter([10.0, 10.0], [10.0, 10.0])
    assert limited(limiter, [1.0, 1.0], 0.1) == [1.0, 1.0]
    assert limited(limiter, [9.0, np.nan], 0.1) is None
    assert limiter.last.tolist() == [1.0, 1.0]
    assert limited(limiter, [9.0, 9.0], 0.1) == [2.0, 2.0]


def test_reasons_stay_until_they_are_reset():
    limiter = TorqueLimiter([10.0, 10.0, 10.0], FREE)
    limited(limiter, [20.0, 0.0, 0.0])
    limited(limiter, FREE)
    assert limiter.reasons(NAMES) == 'shoulder: beyond the effort limit'
    limiter.reset()
    assert limiter.reasons(NAMES) == '' and limiter.by_joint.tolist() == [0, 0, 0]
    assert limiter.counts == {EFFORT: 0, RATE: 0, NOT_FINITE: 0}


def test_reasons_want_a_name_for_each_joint():
    with pytest.raises(ValueError):
        TorqueLimiter([1.0, 1.0, 1.0], FREE).reasons(NAMES[:2])


def test_not_enforced_a_torque_is_unchanged_and_what_would_be_limited_is_reported():
    """preset monitor_only: an overload is seen in full."""
    limiter, torque = TorqueLimiter([10.0, 5.0, 5.0], [0.0, 2.0, 0.0], enforced=False), np.array([11.0, 4.0, 1.0])
    assert limiter.apply(torque, 0.5) is True
    assert torque.tolist() == limiter.last.tolist() == [11.0, 4.0, 1.0]
    assert limiter.counts == {EFFORT: 1, RATE: 1, NOT_FINITE: 0}
    assert limiter.reasons(NAMES) == 'shoulder: beyond the effort limit; elbow: faster than the rate limit'
    limiter.reset()
    # the rate counts from what was sent, not from what would have been
    assert limited(limiter, [0.0, 5.0, 0.0], 0.5) == [0.0, 5.0, 0.0]
    assert limiter.reasons(NAMES) == ''
    # nor does an overload that lasts count as fast
    for _ in range(2):
        limiter.reset()
        limiter.apply(np.array([0.0, 9.0, 0.0]), 9.0)
    assert limiter.reasons(NAMES) == 'elbow: beyond the effort limit'


def test_the_limiter_of_the_arm_holds_its_rated_torques():
    robot = Robot.named('aubo_i5')
    limits = effort_limits([0.0], robot.limits.effort, robot.joint_names)
    sent = limited(TorqueLimiter(limits, np.zeros(6)), np.full(6, -1000.0), 0.0)
    assert sent == [-133.0, -133.0, -133.0, -13.5, -13.5, -13.5]


def test_effort_limits_are_those_stated_else_those_of_the_robot():
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
    assert rate_limits([4.0], NAMES).flags.writeable
