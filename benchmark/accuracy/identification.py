"""What identification reaches on three measured logs, and in what time?

    python -m benchmark.accuracy.identification FOLDER

FOLDER has aubo_i5_measured_traj1.csv (AUBO-i5, motor currents), ur10_exciting_trajectory.db3 and
panda_exciting_trajectory.db3 (joint states; unisa-acg/inverse-dynamics-solver). The URDFs of the last two are those of
the package example-robot-data. Missing files are left out.
"""

import sys
import time
from importlib.metadata import files
from pathlib import Path

import numpy as np

from robot_dynamics_ros import Robot
from robot_dynamics_ros.identification import (
    FrictionTracker,
    Log,
    condition_numbers,
    cross_validate,
    identify,
    optimise_excitation,
    validate,
)

TRACKED = 0.5  # time constant of the friction tracker, s
BAGS = {
    'ur10': ('ur10_exciting_trajectory.db3', 'ur10_robot.urdf', None, 10.0),
    'panda': ('panda_exciting_trajectory.db3', 'panda.urdf', 'fer_joint', 5.0),
}
TRAINING = 0.6
TIMES = (9.0, 59.0)  # of one core for an exciting motion, s; what has begun takes up to a second more


def row(name, r2):
    print(f'{name:58} {" ".join(f"{value:.4f}" for value in r2)}   mean {r2.mean():.4f}')


def definite(robot):
    """Return the share of 10,000 random positions at which the mass matrix is positive definite."""
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (10_000, robot.nq))
    return (np.linalg.eigvalsh(robot.mass_matrix(q))[:, 0] > 0.0).mean()


def tracked(robot, log):
    """Return R2 with a causal friction tracker."""
    measured = log.torque(robot)
    residual = measured - FrictionTracker(robot, TRACKED).predict(log)
    return 1.0 - (residual**2).sum(axis=0) / ((measured - measured.mean(axis=0)) ** 2).sum(axis=0)


def aubo(path):
    robot, lecture = Robot.named('aubo_i5'), Robot.named('aubo_i5_lecture')
    log = Log.from_csv(path, robot)
    for folds in (5, 2):
        for name, prior in (('', None), (', masses of the lecture as prior', lecture)):
            shown = cross_validate(robot, log, folds, prior=prior, speed=-1.0)
            row(f'AUBO-i5, {folds} blocks of time{name}', shown.r2)
    for method in ('wls', 'ols'):
        row(f'AUBO-i5, 5 blocks of time, {method}', cross_validate(robot, log, method=method, speed=-1.0).r2)
    for weight in (0.01, 0.1, 1.0, 10.0):
        row(f'AUBO-i5, 5 blocks of time, weight {weight:g}', cross_validate(robot, log, weight=weight, speed=-1.0).r2)
    half = len(log) // 2
    found = identify(robot, log[:half]).robot
    row('AUBO-i5, second half from the first', validate(found, log[half:], speed=-1.0).r2)
    row('AUBO-i5, the same with the friction tracker', tracked(found, log[half:]))
    for method in ('consistent', 'wls', 'ols'):
        found = identify(robot, log, method)
        print(f'    {method}: mass matrix positive definite at {100 * definite(found.robot):.1f} % of 10,000 positions')
    for finding in identify(robot, log).findings:
        print(f'    {finding}')
    for repeated in (1, 10):
        t = (log.t[-1] + 0.005) * np.arange(repeated)[:, None] + log.t
        longer = Log(
            t.ravel(), *(np.tile(it, (repeated, 1)) for it in (log.q, log.qd, log.qdd, log.tau)), effort='current'
        )
        seconds = []
        for _ in range(4):
            begin = time.perf_counter(), time.process_time()
            identify(robot, longer)
            seconds.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
        wall, processor = np.min(seconds[1:], axis=0)
        print(f'    {len(longer)} samples: {wall:.2f} s, {processor:.2f} s of one processor')


def bag(name, folder):
    file, urdf, prefix, cutoff = BAGS[name]
    path = next(str(it.locate()) for it in files('example-robot-data') if it.name == urdf)
    robot = Robot.from_urdf(path, tip_link='panda_hand' if name == 'panda' else None)
    names = [f'{prefix}{k + 1}' for k in range(robot.nv)] if prefix else robot.joint_names
    log = Log.from_bag(folder / file, names, cutoff=cutoff)
    training = round(TRAINING * len(log))
    row(f'{name}, 3 blocks of the first {100 * TRAINING:.0f} %', cross_validate(robot, log[:training], 3).r2)
    for weight in (0.01, 0.3, 10.0):
        found = identify(robot, log[:training], weight=weight)
        row(
            f'{name}, the rest from the first {100 * TRAINING:.0f} %, weight {weight:g}',
            validate(found.robot, log[training:]).r2,
        )
    print(f'    mass matrix positive definite at {100 * definite(found.robot):.1f} % of 10,000 positions')
    for finding in identify(robot, log[:training]).findings:
        print(f'    {finding}')


def excitation():
    """Print the condition number of the weighted base regressor that is reached in a time."""
    robot = Robot.named('aubo_i5')
    for limit in TIMES:
        begin = time.thread_time()
        motion = optimise_excitation(robot, starts=10**6, time_limit=limit)
        duration, found = time.thread_time() - begin, condition_numbers(robot, *motion.points()[1:])
        columns = len(robot.base_parameters().independent)
        print(f'AUBO-i5, excitation: condition {found.weighted:.1f} of {columns} columns, {duration:.1f} s of one core')


def main():
    data = Path(sys.argv[1])
    if (data / 'aubo_i5_measured_traj1.csv').exists():
        aubo(data / 'aubo_i5_measured_traj1.csv')
    for known in BAGS:
        if (data / BAGS[known][0]).exists():
            bag(known, data)
    excitation()


if __name__ == '__main__':
    main()
