"""How long does the first result take: of a new process, of a robot never seen, of many robots, after installation?

A process is measured until it prints its first result; times of processes are beside those of ``import numba``.
"""

import os
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmark.measure import first_line, heading, verdict
from benchmark.random_robots import random_urdf

NEVER_SEEN, MANY, WARM, EVER = 0.030, 10.0, 1.5, 4.0
"""At most: s, s, and times of ``import numba``."""
OF_PINOCCHIO = 1.2
"""Time to the first torque at most, as a part of that of a process with Pinocchio."""
ROUNDS, EVER_ROUNDS, MANY_ROBOTS = 11, 3, 200
JOINTS = 7
IMPORT_NUMBA = 'import numba; print(1, flush=True)'
OURS = """
import sys
import numpy as np
from robot_dynamics_ros import Robot
robot = Robot.from_urdf(sys.argv[1])
q = np.full(robot.nq, 0.1)
print(robot.inverse_dynamics(q, q, q)[0], flush=True)
"""
PINOCCHIO = """
import sys
import numpy as np
import pinocchio
model = pinocchio.buildModelFromUrdf(sys.argv[1])
data, q = model.createData(), np.full(model.nq, 0.1)
print(pinocchio.rnea(model, data, q, q, q)[0], flush=True)
"""


def first_time_ever(folder: Path):
    """A robot never seen, without anything in the cache."""
    times = {'numba': [], 'ours': []}
    for k in range(EVER_ROUNDS):
        urdf = folder / f'never_seen_{k}.urdf'
        urdf.write_text(random_urdf(JOINTS))
        times['numba'].append(first_line(IMPORT_NUMBA))
        times['ours'].append(first_line(OURS, str(urdf), XDG_CACHE_HOME=str(folder / f'empty_{k}')))
    seconds = {name: float(np.median(values)) for name, values in times.items()}
    print(
        f'first time ever, empty cache, a robot of {JOINTS} joints never seen: {seconds["ours"]:.2f} s; '
        f'/ import numba ({seconds["numba"]:.2f} s) {verdict(seconds["ours"] / seconds["numba"], EVER)}'
    )


def new_process(name: str, urdf: str):
    """A robot whose code is in the cache."""
    first_line(OURS, urdf)
    calls = {
        'ours': lambda: first_line(OURS, urdf),
        'numba': lambda: first_line(IMPORT_NUMBA),
        'pin': lambda: first_line(PINOCCHIO, urdf),
    }
    times = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for each, call in calls.items():
            times[each].append(call())
    seconds = {name: float(np.median(values)) for name, values in times.items()}
    print(
        f'process start to first torque, warm, {name}: {seconds["ours"]:.3f} s; '
        f'/ import numba ({seconds["numba"]:.3f} s) {verdict(seconds["ours"] / seconds["numba"], WARM)}; '
        f'/ pin ({seconds["pin"]:.3f} s) {verdict(seconds["ours"] / seconds["pin"], OF_PINOCCHIO)}'
    )


def never_seen(joints: int):
    """A robot never seen, in a process that has evaluated another one."""
    from robot_dynamics_ros import Robot

    times = []
    for _ in range(1 + EVER_ROUNDS):
        urdf, q = random_urdf(joints), np.full(joints, 0.1)
        began = time.perf_counter()
        Robot.from_urdf(urdf).inverse_dynamics(q, q, q)
        times.append(time.perf_counter() - began)
    said = verdict(float(np.median(times[1:])), NEVER_SEEN)
    print(f'running process, from_urdf to first torque, {joints} joints never seen: {said} s')


def many_robots():
    """Many random robots, each loaded and asked for three quantities."""
    from robot_dynamics_ros import Robot

    sizes = 1 + np.arange(MANY_ROBOTS) % 40
    urdfs = [random_urdf(int(joints)) for joints in sizes]
    began = time.perf_counter()
    for urdf in urdfs:
        robot = Robot.from_urdf(urdf)
        q = np.full(robot.nq, 0.1)
        robot.inverse_dynamics(q, q, q)
        robot.mass_matrix(q)
        robot.forward_dynamics(q, q, q)
    said = verdict(time.perf_counter() - began, MANY)
    print(f'{MANY_ROBOTS} random robots of 1 to 40 joints, load and three quantities each: {said} s')


def main():
    print(heading())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first_time_ever(folder)
        # read when the package is imported, here and in each process
        os.environ['XDG_CACHE_HOME'] = str(folder / 'cache')
        from known_robots import example_urdf

        from robot_dynamics_ros.formats.library import named_urdf

        new_process('AUBO-i5', str(named_urdf('aubo_i5')))
        new_process('Talos reduced, 32 joints', example_urdf('/talos_reduced.urdf'))
        never_seen(JOINTS)
        never_seen(32)
        many_robots()


if __name__ == '__main__':
    main()
