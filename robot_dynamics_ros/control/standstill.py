"""Standstill of an arm, detected in joint states that are sampled at any rate."""

import numpy as np

SPEED = 0.02
"""Largest measured speed of an arm at rest, rad/s (m/s): above the noise of common encoders."""
DISTANCE = 1e-3
"""Largest distance of an arm at rest from where it came to rest, rad (m)."""
DURATION = 500_000_000
"""Time after which an arm that does not move is at rest, ns."""


class Standstill:
    """The time since which no joint has moved, and the mean position and effort meanwhile."""

    def __init__(self, n: int):
        """Expect states of ``n`` joints."""
        self._q, self._effort = np.zeros(n), np.zeros(n)  # sums over the samples at rest
        self._where = np.zeros(n)
        self._count, self._since, self._last = 0, 0, -1

    @property
    def is_new(self) -> bool:
        """Whether the last sample did not continue a standstill."""
        return self._count == 1

    @property
    def position(self) -> np.ndarray:
        """Mean position (n,) since the arm stands, rad (m)."""
        return self._q / self._count

    @property
    def effort(self) -> np.ndarray:
        """Mean effort (n,) since the arm stands, in the unit of the samples."""
        return self._effort / self._count

    def reset(self) -> None:
        """Begin with the next sample."""
        self._count, self._last = 0, -1

    def add(self, stamp: int, q: np.ndarray, qd: np.ndarray, effort: np.ndarray) -> bool:
        """Add a sample and return whether the arm has been at rest for ``DURATION``.

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
        if not self._count or moves or stamp < self._last:
            self._q[:] = self._effort[:] = 0.0
            self._where[:], self._count, self._since = q, 0, stamp
        if stamp != self._last:
            self._q += q
            self._effort += effort
            self._count += 1
        self._last = stamp
        return stamp - self._since >= DURATION
