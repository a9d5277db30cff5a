"""What a node sends when the states stop that it should answer, where it is told to send anything."""

import numpy as np

from robot_dynamics_ros import arguments
from robot_dynamics_ros.robot import Robot

ON_STALE = ('silent', 'gravity_only', 'ramp_to_zero')


class GravityOnly:
    """The torque that carries the arm where it was seen last, until states come again."""

    reason = 'no fresh joint state: gravity only'

    def __init__(self, robot: Robot, torque: np.ndarray):
        """Write ``torque`` (n, N m)."""
        self._robot, self._torque = robot, torque
        self._q = np.zeros(robot.nq)
        self.acts = False

    def warm_up(self) -> None:
        """Have compiled what is called later."""
        self._robot.gravity_torque(self._q)

    def remember(self, q) -> None:
        """Take in that the last torque answered a state with positions q (n)."""
        self._q[:] = q
        self.acts = False

    def compute(self, overdue: float) -> bool:
        """Write the torque when states are ``overdue`` by so many s; return whether there is one."""
        self.acts = True
        self._robot.gravity_torque(self._q, out=self._torque)
        return True


class RampToZero:
    """The last torque, made smaller evenly until it is zero."""

    reason = 'no fresh joint state: down to zero'

    def __init__(self, torque: np.ndarray, ramp_time: float):
        """Write ``torque`` (n, N m) and take ``ramp_time`` s."""
        self._torque, self._ramp_time = torque, ramp_time
        self._last = np.zeros(len(torque))
        self.acts = self._over = False

    def warm_up(self) -> None:
        """Have compiled what is called later: nothing."""

    def remember(self, q) -> None:
        """Take in that the last torque was sent; where the arm is does not matter."""
        self._last[:] = self._torque
        self.acts = self._over = False

    def compute(self, overdue: float) -> bool:
        """Write the torque when states are ``overdue`` by so many s; return whether there is one: zero is the last."""
        if self.acts and not self._torque.any():  # as it was sent: a rate limit may take longer
            self.acts, self._over = False, True
        if self._over:
            return False
        self.acts = True
        np.multiply(self._last, max(0.0, 1.0 - overdue / self._ramp_time), out=self._torque)
        return True


def stale_answer(name: str, robot: Robot, torque: np.ndarray, ramp_time: float) -> GravityOnly | RampToZero | None:
    """Return what ``name``, one of ``ON_STALE``, asks for; None for silence. It writes ``torque`` (n, N m)."""
    arguments.choice('on_stale', name, ON_STALE)
    if name == 'gravity_only':
        return GravityOnly(robot, torque)
    return RampToZero(torque, ramp_time) if name == 'ramp_to_zero' else None
