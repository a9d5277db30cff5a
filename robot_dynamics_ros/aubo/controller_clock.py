"""The time of a controller on a clock of this machine: offset estimated, drift followed."""

from collections import deque
from itertools import combinations

import numpy as np

PART_NS = 1_000_000_000
"""ns: of each part of this length the sample that was delayed least counts."""
PARTS = 30
"""Parts that the drift is estimated from."""
RECENT = 5
"""Parts that the offset is estimated from."""
LATE_NS = 100_000_000
"""ns of a delay that is no jitter where it lasts."""
FASTEST = 1e-3
"""Largest drift that is followed; a crystal oscillator has some 1e-4 at most."""


class ControllerClock:
    """Converts times of a controller to times of a local clock, in spite of messages that are late by chance.

    A message arrives at t + offset(t) + delay with a delay >= 0. The sample of each ``PART_NS`` with the smallest
    arrival - t was delayed least. The drift is the median slope between these samples of the last ``PARTS`` (Theil
    1950, Sen 1968), and the offset the smallest one of the last ``RECENT`` after the drift is subtracted. The smallest
    delay itself, that of an idle network, is not observable and remains in the result.

    A clock that was set back makes all samples late by the same time, which the offset follows only when the samples
    before are no longer recent: ``late_for`` says for how long, by the local clock, all samples have been late.

    Times are in ns. Those returned increase, and are not later than the arrival, save 1 ns for each sample that came
    with the same reading of the network. Where the drift is beyond ``FASTEST`` they are the arrivals.
    """

    def __init__(self):
        """Begin without a sample."""
        self.reset()

    def reset(self) -> None:
        """Forget all samples, as after a restart of the controller."""
        self.drift = 0.0
        self.late_for = 0
        self._late_since = -1  # arrival
        self._parts: deque[tuple[int, int]] = deque(maxlen=PARTS)  # time and offset of the least delayed samples
        self._part, self._newest, self._last = 0, -1, -1
        self._base: tuple[int, int] = 0, 0  # a time, and the offset there

    @property
    def follows(self) -> bool:
        """Whether the drift is one of a clock, so that times of the controller are converted."""
        return abs(self.drift) <= FASTEST

    def local(self, time: int, arrival: int) -> int:
        """Return when the sample of the controller's ``time`` was taken; it arrived at ``arrival``, both ns.

        ``time`` increases from call to call.
        """
        offset = arrival - time
        if not self._parts or time - self._part >= PART_NS:
            self._part = time
            self._parts.append((time, offset))
            self._estimate()
        elif offset < self._parts[-1][1] + round(self.drift * (time - self._parts[-1][0])):
            self._parts[-1] = time, offset
            self._estimate_offset()
        begin, at_begin = self._base
        found = time + at_begin + round(self.drift * (time - begin)) if self.follows else arrival
        if arrival - found <= LATE_NS:
            self._late_since = -1
        elif self._late_since < 0:
            self._late_since = arrival
        self.late_for = arrival - self._late_since if self._late_since >= 0 else 0
        if self._newest >= 0:
            # an offset that has just become smaller must not turn the order of two stamps round
            found = max(found, self._last + (time - self._newest) // 2)
        self._last = max(min(found, arrival), self._last + 1)
        self._newest = time
        return self._last

    def _estimate(self) -> None:
        """Estimate the drift from the parts that are complete, then the offset."""
        complete = list(self._parts)[:-1]
        if len(complete) >= RECENT:
            slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(complete, 2)]
            self.drift = float(np.median(slopes))
        self._estimate_offset()

    def _estimate_offset(self) -> None:
        """Choose the sample that was delayed least among the recent parts."""
        begin = self._parts[-1][0]
        recent = list(self._parts)[-RECENT:]
        offset = min(at + round(self.drift * (begin - time)) for time, at in recent)
        self._base = begin, offset
