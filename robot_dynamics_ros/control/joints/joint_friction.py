"""Friction of joints, added to torques."""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.kernels.friction import add_joint_friction, motor_friction
from robot_dynamics_ros.model.model import Friction

FRICTIONAL = ('viscous', 'coulomb', 'offset', 'stribeck', 'load', 'quadratic')
"""Fields of ``Friction``; friction is zero if all of these are."""


@compiled(given='qd transmitted torque')
def add_friction(friction: Matrix, qd: Vector, transmitted: Vector, torque: Vector) -> None:
    """Write torque (n) += friction at qd (n) and the ``transmitted`` torque (n), which may be ``torque`` itself.

    The rows of ``friction`` (8, n) are the fields of ``model.Friction``.
    """
    add_joint_friction(friction, qd, transmitted, torque)


@compiled(given='qd transmitted torque')
def add_coupled_friction(
    friction: Matrix, W: Matrix, motors: Vector, qd: Vector, transmitted: Vector, torque: Vector
) -> None:
    """Write torque (n) += W' friction_of(W qd): as ``add_friction``, with motors whose velocities are W qd (n, n).

    ``transmitted`` (n) may be ``torque`` itself; motors (n) is scratch.
    """
    n = torque.shape[0]
    motor_friction(friction, W, qd, transmitted, motors)
    for i in range(n):
        for k in range(n):
            torque[i] = W[k, i] * motors[k] + torque[i]


def friction_adder(robot, friction: np.ndarray):
    """Return the compiled function of (qd, transmitted, torque), each (n,), that adds a robot's friction to ``torque``.

    The rows of ``friction`` (8, n) are the fields of ``model.Friction``; it may change later.
    """
    vectors = (np.zeros(robot.nv),) * 3
    if not robot.model.motor_coupling:
        return bound(add_friction, friction, then=vectors)
    return bound(add_coupled_friction, friction, robot.model.motor_velocities(), np.zeros(robot.nv), then=vectors)


def frictionless(friction: Friction) -> Friction:
    """Return ``friction`` with zero for each of ``FRICTIONAL``."""
    return friction._replace(**dict.fromkeys(FRICTIONAL, np.zeros(len(friction.viscous))))
