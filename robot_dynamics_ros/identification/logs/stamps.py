"""Stamps in bursts: times of reception, where a network or a driver hands over several samples at once.

The samples themselves are evenly spaced, as an arm's controller takes them. Their period is the slope of the line
through stamps over numbers, since bursts are ahead and behind of it by turns.
"""

import itertools

import numpy as np

from robot_dynamics_ros.errors import ArgumentError

SHORT = 0.2
"""A step below this share of the mean one is within a burst."""
SHARE = 0.4
"""Least share of such steps in a log in bursts; of measured logs with stamps of their controllers it is below 0.002."""
USUAL = 0.995
"""Quantile of the steps above which they are left out of the mean: gaps are rare, times between bursts are not."""
GAP = 3.0
"""Time between bursts that is a gap, in median ones."""
LARGEST_ERROR = 2.0
"""Largest distance of stamps from an even grid, in median times between bursts: beyond it, samples are missing."""


def in_bursts(t: np.ndarray) -> bool:
    """Return whether many steps of times (m,) are far below the mean one."""
    steps = np.diff(t)
    return len(steps) > 1 and bool((steps < SHORT * _mean_step(steps)).mean() > SHARE)


def evened(t: np.ndarray) -> np.ndarray:
    """Return times (m,) that are evenly spaced between gaps; ArgumentError where samples are missing."""
    steps = np.diff(t)
    between = float(np.median(steps[steps >= _mean_step(steps)]))
    bounds = [0, *(np.flatnonzero(steps > GAP * between) + 1).tolist(), len(t)]
    even = t.copy()
    for start, end in itertools.pairwise(bounds):
        if end - start < 2:
            continue
        numbers = np.arange(end - start)
        even[start:end] = np.polynomial.Polynomial.fit(numbers, t[start:end], 1)(numbers)
        error = np.abs(even[start:end] - t[start:end])
        if error.max() > LARGEST_ERROR * between:
            raise ArgumentError(
                f'stamps: at {t[start + int(error.argmax())]:.6g} s they are {error.max():.3g} s off an even grid: '
                'samples are missing, their times are unknown'
            )
    return even


def _mean_step(steps: np.ndarray) -> float:
    """Return the mean of steps without gaps."""
    return float(steps[steps <= np.quantile(steps, USUAL)].mean())
