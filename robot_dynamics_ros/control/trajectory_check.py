"""What a trajectory asks of a robot's joints, and how fast it may be run within their limits."""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

PERIOD = 0.01  # s, between two samples unless another is asked for
MOST_SAMPLES = 100_000
FASTEST, SLOWEST = 0.1, 100.0  # factors of time that are tried
STEP = 1.1  # between factors that are tried before bisection: what lies between two of them is taken for monotone
TOLERANCE = 1e-9  # of the factor, relative


class Motion(NamedTuple):
    """A trajectory at m times: the two ends of each segment, so that points between segments occur twice."""

    times: np.ndarray  # (m,) s
    q: np.ndarray  # (m, n) rad or m
    qd: np.ndarray  # (m, n)
    qdd: np.ndarray  # (m, n)
    last: np.ndarray  # (m,) whether no other sample of this time follows


class Check(NamedTuple):
    """What ``check`` found; n joints, m samples."""

    motion: Motion
    effort: np.ndarray  # (m, n) N m or N: gravity, Coriolis, inertia, friction
    peak_effort: np.ndarray  # (n,) of largest magnitude, with its sign
    peak_effort_time: np.ndarray  # (n,) s
    effort_margin: np.ndarray  # (n,) limit less magnitude of the peak; NaN where the limit is unknown
    peak_velocity: np.ndarray  # (n,) largest speed
    time_scaling: float | None
    """Smallest factor of time, from ``FASTEST`` on, with the samples within the known limits; None: there is none.

    There is none where gravity alone is beyond a limit, for there the arm could not stop, or where friction or a limit
    of velocity leaves none up to ``SLOWEST``.
    """


def check(robot: Robot, trajectory: Trajectory, period: float = PERIOD) -> Check:
    """Return what ``trajectory`` asks of ``robot`` at samples that are at most ``period`` s apart.

    It is looked at from its first point to its last. Raises ArgumentError for a period that is not positive and for
    more than ``MOST_SAMPLES`` samples, and where an effort is not finite.
    """
    motion = sampled(trajectory, period)
    efforts = _Efforts(robot, motion)
    effort = efforts.at(1.0)
    if not np.isfinite(effort).all():
        raise ArgumentError('trajectory: its efforts are not finite; some of its numbers or gravity are too large')
    peak, joints = np.abs(effort).argmax(axis=0), np.arange(robot.nv)
    peak_effort = effort[peak, joints]
    peak_velocity = np.abs(motion.qd).max(axis=0)
    return Check(
        motion,
        effort,
        peak_effort,
        motion.times[peak],
        robot.limits.effort - np.abs(peak_effort),
        peak_velocity,
        _time_scaling(efforts, _known(robot.limits.effort), (peak_velocity / _known(robot.limits.velocity)).max()),
    )


def sampled(trajectory: Trajectory, period: float) -> Motion:
    """Return ``trajectory`` at times at most ``period`` s apart, each segment from its start to its end.

    Raises ArgumentError as ``check`` does.
    """
    if not 0.0 < period < np.inf:
        raise ArgumentError(f'sample_period: expected a positive number of seconds, got {period}')
    starts, coefficients, final = trajectory.segments
    if not len(coefficients):
        rest = np.zeros((1, len(final)))
        return Motion(starts, final[None], rest, rest, np.array([True]))
    lengths = np.diff(starts)
    parts = np.ceil(lengths / period)
    count = np.sum(parts + 1)
    if count > MOST_SAMPLES:
        raise ArgumentError(
            f'sample_period: {period:g} s makes {count:.0f} samples of {lengths.sum():g} s, at most {MOST_SAMPLES} are'
            ' answered'
        )
    parts = parts.astype(int)
    segment = np.repeat(np.arange(len(parts)), parts + 1)
    step = np.concatenate([np.arange(part + 1) for part in parts])
    ends = step == parts[segment]
    t = (step / parts[segment] * lengths[segment])[:, None]
    exponent = np.arange(1, 6)[:, None]
    velocity = exponent * coefficients[:, 1:]
    acceleration = exponent[:-1] * velocity[:, 1:]
    last = ~ends
    last[-1] = True
    times = np.where(ends, starts[segment + 1], starts[segment] + t[:, 0])
    q, qd, qdd = (_polynomial(powers[segment], t) for powers in (coefficients, velocity, acceleration))
    return Motion(times, q, qd, qdd, last)


class _Efforts:
    """The efforts of a motion that is run faster or slower."""

    def __init__(self, robot: Robot, motion: Motion):
        """Prepare what does not depend on the speed."""
        self._robot, self._qd = robot, motion.qd
        self._gravity = robot.gravity_torque(motion.q)
        # M qdd + c, both of which go with the square of the speed
        self._moving = robot.inverse_dynamics(motion.q, motion.qd, motion.qdd) - self._gravity

    def at(self, factor: float) -> np.ndarray:
        """Return the efforts (m, n) where all times are multiplied by ``factor``; infinity is rest."""
        rigid = self._gravity + self._moving / factor**2
        return rigid + self._robot.friction_torque(self._qd / factor, rigid)


def _time_scaling(efforts: _Efforts, limit: np.ndarray, least: float) -> float | None:
    """Return the smallest factor of time, ``FASTEST`` and ``least`` or more, with efforts up to ``limit`` (n)."""

    def fits(factor: float) -> bool:
        return bool((np.abs(efforts.at(factor)) <= limit).all())

    slower = max(FASTEST, least)
    if not fits(np.inf) or slower > SLOWEST:
        return None
    faster = slower
    while not fits(slower):
        if slower >= SLOWEST:
            return None
        faster, slower = slower, min(STEP * slower, SLOWEST)
    while slower > faster * (1.0 + TOLERANCE):
        middle = np.sqrt(faster * slower)
        faster, slower = (faster, middle) if fits(middle) else (middle, slower)
    return float(slower)


def _known(limit: np.ndarray) -> np.ndarray:
    """Return limits (n), infinite where they are unknown."""
    return np.where(np.isnan(limit), np.inf, limit)


def _polynomial(coefficients: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return polynomials (m, n) at t (m, 1) of ``coefficients`` (m, powers, n), lowest power first."""
    value = coefficients[:, -1]
    for power in range(coefficients.shape[1] - 2, -1, -1):
        value = value * t + coefficients[:, power]
    return value
