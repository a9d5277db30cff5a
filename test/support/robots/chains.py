"""Robots that every formulation represents: the AUBO-i5 twice, and random chains of revolute and prismatic joints.

``planar_6r`` is the arm of the paper on spatial operator algebra.
"""

from dataclasses import replace
from functools import cache

from support.robots import random_trees as trees
from support.rounding import bound

import numpy as np

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model

SEEDS = range(100)


@cache
def random_chain(seed: int) -> Robot:
    """Return a chain of 1 to 8 revolute and prismatic joints, with rotors, under gravity from any side."""
    random = np.random.default_rng([seed, 16])
    joints = trees.random_joints(seed, count=int(random.integers(1, 9)))
    parents = [trees.BASE, *(joint.link for joint in joints)]
    joints = [replace(joint, parent=parent, spin=0.0) for joint, parent in zip(joints, parents, strict=False)]
    return Robot(Model.of(f'chain {seed}', trees.BASE, joints), random.normal(size=3) * 5.0)


def arms() -> dict[str, Robot]:
    """Return the AUBO-i5, its variant of the lecture, and the AUBO-i5 with a payload on a wall."""
    arm = Robot.named('aubo_i5')
    payload = Payload(3.0, (0.02, -0.01, 0.1), np.diag([0.02, 0.03, 0.01]))
    return {
        'aubo_i5': arm,
        'aubo_i5_lecture': Robot.named('aubo_i5_lecture'),
        'payload, wall': arm.with_payload(payload).with_gravity((9.81, 0.0, 0.0)),
    }


def robots() -> dict[str, Robot]:
    """Return the arms and the random chains."""
    return {**arms(), **{f'chain {seed}': random_chain(seed) for seed in SEEDS}}


def planar_6r(gravity=(0.0, 0.0, 0.0)) -> Robot:
    """Return the paper's 6R arm: parallel axes (all d and alpha are 0), links of 1 m, 2 kg at the end of each.

    The paper has no gravity.
    """
    tip, z = ten_parameters(2.0, [1.0, 0.0, 0.0], np.zeros((3, 3))), np.array([0.0, 0.0, 1.0])
    joints = []
    for i in range(1, 7):
        origin, parent = np.array([float(i > 1), 0.0, 0.0]), f'link_{i - 1}' if i > 1 else trees.BASE
        joints.append(Joint(f'joint_{i}', f'link_{i}', parent, 'revolute', z, np.eye(3), origin, tip))
    return Robot(Model.of('planar 6R', trees.BASE, joints), gravity)


def sine_motion(t: float) -> np.ndarray:
    """Return q, qd, qdd (3, 6) of the paper's motion at time t (s): every joint moves as sin(t)."""
    return np.outer([np.sin(t), np.cos(t), -np.sin(t)], np.ones(6))


def random_motion(robot: Robot, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return q, qd, qdd (n,) and a wrench (6,) on the last link, at its origin in axes of the base."""
    random = np.random.default_rng([seed, 61])
    q, qd, qdd = random.uniform(-2.0, 2.0, (3, robot.nv))
    return q, qd, qdd, random.normal(size=6) * 10.0


def expected_torques(robot: Robot, q, qd, qdd, tip_wrench=None) -> np.ndarray:
    """Return the torques of the compiled kernels (n,)."""
    wrenches = None if tip_wrench is None else {robot.link_names[-1]: tip_wrench}
    return robot.inverse_dynamics(q, qd, qdd, wrenches=wrenches)


def rounding(robot: Robot, q, qd, tau, wrench) -> float:
    """Return the largest error of accelerations (rad/s^2) that rounding may make: torques cancel, M^-1 magnifies."""
    M = robot.mass_matrix(q)
    by_wrench = robot.jacobian(q, robot.link_names[-1]).T @ wrench
    torque = max(np.abs(part).max() for part in (tau, robot.bias_torque(q, qd), by_wrench))
    return bound(400, robot.nv, np.linalg.cond(M), torque / np.linalg.norm(M, 2))


def disagreement(a, b) -> float:
    """Return the largest difference of two arrays, relative to the largest magnitude in them."""
    return float(np.max(np.abs(np.subtract(a, b))) / max(np.max(np.abs(a)), np.max(np.abs(b)), 1e-300))
