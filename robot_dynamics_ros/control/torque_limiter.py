"""The last step before a torque is sent: finite, within the effort limit, within the rate limit."""

from enum import IntFlag

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.decorators import bound, entry


class Limited(IntFlag):
    """What was wrong with the torque of a joint; several add up."""

    EFFORT = 1
    RATE = 2
    NOT_FINITE = 4


REASONS = {
    Limited.EFFORT: 'beyond the effort limit',
    Limited.RATE: 'faster than the rate limit',
    Limited.NOT_FINITE: 'not finite',
}
EFFORT, RATE, NOT_FINITE = (int(flag) for flag in Limited)


@entry
def _limit(limit, rate, last, found_by_joint, torque, elapsed):
    """Write torque (n) within limit (n) and within rate (n, 0: none) x elapsed of last (n); return what was found.

    ``last`` becomes the torque; ``found_by_joint`` (n) collects the flags. Where an entry is not finite, torque and
    ``last`` stay as they are.
    """
    found = 0
    for k in range(torque.shape[0]):
        if not np.isfinite(torque[k]):
            found_by_joint[k] |= NOT_FINITE
            found = NOT_FINITE
    if found:
        return found
    for k in range(torque.shape[0]):
        # |tau| <= limit
        if abs(torque[k]) > limit[k]:
            torque[k] = limit[k] if torque[k] > 0.0 else -limit[k]
            found_by_joint[k] |= EFFORT
            found |= EFFORT
        # |tau - last| <= rate elapsed
        step = rate[k] * elapsed
        if rate[k] > 0.0 and abs(torque[k] - last[k]) > step:
            torque[k] = last[k] + step if torque[k] > last[k] else last[k] - step
            found_by_joint[k] |= RATE
            found |= RATE
    for k in range(torque.shape[0]):
        last[k] = torque[k]
    return found


class TorqueLimiter:
    """Finite check, clamp and rate limit, in this order, for the torques of one robot; it records what it changed.

    The rate limit counts from the last torque that was sent, however long ago: a controller without a time-out
    (forward_command_controller) still holds it. Before the first torque of a configuration that is zero.

    ``counts`` are of torques by reason, ``by_joint`` (n) the flags by joint, both since the last ``reset``. ``last``
    (n) is the last torque that was sent.
    """

    def __init__(self, effort_limit, rate_limit, enforced: bool = True):
        """Limit torques (n, N m); ``enforced`` False: leave them as they are and only record.

        ``effort_limit`` (n, N m) is above 0, inf where there is none; ``rate_limit`` (n, N m/s) 0 where there is none.
        """
        effort_limit, rate_limit = (np.array(values, float) for values in (effort_limit, rate_limit))
        self.effort_limit, self.rate_limit = effort_limit, rate_limit
        self.last = np.zeros(len(effort_limit))
        self.by_joint = np.zeros(len(effort_limit), np.int64)
        self.counts = dict.fromkeys(REASONS, 0)
        self._copy = None if enforced else np.zeros(len(effort_limit))
        self._limit = bound(
            _limit, effort_limit, rate_limit, self.last, self.by_joint, then=(np.zeros(len(effort_limit)), 0.0)
        )

    def apply(self, torque: np.ndarray, elapsed: float) -> bool:
        """Limit ``torque`` (n, N m) in place, ``elapsed`` s after the last one; return whether it may be sent."""
        if self._copy is None:
            found = self._limit(torque, elapsed)
        else:
            self._copy[:] = torque
            found = self._limit(self._copy, elapsed)
            if found < NOT_FINITE:
                self.last[:] = torque
        if found:
            for flag in REASONS:
                self.counts[flag] += bool(found & flag)
        return found < NOT_FINITE

    def time_to_zero(self) -> float:
        """Return how long the rate limit makes the way from the last torque to zero, s."""
        limited = self.rate_limit > 0.0
        return float(np.max(np.abs(self.last[limited]) / self.rate_limit[limited], initial=0.0))

    def reset(self) -> None:
        """Forget counts and flags; the last torque stays."""
        self.by_joint.fill(0)
        for flag in REASONS:
            self.counts[flag] = 0

    def reasons(self, joint_names) -> str:
        """Return what was limited since the last reset, joint by joint; '' for nothing."""
        told = []
        for name, bits in zip(joint_names, self.by_joint.tolist(), strict=True):
            why = [text for flag, text in REASONS.items() if bits & flag]
            told += [f'{name}: {", ".join(why)}'] if why else []
        return '; '.join(told)


def effort_limits(stated, known, joint_names) -> np.ndarray:
    """Return the effort limit (n, N m) of each joint: ``stated`` (n or one for all; 0: not stated), else ``known``.

    inf states that there is none. Raises ArgumentError naming a joint of which no limit is stated or known: a limit of
    0 or NaN in ``known`` (n) is unknown.
    """
    stated = _for_each('effort_limit', stated, joint_names)
    limits = np.where(stated > 0.0, stated, known)
    for name, limit in zip(joint_names, limits, strict=True):
        if not limit > 0.0:
            raise ArgumentError(f'joint {name!r}: no effort limit is known; state it in effort_limit (.inf: none)')
    return limits


def rate_limits(stated, joint_names) -> np.ndarray:
    """Return the rate limit (n, N m/s) of each joint from ``stated`` (n or one for all), 0 where there is none."""
    return _for_each('rate_limit', stated, joint_names)


def _for_each(name: str, values, joint_names) -> np.ndarray:
    """Return numbers >= 0, one for each joint; ArgumentError naming what is wrong."""
    values = np.array(values, float)
    if values.shape not in ((1,), (len(joint_names),)) or not (values >= 0.0).all():
        raise ArgumentError(f'{name}: expected one number >= 0 or {len(joint_names)}, got {values.tolist()}')
    return np.broadcast_to(values, len(joint_names)).copy()
