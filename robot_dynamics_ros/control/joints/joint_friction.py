"""Friction of joints, added to torques.

Joints of a mechanism without a motor move with G qd, where qd are the velocities of the m driven ones, and transmit no
torque of their own. So by virtual work their friction takes the torque G' friction_of(G qd) of the motors, whose gears
transmit it.
"""

from collections.abc import Callable, Sequence

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.kernels.friction import add_joint_friction, joint_friction, motor_friction
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


@compiled(given='rows qd torque')
def add_passive_friction(friction: Matrix, rows: Matrix, qd: Vector, torque: Vector) -> None:
    """Write torque (m) += G' friction_of(G qd), the friction of joints (n) that follow the driven ones at qd (m).

    ``rows`` (m, n) is G'. The rows of ``friction`` (8, n) are the fields of ``model.Friction``: zero for driven joints.
    """
    m = torque.shape[0]
    for i in range(friction.shape[1]):
        speed = 0.0
        for k in range(m):
            speed = rows[k, i] * qd[k] + speed
        drag = joint_friction(friction, i, speed, 0.0)
        for k in range(m):
            torque[k] = rows[k, i] * drag + torque[k]


def friction_adder(robot, terms: Sequence[str], friction: np.ndarray | None = None) -> Callable:
    """Return the function of (q, qd, transmitted, torque), each (n,), that adds the friction at q and qd to ``torque``.

    None is added unless friction is among the ``terms``. ``transmitted`` is the torque without friction, maybe
    ``torque`` itself; that of joints without a motor is added to it. The rows of ``friction`` (8, n; default: that of
    the robot) are the fields of ``model.Friction`` of the joints with a motor; it may change later.
    """
    counts = 'friction' in terms
    if friction is None:
        friction = np.array(robot.friction if counts else frictionless(robot.friction))
    add_own, passive = own_friction_adder(robot, friction), _of_passive_joints(robot) if counts else None
    if passive is None:
        return lambda q, qd, transmitted, torque: add_own(qd, transmitted, torque)
    add_passive, following = passive_friction_adder(passive, robot.nv), robot.following

    def add(q, qd, transmitted, torque) -> None:
        rows = following.motion(q).G.T
        add_passive(rows, qd, torque)
        if transmitted is not torque:
            add_passive(rows, qd, transmitted)
        add_own(qd, transmitted, torque)

    return add


def own_friction_adder(robot, friction: np.ndarray) -> Callable:
    """Return the compiled function of (qd, transmitted, torque), (n,) each, that adds friction of joints with a motor.

    The rows of ``friction`` (8, n) are the fields of ``model.Friction``; it may change later.
    """
    vectors = (np.zeros(robot.nv),) * 3
    if not robot.model.motor_coupling:
        return bound(add_friction, friction, then=vectors)
    return bound(add_coupled_friction, friction, robot.model.motor_velocities(), np.zeros(robot.nv), then=vectors)


def passive_friction_adder(friction: np.ndarray, driven: int) -> Callable:
    """Return ``add_passive_friction`` of ``driven`` joints as a compiled function of (rows, qd, torque)."""
    vector = np.zeros(driven)
    return bound(add_passive_friction, friction, then=(np.zeros((driven, friction.shape[1])), vector, vector))


def friction_along(robot, q: np.ndarray) -> Callable[..., np.ndarray]:
    """Return the function of (qd, transmitted), (..., n) each, that computes friction torques at positions q (..., n).

    It is that of ``Robot.friction_torque``, which depends on q where joints without a motor have friction.
    """
    along = getattr(robot, 'friction_along', None)
    return robot.friction_torque if along is None else along(q)


def has_friction(robot) -> bool:
    """Return whether a joint of a robot has friction."""
    own = any(getattr(robot.friction, field).any() for field in FRICTIONAL)
    return own or _of_passive_joints(robot) is not None


def dry_friction(robot, q: np.ndarray) -> np.ndarray:
    """Return the Coulomb and Stribeck friction (n; N m, N) of a robot at rest at q (n)."""
    own = robot.friction.coulomb + robot.friction.stribeck
    if (passive := _of_passive_joints(robot)) is None:
        return own
    friction = Friction(*passive)
    return own + np.abs(robot.following.motion(q).G).T @ (friction.coulomb + friction.stribeck)


def static_friction(robot, q: np.ndarray, gravity: np.ndarray) -> np.ndarray:
    """Return the largest friction (n; N m, N) of a robot at rest at q (n) that transmits torques ``gravity`` (n)."""
    offset = robot.friction.offset
    if (passive := _of_passive_joints(robot)) is not None:
        offset = offset + robot.following.motion(q).G.T @ Friction(*passive).offset
    return dry_friction(robot, q) + robot.friction.load * np.abs(gravity) + np.abs(offset)


def frictionless(friction: Friction) -> Friction:
    """Return ``friction`` with zero for each of ``FRICTIONAL``."""
    return friction._replace(**dict.fromkeys(FRICTIONAL, np.zeros(len(friction.viscous))))


def _of_passive_joints(robot) -> np.ndarray | None:
    """Return the friction (8, n) of joints without a motor that depends on the position of a robot; None for none."""
    return getattr(robot, 'passive_friction', None)
