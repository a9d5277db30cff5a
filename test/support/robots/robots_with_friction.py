"""Robots whose motors have more to overcome than rigid bodies: friction, springs, coupled motors and a residual."""

from dataclasses import replace

from support.robots.random_trees import BASE, random_joints

import numpy as np

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.model.residual import FEATURES, ResidualModel

FRICTION = {
    'viscous': 3.0,
    'coulomb': 2.0,
    'offset': 0.3,
    'transition': 0.05,
    'stribeck': 1.5,
    'stribeck_velocity': 0.2,
    'load': 0.1,
    'quadratic': 0.4,
}


def learnt(robot: Robot) -> ResidualModel:
    """Return a residual with other weights for each joint, which reaches its bound."""
    n = robot.nv
    weights = np.random.default_rng(6).normal(size=(n, len(FEATURES)))
    return ResidualModel(
        robot.digest, robot.joint_names, np.full(n, 101.0), np.full(n, 1.0), np.linspace(0.5, 2.0, n), weights
    )


def sprung() -> Robot:
    """Return a tree of several kinds of joints with springs and friction."""
    joints = random_joints(seed=4, count=7)
    joints = [replace(it, stiffness=20.0 + k, rest=0.1 * k, rotor=0.02) for k, it in enumerate(joints)]
    return Robot(Model.of('sprung', BASE, joints)).with_friction(**FRICTION)


def identified() -> Robot:
    robot = Robot.named('aubo_i5').with_friction(**FRICTION)
    return robot.with_payload(Payload(2.0, (0.0, 0.02, 0.05))).with_residual(learnt(robot))


def coupled() -> Robot:
    """Return three joints; the second one turns the motor of the third, too."""
    joints = random_joints(seed=2, count=3)
    joints[2] = replace(joints[2], motor_coupling=((joints[1].name, 0.5),))
    return Robot(Model.of('coupled', BASE, joints)).with_friction(viscous=2.0, coulomb=1.0)


def expected_torque(robot: Robot, q, qd, qdd, inverse_dynamics=None, xp=np):
    """Return the sum of the terms, each written once more, in ``xp`` with the functions of NumPy, such as JAX's."""
    inverse_dynamics = inverse_dynamics or robot.inverse_dynamics
    arrays, W = robot.model.arrays, robot.model.motor_velocities() if robot.model.motor_coupling else np.eye(robot.nv)
    transmitted = inverse_dynamics(q, qd, qdd) + arrays.stiffness[1:] * (q - arrays.spring_rest[1:])
    f, w = robot.friction, qd @ W.T
    level = f.coulomb + f.load * xp.abs(transmitted) + f.stribeck / (1.0 + (w / f.stribeck_velocity) ** 2)
    friction = f.viscous * w + f.quadratic * xp.abs(w) * w + level * w / xp.hypot(w, f.transition) + f.offset
    tau = transmitted + friction @ W
    if robot.residual is None:
        return tau
    r = robot.residual
    v = xp.clip(qd, -r.fastest, r.fastest)
    s = v / xp.hypot(v, 0.02)
    angles = [(k * n) * q for n in (np.ones(robot.nv), r.gear_ratio) for k in (1, 2)]
    # s sqrt|v|, as JAX differentiates it at zero, too
    features = [s, xp.sign(v) * xp.abs(v) ** 1.5 / xp.hypot(v, 0.02), v]
    for k, angle in enumerate(angles):
        features += [xp.sin(angle), xp.cos(angle)]
        if k == 1:
            features += [s * xp.sin(q), s * xp.cos(q)]
    return tau + xp.clip((xp.stack(features, -1) * r.weights).sum(-1), -r.bound, r.bound)
