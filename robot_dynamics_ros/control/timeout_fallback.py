"""The torque that a node sends when usable joint states stop, where it is asked to send any."""

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.payload_blending import PayloadBlender
from robot_dynamics_ros.errors import ArgumentError

ON_STALE = ('silent', 'gravity_only', 'ramp_to_zero')
ON_DEACTIVATE = ('silent', 'ramp_to_zero', 'zero')


class GravityFallback:
    """The torque that holds the arm against gravity at the last known position, until states come again.

    ``armed``: a state was answered since the last reset, so that there is a torque to replace.
    """

    reason = 'no fresh joint state: gravity only'
    armed = False

    def __init__(self, gravity: PayloadBlender, joints: int):
        """Use ``gravity``, the blended law of the gravity torque."""
        self._gravity = gravity
        self._q = np.zeros(joints)

    def warm_up(self) -> None:
        """Compile what is called later."""
        self._gravity.warm_up(1)

    def record(self, q, torque) -> None:
        """Record the positions q (n) of a state for which a torque was sent."""
        self._q[:] = q
        self.armed = True

    def see(self, q) -> None:
        """Record the positions q (n) of a state that is fresh but lacks something else."""
        self._q[:] = q

    def reset(self) -> None:
        """Send nothing until a state has been answered again."""
        self.armed = False

    def torque(self, now: int, overdue: float, out) -> bool:
        """Write the gravity torque (n, N m) with payload and gravity of ``now`` (ns); return True.

        ``overdue`` has no effect.
        """
        self._gravity.torque(now, self._q, out=out)
        return True


class RampToZero:
    """The last torque, reduced linearly to zero from the first call on.

    ``armed`` as in ``GravityFallback``.
    """

    reason = 'no fresh joint state: down to zero'
    armed = False

    def __init__(self, joints: int, ramp_time: float):
        """Take ``ramp_time`` s."""
        self._ramp_time = ramp_time
        self._from = np.zeros(joints)
        self._began: float | None = None  # how long states were overdue then, s
        self._is_zero = False

    def warm_up(self) -> None:
        """Compile nothing: there is nothing to compile."""

    def record(self, q, torque) -> None:
        """Record the torque (n, N m) that was sent for a state; its positions do not matter."""
        self._from[:] = torque
        self.armed, self._is_zero, self._began = True, False, None

    def see(self, q) -> None:
        """Ignore the positions of an incomplete state."""

    def reset(self) -> None:
        """Send nothing until a state has been answered again."""
        self.armed = False

    def torque(self, now: int, overdue: float, out) -> bool:
        """Write the torque (n, N m) when states are overdue by ``overdue`` s; return False once zero was sent.

        ``now`` has no effect. ``out`` holds the torque that was sent last: a rate limit may
        take longer than the ramp.
        """
        if self._is_zero and not out.any():
            return False
        # a process that was held up begins late, not with a torque of zero
        if self._began is None:
            self._began = overdue
        elapsed = overdue - self._began
        np.multiply(self._from, max(0.0, 1.0 - elapsed / self._ramp_time), out=out)
        self._is_zero = elapsed >= self._ramp_time
        return True


def timeout_fallback(
    name: str, gravity: PayloadBlender | None, joints: int, ramp_time: float
) -> GravityFallback | RampToZero | None:
    """Return the fallback ``name``, one of ``ON_STALE``; None for silence.

    ``gravity`` is the blended law of the gravity torque. None: this node does not add gravity, and gravity_only raises
    ArgumentError.
    """
    validation.choice('on_stale', name, ON_STALE)
    if name == 'gravity_only':
        if gravity is None:
            raise ArgumentError('on_stale gravity_only: gravity is not among the terms that this node adds')
        return GravityFallback(gravity, joints)
    return RampToZero(joints, ramp_time) if name == 'ramp_to_zero' else None
