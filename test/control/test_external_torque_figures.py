"""What the momentum observer reaches on the measured motion of an AUBO-i5 (benchmark/external_torque.py)."""

import importlib.util
import sys
from pathlib import Path

from support.logs import DATA

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.identification import Log

LOG = DATA / 'aubo_i5_measured_traj1.csv'
SCRIPT = Path(__file__).parents[2] / 'benchmark' / 'external_torque.py'


@pytest.mark.compiled
@pytest.mark.skipif(not LOG.is_file(), reason=f'the measured log {LOG.name} is not here')
def test_free_motion_has_no_alarm_and_pushes_are_found():
    spec = importlib.util.spec_from_file_location('external_torque', SCRIPT)
    benchmark = sys.modules['external_torque'] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    robot = Robot.named('aubo_i5')
    found = benchmark.figures(robot, Log.from_csv(LOG, robot), pushes=20)
    assert (found.rms <= 2.5).all(), found.rms
    assert found.alarms == 0
    assert found.found >= 0.9 and np.median(found.delays) <= 0.06, found
