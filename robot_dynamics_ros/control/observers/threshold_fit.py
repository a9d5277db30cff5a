"""Fit of contact thresholds to residuals of free motion: the lowest ones that cover them with a margin.

Samples are kept in cells of a joint: near a reversal or not, doubling steps of the speed and of the inertial torque.
A cell has the largest residual, the sample that it is of, and the time spent there; so cells of
several motions merge. Of slopes on a grid, those count whose thresholds have the lowest mean over the time of the
cells::

    level    = max over cells away from reversals of (margin residual - speed |qd| - inertia a)
    reversal = the same over cells near reversals, minus level

The share of the friction that a detector adds is beside them: it stands for the friction of other days, which these
motions do not show.
"""

from typing import NamedTuple

import numpy as np

STEPS = 8
"""Steps of speed and of inertial torque: below 1, 2, 4 .. 64 units, and above."""
LOWEST_INERTIA, HIGHEST_INERTIA = 0.1, 0.5
"""Share of the inertial torque: inertias are seldom known better than to a tenth; and where a contact stops a joint,
the residual is all of it, which has to stay above the threshold."""
SPEEDS, INERTIAS = 11, 9
"""Number of slopes on the grid."""


class Cells(NamedTuple):
    """Cells (n, 2 ``STEPS``^2, away from reversals first) of n joints."""

    size: np.ndarray
    """Largest residual, N m (N)."""
    speed: np.ndarray
    """Of this sample, rad/s (m/s)."""
    inertial: np.ndarray
    """Of this sample: the inertial torque, N m (N)."""
    time: np.ndarray
    """Time in the cell, s; 0: never."""


def empty_cells(n: int) -> Cells:
    """Return cells of ``n`` joints without a sample."""
    return Cells(*np.zeros((4, n, 2 * STEPS**2)))


def merge(cells: Cells, others: Cells) -> None:
    """Add ``others`` to ``cells``."""
    larger = others.size > cells.size
    for mine, its in zip(cells[:-1], others[:-1], strict=True):
        mine[larger] = its[larger]
    cells.time[:] += others.time


def fit(cells: Cells, k: int, margin: float, floor: float, reversal_floor: float) -> np.ndarray:
    """Return the threshold (4) of joint ``k``: level, reversal, speed and inertia as of ``ContactDetector``.

    The level is at least ``floor``, level and reversal together at least ``reversal_floor``, N m (N).
    """
    size, speed, inertial, time = (part[k] for part in cells)
    is_near = np.arange(size.size) >= STEPS**2
    far, near = (time > 0.0) & ~is_near, (time > 0.0) & is_near
    steepest = margin * size.max() / max(speed.max(), np.finfo(float).tiny)
    a, b = np.meshgrid(np.linspace(0.0, steepest, SPEEDS), np.linspace(LOWEST_INERTIA, HIGHEST_INERTIA, INERTIAS))
    a, b = a.reshape(-1, 1), b.reshape(-1, 1)
    grows = a * speed + b * inertial
    lacking = margin * size - grows
    level = np.max(lacking[:, far], axis=1, initial=floor)
    reversal = np.max(lacking[:, near], axis=1, initial=reversal_floor)
    reversal = np.maximum(reversal - level, 0.0)
    mean = (grows + level[:, None] + reversal[:, None] * is_near) @ time
    best = int(mean.argmin())
    return np.array([level[best], reversal[best], a[best, 0], b[best, 0]])
