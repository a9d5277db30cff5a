"""A linear change over time from one value to another."""

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from robot_dynamics_ros.algorithms.value_ramps import continues

Value = TypeVar('Value')
Self = TypeVar('Self', bound='Ramp')
LATE_NS = 50_000_000
"""ns by which a ramp may be known late or early: what it changes in this time is applied at once."""
SHORTEST_NS = 500_000_000
"""ns: shortest duration of a ramp that replaces a step which nobody has asked for."""


@dataclass(frozen=True)
class Ramp(Generic[Value]):
    """The change from ``before`` to ``after``, which begins at ``start`` and lasts ``duration`` (ns both)."""

    after: Value
    before: Value
    start: int = 0
    duration: int = 0

    def share(self, time: int) -> float:
        """Return the weight of ``after`` at ``time`` (ns), 0 to 1."""
        elapsed = time - self.start
        if not self.duration or elapsed >= self.duration:
            return 1.0
        return max(0.0, elapsed / self.duration)

    def finished(self, time: int) -> bool:
        """Return whether the value is ``after`` at ``time`` (ns)."""
        return self.share(time) >= 1.0

    def at(self, time: int) -> Value:
        """Return the value at ``time`` (ns)."""
        raise NotImplementedError

    def numbers(self, *values: Value) -> np.ndarray:
        """Return the numbers of each of ``values``, (values, m), that change linearly."""
        raise NotImplementedError

    def ends_like(self: Self, other: Self) -> bool:
        """Return whether both ramps end at the same value, to rounding."""
        now, then = self.numbers(self.after, other.after)
        return np.allclose(now, then, rtol=1e-9, atol=1e-12)

    def without_step(self: Self, held: Self, now: int, may_be_asked_for: bool = True) -> Self:
        """Return the ramp to follow instead of ``held`` from ``now`` (ns) on: a bumpless transfer.

        It is this ramp where each number of its value is the held one to within what the two ramps change in
        ``LATE_NS`` before or after ``now``, and also where it has no duration and begins at the held value: that step
        was asked for, unless it may have been made long ago (``may_be_asked_for`` False). Else it is a ramp from the
        held value to ``after``, over what is left of this ramp, ``SHORTEST_NS`` at least.
        """
        value = held.at(now)
        before, after, own, held_before, held_after, held_now = self.numbers(
            self.before, self.after, self.at(now), held.before, held.after, value
        ).tolist()
        late, held_late = self._late(now), held._late(now)
        is_asked_for = may_be_asked_for and not self.duration
        if continues(len(own), before, after, own, late, held_before, held_after, held_now, held_late, is_asked_for):
            return self
        left = self.start + self.duration - now if self.duration else 0
        return replace(self, before=value, start=now, duration=max(left, SHORTEST_NS))

    def _late(self, now: int) -> float:
        """Return the largest share of its change that it makes in ``LATE_NS`` before or after ``now`` (ns)."""
        share = self.share(now)
        return max(share - self.share(now - LATE_NS), self.share(now + LATE_NS) - share)

    def clock_set_back(self: Self, before: int, after: int) -> Self:
        """Return the ramp for a clock that was set back from ``before`` to ``after`` (ns).

        A finished ramp stays finished; an unfinished one keeps its progress.
        """
        if self.finished(before):
            return replace(self, duration=0)
        return replace(self, start=self.start + after - before)
