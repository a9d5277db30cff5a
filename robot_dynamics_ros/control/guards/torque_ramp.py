"""A torque that decreases to zero."""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.kernels.torque_transitions import ramp_to_zero

LONGEST = 0.05
"""s: by how much time one torque continues a ramp at most, however long the process was paused before it."""


@compiled(given='torque elapsed')
def _ramp(initial: Vector, progress: Vector, torque: Vector, elapsed: float) -> bool:
    """Write torque (n) and progress (2) as the kernel does; return whether the torque is zero."""
    return ramp_to_zero(initial, progress, torque, elapsed) <= 0.0


class TorqueRamp:
    """A torque (n, N m) that decreases linearly to zero over ``duration`` s from the first call of ``write`` on.

    The time between two calls counts for at most ``LONGEST``: a pause of the process makes no step. ``over``: zero was
    written.
    """

    def __init__(self, torque, duration: float):
        """Begin with ``torque``."""
        self._initial, self._progress = np.zeros(len(torque)), np.array([0.0, duration])
        self._ramp = bound(_ramp, self._initial, self._progress, then=(self._initial, 0.0))
        self.begin(torque)

    def begin(self, torque) -> None:
        """Begin again with ``torque``."""
        self._initial[:] = torque
        self._progress[0] = 0.0
        self._time: float | None = None  # of the last call, s
        self.over = False

    def write(self, time: float, out) -> None:
        """Write the torque at a time (s)."""
        # the ramp of a process that was delayed begins late, and not with a torque of zero
        passed = 0.0 if self._time is None else time - self._time
        self._time = time
        self.over = self._ramp(out, min(passed, LONGEST))
