"""How far an arm may be from its desired motion: of each joint the errors of position and velocity."""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.continuous_joints import turns
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.robot import Robot

WITHIN = -1
"""Result of ``_beyond``: each joint is within its tolerance."""


@compiled(given='q qd')
def _beyond(error: Matrix, tolerance: Matrix, turn: Vector, desired: Matrix, q: Vector, qd: Vector) -> int:
    """Return a joint whose error of position, or n + a joint whose error of velocity, is above tolerance (2, n).

    The errors (2, n) from q and qd (n) to desired (3, n) are written, by the shorter way of a turn (n, rad; 0: none).
    """
    n, found = q.shape[0], WITHIN
    for k in range(n):
        error[0, k], error[1, k] = desired[0, k] - q[k], desired[1, k] - qd[k]
        if turn[k] > 0.0:
            error[0, k] -= turn[k] * np.floor(error[0, k] / turn[k] + 0.5)
        for row in range(2):
            if found == WITHIN and abs(error[row, k]) > tolerance[row, k]:
                found = row * n + k
    return found


class MotionTolerance:
    """Largest errors of position (n, rad or m) and velocity (n, rad/s or m/s) of a robot; inf: any.

    ``desired`` (3, n) receives the motion q, qd, qdd. ``name`` begins the text of a fault.
    """

    def __init__(self, name: str, robot: Robot, desired: np.ndarray, position: np.ndarray, velocity: np.ndarray):
        self._name, self._names = name, robot.joint_names
        self._tolerance, n = np.array([position, velocity], float), len(position)
        self.error = np.zeros((2, n))
        parts = self.error, self._tolerance, turns(robot), desired
        self._beyond = bound(_beyond, *parts, then=(np.zeros(n), np.zeros(n)))

    def fault(self, q: np.ndarray, qd: np.ndarray) -> str:
        """Return which joint at q and qd (n) is how far from the desired motion, '' where all are within."""
        found = self._beyond(q, qd)
        if found == WITHIN:
            return ''
        row, k = divmod(found, len(q))
        what = ('rad or m', 'rad/s or m/s')[row]
        return (
            f'{self._name}: joint {self._names[k]!r} is {abs(self.error[row, k]):.4g} {what} from its desired '
            f'{("position", "velocity")[row]}, and {self._tolerance[row, k]:g} are allowed'
        )
