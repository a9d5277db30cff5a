"""Leads: their ends, their limits, and how soon they join a trajectory."""

from support.robots.small_robots import mixed

import numpy as np
import pytest

from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.trajectories.lead import (
    GROWTH,
    JOIN,
    JOINED,
    MIN_LEAD,
    MOVING,
    OUTSIDE,
    PASSAGE,
    PLACE,
    SHIFT,
    STRETCHED,
    TOO_LONG,
    Led,
    Segments,
    come_to_rest,
)
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.errors import ArgumentError

LIMITS = np.array([2.0, 1.0, 3.0]), np.array([8.0, 5.0, 10.0])
FREE = np.full(3, np.inf), np.full(3, np.inf)
ZERO = [0.0, 0.0, 0.0]
EXCESS = 1.006  # between the times at which limits are looked at


def place(position, time=0.0):
    return Segments(np.array([time]), np.zeros((0, 6, 3)), np.array(position, float))


def drawn(seed, size=1.0):
    return size * np.random.default_rng(seed).uniform(-1.0, 1.0, (3, 3))


def sampled(led, begin, end, count=2001):
    """Return the motion at times (count, 3, n) between two, and the times."""
    motion, times = np.zeros((3, 3)), np.linspace(begin, end, count)
    sample, found = led.sampler(*motion), []
    for t in times:
        sample(t)
        found.append(motion.copy())
    return np.array(found), times


def trajectory(seed=7, velocity=1.0):
    random = np.random.default_rng(seed)
    rows = random.uniform(-1.0, 1.0, (3, 4, 3)) * np.array([0.3, velocity, 2.0])[:, None, None]
    return Trajectory([0.2, 0.7, 1.1, 1.6], *rows)


@pytest.mark.parametrize('seed', range(4))
@pytest.mark.parametrize('kind', [MOVING, PLACE])
def test_a_lead_has_the_state_of_the_reference_and_of_the_trajectory_at_its_ends(kind, seed):
    reference, ours = drawn(seed), trajectory()
    segments = Segments(*ours.segments) if kind == MOVING else place(drawn(9)[0], 0.2)
    led = Led(segments, kind, reference, FREE)
    assert led.begin(0.1, 0.4, 5.0) == JOINED and led.times[JOIN] == 0.4
    motion, _ = sampled(led, 0.1, 0.4)
    wanted = np.zeros((3, 3))
    if kind == MOVING:
        ours.sample(0.4, *wanted)
    else:
        wanted[0] = segments.final
    assert motion[0] == pytest.approx(reference, abs=1e-12)
    before, _ = sampled(led, 0.4 - 1e-9, 0.4, 2)
    assert before[0] == pytest.approx(wanted, abs=1e-4) and before[1] == pytest.approx(wanted, abs=1e-12)
    later, _ = sampled(led, 0.9, 0.9, 1)
    if kind == MOVING:
        ours.sample(0.9, *wanted)
    assert later[0] == pytest.approx(wanted, abs=1e-12)


def test_a_passage_has_the_velocity_of_a_point_and_any_acceleration():
    reference, (point, velocity, _) = drawn(1), drawn(2)
    segments = come_to_rest(0.2, np.array([point, velocity, np.zeros(3)]), point, 0.0, FREE)
    led = Led(segments, PASSAGE, reference, FREE)
    assert led.begin(0.1, 0.3, 5.0) == JOINED and led.times[SHIFT] == pytest.approx(0.1)
    motion, _ = sampled(led, 0.1, 0.3 - 1e-12)
    assert motion[0][:2] == pytest.approx(reference[:2], abs=1e-12)
    assert motion[-1][:2] == pytest.approx(np.array([point, velocity]), abs=1e-9)
    # a cubic: its acceleration is a straight line
    assert np.ptp(np.diff(motion[:, 2], axis=0), axis=0) == pytest.approx(np.zeros(3), abs=1e-9 * 400)
    assert np.diff(motion[:, 0], axis=0) == pytest.approx(0.5 * (motion[1:, 1] + motion[:-1, 1]) * 1e-4, abs=1e-7)


@pytest.mark.parametrize('seed', range(12))
@pytest.mark.parametrize('kind', [MOVING, PLACE, PASSAGE])
def test_a_lead_keeps_the_limits_and_is_as_short_as_they_allow(kind, seed):
    """Or what its ends have themselves, which no lead avoids; the one tried before did not keep them."""
    reference, ours = drawn(seed, 0.5), trajectory(velocity=0.5)
    reference[2] *= 4.0
    segments = Segments(*ours.segments)
    if kind != MOVING:
        state = np.array([drawn(5)[0], drawn(6, 0.5)[0], np.zeros(3)])
        segments = come_to_rest(0.2, state, state[0], 0.0, LIMITS)
    led = Led(segments, kind, reference, LIMITS)
    found = led.begin(0.1, 0.15, 9.0)
    assert found >= STRETCHED
    motion, _ = sampled(led, 0.1, led.times[JOIN] - 1e-9)
    assert uses(motion, kind).max() < EXCESS
    shorter = (led.times[JOIN] - 0.1) / GROWTH
    limits = LIMITS[0].copy(), LIMITS[1].copy()
    again = Led(segments, kind, reference, FREE)
    again.begin(0.1, 0.1 + shorter, 9.0)
    motion, _ = sampled(again, 0.1, again.times[JOIN] - 1e-9)
    use = uses(motion, kind)
    assert use.max() > 0.999 and use[found - STRETCHED] > 0.999
    assert all((before == after).all() for before, after in zip(limits, LIMITS, strict=True))


def uses(motion, kind):
    """Return by how much each joint uses its limits along a lead, (n)."""
    first, last = np.abs(motion[0]), np.abs(motion[-1])
    if kind == PASSAGE:
        last[2] = 0.0
        first[2] = np.abs(motion[0][2]) * 0.0
    return np.maximum(
        (np.abs(motion[:, 1]) / np.maximum(LIMITS[0], _own(first, last))).max(axis=0),
        (np.abs(motion[:, 2]) / np.max([LIMITS[1], first[2], last[2]], axis=0)).max(axis=0),
    )


def _own(first, last):
    return np.max([end[1] + 0.5 * MIN_LEAD * end[2] for end in (first, last)], axis=0)


def test_there_is_no_lead_where_the_reference_is_on_the_trajectory():
    ours, reference = trajectory(), np.zeros((3, 3))
    ours.sample(0.5, *reference)
    led = Led(Segments(*ours.segments), MOVING, reference, LIMITS)
    assert led.begin(0.5, 0.55, 2.0) == JOINED and led.times[JOIN] == 0.5
    reference[1] += 1e-3
    led.begin(0.5, 0.55, 2.0)
    assert led.times[JOIN] >= 0.55


def test_one_that_takes_too_long_names_the_joint_that_is_slowest():
    led = Led(place([0.5, 6.0, 0.5]), PLACE, np.zeros((3, 3)), LIMITS)
    assert led.begin(0.0, 0.05, 1.0) == TOO_LONG - 1
    assert led.begin(0.0, 0.05, 20.0) == STRETCHED + 1


def test_an_unknown_limit_bounds_nothing():
    led = Led(place([9.0, 9.0, 9.0]), PLACE, np.zeros((3, 3)), FREE)
    assert led.begin(0.0, 0.05, 1.0) == JOINED and led.times[JOIN] == 0.05


def test_coming_to_rest_overshoots_a_little_and_returns():
    position, velocity, acceleration = drawn(3)
    state = np.array([position, velocity, acceleration])
    segments = come_to_rest(2.0, state, position, 0.0, LIMITS)
    motion = np.zeros((3, 3))
    sample = Trajectory.sampler.__get__(_Bare(segments))(*motion)
    for t, wanted in ((2.0, state), (segments.starts[-1], [position, np.zeros(3), np.zeros(3)])):
        sample(t)
        assert motion == pytest.approx(np.array(wanted), abs=1e-9)
    found = []
    for t in np.linspace(*segments.starts, 500):
        sample(t)
        found.append(motion.copy())
    found = np.array(found)
    assert (np.abs(found[:, 2]) <= EXCESS * np.maximum(LIMITS[1], np.abs(acceleration))).all()
    assert np.abs(found[:, 0] - position).max() < 0.5


class _Bare:
    """Segments where a trajectory is expected."""

    def __init__(self, segments):
        self.segments = segments


def test_a_stop_that_takes_for_ever_is_refused():
    state = np.array([np.zeros(3), np.ones(3), np.zeros(3)])
    slow = np.full(3, np.inf), np.full(3, 1e-3)
    with pytest.raises(ArgumentError, match=r"^trajectory: it can't come to rest within 10 s after its last point"):
        come_to_rest(0.0, state, np.zeros(3), 0.0, slow)


POSITIONS = PositionLimits(mixed(), 0.2)  # the second joint between -3.2 and 3.2 rad, the first one anywhere


def test_a_lead_beyond_the_position_limits_names_the_joint():
    # at 4 rad/s^2 the run-up to 2 rad/s begins further away than 0.2 rad
    target = come_to_rest(
        0.0, np.array([[0.0, -3.1, 4.0], [0.0, 2.0, 0.0], ZERO]), np.array([0.0, -3.1, 4.0]), 0.0, FREE
    )
    limits = np.full(3, np.inf), np.full(3, 4.0)
    reference = np.array([[0.0, -3.1, 4.0], ZERO, ZERO])
    assert Led(target, PLACE, reference, limits, POSITIONS).begin(0.0, 0.05, 10.0) == OUTSIDE - 1
    assert Led(target, PLACE, reference, limits).begin(0.0, 0.05, 10.0) == STRETCHED + 1


def test_a_lead_from_where_the_arm_is_beyond_its_position_limits_leads_back():
    reference = np.array([[0.0, -3.5, 4.0], ZERO, ZERO])
    led = Led(place([0.0, -3.0, 4.0]), PLACE, reference, LIMITS, POSITIONS)
    assert led.begin(0.0, 0.05, 10.0) == STRETCHED + 1


@pytest.mark.parametrize('side', [-1.0, 1.0])
def test_coming_to_rest_beyond_the_position_limits_is_refused_by_name(side):
    state = np.array([[0.0, 3.0 * side, 4.0], [9.0, 2.0 * side, 0.0], ZERO])
    refused = (
        r"^trajectory: it comes to rest after its last point, where its velocity is not 0: joint 'swing': position "
        r'-?[34]\.\d+ is beyond its limits, -3 to 3 rad or m, by more than position_limit_tolerance \(0\.2\)$'
    )
    with pytest.raises(ArgumentError, match=refused):
        come_to_rest(0.0, state, state[0], 0.0, LIMITS, POSITIONS)
    state[1] *= 0.1
    come_to_rest(0.0, state, state[0], 0.0, LIMITS, POSITIONS)
