"""A control law while the arm takes up or puts down what it carries."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from robot_dynamics_ros.control.payload_ramp import PayloadRamp, carrying
from robot_dynamics_ros.robot import Robot


class Law(Protocol):
    """What computes a torque from whatever it takes to compute it."""

    def torque(self, *inputs, out: np.ndarray) -> object:
        """Write the torque (n, N m) at ``inputs`` into ``out``."""


class GravityTorque:
    """The torque that holds the arm where it is."""

    def __init__(self, robot: Robot):
        """Hold ``robot``."""
        self._robot = robot

    def torque(self, q, out) -> None:
        """Write the torque (n, N m) at q (n) into ``out``."""
        self._robot.gravity_torque(q, out=out)


@dataclass
class _Laws:
    """The law of what is carried after a ramp, and that of what was carried before as long as the ramp lasts."""

    after: Law
    before: Law | None
    ramp: PayloadRamp


class Handover:
    """One law for one robot whatever it carries: along a ramp the torque goes linearly from the old to the new one.

    That is the torque of what is carried in between, for torques are linear in the inertial parameters (Featherstone &
    Orin 2000, eq. 3 to 5). Friction that grows with the load is, too, as long as no torque changes its sign.

    ``take`` may be called by another thread than the one that asks for torques.
    """

    def __init__(self, make: Callable[[Robot], Law], robot: Robot, ramp: PayloadRamp):
        """Begin with ``make(robot)`` as ``ramp`` says what the robot carries."""
        self._make = make
        self._other = np.zeros(robot.nv)
        self.take(robot, ramp)

    def take(self, robot: Robot, ramp: PayloadRamp) -> None:
        """Go on with ``robot`` and what it carries along ``ramp``."""
        before = self._make(carrying(robot, ramp.before)) if ramp.duration else None
        self._laws = _Laws(self._make(carrying(robot, ramp.after)), before, ramp)

    @property
    def after(self) -> Law:
        """The law of what is carried when the ramp is over."""
        return self._laws.after

    def torque(self, time: int, *inputs, out) -> None:
        """Write the torque (n, N m) at ``time`` (ns) and ``inputs`` of the law into ``out``."""
        laws = self._laws
        laws.after.torque(*inputs, out=out)
        self._mix(laws, time, inputs, out)

    def mix(self, time: int, *inputs, out) -> None:
        """Make of ``out``, which holds the torque of ``after``, that of ``time`` (ns)."""
        self._mix(self._laws, time, inputs, out)

    def _mix(self, laws: _Laws, time: int, inputs, out) -> None:
        if laws.before is None:
            return
        share = laws.ramp.share(time)
        if share >= 1.0:
            laws.before = None  # a clock that jumps back brings no payload back
            return
        # tau = tau_before + share (tau_after - tau_before)
        laws.before.torque(*inputs, out=self._other)
        out -= self._other
        out *= share
        out += self._other
