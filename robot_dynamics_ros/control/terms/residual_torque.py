"""Residual torque: what the model of a robot leaves of the measured torques, learnt as a sum of features of each joint.

The features of a joint are functions of its own position q and velocity qd, with s = qd / sqrt(qd^2 + v_s^2), a smooth
sign, and the angle of its motor, N q. Harmonics of q are in the place of what turns with the joint, those of N q are
cogging and bearings of motor and gear.
"""

from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.kernels.sincos import sincos
from robot_dynamics_ros.robot import Robot

if TYPE_CHECKING:
    from robot_dynamics_ros.formats.yaml_files.residual_yaml import ResidualModel  # reading files is slow to import

FEATURES = (
    *('s', 's sqrt|qd|', 'qd', 'sin q', 'cos q', 'sin 2q', 'cos 2q', 's sin q', 's cos q'),
    *('sin Nq', 'cos Nq', 'sin 2Nq', 'cos 2Nq'),
)
TRANSITION = 0.02
"""Transition velocity v_s of the smooth sign, rad/s (m/s)."""
LARGEST_SHARE = 0.3
"""Largest bound of a residual, as a share of the effort limit."""


@compiled(given='q qd features')
def residual_features(gear_ratio: Vector, fastest: Vector, q: Vector, qd: Vector, features: Matrix) -> None:
    """Write features (n, 13) in the order of ``FEATURES`` at q and qd (n), velocities limited to ``fastest`` (n)."""
    for i in range(q.shape[0]):
        v = max(-fastest[i], min(fastest[i], qd[i]))
        s = v / np.sqrt(v * v + TRANSITION * TRANSITION)
        features[i, 0], features[i, 1], features[i, 2] = s, s * np.sqrt(abs(v)), v
        sine, cosine = sincos(q[i])
        features[i, 3], features[i, 4], features[i, 7], features[i, 8] = sine, cosine, s * sine, s * cosine
        features[i, 5], features[i, 6] = 2.0 * sine * cosine, cosine * cosine - sine * sine
        sine, cosine = sincos(gear_ratio[i] * q[i])
        features[i, 9], features[i, 10] = sine, cosine
        features[i, 11], features[i, 12] = 2.0 * sine * cosine, cosine * cosine - sine * sine


class ResidualTorque:
    """Residual torque of one robot, of bounded magnitude.

    Parameters
    ----------
    robot : Robot
    model : ResidualModel
        As ``identification.fit_residual`` returns it in ``model``, or ``residual_yaml.read_residual``.

    Raises
    ------
    ArgumentError
        For a model of other joints, one that was fitted to another model of the robot, and a bound above 30 % of an
        effort limit.
    """

    def __init__(self, robot: Robot, model: 'ResidualModel'):
        if model.joint_names != tuple(robot.joint_names):
            raise ArgumentError(
                f'residual: it is for the joints {" ".join(model.joint_names)}, here {" ".join(robot.joint_names)}'
            )
        if model.model_digest != robot.digest:
            raise ArgumentError(
                f'residual: it was fitted to another model of the robot ({model.model_digest}, here {robot.digest}); '
                'fit it again'
            )
        too_large = np.flatnonzero(model.bound > LARGEST_SHARE * robot.limits.effort)
        if len(too_large):
            j = int(too_large[0])
            raise ArgumentError(
                f'residual: joint {robot.joint_names[j]!r}: its bound of {model.bound[j]:.4g} is more than '
                f'{100.0 * LARGEST_SHARE:g} % of the effort limit, {robot.limits.effort[j]:.4g}; '
                'identify the robot first'
            )
        n = len(model.joint_names)
        self._weights, self._bound = model.weights, model.bound
        self._products, self._term, example = np.zeros(model.weights.shape), np.zeros(n), np.zeros(n)
        self._features = bound(
            residual_features, model.gear_ratio, model.fastest, then=(example, example, self._products)
        )

    def add(self, q: np.ndarray, qd: np.ndarray, torque: np.ndarray) -> None:
        """Add the residual torque at q and qd (n; rad, rad/s) to ``torque`` (n, N m), without allocation."""
        self._features(q, qd, self._products)
        np.multiply(self._products, self._weights, out=self._products)
        self._products.sum(axis=1, out=self._term)
        np.clip(self._term, -self._bound, self._bound, out=self._term)
        np.add(torque, self._term, out=torque)
