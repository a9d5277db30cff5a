"""Locked joints of an arm: where they are, by its joint states, beside where the model holds them.

A joint that is locked elsewhere than it stands makes gravity torques wrong, unless what moves with it is light or
balanced about it: a finger, a wheel. Only joints that matter are compared.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.continuous_joints import TURN
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.summary.low_discrepancy import low_discrepancy

PARAMETER = 'locked_joint_tolerance'
SHARE = 0.01
"""Share of the effort limit, or of the largest gravity torque where it is unknown, of a change that matters."""
SAMPLES = 16
"""Positions of the other joints at which such a change is searched."""
PLACES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""Positions of a locked joint that are compared with where it is locked, as parts of its range."""
WIDE = 100.0
"""rad, m: limits from here on are no limits."""
DIRECTIONS = 9.81 * np.eye(3)
"""Gravity of the search, m/s^2: any mounting."""


@compiled(given='measured')
def _first_off(last: Vector, position: Vector, turn: Vector, tolerance: float, measured: Vector) -> int:
    """Write last (m) = measured (m) where that is known; return the first joint off its position (m), -1 for none.

    Positions are compared modulo turn (m; 0: none). NaN in ``measured`` is not known, in ``last`` not known yet.
    """
    found = -1
    for k in range(position.shape[0]):
        if measured[k] == measured[k]:
            last[k] = measured[k]
        distance = last[k] - position[k]
        if turn[k] > 0.0:
            distance -= turn[k] * np.floor(distance / turn[k] + 0.5)
        if found < 0 and abs(distance) > tolerance:
            found = k
    return found


class LockedJoints:
    """Joints that a model locks, ``names`` (m), and where.

    Parameters
    ----------
    robot : Robot
        With all joints, as a tree.
    positions : mapping of str to float
        Where joints are locked, rad or m.
    joint_names : sequence of str
        Joints whose torques are computed.
    tolerance : float
        Largest distance from where a joint is locked, rad or m.

    Attributes
    ----------
    are_right : bool
        Whether all were where they are locked, by the last call of ``fault``.
    """

    def __init__(self, robot: Robot, positions: Mapping[str, float], joint_names: Sequence[str], tolerance: float):
        self.names, self._tolerance = tuple(relevant(robot, positions, joint_names)), tolerance
        self._position = np.array([positions[name] for name in self.names])
        coordinates = _coordinates(robot)
        lower = robot.limits.lower[[coordinates[name] for name in self.names]]
        kinds = dict(zip(robot.joint_names, robot.model.joint_kinds, strict=True))
        turns = np.array([kinds[name] == 'revolute' for name in self.names], bool) & (lower == -np.inf)
        turn = np.where(turns, TURN, 0.0)
        self._last = np.full(len(self.names), np.nan)
        self.are_right = True
        parts = self._last, self._position, turn, float(tolerance)
        self._first_off = bound(_first_off, *parts, then=(np.zeros(len(self.names)),))

    def continue_from(self, before: 'LockedJoints') -> None:
        """Keep where the joints of another description of the arm were measured last."""
        for k, name in enumerate(self.names):
            if name in before.names:
                self._last[k] = before._last[before.names.index(name)]
        if self.names:
            self.fault(np.full(len(self.names), np.nan))

    def fault(self, measured: np.ndarray) -> str:
        """Return which joint is not where it is locked, '' for none.

        ``measured`` (m, rad or m) are positions of the last message; those that it lacks are NaN, and stay.
        """
        k = self._first_off(measured)
        self.are_right = k < 0
        if self.are_right:
            return ''
        return (
            f'joint {self.names[k]!r} is locked at {self._position[k]:.4g} rad or m, and is at {self._last[k]:.4g}: '
            f'more than {PARAMETER} ({self._tolerance:g}) away; correct locked_joints, or state '
            f"'{self.names[k]}: measured' there"
        )


def relevant(robot: Robot, positions: Mapping[str, float], joint_names: Sequence[str]) -> list[str]:
    """Return the joints of ``positions`` that change a gravity torque of ``joint_names`` by more than ``SHARE``.

    Each is moved alone through its range (a turn, if that is unknown), the others locked.
    """
    if not positions:
        return []
    coordinates = _coordinates(robot)
    lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
    unknown = ~((lower <= upper) & (np.fmax(np.abs(lower), np.abs(upper)) < WIDE))
    lower[unknown], upper[unknown] = -0.5 * TURN, 0.5 * TURN
    q = lower + low_discrepancy(SAMPLES, robot.nq) * (upper - lower)
    of_several = [k for k in range(robot.nq) if k not in coordinates.values()]
    q[:, of_several] = robot.neutral()[of_several]
    for name, position in positions.items():
        q[:, coordinates[name]] = position
    wanted = [robot.model.joint_of_velocity(k) in joint_names for k in range(robot.nv)]
    fields = [robot.with_gravity(gravity) for gravity in DIRECTIONS]

    def torques() -> np.ndarray:
        return np.stack([field.gravity_torque(q) for field in fields])[..., wanted]

    held, limit = torques(), robot.limits.effort[wanted]
    largest = np.where(np.isfinite(limit) & (limit > 0.0), limit, np.abs(held).max(axis=(0, 1)))
    found = []
    for name, position in positions.items():
        k = coordinates[name]
        for part in PLACES:
            q[:, k] = lower[k] + part * (upper[k] - lower[k])
            if (np.abs(torques() - held) > SHARE * largest).any():
                found.append(name)
                break
        q[:, k] = position
    return found


def _coordinates(robot: Robot) -> dict[str, int]:
    """Return the place of each joint of one coordinate in q."""
    names = [robot.model.joint_of_coordinate(k) for k in range(robot.nq)]
    return {name: k for k, name in enumerate(names) if names.count(name) == 1}
