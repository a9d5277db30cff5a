"""A motion for any arm, within its limits and fast enough that feedforward torques change the tracking error.

The arm moves from one side of the middle of its joint ranges to the other and back. At a low speed torques hold little
but gravity, and PD + gravity leaves no more error than PD + feedforward does. So ranges become smaller, which allows
larger accelerations within the same velocity limits, until the predicted errors are far enough apart.

The error e of PD control follows M e'' + D e' + K e = d with a disturbing torque d: with gravity alone that of the
motion without gravity, with feedforward what the model lacks, which gravity alone lacks, too.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.joints.joint_friction import friction_along
from robot_dynamics_ros.control.laws.gain_limits import ProposedGains
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import Motion, sampled, time_scaling
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.tools.demonstration.mechanism_reach import is_within_reach

MASS_ERROR = 0.1
"""Of the plant, relative: it differs from the model, so that feedback matters."""
FRICTION_ERROR = 0.2
"""Likewise."""
SHARE_OF_RANGE = 0.8
SHARE_OF_VELOCITY = 0.8
SHARE_OF_EFFORT = 0.75
"""Of the effort limit: feedback and the model's errors need the rest."""
REACH, SLIDE = 1.0, 0.2
"""Largest distance from the middle, rad and m."""
SPEED, SLIDING_SPEED = 2.0, 0.5
"""Used where the description has no velocity limit, rad/s and m/s."""
LARGEST_ERROR = 0.15
"""Of the predicted error that accelerations cause under PD + gravity: rad; for prismatic joints ``SLIDE`` times it."""
SHORTEST = 0.25
"""Time from side to side, s."""
RATIO = 0.2
"""Predicted ratio of errors from which on the range is not made smaller."""
COUPLING = 0.1
"""Part of the torques of errors that other joints get in addition, by their inertia that both share."""
LARGEST_RATIO = 1.0 / 3.0
"""Of RMS errors, PD + feedforward to PD + gravity, on any joint: above it there is too little to see."""
LARGEST_PREDICTED = 1.2 * LARGEST_RATIO
"""Above it an arm is refused: predictions are up to 1.5 times the ratio of a simulation."""
SMALLER = 0.8 ** np.arange(16)
RUNS = (1, 2, 10_000)
"""Numbers of neighbouring joints that turn the same way; all of them, last."""
SAMPLES = 60
"""Of each half of the motion."""


class TrackingMotion(NamedTuple):
    """A motion through three points, at zero velocity and acceleration in each, that ends where it begins."""

    times: np.ndarray  # (3,) s
    positions: np.ndarray  # (3, n) rad, m
    ratio: float  # predicted RMS error, PD + feedforward to PD + gravity, of the worst joint

    def trajectory(self) -> Trajectory:
        """Return the motion as quintic polynomials."""
        zeros = np.zeros(self.positions.shape)
        return Trajectory(self.times, self.positions, zeros, zeros)


def tracking_motion(robot: Robot, gains: ProposedGains, effort_limit, rate: float) -> TrackingMotion:
    """Return the largest motion whose predicted ratio of errors is at most ``RATIO``, or that with the smallest ratio.

    Parameters
    ----------
    robot : Robot
        With n joints of one degree of freedom.
    gains : ProposedGains
        Of the controller that follows it.
    effort_limit : array_like, (n,)
        N m (prismatic joints: N), inf where a joint has none.
    rate : float
        Of the controller, Hz: each torque is about a period late, half of it because it is held.

    Returns
    -------
    TrackingMotion

    Raises
    ------
    ArgumentError
        Naming a joint whose effort limit leaves nothing for a motion, or the robot if its limits make it too slow.
    """
    middle, reach = joint_ranges(robot)
    effort = SHARE_OF_EFFORT * np.asarray(effort_limit, float)
    gravity = np.abs(robot.gravity_torque(middle))
    if (gravity > effort).any():
        j = int(np.argmax(gravity / effort))
        raise ArgumentError(
            f'joint {robot.joint_names[j]!r}: gravity needs {gravity[j]:.4g} of '
            f'{effort[j] / SHARE_OF_EFFORT:.4g} N m in mid-range; raise effort_limit (.inf: none)'
        )
    found: TrackingMotion | None = None
    patterns = [np.where(np.arange(robot.nv) // run % 2, -reach, reach) for run in RUNS]
    for smaller, sides in product(SMALLER, patterns):
        motion = _motion(robot, gains, middle, smaller * sides, effort, 1.0 / rate)
        if motion is not None and (found is None or motion.ratio < found.ratio):
            found = motion
        if found is not None and found.ratio <= RATIO:
            break
    if found is None and not is_within_reach(robot, [middle - SMALLER[-1] * reach, middle + SMALLER[-1] * reach]):
        raise ArgumentError(
            f'{robot.name}: its loops do not stay closed around the middle of its motion, away from singular positions '
            'and within the limits of all joints: state positions near which they are (near); check_model has more'
        )
    if found is None or not found.ratio <= LARGEST_PREDICTED:
        predicted = '' if found is None else f': feedforward would leave {found.ratio:.2f} of the error'
        limits, larger = 'effort and velocity limits', 'effort_limit (.inf: none), and '
        if np.isinf(effort).all():
            limits, larger = 'velocity limits', ''
        raise ArgumentError(
            f'{robot.name}: its {limits} leave too little for accelerations{predicted}; state larger ones: '
            f'{larger}velocity limits in the description'
        )
    return found


def slides(robot: Robot) -> np.ndarray:
    """Return whether each joint (n,) is prismatic."""
    kinds = {joint.name: joint.kind for joint in robot.model.joints}
    return np.array([kinds[name] == 'prismatic' for name in robot.joint_names], bool)


def joint_ranges(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Return the middle of the range of each joint and the reach to each side of it (n,), rad or m.

    A joint without limits has its middle at zero; one with a single limit beside it. A mechanism that does not reach
    all of that has its middle where its loops are closed first.
    """
    lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
    largest = np.where(slides(robot), SLIDE, REACH)
    lower = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2.0 * largest, -largest))
    upper = np.where(np.isfinite(upper), upper, lower + 2.0 * largest)
    middle = 0.5 * (lower + upper)
    if not is_within_reach(robot, middle[None]):
        middle = robot.neutral()
    room = np.maximum(0.0, np.minimum(upper - middle, middle - lower))
    return middle, np.minimum(SHARE_OF_RANGE * room, largest)


def _motion(robot: Robot, gains: ProposedGains, middle, sides, effort, delay: float) -> TrackingMotion | None:
    """Return the fastest motion to ``middle`` -+ ``sides`` (n) within limits.

    None if gravity needs more effort, or a mechanism does not reach all of it.
    """
    positions = np.array([middle - sides, middle + sides, middle - sides])
    if not is_within_reach(robot, positions[:2]):
        return None
    unit = _sampled(positions, 1.0)
    sliding = slides(robot)
    speed = np.where(np.isnan(robot.limits.velocity), np.where(sliding, SLIDING_SPEED, SPEED), robot.limits.velocity)
    factor = time_scaling(robot, unit, effort, SHARE_OF_VELOCITY * speed)
    if factor is None:
        return None
    moving = robot.inverse_dynamics(unit.q, unit.qd, unit.qdd) - robot.gravity_torque(unit.q)
    allowed = gains.stiffness * np.where(sliding, SLIDE, 1.0) * LARGEST_ERROR
    # torques of accelerations fall with the square of the time
    duration = max(factor, SHORTEST, float(np.sqrt((np.abs(moving) / allowed).max())))
    ratio = _ratio(robot, gains, _sampled(positions, duration), duration / SAMPLES, delay)
    return TrackingMotion(duration * np.arange(3.0), positions, ratio)


def _sampled(positions: np.ndarray, duration: float) -> Motion:
    return sampled(TrackingMotion(duration * np.arange(3.0), positions, np.nan).trajectory(), duration / SAMPLES)


def _ratio(robot: Robot, gains: ProposedGains, motion: Motion, period: float, delay: float) -> float:
    """Return the largest predicted ratio of RMS errors."""
    gravity = robot.gravity_torque(motion.q)
    rigid = robot.inverse_dynamics(motion.q, motion.qd, motion.qdd)
    friction = friction_along(robot, motion.q)(motion.qd, rigid)
    lacking = MASS_ERROR * (rigid - robot.rotor_inertia * motion.qdd) + FRICTION_ERROR * friction
    late = delay * np.gradient(rigid + friction, period, axis=0)
    disturbance = np.stack((lacking, late, rigid - gravity + friction + lacking), axis=-1)
    M = robot.mass_matrix(motion.q)
    error = _errors(M, gains, disturbance, period)
    of_model, of_delay, alone = np.sqrt(np.mean(error**2, axis=0)).T
    # what errors of other joints do beside that, by Coriolis and gravity torques
    share = np.mean(np.abs(M) / np.diagonal(M, axis1=1, axis2=2)[:, None, :], axis=0) - np.eye(robot.nv)
    of_others = COUPLING * (share @ (gains.stiffness * of_model)) / gains.stiffness
    return float(((of_model + of_delay + of_others) / alone).max())


def _errors(M, gains: ProposedGains, disturbance, h: float) -> np.ndarray:
    """Return e (m, n, laws) of M e'' + D e' + K e = d for M (m, n, n) and d (m, n, laws), from rest at K e = d.

    By the implicit Euler method with steps of ``h`` (s): (M + h D + h^2 K) v = M v_before + h (d - K e), e += h v.
    """
    K = gains.stiffness[:, None]
    inverse = np.linalg.inv(M + h * np.diag(gains.damping) + h * h * np.diag(gains.stiffness))
    e, v = disturbance[0] / K, np.zeros(disturbance.shape[1:])
    result = np.empty_like(disturbance)
    for k, d in enumerate(disturbance):
        v = inverse[k] @ (M[k] @ v + h * (d - K * e))
        e = e + h * v
        result[k] = e
    return result
