"""Limits of a checked plan: how much of them it uses, and what to do about a plan that exceeds one."""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.trajectories.planned_efforts import PlannedEfforts
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import MOST_SAMPLES, SLOWEST, Check, check
from robot_dynamics_ros.robot import Robot

PER_MILLE = 1e3


class LimitUse(NamedTuple):
    """How much of its limits a plan uses; n joints, 0 where a limit is unknown."""

    effort: np.ndarray  # (n,) |peak effort| / effort limit
    velocity: np.ndarray  # (n,) peak velocity / velocity limit

    @property
    def largest(self) -> tuple[int, bool, float]:
        """The joint's index with the largest use of a limit, whether it is one of velocity, and that use."""
        uses = np.array([self.effort, self.velocity])
        is_velocity, joint = np.unravel_index(uses.argmax(), uses.shape)
        return int(joint), bool(is_velocity), float(uses.max())


def check_plan(robots: Sequence[Robot], trajectory: Trajectory, period: float, effort_limit) -> Check:
    """Return the check of a plan, whose time scaling also holds at the samples of the scaled plan.

    These are as far apart in time, so closer along the path: a peak between two samples of the plan may be one of them.

    Parameters
    ----------
    robots : sequence of Robot
        The arm with each payload and gravity that the plan may meet. Each effort is the one of largest magnitude, and
        the time scaling fits all of them.
    trajectory, period, effort_limit
        As those of ``check``, whose errors are raised.

    Returns
    -------
    Check
    """
    return reduce(_worse, (_check_one(robot, trajectory, period, effort_limit) for robot in robots))


def _check_one(robot: Robot, trajectory: Trajectory, period: float, effort_limit) -> Check:
    """Return the check of a plan with one payload and gravity."""
    found = check(robot, trajectory, period, effort_limit)
    if found.time_scaling is None or found.time_scaling <= 1.0:
        return found
    if len(found.motion.times) * found.time_scaling > MOST_SAMPLES:
        return found
    scaled = check(robot, trajectory, period / found.time_scaling, effort_limit).time_scaling
    return found._replace(time_scaling=None if scaled is None else max(found.time_scaling, scaled))


def _worse(one: Check, other: Check) -> Check:
    """Return the check of a plan that may meet either: of each effort the larger magnitude, the slower time scaling."""
    larger = np.abs(other.peak_effort) > np.abs(one.peak_effort)
    feasible = one.time_scaling is not None and other.time_scaling is not None
    return one._replace(
        effort=_larger(one.effort, other.effort),
        static_effort=_larger(one.static_effort, other.static_effort),
        peak_effort=_larger(one.peak_effort, other.peak_effort),
        peak_effort_time=np.where(larger, other.peak_effort_time, one.peak_effort_time),
        effort_margin=np.minimum(one.effort_margin, other.effort_margin),
        time_scaling=max(one.time_scaling or 0.0, other.time_scaling or 0.0) if feasible else None,
    )


def _larger(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return, of two numbers each, the one of larger magnitude."""
    return np.where(np.abs(other) > np.abs(one), other, one)


def limit_use(found: Check) -> LimitUse:
    """Return how much of its limits a checked plan uses."""
    return LimitUse(
        np.nan_to_num(np.abs(found.peak_effort) / found.effort_limit),
        np.nan_to_num(found.peak_velocity / found.velocity_limit),
    )


def exceeded(found: Check, joint_names) -> str:
    """Return which limit a plan exceeds and which time scaling fits, '' for a plan that may be executed.

    A plan within its limits may not be executed either where gravity alone exceeds one: the arm could not stop there.

    Parameters
    ----------
    found : Check
        Of the plan.
    joint_names : sequence of str
        The n joints of the robot.

    Returns
    -------
    str
        For the log: joint, time, value, limit, and what helps.
    """
    joint, is_velocity, use = limit_use(found).largest
    if use <= 1.0 and found.time_scaling is not None:
        return ''
    if use <= 1.0:
        cause = 'within the limits as planned'
    elif is_velocity:
        cause = (
            f'joint {joint_names[joint]!r} reaches {found.peak_velocity[joint]:.4g} rad/s, its velocity limit is '
            f'{found.velocity_limit[joint]:g} rad/s'
        )
    else:
        cause = (
            f'joint {joint_names[joint]!r} needs {found.peak_effort[joint]:.4g} N m at '
            f'{found.peak_effort_time[joint]:.3f} s, its effort limit is {found.effort_limit[joint]:g} N m'
        )
    return f'{cause}; {_remedy(found, joint_names)}'


def limited(efforts: PlannedEfforts, joint_names) -> str:
    """Return which effort of a plan had to be limited most, for the log; '' if none was."""
    if not efforts.limited:
        return ''
    use = np.abs(efforts.wanted) / efforts.limit
    sample, joint = np.unravel_index(use.argmax(), use.shape)
    return (
        f'the terms of compensation need {efforts.wanted[sample, joint]:.4g} N m of joint {joint_names[joint]!r} at '
        f'{efforts.times[sample]:.3f} s, its effort limit is {efforts.limit[joint]:g} N m; plan with smaller '
        'accelerations, or choose other terms'
    )


def _remedy(found: Check, joint_names) -> str:
    """Return which time scaling fits, or why none does."""
    if found.time_scaling is not None:
        # rounded up, and one more for the samples of that plan, which are at other places
        scaling = (np.ceil(found.time_scaling * PER_MILLE) + 1.0) / PER_MILLE
        return f'times multiplied by {scaling:.3f} would fit'
    excess = np.nan_to_num(np.abs(found.static_effort) / found.effort_limit)
    sample, joint = np.unravel_index(excess.argmax(), excess.shape)
    if excess[sample, joint] > 1.0:
        return (
            f'no time scaling fits: at rest at {found.motion.times[sample]:.3f} s joint {joint_names[joint]!r} would '
            f'need {found.static_effort[sample, joint]:.4g} N m of its {found.effort_limit[joint]:g} N m'
        )
    return f'no time scaling up to {SLOWEST:g} fits: friction or a velocity limit is in the way'
