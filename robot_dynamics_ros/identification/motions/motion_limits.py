"""Limits of a motion for identification: those of the description, those that are stated, those that are assumed."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.laws.acceleration_limits import RISE_TIME
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot


class MotionLimits(NamedTuple):
    """Limits of each joint, (n,) each."""

    lower: np.ndarray  # rad, m
    upper: np.ndarray  # rad, m
    velocity: np.ndarray  # rad/s, m/s
    acceleration: np.ndarray  # rad/s^2, m/s^2
    effort: np.ndarray  # N m, N


def motion_limits(robot: Robot, stated: Mapping[str, ArrayLike] | None = None, share: float = 1.0) -> MotionLimits:
    """Return the limits of a robot's rigid-body motion, of which ``share`` is used.

    ``effort`` is what friction at the velocity limit leaves of the effort limit. Where none is stated, the acceleration
    reaches the velocity limit in 0.3 s, and continuous joints turn by half a turn either way.

    Parameters
    ----------
    robot : Robot
    stated : mapping, optional
        Values in place of ``robot.limits``: 'lower', 'upper', 'velocity', 'acceleration', 'effort', each a number or
        (n,).
    share : float
        Share of the limits, and of the range about its middle, above 0 and at most 1.

    Returns
    -------
    MotionLimits

    Raises
    ------
    ArgumentError
        Naming the argument, or the joint with its limit.
    """
    if not 0.0 < validation.positive('share', share) <= 1.0:
        raise ArgumentError(f'share: expected at most 1, got {share:g}')
    given = robot.limits._asdict()
    for name, value in (stated or {}).items():
        array = validation.numbers(f'limits: {validation.choice("limits", name, MotionLimits._fields)}', value)
        if array.shape not in ((), (robot.nv,)):
            raise ArgumentError(f'limits: {name}: expected a number or shape ({robot.nv},), got {array.shape}')
        given[name] = np.broadcast_to(array, robot.nv)
    turns = np.array([joint.kind == 'revolute' for joint in robot.model.joints])
    lower = np.where(turns & np.isinf(given['lower']), -np.pi, given['lower'])
    upper = np.where(turns & np.isinf(given['upper']), np.pi, given['upper'])
    given |= {'lower': lower, 'upper': upper, 'acceleration': given.get('acceleration', given['velocity'] / RISE_TIME)}
    for name in MotionLimits._fields:
        is_missing = ~np.isfinite(given[name]) | ((given[name] <= 0.0) & (name not in ('lower', 'upper')))
        _refuse(robot, is_missing, f'has no {name} limit: state it in limits')
    _refuse(robot, ~(lower < upper), 'has a lower limit that is not below its upper one')
    velocity, friction = share * given['velocity'], robot.friction
    overcome = (friction.viscous + friction.quadratic * velocity) * velocity
    overcome = overcome + friction.coulomb + np.abs(friction.offset) + friction.stribeck
    effort = (share * given['effort'] - overcome) / (1.0 + friction.load)
    _refuse(robot, effort <= 0.0, 'has more friction at its velocity limit than its effort limit')
    spare = 0.5 * (1.0 - share) * (upper - lower)
    return MotionLimits(lower + spare, upper - spare, velocity, share * given['acceleration'], effort)


def _refuse(robot: Robot, wrong: np.ndarray, why: str) -> None:
    """Raise ArgumentError for the first joint that is ``wrong`` (n,)."""
    if wrong.any():
        raise ArgumentError(f'limits: joint {robot.joint_names[int(wrong.argmax())]!r} {why}')
