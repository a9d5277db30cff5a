"""Timeout fallback: the torque on a joint-state timeout, as the parameter ``on_stale`` chooses it."""

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.payload_blending import PayloadBlender
from robot_dynamics_ros.errors import ArgumentError

ON_STALE = ('silent', 'gravity_only', 'ramp_to_zero')
ON_DEACTIVATE = ('silent', 'ramp_to_zero', 'zero')
LONGEST = 0.05
"""s: by how much time one torque continues a ramp to zero at most, however long the process was paused before it."""


class GravityFallback:
    """The gravity torque at the last known position, until new states arrive.

    ``armed``: a torque was sent for a state since the last reset, so that the fallback may follow it.
    """

    reason = 'an input is missing: gravity only'
    fades_in = True
    """A fade-in of the torque goes on with this one."""
    armed = False

    def __init__(self, gravity: PayloadBlender, joints: int):
        """Set the blended law of the gravity torque and the number of joints."""
        self._gravity = gravity
        self._q = np.zeros(joints)

    def warm_up(self) -> None:
        """Compile the kernels that ``torque`` calls."""
        self._gravity.warm_up(1)

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

    def torque(self, now: int, missing: float, out) -> bool:
        """Write the gravity torque (n, N m) with payload and gravity at ``now`` (ns), and return True."""
        self._gravity.torque(now, self._q, out=out)
        return True


class RampToZero:
    """The last torque, reduced linearly to zero over ``ramp_time`` seconds from the first call on.

    A pause between two calls counts for at most ``LONGEST``. ``armed`` as in ``GravityFallback``.
    """

    reason = 'an input is missing: down to zero'
    fades_in = False
    """The next torque for a state fades in."""
    armed = False

    def __init__(self, joints: int, ramp_time: float):
        """Set the number of joints and ``ramp_time`` (s)."""
        self._ramp_time = ramp_time
        self._initial = np.zeros(joints)
        self._missing: float | None = None  # at the last call, s
        self._elapsed = 0.0  # of the ramp, s
        self._is_zero = False

    def warm_up(self) -> None:
        """Do nothing: no kernel is called."""

    def record(self, q, torque) -> None:
        """Record the torque (n, N m) that was sent for a state; the positions are ignored."""
        self._initial[:] = torque
        self.armed, self._is_zero, self._missing, self._elapsed = True, False, None, 0.0

    def see(self, q) -> None:
        """Ignore the positions of a state for which another input is missing."""

    def reset(self) -> None:
        """Disarm until the next torque for a state."""
        self.armed = False

    def torque(self, now: int, missing: float, out) -> bool:
        """Write the torque (n, N m) when states have been missing for ``missing`` s; return False once zero was sent.

        That time counts, not how long they are overdue: an estimated age limit changes during the ramp. On entry
        ``out`` has the torque that was sent last: the rate limit may need longer than the ramp.
        """
        if self._is_zero and not out.any():
            return False
        # the ramp of a process that was delayed begins late, and not with a torque of zero
        passed = 0.0 if self._missing is None else missing - self._missing
        self._missing, self._elapsed = missing, self._elapsed + min(passed, LONGEST)
        np.multiply(self._initial, max(0.0, 1.0 - self._elapsed / self._ramp_time), out=out)
        self._is_zero = self._elapsed >= self._ramp_time
        return True


def timeout_fallback(
    name: str, gravity: PayloadBlender | None, joints: int, ramp_time: float
) -> GravityFallback | RampToZero | None:
    """Return the fallback ``name``, one of ``ON_STALE``; None for silent.

    ``gravity`` is the blended law of the gravity torque, or None if this node does not add gravity: then gravity_only
    raises ArgumentError.
    """
    validation.choice('on_stale', name, ON_STALE)
    if name == 'gravity_only':
        if gravity is None:
            raise ArgumentError(
                'on_stale gravity_only: gravity is not among the terms of this node; choose silent or ramp_to_zero'
            )
        return GravityFallback(gravity, joints)
    return RampToZero(joints, ramp_time) if name == 'ramp_to_zero' else None
