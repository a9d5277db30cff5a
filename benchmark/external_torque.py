"""How large is the residual of the momentum observer on a measured motion, and how soon is a push of 20 N found?

    python benchmark/external_torque.py LOG.csv [--robot aubo_i5] [--pushes 200] [--seed 1]

Thresholds are learnt on the first half of the log and judged on the second half: alarms in free motion, steps of J' F
at random times in random directions at the last link. Friction is tracked all along.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.contact_detection import ContactDetector
from robot_dynamics_ros.control.friction_tracker import FrictionTracker
from robot_dynamics_ros.control.momentum_observer import FRICTION_TIME_CONSTANT, GAIN, MomentumObserver
from robot_dynamics_ros.control.threshold_learning import MARGIN, ThresholdLearning
from robot_dynamics_ros.identification import Log

FORCE, WITHIN = 20.0, 0.5
"""Of a push, N, and the time in which it counts as found, s."""


class Observed(NamedTuple):
    """Residuals (m, n; NaN where not known), contact (m,), what learning said, and time for a sample, s."""

    residual: np.ndarray
    contact: np.ndarray
    status: str
    duration: float


class Figures(NamedTuple):
    """Of the judged part: RMS of the residual (n, % of the rated effort), alarms, share of pushes found, delays (s)."""

    rms: np.ndarray
    alarms: int
    found: float
    delays: np.ndarray
    duration: float


def observed(robot: Robot, log: Log, torque: np.ndarray, learnt: float) -> Observed:
    """Observe a motion with joint torques (m, n); thresholds are learnt until ``learnt`` s."""
    detector = ContactDetector(robot.nv, GAIN)
    tracker = FrictionTracker(robot, FRICTION_TIME_CONSTANT, detector.thresholds[0])
    observer = MomentumObserver(robot, tracker=tracker)
    static = robot.friction.coulomb + robot.friction.stribeck
    learning = ThresholdLearning(detector, robot.joint_names, static, robot.limits.effort, tracker)
    residual, contact = np.full(torque.shape, np.nan), np.zeros(len(log.t), bool)
    stamps = (np.round(log.t * 1e9).astype(int) + 1).tolist()
    began, is_first = time.perf_counter(), True
    for k, stamp in enumerate(stamps):
        if not observer.update(stamp, log.q[k], log.qd[k], torque[k]):
            continue
        sample = observer.residual, observer.friction, log.qd[k], observer.elapsed
        detector.update(*sample)
        observer.learn(detector.trust)
        learning.add(*sample)
        if is_first:
            assert not learning.begin(learnt - log.t[k], MARGIN)
            is_first = False
        residual[k], contact[k] = observer.residual, detector.contact
    return Observed(residual, contact, learning.status, (time.perf_counter() - began) / len(log.t))


def figures(robot: Robot, log: Log, pushes: int, seed: int = 1) -> Figures:
    """Return the figures of a log, half of which teaches the thresholds."""
    rng, torque = np.random.default_rng(seed), log.torque(robot)
    learnt = log.t[0] + 0.5 * (log.t[-1] - log.t[0])
    free = observed(robot, log, torque, learnt)
    if free.status != 'learnt':
        raise SystemExit(free.status)
    judged = np.flatnonzero(log.t > learnt)
    last = int(np.flatnonzero(log.t < log.t[-1] - WITHIN)[-1])
    jacobian = robot.jacobian(log.q, robot.link_names[-1])[:, 3:]
    delays = []
    for _ in range(pushes):
        begin, direction = int(rng.integers(judged[0], last)), rng.normal(size=3)
        force = FORCE * direction / np.linalg.norm(direction)
        pushed = torque.copy()
        pushed[begin:] -= force @ jacobian[begin:]  # the motors resist
        contact = np.flatnonzero(observed(robot, log, pushed, learnt).contact[begin:])
        if len(contact) and (delay := log.t[begin + contact[0]] - log.t[begin]) <= WITHIN:
            delays.append(delay)
    rms = np.sqrt(np.nanmean(free.residual[judged] ** 2, axis=0))
    return Figures(
        100.0 * rms / robot.limits.effort,
        int(np.count_nonzero(np.diff(free.contact[judged].astype(int), prepend=0) == 1)),
        len(delays) / max(pushes, 1),
        np.array(delays),
        free.duration,
    )


def main():
    """Print the figures of the log that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('log', type=Path, help='CSV file with motor currents, as Log.from_csv reads it')
    parser.add_argument('--robot', default='aubo_i5', help='bundled robot')
    parser.add_argument('--pushes', type=int, default=200, help='number of steps of 20 N')
    parser.add_argument('--seed', type=int, default=1, help='of their times and directions')
    given = parser.parse_args()
    robot = Robot.named(given.robot)
    found = figures(robot, Log.from_csv(given.log, robot), given.pushes, given.seed)
    print(f'RMS of the residual, % of rated effort: {" ".join(f"{part:.2f}" for part in found.rms)}')
    print(f'alarms in free motion: {found.alarms}')
    print(f'pushes of {FORCE:g} N found within {WITHIN:g} s: {100.0 * found.found:.1f} % of {given.pushes}')
    print(f'median delay: {1e3 * np.median(found.delays):.0f} ms')
    print(f'time for a sample, learning and detection included: {1e6 * found.duration:.1f} us')


if __name__ == '__main__':
    main()
