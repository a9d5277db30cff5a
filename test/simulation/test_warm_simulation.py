"""A process that simulates imports no compiler where everything was compiled before."""

import subprocess
import sys

import pytest

from robot_dynamics_ros.jit.decorators import numba_is_disabled

pytestmark = pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: machine code is not used')

SIMULATED = """
import sys
import numpy as np
from robot_dynamics_ros import Robot
from robot_dynamics_ros.simulation import simulate

def imported():
    return [name for name in ('numba', 'llvmlite.binding', 'scipy') if name in sys.modules]

robot, rows = Robot.named('aubo_i5'), np.full((20, 6), 0.1)
options = {'duration': 0.02, 'friction': True, 'limits': 'stop'}
compiled = simulate(robot, rows, rows, rows, **options, threads=2)
stepped = simulate(robot, rows[0], rows[0], lambda t, q, qd: rows[0], **options)
assert (compiled.q[0] == stepped.q).all() and abs(compiled.energy).max() > 0.0
print(*imported(), 'adaptive', sep=',', end=',')
simulate(robot, rows[0], rows[0], duration=0.02, method='adaptive', friction=True)
print(*imported(), sep=',')
"""


def test_only_adaptive_steps_import_scipy_and_nothing_imports_a_compiler():
    for _ in range(2):  # everything is compiled the second time
        told = subprocess.run(
            [sys.executable, '-c', SIMULATED], capture_output=True, text=True, timeout=240, check=False
        )
        assert told.returncode == 0, told.stderr
        if told.stdout == 'adaptive,scipy\n':
            break
    assert told.stdout == 'adaptive,scipy\n'
