"""Extremes of a trajectory between its points: where a polynomial leaves an interval of positions.

A polynomial lies within the convex hull of its Bernstein coefficients b_0 ... b_5, of which the first and the last one
are its values at the ends of the segment (Farin 2002, Curves and Surfaces for CAGD, sections 5.1 and 5.4). Segments
whose coefficients are in the interval stay in it; others are halved (de Casteljau's algorithm) until that is so, or
until an end is outside.
"""

from math import comb
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.errors import ArgumentError

DEGREE = 5
TO_BERNSTEIN = np.array([[comb(i, k) / comb(DEGREE, k) for k in range(DEGREE + 1)] for i in range(DEGREE + 1)])
"""From the powers of the time in [0, 1], lowest first."""
FIRST_HALF = np.array([[comb(i, k) / 2.0**i for k in range(DEGREE + 1)] for i in range(DEGREE + 1)])
"""From the coefficients of a segment to those of its first half."""
HALVINGS = 40
"""After so many halvings the hull is as narrow as rounding errors; what is still undecided contains NaN."""
SLACK = 1e-9
"""rad or m beyond the interval that count as rounding."""


class Extreme(NamedTuple):
    """The largest deviation of a joint within a segment: time in s, position in rad or m."""

    time: float
    segment: int
    joint: int
    position: float


def check_within(trajectory: Trajectory, limits: PositionLimits) -> None:
    """Raise ArgumentError for the first point of a trajectory, or motion between two, that the limits refuse."""
    limits.check('trajectory point', trajectory.positions)
    found = first_outside(trajectory.segments, limits.lower, limits.upper)
    if found is not None:
        raise ArgumentError(
            f'trajectory: {found.time:.3f} s, between points {found.segment} and {found.segment + 1}: '
            f'{limits.fault(found.joint, found.position)}'
        )


def first_outside(segments, lower: np.ndarray, upper: np.ndarray) -> Extreme | None:
    """Return the extreme of the first segment that leaves the positions of a joint; None where none does.

    Parameters
    ----------
    segments : tuple
        Times (m,) s, and coefficients (m - 1, 6, n), as ``Trajectory.segments``; more is ignored.
    lower, upper : ndarray, (n,)
        Smallest and largest position, rad or m; infinite: none.
    """
    starts, coefficients = segments[:2]
    lengths = np.vander(np.diff(starts), DEGREE + 1, increasing=True)
    found: tuple[int, int] | None = None
    for joint in map(int, np.flatnonzero(np.isfinite(lower) | np.isfinite(upper))):
        segment = _first(coefficients[:, :, joint], lengths, lower[joint] - SLACK, upper[joint] + SLACK)
        if segment is not None and (found is None or segment < found[0]):
            found = segment, joint
    if found is None:
        return None
    segment, joint = found
    powers, length = coefficients[segment, :, joint], starts[segment + 1] - starts[segment]
    return _extreme(segment, joint, starts[segment], length, powers, lower[joint], upper[joint])


def _first(coefficients: np.ndarray, lengths: np.ndarray, lower: float, upper: float) -> int | None:
    """Return the index of the first of the segments that leaves [lower, upper].

    ``coefficients`` (m - 1, 6) are of the powers of the time, ``lengths`` (m - 1, 6) the powers of the durations.
    """
    index = np.arange(len(coefficients))
    with np.errstate(over='ignore', invalid='ignore'):
        points = (coefficients * lengths) @ TO_BERNSTEIN.T
        for _ in range(HALVINGS):
            outside = ~((lower <= points) & (points <= upper))
            ends = outside[:, 0] | outside[:, -1]
            if ends.any():
                # one before it may be undecided yet
                points, index = points[: ends.argmax() + 1], index[: ends.argmax() + 1]
                outside = outside[: len(index)]
                if len(index) == 1 or not outside[:-1].any():
                    return int(index[-1])
            undecided = outside.any(axis=1)
            if not undecided.any():
                return None
            index, points = np.repeat(index[undecided], 2), points[undecided]
            halves = points @ FIRST_HALF.T, (points[:, ::-1] @ FIRST_HALF.T)[:, ::-1]
            points = np.stack(halves, axis=1).reshape(-1, DEGREE + 1)
    return int(index[0])


def _extreme(segment: int, joint: int, start: float, length: float, powers, lower: float, upper: float) -> Extreme:
    """Return where the polynomial is furthest outside: at a root of its derivative or an end."""
    derivative = powers[1:] * np.arange(1, DEGREE + 1)
    roots = np.roots(derivative[::-1]) if np.isfinite(derivative).all() else np.zeros(0)
    inside = roots.real[(np.abs(roots.imag) < SLACK) & (roots.real > 0.0) & (roots.real < length)]
    times = np.array([0.0, length, *inside])
    positions = np.polyval(powers[::-1], times)
    k = int(np.argmax(np.maximum(lower - positions, positions - upper)))
    return Extreme(float(start + times[k]), segment, joint, float(positions[k]))
