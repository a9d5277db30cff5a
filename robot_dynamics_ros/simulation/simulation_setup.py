"""What is simulated, with checked arguments, and the arrays of its states."""

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.simulation.step_arrays import Buffers, Plan, Stops
from robot_dynamics_ros.simulation.torque_inputs import TorqueInput


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

    def samples(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return arrays for q (samples, count, nq), qd and work (samples, count), with the start in the first ones."""
        count, samples = len(self.q), self.plan.steps // self.plan.every + 1
        q, qd = (np.empty((samples, *rows.shape)) for rows in (self.q, self.qd))
        q[0], qd[0] = self.q, self.qd
        return q, qd, np.zeros((samples, count))

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
            raise ArgumentError(
                f'simulation: the state is not finite at {t:g} s; choose a smaller step ({error})'
            ) from None


def buffers_of(setup: Setup, states: slice, multiple: int) -> Buffers:
    """Return arrays for some of the states; copies of the last one follow up to a ``multiple`` of states."""
    rows = np.arange(len(setup.q))[states]
    rows = np.concatenate([rows, np.full(-len(rows) % multiple, rows[-1])])
    count, nv = len(rows), setup.robot.nv
    q, qd = setup.q[rows].ravel(), setup.qd[rows].ravel()
    rates = np.zeros((9, count * nv))
    qd_s, u, K, qdd, tau, net, dq, dqd, work = rates
    inverse = np.zeros(count * nv * nv if setup.plan.limits else 0)
    return Buffers(q, qd, q.copy(), qd_s, u, K, qdd, tau, net, dq, dqd, work, inverse)
