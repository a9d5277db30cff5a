"""Logs of a motion or of standing poses with the torques of a robot, and CSV files and bags of them."""

import itertools
from pathlib import Path

from support.logs.excited_logs import torque
from support.logs.logs import bag, state, written

import numpy as np

from robot_dynamics_ros.identification import Log

KINDS = {'q': 'rad', 'qd': 'rad_s', 'qdd': 'rad_s2', 'tau': 'Nm'}


START = np.array([0.0, -1.5, 0.1, 0.0, 0.3, 0.0])
"""Position at rest, in which the AUBO-i5 is stretched out, rad."""


def motion(robot, duration=12.0, rate=40.0, rest=0.0, delay=0.0, noise=0.0) -> Log:
    """Return sums of two sines for each of six joints, after ``rest`` s at rest; torques are ``delay`` s late."""
    t = np.arange(0.0, rest + duration, 1.0 / rate)

    def states(times):
        on = (times >= rest)[:, None]
        s = (times - rest)[:, None]
        a, w = 0.4 + 0.05 * np.arange(robot.nv), 1.1 + 0.37 * np.arange(robot.nv)
        u = 2.3 * w
        # starts at rest: 1 - cos, and a second sine that turns with its speed zero
        q = a * (1.0 - np.cos(w * s)) + 0.3 * a * (1.0 - np.cos(u * s))
        qd = a * w * np.sin(w * s) + 0.3 * a * u * np.sin(u * s)
        qdd = a * w * w * np.cos(w * s) + 0.3 * a * u * u * np.cos(u * s)
        return START + on * q, on * qd, on * qdd

    q, qd, qdd = states(t)
    late = states(t - delay)
    tau = torque(robot, *late)
    tau += noise * np.random.default_rng(5).normal(size=tau.shape)
    return Log(t, q, qd, qdd, tau)


def standing(robot, poses, rate=40.0) -> Log:
    """Return the arm at rest, then at each pose twice for 1 s, approached from 0.1 rad below, and from above.

    The last pose lasts 2 s, since a low-pass cuts the ends of a log.
    """
    ways = [pose + side * 0.1 * np.array([[1.0], [0.0]]) for pose in poses for side in (-1.0, 1.0)]
    knots = np.concatenate(ways)
    s = np.arange(0.0, 1.0, 1.0 / rate)[:, None]
    blend, slope = (1.0 - np.cos(np.pi * s)) / 2.0, np.pi * np.sin(np.pi * s) / 2.0
    q = [np.tile(knots[0], (2 * len(s), 1))]
    qd, direction = [np.zeros_like(q[0])], [np.zeros_like(q[0])]
    for k, (start, end) in enumerate(itertools.pairwise(knots)):
        q.append(start + blend * (end - start))
        qd.append(slope * (end - start))
        direction.append(np.tile(np.sign(end - start), (len(s), 1)))
        if k % 2 == 0:  # arrived
            q.append(np.tile(end, (len(s), 1)))
            qd.append(np.zeros_like(q[-1]))
            direction.append(direction[-1])
    q, qd, direction = (np.concatenate([*parts, parts[-1]]) for parts in (q, qd, direction))
    tau = robot.gravity_torque(q) + direction * robot.friction.coulomb
    return Log(np.arange(len(q)) / rate, q, qd, np.zeros_like(q), tau)


def csv_of(path: Path, log: Log) -> Path:
    """Write a log as CSV."""
    n = log.tau.shape[1]
    header = ['t_s', *(f'{symbol}{k}_{unit}' for symbol, unit in KINDS.items() for k in range(1, n + 1))]
    return written(path, header, np.column_stack([log.t, log.q, log.qd, log.qdd, log.tau]).tolist())


def bag_of(folder: Path, log: Log, names) -> Path:
    """Write a log as a bag."""
    rows = zip(log.t, log.q, log.qd, log.tau, strict=True)
    return bag(folder, [(100.0 + t, state(100.0 + t, *row, names)) for t, *row in rows])
