"""What contact detection reaches on a measured motion of an AUBO-i5, and on simulated arms."""

import importlib.util
import sys
from pathlib import Path

from support.logs.free_motions import BadlyKnownArm
from support.logs.logs import DATA

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.identification import Log

LOG = DATA / 'aubo_i5_measured_traj1.csv'
SCRIPT = Path(__file__).parents[3] / 'benchmark' / 'accuracy' / 'external_torque.py'
ROBOT = Robot.named('aubo_i5')


@pytest.fixture(scope='module')
def benchmark():
    spec = importlib.util.spec_from_file_location('external_torque', SCRIPT)
    module = sys.modules['external_torque'] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.compiled
@pytest.mark.skipif(not LOG.is_file(), reason=f'the measured log {LOG.name} is not here')
def test_free_motion_has_no_alarm_and_pushes_are_found(benchmark):
    log = Log.from_csv(LOG, ROBOT)
    monitor, half = benchmark.Monitor(ROBOT), len(log.t) // 2
    monitor.learn(log[:half])
    free = monitor.observe(log, log.torque(ROBOT))
    rms = 100.0 * np.sqrt(np.nanmean(free.residual[half:] ** 2, axis=0)) / ROBOT.limits.effort
    assert (rms <= 2.5).all(), rms
    assert benchmark.alarms(free.contact[half:]) == 0
    found = benchmark.delays(monitor, log, 20.0, 20, np.random.default_rng(1), half)
    assert len(found) >= 18 and np.median(found) <= 0.06, found


@pytest.mark.compiled
def test_on_motions_that_were_not_learnt_alarms_are_rare_and_pushes_are_found(benchmark):
    """Of arms with wrong inertias whose friction changes: 5 alarms an hour at most, 90 % of steps of 50 N found.

    Twelve minutes take some seconds.
    """
    alarms, time, found, pushes = 0, 0.0, [], 10
    for seed in range(4):
        arm, monitor = BadlyKnownArm(ROBOT, np.random.default_rng(seed)), benchmark.Monitor(ROBOT)
        for speed in (0.8, 1.0, 1.3, 1.6):
            monitor.learn(arm.sway(15.0, speed))
            monitor.learn(arm.visits(15.0, speed))
        for judged in (arm.sway(90.0, 1.5), arm.visits(90.0, 1.2)):
            alarms += benchmark.alarms(monitor.observe(judged, judged.tau).contact)
            time += judged.t[-1]
            found.extend(benchmark.delays(monitor, judged[:500], 50.0, pushes, np.random.default_rng(seed)))
    assert alarms <= 5.0 * time / 3600.0, alarms
    assert len(found) >= 0.9 * 8 * pushes and np.median(found) <= 0.1
