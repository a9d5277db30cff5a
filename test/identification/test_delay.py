"""A delay of torques is found beside parameters that could hide it, with any friction, and not where there is none."""

from dataclasses import replace

from support.logs import excited_logs as logs
from support.matrices import crossed

import numpy as np
import pytest

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import delay_of_torques, identify

pytestmark = pytest.mark.compiled

ARM = logs.arm()
SMOOTH = ARM.with_friction(coulomb=0.0, load=0.0)  # without dry friction nothing marks the instant of a reversal
SHARP = ARM.with_friction(transition=1e-3)
STUCK = 0.06
"""Speed below which a joint that sticks has any friction, rad/s."""


def sticking(seed, delay=0.0):
    """Friction that drops to that of the new direction early, while the joint still comes to rest."""
    log = logs.log(ARM, seed, delay=delay)
    rest = np.abs(log.qd) < STUCK
    away = np.where(rest, -np.sign(log.qdd), np.sign(log.qd)) - np.sign(log.qd)
    return replace(log, tau=log.tau - ARM.friction.coulomb * away)


ARMS = {'no dry friction': SMOOTH, 'smooth': ARM, 'sharp': SHARP}


@pytest.mark.parametrize(('friction', 'delay'), crossed(ARMS, [0.0, 0.005, 0.02, -0.01]))
def test_a_delay_is_found_to_two_milliseconds(friction, delay):
    robot = ARMS[friction]
    for seed in (1, 2):
        found = delay_of_torques(robot, logs.log(robot, seed, delay=delay))
        assert found == pytest.approx(delay, abs=2e-3)


def test_a_delay_of_slow_samples_is_found_between_them():
    log = logs.log(SMOOTH, 1, delay=0.01, rate=40.0)
    assert delay_of_torques(SMOOTH, log) == pytest.approx(0.01, abs=3e-3)


def test_friction_near_a_standstill_is_no_delay():
    for delay in (0.0, 0.005):
        assert delay_of_torques(ARM, sticking(3, delay)) == pytest.approx(delay, abs=2e-3)


def test_a_low_pass_over_sharp_friction_is_no_delay():
    for delay in (0.0, 0.005):
        log = logs.log(SHARP, 3, delay=delay).low_pass(5.0)
        assert delay_of_torques(SHARP, log) == pytest.approx(delay, abs=2.5e-3)


def test_masses_that_are_wrong_and_joints_that_are_not_described_do_not_matter():
    log = logs.log(ARM, 4, delay=0.02)
    assert delay_of_torques(logs.wrong_masses(), log) == pytest.approx(0.02, abs=2e-3)
    tau = log.tau.copy()
    # the last joint's effort is another one's, and early
    tau[:, 5] = 0.1 * np.roll(tau[:, 0], -8)
    assert delay_of_torques(ARM, replace(log, tau=tau)) == pytest.approx(0.02, abs=2e-3)


def test_where_little_is_measured_there_is_no_delay():
    log = logs.log(ARM, 1, delay=0.02)
    assert delay_of_torques(ARM, log[:30]) == 0.0  # shorter than four times the largest delay
    assert delay_of_torques(ARM, log[:130]) == 0.0  # parameters explain any delay
    assert delay_of_torques(ARM, replace(log, qd=0.0 * log.qd)) == 0.0
    with pytest.raises(ArgumentError, match=r'^largest: expected'):
        delay_of_torques(ARM, log, largest=0.0)


def test_identify_says_that_torques_are_late_and_finds_rotors_without_the_delay():
    log = logs.log(SMOOTH, 5, delay=0.02)
    found = identify(SMOOTH, log)
    (finding,) = (it for it in found.findings if 'lag the motion' in it.message)
    assert 'torques lag the motion by 19.7 ms: identify from log.without_delay(0.0197)' in finding.message
    again = identify(SMOOTH, log.without_delay(delay_of_torques(SMOOTH, log)))
    assert not any('the motion by' in it.message for it in again.findings)
    rotors = np.array(logs.ROTORS)
    assert np.abs(again.robot.rotor_inertia[2:] / rotors[2:] - 1.0).max() < 0.15
    # the parameters hide the delay: joints fit well, and rotors do not
    assert found.r2.min() > 0.98 and np.abs(found.robot.rotor_inertia[2:] / rotors[2:] - 1.0).max() > 0.5
