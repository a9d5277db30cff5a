"""Position limits with a tolerance: positions that the arm cannot have, such as degrees, are refused by name."""

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.model import JointLimits, Model
from robot_dynamics_ros.robot import Robot

PARAMETER = 'position_limit_tolerance'
OTHER_UNITS = {'revolute': (np.pi / 180.0, 'are they degrees?'), 'prismatic': (1e-3, 'are they millimetres?')}
"""By the kind of a joint, factor and name of the unit that is most often confused with rad or m."""

FAR = 3.0
"""Positions beyond so many limits may be in such a unit."""


class PositionLimits:
    """The position limits of a robot's joints, widened by a tolerance; unknown and contradictory ones are infinite.

    Parameters
    ----------
    robot : Robot
        With these joints.
    tolerance : float
        Distance beyond a limit that is accepted, rad or m.
    names : sequence of str, optional
        Joints of one coordinate. Default: all.

    Attributes
    ----------
    lower, upper : ndarray, (n,)
        Smallest and largest accepted position, rad or m.
    """

    def __init__(self, robot: Robot, tolerance: float, names: Sequence[str] | None = None):
        self._names, self._tolerance = robot.joint_names if names is None else names, tolerance
        kinds = {joint.name: joint.kind for joint in robot.model.joints}
        self._kinds = [kinds[name] for name in self._names]
        limits = limits_of(robot.model, self._names)
        self._limits = np.array([limits.lower, limits.upper])
        lower, upper = self._limits
        known = lower <= upper  # neither NaN nor contradictory
        self.lower = np.where(known, lower - tolerance, -np.inf)
        self.upper = np.where(known, upper + tolerance, np.inf)

    def fault(self, joint: int, position: float) -> str:
        """Return why a ``position`` (rad, m) of the joint with this index is refused, '' where it is not."""
        if self.lower[joint] <= position <= self.upper[joint]:
            return ''
        lower, upper = self._limits[:, joint]
        factor, unit = OTHER_UNITS.get(self._kinds[joint], (0.0, ''))
        is_far = abs(position) > FAR * max(abs(lower), abs(upper))
        hint = f'; {unit}' if is_far and lower <= factor * position <= upper else ''
        return (
            f'joint {self._names[joint]!r}: position {position:.6g} is beyond its limits, {lower:.6g} to {upper:.6g} '
            f'rad or m, by more than {PARAMETER} ({self._tolerance:g}){hint}'
        )

    def check(self, what: str, positions: np.ndarray) -> None:
        """Raise ArgumentError for the first of positions (m, n; rad, m) that is refused, as that of ``what`` k."""
        outside = (positions < self.lower) | (positions > self.upper)
        if outside.any():
            k, joint = np.argwhere(outside)[0]
            raise ArgumentError(f'{what} {k}: {self.fault(int(joint), float(positions[k, joint]))}')


def limits_of(model: Model, names: Sequence[str]) -> JointLimits:
    """Return the limits of joints of one coordinate: those of positions are by coordinate, others by velocity."""
    of_q, of_v = (
        {joint(k): k for k in range(count)}
        for joint, count in (
            (model.joint_of_coordinate, len(model.limits.lower)),
            (model.joint_of_velocity, len(model.limits.effort)),
        )
    )
    coordinates, velocities = ([places[name] for name in names] for places in (of_q, of_v))
    lower, upper, velocity, effort = model.limits
    return JointLimits(lower[coordinates], upper[coordinates], velocity[velocities], effort[velocities])
