"""Standstill of an arm, detected in joint states that are sampled at any rate."""

import numpy as np

SPEED = 0.02
"""Largest measured speed of an arm at rest, rad/s (m/s): above the noise of common encoders."""
DISTANCE = 1e-3
"""Largest distance of an arm at rest from where it came to rest, rad (m)."""
DURATION_NS = 500_000_000
"""Time after which an arm that does not move is at rest, ns."""


class Standstill:
    """The time since which no joint has moved, and the mean position and effort in its newest part.

    That part is one to two times ``DURATION_NS`` long, so that what changes while the arm stands shows soon. ``is_new``
    is whether the last sample did not continue a standstill.
    """

    def __init__(self, n: int):
        """Expect states of ``n`` joints."""
        # sums over the samples of the part that lasts, and of the one before
        self._q, self._effort = np.zeros((2, n)), np.zeros((2, n))
        self._where, self._count = np.zeros(n), np.zeros(2, int)
        self._since, self._last = 0, -1
        self.is_new = False

    @property
    def position(self) -> np.ndarray:
        """Mean position (n,), rad (m)."""
        return self._q.sum(axis=0) / self._count.sum()

    @property
    def effort(self) -> np.ndarray:
        """Mean effort (n,), in the unit of the samples."""
        return self._effort.sum(axis=0) / self._count.sum()

    def reset(self) -> None:
        """Begin with the next sample."""
        self._count[:], self._last = 0, -1

    def add(self, stamp: int, q: np.ndarray, qd: np.ndarray, effort: np.ndarray) -> bool:
        """Add a sample and return whether the arm has been at rest for ``DURATION_NS``.

        Parameters
        ----------
        stamp : int
            Time of the sample, ns. One that does not increase is another clock: the standstill begins again.
        q, qd : ndarray, (n,)
            Positions (rad, m) and velocities (rad/s, m/s); velocities may be NaN.
        effort : ndarray, (n,)
            Measured efforts, finite.
        """
        # a velocity that is NaN is not measured: the distance alone decides
        moves = bool((np.abs(qd) > SPEED).any() or (np.abs(q - self._where) > DISTANCE).any())
        self.is_new = not self._count.any() or moves or stamp < self._last
        if self.is_new:
            self._q[:] = self._effort[:] = 0.0
            self._where[:], self._count[:], self._since = q, 0, stamp
        if stamp != self._last:
            self._q[0] += q
            self._effort[0] += effort
            self._count[0] += 1
        self._last = stamp
        if stamp - self._since >= DURATION_NS:
            for sums in (self._q, self._effort, self._count):
                sums[1], sums[0] = sums[0], 0
            self._since = stamp
        return bool(self._count[1])
