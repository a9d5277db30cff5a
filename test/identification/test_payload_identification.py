"""The payload is found from a motion with noise and other friction; deviations hold; unsuitable logs are refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import Log, identify_payload

ROBOT = Robot.named('aubo_i5')
N = ROBOT.nv
CARRIED = Payload.box(3.0, (0.1, 0.08, 0.2), (0.02, -0.01, 0.09))
COUNT = 1000
T = 10.0 / COUNT * np.arange(COUNT)


def motion():
    """Positions, velocities and accelerations of 10 s, each joint with other harmonics."""
    phase, frequency = np.arange(N), 2.0 * np.pi * np.array([0.1, 0.2, 0.3])
    q, qd, qdd = np.zeros((3, COUNT, N))
    for k, w in enumerate(frequency):
        angle = w * T[:, None] + (k + 1.7) * phase
        a = 0.6 / (k + 1.0)
        q, qd, qdd = q + a * np.sin(angle), qd + a * w * np.cos(angle), qdd - a * w**2 * np.sin(angle)
    return q, qd, qdd


def log(payload=CARRIED, seed=1, friction=1.2, noise=0.02, robot=ROBOT, effort='torque'):
    """Noise as a share of each joint's largest torque."""
    q, qd, qdd = motion()
    rigid = (robot.with_payload(payload) if payload else robot).inverse_dynamics(q, qd, qdd)
    tau = rigid + friction * robot.friction_torque(qd, rigid)
    tau += noise * np.abs(tau).max(axis=0) * np.random.default_rng(seed).normal(size=q.shape)
    if effort == 'current':
        tau = robot.motor_current(tau)
    elif effort == 'torque_without_gravity':
        tau = tau - robot.gravity_torque(q)
    return Log(T, q, qd, qdd, tau, effort=effort)


def test_mass_centre_and_inertia_of_three_kilograms_are_found_with_other_friction():
    found = identify_payload(ROBOT, log())
    assert found.payload.mass == pytest.approx(3.0, rel=0.05)
    assert found.payload.com == pytest.approx(CARRIED.com, abs=0.003)
    assert found.payload.inertia == pytest.approx(CARRIED.inertia, abs=0.01)
    assert found.findings == ()
    # the torque of the arm with what was found
    q, qd, qdd = motion()
    error = ROBOT.with_payload(found.payload).inverse_dynamics(q, qd, qdd) - ROBOT.with_payload(
        CARRIED
    ).inverse_dynamics(q, qd, qdd)
    assert (np.abs(error).max(axis=0) < [1.0, 1.0, 1.0, 0.3, 0.3, 0.3]).all()


def test_friction_that_grows_with_the_torque_is_that_of_the_arm_with_payload():
    robot = ROBOT.with_friction(load=0.1)
    found = identify_payload(robot, log(robot=robot, friction=1.0, noise=1e-3))
    assert found.payload.mass == pytest.approx(3.0, rel=0.003)


def test_a_delay_and_accelerations_without_a_filter_are_findings():
    good, noise = log(), 5.0 * np.random.default_rng(3).normal(size=(COUNT, N))
    (finding,) = (it for it in identify_payload(ROBOT, good.without_delay(-0.01)).findings if it.where == 'log')
    assert finding.message.startswith('torques lag the motion by ')
    short = replace(log(noise=1e-3)[:100], t=1e-3 * np.arange(100))  # shorter than a delay may be
    assert identify_payload(ROBOT, short).payload.mass == pytest.approx(3.0, rel=0.05)
    findings = identify_payload(ROBOT, replace(good, qdd=good.qdd + noise)).findings
    (finding,) = (it for it in findings if 'noise' in it.message)  # one of all joints
    assert finding.where == 'joints ' + ', '.join(map(repr, ROBOT.joint_names))
    assert finding.message.endswith(': low-pass the log')


@pytest.mark.parametrize('effort', ['current', 'torque_without_gravity'])
def test_efforts_are_what_the_log_says(effort):
    found, expected = (identify_payload(ROBOT, it, constants_deviation=0.0) for it in (log(effort=effort), log()))
    assert found.payload.mass == pytest.approx(expected.payload.mass, rel=1e-6)


def test_deviations_say_how_far_parameters_are_from_the_truth():
    errors = []
    for seed in range(12):
        found = identify_payload(ROBOT, log(seed=seed), constants_deviation=0.0)
        ten = (found.payload.ten_parameters - CARRIED.ten_parameters) / found.standard_deviation
        errors.append([*ten, *((np.array(found.payload.com) - CARRIED.com) / found.com_deviation)])
    assert (np.abs(errors) < 5.0).all()
    # of 120 errors of parameters, and of 36 of the centre
    parameters, centre = np.mean(np.square(errors)[:, :10]), np.mean(np.square(errors)[:, 10:])
    assert 0.5 < parameters < 1.7 and 0.35 < centre < 2.5


def test_deviations_of_correlated_errors_are_larger():
    """The same noise, held for a tenth of a second: a tenth of the independent samples."""
    white, held = log(seed=3), log(seed=3, noise=0.0)
    noise = white.tau - held.tau
    held = replace(held, tau=held.tau + np.repeat(noise[::10], 10, axis=0))
    of_held, of_white = (
        identify_payload(ROBOT, it, constants_deviation=0.0).standard_deviation for it in (held, white)
    )
    ratio = of_held / of_white
    # of mass and first moments; inertias are those of the prior
    assert 5.0 < np.mean(ratio[:4] ** 2) < 20.0


def test_deviations_count_errors_of_the_model_that_the_residual_shows():
    """Errors of 3 % of each joint's largest torque, drawn for each second and smooth in between."""
    errors = []
    for seed in range(12):
        right, random = log(friction=1.0, noise=0.0), np.random.default_rng(seed)
        wrong = CubicSpline(np.arange(11.0), random.normal(size=(11, N)))(T) * 0.03 * np.abs(right.tau).max(axis=0)
        found = identify_payload(ROBOT, replace(right, tau=right.tau + wrong), constants_deviation=0.0)
        errors.append((found.payload.ten_parameters - CARRIED.ten_parameters)[:4] / found.standard_deviation[:4])
    # 2.0 measured, 1.4 on 28 other seeds; 3.0 without the parameters' share of the samples
    assert np.mean(np.square(errors)) < 2.7


def test_deviations_count_friction_that_the_robot_does_not_have():
    """Stribeck friction, which the estimate does not know, and friction that drifts by a fifth, on twelve logs each."""
    rough = ROBOT.with_friction(stribeck=0.3 * ROBOT.friction.coulomb, stribeck_velocity=0.1)
    errors = []
    for seed in range(12):
        drift = 0.2 * np.random.default_rng(seed).normal(size=N) * T[:, None] / 10.0
        right = log(seed=seed, noise=0.005)
        drifting = replace(right, tau=right.tau + drift * ROBOT.friction_torque(right.qd))
        for each in (log(seed=seed, noise=0.005, robot=rough), drifting):
            found = identify_payload(ROBOT, each, constants_deviation=0.0)
            errors.append((found.payload.ten_parameters - CARRIED.ten_parameters) / found.standard_deviation)
    assert np.mean(np.square(errors)) < 1.5  # 0.6 measured; 2.5 with a prior of 1 kg at the flange and no jackknife


def test_deviations_count_an_own_error_of_each_torque_constant():
    errors = []
    for seed in range(6):
        right, scale = log(seed=seed, friction=1.0), 1.0 + 0.05 * np.random.default_rng(seed).normal(size=N)
        found = identify_payload(ROBOT, replace(right, tau=scale * right.tau), constants_deviation=0.05)
        of_com = (np.array(found.payload.com) - CARRIED.com) / found.com_deviation
        of_scale = (found.effort_scale - scale) / found.effort_scale_deviation
        errors.append([(found.payload.mass - 3.0) / found.standard_deviation[0], *of_com, *of_scale])
    # 0.8 measured; 8 if the scales are not estimated
    assert 0.3 < np.sqrt(np.mean(np.square(errors))) < 1.6


def test_an_error_that_the_robot_has_in_its_own_parameters_counts_in_proportion():
    """A robot that was identified from efforts with the same error: nothing in the log shows it."""
    terms = ROBOT.friction._asdict()
    same = {name: 1.1 * terms[name] for name in ('viscous', 'coulomb', 'offset')}
    robot = ROBOT.with_inertial_parameters(1.1 * ROBOT.inertial_parameters).with_friction(**same)
    robot, right = robot.with_rotor_inertia(1.1 * ROBOT.rotor_inertia), log(friction=1.0)
    found = identify_payload(robot, replace(right, tau=1.1 * right.tau), constants_deviation=0.1)
    assert found.payload.mass == pytest.approx(3.3, rel=0.03) and found.findings == ()
    assert found.payload.mass - 3.0 < 1.1 * found.standard_deviation[0] < 0.5
    with pytest.raises(ArgumentError, match=r'^constants_deviation: expected at least 0'):
        identify_payload(ROBOT, right, constants_deviation=-0.1)


def test_a_torque_constant_that_is_wrong_is_a_finding():
    right = log(friction=1.0)
    wrong = replace(right, tau=right.tau * np.where(np.arange(N) == 1, 1.2, 1.0))
    (finding,) = identify_payload(ROBOT, wrong, constants_deviation=0.1).findings
    assert finding.where == f'joint {ROBOT.joint_names[1]!r}' and 'its efforts are 1.20' in finding.message


@pytest.mark.parametrize('factor', [1e3, 1e-3])
def test_torques_of_another_unit_are_a_finding(factor):
    right = log()
    found = identify_payload(ROBOT, replace(right, tau=factor * right.tau))
    assert any('efforts have another unit or meaning' in finding.message for finding in found.findings)


def test_without_a_payload_the_mass_is_a_finding():
    found = identify_payload(ROBOT, log(payload=None))
    assert found.payload.mass < 0.1
    (finding,) = found.findings
    assert finding.where == 'payload' and 'standard deviation' in finding.message


def test_a_log_that_is_short_or_does_not_move_is_refused():
    moving = log()
    with pytest.raises(ArgumentError, match=r'^log: expected 100 samples'):
        identify_payload(ROBOT, moving[:99])
    still = Log(T, 1e-3 * moving.q, 1e-3 * moving.qd, 1e-3 * moving.qdd, moving.tau)
    with pytest.raises(ArgumentError, match=r'^log: the arm does not move'):
        identify_payload(ROBOT, still)


def test_a_robot_with_several_tips_is_refused():
    hands = ROBOT.with_attached(ROBOT, 'shoulder_Link', prefix='other_')
    states = np.zeros((200, hands.nv)) + np.arange(200)[:, None]
    with pytest.raises(ArgumentError, match='several tips'):
        identify_payload(hands, Log(np.arange(200.0), *(states,) * 4))
