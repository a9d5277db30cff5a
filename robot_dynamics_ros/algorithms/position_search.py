"""Search over the positions of a robot's joints for what is largest anywhere: compass search from the best samples.

``next_positions`` gives the positions whose values are wanted next, and its caller computes them: nodes over a robot,
controllers over its exported functions. Samples come first. From the best of them, the starts, it takes the best of one
step in each joint, forth and back, and half of the step where none is better.

References
----------
Kolda, Lewis & Torczon 2003, Optimization by direct search, SIAM Review 45(3); Roberts 2018, The unreasonable
effectiveness of quasirandom sequences (points of the samples).
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Matrix, Vector

SAMPLES = 2048
"""Positions at which values are computed first."""
STARTS, LEAST_POLLS = 32, 16
"""Of them, those from which the search goes on; fewer where each could not be polled so often."""
FIRST_STEP, LAST_STEP = 1 / 8, 1 / 1024
"""Steps of the search, as parts of each joint's range."""
MOST_EVALUATIONS = 16384
"""Values of a search at most, beside the samples: robots of more than 12 joints may reach this before the last step.

For proposed dampings, and ones drawn up to ten times as large or small, a search with 8192 samples and 128 starts found
at most 0.5 % more (eight arms of up to 7 joints, 150 draws); samples alone miss up to 76 % (2026-11-27).
"""
MANY_JOINTS = 24
"""Joints above which samples and values decrease with the square of their number, as the time of each grows with it."""
IMPROVED = 1.0 + 1e-6
"""Ratio of two values from which on the larger one is worth a step."""
WIDEST = 2.0 * np.pi
"""Range of a joint without limits and gears, and the largest one: -pi to pi rad (prismatic joints: m)."""
BISECTIONS = 60


class SearchSize(NamedTuple):
    """How many positions a search compares."""

    samples: int
    starts: int
    values: int  # beside those of the samples


def search_size(joints: int, share: float = 1.0) -> SearchSize:
    """Return the size of a search over the positions of so many joints, or of a ``share`` of it."""
    if joints > MANY_JOINTS:
        share *= (MANY_JOINTS / joints) ** 2
    values = int(share * MOST_EVALUATIONS)
    starts = min(STARTS, max(1, values // (2 * max(1, joints) * LEAST_POLLS)))
    return SearchSize(max(1, int(share * SAMPLES)), starts, values)


def search_range(lower, upper, gear=1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the positions (n each) that are searched, from position limits (n each).

    ``gear`` (n, or one number) says how many turns of a joint make one of what is behind its gears.
    """
    widest = WIDEST * np.asarray(gear)
    with np.errstate(over='ignore', invalid='ignore'):
        wide = ~(np.subtract(upper, lower) <= widest)
    return np.where(wide, -0.5 * widest, lower), np.where(wide, 0.5 * widest, upper)


@compiled(given='points')
@kernel
def write_points(points: Matrix) -> None:
    """Write points (count, n) that fill the unit cube evenly: those of the additive recurrence R.

    Its step in dimension j is x^-(j + 1), with the root x above 1 of x^(n + 1) = x + 1.
    """
    n = points.shape[1]
    x, above = 1.0, 2.0
    for _ in range(BISECTIONS):
        middle = 0.5 * (x + above)
        if power_of(middle, n + 1) > middle + 1.0:
            above = middle
        else:
            x = middle
    step = 1.0
    for j in range(n):
        step = step / x
        place = 0.5
        for k in range(points.shape[0]):
            place = place + step
            if place >= 1.0:
                place = place - 1.0
            points[k, j] = place


@kernel
def power_of(x, exponent):
    """Return x to the power of an integer, at least 0."""
    power = 1.0
    for _ in range(exponent):
        power = power * x
    return power


@compiled(given='rows')
@kernel
def next_positions(
    samples: int,
    most_values: int,
    lower: Vector,
    upper: Vector,
    positions: Matrix,
    values: Vector,
    starts: Matrix,
    found: Vector,
    step: Vector,
    left: Vector,
    rows: int,
) -> int:
    """Write the positions (rows, n) between ``lower`` and ``upper`` (n) whose values are wanted next; return ``rows``.

    ``rows`` is what the last call returned, 0 for the first one, and ``values`` (rows) what was computed at its
    positions. Before that, values are bounds: at a position below its bound the value counts for nothing. With 0 rows
    the search is over: the largest values are ``found`` (count) at the positions ``starts`` (count, n).
    ``step`` (count) and ``left`` (1) last from call to call. ``positions`` and ``values`` have room for the larger one
    of ``samples`` and 2 n count.
    """
    if rows == 0:
        write_samples(lower, upper, positions)
        for k in range(samples):
            values[k] = 0.0
        # none has been chosen yet
        step[0], left[0] = 0.0, most_values
        return samples
    if step[0] == 0.0:
        choose_starts(rows, positions, values, starts, found, step)
    else:
        climb(positions, values, starts, found, step)
    largest = 0.0
    for s in range(starts.shape[0]):
        largest = max(largest, step[s])
    polls = 2 * starts.shape[1] * starts.shape[0]
    if largest < LAST_STEP or left[0] < polls:
        return 0
    left[0] = left[0] - polls
    write_polls(lower, upper, starts, found, step, positions, values)
    return polls


@kernel
def write_samples(lower, upper, positions):
    """Write samples of the positions (count, n) between ``lower`` and ``upper`` (n)."""
    write_points(positions)
    for k in range(positions.shape[0]):
        for j in range(positions.shape[1]):
            positions[k, j] = lower[j] + positions[k, j] * (upper[j] - lower[j])


@kernel
def choose_starts(rows, positions, values, starts, found, step):
    """Write the ``starts`` and what was ``found`` there: the positions with the largest ``values`` (rows)."""
    for s in range(starts.shape[0]):
        best = 0
        for k in range(rows):
            if values[k] > values[best]:
                best = k
        found[s], step[s] = values[best], FIRST_STEP
        for j in range(starts.shape[1]):
            starts[s, j] = positions[best, j]
        values[best] = -1.0


@kernel
def climb(positions, values, starts, found, step):
    """Move each start to the best of the positions around it, or halve its step where none is better."""
    around = 2 * starts.shape[1]
    for s in range(starts.shape[0]):
        first = around * s
        best = first
        for k in range(first, first + around):
            if values[k] > values[best]:
                best = k
        if values[best] > IMPROVED * found[s]:
            found[s] = values[best]
            for j in range(starts.shape[1]):
                starts[s, j] = positions[best, j]
        else:
            step[s] = 0.5 * step[s]


@kernel
def write_polls(lower, upper, starts, found, step, positions, values):
    """Write the positions around each start: one step in each joint, forth and back; and the bounds of their values."""
    n, k = starts.shape[1], 0
    for s in range(starts.shape[0]):
        for side in range(2):
            for moved in range(n):
                values[k] = IMPROVED * found[s]
                for j in range(n):
                    positions[k, j] = starts[s, j]
                length = step[s] * (upper[moved] - lower[moved])
                there = starts[s, moved] + (length if side == 0 else -length)
                positions[k, moved] = min(max(there, lower[moved]), upper[moved])
                k += 1
