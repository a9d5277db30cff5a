"""Residual learning: a bounded correction of the torques of a robot's model, where it pays on data not fitted.

tau = model + friction + residual, residual_i = sum_k weights_ik features_ik (``control.residual_torque``), by ridge
regression (Hoerl & Kennard 1970) in units of each feature's root mean square. Each part of the log in time is held out
in turn; the ridge is chosen on what is left, again by holding out one part after the other. A joint gets a residual if
it pays on the parts held out: the RMS of all of them is 5 % less, and that of all but one is less. Of a joint whose
model leaves half of the torque's deviation or more, nothing is learnt: identify the robot first.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.residual_torque import FEATURES, residual_features
from robot_dynamics_ros.control.standstill import SPEED
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formats.residual_yaml import ResidualModel
from robot_dynamics_ros.identification.log import Log
from robot_dynamics_ros.identification.prediction import predicted_torque
from robot_dynamics_ros.robot import Robot

RIDGES = 10.0 ** np.arange(-5.0, 3.0)
PAYS = 0.05
"""Least reduction of the RMS that pays."""
LARGEST_SHARE = 0.5
"""Of the deviation of a joint's torque, the largest RMS that the model may leave: what is left of a worse one is no
residual, but wrong masses, units or meaning of efforts."""
FEWEST = 50
"""Fewest samples of a joint's motion in each part."""


class ResidualFit(NamedTuple):
    """A residual model, and what it does on the parts of the log that were held out."""

    model: ResidualModel
    pays: np.ndarray  # (n,) bool  joints with a residual
    before: np.ndarray  # (n,) N m, N  RMS without the residual, of samples where the joint moves
    after: np.ndarray  # (n,) N m, N   RMS with the residual of the other parts, where it pays or not


def fit_residual(robot: Robot, log: Log, blocks: int = 6) -> ResidualFit:
    """Return the residual torque that the robot's model with its friction leaves of a log.

    Parameters
    ----------
    robot : Robot
        The model, as well identified as it can be: a residual makes up for no mass.
    log : Log
        Motion and torques.
    blocks : int
        Number of parts of the log in time, at least 3.

    Returns
    -------
    ResidualFit
        ``formats.residual_yaml.write_residual`` writes its ``model`` for the nodes. The torque of each joint is bounded
        by the largest one within the log, and joints where it does not pay have none.

    Raises
    ------
    ArgumentError
        Where it pays on no joint, with the RMS of each; for joints of several degrees of freedom, and for a log of
        other joints or without motion.
    """
    if robot.nq != robot.nv:
        raise ArgumentError('robot: expected joints of one degree of freedom')
    blocks = validation.whole('blocks', blocks, 3)
    measured = log.torque(robot)
    left = measured - predicted_torque(robot, log)[1]
    ratio = np.nan_to_num(robot.model.actuators.gear_ratio)
    fastest = np.abs(log.qd).max(axis=0)
    features = _features(ratio, fastest, log)
    fits = []
    for j, name in enumerate(robot.joint_names):
        parts = [k[np.abs(log.qd[k, j]) > SPEED] for k in np.array_split(np.arange(len(log)), blocks)]
        if min(map(len, parts)) < FEWEST:
            raise ArgumentError(
                f'log: joint {name!r} moves in fewer than {FEWEST} samples of a part of it: a longer motion is needed'
            )
        fits.append(_fit(features[:, j], left[:, j], measured[:, j], parts))
    before, after, pays, weights = (np.array(column) for column in zip(*fits, strict=True))
    if not pays.any():
        found = ', '.join(
            f'{name} {a:.3g} to {b:.3g}' for name, a, b in zip(robot.joint_names, before, after, strict=True)
        )
        raise ArgumentError(
            f'residual: it does not pay on the parts held out, or the model leaves too much; RMS in N m (N): {found}'
        )
    weights = weights * pays[:, None]
    largest = np.abs((features * weights).sum(axis=2)).max(axis=0)
    return ResidualFit(
        ResidualModel(robot.digest, tuple(robot.joint_names), ratio, fastest, largest, weights), pays, before, after
    )


def _features(ratio, fastest, log: Log) -> np.ndarray:
    """Return the features of each sample, (m, n, 13); those of motors with an unknown gear ratio are 0."""
    features = np.zeros((*log.q.shape, len(FEATURES)))
    example = np.zeros(len(ratio))
    write = bound(residual_features, ratio, fastest, then=(example, example, features[0]))
    for row in zip(np.ascontiguousarray(log.q), np.ascontiguousarray(log.qd), features, strict=True):
        write(*row)
    features[:, ratio == 0.0, FEATURES.index('sin Nq') :] = 0.0
    return features


def _fit(features, left, measured, parts) -> tuple[float, float, bool, np.ndarray]:
    """Return RMS before and after, whether the residual of a joint pays, and its weights (13,).

    Parameters
    ----------
    features, left, measured : ndarray, (m, 13), (m,) and (m,)
        Features, and torques that the model leaves and that were measured.
    parts : list of ndarray
        The samples of each part of the log in which the joint moves.
    """
    used, blocks = np.concatenate(parts), list(range(len(parts)))
    size = np.sqrt((features[used] ** 2).mean(axis=0))
    size[size == 0.0] = 1.0
    # F' F, F' y and y' y of each part, which all fits and errors need
    pairs = [(features[part] / size, left[part]) for part in parts]
    gram, moment = np.array([F.T @ F for F, _ in pairs]), np.array([F.T @ y for F, y in pairs])
    square = np.array([y @ y for _, y in pairs])

    def ridge_weights(of: list[int], ridge: float) -> np.ndarray:
        matrix = gram[of].sum(axis=0)
        return np.linalg.solve(
            matrix + ridge * sum(len(parts[k]) for k in of) * np.eye(len(matrix)), moment[of].sum(axis=0)
        )

    def error(held: int, w: np.ndarray) -> float:
        return float(square[held] - 2.0 * w @ moment[held] + w @ gram[held] @ w)

    def best_weights(of: list[int]) -> np.ndarray:
        """Return the weights with the ridge that predicts each of some parts best from the others."""
        errors = [sum(error(k, ridge_weights([i for i in of if i != k], ridge)) for k in of) for ridge in RIDGES]
        return ridge_weights(of, RIDGES[int(np.argmin(errors))])

    errors = np.array([error(k, best_weights([i for i in blocks if i != k])) for k in blocks])
    before, after = np.sqrt(square.sum() / len(used)), np.sqrt(errors.sum() / len(used))
    pays = after < (1.0 - PAYS) * before and (errors < square).sum() >= len(parts) - 1
    is_residual = before < LARGEST_SHARE * measured[used].std()
    return before, after, bool(pays and is_residual), best_weights(blocks) / size
