"""Joint motions that are finite Fourier series, at rest where a period begins and ends."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.trajectories.motion_profiles import fourier_basis
from robot_dynamics_ros.identification.logs.csv_files import column_names

DENSITY = 200
"""Samples of a period for each harmonic where limits are checked."""
FEWEST_HARMONICS = 2
"""With one harmonic a motion that rests somewhere never moves."""


def at_rest(harmonics: int) -> np.ndarray:
    """Return an orthonormal basis (2 harmonics, 2 harmonics - 2) of coefficients with zero qd and qdd at t = 0."""
    _, velocity, acceleration = fourier_basis(np.zeros(1), harmonics, 1.0)
    return null_space(np.vstack([velocity, acceleration / np.linalg.norm(acceleration)]))


@dataclass(frozen=True, eq=False)
class FourierTrajectory:
    """Periodic joint motion of the velocity qd = sum of sines_k sin(k w t) + cosines_k cos(k w t), w = 2 pi / duration.

    It is ``motion_profiles.fourier_series`` at any times (Swevers et al. 1997, "Optimal robot excitation and
    identification", eq. 7). Where the sums of cosines_k and of k sines_k are zero, as ``optimise_excitation`` chooses
    them, velocity and acceleration are zero at t = 0 and after each period: periods follow each other without a jump,
    and no ramp is needed at either end.

    Parameters
    ----------
    joint_names : sequence of str
        Names of the n joints.
    duration : float
        Period, s.
    center : array_like, (n,)
        Mean positions, rad (m).
    sines, cosines : array_like, (harmonics, n)
        Amplitudes of the velocity, rad/s (m/s).

    Raises
    ------
    ArgumentError
        Naming the argument with another shape or a value that is not finite.
    """

    joint_names: tuple[str, ...]
    duration: float
    center: np.ndarray
    sines: np.ndarray
    cosines: np.ndarray

    def __post_init__(self) -> None:
        """Convert the fields to arrays and check them."""
        object.__setattr__(self, 'joint_names', tuple(self.joint_names))
        object.__setattr__(self, 'duration', validation.positive('duration', self.duration))
        n, harmonics = len(self.joint_names), len(self.sines)
        for name, shape in (('center', (n,)), ('sines', (harmonics, n)), ('cosines', (harmonics, n))):
            object.__setattr__(self, name, validation.finite(name, getattr(self, name), shape))

    @property
    def harmonics(self) -> int:
        """Number of harmonics."""
        return len(self.sines)

    @property
    def start(self) -> np.ndarray:
        """Position at t = 0, (n,) rad (m): the arm has to be there before the motion begins."""
        return self.sample(0.0)[0]

    def sample(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return q, qd and qdd at given times.

        Parameters
        ----------
        t : array_like, (...)
            Times, s.

        Returns
        -------
        tuple of three ndarray, (..., n)
            Positions, velocities and accelerations, rad, rad/s, rad/s^2 (m, m/s, m/s^2).
        """
        times = validation.numbers('t', t)
        validation.check_finite('t', times)
        coefficients = np.vstack([self.sines, self.cosines])
        motion = fourier_basis(times.ravel(), self.harmonics, self.duration) @ coefficients
        q, qd, qdd = motion.reshape(3, *times.shape, -1)
        return self.center + q, qd, qdd

    def points(self, period: float = 0.01, repetitions: int = 1) -> tuple[np.ndarray, ...]:
        """Return points of the motion from start to end, for a log, a file or a JointTrajectory.

        ``messages.joint_trajectory.trajectory_message(trajectory.joint_names, *trajectory.points())`` is that message.

        Parameters
        ----------
        period : float
            Largest time between two points, s.
        repetitions : int
            Number of periods of the motion.

        Returns
        -------
        tuple of ndarray
            Times (m,) from 0, s; positions, velocities and accelerations (m, n), as ``sample``.
        """
        total = self.duration * validation.whole('repetitions', repetitions, 1)
        t = np.linspace(0.0, total, int(np.ceil(total / validation.positive('period', period) * (1.0 - 1e-12))) + 1)
        return t, *self.sample(t)

    def peaks(self, middle: ArrayLike) -> np.ndarray:
        """Return upper bounds of abs(q - middle), abs(qd) and abs(qdd) over all times, (3, n).

        The largest sample of a polynomial of sines and cosines of degree H at m even steps of its period is at least
        cos(pi H / m) of its maximum (Ehlich & Zeller 1964).

        Parameters
        ----------
        middle : array_like, (n,)
            Positions, rad (m), such as the middle of the range.

        Returns
        -------
        ndarray, (3, n)
        """
        count = DENSITY * self.harmonics
        q, qd, qdd = self.sample(np.arange(count) * (self.duration / count))
        return np.abs([q - middle, qd, qdd]).max(axis=1) / np.cos(np.pi / DENSITY)

    def to_csv(self, path: str | Path, period: float = 0.01, repetitions: int = 1) -> None:
        """Write the ``points`` with columns t_s, q<k>_rad, qd<k>_rad_s and qdd<k>_rad_s2 for joints k = 1..n.

        With measured columns i<k>_mA or tau<k>_Nm beside them, ``Log.from_csv`` reads the file.

        Parameters
        ----------
        path : str or Path
            The file.
        period, repetitions
            As those of ``points``.
        """
        names = column_names(('q', 'qd', 'qdd'), len(self.joint_names))
        table = np.column_stack(self.points(period, repetitions))
        np.savetxt(path, table, '%.17g', ',', header=','.join(names), comments='')
