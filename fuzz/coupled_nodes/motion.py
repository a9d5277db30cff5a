"""Desired motion through the points of a JointTrajectory, as doc/trajectories.md describes it."""

from support import graph

import numpy as np
from load import SECOND
from scipy.interpolate import BPoly

ROWS = 'positions', 'velocities', 'accelerations'


class Motion:
    """Points in the arm's joint order: times (m), s, and rows (m, n) of positions and rates, NaN where not stated."""

    def __init__(self, times, *rows):
        self.times, self.rows = np.asarray(times, float), [np.asarray(values, float) for values in rows]

    @classmethod
    def of(cls, message, names) -> 'Motion':
        """Return the motion of a valid JointTrajectory."""
        order, nothing = [list(message.joint_names).index(name) for name in names], np.full(len(names), np.nan)
        rows = [
            [np.array(values)[order] if len(values := getattr(point, row)) else nothing for point in message.points]
            for row in ROWS
        ]
        return cls([graph.nanoseconds(point.time_from_start) / SECOND for point in message.points], *rows)

    def after(self, t: float, q, qd) -> 'Motion':
        """Return this motion with an additional first point: q and qd (NaN: unknown) at ``t`` s."""
        first = q, qd, np.full(len(q), np.nan)
        rows = (np.vstack([[values], rows]) for values, rows in zip(first, self.rows, strict=True))
        return Motion([t, *self.times], *rows)

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return position, velocity and acceleration at ``t`` s; after the last point it rests."""
        positions, still = self.rows[0], np.zeros(self.rows[0].shape[1])
        if t > self.times[-1] or len(self.times) == 1:
            return positions[-1], still, still
        k = min(max(int(np.searchsorted(self.times, t, side='right')) - 1, 0), len(self.times) - 2)
        ends = [row[k : k + 2] for row in self.rows]
        known = 1 + int(np.isfinite(ends[1]).all()) + int(np.isfinite(ends[1:]).all())
        segment = BPoly.from_derivatives([0.0, self.times[k + 1] - self.times[k]], np.stack(ends[:known], axis=1))
        q, qd, qdd = (segment(t - self.times[k], nu=order) for order in range(3))
        # at the beginning, rounding must not be divided by a short duration
        return q, self.rows[1][k] if known > 1 and t == self.times[k] else qd, qdd
