"""What a torque must pass before it leaves a node."""

import numpy as np


class TorqueGate:
    """Finite check and clamp for torques of one robot, with counts of what it stopped."""

    def __init__(self, effort_limit):
        """Clamp to ``effort_limit`` (n, N m); NaN where a joint's limit is unknown, which is never a clamp to 0."""
        limit = np.where(np.asarray(effort_limit) > 0.0, effort_limit, np.inf)
        self._upper, self._lower = limit, -limit
        self.saturations = 0
        self.rejections = 0

    def admit(self, torque: np.ndarray) -> bool:
        """Return whether ``torque`` (n, N m) may be sent, after clamping it in place."""
        if not np.isfinite(torque).all():
            self.rejections += 1
            return False
        if (torque > self._upper).any() or (torque < self._lower).any():
            self.saturations += 1
            np.clip(torque, self._lower, self._upper, out=torque)
        return True


class AgeLimit:
    """How old the state that a torque answers may be: a stated limit, or three periods of the input."""

    PERIODS = 3
    SMOOTHING = 0.1

    def __init__(self, limit: float):
        """Set the limit in s; 0 means three times the measured period between stamps."""
        self._limit = int(limit * 1e9)
        self._last_stamp = 0
        self._period = 0.0

    @property
    def period(self) -> float:
        """Smoothed time between two stamps in s; 0 before the second."""
        return self._period * 1e-9

    def admits(self, stamp: int, now: int) -> bool:
        """Return whether a state of time ``stamp`` may be answered at ``now`` (both ns); learn the period from it."""
        gap = stamp - self._last_stamp
        if self._last_stamp and gap > 0:
            # a pause is no period: it counts as the longest gap that is still in time
            longest = self.PERIODS * self._period or gap
            self._period += self.SMOOTHING * (min(gap, longest) - self._period) if self._period else gap
        self._last_stamp = stamp
        limit = self._limit or self.PERIODS * self._period
        return not limit or now - stamp <= limit
