"""Motions that ``compare`` offers for any robot."""

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.trajectories.motion_profiles import (
    SampledMotion,
    cubic,
    fourier_series,
    quintic,
    trapezoidal,
)
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formulations.kinematic_tree import JOINT_TYPES
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.comparison.circular_motion import circle

PROFILES = {'quintic': quintic, 'cubic': cubic, 'trapezoidal': trapezoidal}
MOTIONS = (*PROFILES, 'fourier', 'circle')
HARMONICS = 5
MOST_STATES = 100_000
REACH = 1.0
"""Distance in rad or m that a joint without position limits moves."""
LECTURE = np.radians([[0, -45, 0, 0, 0, 0], [65, -55, -35, 15, 10, 5]])
"""Start and end of the course's motion, chapter 6, rad."""
BENT = np.radians([20, -40, 60, 30, 90, 10])
"""Start of a circle of the AUBO-i5, rad."""


def motion_of(
    robot: Robot,
    name: str,
    start: Sequence[float] | None,
    end: Sequence[float] | None,
    duration: float,
    states: int,
    seed: int,
) -> SampledMotion:
    """Return a motion of one of ``MOTIONS``, within the robot's limits.

    ``start`` and ``end`` (n; rad or m) are those of the course for the AUBO-i5, else at 40 % and 60 % of the range of
    each joint. A Fourier series has random amplitudes around their middle. A circle begins at ``start``, or by default
    at the end of other motions, the AUBO-i5 with a bent wrist. Raises ArgumentError naming the option.
    """
    if not robot.nv:
        raise ArgumentError(f'robot: {robot.name} has no joint that moves')
    for joint in robot.model.joints:
        if joint.kind not in JOINT_TYPES:
            expected = ' or '.join(JOINT_TYPES)
            raise ArgumentError(
                f'robot: joint {joint.name!r} of {robot.name} is {joint.kind}; expected {expected} joints'
            )
    if not 0.0 < duration < np.inf:
        raise ArgumentError(f'--duration: expected a positive time in s, got {duration:g}')
    if not 2 <= states <= MOST_STATES:
        raise ArgumentError(f'--states: expected 2 to {MOST_STATES:,}, got {states}')
    if seed < 0:
        raise ArgumentError(f'--seed: expected at least 0, got {seed}')
    if (start is None) != (end is None):
        raise ArgumentError('--start and --end: give both or none')
    ends = _ends(robot) if start is None or end is None else (start, end)
    first, last = (
        validation.finite(option, value, (robot.nq,)) for option, value in zip(('--start', '--end'), ends, strict=True)
    )
    t = np.linspace(0.0, duration, states)
    if name == 'circle':
        return circle(robot, _begin_of_circle(robot) if start is None else first, t).within_limits(robot)
    if name in PROFILES:
        return PROFILES[name](first, last, t).within_limits(robot)
    random = np.random.default_rng(seed)
    sines, cosines = random.uniform(-1.0, 1.0, (2, HARMONICS, robot.nv)) * np.abs(last - first) / duration
    return fourier_series(0.5 * (first + last), sines, cosines, 1.0 / duration, t).within_limits(robot)


def _begin_of_circle(robot: Robot) -> np.ndarray:
    """Return where a circle begins if no start is given: with a bent wrist, since a straight one is singular."""
    return BENT if _is_lectures(robot) else _ends(robot)[1]


def _ends(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Return start and end of the motion if none are given."""
    if _is_lectures(robot):
        return LECTURE[0], LECTURE[1]
    lower, upper = robot.limits.lower, robot.limits.upper
    known = np.isfinite(lower) & np.isfinite(upper)
    lower, upper = np.where(known, lower, -0.5 * REACH), np.where(known, upper, 0.5 * REACH)
    return lower + 0.4 * (upper - lower), lower + 0.6 * (upper - lower)


def _is_lectures(robot: Robot) -> bool:
    """Return whether a robot is the course's arm."""
    return robot.name.startswith('aubo_i5') and robot.nq == LECTURE.shape[1]
