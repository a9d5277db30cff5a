"""Result of a simulation: the motion, its energy, and how well energy and momentum are conserved."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.simulation.singular_positions import singular_passages

JUMP = 1e-3
"""Change of velocities in one step, relative: its square is the share of kinetic energy that is lost."""


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
    loop_jump : ndarray, (...)
        Largest change of velocities by closing the loops in one step, relative to the largest velocity until then.
    loop_jump_time : ndarray, (...)
        Time of that step, s.
    """

    robot: Robot
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    work: np.ndarray
    loop_jump: np.ndarray
    loop_jump_time: np.ndarray

    @cached_property
    def energy(self) -> np.ndarray:
        """Total energy, kinetic plus potential, (..., samples) J."""
        return self.robot.total_energy(self.q, self.qd)

    @property
    def energy_drift(self) -> np.ndarray:
        """Energy minus that at the start minus ``work``, (..., samples) J.

        It is the error of the integration, plus the work of external wrenches, of impacts at position limits, and of
        springs and dampers of joints and closed loops.
        """
        return self.energy - self.energy[..., :1] - self.work

    @cached_property
    def loop_error(self) -> np.ndarray:
        """Largest error of the constraints of all closed loops, (..., samples) rad or m; zeros without loops."""
        return np.abs(self.robot.loop_errors(self.q)).max(-1, initial=0.0)

    @cached_property
    def loop_rate(self) -> np.ndarray:
        """Largest rate of these errors, (..., samples) rad/s or m/s; zeros without loops."""
        return np.abs(self.robot.loop_rates(self.q, self.qd)).max(-1, initial=0.0)

    @property
    def jump_findings(self) -> tuple[Finding, ...]:
        """A finding for each start state whose velocities jumped by more than ``JUMP`` where its loops were closed."""
        return tuple(
            Finding(
                'warning',
                _named(index, self.loop_jump.ndim),
                f'closing the loops changed velocities by {100.0 * self.loop_jump[index]:.2g} % in the step to '
                f'{self.loop_jump_time[index]:.4g} s, and the energy with them: the mechanism passes a singular '
                'position there and may have changed its branch, or the step is too long; try a shorter step',
            )
            for index in np.ndindex(self.loop_jump.shape)
            if self.loop_jump[index] > JUMP
        )

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Findings on closed loops: velocities that jumped, and singular positions between samples of the motion.

        There the mobility changes, and the mechanism can go on in more than one way. The positions are found between
        samples at the first call, by an evaluation of each constraint of the loops in each sample.
        """
        passages = []
        if self.robot.loops.all:
            for index in np.ndindex(self.loop_jump.shape):
                for place, loop in singular_passages(self.robot, self.q[index]):
                    time = float(np.interp(place, np.arange(len(self.t)), self.t))
                    message = (
                        f'{loop} passes a singular position at {time:.4g} s: its mobility changes there, and it can go '
                        'on in more than one way'
                    )
                    passages.append(Finding('warning', _named(index, self.loop_jump.ndim), message))
        return (*self.jump_findings, *passages)

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


def _named(index: tuple[int, ...], axes: int) -> str:
    """Return the name of a start state of a batch with so many axes."""
    return f'start state {list(index)}' if axes else 'motion'
