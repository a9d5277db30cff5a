"""State gate: accepts or rejects joint states by the age and order of their stamps."""

from enum import Enum
from math import inf


class Verdict(Enum):
    """Whether a state is accepted; the value is the reason of a rejection."""

    ACCEPTED = ''
    NO_STAMP = 'without a stamp'
    FUTURE = 'from the future'
    OUT_OF_ORDER = 'out of order'
    TOO_OLD = 'too old'


ACCEPTED = Verdict.ACCEPTED
"""Looked up once: access to a member of an enum costs more than the comparison."""


class StateGate:
    """Rejects joint states that are too old, from the future, or older than the last complete one.

    The age limit is configured, or estimated as three times the measured period between stamps, at least 5 ms and at
    most 1 s. Until ``LEARNT`` periods were measured it is 1 s. A pause is a time without a complete state that is
    longer than three periods, or than the age limit where that is less: a raised age limit does not hide it.
    ``now`` is the time at the last reading of the clock, ns. The caller writes ``used``, the stamp (ns) of the last
    complete state.
    """

    PERIODS = 3
    SMOOTHING = 0.1
    LEARNT = 5
    """The first estimate is the second longest of so many gaps, so that a burst or a single pause does not spoil it."""
    LONGEST_NS = 1_000_000_000
    """Age limit until a period is estimated, and the largest estimated limit, ns."""
    SHORTEST_NS = 5_000_000
    """Smallest estimated limit, ns: the gaps within a burst are shorter than delays by the operating system."""

    def __init__(self, limit: float):
        """Set the age limit in s; 0: estimate it from the stamps."""
        self._configured = int(limit * 1e9)
        self.reset()

    def reset(self) -> None:
        """Reset stamps, period and estimated limit."""
        self._set_limit(self.LONGEST_NS)
        self.now: int | None = None
        self._newest: int | None = None
        self.used: int | None = None
        self._period: float | None = None
        self._gaps: list[int] = []  # until the period is estimated
        self._jitter = self._age = 0.0

    def continue_from(self, before: 'StateGate') -> None:
        """Take over stamps and period from ``before``, the gate of the same states; a configured age limit stays."""
        self.now, self._newest, self.used = before.now, before._newest, before.used
        self._period, self._gaps, self._jitter, self._age = before._period, before._gaps, before._jitter, before._age
        if self._period is not None:
            self._estimate_limit(self._period)

    @property
    def period(self) -> float:
        """Smoothed time between two stamps, s; 0 until ``LEARNT`` gaps were measured."""
        return (self._period or 0.0) * 1e-9

    @property
    def jitter(self) -> float:
        """Smoothed absolute deviation of a single gap from ``period``, s."""
        return self._jitter * 1e-9

    @property
    def age(self) -> float:
        """Smoothed age of accepted states, s."""
        return self._age * 1e-9

    def set_back(self, now: int) -> bool:
        """Record the time ``now`` (ns); return whether the clock has been set back, which resets everything."""
        is_back = self.now is not None and now < self.now
        if is_back:
            self.reset()
        self.now = now
        return is_back

    def check(self, stamp: int, now: int) -> Verdict:
        """Return whether a state of time ``stamp`` is accepted at ``now`` (both ns).

        A stamp that is newer than all before updates the estimated period.
        """
        if stamp <= 0:
            return Verdict.NO_STAMP
        if stamp - now > self._limit:
            return Verdict.FUTURE
        if self._newest is None or stamp > self._newest:
            if self._newest is not None:
                self._update_period(stamp - self._newest)
            self._newest = stamp
        if self.used is not None and stamp < self.used:
            return Verdict.OUT_OF_ORDER
        age = max(0, now - stamp)
        if age > self._limit:
            return Verdict.TOO_OLD
        self._age += self.SMOOTHING * (age - self._age)
        return ACCEPTED

    def resumes(self, stamp: int) -> bool:
        """Return whether ``stamp`` (ns) is the first, or comes after a pause."""
        return self.used is None or stamp - self.used > self._shortest_pause

    def pause(self, stamp: int) -> float:
        """Return the time from the last used stamp to ``stamp`` (ns), s; infinite for the first one."""
        return inf if self.used is None else (stamp - self.used) * 1e-9

    def elapsed(self, stamp: int) -> float:
        """Return the time from the last used stamp to ``stamp`` (ns), s, at most the age limit; 0 for the first one."""
        return 0.0 if self.used is None else min(max(stamp - self.used, 0) * 1e-9, self.limit)

    def _update_period(self, gap: int) -> None:
        """Update period, jitter and limit with the time between two stamps, ns."""
        period = self._period
        if period is None:
            self._gaps.append(gap)
            if len(self._gaps) < self.LEARNT:
                return
            period = sorted(self._gaps)[-2]
        else:
            # a pause counts as the longest gap within the age limit only
            error = min(gap, self.PERIODS * period) - period
            period += self.SMOOTHING * error
            self._jitter += self.SMOOTHING * (abs(error) - self._jitter)
        self._period = period
        self._estimate_limit(period)

    def _estimate_limit(self, period: float) -> None:
        """Set age limit and shortest pause for a ``period`` of the stamps, ns."""
        self._set_limit(max(self.PERIODS * period, self.SHORTEST_NS))

    def _set_limit(self, periods: float) -> None:
        """Set age limit and shortest pause for so many ns as ``PERIODS`` last; the attribute ``limit`` is in s."""
        limit = self._limit = self._configured or min(periods, self.LONGEST_NS)
        self._shortest_pause, self.limit = min(limit, periods), limit * 1e-9
