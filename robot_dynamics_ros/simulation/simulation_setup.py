"""Setup of a simulation: validated arguments, and the arrays of its states."""

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.described_robot import evaluator_of
from robot_dynamics_ros.simulation.loop_projection import STANDSTILL
from robot_dynamics_ros.simulation.step_arrays import Buffers, Plan, Stops
from robot_dynamics_ros.simulation.torque_inputs import TorqueInput

Samples = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Samples of all states: q (samples, count, nq), qd (samples, count, nv) and work (samples, count)."""


@dataclass(frozen=True)
class Setup:
    """A simulation of ``count`` start states in rows."""

    robot: Robot
    plan: Plan
    torque: TorqueInput
    stops: Stops
    q: np.ndarray  # (count, nq) rad, m
    qd: np.ndarray  # (count, nv)
    wrenches: dict[str, np.ndarray] | np.ndarray | None  # (count, 6) of each link, or (count, links, 6)
    reference_frame: str
    jumps: np.ndarray  # (2, count)    largest change of velocities by closing loops, relative, and its step number

    def samples(self) -> Samples:
        """Return arrays for the samples of all states, with the start in the first ones.

        Raises ArgumentError where they are too large for the memory.
        """
        count, samples = len(self.q), self.plan.steps // self.plan.every + 1
        try:
            q, qd = (np.empty((samples, *rows.shape)) for rows in (self.q, self.qd))
            work = np.zeros((samples, count))
        except (MemoryError, ValueError):
            raise ArgumentError(
                f'every: {samples} samples of {count} states are too large for the memory; choose a larger one, or a '
                f'larger step than {self.plan.h:g} s'
            ) from None
        q[0], qd[0] = self.q, self.qd
        return q, qd, work

    def start(self, x: Buffers, states: slice) -> None:
        """Write the start of some of the states; copies of the last one follow where ``x`` has more rows."""
        rows = np.arange(len(x.u) // self.robot.nv) + states.start
        rows = np.minimum(rows, states.stop - 1)
        x.q[:], x.qd[0], x.work[:] = self.q[rows].ravel(), self.qd[rows].ravel(), 0.0
        x.jump[:2], x.jump[2] = 0.0, STANDSTILL

    def forward_dynamics(self, t: float, q, qd, tau, states: slice, out=None) -> np.ndarray:
        """Return qdd (count, nv) of some of the states at the time t (s), which an error names."""
        wrenches = self.wrenches
        if isinstance(wrenches, dict):
            wrenches = {link: rows[states] for link, rows in wrenches.items()}
        elif wrenches is not None:
            wrenches = wrenches[states]
        try:
            return self.robot.forward_dynamics(q, qd, tau, wrenches, out, self.reference_frame)
        except (ArgumentError, ModelError) as error:
            raise _not_finite(t, error) from None

    def evaluate(self, t: float, name: str, out, *vectors) -> np.ndarray:
        """Return a quantity of states at the time t (s), which an error names."""
        evaluator = evaluator_of(self.robot)
        try:
            return evaluator.evaluate(name, evaluator.inputs, out, *vectors)
        except (ArgumentError, ModelError) as error:
            raise _not_finite(t, error) from None

    def check_finite(self, q: np.ndarray, qd: np.ndarray, step: int, first: int) -> None:
        """Raise ArgumentError unless all states, q (count, nq) and qd (count, nv), are finite at a sample.

        ``first`` is the number of the first of these states.
        """
        finite = np.isfinite(q).all(axis=1) & np.isfinite(qd).all(axis=1)
        if not finite.all():
            state = f' of start state {first + int(np.argmin(finite))}' if len(self.q) > 1 else ''
            h, between = self.plan.h, self.plan.every - 1
            earlier = f', and perhaps up to {between * h:g} s before' if between else ''
            raise ArgumentError(
                f'simulation: the state{state} is not finite after {step * h:g} s{earlier}; choose a smaller step '
                f'than {h:g} s, or a method of higher order'
            )


def _not_finite(t: float, error: Exception) -> ArgumentError:
    """Return the error for a state that is not finite at the time t (s)."""
    return ArgumentError(f'simulation: the state is not finite at {t:g} s; choose a smaller step ({error})')
