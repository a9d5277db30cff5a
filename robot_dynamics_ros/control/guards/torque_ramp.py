"""A torque that decreases to zero."""

import numpy as np

LONGEST = 0.05
"""s: by how much time one torque continues a ramp at most, however long the process was paused before it."""


class TorqueRamp:
    """A torque (n, N m) that decreases linearly to zero over ``duration`` s from the first call of ``write`` on.

    The time between two calls counts for at most ``LONGEST``: a pause of the process makes no step. ``over``: zero was
    written.
    """

    def __init__(self, torque, duration: float):
        """Begin with ``torque``."""
        self._initial, self._duration = np.empty(len(torque)), duration
        self.begin(torque)

    def begin(self, torque) -> None:
        """Begin again with ``torque``."""
        self._initial[:] = torque
        self._time: float | None = None  # of the last call, s
        self._elapsed, self.over = 0.0, False

    def write(self, time: float, out) -> None:
        """Write the torque at a time (s)."""
        # the ramp of a process that was delayed begins late, and not with a torque of zero
        passed = 0.0 if self._time is None else time - self._time
        self._time, self._elapsed = time, self._elapsed + min(passed, LONGEST)
        self.over = self._elapsed >= self._duration
        np.multiply(self._initial, 0.0 if self.over else 1.0 - self._elapsed / self._duration, out=out)
