"""How long recursive estimates need for a sample, and whether they stay positive definite over a million of them."""

import time

import numpy as np
from measure import heading

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.friction_tracker import FrictionTracker
from robot_dynamics_ros.identification import RecursiveLeastSquares

UPDATES = 1_000_000
SAMPLES = 2000
FORGETTING = 0.9995

robot = Robot.named('aubo_i5')
n = robot.nv
random = np.random.default_rng(0)
t = 0.005 * np.arange(SAMPLES)[:, None]
frequency, phase = random.uniform(0.5, 3.0, n), random.uniform(0.0, 6.0, n)
q, qd = np.sin(frequency * t + phase), frequency * np.cos(frequency * t + phase)
rigid = robot.inverse_dynamics(q, qd, -(frequency**2) * q)
friction = robot.friction_torque(qd)
# 60 inertial parameters, viscous and Coulomb friction
rows = np.concatenate(
    [robot.torque_regressor(q, qd, -(frequency**2) * q), qd[..., None] * np.eye(n), np.sign(qd)[..., None] * np.eye(n)],
    axis=2,
)
truth = np.concatenate([robot.inertial_parameters.ravel(), robot.friction.viscous, robot.friction.coulomb])
noise = 0.02 * np.abs(rigid).max(axis=0)
values = rows @ truth + noise * random.normal(size=(SAMPLES, n))
print(heading())


def timed(calls) -> float:
    """Return the median time of calls, us."""
    times = []
    for call, *arguments in calls:
        start = time.perf_counter()
        call(*arguments)
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times))


tracker = FrictionTracker(robot)
took = timed((tracker.update, qd[k], friction[k], 1.2 * friction[k], 0.005) for k in range(SAMPLES))
print(f'friction tracker, {n} joints: {took:.1f} us a sample')
recursive = RecursiveLeastSquares(np.zeros(len(truth)), 0.1 + np.abs(truth), noise, FORGETTING)
took = timed((recursive.update, rows[k % SAMPLES], values[k % SAMPLES]) for k in range(UPDATES))
reading = timed((lambda: recursive.estimate,) for _ in range(200))
print(
    f'recursive least squares, {len(truth)} parameters, {n} rows: {took:.1f} us a sample, its estimate {reading:.1f} us'
)
least = np.linalg.svd(np.triu(recursive._root)[:-1, :-1], compute_uv=False)[-1]
print(f'after {UPDATES:,} samples: least singular value of R {least:.6f}; bound {FORGETTING ** (0.5 * len(truth)):.6f}')
error = np.abs(rows @ recursive.estimate - rows @ truth).max(axis=0) / np.abs(rigid).max(axis=0)
print(f'largest error of a torque, of the largest torque: {100.0 * error.max():.2f} %')
