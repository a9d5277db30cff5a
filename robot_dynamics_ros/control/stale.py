"""What a node sends when the states stop that it should answer, where it is told to send anything."""

import numpy as np

from robot_dynamics_ros import arguments
from robot_dynamics_ros.control.handover import Handover
from robot_dynamics_ros.dynamics.errors import ArgumentError

ON_STALE = ('silent', 'gravity_only', 'ramp_to_zero')


class Idle(str):
    """A reason for no torque with a state that could be answered: nothing is asked for."""

    __slots__ = ()


class OnStale:
    """What is sent without a state that could be answered.

    ``due``: there is something to go on with; ``acts``: the last torque was one of these.
    """

    due = acts = False

    def see(self, q) -> None:
        """Take in where the arm is, positions q (n), by a state that could not be answered."""

    def rest(self) -> None:
        """Take in that there is nothing to go on with."""
        self.due = False

    def forget(self) -> None:
        """Know of no torque."""
        self.due = self.acts = False


class GravityOnly(OnStale):
    """The torque that carries the arm where it was seen last, until states come again."""

    reason = 'no fresh joint state: gravity only'

    def __init__(self, holding: Handover, torque: np.ndarray):
        """Write ``torque`` (n, N m), which ``holding`` computes from the positions."""
        self._holding, self._torque = holding, torque
        self._q, self._stamp = np.zeros(len(torque)), 0

    def warm_up(self) -> None:
        """Have compiled what is called later."""
        self._holding.torque(0, self._q, out=self._torque)

    def remember(self, stamp: int, q) -> None:
        """Take in that the last torque answered a state of ``stamp`` (ns) with positions q (n)."""
        self._stamp, self._q[:] = stamp, q
        self.due, self.acts = True, False

    def see(self, q) -> None:
        """Carry the arm at q (n) from now on."""
        self._q[:] = q

    def compute(self, overdue: float) -> bool:
        """Write the torque when states are ``overdue`` by so many s; return whether there is one."""
        self._holding.torque(self._stamp + round(overdue * 1e9), self._q, out=self._torque)
        self.acts = True
        return True


class RampToZero(OnStale):
    """The last torque, made smaller evenly until it is zero."""

    reason = 'no fresh joint state: down to zero'

    def __init__(self, torque: np.ndarray, ramp_time: float):
        """Write ``torque`` (n, N m) and take ``ramp_time`` s."""
        self._torque, self._ramp_time = torque, ramp_time
        self._last = np.zeros(len(torque))

    def warm_up(self) -> None:
        """Have compiled what is called later: nothing."""

    def remember(self, stamp: int, q) -> None:
        """Take in that the last torque was sent; when it was and where the arm is does not matter."""
        self._last[:] = self._torque
        self.due, self.acts = True, False

    def compute(self, overdue: float) -> bool:
        """Write the torque when states are ``overdue`` by so many s; return whether there is one: zero is the last."""
        if self.acts and not self._torque.any():  # as it was sent: a rate limit may take longer
            return False
        np.multiply(self._last, max(0.0, 1.0 - overdue / self._ramp_time), out=self._torque)
        self.acts = True
        return True


def stale_answer(name: str, holding: Handover, torque: np.ndarray, ramp_time: float) -> GravityOnly | RampToZero | None:
    """Return what ``name``, one of ``ON_STALE``, asks for; None for silence. It writes ``torque`` (n, N m).

    ``holding`` computes the torque that holds the arm at positions q (n). None: somebody else adds it, and gravity_only
    raises ArgumentError.
    """
    arguments.choice('on_stale', name, ON_STALE)
    if name == 'gravity_only':
        if holding is None:
            raise ArgumentError('on_stale gravity_only: gravity is not among the terms that this node adds')
        return GravityOnly(holding, torque)
    return RampToZero(torque, ramp_time) if name == 'ramp_to_zero' else None
