"""Residual learning: a bounded correction of the torques of a robot's model, where it pays on data not fitted.

tau = model + friction + residual, residual_i = sum_k weights_ik features_ik (``kernels.residual``), by ridge
regression (Hoerl & Kennard 1970) in units of each feature's root mean square. Each part of the log in time is held out
in turn; the ridge is chosen on what is left, again by holding out one part after the other. A joint gets a residual if
it pays on the parts held out: the RMS of all of them is 5 % less, and that of all but one is less. Of a joint whose
model leaves half of the torque's deviation or more, nothing is learnt: identify the robot first.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.standstill import SPEED
from robot_dynamics_ros.control.terms.residual_torque import write_features
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.identification.logs.log_findings import signal_findings
from robot_dynamics_ros.identification.prediction import predicted_torque
from robot_dynamics_ros.identification.regression import Regression
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.model.residual import FEATURES, ResidualModel
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
    findings: tuple[Finding, ...]  # on signals without a filter, and on a delay, which a residual would learn


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
        ``residual_yaml.write_residual`` writes its ``model`` for the nodes. The torque of each joint is bounded
        by the largest one within the log, and joints where it does not pay have none.

    Raises
    ------
    ArgumentError
        Where it pays on no joint, with the RMS of each and the findings; for joints of several degrees of freedom, and
        for a log of other joints or without motion.
    """
    if robot.nq != robot.nv:
        raise ArgumentError('robot: expected joints of one degree of freedom')
    blocks = validation.whole('blocks', blocks, 3)
    measured = log.torque(robot)
    left, used = measured - predicted_torque(robot, log)[1], np.abs(log.qd) > SPEED
    ratio = np.nan_to_num(robot.model.actuators.gear_ratio)
    fastest = np.abs(log.qd).max(axis=0)
    features, parts = _features(ratio, fastest, log), np.array_split(np.arange(len(log)), blocks)
    counts = np.array([used[part].sum(axis=0) for part in parts])
    if counts.min() < FEWEST:
        name = robot.joint_names[int((counts < FEWEST).any(axis=0).argmax())]
        raise ArgumentError(
            f'log: joint {name!r} moves in fewer than {FEWEST} samples of a part of it: a longer motion is needed'
        )
    size = np.sqrt((features**2 * used[..., None]).sum(axis=0) / counts.sum(axis=0)[:, None])
    size[size == 0.0] = 1.0
    scaled, none = features / size, np.zeros((*left.shape, 0))
    sums = np.array([Regression.of(none[part], scaled[part], left[part], used[part]).sums for part in parts])
    held_out = [_squares(part, _weights(np.delete(sums, k, 0), np.delete(counts, k, 0))) for k, part in enumerate(sums)]
    squares = sums[..., -1, -1]
    before, after = (np.sqrt(np.sum(it, axis=0) / counts.sum(axis=0)) for it in (squares, held_out))
    is_residual = before < LARGEST_SHARE * np.ma.array(measured, mask=~used).std(axis=0).filled(0.0)
    pays = is_residual & (after < (1.0 - PAYS) * before) & ((held_out < squares).sum(axis=0) >= blocks - 1)
    findings = tuple(signal_findings(robot, log, measured, measured - left))
    if not pays.any():
        figures = zip(robot.joint_names, before, after, strict=True)
        raise ArgumentError(
            'residual: it does not pay on the parts held out, or the model leaves too much; RMS in N m (N): '
            + ', '.join(f'{name} {a:.3g} to {b:.3g}' for name, a, b in figures)
            + ''.join(f'; {it.where}: {it.message}' for it in findings)
        )
    weights = _weights(sums, counts) / size * pays[:, None]
    largest = np.abs((features * weights).sum(axis=2)).max(axis=0)
    model = ResidualModel(robot.digest, tuple(robot.joint_names), ratio, fastest, largest, weights)
    return ResidualFit(model, pays, before, after, findings)


def _features(ratio, fastest, log: Log) -> np.ndarray:
    """Return the features of each sample, (m, n, 13); those of motors with an unknown gear ratio are 0."""
    features = np.zeros((*log.q.shape, len(FEATURES)))
    q, qd = np.ascontiguousarray(log.q), np.ascontiguousarray(log.qd)
    bound(write_features, ratio, fastest, then=(q, qd, features))(q, qd, features)
    features[:, ratio == 0.0, FEATURES.index('sin Nq') :] = 0.0
    return features


def _weights(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the weights (n, 13) from parts of a log, with the ridge that predicts each part best from the others.

    ``sums`` (parts, n, 14, 14) are those of regressions, ``counts`` (parts, n) numbers of samples.
    """
    whole, samples = sums.sum(axis=0), counts.sum(axis=0)
    errors = [_squares(sums, _ridge(whole - sums, r * (samples - counts))).sum(axis=0) for r in RIDGES]
    return _ridge(whole, RIDGES[np.argmin(errors, axis=0)] * samples)


def _ridge(sums: np.ndarray, ridge: np.ndarray) -> np.ndarray:
    """Return the weights (..., n, 13) of sums (..., n, 14, 14) with a ``ridge`` (..., n) for each joint."""
    matrix = sums[..., :-1, :-1] + ridge[..., None, None] * np.eye(sums.shape[-1] - 1)
    return np.linalg.solve(matrix, sums[..., :-1, -1:])[..., 0]


def _squares(sums: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the sums of squares (..., n) that weights (..., n, 13) leave of the torque in sums (..., n, 14, 14)."""
    combination = np.insert(-weights, weights.shape[-1], 1.0, axis=-1)
    return np.einsum('...i,...ij,...j->...', combination, sums, combination)
