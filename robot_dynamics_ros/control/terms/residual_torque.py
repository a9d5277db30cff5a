"""Residual torque of a robot's joints for one state after the other."""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.kernels.residual import residual_torque
from robot_dynamics_ros.model.residual import ResidualModel, check_residual
from robot_dynamics_ros.robot import Robot


@compiled(given='q qd torque')
@kernel
def add_residual(residual: Matrix, q: Vector, qd: Vector, torque: Vector) -> None:
    """Write torque (n) += ``residual_torque`` of each joint at q and qd (n)."""
    for i in range(torque.shape[0]):
        torque[i] += residual_torque(residual, i, q[i], qd[i])


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
