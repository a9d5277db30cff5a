"""Torques of a simulation: none, an array, a function of time and state, or a control law."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.law import Law, MeasuredState, Outcome
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

Torque = ArrayLike | Callable[..., ArrayLike] | Law
"""Torques that ``simulate`` accepts."""
TorqueFunction = Callable[[float, np.ndarray, np.ndarray], Any]
"""Returns torques (..., nv) at a time (s) for positions (..., nq) and velocities (..., nv)."""


class HeldRows:
    """Torques (states or 1, steps or 1, nv; N m, N), one row a step: held during the step."""

    is_held = True

    def __init__(self, rows: np.ndarray, step: float):
        """Store the rows; ``step`` is their period, s."""
        self.rows, self._step = rows, step

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the torques (states or 1, nv) of the step that begins at ``t``."""
        return self.rows[:, min(round(t / self._step), self.rows.shape[1] - 1)]


class FunctionOfState:
    """Torques by a function of time and state, which is called for each stage of a step."""

    is_held = False

    def __init__(self, function: TorqueFunction, batch: tuple[int, ...], robot: Robot):
        """Store the function; ``batch`` is the shape of the states."""
        self._function, self._batch, self._shape = function, batch, (*batch, robot.nv)

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the torques (states, nv) at ``t`` for states in rows; ArgumentError for a wrong result."""
        tau = self._function(t, *(rows.reshape(*self._batch, rows.shape[-1]).copy() for rows in (q, qd)))
        is_ready = isinstance(tau, np.ndarray) and tau.shape == self._shape and tau.dtype == np.float64
        if not is_ready or not np.isfinite(tau).all():
            tau = self._converted(f'torque({t:g}, q, qd)', tau)
        return tau.reshape(-1, self._shape[-1])

    def _converted(self, name: str, value) -> np.ndarray:
        """Return torques of the shape of all states; ArgumentError with ``name`` for a wrong shape, NaN or inf."""
        tau, shape = validation.numbers(name, value), self._shape
        if tau.shape[-1:] != shape[-1:] or tau.ndim > len(shape) or not _broadcasts(tau.shape, shape):
            raise ArgumentError(f'{name}: expected shape {shape}, got {tau.shape}')
        validation.check_finite(name, tau)
        return np.broadcast_to(tau, shape)


class ControlledByLaw:
    """Torques by a control law, computed at the beginning of each step and held; zero while the law is idle."""

    is_held = True

    def __init__(self, law: Law, robot: Robot):
        """Prepare the law for a new motion."""
        self._law = law
        self._state = MeasuredState(np.zeros(robot.nq), np.zeros(robot.nv))
        self._state.has_velocity = True
        self._torque = np.zeros(robot.nv)
        law.stop_following()

    def __call__(self, t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Return the torque (1, nv) for one state in rows; ArgumentError if the law lacks an input."""
        state = self._state
        state.q[:], state.qd[:] = q[0], qd[0]
        state.stamp = state.time = round(1e9 * t)
        state.passing = t
        self._torque[:] = 0.0
        result = self._law.torque(state, self._torque)
        state.resumed, state.pause = False, 0.0
        if result.outcome == Outcome.INCOMPLETE:
            raise ArgumentError(f'torque: the control law has no torque at {t:g} s: {result.reason}')
        if result.outcome == Outcome.IDLE:
            self._torque[:] = 0.0
        validation.check_finite(f'torque of the control law at {t:g} s', self._torque)
        return self._torque[None]


TorqueInput = HeldRows | FunctionOfState | ControlledByLaw


def is_law(torque) -> bool:
    """Return whether a torque is a control law."""
    return hasattr(torque, 'torque') and hasattr(torque, 'set_back')


def torque_input(robot: Robot, torque, batch: tuple[int, ...], steps: int, step: float) -> TorqueInput:
    """Return the torques of a simulation of ``steps`` steps; ArgumentError for one of another type or shape."""
    if torque is None:
        return HeldRows(np.zeros((1, 1, robot.nv)), step)
    if is_law(torque):
        if batch:
            raise ArgumentError(f'torque: a control law controls one state, got a batch of shape {batch}')
        return ControlledByLaw(torque, robot)
    if callable(torque):
        return FunctionOfState(torque, batch, robot)
    rows = validation.numbers('torque', torque)
    if rows.ndim == 1:
        rows = rows[None]
    shape = (*batch, steps, robot.nv)
    if rows.ndim < 2 or rows.shape[-1] != robot.nv:
        raise ArgumentError(f'torque: expected {robot.nv} torques a row, got shape {np.shape(torque)}')
    if rows.shape[-2] not in (1, steps):
        raise ArgumentError(f'torque: expected one row, or one for each of {steps} steps, got shape {np.shape(torque)}')
    if rows.ndim > len(shape) or not _broadcasts(rows.shape[:-2], batch):
        raise ArgumentError(f'torque: shape {rows.shape} does not broadcast to {shape}')
    validation.check_finite('torque', rows)
    if rows.ndim > 2:
        rows = np.broadcast_to(rows, (*batch, *rows.shape[-2:]))
    return HeldRows(np.ascontiguousarray(rows.reshape(-1, *rows.shape[-2:])), step)


def _broadcasts(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Return whether arrays of ``shape`` broadcast to ``wanted``."""
    try:
        return np.broadcast_shapes(shape, wanted) == wanted
    except ValueError:
        return False
