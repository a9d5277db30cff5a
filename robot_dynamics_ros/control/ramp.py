"""A linear change over time from one value to another."""

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

Value = TypeVar('Value')
Self = TypeVar('Self', bound='Ramp')


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

    def clock_set_back(self: Self, before: int, after: int) -> Self:
        """Return the ramp for a clock that was set back from ``before`` to ``after`` (ns).

        A finished ramp stays finished; an unfinished one keeps its progress.
        """
        if self.finished(before):
            return replace(self, duration=0)
        return replace(self, start=self.start + after - before)
