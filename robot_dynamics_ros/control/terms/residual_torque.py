"""Residual torque of a robot's joints for one state after the other."""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Array3, Matrix, Vector
from robot_dynamics_ros.kernels.residual import features_of, residual_torque
from robot_dynamics_ros.model.residual import ResidualModel, check_residual
from robot_dynamics_ros.robot import Robot


@compiled(given='q qd torque')
@kernel
def add_residual(residual: Matrix, q: Vector, qd: Vector, torque: Vector) -> None:
    """Write torque (n) += ``residual_torque`` of each joint at q and qd (n)."""
    for i in range(torque.shape[0]):
        torque[i] += residual_torque(residual, i, q[i], qd[i])


@compiled(given='q qd features')
def write_features(gear_ratio: Vector, fastest: Vector, q: Matrix, qd: Matrix, features: Array3) -> None:
    """Write ``FEATURES`` (m, n, 13) of each joint at m positions q and velocities qd (m, n)."""
    for b in range(q.shape[0]):
        for i in range(q.shape[1]):
            of_joint = features_of(gear_ratio[i], fastest[i], q[b, i], qd[b, i])
            for k in range(13):
                features[b, i, k] = of_joint[k]


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
        As ``check_residual``.
    """

    def __init__(self, robot: Robot, model: ResidualModel):
        check_residual(model, robot.model)
        example = np.zeros(robot.nv)
        self._add = bound(add_residual, model.rows, then=(example, example, example))

    def add(self, q: np.ndarray, qd: np.ndarray, torque: np.ndarray) -> None:
        """Add the residual torque at q and qd (n; rad, rad/s) to ``torque`` (n, N m), without allocation."""
        self._add(q, qd, torque)
