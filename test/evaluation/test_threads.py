"""A robot is used by several threads and processes."""

import subprocess
import sys

import pytest

from robot_dynamics_ros.compiler.compiled_robot import is_possible

pytestmark = pytest.mark.skipif(not is_possible(), reason='Numba is disabled: machine code is not used')

AFTER_A_THREAD = """
import threading
import numpy as np
from robot_dynamics_ros import Robot

robot = Robot.named('aubo_i5').with_binding('generic')
states = np.random.default_rng(7).normal(size=(3, 200, robot.nv))
first = threading.Thread(target=robot.inverse_dynamics, args=states[:, 0])
first.start()
first.join()
others = [np.full(size, np.nan) for size in (7, 36, 42, 49, 63, 100, 252) * 200]
expected = Robot.named('aubo_i5').with_binding('generic').inverse_dynamics(*states)
assert (robot.inverse_dynamics(*states) == expected).all()
assert all(np.isnan(other).all() for other in others)
"""


def test_code_chosen_by_a_thread_serves_others_after_its_end():
    subprocess.run([sys.executable, '-c', AFTER_A_THREAD], check=True, timeout=120)
