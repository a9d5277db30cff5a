"""Long chains: cables of equal links."""

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model


def cable(count: int) -> Robot:
    """Return a cable of ``count`` links of 0.1 m and 1 kg, with joints about x and y in turn."""
    inertia = ten_parameters(1.0, [0.0, 0.0, 0.05], np.diag([0.002, 0.003, 0.001]))
    joints = [
        Joint(
            name=f'joint_{i}', link=f'link_{i}', parent=f'link_{i - 1}' if i > 1 else 'base', kind='revolute',
            axis=np.eye(3)[i % 2], rotation=np.eye(3), origin=np.array([0.0, 0.0, 0.1 if i > 1 else 0.0]),
            inertia=inertia,
        )
        for i in range(1, count + 1)
    ]  # fmt: skip
    return Robot(Model.of(f'cable of {count}', 'base', joints))


def state_of(robot: Robot, seed: int = 1):
    """Return q, qd and tau of a random state: a coiled cable that moves slowly under torques of some N m."""
    random = np.random.default_rng(seed)
    return random.uniform(-1.0, 1.0, robot.nq), random.uniform(-0.1, 0.1, robot.nv), random.normal(size=robot.nv)
