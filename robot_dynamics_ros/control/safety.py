"""What a torque must pass before it leaves a node."""

import numpy as np

from robot_dynamics_ros.dynamics.jit import bound, entry

FREE, CLAMPED, NOT_FINITE = range(3)


@entry
def _clamp(lower, upper, torque):
    """Clamp torque (n) in place between lower and upper (n each); return what was found.

    A torque with an entry that is not finite is left alone.
    """
    for k in range(torque.shape[0]):
        if not np.isfinite(torque[k]):
            return NOT_FINITE
    found = FREE
    for k in range(torque.shape[0]):
        if torque[k] > upper[k] or torque[k] < lower[k]:
            torque[k] = upper[k] if torque[k] > 0.0 else lower[k]
            found = CLAMPED
    return found


class TorqueGate:
    """Finite check and clamp for torques of one robot, with counts of what it stopped."""

    def __init__(self, effort_limit, torque: np.ndarray):
        """Guard ``torque`` (n, N m), an array whose numbers come and go.

        It is clamped to ``effort_limit`` (n, N m); NaN where a joint's limit is unknown, which is never a clamp to 0.
        """
        limit = np.where(np.asarray(effort_limit) > 0.0, effort_limit, np.inf)
        self._clamp = bound(_clamp, -limit, limit, torque)
        self.saturations = 0
        self.rejections = 0

    def admit(self) -> bool:
        """Return whether the torque may be sent, after clamping it in place."""
        found = self._clamp()
        self.saturations += found == CLAMPED
        self.rejections += found == NOT_FINITE
        return found != NOT_FINITE


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
        gap, self._last_stamp = stamp - self._last_stamp, stamp
        if 0 < gap < stamp:  # not the first
            if self._period:
                # a pause is no period: it counts as the longest gap that is still in time
                self._period += self.SMOOTHING * (min(gap, self.PERIODS * self._period) - self._period)
            else:
                self._period = gap
        limit = self._limit or self.PERIODS * self._period
        return not limit or now - stamp <= limit
