"""Fade-in of the torque at activation: a linear change from the last torque that was sent to the computed one."""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.kernels.torque_transitions import fade_in


@compiled(given='torque elapsed')
def _fade_in(last: Vector, progress: Vector, torque: Vector, elapsed: float) -> None:
    """Write torque (n) and progress (2) as the kernel does."""
    fade_in(last, progress, torque, elapsed)


class FadeIn:
    """Blends the first torques after ``restart``: tau = last + share (tau - last), share from 0 to 1 over ``duration``.

    ``last`` is the torque that was sent last, zero for the first one: a controller without a timeout still applies it,
    so that the torque makes no step after an activation or a silence.

    Parameters
    ----------
    joints : int
        Number n of joints.
    duration : float
        s; 0: torques are not changed.
    """

    def __init__(self, joints: int, duration: float):
        self._last, self._nothing = np.zeros((2, joints))
        self._progress = np.full(2, float(duration))
        self._blend = bound(_fade_in, self._last, self._progress, then=(self._nothing, 0.0))

    @property
    def runs(self) -> bool:
        """Whether a fade-in has begun, or begins with the next torque, and has not ended."""
        return bool(self._progress[0] < self._progress[1])

    def begin(self, now: float, answered: float | None, sent: float | None, last: np.ndarray, longest: float) -> None:
        """Restart at an activation, from zero after a long time, and after a long pause if none runs.

        Parameters
        ----------
        now, answered, sent : float
            Times of this torque, of the last one for a state since activation, and of the last one at all, s; None for
            none.
        last : ndarray, (n,)
            The last torque that was sent, N m or N.
        longest : float
            Time that is not long, s.
        """
        if answered is None:
            recent = sent is not None and 0.0 <= now - sent <= longest
            self.restart(last if recent else self._nothing)
        elif now - answered > longest and not self.runs:
            self.restart(last)

    def restart(self, last: np.ndarray) -> None:
        """Begin a fade-in from the torque ``last`` (n, N m) with the next torque."""
        self._last[:] = last
        self._progress[0] = -1.0 if self._progress[1] else 0.0

    def apply(self, torque: np.ndarray, elapsed: float) -> None:
        """Blend a torque (n, N m) in place; ``elapsed`` is the time since the last torque that was sent, s."""
        if self.runs:
            self._blend(torque, elapsed)
