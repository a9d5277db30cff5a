"""External wrench at a frame, from external joint torques by damped least squares.

The wrench F with J' F = tau minimises |J' F - tau|^2 + DAMPING^2 |F|^2, with moments divided by ``LENGTH`` and J
accordingly (Nakamura & Hanafusa 1986). In a direction in which the joints cannot move the frame F has no component: no
joint torque tells anything about it.
"""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.kernels.operational_space import invert
from robot_dynamics_ros.robot import Robot

LENGTH = 0.3
"""m; a moment counts like the force that has it at this distance."""
DAMPING = 0.01
"""m; the component of a force that all joints feel with a lever arm of a is reduced by 1 / (1 + (a / DAMPING)^2)."""
UNDETERMINED = 0.03
"""Lever arm, m, below which a direction is named: there more than a tenth of the wrench is lost, and noise is large."""
AXES = ['moment x', 'moment y', 'moment z', 'force x', 'force y', 'force z']


@compiled(given='torque A A_inv b wrench')
def _solve(J: Matrix, torque: Vector, A: Matrix, A_inv: Matrix, b: Vector, wrench: Vector) -> None:
    """Write wrench (6) = (J J' + DAMPING^2)^-1 J torque (n) for J (6, n); A, A_inv (6, 6) and b (6) are scratch."""
    for row in range(6):
        scale = LENGTH if row < 3 else 1.0
        b[row] = 0.0
        for k in range(J.shape[1]):
            J[row, k] *= scale
            b[row] += J[row, k] * torque[k]
        for column in range(row + 1):
            A[row, column] = DAMPING * DAMPING if column == row else 0.0
            for k in range(J.shape[1]):
                A[row, column] += J[row, k] * J[column, k]
    invert(A, A_inv)
    for row in range(6):
        wrench[row] = 0.0
        for column in range(6):
            wrench[row] += A_inv[row, column] * b[column]
        wrench[row] *= LENGTH if row < 3 else 1.0


class ExternalWrench:
    """The wrench that acts on a robot at one frame, in its axes.

    Parameters
    ----------
    robot : Robot
    frame : str
        One of ``robot.frame_names``; '' for ``end_link``. Raises UnknownNameError for another name.
    """

    def __init__(self, robot: Robot, frame: str = ''):
        self.frame: str = frame or robot.end_link
        self._robot = robot
        self.jacobian: np.ndarray = np.array(robot.jacobian(robot.neutral(), self.frame, 'local'))
        A, A_inv, b = np.zeros((6, 6)), np.zeros((6, 6)), np.zeros(6)
        self.wrench: np.ndarray = np.zeros(6)
        self._solve = bound(_solve, self.jacobian, then=(np.zeros(robot.nv), A, A_inv, b, b))
        self._scratch = A, A_inv, b, self.wrench

    def update(self, q: np.ndarray, torque: np.ndarray) -> np.ndarray:
        """Return the wrench (6; N m, N, moment first) of external joint torques (n, N m or N) at q (n, rad or m)."""
        self._robot.jacobian(q, self.frame, 'local', out=self.jacobian)
        self._solve(torque, *self._scratch)
        return self.wrench

    def undetermined(self) -> list[str]:
        """Return the directions, at the last q, of which the joint torques tell nothing, or too little."""
        directions, lever_arms, _ = np.linalg.svd(self.jacobian)
        known = np.zeros(6)
        known[: len(lever_arms)] = lever_arms
        return [_named(direction) for direction, arm in zip(directions.T, known, strict=True) if arm < UNDETERMINED]


def _named(direction: np.ndarray) -> str:
    """Return a direction (6) by its axes."""
    return ' '.join(f'{part:+.2f} {axis}' for part, axis in zip(direction, AXES, strict=True) if abs(part) > 0.1)
