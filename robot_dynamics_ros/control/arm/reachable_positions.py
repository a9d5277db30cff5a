"""Positions of a mechanism that are searched for what is largest or smallest anywhere.

A position that the actuated joints cannot have counts as the last one on the way to it. So a search over the position
limits finds what occurs where the loops close.
"""

from contextlib import suppress
from functools import lru_cache

import numpy as np

from robot_dynamics_ros.algorithms.position_search import search_range
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.arm.following.following_joints import Motion
from robot_dynamics_ros.control.arm.following.loop_solutions import STRIDE, Solution
from robot_dynamics_ros.control.joints.position_limits import limits_of
from robot_dynamics_ros.errors import LoopError, SingularError
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.summary.low_discrepancy import low_discrepancy

PLACES = 512
"""Positions, spread over the ranges of the joints, at which ways begin."""


def within_reach(robot: Robot | DrivenRobot) -> Robot | DrivenRobot:
    """Return a robot for searches over positions, those of a mechanism as in ``ReachablePositions``."""
    if isinstance(robot, DrivenRobot) and isinstance(robot.following, ClosedMechanism):
        return DrivenRobot(robot.robot, _reachable(robot.following))
    return robot


def gear_of(robot: Robot | DrivenRobot) -> np.ndarray | float:
    """Return how many turns of each joint (n) make one of all that follows it through gears."""
    return robot.following.gear if isinstance(robot, DrivenRobot) else 1.0


@lru_cache(maxsize=4)
def _reachable(mechanism: ClosedMechanism) -> 'ReachablePositions':
    return ReachablePositions(mechanism)


class ReachablePositions:
    """How all joints of a mechanism follow, for batches of positions.

    Attributes are those of ``mechanism``, see ``FollowingJoints``.
    """

    def __init__(self, mechanism: ClosedMechanism):
        """Go to positions all over the ranges of the actuated joints, each time from the nearest known one."""
        self._mechanism = mechanism
        self.places, self.followers, self.couplings = mechanism.places, mechanism.followers, mechanism.couplings
        self.stated, self.mechanism = mechanism.stated, mechanism.mechanism
        self.alone, self.gear, self.home = mechanism.alone, mechanism.gear, mechanism.home
        self.constant_G, self.has_springs = mechanism.constant_G, mechanism.has_springs
        self._known = [mechanism.at_home]
        self._y = mechanism.home[None]
        self._last: tuple[bytes, list[Solution]] = (b'', [])
        lower, upper = limits_of(mechanism.mechanism.model, mechanism.joint_names)[:2]
        lower, upper = search_range(lower, upper, self.gear)
        left = lower + low_discrepancy(PLACES, len(lower)) * (upper - lower)
        far = np.full(len(left), np.inf)
        while len(left):
            far = np.minimum(far, np.abs(left - self._y[-1]).max(axis=1))
            k = int(np.argmin(far))
            self._known += self._towards(left[k : k + 1])
            self._y = np.concatenate([self._y, self._known[-1].y[None]])
            left, far = np.delete(left, k, axis=0), np.delete(far, k)

    def motion(self, y, yd=None, ydd=None) -> Motion:
        """Return the motion of all joints at y (..., m), or at the last positions on the ways there."""
        y = np.asarray(y, float)
        asked, found = self._last
        if asked != y.tobytes():
            found = self._towards(y.reshape(-1, y.shape[-1]))
            # at once, for other threads
            self._last = y.tobytes(), found
        return self._mechanism.moving(found, y.shape[:-1], yd, ydd)

    def matrix_rate(self, y, yd) -> np.ndarray:
        """Return dG/dt (..., nv, m) there."""
        return self._mechanism.rate_of(self.motion(y, yd))

    def spring_torque(self, motion: Motion) -> np.ndarray | None:
        """Return the torques (..., nv; N m, N) of springs and dampers, None where there are none."""
        return self._mechanism.spring_torque(motion)

    def _towards(self, rows: np.ndarray) -> list[Solution]:
        """Return the last solutions on the ways to rows (count, m): each from the nearest known one, or row before."""
        found, count = [*self._known], len(self._known)
        y = np.concatenate([self._y, rows])
        for k, row in enumerate(rows, count):
            last = begin = found[int(np.argmin(np.abs(y[:k] - row).max(axis=1)))]
            with suppress(LoopError, SingularError):
                for last in self._mechanism.way(begin, row, stride=STRIDE):  # noqa: B007 - where the way ends
                    pass
            found.append(last)
            y[k] = last.y
        return found[count:]
