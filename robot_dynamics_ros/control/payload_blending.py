"""A control law while payload or gravity change linearly from one value to another."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from robot_dynamics_ros.control.load import Load
from robot_dynamics_ros.control.payload_ramp import carrying
from robot_dynamics_ros.robot import Robot


class RobotLaw(Protocol):
    """What computes a torque for one robot from any inputs."""

    def torque(self, *inputs, out: np.ndarray) -> object:
        """Write the torque (n, N m) at ``inputs`` into ``out``."""


class GravityTorque:
    """The torque that holds the arm against gravity."""

    def __init__(self, robot: Robot):
        """Hold ``robot``."""
        self._robot = robot

    def torque(self, q, out) -> None:
        """Write the torque (n, N m) at q (n) into ``out``."""
        self._robot.gravity_torque(q, out=out)


class _Corner(NamedTuple):
    """The law for payload and gravity before or after their ramps."""

    payload_after: bool
    gravity_after: bool
    law: Any  # a RobotLaw


class _Blend:
    """What one torque is blended from: at most four laws, the last of them that after both ramps."""

    def __init__(self, load: Load, corners: list[_Corner]):
        """Blend ``corners`` by the shares of ``load``."""
        self.load, self.corners = load, corners


class PayloadBlender:
    """One law for one robot, whatever it carries and however gravity pulls.

    tau = sum of w_p w_g tau(payload, gravity), payload and gravity each before and after its ramp, w the ramp's share.
    This is the torque of the payload and gravity in between: torques are linear in the inertial parameters and in the
    gravity vector (Featherstone & Orin 2000, eq. 3 to 5). Load-dependent friction is, too, unless a torque changes its
    sign between them.

    ``take`` may be called by another thread than ``torque``.
    """

    def __init__(self, make: Callable[[Robot], RobotLaw], robot: Robot, load: Load):
        """Blend the laws ``make(robot)``, where ``robot`` carries no payload and ``load`` says what it will carry."""
        self._make, self._robot = make, robot
        self._term = np.zeros(robot.nv)
        self.take(load)

    def take(self, load: Load) -> None:
        """Use ``load`` from now on."""
        sides = [(p, g) for p in _sides(load.payload) for g in _sides(load.gravity)]
        self._blend = _Blend(load, [_Corner(p, g, self._make(self._end(load, p, g))) for p, g in sides])

    def _end(self, load: Load, payload_after: bool, gravity_after: bool) -> Robot:
        """Return the robot at one end of each ramp."""
        payloads = load.payload.after if payload_after else load.payload.before
        gravity = load.gravity.after if gravity_after else load.gravity.before
        return carrying(self._robot.with_gravity(gravity), payloads)

    def set_back(self, before: int, after: int) -> None:
        """Keep the progress of both ramps on a clock that went back from ``before`` to ``after`` (ns).

        The thread of ``torque`` calls it at once; ``take`` follows with the same ramps on the new clock.
        """
        blend = self._blend
        blend.load = blend.load.clock_set_back(before, after)

    def warm_up(self, vectors: int, *others) -> None:
        """Compile what the laws call: their inputs are ``vectors`` joint vectors, then ``others``."""
        rest = np.zeros((vectors, self._robot.nv))
        for corner in self._blend.corners:
            corner.law.torque(*rest, *others, out=self._term)

    def torque(self, time: int, *inputs, out) -> None:
        """Write the torque (n, N m) at ``time`` (ns) and ``inputs`` of the law into ``out``."""
        blend = self._blend
        corners = blend.corners
        if len(corners) == 1:
            corners[0].law.torque(*inputs, out=out)
            return
        p, g = blend.load.payload.share(time), blend.load.gravity.share(time)
        if p >= 1.0 and g >= 1.0:
            corners[-1].law.torque(*inputs, out=out)
            return
        # tau = sum of w_p w_g tau(payload, gravity)
        total = None
        for payload_after, gravity_after, law in corners:
            weight = (p if payload_after else 1.0 - p) * (g if gravity_after else 1.0 - g)
            if weight == 0.0:
                continue
            target = out if total is None else self._term
            law.torque(*inputs, out=target)
            target *= weight
            if total is None:
                total = out
            else:
                total += target


def _sides(ramp) -> tuple[bool, ...]:
    """Return which ends of a ramp count: before and after, or after alone where it takes no time."""
    return (False, True) if ramp.duration else (True,)
