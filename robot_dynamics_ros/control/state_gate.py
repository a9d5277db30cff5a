"""Which joint states may be used, by the age and order of their stamps."""

from enum import Enum


class Verdict(Enum):
    """Whether a state may be used; the value is the reason why not."""

    ACCEPTED = ''
    NO_STAMP = 'without a stamp'
    FUTURE = 'from the future'
    OUT_OF_ORDER = 'out of order'
    TOO_OLD = 'too old'


ACCEPTED = Verdict.ACCEPTED
"""Looked up once: a member of an enum costs more than the comparison."""


class StateGate:
    """Age and order of joint states: neither before the last answered one, nor too old, nor from the future.

    The age limit is stated, or three times the measured period between stamps, at least 5 ms and at most 1 s; it is 1 s
    until ``LEARNT`` periods were measured. ``now`` is the time of the last look at the clock, ns. The caller writes the
    stamps (ns) of the last state that was ``used``, because it was complete, and of the last one that was ``answered``
    by a torque: states before that are out of order.
    """

    PERIODS = 3
    SMOOTHING = 0.1
    LEARNT = 5
    """The first period is the second longest of so many: neither a burst nor a pause says anything of those to come."""
    LONGEST = 1_000_000_000
    """Age limit until a period is learnt, and the longest that is, ns."""
    SHORTEST = 5_000_000
    """The shortest that is learnt, ns: two states of a burst are no period, and an operating system delays more."""

    def __init__(self, limit: float):
        """Set the age limit in s; 0: learn it."""
        self._stated = int(limit * 1e9)
        self.reset()

    def reset(self) -> None:
        """Forget stamps, period and learnt limit."""
        self._set_limit(self._stated or self.LONGEST)
        self.now: int | None = None
        self._newest: int | None = None
        self.used: int | None = None
        self.answered: int | None = None
        self._period: float | None = None
        self._gaps: list[int] = []  # until the period is learnt
        self._jitter = 0.0

    @property
    def period(self) -> float:
        """Smoothed time between two stamps in s; 0 before the second."""
        return (self._period or 0.0) * 1e-9

    @property
    def jitter(self) -> float:
        """Smoothed distance between that time and the single ones, s."""
        return self._jitter * 1e-9

    def set_back(self, now: int) -> bool:
        """Record the time ``now`` (ns); return whether the clock has been set back, which resets everything."""
        is_back = self.now is not None and now < self.now
        if is_back:
            self.reset()
        self.now = now
        return is_back

    def check(self, stamp: int, now: int) -> Verdict:
        """Return whether a state of time ``stamp`` may be used at ``now`` (both ns).

        The period is learnt from stamps that are newer than all before.
        """
        if stamp <= 0:
            return Verdict.NO_STAMP
        if stamp - now > self._limit:
            return Verdict.FUTURE
        if self._newest is None or stamp > self._newest:
            if self._newest is not None:
                self._learn(stamp - self._newest)
            self._newest = stamp
        if self.answered is not None and stamp < self.answered:
            return Verdict.OUT_OF_ORDER
        return Verdict.TOO_OLD if now - stamp > self._limit else ACCEPTED

    def resumes(self, stamp: int) -> bool:
        """Return whether ``stamp`` (ns) is further from the last used state than the age limit, or the first."""
        return self.used is None or stamp - self.used > self._limit

    def _learn(self, gap: int) -> None:
        """Update period, jitter and limit with the time between two stamps, ns."""
        if self._period is None:
            self._gaps.append(gap)
            if len(self._gaps) < self.LEARNT:
                return
            self._period = sorted(self._gaps)[-2]
        else:
            # a pause is no period: it counts as the longest gap that is still in time
            error = min(gap, self.PERIODS * self._period) - self._period
            self._period += self.SMOOTHING * error
            self._jitter += self.SMOOTHING * (abs(error) - self._jitter)
        if not self._stated:
            self._set_limit(min(max(self.PERIODS * self._period, self.SHORTEST), self.LONGEST))

    def _set_limit(self, limit: float) -> None:
        """Set the largest age of a state to ``limit`` ns; ``limit`` holds it in s."""
        self._limit, self.limit = limit, limit * 1e-9
