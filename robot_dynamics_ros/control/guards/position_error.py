"""Position error: the largest distance of each joint from where a law holds or leads it, for another thread."""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.continuous_joints import nearest
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Integers, Vector


@compiled(given='reference q')
def _add(turn: Vector, count: Integers, largest: Vector, reference: Vector, q: Vector) -> None:
    """Write largest (n) = max(largest, |reference - q|), modulo turn (n; 0: none); count is added to, 0 begins anew."""
    anew = count[0] == 0
    for k in range(q.shape[0]):
        distance = reference[k] - q[k]
        if turn[k] > 0.0:
            distance -= turn[k] * np.floor(distance / turn[k] + 0.5)
        distance = abs(distance)
        if anew or distance > largest[k]:
            largest[k] = distance
    count[0] += 1


class PositionError:
    """``add`` is called for each torque, by one thread; ``largest`` from time to time, by another one."""

    def __init__(self, turn: np.ndarray):
        """Compare modulo ``turn`` (n, rad; 0: none)."""
        self._turn, self._count, self._largest = turn, np.zeros(1, np.int64), np.zeros(len(turn))
        example = np.zeros(len(turn)), np.zeros(len(turn))
        self.add = bound(_add, turn, self._count, self._largest, then=example)

    def between(self, one, other) -> np.ndarray:
        """Return the distances (n, rad or m) between two positions."""
        return np.abs(nearest(one - other, self._turn))

    def largest(self) -> np.ndarray | None:
        """Return the largest distances (n, rad or m) since the last call, None where none was added."""
        if not self._count[0]:
            return None
        found, self._count[0] = self._largest.copy(), 0
        return found
