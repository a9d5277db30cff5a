"""Robots of the nodes, and their torques with any payload and gravity, which are linear in the numbers of a payload.

The payload of a robot is ten numbers about the origin of its last link: mass, first moments, and moments of inertia.
"""

from functools import lru_cache

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.laws.acceleration_limits import acceleration_limits
from robot_dynamics_ros.formats.library import named_urdf, share_folder

GRAVITY, NO_PAYLOAD = np.array([0.0, 0.0, -9.81]), np.zeros(10)
TURN = 2.0 * np.pi
TOLERANCE, FASTEST = 0.2, 3.0
"""Positions may be so far (rad) beyond their limits, and velocities above theirs by this factor."""
DESCRIPTION = named_urdf('aubo_i5').read_text(encoding='utf-8')
INERTIA = (0, 3, 4, 3, 1, 5, 4, 5, 2)
"""Places of a 3 x 3 matrix's entries in ixx, iyy, izz, ixy, ixz, iyz."""


class Arm:
    """A robot as URDF, and its torques for any load: payload and gravity."""

    tip = 'ee_link'

    def __init__(self, robot: Robot, description: str, continuous=(), parameters=()):
        """Set the robot, its URDF, its ``continuous`` joints and the node ``parameters`` for it."""
        self.description, self.parameters = description, dict(parameters)
        self.robot = robot
        self.names, self.n = list(robot.joint_names), len(robot.joint_names)
        self.effort, self.velocity = robot.limits.effort, robot.limits.velocity
        self.lower, self.upper = robot.limits.lower - TOLERANCE, robot.limits.upper + TOLERANCE
        self.acceleration = acceleration_limits([0.0], robot, robot.limits.effort)
        self.base, self.last = robot.link_names[0], robot.link_names[-1]
        self.continuous = np.isin(self.names, continuous)
        last, tip = (robot.link_pose(np.zeros(self.n), link) for link in (self.last, self.tip))
        self._tip = np.linalg.solve(last, tip)
        self._under = lru_cache(maxsize=64)(lambda *gravity: self.robot.with_gravity(gravity))

    def accepts(self, q) -> bool:
        """Return whether positions are within their limits."""
        return bool(((self.lower <= q) & (q <= self.upper)).all())

    def within(self, q) -> np.ndarray:
        """Return the positions within the limits that are next to q."""
        return np.clip(q, self.lower + 2.0 * TOLERANCE, self.upper - 2.0 * TOLERANCE)

    def payload(self, body) -> np.ndarray:
        """Return the ten numbers of a payload in a message; one without a frame is on the last link."""
        pose = self._tip if body.frame == self.tip else np.eye(4)
        R, c = pose[:3, :3], pose[:3, :3] @ body.com + pose[:3, 3]
        inertia = R @ body.inertia[list(INERTIA)].reshape(3, 3) @ R.T
        J = inertia + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
        return np.array([body.mass, *(body.mass * c), *J[np.triu_indices(3)]])

    def distance(self, to, origin) -> np.ndarray:
        """Return the distance from ``origin`` to ``to``, the shorter way for a continuous joint."""
        straight = np.asarray(to) - np.asarray(origin)
        return straight - TURN * np.where(self.continuous, np.round(straight / TURN), 0.0)

    def inverse_dynamics(self, q, qd, qdd, load) -> np.ndarray:
        """Return M qdd + h with a load, without friction."""
        payload, gravity = load
        robot = self._under(*gravity.tolist())
        torque = robot.inverse_dynamics(q, qd, qdd)
        return torque + robot.torque_regressor(q, qd, qdd)[..., -10:] @ payload if payload.any() else torque

    def gravity_torque(self, q, load) -> np.ndarray:
        """Return g(q) with a load."""
        return self.inverse_dynamics(q, 0.0 * q, 0.0 * q, load)

    def passive_dynamics(self, q, qd, qd_r, qdd_r, load) -> np.ndarray:
        """Return M qdd_r + C(q, qd) qd_r + g with a load, of Slotine and Li's adaptive law."""
        one, other = (self.inverse_dynamics(q, rate, 0.0 * q, load) for rate in (qd + qd_r, qd - qd_r))
        return self.inverse_dynamics(q, 0.0 * q, qdd_r, load) + 0.25 * (one - other)

    def friction(self, qd) -> np.ndarray:
        """Return the friction torque, which does not depend on the load here."""
        return self.robot.friction_torque(qd)


@lru_cache(maxsize=1)
def arms() -> dict[str, Arm]:
    """Return the robots by name."""
    turning = ('shoulder_joint', 'wrist1_joint', 'wrist3_joint')
    continuous = DESCRIPTION
    for joint in turning:
        continuous = continuous.replace(f'name="{joint}" type="revolute"', f'name="{joint}" type="continuous"')
    actuators = str(share_folder() / 'config' / 'aubo_i5.yaml')
    shared = {'model': '', 'actuators': actuators}
    robots = {text: Robot.from_urdf(text).with_actuators(actuators) for text in (DESCRIPTION, continuous)}
    described = {**shared, 'robot_description': continuous}
    return {
        'aubo_i5': Arm(robots[DESCRIPTION], DESCRIPTION, parameters={**shared, 'robot_description': DESCRIPTION}),
        'continuous': Arm(robots[continuous], continuous, turning, described),
    }
