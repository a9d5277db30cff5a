"""A control law while payload or gravity change linearly from one value to another."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from robot_dynamics_ros.control.load import Load, Vector
from robot_dynamics_ros.control.payload_ramp import carrying
from robot_dynamics_ros.payload import Payload
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
    payloads: Mapping[str, Payload]
    gravity: Vector
    law: Any  # a RobotLaw


class _Blend:
    """What one torque is blended from: at most four laws, the last of them that after both ramps."""

    def __init__(self, load: Load, corners: list[_Corner]):
        """Blend ``corners`` by the shares of ``load``."""
        self.load, self.corners = load, corners

    def law(self, payloads: Mapping[str, Payload], gravity: Vector) -> Any:
        """Return the law in use for ``payloads`` and ``gravity``; None if there is none."""
        laws = [corner.law for corner in self.corners if corner.payloads is payloads and corner.gravity == gravity]
        return laws[0] if laws else None


class PayloadBlender:
    """One law for one robot, whatever it carries and however gravity pulls.

    tau = sum of w_p w_g tau(payload, gravity), payload and gravity each before and after its ramp, w the ramp's share.
    This is the torque of the payload and gravity in between: torques are linear in the inertial parameters and in the
    gravity vector (Featherstone & Orin 2000, eq. 3, 4, 7, 8). Load-dependent friction is, too, unless a torque
    changes its sign between them.

    ``take`` may be called by another thread than ``torque``.
    """

    def __init__(self, make: Callable[[Robot], RobotLaw], robot: Robot, load: Load):
        """Blend the laws ``make(robot)``, where ``robot`` carries no payload and ``load`` says what it will carry."""
        self._make, self._robot = make, robot
        self._term = np.zeros(robot.nv)
        self._blend = _Blend(load, [])
        self.take(load)

    def take(self, load: Load) -> None:
        """Use ``load`` from now on; laws for payloads and gravity that are in use already are kept."""
        corners = []
        for payload_after in _sides(load.payload):
            for gravity_after in _sides(load.gravity):
                payloads = load.payload.after if payload_after else load.payload.before
                gravity = load.gravity.after if gravity_after else load.gravity.before
                law = self._blend.law(payloads, gravity)
                if law is None:
                    law = self._make(carrying(self._robot.with_gravity(gravity), payloads))
                corners.append(_Corner(payload_after, gravity_after, payloads, gravity, law))
        self._blend = _Blend(load, corners)

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
        for payload_after, gravity_after, _, _, law in corners:
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
