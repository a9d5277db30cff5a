"""Streams of points: which points they are made of, when these are reached, and with which velocity they are passed."""

import numpy as np
import pytest

from robot_dynamics_ros.control.trajectories.lead import MIN_LEAD
from robot_dynamics_ros.control.trajectories.point_stream import (
    DECAY,
    LARGEST_JITTER_NS,
    LONGEST_GAP_NS,
    MARGIN,
    MEMORY,
    REMEMBERED,
    ROOM,
    USUAL_PERIOD,
    Pace,
    Point,
    StreamPoint,
)

MS = 1_000_000
START = 1_700_000_000_000 * MS
NONE = np.full(2, np.nan)
TURN = np.array([2.0 * np.pi, 0.0])
NO_LIMITS = np.full(2, np.inf), np.full(2, np.inf)


def point(time, position, velocity=NONE):
    return Point(START + round(time * 1e9), np.array(position, float), np.array(velocity, float), NONE)


def stream(times, positions, velocities=None, limits=NO_LIMITS, **how):
    """Return the points of a stream, a StreamPoint each."""
    found = [None]
    for k, (time, position) in enumerate(zip(times, positions, strict=True)):
        velocity = NONE if velocities is None else velocities[k]
        found.append(StreamPoint(point(time, position, velocity), found[-1], TURN, limits, **how))
    return found[1:]


@pytest.mark.parametrize(
    ('later', 'continues'), [(0.001, True), (0.25, True), (0.250001, False), (0.000999, False), (-0.1, False)]
)
def test_a_point_continues_a_stream_that_is_at_most_a_quarter_of_a_second_old(later, continues):
    assert LONGEST_GAP_NS == 250 * MS
    one, other = stream([0.0, later], [[0.0, 0.0]] * 2)
    assert (other.stream is one.stream) is continues and other.period == pytest.approx(later if continues else 0.0)


def test_points_with_velocities_are_passed_themselves():
    for one in stream([0.0, 0.1], [[0.0, 0.0], [0.1, 0.2]], [[1.0, 2.0]] * 2):
        assert one.passed is one.point and one.goal is one.point.position


def test_points_without_are_passed_one_later_with_the_central_difference():
    """Exact for a parabola, also with points that are not equally far apart."""
    times = np.array([0.0, 0.1, 0.2, 0.3])
    rows = np.outer(times**2, [3.0, -1.0])
    first, second, *others = stream(times, rows)
    assert first.passed is first.point
    assert second.passed.position.tolist() == rows[0].tolist()
    assert second.passed.velocity == pytest.approx((rows[1] - rows[0]) / 0.2)  # at rest before
    for k, one in enumerate(others, 1):
        assert (one.passed.time, one.passed.position.tolist()) == (first.point.time + k * 100 * MS, rows[k].tolist())
        assert one.passed.velocity == pytest.approx(2.0 * times[k] * np.array([3.0, -1.0]), abs=1e-12)
        assert np.isnan(one.passed.acceleration).all() and one.goal == pytest.approx(rows[k + 1])
    *_, late = stream([0.0, 0.05, 0.2], [[0.0, 0.0], [0.1, 0.0], [0.3, 0.0]])
    assert late.passed.velocity == pytest.approx([1.5, 0.0])


def test_a_jump_of_the_positions_is_not_a_velocity():
    """An arm that passed the first point with 2.5 rad/s would move away from the second one first, and beyond it."""
    limits = np.full(2, 3.0), np.array([10.0, np.inf])
    *_, jump, after = stream([0.0, 0.02, 0.04], [[0.0, 0.0], [0.1, 0.1], [0.1, 0.1]], limits=limits)
    assert jump.passed.velocity == pytest.approx([0.4, 2.5]) and jump.goal.tolist() == [0.1, 0.1]
    assert after.passed.velocity == pytest.approx([0.8, 2.5])
    *_, fast = stream([0.0, 0.02, 0.04], [[0.0, 0.0], [0.0, 1.0], [0.0, 2.0]], limits=limits)
    assert fast.passed.velocity.tolist() == [0.0, 3.0]


def test_a_turn_of_a_continuous_joint_is_no_step():
    *_, one = stream([0.0, 0.1, 0.2], [[3.1, 3.1], [-3.1, -3.1], [-3.0, -3.0]])
    assert one.passed.velocity == pytest.approx([(2.0 * np.pi - 6.1) / 0.2, -6.1 / 0.2])
    *_, one = stream([0.0, 0.1], [[3.1, 0.0], [-3.1, 0.0]])
    assert one.goal == pytest.approx([2.0 * np.pi - 3.1, 0.0])  # on the turn of the one that is passed


def test_a_stream_remembers_its_latest_trajectories():
    points = stream(0.01 * np.arange(40), np.zeros((40, 2)))
    for k, one in enumerate(points):
        one.enter(k)
    assert points[0].stream.identities == tuple(range(40 - REMEMBERED, 40))


# When points are reached


def reached(points, arrivals, state_period=0.0):
    """Return the times at which points are reached and their lag, for leads that begin at ``arrivals``."""
    return [
        (one.earliest(t, (one.passed.time - START) * 1e-9, state_period), one.stream.lag)
        for one, t in zip(points, arrivals, strict=True)
    ]


def velocities(count):
    return np.ones((count, 2))


def test_a_point_that_comes_in_time_is_reached_at_its_time():
    times = 0.1 + 0.02 * np.arange(5)
    points = stream(times, np.zeros((5, 2)), velocities(5))
    assert reached(points, times - 0.1) == [(pytest.approx(t), 0.0) for t in times]


@pytest.mark.parametrize('ahead', [0.0, 0.02])
def test_a_point_that_comes_at_its_time_is_reached_a_lead_later_with_room_for_jitter(ahead):
    sent = 0.02 * np.arange(50)
    points, late = stream(sent + ahead, np.zeros((50, 2)), velocities(50)), 0.02 * np.random.default_rng(1).random(50)
    found = reached(points, sent + late, 0.004)
    lag = MIN_LEAD + MARGIN + 0.004 + late[0] - ahead
    assert found[0] == (pytest.approx(ahead + lag), pytest.approx(lag))
    for (when, now), t, arrival in zip(found, sent + ahead, sent + late, strict=True):
        assert when == pytest.approx(t + now) and when - arrival >= MIN_LEAD - 1e-9
    lags = np.array([lag for _, lag in found])
    assert (np.abs(np.diff(lags)) <= DECAY * 0.02 + 1e-9).all()  # no message needs more: no step


def test_without_velocities_the_first_point_has_room_for_the_second():
    points = stream([0.0, 0.05, 0.1], np.zeros((3, 2)))
    found = reached(points, [0.0, 0.05, 0.1])
    assert [lag for _, lag in found] == [pytest.approx(MIN_LEAD + MARGIN + USUAL_PERIOD)] * 3


def test_a_message_that_needs_more_raises_the_lag_which_then_decays():
    times = 0.05 * np.arange(60)
    arrivals = times.copy()
    arrivals[5] += 0.15
    lags = [lag for _, lag in reached(stream(times, np.zeros((60, 2)), velocities(60)), arrivals)]
    assert lags[4] == pytest.approx(MIN_LEAD + MARGIN) and lags[5] == pytest.approx(MIN_LEAD + 0.15)
    assert lags[6] == pytest.approx(lags[5] - DECAY * 0.05)
    assert lags[-1] == pytest.approx(MIN_LEAD + ROOM) and min(lags[5:]) >= MIN_LEAD + ROOM - 1e-9


def test_a_lead_lasts_one_period_of_a_slow_stream():
    times = 0.2 * np.arange(4)
    found = reached(stream(times, np.zeros((4, 2)), velocities(4)), times)
    assert [when - t for (when, _), t in zip(found[1:], times[1:], strict=True)] == [pytest.approx(0.2)] * 3


# Times of sending


def smoothed(sent):
    """Return the smoothed times (s) of points that were sent then (s)."""
    found = [round(sent[0] * 1e9)]
    pace = Pace(0.0, 1)
    for t in sent[1:]:
        time, pace = pace.smoothed(found[-1], round(t * 1e9))
        found.append(time)
    return np.array(found) * 1e-9


def test_the_jitter_of_a_periodic_source_is_smoothed():
    nominal = 0.03 * np.arange(300)
    jitter = np.random.default_rng(2).uniform(-0.002, 0.002, 300)
    error = smoothed(nominal + jitter) - nominal
    assert np.abs(np.diff(error[MEMORY:])).max() < 0.3 * np.abs(np.diff(jitter)).max()
    assert np.abs(error[MEMORY:]).max() < 0.002
    assert smoothed(nominal) == pytest.approx(nominal, abs=2e-9)


def test_a_message_that_is_lost_is_no_jitter():
    sent = np.delete(0.03 * np.arange(100), [40, 60, 61])
    assert smoothed(sent) == pytest.approx(sent, abs=2e-9)


def test_times_of_a_source_that_is_not_periodic_are_kept():
    sent = np.cumsum(np.random.default_rng(3).uniform(0.01, 0.05, 60))
    kept = np.abs(smoothed(sent) - sent)
    assert kept.max() <= LARGEST_JITTER_NS * 1e-9 and (kept < 1e-6).mean() > 0.2


def test_times_increase_whatever_is_sent():
    sent = np.cumsum(np.random.default_rng(5).choice([0.001, 0.002, 0.03], 200))
    assert np.diff(smoothed(sent)).min() > 0.9e-3


def test_a_source_with_another_period_is_followed_soon():
    sent = np.concatenate([0.05 * np.arange(30), 1.5 + 0.02 * np.arange(30)])
    assert smoothed(sent)[32:] == pytest.approx(sent[32:], abs=1e-6)


@pytest.mark.parametrize('as_sent', [True, False])
def test_stamps_say_the_time_exactly_and_times_of_sending_do_not(as_sent):
    sent = 0.03 * np.arange(60) + np.random.default_rng(4).uniform(-0.002, 0.002, 60)
    times = [one.point.time - START for one in stream(sent, np.zeros((60, 2)), as_sent=as_sent)]
    exact = np.abs(np.array(times) * 1e-9 - sent) < 1e-8
    assert exact.all() != as_sent
