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
    model_torque = robot.inverse_dynamics(log.q, log.qd, log.qdd)
    measured = log.torque(robot)
    left = measured - model_torque - robot.friction_torque(log.qd, model_torque)
    ratio = np.nan_to_num(robot.model.actuators.gear_ratio)
    fastest = np.abs(log.qd).max(axis=0)
    features = _features(ratio, fastest, log)
    fits = [_Fit.of(robot.joint_names[j], features[:, j], left[:, j], log.qd[:, j], blocks) for j in range(robot.nv)]
    before, after, pays = (np.array(column) for column in list(zip(*fits, strict=True))[:3])
    spread = np.array([np.std(measured[moves, j]) for j, moves in enumerate((np.abs(log.qd) > SPEED).T)])
    pays &= before < LARGEST_SHARE * spread
    if not pays.any():
        found = ', '.join(
            f'{name} {a:.3g} to {b:.3g}' for name, a, b in zip(robot.joint_names, before, after, strict=True)
        )
        raise ArgumentError(
            f'residual: it does not pay on the parts held out, or the model leaves too much; RMS in N m (N): {found}'
        )
    weights = np.array([fit.weights for fit in fits]) * pays[:, None]
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


class _Fit(NamedTuple):
    """Residual of one joint."""

    before: float
    after: float
    pays: bool
    weights: np.ndarray  # (13,)

    @classmethod
    def of(cls, joint: str, features, left, qd, blocks: int) -> '_Fit':
        """Return the fit to the torque errors ``left`` (m) of the samples in which the joint moves."""
        parts = [k[np.abs(qd[k]) > SPEED] for k in np.array_split(np.arange(len(qd)), blocks)]
        if min(map(len, parts)) < FEWEST:
            raise ArgumentError(
                f'log: joint {joint!r} moves in fewer than {FEWEST} samples of a part of it: a longer motion is needed'
            )
        sums = [_Sums(features[k].T @ features[k], features[k].T @ left[k], left[k] @ left[k], len(k)) for k in parts]
        errors = np.array([held.error(_ridge_weights(others)) for held, others in _held_out(sums)])
        alone = np.array([held.square for held in sums])
        samples = sum(held.samples for held in sums)
        before, after = np.sqrt(alone.sum() / samples), np.sqrt(errors.sum() / samples)
        pays = after < (1.0 - PAYS) * before and (errors < alone).sum() >= blocks - 1
        return cls(float(before), float(after), bool(pays), _ridge_weights(sums))


class _Sums(NamedTuple):
    """Sums over the samples of a part: F' F, F' y and y' y with features F (m, 13) and torques y (m)."""

    gram: np.ndarray
    moment: np.ndarray
    square: float
    samples: int

    def error(self, weights) -> float:
        """Return the sum of squared errors with ``weights`` (13,)."""
        return float(self.square - 2.0 * weights @ self.moment + weights @ self.gram @ weights)


def _held_out(sums):
    """Yield each part, and all others."""
    for k, held in enumerate(sums):
        yield held, sums[:k] + sums[k + 1 :]


def _ridge_weights(sums) -> np.ndarray:
    """Return the weights (13,) of some parts, with the ridge that predicts each of them best from the others."""
    errors = [sum(held.error(_weights(others, ridge)) for held, others in _held_out(sums)) for ridge in RIDGES]
    return _weights(sums, RIDGES[int(np.argmin(errors))])


def _weights(sums, ridge: float) -> np.ndarray:
    gram, moment, _, samples = (sum(column) for column in zip(*sums, strict=True))
    size = np.sqrt(np.diag(gram) / samples)
    size[size == 0.0] = 1.0
    scaled = gram / samples / np.outer(size, size) + ridge * np.eye(len(size))
    return np.linalg.solve(scaled, moment / samples / size) / size
