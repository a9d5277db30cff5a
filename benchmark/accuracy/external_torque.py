"""How often does contact detection alarm in free motion, and how many steps of 20 and 50 N does it find, and how soon?

    python -m benchmark.accuracy.external_torque LOG.csv [--learn LOG.csv ...] [--robot aubo_i5] [--pushes 200]
        [--seed 1]

Thresholds are learnt from the logs of --learn, one calibration each; without these from the first half of the log, and
judged on the second half. A push is a step of J' F at a random time in a random direction at the last link. Friction is
tracked all along.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.observers.contact_detection import ContactDetector
from robot_dynamics_ros.control.observers.friction_tracker import FrictionTracker
from robot_dynamics_ros.control.observers.momentum_observer import FRICTION_TIME_CONSTANT, GAIN, MomentumObserver
from robot_dynamics_ros.control.observers.threshold_learning import MARGIN, ThresholdLearning
from robot_dynamics_ros.identification import Log

FORCES, WITHIN = (20.0, 50.0), 0.5
"""Of pushes, N, and the time in which one counts as found, s."""


class Observed(NamedTuple):
    """Residuals (m, n; NaN where not known), contact (m,), and time for a sample, s."""

    residual: np.ndarray
    contact: np.ndarray
    duration: float


class Monitor:
    """What external_torque_node computes, for logs."""

    def __init__(self, robot: Robot):
        self.robot, self.detector = robot, ContactDetector(robot.nv, GAIN)
        self._tracker = FrictionTracker(robot, FRICTION_TIME_CONSTANT, self.detector.threshold)
        self._observer = MomentumObserver(robot, tracker=self._tracker)
        static = robot.friction.coulomb + robot.friction.stribeck
        limit = robot.limits.effort
        self.learning = ThresholdLearning(self.detector, robot.joint_names, static, limit, self._tracker)

    def learn(self, log: Log, margin: float = MARGIN) -> None:
        """Learn thresholds from a motion, in addition to those before."""
        self.observe(log, log.torque(self.robot), margin)
        if self.learning.status != 'learnt':
            raise SystemExit(self.learning.status)

    def observe(self, log: Log, torque: np.ndarray, margin: float | None = None) -> Observed:
        """Observe a motion with joint torques (m, n), from an activation on; with a ``margin`` learn from it."""
        observer, detector, learning = self._observer, self.detector, self.learning
        observer.reset()
        observer.forget_friction()
        detector.reset()
        residual, contact = np.full(torque.shape, np.nan), np.zeros(len(log.t), bool)
        stamps = (np.round(log.t * 1e9).astype(int) + 1).tolist()
        began = time.perf_counter()
        for k, stamp in enumerate(stamps):
            if not observer.update(stamp, log.q[k], log.qd[k], torque[k]):
                continue
            sample = observer.inertial, log.qd[k], observer.elapsed
            detector.update(observer.residual, observer.friction, *sample)
            observer.learn(detector.trust)
            learning.add(*sample)
            if margin is not None and not learning.begin(0.99 * (log.t[-1] - log.t[k]), margin):
                margin = None
            residual[k], contact[k] = observer.residual, detector.contact
        return Observed(residual, contact, (time.perf_counter() - began) / len(log.t))


def alarms(contact: np.ndarray) -> int:
    """Return how often contact (m,) begins."""
    return int(np.count_nonzero(np.diff(contact.astype(int), prepend=0) == 1))


def delays(
    monitor: Monitor, log: Log, force: float, pushes: int, rng: np.random.Generator, since: int = 0
) -> np.ndarray:
    """Return when pushes of ``force`` N from sample ``since`` on are found, s after they begin; those that are."""
    robot, torque = monitor.robot, log.torque(monitor.robot)
    jacobian = robot.jacobian(log.q, robot.link_names[-1])[:, 3:]
    first, last = np.searchsorted(log.t, [log.t[since] + WITHIN, log.t[-1] - WITHIN])
    found = []
    for _ in range(pushes):
        begin, direction = int(rng.integers(first, last)), rng.normal(size=3)
        pushed = torque.copy()
        end = int(np.searchsorted(log.t, log.t[begin] + WITHIN))
        # the motors resist
        pushed[begin:end] -= force / np.linalg.norm(direction) * direction @ jacobian[begin:end]
        contact = np.flatnonzero(monitor.observe(log, pushed).contact[begin:end])
        if len(contact):
            found.append(log.t[begin + contact[0]] - log.t[begin])
    return np.array(found)


def main():
    """Print the figures of the log that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('log', type=Path, help='CSV file with motor currents, as Log.from_csv reads it')
    parser.add_argument('--learn', type=Path, nargs='+', help='logs that thresholds are learnt from')
    parser.add_argument('--robot', default='aubo_i5', help='bundled robot')
    parser.add_argument('--pushes', type=int, default=200, help='number of steps of each force')
    parser.add_argument('--seed', type=int, default=1, help='of their times and directions')
    given = parser.parse_args()
    robot = Robot.named(given.robot)
    monitor, rng = Monitor(robot), np.random.default_rng(given.seed)
    log = Log.from_csv(given.log, robot)
    since = 0 if given.learn else len(log.t) // 2
    for motion in [Log.from_csv(path, robot) for path in given.learn] if given.learn else [log[:since]]:
        monitor.learn(motion)
    free = monitor.observe(log, log.torque(robot))
    rms = 100.0 * np.sqrt(np.nanmean(free.residual[since:] ** 2, axis=0)) / robot.limits.effort
    print(f'RMS of the residual, % of rated effort: {" ".join(f"{each:.2f}" for each in rms)}')
    print(f'alarms in free motion: {alarms(free.contact[since:])} in {log.t[-1] - log.t[since]:.0f} s')
    for force in FORCES:
        found = delays(monitor, log, force, given.pushes, rng, since)
        share = 100.0 * len(found) / given.pushes
        print(f'pushes of {force:g} N found within {WITHIN:g} s: {share:.1f} % of {given.pushes}')
        if len(found):
            print(f'median delay: {1e3 * np.median(found):.0f} ms')
    print(f'time for a sample, learning and detection included: {1e6 * free.duration:.1f} us')


if __name__ == '__main__':
    main()
