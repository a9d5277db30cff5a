"""Trajectory check: peak efforts and velocities of a trajectory, and the time scaling that keeps them within limits."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.control.joints.joint_friction import friction_along, has_friction
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.robot import Robot

PERIOD = 0.01  # default time between two samples, s
MOST_SAMPLES = 100_000
ROUNDING = 1e-6  # of a period, by which two points may be further apart: their times are rounded
FASTEST, SLOWEST = 0.1, 100.0  # range of the time scaling
STEP = 1.1  # ratio of two factors of the search before bisection, which assumes that efforts decrease between them
TOLERANCE = 1e-9  # of the time scaling, relative


class Motion(NamedTuple):
    """A trajectory at m times, which include both ends of each segment: a point between two segments occurs twice."""

    times: np.ndarray  # (m,) s
    q: np.ndarray  # (m, n) rad or m
    qd: np.ndarray  # (m, n)
    qdd: np.ndarray  # (m, n)
    last: np.ndarray  # (m,) whether this is the last sample of its time


class Check(NamedTuple):
    """Result of ``check``; n joints, m samples."""

    motion: Motion
    effort: np.ndarray  # (m, n) N m or N: gravity, Coriolis, inertia, friction
    static_effort: np.ndarray  # (m, n) N m or N: of an arm that stands still at the sample
    peak_effort: np.ndarray  # (n,) effort of largest magnitude, with its sign, N m or N
    peak_effort_time: np.ndarray  # (n,) s
    effort_limit: np.ndarray  # (n,) N m or N; NaN: unknown
    effort_margin: np.ndarray  # (n,) effort limit minus |peak_effort|; NaN if the limit is unknown
    peak_velocity: np.ndarray  # (n,) largest speed, rad/s or m/s
    velocity_limit: np.ndarray  # (n,) rad/s or m/s; NaN: unknown
    time_scaling: float | None
    """Smallest factor of all times, at least ``FASTEST``, with every sample within the known limits; None: infeasible.

    It is infeasible if gravity alone exceeds an effort limit, so that the arm could not stop there, or if friction or a
    velocity limit needs a factor beyond ``SLOWEST``.
    """


def check(robot: Robot, trajectory: Trajectory, period: float = PERIOD, effort_limit: ArrayLike | None = None) -> Check:
    """Peak efforts and velocities of a trajectory, and the smallest factor of its times that keeps them within limits.

    Parameters
    ----------
    robot : Robot
        With the payload and gravity of the motion.
    trajectory : Trajectory
        Sampled from its first point to its last, both ends of each segment included.
    period : float
        Largest time between two samples, s.
    effort_limit : array_like, (n,), optional
        N m (prismatic joints: N); NaN or inf: none. Default: that of the robot.

    Returns
    -------
    Check

    Raises
    ------
    ArgumentError
        For a period that is not positive, more than ``MOST_SAMPLES`` samples or an effort that overflows.
    ModelError
        For a robot with closed loops, whose efforts a motion does not determine.
    """
    check_tree(robot.model, 'trajectory check')
    motion = sampled(trajectory, period)
    efforts = _Efforts(robot, motion)
    effort = efforts.at(1.0)
    if not np.isfinite(effort).all():
        raise ArgumentError('trajectory: its efforts overflow; reduce its velocities, accelerations or gravity')
    peak, joints = np.abs(effort).argmax(axis=0), np.arange(robot.nv)
    peak_effort = effort[peak, joints]
    peak_velocity, velocity_limit = np.abs(motion.qd).max(axis=0), robot.limits.velocity
    limit = robot.limits.effort if effort_limit is None else np.asarray(effort_limit, float)
    return Check(
        motion,
        effort,
        efforts.at(np.inf),
        peak_effort,
        motion.times[peak],
        limit,
        limit - np.abs(peak_effort),
        peak_velocity,
        velocity_limit,
        _time_scaling(efforts, _known(limit), (peak_velocity / _known(velocity_limit)).max()),
    )


def sampled(trajectory: Trajectory, period: float) -> Motion:
    """Return samples of ``trajectory`` that are at most ``period`` s apart; raise ArgumentError as ``check`` does."""
    if not 0.0 < period < np.inf:
        raise ArgumentError(f'sample_period: expected a positive number of seconds, got {period}')
    starts, coefficients, final = trajectory.segments
    if not len(coefficients):
        zeros = np.zeros((1, len(final)))
        return Motion(starts, final[None], zeros, zeros, np.array([True]))
    lengths = np.diff(starts)
    parts = np.maximum(1.0, np.ceil(lengths / period - ROUNDING))
    count = np.sum(parts + 1)
    if count > MOST_SAMPLES:
        raise ArgumentError(
            f'sample_period: {period:g} s makes {count:.0f} samples of {lengths.sum():g} s, at most {MOST_SAMPLES} are'
            ' allowed; choose a longer period'
        )
    parts = parts.astype(int)
    samples = parts + 1
    segment = np.repeat(np.arange(len(parts)), samples)
    step = np.arange(samples.sum()) - np.repeat(np.cumsum(samples) - samples, samples)
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


def time_scaling(robot: Robot, motion: Motion, effort_limit, velocity_limit) -> float | None:
    """Smallest factor of all times that keeps a motion within limits, as ``Check.time_scaling``.

    Parameters
    ----------
    robot : Robot
        With the payload and gravity of the motion.
    motion : Motion
        As ``sampled`` returns it.
    effort_limit : array_like, (n,)
        N m (prismatic joints: N); NaN or inf: no limit.
    velocity_limit : array_like, (n,)
        rad/s or m/s, likewise.

    Returns
    -------
    float or None
        At least ``FASTEST``; None: infeasible.
    """
    least = (np.abs(motion.qd).max(axis=0) / _known(velocity_limit)).max()
    return _time_scaling(_Efforts(robot, motion), _known(effort_limit), least)


class _Efforts:
    """Efforts of a motion with scaled times: g + (M qdd + c) / factor^2 + friction(qd / factor).

    ``has_friction`` is False where the last term is zero for all joints.
    """

    def __init__(self, robot: Robot, motion: Motion):
        """Compute the terms that do not depend on the factor."""
        self._friction, self._qd = friction_along(robot, motion.q), motion.qd
        self._gravity = robot.gravity_torque(motion.q)
        # M qdd + c, proportional to the square of the speed
        self._moving = robot.inverse_dynamics(motion.q, motion.qd, motion.qdd) - self._gravity
        self.has_friction = has_friction(robot)

    def at(self, factor: float) -> np.ndarray:
        """Return the efforts (m, n) with all times multiplied by ``factor``; infinity: the arm stands still."""
        rigid = self._gravity + self._moving / factor**2
        return rigid + self._friction(self._qd / factor, rigid)

    def frictionless_scaling(self, limit: np.ndarray) -> float:
        """Return the smallest factor with |g + (M qdd + c) / factor^2| <= ``limit`` (n), where |g| <= ``limit``.

        Each sample of a joint demands factor^2 >= |m| / (limit - sign(m) g), with m = M qdd + c.
        """
        moving, room = np.abs(self._moving), limit - np.sign(self._moving) * self._gravity
        with np.errstate(divide='ignore'):
            squares = np.divide(moving, room, out=np.zeros_like(moving), where=moving > 0.0)
        return float(np.sqrt(squares.max())) * (1.0 + TOLERANCE)


def _time_scaling(efforts: _Efforts, limit: np.ndarray, least: float) -> float | None:
    """Return the smallest factor >= ``FASTEST`` and ``least`` with |effort| <= ``limit`` (n); None: infeasible."""

    def fits(factor: float) -> bool:
        return bool((np.abs(efforts.at(factor)) <= limit).all())

    slower = max(FASTEST, least)
    if not fits(np.inf) or slower > SLOWEST:
        return None
    if not efforts.has_friction:
        slower = max(slower, efforts.frictionless_scaling(limit))
        return None if slower > SLOWEST else float(slower)
    # friction is no polynomial of the factor: steps until every sample fits, then bisection
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
    """Return limits (n) with infinity for unknown ones."""
    return np.where(np.isnan(limit), np.inf, limit)


def _polynomial(coefficients: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return polynomials (m, n) at t (m, 1) with ``coefficients`` (m, powers, n), lowest power first."""
    value = coefficients[:, -1]
    for power in range(coefficients.shape[1] - 2, -1, -1):
        value = value * t + coefficients[:, power]
    return value
