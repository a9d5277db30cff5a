"""Robots for simulations: on a moving base, with friction, with position limits."""

import dataclasses

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model


def floating(kind='free', gravity=(0.0, 0.0, 0.0)) -> Robot:
    """Return a body and an arm on it that swings, on a joint of a kind."""
    body = ten_parameters(3.0, [0.1, -0.2, 0.05], np.diag([0.2, 0.3, 0.35]))
    arm = ten_parameters(1.0, [0.3, 0.0, 0.1], np.diag([0.02, 0.05, 0.06]))
    z = np.array([0.0, 0.0, 1.0])
    joints = [
        Joint('root', 'body', 'base', kind, z, np.eye(3), np.zeros(3), body),
        Joint('swing', 'arm', 'body', 'revolute', np.array([0.0, 1.0, 0.0]), np.eye(3), 0.2 * z, arm),
    ]
    return Robot(Model.of('floating', 'base', joints)).with_gravity(gravity)


def state_of(robot, seed=3):
    rng = np.random.default_rng(seed)
    return robot.random(rng), rng.uniform(-2.0, 2.0, robot.nv)


def with_friction(robot, load=0.2) -> Robot:
    model = robot.model
    full = np.full(robot.nv, 1.0)
    friction = model.friction._replace(
        viscous=0.5 * full, coulomb=0.4 * full, offset=0.1 * full, stribeck=0.3 * full, load=load * full
    )
    return Robot(dataclasses.replace(model, friction=friction)).with_gravity(robot.gravity)


def limited() -> Robot:
    """Return two joints that hang, with limits of half a radian, in gravity."""
    body = ten_parameters(1.0, [0.0, 0.0, -0.5], 0.02 * np.eye(3))
    y = np.array([0.0, 1.0, 0.0])
    joints = [
        Joint('one', 'upper', 'base', 'revolute', y, np.eye(3), np.zeros(3), body, lower=-0.5, upper=0.5),
        Joint('two', 'lower', 'upper', 'revolute', y, np.eye(3), np.array([0, 0, -1.0]), body, lower=np.nan, upper=0.5),
    ]
    return Robot(Model.of('limited', 'base', joints))
