"""Cross-validation of identifications in blocks of time."""

import numpy as np

from robot_dynamics_ros.control.standstill import SPEED
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.log import Log
from robot_dynamics_ros.identification.parameter_estimation import identify
from robot_dynamics_ros.identification.prediction import Validation, predicted_torque
from robot_dynamics_ros.robot import Robot


def cross_validate(robot: Robot, log: Log, folds: int = 5, speed: float = SPEED, **options) -> Validation:
    """Return how well identifications predict parts of the log that they have not seen.

    The log is divided into ``folds`` blocks of time, since neighbouring samples are alike: each is predicted by what
    ``identify`` finds in the others. Use it to compare settings, and ``validate`` on another log to judge one.

    Parameters
    ----------
    robot : Robot
    log : Log
    folds : int
        Number of blocks, at least 2.
    speed : float
        As in ``validate``.
    options : optional
        Keyword arguments of ``identify``.

    Returns
    -------
    Validation
        Predictions of all blocks.

    Raises
    ------
    ArgumentError
        For fewer than two blocks, and as ``identify``.
    """
    if not 2 <= folds <= len(log):
        raise ArgumentError(f'folds: expected a number of blocks from 2 to the number of samples, got {folds}')
    measured, predicted = log.torque(robot), np.empty_like(log.qd)
    for block in np.array_split(np.arange(len(log)), folds):
        others = np.delete(np.arange(len(log)), block)
        found = identify(robot, log[others], **options).robot
        predicted[block] = predicted_torque(found, log[block])[1]
    return Validation(log.t, measured, predicted, np.abs(log.qd) > speed)
