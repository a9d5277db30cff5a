"""Payload blending: a control law while payload or gravity change linearly from one value to another."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity, carrying
from robot_dynamics_ros.control.payload.payload_gravity import Vector as Gravity
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.kernels.payload_blending import add_share, corner_weights
from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.robot import Robot


@compiled(given='payload_share gravity_share weights')
def _corner_weights(payload_share: float, gravity_share: float, weights: Vector) -> None:
    """Write weights (4) as the kernel does."""
    corner_weights(payload_share, gravity_share, weights)


@compiled(given='weight term torque')
def _add_share(weight: float, term: Vector, torque: Vector) -> None:
    """Write torque (n) as the kernel does."""
    add_share(weight, term, torque)


class RobotLaw(Protocol):
    """A control law of one robot."""

    def torque(self, *inputs, out: np.ndarray) -> object:
        """Write the torque (n, N m) at ``inputs`` into ``out``."""


class GravityTorque:
    """Control law tau = g(q)."""

    def __init__(self, robot: Robot):
        """Set the robot."""
        robot.prepare('gravity_torque')
        self._robot = robot

    def torque(self, q, out) -> None:
        """Write the torque (n, N m) at q (n) into ``out``."""
        self._robot.gravity_torque(q, out=out)


class _Corner(NamedTuple):
    """The law for a payload and a gravity, each before or after its ramp."""

    payload_after: bool
    gravity_after: bool
    payloads: Mapping[str, Payload]
    gravity: Gravity
    law: Any  # a RobotLaw


class PayloadBlender:
    """Blends a control law between two payloads and between two gravity vectors.

    tau = sum of w_p w_g tau(payload, gravity) over both sides of the two ramps, with w the share of that side.
    This equals the torque at the intermediate payload and gravity, since torques are linear in the inertial parameters
    and in the gravity vector (Featherstone & Orin 2000, eq. 3, 4, 7, 8). Load-dependent friction is blended exactly
    unless a torque changes its sign in between.

    One thread may call ``take`` while another one calls ``torque``.
    """

    def __init__(self, make: Callable[[Robot], RobotLaw], robot: Robot, payload_gravity: PayloadGravity):
        """Blend the laws ``make(robot)`` over ``payload_gravity``; ``robot`` itself has no payload."""
        self._make, self._robot = make, robot
        self._term, self._weights = np.zeros(robot.nv), np.zeros(4)
        self._corner_weights = bound(_corner_weights, then=(0.0, 0.0, self._weights))
        self._add_share = bound(_add_share, then=(0.0, self._term, self._term))
        # replaced as a whole, for the other thread; at most four corners, the last one after both ramps
        self._blend: tuple[PayloadGravity, list[_Corner]] = payload_gravity, []
        self.take(payload_gravity)

    def take(self, payload_gravity: PayloadGravity) -> None:
        """Set payload and gravity; laws for the same payloads and gravity are reused."""
        _, used = self._blend
        corners: list[_Corner] = []
        for payload_after in _sides(payload_gravity.payload):
            for gravity_after in _sides(payload_gravity.gravity):
                payloads = payload_gravity.payload.after if payload_after else payload_gravity.payload.before
                gravity = payload_gravity.gravity.after if gravity_after else payload_gravity.gravity.before
                laws = [corner.law for corner in used if corner.payloads is payloads and corner.gravity == gravity]
                law = laws[0] if laws else self._make(carrying(self._robot.with_gravity(gravity), payloads))
                corners.append(_Corner(payload_after, gravity_after, payloads, gravity, law))
        self._blend = payload_gravity, corners

    def torque(self, time: int, *inputs, out) -> None:
        """Write the torque (n, N m) at ``time`` (ns) and ``inputs`` of the law into ``out``."""
        payload_gravity, corners = self._blend
        if len(corners) == 1:
            corners[0].law.torque(*inputs, out=out)
            return
        p, g = payload_gravity.payload.share(time), payload_gravity.gravity.share(time)
        if p >= 1.0 and g >= 1.0:
            corners[-1].law.torque(*inputs, out=out)
            return
        # tau = sum of w_p w_g tau(payload, gravity)
        self._corner_weights(p, g, self._weights)
        weights = self._weights.tolist()
        out.fill(0.0)
        for payload_after, gravity_after, _, _, law in corners:
            weight = weights[2 * payload_after + gravity_after]
            if weight != 0.0:
                law.torque(*inputs, out=self._term)
                self._add_share(weight, self._term, out)


def _sides(ramp) -> tuple[bool, ...]:
    """Return the sides of a ramp, before (False) and after (True); only after if its duration is 0."""
    return (False, True) if ramp.duration else (True,)
