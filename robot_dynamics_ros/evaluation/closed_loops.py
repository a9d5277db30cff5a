"""Quantities of closed loops that need several evaluations: mobility, closing, impacts, forces and torques."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError, LoopError, UnknownNameError
from robot_dynamics_ros.evaluation.evaluator import Evaluator
from robot_dynamics_ros.model.configuration import integrate

RANK = 1e-8
"""Smallest over largest singular value of the Jacobian above which a direction counts, as in ``loop_solution``."""
WITHOUT_EFFECT = 1e-12
"""Length of a row of the Jacobian over the longest one, below which it is rounding: axes in space are not exact."""
CLOSED = 1e-13
"""m, rad. Newton's method doubles the number of right digits: below this nothing more is gained."""
OPEN = 1e-9
"""m, rad. What is left of errors where the numbers of a large robot have no further digits."""
LONGEST_STEP = 0.5
"""rad, m. Farther away Newton's method may turn a joint over."""
STEPS_OF_LEAST_ENERGY = 30
"""After these, steps are the shortest ones: those of least kinetic energy turn light links at the end of a long chain
far, and a cable of 100 links needed up to 621 of them (2026-11-22)."""
MOST_STEPS = 100
LEFT = 1e-6
"""N m per N m. Share of the demanded torque above which given joints do not produce a motion."""
ROUNDING = 1e-12
"""N m per N m. Share of the torques without loops below which a demanded torque is rounding."""


class ClosedState(NamedTuple):
    """A state with closed loops."""

    q: np.ndarray  # (..., nq) rad, m
    qd: np.ndarray | None  # (..., nv) rad/s, m/s; None where no velocities were given


def mobility(evaluator: Evaluator, q) -> np.ndarray:
    """Return the number of independent velocities (...) at q (..., nq)."""
    J = evaluator.evaluate('loop_jacobian', evaluator.load, None, q)
    if not evaluator.arrays.rows:
        return np.full(J.shape[:-2], evaluator.arrays.nv)
    sizes = np.linalg.svd(_scaled(J), compute_uv=False)
    return evaluator.arrays.nv - (sizes > RANK * sizes[..., :1]).sum(-1)


def close_loops(evaluator: Evaluator, q, qd) -> ClosedState:
    """Return the nearest positions (..., nq) with closed loops, and velocities (..., nv) that keep them closed."""
    load, arrays = evaluator.load, evaluator.arrays
    (rows,), shape = evaluator.states(q=q)
    for count in range(MOST_STEPS):
        errors = evaluator.evaluate('loop_errors', load, None, rows)
        if np.abs(errors).max(initial=0.0) <= CLOSED:
            break
        if count < STEPS_OF_LEAST_ENERGY:
            step = evaluator.evaluate('loop_step', load, None, rows, -errors)
        else:
            J = evaluator.evaluate('loop_jacobian', load, None, rows)
            step = -(np.linalg.pinv(J, rcond=RANK) @ errors[..., None])[..., 0]
        largest = np.abs(step).max(-1, initial=0.0, keepdims=True)
        rows = integrate(arrays, rows, step * np.minimum(1.0, LONGEST_STEP / np.maximum(largest, LONGEST_STEP)))
    _check_closed(evaluator, evaluator.evaluate('loop_errors', load, None, rows).reshape(*shape, arrays.rows))
    closed = rows.reshape(*shape, arrays.nq)
    return ClosedState(closed, None if qd is None else impact(evaluator, closed, qd))


def impact(evaluator: Evaluator, q, qd, out=None) -> np.ndarray:
    """Return the velocities (..., nv) after the loops close suddenly."""
    change = -evaluator.evaluate('loop_rates', evaluator.load, None, q, qd)
    step = evaluator.evaluate('loop_step', evaluator.load, None, q, change)
    given, _ = validation.result(out, step.shape)
    return np.add(qd, step, out=given)


def constraint_forces(evaluator: Evaluator, q, qd, tau) -> np.ndarray:
    """Return the forces lambda (..., m) of least norm for J' lambda = ID(q, qd, qdd) - tau - tau_a."""
    load = evaluator.load
    qdd = evaluator.evaluate('forward_dynamics', load, None, q, qd, tau)
    torques = evaluator.evaluate('inverse_dynamics', load, None, q, qd, qdd) - tau
    torques -= evaluator.evaluate('spring_torque', load, None, q, qd)
    J = evaluator.evaluate('loop_jacobian', load, None, q)
    return (np.linalg.pinv(np.swapaxes(J, -1, -2), rcond=RANK) @ torques[..., None])[..., 0]


def closing_torque(evaluator: Evaluator, q, torques, out=None) -> np.ndarray:
    """Return the joint torques (..., nv) of ``torques`` by the names of closures, each (...) N m about z of A."""
    closures = [closure.name for closure in evaluator.model.loops.closures]
    if not isinstance(torques, Mapping):
        raise ArgumentError(f'torques: expected a mapping from names of closures, got {torques!r:.80}')
    given = {name: validation.numbers(f'torques[{name!r}]', value) for name, value in torques.items()}
    for name, value in given.items():
        if name not in closures:
            raise UnknownNameError(f'torques: no closure {name!r}; there are {", ".join(closures) or "none"}')
        validation.check_finite(f'torques[{name!r}]', value)
    try:
        shape = np.broadcast_shapes(*(value.shape for value in given.values()))
    except ValueError:
        shapes = ', '.join(f'{name!r} {value.shape}' for name, value in given.items())
        raise ArgumentError(f'torques: batch shapes do not broadcast: {shapes}') from None
    rows = np.zeros((*shape, len(closures)))
    for name, value in given.items():
        rows[..., closures.index(name)] = value
    return evaluator.evaluate('closing_torque', evaluator.load, out, q, rows)


def actuated_torques(evaluator: Evaluator, q, qd, torques: np.ndarray, actuated) -> np.ndarray:
    """Return the least torques (..., nv) of the joints ``actuated`` that act as ``torques`` (..., nv) do.

    With N a basis of the velocities that keep the loops closed, N' tau = N' torques. Springs and dampers of closures
    act as well.
    """
    columns = _velocities(evaluator, actuated)
    load = evaluator.load
    torques = torques - evaluator.evaluate('spring_torque', load, None, q, qd)
    J = np.broadcast_to(
        evaluator.evaluate('loop_jacobian', load, None, q),
        (*torques.shape[:-1], evaluator.arrays.rows, torques.shape[-1]),
    )
    tau = np.zeros_like(torques)
    for index in np.ndindex(torques.shape[:-1]):
        N = _null_space(J[index])
        wanted = N.T @ torques[index]
        # singular values of a part of N are relative to 1, and not to the largest one, which may be rounding
        U, sizes, V = np.linalg.svd(N[columns].T, full_matrices=False)
        found = V.T @ np.divide(U.T @ wanted, sizes, out=np.zeros_like(sizes), where=sizes > RANK)
        missed = np.abs(N[columns].T @ found - wanted).max(initial=0.0)
        if missed > max(LEFT * np.abs(wanted).max(initial=0.0), ROUNDING * np.abs(torques[index]).max(initial=0.0)):
            where = f'q{list(index)}' if index else 'q'
            names = f'joints {", ".join(actuated)}' if len(actuated) else 'empty list of joints'
            raise ArgumentError(f'{where}: the {names} cannot produce this motion here')
        tau[index][columns] = found
    return tau


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


def _null_space(J: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis (nv, f) of the velocities without effect on the rows of J (m, nv)."""
    _, sizes, V = np.linalg.svd(_scaled(J))
    rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
    return V[rank:].T


def _scaled(J: np.ndarray) -> np.ndarray:
    """Return J (..., m, nv) with rows of length 1; rows without effect, which are zero or rounding, are zero."""
    length = np.linalg.norm(J, axis=-1, keepdims=True)
    longest = length.max(-2, initial=0.0, keepdims=True)
    return np.divide(J, length, out=np.zeros_like(J), where=length > WITHOUT_EFFECT * longest)


def _check_closed(evaluator: Evaluator, errors: np.ndarray) -> None:
    """Raise LoopError naming the loop that is open by more than rounding in errors (..., m)."""
    if not errors.size or np.abs(errors).max() <= OPEN:
        return
    *index, row = (int(k) for k in np.unravel_index(np.argmax(np.abs(errors)), errors.shape))
    where = f'q{index}' if index else 'q'
    raise LoopError(
        f'{where}: {evaluator.model.loops.row_names[row]} cannot be closed from here; '
        f'it stays open by {abs(errors[(*index, row)]):.3g}'
    )
