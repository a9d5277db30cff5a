"""Arm watch: what the torques of the last second say of the arm, from counts that the hot path keeps.

A torque that is limited is another one than the law computed, and an arm that is far from where it is held or led, or
moves on while its torque is limited, is not under control.
"""

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.control.guards.position_error import PositionError
from robot_dynamics_ros.control.guards.torque_limiter import TorqueLimiter

SHORTEST = 0.5
"""Shortest time that is judged, s."""
LIMITED = 0.1
"""Share of limited torques in this time that is reported."""
GROWTH = 0.02
"""Growth of a distance, from one time to the next, that is no noise, rad or m."""
NEAR = 0.1
"""Distance up to which an arm whose torque is limited has not moved away, rad or m."""
HOW = 'beyond the effort limit', 'faster than the rate limit'


class ArmWatch:
    """``look`` judges the time since it was called last; ``warnings`` and ``errors`` are its result."""

    def __init__(
        self,
        joint_names: Sequence[str],
        limiter: TorqueLimiter,
        error: PositionError,
        position: np.ndarray,
        tolerance: float,
    ):
        """Watch what ``limiter`` and ``error`` count, and the measured ``position`` (n, rad or m).

        ``tolerance`` is the largest distance from where the arm is held or led, rad or m.
        """
        self._names, self._limiter, self._error, self._position = joint_names, limiter, error, position
        self._tolerance = tolerance
        self.reset(0.0, 0)

    def reset(self, now: float, count: int) -> None:
        """Begin at the time ``now`` (s), at which ``count`` torques have been sent."""
        self._since, self._counted, self._limited = now, count, self._limiter.limited.copy()
        self._distance = np.full(len(self._names), np.inf)  # of the time before
        self._where = self._position.copy()  # of each joint before its torque was limited
        self._error.largest()
        self.warnings: list[str] = []
        self.errors: list[str] = []

    def look(self, now: float, count: int) -> None:
        """Judge the time up to ``now`` (s), at which ``count`` torques have been sent, unless it is too short."""
        elapsed = now - self._since
        if elapsed < SHORTEST:
            return
        limited, torques = self._limiter.limited.copy(), count - self._counted
        share = (limited - self._limited) / max(torques, 1)
        self._since, self._counted, self._limited = now, count, limited
        is_limited = share.max(axis=0) >= LIMITED
        followed = self._error.largest()
        distance = self._error.between(self._position, self._where) if followed is None else followed
        self.warnings = [
            f'torque of joint {name!r} {how} in {100.0 * part:.0f} % of the last {elapsed:.1f} s'
            for how, row in zip(HOW, share, strict=True)
            for name, part in zip(self._names, row, strict=True)
            if part >= LIMITED
        ]
        self.errors = [] if followed is None else self._too_far(followed)
        self.errors += self._moving_away(is_limited, distance, self._distance)
        self._distance = distance
        self._where = np.where(is_limited, self._where, self._position)

    def _too_far(self, followed: np.ndarray) -> list[str]:
        """Return which joints are further from where they are held or led than the tolerance."""
        return [
            f'joint {name!r} was {distance:.3f} rad or m from where it is held or led, more than start_tolerance '
            f'({self._tolerance:g})'
            for name, distance in zip(self._names, followed, strict=True)
            if distance > self._tolerance
        ]

    def _moving_away(self, is_limited: np.ndarray, distance: np.ndarray, before: np.ndarray) -> list[str]:
        """Return which joints move away while their torque is limited, by their distances now and ``before``."""
        return [
            f'joint {name!r} moves away while its torque is limited: {now:.3f} rad or m, {then:.3f} before'
            for name, limited, now, then in zip(self._names, is_limited, distance, before, strict=True)
            if limited and now > max(NEAR, then + GROWTH)
        ]
