"""Robots of the nodes, and their torques with any payload and gravity, as sums of simple terms.

Torques are affine in the payload and in gravity. A load is a list of (weight, body) and of (weight, vector).
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.formats.library import named_urdf, share_folder

GRAVITY = (0.0, 0.0, -9.81)
TURN = 2.0 * np.pi


class Body(NamedTuple):
    """A body on a frame: kg, m, kg m^2."""

    mass: float
    com: tuple[float, ...]
    inertia: tuple[float, ...]  # ixx, iyy, izz, ixy, ixz, iyz
    frame: str

    def linear(self):
        """Yield names and values of what changes linearly: mass, first moments, inertia about the frame's origin."""
        x, y, z = self.com
        shift = (y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z)
        yield (self.frame, 'mass'), self.mass
        yield from (((self.frame, 'moment', k), self.mass * c) for k, c in enumerate(self.com))
        about_origin = (J + self.mass * s for J, s in zip(self.inertia, shift, strict=True))
        yield from (((self.frame, 'inertia', k), J) for k, J in enumerate(about_origin))


class Arm:
    """A robot as URDF, and its torques for any load."""

    tip = 'ee_link'

    def __init__(self, robot: Robot, continuous=(), parameters=()):
        """Set the robot, its ``continuous`` joints and the node ``parameters`` for it."""
        self.parameters = dict(parameters)
        self.robot = robot.with_binding('generic')
        self.names = list(self.robot.joint_names)
        self.n = len(self.names)
        self.effort, self.velocity = self.robot.limits.effort, self.robot.limits.velocity
        self.base = self.robot.link_names[0]
        self.turned = False  # whether a distance was not the straight one, until somebody resets it
        self.continuous = np.isin(self.names, continuous)
        self._loaded = lru_cache(maxsize=256)(self._load)
        self.forget = self._loaded.cache_clear

    def distance(self, to, origin) -> np.ndarray:
        """Return the distance from ``origin`` to ``to``, the shorter way for a continuous joint."""
        straight = np.asarray(to) - np.asarray(origin)
        turns = np.where(self.continuous, np.round(straight / TURN), 0.0)
        self.turned = self.turned or bool(turns.any())
        return straight - TURN * turns

    def gravity_torque(self, q, load) -> np.ndarray:
        """Return g(q) with a load (bodies, gravity)."""
        return self.sum(lambda robot: robot.gravity_torque(q), *load)

    def inverse_dynamics(self, q, qd, qdd, load) -> np.ndarray:
        """Return M qdd + h with a load (bodies, gravity), without friction."""
        return self.sum(lambda robot: robot.inverse_dynamics(q, qd, qdd), *load)

    def friction(self, qd) -> np.ndarray:
        """Return the friction torque, which does not depend on the load here."""
        return self.robot.friction_torque(qd)

    def sum(self, ask, bodies, gravity) -> np.ndarray:
        """Return ``ask(robot)`` with a load, where it is affine in payload and gravity."""
        total = np.zeros(self.n)
        for share, vector in gravity:
            bare = ask(self._loaded(None, vector))
            added = (weight * (ask(self._loaded(body, vector)) - bare) for weight, body in bodies)
            total = total + share * sum(added, start=bare)
        return total

    def _load(self, body: Body | None, gravity) -> Robot:
        """Return the robot with a body."""
        robot = self.robot.with_gravity(gravity)
        if body is None:
            return robot
        ixx, iyy, izz, ixy, ixz, iyz = body.inertia
        inertia = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        return robot.with_payload(Payload(body.mass, body.com, inertia), body.frame)


def _continuous_urdf(joints) -> str:
    """Return the AUBO-i5 with continuous joints."""
    urdf = named_urdf('aubo_i5').read_text(encoding='utf-8')
    for joint in joints:
        urdf = urdf.replace(f'name="{joint}" type="revolute"', f'name="{joint}" type="continuous"')
    return urdf


@lru_cache(maxsize=1)
def arms() -> dict[str, Arm]:
    """Return the robots by name. Only the bundled one has specialised kernels, so nothing is compiled."""
    turning = ('shoulder_joint', 'wrist1_joint', 'wrist3_joint')
    continuous = _continuous_urdf(turning)
    actuators = str(share_folder() / 'config' / 'aubo_i5.yaml')
    generic = {'robot_description': continuous, 'actuators': actuators, 'binding': 'generic'}
    return {
        'aubo_i5': Arm(Robot.named('aubo_i5')),
        'continuous': Arm(Robot.from_urdf(continuous).with_actuators(actuators), turning, generic),
    }
