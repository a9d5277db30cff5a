"""Predicted torques of a log compared with the measured ones."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.signal import periodogram

from robot_dynamics_ros.control.joints.standstill import SPEED
from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.robot import Robot


@dataclass(frozen=True)
class Validation:
    """Measured and predicted torques of a log; ``r2``, ``rms`` and ``spectrum`` are by joint.

    Only samples at which the joint moves count in ``r2`` and ``rms``: at rest, friction has any value up to its static
    one.
    """

    t: np.ndarray  # (m,) s
    measured: np.ndarray  # (m, n) N m (N)
    predicted: np.ndarray  # (m, n) N m (N)    friction included
    moving: np.ndarray  # (m, n) bool       the joint is faster than ``speed``

    @property
    def residual(self) -> np.ndarray:
        """Measured minus predicted torques, (m, n) N m (N)."""
        return self.measured - self.predicted

    @property
    def rms(self) -> np.ndarray:
        """Root mean square of the residual of each joint, (n,) N m (N); NaN for a joint that does not move."""
        return np.sqrt((self._moving(self.residual) ** 2).mean(axis=0)).filled(np.nan)

    @cached_property
    def r2(self) -> np.ndarray:
        """Share of the variance of the measured torque that is predicted, (n,): 1 - residual / variance."""
        return (1.0 - self.rms**2 / self._moving(self.measured).var(axis=0)).filled(np.nan)

    def _moving(self, torque: np.ndarray) -> np.ma.MaskedArray:
        """Return torques (m, n) without the samples at which their joint stands still."""
        return np.ma.array(torque, mask=~self.moving)

    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Return frequencies (k,) Hz and amplitudes of the residual (k, n) N m (N), samples taken as even in time.

        Their period is the median one: gaps do not count.
        """
        rate = 1.0 / float(np.median(np.diff(self.t)))
        frequencies, power = periodogram(self.residual, rate, 'hann', detrend=False, scaling='spectrum', axis=0)
        return frequencies, np.sqrt(2.0 * power)


def predicted_torque(robot: Robot, log: Log) -> tuple[np.ndarray, np.ndarray]:
    """Return the torques of a log that the joints transmit, and those with friction; (m, nv) each, N m (N)."""
    transmitted = robot.inverse_dynamics(log.q, log.qd, log.qdd)
    return transmitted, transmitted + robot.friction_torque(log.qd, transmitted)


def validate(robot: Robot, log: Log, speed: float = SPEED) -> Validation:
    """Return how well a robot predicts the torques of a log: inverse dynamics and friction.

    Parameters
    ----------
    robot : Robot
    log : Log
        Best a motion from which the robot was not identified.
    speed : float
        A joint counts as moving above this speed, rad/s (m/s). 0 counts all samples at which it is not exactly zero.

    Returns
    -------
    Validation

    Raises
    ------
    ArgumentError, ModelError
        As ``Log.torque``.
    """
    measured = log.torque(robot)
    return Validation(log.t, measured, predicted_torque(robot, log)[1], np.abs(log.qd) > speed)
