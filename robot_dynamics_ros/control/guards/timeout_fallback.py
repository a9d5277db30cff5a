"""Timeout fallback: the torque on a joint-state timeout, as the parameter ``on_stale`` chooses it."""

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.guards.torque_ramp import TorqueRamp
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.errors import ArgumentError

ON_STALE = ('silent', 'gravity_only', 'ramp_to_zero')
ON_DEACTIVATE = ('silent', 'ramp_to_zero', 'zero')


class Timeout:
    """How long something has been missing, on a clock that may be set back: then no time passes."""

    def __init__(self):
        """Begin at time 0."""
        self.restart(0.0)

    def restart(self, now: float) -> None:
        """Begin at ``now`` (s): nothing is missing."""
        self.missing, self._looked, self._over = 0.0, now, False

    def is_over(self, now: float, limit: float) -> bool:
        """Return whether it has been ``missing`` for ``limit`` s, now or at an earlier look with another limit."""
        self.missing += max(now - self._looked, 0.0)
        self._looked = now
        self._over = self._over or self.missing >= limit
        return self._over


class GravityFallback:
    """The gravity torque at the last known position, until new states arrive.

    ``armed``: a torque was sent for a state since the last reset, so that the fallback may follow it. ``timeout`` is
    that of states that get a torque.
    """

    reason = 'an input is missing: gravity only'
    fades_in = True
    """A fade-in of the torque goes on with this one."""
    armed = False

    def __init__(self, gravity: PayloadBlender, joints: int, is_right: Callable[[], bool] = lambda: True):
        """Set the blended law of the gravity torque, the number of joints, and whether the model is that of the arm."""
        self._gravity, self._is_right = gravity, is_right
        self._q, self.timeout = np.zeros(joints), Timeout()

    def record(self, q, torque) -> None:
        """Record the positions q (n) of a state for which a torque was sent."""
        self._q[:] = q
        self.armed = True

    def see(self, q) -> None:
        """Record the positions q (n) of a state that the gate accepts but for which another input is missing."""
        self._q[:] = q

    def reset(self) -> None:
        """Disarm until the next torque for a state."""
        self.armed = False

    def continue_from(self, before: 'GravityFallback') -> None:
        """Be armed where ``before`` is, of another description of the arm."""
        self._q[:], self.armed, self.timeout = before._q, before.armed, before.timeout

    def torque(self, now: int, missing: float, out) -> bool:
        """Write the gravity torque (n, N m) with payload and gravity at ``now`` (ns); return whether it may be sent."""
        self._gravity.torque(now, self._q, out=out)
        return self._is_right()


class RampToZero:
    """The last torque, reduced to zero over ``ramp_time`` seconds from the first call on.

    ``armed`` and ``timeout`` as in ``GravityFallback``.
    """

    reason = 'an input is missing: down to zero'
    fades_in = False
    """The next torque for a state fades in."""
    armed = False

    def __init__(self, joints: int, ramp_time: float):
        """Set the number of joints and ``ramp_time`` (s)."""
        self._ramp, self.timeout = TorqueRamp(np.zeros(joints), ramp_time), Timeout()

    def record(self, q, torque) -> None:
        """Record the torque (n, N m) that was sent for a state; the positions are ignored."""
        self._ramp.begin(torque)
        self.armed = True

    def see(self, q) -> None:
        """Ignore the positions of a state for which another input is missing."""

    def reset(self) -> None:
        """Disarm until the next torque for a state."""
        self.armed = False

    def continue_from(self, before: 'RampToZero') -> None:
        """Go on with the ramp of ``before``, of another description of the arm."""
        self._ramp, self.armed, self.timeout = before._ramp, before.armed, before.timeout

    def torque(self, now: int, missing: float, out) -> bool:
        """Write the torque (n, N m) when states have been missing for ``missing`` s; return False once zero was sent.

        That time counts, not how long they are overdue: an estimated age limit changes during the ramp. On entry
        ``out`` has the torque that was sent last: the rate limit may need longer than the ramp.
        """
        if self._ramp.over and not out.any():
            return False
        self._ramp.write(missing, out)
        return True


def timeout_fallback(
    name: str,
    gravity: PayloadBlender | None,
    joints: int,
    ramp_time: float,
    is_right: Callable[[], bool] = lambda: True,
) -> GravityFallback | RampToZero | None:
    """Return the fallback ``name``, one of ``ON_STALE``; None for silent.

    ``gravity`` is the blended law of the gravity torque, or None if this node does not add gravity: then gravity_only
    raises ArgumentError. ``is_right()``: its model is that of the arm.
    """
    validation.choice('on_stale', name, ON_STALE)
    if name == 'gravity_only':
        if gravity is None:
            raise ArgumentError(
                'on_stale gravity_only: gravity is not among the terms of this node; choose silent or ramp_to_zero'
            )
        return GravityFallback(gravity, joints, is_right)
    return RampToZero(joints, ramp_time) if name == 'ramp_to_zero' else None
