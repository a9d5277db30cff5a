"""Trajectories whose interpolation leaves the position limits between points that are within them."""

import numpy as np
import pytest

from robot_dynamics_ros.control.trajectories.segment_extremes import SLACK, first_outside
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory

NONE = np.full(2, np.inf)


def sampled(trajectory, segment, joint, count=20_001):
    """Return a joint's positions along a segment."""
    starts, coefficients, _ = trajectory.segments
    t = np.linspace(0.0, starts[segment + 1] - starts[segment], count)
    return np.polyval(coefficients[segment, ::-1, joint], t)


def drawn(seed, rates, points=6):
    random = np.random.default_rng(seed)
    times = np.cumsum(random.uniform(0.1, 1.0, points))
    columns = (random.uniform(-1.0, 1.0, (points, 2)) * scale for scale in (1.0, 3.0, 20.0)[: rates + 1])
    return Trajectory(times, *columns)


@pytest.mark.parametrize('rates', [0, 1, 2])
@pytest.mark.parametrize('seed', range(20))
def test_the_first_segment_that_is_outside_is_found_and_none_where_all_are_inside(seed, rates):
    trajectory = drawn(seed, rates)
    ways = [[sampled(trajectory, k, j) for j in range(2)] for k in range(5)]
    highest, lowest = np.max(ways, axis=(0, 2)), np.min(ways, axis=(0, 2))
    assert first_outside(trajectory.segments, lowest - 1e-6, highest + 1e-6) is None
    for joint in range(2):
        upper = NONE.copy()
        upper[joint] = highest[joint] - 1e-4
        found = first_outside(trajectory.segments, -NONE, upper)
        outside = [k for k in range(5) if ways[k][joint].max() > upper[joint]]
        assert (found.joint, found.segment) == (joint, outside[0])
        assert found.position == pytest.approx(ways[found.segment][joint].max(), abs=1e-6)
        at = np.zeros((3, 2))
        trajectory.sample(found.time, *at)
        assert at[0, joint] == pytest.approx(found.position, abs=1e-9)


def test_the_lower_limit_counts_likewise():
    trajectory = Trajectory([0.0, 2.0], np.zeros((2, 2)), [[-1.0, 0.0], [1.0, 0.0]])
    found = first_outside(trajectory.segments, np.array([-0.4, -1.0]), NONE)
    assert (found.time, found.joint, found.position) == (pytest.approx(1.0), 0, pytest.approx(-0.5))
    assert first_outside(trajectory.segments, np.array([-0.5, -1.0]), NONE) is None


def test_points_at_a_limit_are_within_it():
    """Rounding of coefficients is no way beyond."""
    random = np.random.default_rng(1)
    ends = random.uniform(-3.0, 3.0, (200, 2))
    trajectory = Trajectory(np.cumsum(random.uniform(1e-3, 1.0, 200)), ends, np.zeros((200, 2)), np.zeros((200, 2)))
    assert first_outside(trajectory.segments, ends.min(axis=0), ends.max(axis=0)) is None


def test_an_extreme_that_touches_a_limit_is_decided():
    for beyond in (0.0, 2.0 * SLACK):
        trajectory = Trajectory([0.0, 1.0], np.zeros((2, 2)), [[1.0, 0.0], [-1.0, 0.0]])  # up to 0.25
        found = first_outside(trajectory.segments, -NONE, np.array([0.25 - beyond, np.inf]))
        assert (found is None) == (beyond == 0.0)


def test_of_two_segments_the_earlier_one_is_named_though_it_takes_longer_to_decide():
    points = np.zeros((3, 2))
    points[2, 0] = 1.0
    trajectory = Trajectory([0.0, 1.0, 2.0], points, [[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    found = first_outside(trajectory.segments, -NONE, np.array([0.2499, np.inf]))
    assert found.segment == 0


@pytest.mark.filterwarnings('ignore:overflow encountered', 'ignore:invalid value encountered')
def test_numbers_that_overflow_are_outside():
    trajectory = Trajectory([0.0, 1e-3], np.zeros((2, 2)), np.full((2, 2), 1e308))
    assert first_outside(trajectory.segments, -np.ones(2), np.ones(2)).segment == 0


def test_one_point_has_no_segment():
    assert first_outside(Trajectory([1.0], np.zeros((1, 2))).segments, -np.ones(2), np.ones(2)) is None
