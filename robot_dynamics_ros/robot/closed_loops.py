"""Dynamics of closed loops: constraints, mobility, closing, impacts, multipliers and closure torques."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError, LoopError, UnknownNameError, alternatives
from robot_dynamics_ros.model.configuration import integrate
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.robot.described_robot import DescribedRobot
from robot_dynamics_ros.robot.evaluator import Evaluator, written
from robot_dynamics_ros.robot.loop_rank import (
    independent_constraints,
    steps_of_constraints,
    units_of_constraints,
    units_of_velocities,
)
from robot_dynamics_ros.robot.shared_parameters import documented

CLOSED = 1e-13
"""rad, or relative to the robot's characteristic length. Newton's method doubles the number of right digits: below this
nothing more is gained."""
OPEN = 1e-9
"""In the same units. What is left of errors where the numbers of a large robot have no further digits."""
LONGEST_STEP = 0.5
"""In the same units. Farther away Newton's method may turn a joint over."""
STEPS_OF_LEAST_ENERGY = 30
"""After these, steps are the shortest ones: those of least kinetic energy turn light links at the end of a long chain
far, and a cable of 100 links needed up to 621 of them (2026-11-22)."""
MOST_STEPS = 100


class ClosedState(NamedTuple):
    """A state with closed loops."""

    q: np.ndarray  # (..., nq) rad, m
    qd: np.ndarray | None  # (..., nv) rad/s, m/s; None where no velocities were given


@documented()
class ClosedLoops(DescribedRobot):
    """Constraints of closed loops, see ``Robot.with_loops``: residuals, Jacobian, multipliers, and closed states."""

    def loop_errors(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Residuals e(q) of the loop constraints, zero where loops are closed. Featherstone & Orin 2000, eq. 16.

        Parameters
        ----------
        q
        out

        Returns
        -------
        ndarray, (..., m)
            rad for rotations, m for others; per s, s^2. Closures, then couplings.
        """
        return self._evaluate('loop_errors', self._inputs, out, q)

    def loop_jacobian(self, q: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Jacobian J(q) of the constraints: the residuals have the rates J qd. Featherstone & Orin 2000, eq. 17.

        Parameters
        ----------
        q
        out

        Returns
        -------
        ndarray, (..., m, nv)
            rad, m per rad (prismatic: m).
        """
        return self._evaluate('loop_jacobian', self._inputs, out, q)

    def loop_rates(self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Rates J qd of the residuals.

        Parameters
        ----------
        q
        qd
        out

        Returns
        -------
        ndarray, (..., m)
            rad for rotations, m for others; per s, s^2. Closures, then couplings.
        """
        return self._evaluate('loop_rates', self._inputs, out, q, qd)

    def loop_accelerations(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Accelerations J qdd + dJ/dt qd of the residuals. Featherstone & Orin 2000, eq. 17.

        Parameters
        ----------
        q
        qd
        qdd
        out

        Returns
        -------
        ndarray, (..., m)
            rad for rotations, m for others; per s, s^2. Closures, then couplings.
        """
        return self._evaluate('loop_accelerations', self._inputs, out, q, qd, qdd)

    def mobility(self, q: ArrayLike) -> np.ndarray:
        """Number of independent velocities (...) at q: nv minus the rank of the constraint Jacobian.

        It changes where the mechanism passes a singular position. Constraints are independent by the rank test of
        ``forward_dynamics``, with the tolerance of ``with_loops``. Raises ModelError for a joint without inertia.

        Parameters
        ----------
        q

        Returns
        -------
        ndarray, (...)
            Integers, without unit.
        """
        return self.nv - independent_constraints(self._evaluator, q).sum(-1)

    def close_loops(self, q: ArrayLike, qd: ArrayLike | None = None) -> ClosedState:
        """Positions with closed loops near q, and velocities near qd that keep them closed: (q, qd), both new.

        Newton's method with the steps of least kinetic energy; velocities are projected as by ``impact``. Raises
        LoopError naming a loop that stays open, for instance because the links are too short. Constraints that depend
        on others may stay open by the tolerance of ``with_loops``, in rad or relative to the robot's largest distance
        of joints.

        Parameters
        ----------
        q
        qd

        Returns
        -------
        ClosedState
        """
        evaluator, model = self._evaluator, self._model
        (positions,), shape = evaluator.states(q=q)
        constraint_units, step_units = units_of_constraints(model), units_of_velocities(model)
        for count in range(MOST_STEPS):
            errors = self.loop_errors(positions)
            if (np.abs(errors) <= CLOSED * constraint_units).all():
                break
            if count < STEPS_OF_LEAST_ENERGY:
                step = evaluator.result('loop_step', positions, -errors)
            else:
                step = _shortest_step(evaluator, positions, errors)
            largest = np.abs(step / step_units).max(-1, initial=0.0, keepdims=True)
            if (largest <= CLOSED).all():
                # only residuals of dependent constraints are left
                break
            part = np.minimum(1.0, LONGEST_STEP / np.maximum(largest, LONGEST_STEP))
            positions = integrate(model.arrays, positions, step * part)
        closed = positions.reshape(*shape, self.nq)
        _check_closed(evaluator, closed)
        return ClosedState(closed, None if qd is None else self.impact(closed, qd))

    def impact(self, q: ArrayLike, qd: ArrayLike, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Velocities after an impact that stops the rates of the loops: of all such velocities the nearest to ``qd``.

        qd - M^-1 J' (J M^-1 J')^-1 J qd: no other impulse acts, and no kinetic energy is gained.

        Parameters
        ----------
        q
        qd
        out

        Returns
        -------
        ndarray, (..., nv)
            rad/s (prismatic: m/s).
        """
        step = self._evaluator.result('loop_step', q, -self.loop_rates(q, qd))
        return written(out, np.add(qd, step))

    def closing_step(
        self, q: ArrayLike, change: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Positions after a Newton step that closes the loops, and residuals and ranks before it.

        Where constant couplings hold driven joints at 0, ``change`` has the positions that they shall have, and the
        step leads all other joints there. Featherstone & Orin 2000, eq. 21, for steps.

        Parameters
        ----------
        q
        change : array_like, (..., m)
            Residuals that are wanted, rad for rotations, m for others.
        out

        Returns
        -------
        ndarray, (..., nq + 2 m)
            Positions, rad, m; residuals less ``change``, rad for rotations, m for others; and the share, squared and
            without unit, that the constraints before it leave of the effect of each one: 0 for a dependent one.
        """
        return self._evaluate('closing_step', self._inputs, out, q, change)

    def driven_motion(
        self, q: ArrayLike, rates: ArrayLike, accelerations: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Motion of all joints, which the loops and constant couplings of the driven joints fix.

        Parameters
        ----------
        q
        rates : array_like, (..., m)
            Rates of the residuals: of constant couplings the velocities of their joints, else zero; rad/s, m/s.
        accelerations : array_like, (..., m)
            Likewise their accelerations, rad/s^2, m/s^2.
        out

        Returns
        -------
        ndarray, (..., couplings + 2, nv)
            For each constant coupling the motion of all joints per motion of its joint; qd (rad/s, m/s); qdd (rad/s^2,
            m/s^2). Featherstone & Orin 2000, eq. 17 and 21.
        """
        return self._evaluate('driven_motion', self._inputs, out, q, rates, accelerations)

    def constraint_forces(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Multipliers lambda of the constraints under joint torques: M qdd + c + g = tau + tau_a + J' lambda.

        Where constraints depend on each other, those of least norm. Closures act on B in the axes of A, at the origin
        of B. Featherstone & Orin 2000, eq. 19 to 21.

        Parameters
        ----------
        q
        qd
        tau
        out

        Returns
        -------
        ndarray, (..., m)
            N m for rotations, N for others. Closures, then couplings.
        """
        return written(out, _multipliers(self._evaluator, q, qd, tau))

    def closure_torque(
        self, q: ArrayLike, torques: Mapping[str, ArrayLike], out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Joint torques tau_a of motors in closing joints, to be added to tau. Featherstone & Orin 2000, eq. 19.

        ``torques`` act on B about the z axis of A, with their reaction on A.

        Parameters
        ----------
        q
        torques : mapping
            Torque in N m, (...), by the name of a closure.
        out

        Returns
        -------
        ndarray, (..., nv)
            N m (prismatic: N).
        """
        return self._evaluate('closure_torque', self._inputs, out, q, _torques_of_closures(self._model, torques))


def _multipliers(evaluator: Evaluator, q, qd, tau) -> np.ndarray:
    """Return the forces lambda (..., m) of least norm for J' lambda = ID(q, qd, qdd) - tau - tau_a."""
    qdd = evaluator.result('forward_dynamics', q, qd, tau)
    torques = evaluator.result('inverse_dynamics', q, qd, qdd) - tau
    torques -= evaluator.result('spring_torque', q, qd)
    J, steps = evaluator.result('loop_jacobian', q), steps_of_constraints(evaluator, q)
    forces = np.zeros((*torques.shape[:-1], evaluator.arrays.constraints))
    for _ in range(2):
        # the second round removes what rounding left of the torques
        missing = torques - (np.swapaxes(J, -1, -2) @ forces[..., None])[..., 0]
        forces += (steps @ missing[..., None])[..., 0]
    J, steps = (np.broadcast_to(array, (*forces.shape[:-1], *array.shape[-2:])) for array in (J, steps))
    for index in np.ndindex(forces.shape[:-1]):
        if not steps[index].any(-1).all():
            forces[index] = _least(forces[index], steps[index], J[index])
    return forces


def _torques_of_closures(model: Model, torques) -> np.ndarray:
    """Return ``torques`` by the names of closures, each (...) N m, as an array (..., closures)."""
    closures = [closure.name for closure in model.loops.closures]
    if not isinstance(torques, Mapping):
        raise ArgumentError(f'torques: expected a mapping from names of closures, got {torques!r:.80}')
    given = {name: validation.numbers(f'torques[{name!r}]', value) for name, value in torques.items()}
    for name, value in given.items():
        if name not in closures:
            raise UnknownNameError(f'torques: no closure {name!r}; {alternatives(name, closures)}')
        validation.check_finite(f'torques[{name!r}]', value)
    try:
        shape = np.broadcast_shapes(*(value.shape for value in given.values()))
    except ValueError:
        shapes = ', '.join(f'{name!r} {value.shape}' for name, value in given.items())
        raise ArgumentError(f'torques: batch shapes do not broadcast: {shapes}') from None
    of_closures = np.zeros((*shape, len(closures)))
    for name, value in given.items():
        of_closures[..., closures.index(name)] = value
    return of_closures


def _shortest_step(evaluator: Evaluator, q, errors) -> np.ndarray:
    """Return shortest steps (count, nv) that remove errors (count, m) of independent constraints at q (count, nq)."""
    J, unit = evaluator.result('loop_jacobian', q), units_of_constraints(evaluator.model)
    independent = np.where(independent_constraints(evaluator, q)[..., None], J / unit[:, None], 0.0)
    inverse = np.linalg.pinv(independent, rcond=evaluator.model.loops.tolerance)
    return -(inverse @ (errors / unit)[..., None])[..., 0]


def _least(forces: np.ndarray, steps: np.ndarray, J: np.ndarray) -> np.ndarray:
    """Return the forces (m,) of least norm with the same torques J' forces.

    ``steps`` (m, nv) are those of ``steps_of_constraints``: dependent constraints J_d = C J_a, of the independent ones
    J_a.
    """
    independent = steps.any(-1)
    # J' Z = 0
    Z = np.zeros((len(forces), int((~independent).sum())))
    Z[~independent] = np.eye(Z.shape[1])
    Z[independent] = -(J[~independent] @ steps[independent].T).T
    return forces - Z @ np.linalg.lstsq(Z, forces, rcond=None)[0]


def _check_closed(evaluator: Evaluator, q: np.ndarray) -> None:
    """Raise LoopError naming the loop that is open at q (..., nq).

    Residuals of independent constraints are rounding; those of dependent ones are up to the tolerance of the loops.
    """
    errors = evaluator.result('loop_errors', q)
    sizes = np.abs(errors) / units_of_constraints(evaluator.model)
    if (sizes <= OPEN).all():
        return
    excess = sizes / np.where(independent_constraints(evaluator, q), OPEN, evaluator.model.loops.tolerance)
    *index, worst = (int(k) for k in np.unravel_index(np.argmax(excess), errors.shape))
    if excess[(*index, worst)] > 1.0:
        where = f'q{index}' if index else 'q'
        raise LoopError(
            f'{where}: {evaluator.model.loops.constraint_names[worst]} cannot be closed from here; '
            f'it stays open by {abs(errors[(*index, worst)]):.3g}'
        )
