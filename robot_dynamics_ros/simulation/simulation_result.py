"""Result of a simulation: the motion, its energy, and how well energy and momentum are conserved."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_dynamics_ros.robot import Robot


@dataclass(frozen=True, eq=False)
class SimulationResult:
    """Motion of a robot at equally spaced times, for one start state or a batch of them (...).

    Parameters
    ----------
    robot : Robot
        The simulated robot.
    t : ndarray, (samples,)
        Times from the start, s.
    q : ndarray, (..., samples, nq)
        Positions, rad (prismatic joints: m).
    qd : ndarray, (..., samples, nv)
        Velocities, rad/s or m/s.
    work : ndarray, (..., samples)
        Work of applied torque and friction since the start, J; external wrenches and impacts are not in it.
    """

    robot: Robot
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    work: np.ndarray

    @cached_property
    def energy(self) -> np.ndarray:
        """Total energy, kinetic plus potential, (..., samples) J."""
        return self.robot.total_energy(self.q, self.qd)

    @property
    def energy_drift(self) -> np.ndarray:
        """Energy minus that at the start minus ``work``, (..., samples) J.

        It is the error of the integration, plus the work of external wrenches, of impacts at position limits, and of
        springs and dampers in closed loops.
        """
        return self.energy - self.energy[..., :1] - self.work

    @cached_property
    def loop_error(self) -> np.ndarray:
        """Largest error of the rows of all closed loops, (..., samples) rad or m; zeros without loops."""
        return np.abs(self.robot.loop_errors(self.q)).max(-1, initial=0.0)

    @cached_property
    def loop_rate(self) -> np.ndarray:
        """Largest rate of these errors, (..., samples) rad/s or m/s; zeros without loops."""
        return np.abs(self.robot.loop_rates(self.q, self.qd)).max(-1, initial=0.0)

    @cached_property
    def momentum(self) -> np.ndarray:
        """Momentum about the centre of mass in the base's axes: angular (N m s), linear (N s), (..., samples, 6)."""
        return self.robot.centroidal_momentum(self.q, self.qd)

    @property
    def momentum_drift(self) -> np.ndarray:
        """Momentum minus that at the start minus the impulse of gravity, (..., samples, 6) N m s, N s.

        For a robot on a free joint, without external wrenches, it is the error of the integration. For a robot on a
        fixed base it is the impulse of the base on the robot.
        """
        mass = self.robot.model.arrays.I[1:, 0].sum()
        impulse = np.zeros((len(self.t), 6))
        impulse[:, 3:] = mass * self.t[:, None] * self.robot.gravity
        return self.momentum - self.momentum[..., :1, :] - impulse
