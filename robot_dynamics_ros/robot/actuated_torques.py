"""Torques of the joints with a motor that produce a motion of a robot with closed loops."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ArgumentError, UnknownNameError, alternatives
from robot_dynamics_ros.robot.evaluator import Evaluator
from robot_dynamics_ros.robot.loop_rank import independent_constraints

LEFT = 1e-6
"""Share of a demanded motion above which it counts as one that is not produced."""
ROUNDING = 1e-12
"""Share of the torques without loops below which a demanded torque is rounding."""


class _Motion(NamedTuple):
    """A motion at one state, or motions at states (..., shape)."""

    M: np.ndarray  # (nv, nv)
    J: np.ndarray  # (m, nv)            of the constraints
    independent: np.ndarray  # (m,)     whether a constraint is
    bias: np.ndarray  # (m,) 1/s^2      dJ/dt qd
    qdd: np.ndarray  # (nv,)
    torques: np.ndarray  # (nv,)        of the tree, less those of springs and dampers


AXES = 2, 2, 1, 1, 1, 1
"""Number of axes of each array of a motion at one state."""


def actuated_torques(evaluator: Evaluator, q, qd, qdd, torques: np.ndarray, actuated) -> np.ndarray:
    """Return the least torques (..., nv) of the joints ``actuated`` that act as ``torques`` (..., nv) do.

    With N a basis of the velocities that keep the loops closed, N' tau = N' torques. Springs and dampers of closures
    act as well. ArgumentError names a loop where the loops allow nothing of the motion, and joints that cannot produce
    it.
    """
    columns = _velocities(evaluator, actuated)
    motions = _Motion(
        M=evaluator.result('mass_matrix', q),
        J=evaluator.result('loop_jacobian', q),
        independent=independent_constraints(evaluator, q),
        bias=evaluator.result('loop_accelerations', q, qd, np.zeros(evaluator.arrays.nv)),
        qdd=np.asarray(qdd, float),
        torques=torques - evaluator.result('spring_torque', q, qd),
    )
    tau, batch = np.zeros_like(motions.torques), motions.torques.shape[:-1]
    arrays = [
        np.broadcast_to(array, (*batch, *array.shape[array.ndim - axes :]))
        for array, axes in zip(motions, AXES, strict=True)
    ]
    for index in np.ndindex(batch):
        where = f'q{list(index)}' if index else 'q'
        tau[index][columns] = _of_state(evaluator, where, _Motion(*(it[index] for it in arrays)), columns, actuated)
    return tau


def _of_state(evaluator: Evaluator, where: str, motion: _Motion, columns: np.ndarray, actuated) -> np.ndarray:
    """Return the torques of the velocities ``columns`` at one state.

    The coordinates are those in which the mass matrix L L' is the identity: L' qdd, L^-1 tau and L^-1 J'.
    """
    L, numbers = np.linalg.cholesky(motion.M), np.flatnonzero(motion.independent)
    r = len(numbers)
    # columns of Q: what the loops hold, then the velocities that keep them closed
    Q, R = np.linalg.qr(np.linalg.solve(L, motion.J[numbers].T), 'complete')
    whole = float(np.linalg.norm(np.linalg.solve(L, motion.torques)))
    worst = _blocking_constraint(Q.T @ (L.T @ motion.qdd), motion.bias[numbers], R[:r], whole)
    if worst is not None:
        name = evaluator.model.loops.constraint_names[numbers[worst]]
        raise ArgumentError(f'{where}: {name} does not allow this motion here: no torque produces it')
    motions = np.linalg.solve(L.T, np.eye(len(L)))
    # length of M^-1/2 e_k: the mobility of velocity k without loops
    mobility = np.linalg.norm(motions[columns], axis=1)
    N = motions @ Q[:, r:]
    wanted = N.T @ motion.torques
    # singular values are relative to 1, and not to the largest one, which may be rounding
    U, sizes, V = np.linalg.svd(N[columns].T / mobility, full_matrices=False)
    rank = int((sizes > evaluator.model.loops.tolerance).sum())
    # V' D tau = S^-1 U' wanted: of all tau the least one
    Q_tau, R_tau = np.linalg.qr(mobility[:, None] * V[:rank].T)
    found = Q_tau @ np.linalg.solve(R_tau.T, U[:, :rank].T @ wanted / sizes[:rank])
    missed = float(np.linalg.norm(N[columns].T @ found - wanted))
    if missed > max(LEFT * float(np.linalg.norm(wanted)), ROUNDING * whole):
        names = f'joints {", ".join(actuated)}' if len(actuated) else 'empty list of joints'
        raise ArgumentError(f'{where}: the {names} cannot produce this motion here')
    return found


def _blocking_constraint(motion: np.ndarray, bias: np.ndarray, R: np.ndarray, whole: float) -> int | None:
    """Return the constraint, of the r independent ones, because of which nothing is left of a motion; None otherwise.

    ``motion`` is Q' L' qdd, R (r, r) are factors of L^-1 J', and ``whole`` is the size of the torques without loops.
    """
    r = len(bias)
    # the part of it that J qdd = -dJ/dt qd does not fix
    held = motion[:r] + np.linalg.solve(R.T, bias)
    blocked = np.linalg.norm(held)
    if blocked > LEFT * whole and np.linalg.norm(motion[r:]) <= LEFT * blocked:
        return int(np.argmax(np.abs(R.T @ held) / np.linalg.norm(R, axis=0)))
    return None


def _velocities(evaluator: Evaluator, actuated) -> np.ndarray:
    """Return the indices in tau of the joints ``actuated``."""
    model = evaluator.model
    if isinstance(actuated, str) or not isinstance(actuated, Sequence):
        raise ArgumentError(f'actuated: expected a list of joint names, got {actuated!r:.80}')
    for joint in actuated:
        if joint not in model.joint_names:
            raise UnknownNameError(f'actuated: no joint {joint!r}; {alternatives(joint, model.joint_names)}')
        if actuated.count(joint) > 1:
            raise ArgumentError(f'actuated: joint {joint!r} occurs twice')
    first = model.arrays.first
    numbers = [model.joint_names.index(joint) + 1 for joint in actuated]
    return np.array([k - 1 for i in numbers for k in range(first[i], first[i + 1])], int)
