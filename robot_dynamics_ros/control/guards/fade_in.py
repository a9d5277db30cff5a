"""Fade-in of the torque at activation: a linear change from the last torque that was sent to the computed one."""

import numpy as np


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
        self._duration = duration
        self._last, self._nothing = np.zeros((2, joints))
        self._elapsed = duration  # of the fade-in; below 0: its first torque is still to come

    @property
    def runs(self) -> bool:
        """Whether a fade-in has begun, or begins with the next torque, and has not ended."""
        return self._elapsed < self._duration

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
        self._elapsed = -1.0 if self._duration else 0.0

    def apply(self, torque: np.ndarray, elapsed: float) -> None:
        """Blend a torque (n, N m) in place; ``elapsed`` is the time since the last torque that was sent, s."""
        if self._elapsed >= self._duration:
            return
        self._elapsed = 0.0 if self._elapsed < 0.0 else self._elapsed + elapsed
        if self._elapsed < self._duration:
            torque -= self._last
            torque *= self._elapsed / self._duration
            torque += self._last
