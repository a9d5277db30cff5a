"""Adaptive steps by ``scipy.integrate.solve_ivp``: Dormand and Prince's method of order 8."""

import numpy as np
from scipy.integrate import solve_ivp

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.configuration import derivative
from robot_dynamics_ros.simulation.loop_projection import STANDSTILL
from robot_dynamics_ros.simulation.simulation_setup import Samples, Setup
from robot_dynamics_ros.simulation.step_arrays import Buffers
from robot_dynamics_ros.simulation.time_steps import subtract_friction

METHOD = 'DOP853'


def adaptive_motion(setup: Setup, tolerance: float) -> Samples:
    """Return the samples of all states, one after the other.

    ``tolerance`` bounds the estimated error of a step, relative to each coordinate and in SI units. Quaternions are
    integrated as four coordinates and normalised wherever they are used. A held torque is constant during each step of
    the plan, where the integration begins anew. Loops are closed again in the samples.
    ArgumentError names the time at which the state is not finite.
    """
    q, qd, work = setup.samples()
    for b in range(len(setup.q)):
        _Motion(setup, b, tolerance).write(q[:, b], qd[:, b], work[:, b])
    return q, qd, work


class _Motion:
    """The motion from one start state; y has positions, velocities and work."""

    def __init__(self, setup: Setup, b: int, tolerance: float):
        """Prepare state ``b``."""
        self._setup, self._b, self._tolerance = setup, b, tolerance
        self._arrays, self._nq = setup.robot.model.arrays, setup.robot.nq
        self._buffers = Buffers.of(setup.plan, 1, setup.robot.nq, setup.robot.nv)
        self._held = np.zeros(setup.robot.nv)
        self._subtract = bound(subtract_friction, np.array(setup.robot.friction), self._buffers, then=(0,))

    def write(self, q, qd, work) -> None:
        """Write the samples of the motion."""
        plan, torque = self._setup.plan, self._setup.torque
        y = np.concatenate([q[0], qd[0], [0.0]])
        times = plan.h * np.arange(plan.steps + 1)
        is_constant = torque.is_held and len(getattr(torque, 'rows', ((),))[0]) == 1
        pieces = 1 if is_constant or not torque.is_held else plan.steps
        for first in range(0, plan.steps, plan.steps // pieces):
            last = first + plan.steps // pieces
            if torque.is_held:
                self._held = self._torque_at(times[first], y)
            samples = np.arange(first + 1, last + 1)
            samples = samples[samples % plan.every == 0]
            solved = self._solved(y, times[first], times[last], times[samples])
            if plan.projection:
                ends = np.array([self._position(row) for row in solved]), solved[:, self._nq : -1]
                closed = self._setup.robot.close_loops(*ends)
                self._record(closed.qd - ends[1], closed.qd, np.append(samples, last))
                solved[:, : self._nq], solved[:, self._nq : -1] = closed
            y = solved[-1]
            for k, row in zip(samples // plan.every, solved, strict=False):
                q[k], qd[k], work[k] = self._position(row), row[self._nq : -1], row[-1]

    def _record(self, changes, qd, steps) -> None:
        """Write the largest change of velocities (samples, nv) by closing loops, and the number of its step."""
        jumps = np.abs(changes).max(1) / np.maximum(np.abs(qd).max(1), STANDSTILL)
        k = int(np.argmax(jumps))
        if jumps[k] > self._setup.jumps[0, self._b]:
            self._setup.jumps[:, self._b] = jumps[k], steps[k]

    def _solved(self, y, start: float, end: float, times) -> np.ndarray:
        """Return y at ``times`` and at the end."""
        with np.errstate(over='ignore', invalid='ignore'):
            solution = solve_ivp(
                self._derivative,
                (start, end),
                y,
                method=METHOD,
                t_eval=[*times[times < end], end],
                rtol=self._tolerance,
                atol=self._tolerance,
            )
        if solution.status != 0 or not np.isfinite(solution.y).all():
            raise ArgumentError(
                f'simulation: no step from {solution.t[-1] if len(solution.t) else start:g} s on is within the '
                f'tolerance of {self._tolerance:g}: {solution.message}'
            )
        return solution.y.T

    def _derivative(self, t: float, y) -> np.ndarray:
        """Return dy/dt."""
        q, qd, x, setup = self._position(y), y[self._nq : -1], self._buffers, self._setup
        x.tau[:] = self._held if setup.torque.is_held else self._torque_at(t, y)
        net = x.tau
        if setup.plan.friction:
            x.qd[0] = qd
            self._subtract(0)
            net = x.net
        qdd = setup.forward_dynamics(t, q[None], qd[None], net[None], slice(self._b, self._b + 1))[0]
        return np.concatenate([derivative(self._arrays, q, qd), qdd, [net @ qd]])

    def _torque_at(self, t: float, y) -> np.ndarray:
        """Return the applied torque (nv)."""
        torque = self._setup.torque(t, self._position(y)[None], y[None, self._nq : -1])
        return torque[min(self._b, len(torque) - 1)]

    def _position(self, y) -> np.ndarray:
        """Return the position (nq) with quaternions of length 1."""
        q = y[: self._nq].copy()
        for k in self._arrays.quaternions:
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return q
