"""Robots for simulations: on a moving base, with friction, with position limits."""

import dataclasses

import numpy as np

from robot_dynamics_ros import LoopClosure, Robot
from robot_dynamics_ros.model.closed_loops.loop_types import GAIN
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


def four_bar(kind='point', lower=np.nan, upper=np.nan, gain=GAIN) -> Robot:
    """Return crank (0.3 m), coupler (0.7 m) and rocker (0.5 m) on pivots 0.8 m apart, in gravity along -y.

    The closure is at the ends of coupler and rocker; limits are those of the rocker.
    """
    z, limits = np.array([0.0, 0.0, 1.0]), {'lower': lower, 'upper': upper}
    joints = [
        Joint('crank', 'crank', 'base', 'revolute', z, np.eye(3), np.zeros(3), rod(0.3)),
        Joint('coupler', 'coupler', 'crank', 'revolute', z, np.eye(3), np.array([0.3, 0.0, 0.0]), rod(0.7)),
        Joint('rocker', 'rocker', 'base', 'revolute', z, np.eye(3), np.array([0.8, 0.0, 0.0]), rod(0.5), **limits),
    ]
    end_of_coupler, end_of_rocker = np.eye(4), np.eye(4)
    end_of_coupler[0, 3], end_of_rocker[0, 3] = 0.7, 0.5
    loop = LoopClosure('bar', 'rocker', end_of_rocker, 'coupler', end_of_coupler, kind)
    robot = Robot(Model.of('four_bar', 'base', joints)).with_gravity((0.0, -9.81, 0.0))
    return robot.with_loops([loop], gain)


def rod(length: float, mass=1.0) -> np.ndarray:
    """Return the inertial parameters of a rod along x from the joint."""
    inertia = mass * length**2 / 12.0 * np.diag([1e-2, 1.0, 1.0])
    return ten_parameters(mass, [0.5 * length, 0.0, 0.0], inertia)


def closed(robot, q, qd=None) -> tuple:
    """Return positions and velocities near the given ones with closed loops."""
    return robot.close_loops(np.asarray(q, float), np.zeros(robot.nv) if qd is None else np.asarray(qd, float))
