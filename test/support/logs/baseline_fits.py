"""Least squares of a log's torques by NumPy alone: what an identification must not predict worse than."""

import numpy as np

from robot_dynamics_ros.control.joints.standstill import SPEED

SIGN = 0.02  # rad/s, over which the sign of the velocity is smooth
HUBER = 1.345


def predictions(robot, training, judging) -> dict:
    """Return the torques (m, n) of the judging log by ordinary, weighted and robust least squares of the training log.

    Columns are base parameters, and rotor inertia, viscous and Coulomb friction and an offset of each joint, of any
    sign.
    """
    A, B = _columns(robot, training), _columns(robot, judging)
    tau, used = training.torque(robot), 1.0 * (np.abs(training.qd) > SPEED)
    x = _solved(A, tau, used)
    found = {'ols': B @ x}
    for _ in range(5):
        x = _solved(A, tau, used / np.sqrt(((tau - A @ x) ** 2 * used).sum(axis=0) / used.sum(axis=0)))
    found['wls'] = B @ x
    for _ in range(10):
        left = np.abs(tau - A @ x)
        size = 1.4826 * np.ma.median(np.ma.array(left, mask=used == 0.0), axis=0).filled(1.0)
        x = _solved(A, tau, used / size * np.sqrt(np.minimum(1.0, HUBER * size / np.maximum(left, 1e-12))))
    found['robust'] = B @ x
    return found


def _columns(robot, log) -> np.ndarray:
    independent = robot.base_parameters(1e-4).independent
    Y = robot.torque_regressor(log.q, log.qd, log.qdd)[..., independent]
    own = np.stack([log.qdd, log.qd, np.tanh(log.qd / SIGN), np.ones_like(log.qd)], axis=2)
    blocks = own[:, :, None, :] * np.eye(robot.nv)[:, :, None]
    return np.concatenate([Y, blocks.reshape(*log.qd.shape, -1)], axis=2)


def _solved(A: np.ndarray, tau: np.ndarray, weights: np.ndarray) -> np.ndarray:
    rows = (A * weights[..., None]).reshape(-1, A.shape[2])
    lengths = np.linalg.norm(rows, axis=0)
    lengths[lengths == 0.0] = 1.0
    return np.linalg.lstsq(rows / lengths, (tau * weights).ravel(), rcond=1e-10)[0] / lengths
