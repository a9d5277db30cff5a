"""Torques of the joints with a motor that produce a motion of a robot with closed loops."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.evaluation.evaluator import Evaluator
from robot_dynamics_ros.evaluation.loop_rank import independent_constraints

LEFT = 1e-6
"""Share of a demanded motion above which it counts as one that is not produced."""
ROUNDING = 1e-12
"""Share of the torques without loops below which a demanded torque is rounding."""


class _State(NamedTuple):
    """A motion at one state, in coordinates in which the mass matrix L L' is the identity: L' qdd and L^-1 tau."""

    where: str
    L: np.ndarray  # (nv, nv)
    J_L: np.ndarray  # (nv, r)         L^-1 J' of the independent constraints, by their numbers
    numbers: np.ndarray  # (r,)
    bias: np.ndarray  # (r,) 1/s^2     dJ/dt qd of these constraints
    qdd: np.ndarray  # (nv,)
    torques: np.ndarray  # (nv,)       of the tree, less those of springs and dampers


def actuated_torques(evaluator: Evaluator, q, qd, qdd, torques: np.ndarray, actuated) -> np.ndarray:
    """Return the least torques (..., nv) of the joints ``actuated`` that act as ``torques`` (..., nv) do.

    With N a basis of the velocities that keep the loops closed, N' tau = N' torques. Springs and dampers of closures
    act as well. ArgumentError names a loop where the loops allow nothing of the motion, and joints that cannot produce
    it.
    """
    columns = _velocities(evaluator, actuated)
    torques = torques - evaluator.result('spring_torque', q, qd)
    tau, batch = np.zeros_like(torques), torques.shape[:-1]
    rest = np.zeros(evaluator.arrays.nv)
    M, J, independent, bias, accelerations = (
        np.broadcast_to(array, (*batch, *array.shape[array.ndim - axes :]))
        for array, axes in (
            (evaluator.result('mass_matrix', q), 2),
            (evaluator.result('loop_jacobian', q), 2),
            (independent_constraints(evaluator, q), 1),
            (evaluator.result('loop_accelerations', q, qd, rest), 1),
            (np.asarray(qdd, float), 1),
        )
    )
    for index in np.ndindex(batch):
        numbers, L = np.flatnonzero(independent[index]), np.linalg.cholesky(M[index])
        state = _State(
            where=f'q{list(index)}' if index else 'q',
            L=L,
            J_L=np.linalg.solve(L, J[index][numbers].T),
            numbers=numbers,
            bias=bias[index][numbers],
            qdd=accelerations[index],
            torques=torques[index],
        )
        tau[index][columns] = _of_state(evaluator, state, columns, actuated)
    return tau


def _of_state(evaluator: Evaluator, state: _State, columns: np.ndarray, actuated) -> np.ndarray:
    """Return the torques of the velocities ``columns`` at one state."""
    L, r = state.L, len(state.numbers)
    # columns of Q: what the loops hold, then the velocities that keep them closed
    Q, R = np.linalg.qr(state.J_L, 'complete')
    whole = float(np.linalg.norm(np.linalg.solve(L, state.torques)))
    _check_allowed(evaluator, state, Q, R[:r], whole)
    motions = np.linalg.solve(L.T, np.eye(len(L)))
    # length of M^-1/2 e_k: the mobility of velocity k without loops
    mobility = np.linalg.norm(motions[columns], axis=1)
    N = motions @ Q[:, r:]
    wanted = N.T @ state.torques
    # singular values are relative to 1, and not to the largest one, which may be rounding
    U, sizes, V = np.linalg.svd(N[columns].T / mobility, full_matrices=False)
    rank = int((sizes > evaluator.model.loops.tolerance).sum())
    # V' D tau = S^-1 U' wanted: of all tau the least one
    Q_tau, R_tau = np.linalg.qr(mobility[:, None] * V[:rank].T)
    found = Q_tau @ np.linalg.solve(R_tau.T, U[:, :rank].T @ wanted / sizes[:rank])
    missed = float(np.linalg.norm(N[columns].T @ found - wanted))
    if missed > max(LEFT * float(np.linalg.norm(wanted)), ROUNDING * whole):
        names = f'joints {", ".join(actuated)}' if len(actuated) else 'empty list of joints'
        raise ArgumentError(f'{state.where}: the {names} cannot produce this motion here')
    return found


def _check_allowed(evaluator: Evaluator, state: _State, Q, R, whole: float) -> None:
    """Raise ArgumentError naming a loop where nothing is left of the demanded motion with closed loops.

    ``Q`` and ``R`` are factors of J_L, ``whole`` is the size of the torques without loops.
    """
    r = len(state.numbers)
    motion = Q.T @ (state.L.T @ state.qdd)
    # the part of it that J qdd = -dJ/dt qd does not fix
    held = motion[:r] + np.linalg.solve(R.T, state.bias)
    blocked = np.linalg.norm(held)
    if blocked > LEFT * whole and np.linalg.norm(motion[r:]) <= LEFT * blocked:
        errors = np.abs(R.T @ held) / np.linalg.norm(R, axis=0)
        name = evaluator.model.loops.constraint_names[state.numbers[int(np.argmax(errors))]]
        raise ArgumentError(f'{state.where}: {name} does not allow this motion here: no torque produces it')


def _velocities(evaluator: Evaluator, actuated) -> np.ndarray:
    """Return the indices in tau of the joints ``actuated``."""
    model = evaluator.model
    if isinstance(actuated, str) or not isinstance(actuated, Sequence):
        raise ArgumentError(f'actuated: expected a list of joint names, got {actuated!r:.80}')
    for joint in actuated:
        if joint not in model.joint_names:
            raise UnknownNameError(f'actuated: no joint {joint!r}; there are {", ".join(model.joint_names)}')
        if actuated.count(joint) > 1:
            raise ArgumentError(f'actuated: joint {joint!r} occurs twice')
    first = model.arrays.first
    numbers = [model.joint_names.index(joint) + 1 for joint in actuated]
    return np.array([k - 1 for i in numbers for k in range(first[i], first[i + 1])], int)
