"""Findings on logs: what makes an identification doubtful, such as a short log, rests, delays and changing friction."""

from collections.abc import Iterator

import numpy as np

from robot_dynamics_ros.identification.delay import LEAST_DELAY, delay_of_torques
from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.identification.logs.motion_plausibility import acceleration_findings, velocity_findings
from robot_dynamics_ros.identification.logs.signals import LARGEST_DELAY, estimate_delay, moving
from robot_dynamics_ros.identification.prediction import Validation
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot

SHORT = 15.0
"""Time in motion below which a log is short, s: a period of the usual excitations is 10 s."""
REST = 2.0
"""Longest standstill without a finding, s."""
SMALL_MOTION = 0.3
"""Least range of positions of an excited joint, rad (m)."""
SLOW_SHARE = 0.5
"""Least share of samples at which an excited joint is in motion."""
DRIFT = 0.15
"""Largest change of friction between the halves of a log without a finding, as a share of it."""
COUNTS = 0.2
"""Least friction whose change is reported, as a share of the deviation of the torque."""
REVERSED = 0.1
"""Negative work, as a share of the absolute one, from which a torque that fits badly may be reversed."""
POOR = 0.9
"""Least R2 of a joint without a finding."""
MISSING = 'friction, contact, a coupling of motors or noise that the model lacks may be most of it'

SHARES = 0.4, 2.5
"""Torque without a finding, as a share of the one that was known before."""


def log_findings(robot: Robot, known: Robot, log: Log, shown: Validation) -> Iterator[Finding]:
    """Yield what makes the result doubtful: a log, the ``validation`` of the robot found, gravity unlike ``known``."""
    of_accelerations = acceleration_findings(robot, log)
    yield from (*velocity_findings(robot, log), *of_accelerations)
    if not of_accelerations:  # by noise, or wrong ones, no delay is known
        yield from _of_delay(delay_of_torques(robot, log))
    for text in _of_time(log):
        yield Finding('warning', 'log', text)
    yield from unit_findings('gravity', robot.gravity_torque(log.q), known.gravity_torque(log.q), known.name)
    verdict = log.effort_at_rest(robot)
    if verdict.fits is False:
        yield Finding('warning', 'log', f'efforts at rest: {verdict.sentence}')
    friction = shown.predicted - robot.inverse_dynamics(log.q, log.qd, log.qdd)
    for j, name in enumerate(robot.joint_names):
        yield from (Finding('warning', f'joint {name!r}', text) for text in _of_joint(log, shown, friction, j))


def signal_findings(robot: Robot, log: Log, measured: np.ndarray, predicted: np.ndarray) -> Iterator[Finding]:
    """Yield that a log needs ``Log.low_pass`` or ``Log.without_delay``, by torques (m, n) of a model that fits it."""
    yield from velocity_findings(robot, log)
    yield from acceleration_findings(robot, log)
    largest = min(LARGEST_DELAY, (log.t[-1] - log.t[0]) / 5.0)
    yield from _of_delay(estimate_delay(log.t, measured, predicted, largest))


def unit_findings(what: str, found: np.ndarray, expected: np.ndarray, of: str) -> Iterator[Finding]:
    """Yield a finding on torques (k, n) that are another multiple of the expected ones than wrong masses explain."""
    share = factor(expected, found) if expected.any() else 1.0
    if not SHARES[0] < share < SHARES[1]:
        text = f'the {what} torque is {share:.2g} times the one of {of}'
        yield Finding('warning', 'log', f'{text}: efforts have another unit or meaning, or its masses are wrong')


def factor(expected: np.ndarray, found: np.ndarray) -> float:
    """Return the factor of ``expected`` that is nearest to ``found``, of its shape; 0 where nothing is expected."""
    square = float((expected**2).sum())
    return float((expected * found).sum()) / square if square > 0.0 else 0.0


def _of_time(log: Log) -> Iterator[str]:
    """Yield findings on the duration and the longest standstill."""
    steps, moves = np.diff(log.t), moving(log.qd)[1:]
    steps = np.minimum(steps, 10.0 * np.median(steps))  # parts of a log have gaps
    in_motion = float(steps[moves].sum())
    if in_motion < SHORT:
        yield f'the arm is in motion for {in_motion:.1f} s: {SHORT:.0f} s or more are needed for a reliable result'
    still = np.where(moves, 0.0, steps).cumsum()
    longest = float((still - np.maximum.accumulate(np.where(moves, still, 0.0))).max(initial=0.0))
    if longest > REST:
        yield f'the arm stands still for {longest:.1f} s: friction there is unknown, left out'


def _of_delay(delay: float) -> Iterator[Finding]:
    """Yield that torques lag or lead the motion by a ``delay`` (s); a part of it is hidden in the parameters found."""
    if abs(delay) >= LEAST_DELAY:
        text = f'torques {"lag" if delay > 0.0 else "lead"} the motion by {abs(delay) * 1e3:.1f} ms'
        yield Finding('warning', 'log', f'{text}: identify from log.without_delay({delay:.4f}) and look again')


def _of_joint(log: Log, shown: Validation, friction: np.ndarray, j: int) -> Iterator[str]:
    """Yield what is doubtful about one joint."""
    reach, share = float(np.ptp(log.q[:, j])), float(shown.moving[:, j].mean())
    if reach < SMALL_MOTION or share < SLOW_SHARE:
        moves = f'it moves over {reach:.2f} rad, in {100 * share:.0f} % of the log'
        yield f'{moves}: its friction and inertia are not excited'
    used = shown.moving[:, j]
    if np.isnan(shown.r2[j]) and used.any():
        yield 'its torque is constant: it is not measured'
    if shown.r2[j] < POOR:
        # a torque that moves an arm there and back does positive work: that of friction
        power = shown.measured[used, j] * log.qd[used, j]
        reversed_ = power.sum() < -REVERSED * np.abs(power).sum()
        reason = 'it brakes the motion on average: its sign may be reversed' if reversed_ else MISSING
        yield f'R2 is {shown.r2[j]:.3f}, the model does not explain its torque; {reason}'
        return  # of such a torque friction is unknown
    halves = np.array_split(np.flatnonzero(used), 2)
    scales = [factor(friction[half, j], shown.residual[half, j]) for half in halves]
    size = np.sqrt((friction[used, j] ** 2).mean()) if used.any() else 0.0
    if abs(scales[0] - scales[1]) > DRIFT and size > COUNTS * shown.measured[used, j].std():
        change = 100 * (scales[1] - scales[0])
        yield f'its friction changes by {change:+.0f} % from the first to the second half: warm the arm up first'
