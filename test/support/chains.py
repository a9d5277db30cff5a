"""Robots that every formulation represents: the AUBO-i5 twice, and random chains of revolute and prismatic joints."""

from dataclasses import replace

from support import random_trees as trees

import numpy as np

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.model.model import Model

SEEDS = range(100)


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


def random_motion(robot: Robot, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return q, qd, qdd (n,) and a wrench (6,) on the last link, at its origin in axes of the base."""
    random = np.random.default_rng([seed, 61])
    q, qd, qdd = random.uniform(-2.0, 2.0, (3, robot.nv))
    return q, qd, qdd, random.normal(size=6) * 10.0


def expected_torques(robot: Robot, q, qd, qdd, tip_wrench=None) -> np.ndarray:
    """Return the torques of the compiled kernels (n,)."""
    wrenches = None if tip_wrench is None else {robot.link_names[-1]: tip_wrench}
    return robot.inverse_dynamics(q, qd, qdd, wrenches=wrenches)


def disagreement(a, b) -> float:
    """Return the largest difference of two arrays, relative to the largest magnitude in them."""
    return float(np.max(np.abs(np.subtract(a, b))) / max(np.max(np.abs(a)), np.max(np.abs(b)), 1e-300))
