"""The envelope: what a state must be to be answered, and what a torque must pass before it leaves a node."""

import numpy as np

from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.dynamics.jit import bound, entry

CLAMPED, SLOWED, NOT_FINITE = 1, 2, 4
REASONS = {CLAMPED: 'beyond the effort limit', SLOWED: 'faster than the rate limit', NOT_FINITE: 'not finite'}
"""What was wrong with a joint's torque; several add up."""


@entry
def _confine(limit, rate, last, latched, torque, elapsed):
    """Hold torque (n) in place within limit (n) and within rate (n, 0: none) x elapsed of last (n); return what for.

    ``last`` becomes the torque, ``latched`` (n) keeps each joint's reasons. With an entry that is not finite the torque
    and ``last`` are left alone.
    """
    found = 0
    for k in range(torque.shape[0]):
        if not np.isfinite(torque[k]):
            latched[k] |= NOT_FINITE
            found = NOT_FINITE
    if found:
        return found
    for k in range(torque.shape[0]):
        if abs(torque[k]) > limit[k]:
            torque[k] = limit[k] if torque[k] > 0.0 else -limit[k]
            latched[k] |= CLAMPED
            found |= CLAMPED
        step = rate[k] * elapsed
        if rate[k] > 0.0 and abs(torque[k] - last[k]) > step:
            torque[k] = last[k] + step if torque[k] > last[k] else last[k] - step
            latched[k] |= SLOWED
            found |= SLOWED
    for k in range(torque.shape[0]):
        last[k] = torque[k]
    return found


class Envelope:
    """Finite check, clamp and rate limit, in this order, for the torques of one robot; it tells what it did.

    ``counts`` are of torques by reason, ``latched`` (n) the reasons by joint, both since the last ``reset``.
    """

    def __init__(self, effort_limit, rate_limit, torque: np.ndarray):
        """Guard ``torque`` (n, N m), an array whose numbers come and go.

        ``effort_limit`` (n, N m) is above 0, inf where there is none; ``rate_limit`` (n, N m/s) 0 where there is none.
        """
        self._last = np.zeros(len(torque))
        self.latched = np.zeros(len(torque), np.int64)
        limits = (np.array(values, float) for values in (effort_limit, rate_limit))
        self._confine = bound(_confine, *limits, self._last, self.latched, torque, then=(0.0,))
        self.counts = dict.fromkeys(REASONS, 0)

    def begin(self) -> None:
        """Begin from zero torque: the next one is as far from it as the rate limit allows."""
        self._last.fill(0.0)

    def admit(self, elapsed: float) -> bool:
        """Return whether the torque may be sent, ``elapsed`` s after the last one; it is held within the limits."""
        found = self._confine(elapsed)
        if found:
            for reason in REASONS:
                self.counts[reason] += bool(found & reason)
        return found < NOT_FINITE

    def reset(self) -> None:
        """Forget reasons and counts."""
        self.latched.fill(0)
        self.counts.update(dict.fromkeys(REASONS, 0))

    def reasons(self, joint_names) -> str:
        """Return what was wrong since the last reset, joint by joint; '' for nothing."""
        told = []
        for name, bits in zip(joint_names, self.latched, strict=True):
            why = [text for reason, text in REASONS.items() if bits & reason]
            told += [f'{name}: {", ".join(why)}'] if why else []
        return '; '.join(told)


class Freshness:
    """Which states may be answered, by their stamps: not before the last answered, not too old, not from the future.

    ``answered`` is the stamp of the last one, ns; whoever answers a state writes it. 0 is none.
    """

    PERIODS = 3
    SMOOTHING = 0.1
    LONGEST = 1_000_000_000
    """Age limit until two states have made a period, and the longest that is learnt, ns."""

    def __init__(self, limit: float):
        """Set the limit of the age in s; 0 means three times the measured period between stamps, at most 1 s."""
        self._stated = int(limit * 1e9)
        self.forget()

    @property
    def period(self) -> float:
        """Smoothed time between two stamps in s; 0 before the second."""
        return self._period * 1e-9

    @property
    def jitter(self) -> float:
        """Smoothed distance between that time and the single ones, s."""
        return self._jitter * 1e-9

    @property
    def limit(self) -> float:
        """Largest age of a state that is answered, s."""
        return self._limit * 1e-9

    def forget(self) -> None:
        """Begin anew, as when the clock has been set."""
        self._limit: float = self._stated or self.LONGEST
        self.answered = self._stamp = self._now = 0
        self._period: float = 0.0
        self._jitter: float = 0.0

    def refusal(self, stamp: int, now: int) -> str:
        """Return '' where a state of time ``stamp`` may be answered at ``now`` (both ns), else why not.

        The period is learnt from stamps that are newer than the last.
        """
        if now < self._now:
            self.forget()
        self._now = now
        if stamp <= 0:
            return 'without a stamp'
        if stamp - now > self._limit:
            return 'from the future'
        if stamp > self._stamp:
            if self._stamp:
                self._learn(stamp - self._stamp)
            self._stamp = stamp
        if stamp < self.answered:
            return 'out of order'
        return 'too old' if now - stamp > self._limit else ''

    def _learn(self, gap: int) -> None:
        """Take in the time between two stamps, ns."""
        if self._period:
            # a pause is no period: it counts as the longest gap that is still in time
            error = min(gap, self.PERIODS * self._period) - self._period
            self._period += self.SMOOTHING * error
            self._jitter += self.SMOOTHING * (abs(error) - self._jitter)
        else:
            self._period = gap
        if not self._stated:
            self._limit = min(self.PERIODS * self._period, self.LONGEST)


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
