"""Every example runs, ends, and prints what Pinocchio finds too."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from support.facade_robots import expected, robot_of, twin

import numpy as np
import pytest

import robot_dynamics_ros

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / 'examples').glob('*.py'))
JOINTS = robot_of('aubo_i5').joint_names


def torques(q, qd, qdd, payload=None):
    """Return Pinocchio's inverse dynamics of the AUBO-i5 for states (count, 6)."""
    t = twin('aubo_i5', tuple(robot_of('aubo_i5').gravity))
    model = t.model.copy()
    if payload:
        mass, com = payload
        model.inertias[6] += t.pin.Inertia(mass, np.array(com), np.zeros((3, 3)))
    data = model.createData()
    return np.array([t.pin.rnea(model, data, *state).copy() for state in zip(q, qd, qdd, strict=True)])


def torques_of_a_motion():
    """Return what ends each joint's line: its largest torque, friction included, and its effort limit."""
    start, end = np.radians([[0, -45, 0, 0, 0, 0], [65, -55, -35, 15, 10, 5]])
    s = np.poly1d([6.0, -15.0, 10.0, 0.0, 0.0, 0.0])
    part, duration = np.linspace(0.0, 1.0, 401), 2.0
    q, qd, qdd = (np.outer(s.deriv(k)(part), end - start) / duration**k for k in range(3))
    tau = torques(start + q, qd, qdd, payload=(3.0, (0.0, 0.0, 0.05)))
    friction = [expected('aubo_i5', 'friction_torque', [velocity]) for velocity in qd]
    limits = 133, 133, 133, 13.5, 13.5, 13.5  # N m, rated
    return [
        f'{joint} .*{torque:10.2f}{limit:10.2f}'
        for joint, torque, limit in zip(JOINTS, np.abs(tau + friction).max(axis=0), limits, strict=True)
    ]


def torques_of_random_states():
    """Return each joint's line with its largest torque, and the line that compares."""
    da = pytest.importorskip('dask.array', reason='the engine of this example, dask, is not installed')
    random = da.random.default_rng(0)
    states = [random.normal(size=(200_000, 6), chunks=(50_000, 6)).compute(scheduler='sync') for _ in range(3)]
    largest = np.abs(torques(*states)).max(axis=0)
    lines = [f'{joint:20}{torque:10.2f} N m' for joint, torque in zip(JOINTS, largest, strict=True)]
    return [*lines, 'the first 1000 are bit for bit those of this process: True']


def torques_that_hold():
    """Return each joint's line with the torque of gravity at the goal, and what the loop says about itself."""
    for program in ('cmake', 'c++'):
        if not shutil.which(program):
            pytest.skip(f'this example builds a program, and {program} is missing')
    goal, rest = [[0.4, -0.7, 0.9, 0.2, 1.1, 0.3]], np.zeros((1, 6))
    (tau,) = torques(np.array(goal), rest, rest, payload=(1.5, (0.03, 0.0, 0.05)))
    shown = ['-?0.00' if abs(torque) < 0.005 else f'{torque:.2f}' for torque in tau]
    assert shown.count('-?0.00') <= 1
    return [
        *(f'{joint} +{text} N m' for joint, text in zip(JOINTS, shown, strict=True)),
        'largest position error below 1e-6 rad: yes',
        'a position that is NaN is refused: yes',
        '3000 updates, 0 allocations',
    ]


WANTED = {
    '1_torques_of_a_motion': torques_of_a_motion,
    '2_dask_cluster': torques_of_random_states,
    '3_control_loop_in_cpp': torques_that_hold,
}


def output_of(path):
    """Return what a program prints; it has to succeed, and to leave no process of its group behind."""
    # the package that is tested here, not one that is installed beside it
    environment = os.environ | {'PYTHONPATH': str(Path(robot_dynamics_ros.__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, path],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=240)
            assert process.returncode == 0, output
            deadline = time.monotonic() + 30.0
            while left := running_in(process.pid):
                assert time.monotonic() < deadline, f'{path.name} left {left} behind'
                time.sleep(0.05)
        finally:
            if running_in(process.pid):
                os.killpg(process.pid, signal.SIGKILL)
    return output


def running_in(group):
    """Return the names of the processes in a group; zombies have ended, even if nobody asks for them."""
    names = []
    for path in Path('/proc').glob('[0-9]*/stat'):
        with suppress(FileNotFoundError, ProcessLookupError):  # ended meanwhile
            name, _, rest = path.read_text().rpartition(')')
            state, _, its_group = rest.split()[:3]
            if int(its_group) == group and state != 'Z':
                names.append(name)
    return names


def test_examples_are_numbered_in_reading_order():
    assert EXAMPLES
    assert [path.name.partition('_')[0] for path in EXAMPLES] == [str(k + 1) for k in range(len(EXAMPLES))]


@pytest.mark.parametrize('path', EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_pinocchio_finds(path):
    wanted = WANTED[path.stem]()
    output = output_of(path)
    for line in wanted:
        assert re.search(f'^{line}$', output, re.MULTILINE), output
