"""A process that simulates imports no compiler, and SciPy for adaptive steps alone."""

import os
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
    return [name for name in ('numba', 'llvmlite', 'scipy') if name in sys.modules]

robot, rows = Robot.named('aubo_i5'), np.full((20, 6), 0.1)
options = {'duration': 0.02, 'friction': True, 'limits': 'stop'}
compiled = simulate(robot, rows, rows, rows, **options, threads=2)
stepped = simulate(robot, rows[0], rows[0], lambda t, q, qd: rows[0], **options)
assert (compiled.q[0] == stepped.q).all() and abs(compiled.energy).max() > 0.0
print(*imported(), 'adaptive', sep=',', end=',')
simulate(robot, rows[0], rows[0], duration=0.02, method='adaptive', friction=True)
print(*imported(), sep=',')
"""


def test_only_adaptive_steps_import_scipy_and_nothing_imports_a_compiler(tmp_path):
    kept = tmp_path / 'kept'
    environment = {**os.environ, 'XDG_CACHE_HOME': str(kept)}
    command = [sys.executable, '-c', SIMULATED]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert (told.returncode, told.stdout) == (0, 'adaptive,scipy\n'), told.stderr
    assert not kept.exists()
