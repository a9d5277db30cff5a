"""How long recursive estimates need for a sample, and whether they stay positive definite over a million of them."""

import time

import numpy as np

from benchmark.measure import heading
from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.observers.friction_tracker import FrictionTracker
from robot_dynamics_ros.identification import RecursiveLeastSquares

UPDATES = 1_000_000
SAMPLES = 2000
FORGETTING = 0.9995


def timed(calls) -> float:
    """Return the median time of calls, us."""
    times = []
    for call, *arguments in calls:
        start = time.perf_counter()
        call(*arguments)
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times))


def main() -> None:
    """Print times, the least singular value of the root, and how well torques are predicted."""
    robot, random = Robot.named('aubo_i5'), np.random.default_rng(0)
    n, t = robot.nv, 0.005 * np.arange(SAMPLES)[:, None]
    frequency, phase = random.uniform(0.5, 3.0, n), random.uniform(0.0, 6.0, n)
    q, qd = np.sin(frequency * t + phase), frequency * np.cos(frequency * t + phase)
    qdd = -(frequency**2) * q
    # 60 inertial parameters, viscous and Coulomb friction
    own = [column[..., None] * np.eye(n) for column in (qd, np.sign(qd))]
    rows = np.concatenate([robot.torque_regressor(q, qd, qdd), *own], axis=2)
    truth = np.concatenate([robot.inertial_parameters, robot.friction.viscous, robot.friction.coulomb])
    torque, friction = rows @ truth, robot.friction_torque(qd)
    noise = 0.02 * np.abs(torque).max(axis=0)
    values = torque + noise * random.normal(size=torque.shape)
    print(heading())

    tracker = FrictionTracker(robot)
    took = timed((tracker.update, qd[k], friction[k], 1.2 * friction[k], 0.005) for k in range(SAMPLES))
    print(f'friction tracker, {n} joints: {took:.1f} us a sample')
    recursive = RecursiveLeastSquares(np.zeros(len(truth)), 0.1 + np.abs(truth), noise, FORGETTING)
    took = timed((recursive.update, rows[k % SAMPLES], values[k % SAMPLES]) for k in range(UPDATES))
    reading = timed((lambda: recursive.estimate,) for _ in range(200))
    print(f'recursive least squares, {len(truth)} parameters, {n} rows: {took:.1f} us a sample')
    print(f'its estimate: {reading:.1f} us')
    least = np.linalg.svd(np.triu(recursive._root)[:-1, :-1], compute_uv=False)[-1]
    bound = FORGETTING ** (0.5 * len(truth))
    print(f'after {UPDATES:,} samples: least singular value of the root {least:.6f}, bound {bound:.6f}')
    error = np.abs(rows @ recursive.estimate - torque).max(axis=0) / np.abs(torque).max(axis=0)
    print(f'largest error of a torque: {100.0 * error.max():.2f} % of the largest torque of its joint')


if __name__ == '__main__':
    main()
