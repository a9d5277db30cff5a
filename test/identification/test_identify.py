"""Identification of simulated arms: parameters back, priors that are wrong, currents, temperatures, difficult logs."""

from dataclasses import replace

from support.logs import excited_logs as logs
from support.logs.logs import DATA
from support.matrices import matrix

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import Log, cross_validate, identify, validate
from robot_dynamics_ros.identification.friction_terms import TRANSITIONS, FrictionColumns
from robot_dynamics_ros.identification.logs.log_findings import log_findings
from robot_dynamics_ros.identification.regression import Regression
from robot_dynamics_ros.model.pseudo_inertia import violation

pytestmark = pytest.mark.compiled

ARM, WRONG = logs.arm(), logs.wrong_masses()
MOTION = {'duration': 20.0, 'rate': 50.0}


@pytest.fixture(scope='module')
def identified():
    """The arm from a log with noise, from masses that are wrong by half."""
    return identify(ARM, logs.log(ARM, 1, **MOTION), prior=WRONG)


def deviations(found):
    """Errors of base parameters and friction over their standard deviations."""
    base = ARM.base_parameters(1e-4)
    errors = [(found.base_parameters - base.regrouping @ ARM.inertial_parameters) / found.standard_deviation]
    for name, deviation in found.friction_deviation.items():
        errors.append((getattr(found.robot.friction, name) - getattr(ARM.friction, name)) / deviation)
    errors = np.concatenate(errors)
    return errors[~np.isnan(errors)]  # without terms that are left out


# What comes back


@pytest.mark.parametrize('seed', matrix(range(30), [0]))
def test_parameters_are_back_within_three_standard_deviations(seed):
    found = identify(ARM, logs.log(ARM, seed, **MOTION), prior=WRONG if seed % 2 else None)
    assert (np.abs(deviations(found)) < 3.0).mean() >= 0.95


def test_deviations_are_not_larger_than_the_errors_by_far(identified):
    assert np.sqrt((deviations(identified) ** 2).mean()) > 0.25


def test_least_squares_has_deviations_of_what_it_determines():
    base, errors = ARM.base_parameters(1e-4), []
    for seed in range(2):
        found = identify(ARM, logs.log(ARM, seed, **MOTION), 'wls', prior=WRONG)
        known = np.isfinite(found.standard_deviation)
        error = found.base_parameters - base.regrouping @ ARM.inertial_parameters
        errors.append((error / found.standard_deviation)[known])
    # inertias about the axes of joints 1 and 2 count together with rotors, and only their sums are determined
    assert base.independent[~known].tolist() == [9, 19]
    assert 0.6 < np.sqrt(np.mean(np.square(errors))) < 1.6
    untold = [(it.of, it.name) for it in found.parameters if not it.is_told]
    # and the rotors of these sums
    assert untold[:2] == [(link, 'J_zz') for link in ARM.link_names[1:3]]
    assert untold[2:] == [(joint, 'rotor inertia') for joint in ARM.joint_names[:2]]


def test_correlated_noise_counts_as_fewer_samples():
    log = logs.log(ARM, 2, noise=0.0, **MOTION)
    white = np.random.default_rng(5).normal(size=(len(log), 6))
    held = np.repeat(white[::10], 10, axis=0)[: len(log)]
    few, many = (
        identify(ARM, replace(log, tau=log.tau + logs.NOISE * noise)).independent_samples for noise in (held, white)
    )
    # a value that is held for k samples has a correlation time of k
    assert many.mean() > 0.8 * len(log) and len(log) / 20 < few.mean() < len(log) / 5


def test_parameters_are_listed_with_deviations_and_what_they_are_tied_to(identified):
    listed = [it for it in identified.parameters if it.of in ARM.link_names]
    base = ARM.base_parameters(1e-4)
    assert [it.identified for it in listed] == pytest.approx(identified.base_parameters.tolist(), rel=1e-9)
    assert [it.standard_deviation for it in listed] == identified.standard_deviation.tolist()
    described = (base.regrouping @ ARM.inertial_parameters).tolist()
    assert [it.described for it in listed] == pytest.approx(described, rel=1e-9, abs=1e-12)
    # both turn with the first joint alone
    assert listed[0].tied_to == ARM.joint_names[0] and not any(it.tied_to for it in listed[3:])
    of_joints = {(it.of, it.name): it for it in identified.parameters}
    viscous = of_joints[ARM.joint_names[3], 'viscous friction']
    assert viscous.identified == identified.robot.friction.viscous[3] and viscous.unit == 'N m s/rad'
    assert viscous.standard_deviation == identified.friction_deviation['viscous'][3] and viscous.is_told


def test_another_motion_is_predicted(identified):
    shown = validate(identified.robot, logs.log(ARM, 7, noise=0.0, **MOTION))
    assert shown.r2.min() > 0.999
    assert validate(WRONG, logs.log(ARM, 7, noise=0.0, **MOTION)).r2.min() < 0.8


def test_links_are_bodies_and_mass_matrices_positive_definite(identified):
    assert [violation(row) for row in identified.robot.inertial_parameters.reshape(-1, 10)] == [None] * 6
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (2000, 6))
    assert np.linalg.eigvalsh(identified.robot.mass_matrix(q)).min() > 0.0
    assert np.isfinite(identified.condition_number) and identified.condition_number > 1.0


@pytest.mark.parametrize('method', ['wls', 'ols'])
def test_least_squares_without_noise_predicts_to_a_thousandth(method):
    found = identify(ARM, logs.log(ARM, 3, noise=0.0, **MOTION), method, prior=WRONG)
    assert validate(found.robot, logs.log(ARM, 8, noise=0.0, **MOTION)).rms.max() < 2e-3


def test_the_weight_hardly_matters_over_three_decades():
    log = logs.log(ARM, 4, **MOTION)
    other = logs.log(ARM, 9, noise=0.0, **MOTION)
    rms = [validate(identify(ARM, log, prior=WRONG, weight=weight).robot, other).rms for weight in (0.01, 10.0)]
    assert (np.abs(rms[0] - rms[1]) < 0.3 * logs.NOISE).all()


def test_what_a_log_does_not_excite_stays_at_the_prior():
    log = logs.log(ARM, 5, **MOTION)
    still = np.where(np.arange(6) < 5, 0.0, 1.0)
    q, qd, qdd = log.q * still, log.qd * still, log.qdd * still
    found = identify(ARM, Log(log.t, q, qd, qdd, logs.torque(ARM, q, qd, qdd)))
    assert found.robot.friction.viscous[:5] == pytest.approx(ARM.friction.viscous[:5], rel=1e-4)
    assert found.robot.rotor_inertia[:5] == pytest.approx(ARM.rotor_inertia[:5], rel=1e-4)
    assert found.robot.inertial_parameters[:10] == pytest.approx(ARM.inertial_parameters[:10], rel=1e-3, abs=1e-3)
    unexcited = [it.where for it in found.findings if 'not excited' in it.message]
    assert unexcited == [f'joint {name!r}' for name in ARM.joint_names[:5]]
    told = {it.of for it in found.parameters if it.is_told and it.of in ARM.joint_names}
    assert told == set(ARM.joint_names[5:])


def test_rotor_spins_are_part_of_the_model():
    geared = ARM.with_actuators(
        {
            'gear_ratio': dict.fromkeys(ARM.joint_names, 100.0),
            'rotor_direction': dict.fromkeys(ARM.joint_names, 1),
        }
    )
    assert geared.rotor_spin.any()
    found = identify(geared, logs.log(geared, 6, noise=0.0, **MOTION), 'wls')
    assert validate(found.robot, logs.log(geared, 8, noise=0.0, **MOTION)).rms.max() < 2e-3


def test_torque_constants_come_back_with_a_good_prior():
    nominal = ARM.with_actuators({'torque_constant': dict.fromkeys(ARM.joint_names, 8.0)})
    log, share = logs.log(ARM, 6, **MOTION), np.array([1.2, 0.9, 1.1, 1.0, 0.8, 1.15])
    currents = replace(log, tau=log.tau / (8.0 * share), effort='current')
    found = identify(nominal, currents, weight=1000.0, constants_deviation=0.5).robot
    assert found.model.torque_constant()[1:5] / 8.0 == pytest.approx(share[1:5], rel=0.05)


def test_viscous_friction_per_degree():
    log, slope = logs.log(ARM, 6, **MOTION), -0.02 * ARM.friction.viscous
    warm = 20.0 + np.outer(log.t, np.linspace(0.5, 1.0, 6))
    tau = log.tau + slope * (warm - warm.mean(axis=0)) * log.qd
    found = identify(ARM, replace(log, tau=tau, temperature=warm), friction=('viscous', 'coulomb', 'temperature'))
    assert found.viscous_per_degree == pytest.approx(slope, rel=0.2, abs=0.01)


# Normal equations


def test_normal_equations_are_those_of_the_whole_matrix():
    log = logs.log(ARM, 3, duration=3.0, rate=1000.0)
    used = np.random.default_rng(0).random(log.tau.shape) < 0.7
    weights, transition = np.arange(1.0, 7.0), TRANSITIONS[[0, 3, 9, 4, 1, 6]]
    Y = ARM.torque_regressor(log.q, log.qd, log.qdd)
    columns = FrictionColumns.of(('viscous', 'offset', 'coulomb', 'load'), log, 0.5 * log.tau, ARM.friction)
    own = np.stack([log.qdd, *columns.at(transition)], axis=2)
    A, b = np.zeros((len(log), 6, 60 + 30)), log.tau * used * np.sqrt(weights)
    for j, qd in enumerate(log.qd.T):
        sign = qd / np.sqrt(qd**2 + transition[j] ** 2)
        expected = log.qdd[:, j], qd, 1.0 + 0.0 * qd, sign, np.abs(0.5 * log.tau[:, j]) * sign
        A[:, j, :60], A[:, j, 60 + 5 * j : 65 + 5 * j] = Y[:, j], np.stack(expected, axis=1)
        A[:, j] *= used[:, j, None] * np.sqrt(weights[j])
    H, h = Regression.of(Y, own, log.tau, used).normal_equations(weights)
    A = A.reshape(-1, 90)
    assert pytest.approx(A.T @ A, rel=1e-9, abs=1e-9 * np.abs(H).max()) == H
    assert h[:, 0] == pytest.approx(A.T @ b.ravel(), rel=1e-9, abs=1e-9 * np.abs(h).max())


def test_a_transition_velocity_is_found():
    log = logs.log(ARM, 3, duration=3.0, rate=1000.0)
    columns = FrictionColumns.of(('viscous', 'coulomb'), log, log.tau, ARM.friction)
    expected = TRANSITIONS[[0, 3, 9, 4, 1, 6]]
    used = np.random.default_rng(0).random(log.tau.shape) < 0.7
    torque = np.where(used, 3.0 * log.qd + 10.0 * log.qd / np.hypot(log.qd, expected), 1e6)
    assert columns.best_transitions(torque, used).tolist() == expected.tolist()


# Findings and errors


def found_messages(log) -> str:
    return '\n'.join(map(str, identify(ARM, log, 'ols').findings))


def test_a_good_log_has_no_findings(identified):
    assert identified.findings == ()
    # friction that is higher all the time is found, not reported
    more = replace(logs.log(ARM, 1, **MOTION), tau=logs.log(ARM, 1, **MOTION).tau * 1.5)
    shown = validate(ARM, more)
    assert [it for it in log_findings(ARM, ARM, more, shown) if 'second half' in it.message] == []


def late(log):
    return replace(log, tau=np.vstack([log.tau[:1], log.tau[:-1]]))


def after_a_rest(log):
    t = np.concatenate([np.arange(0.0, 7.0, 0.02), 7.0 + log.t])
    held = {name: np.repeat(getattr(log, name)[:1], 350, axis=0) for name in ('q', 'tau')}
    still = {name: np.zeros((350, 6)) for name in ('qd', 'qdd')}
    parts = {name: np.vstack([part, getattr(log, name)]) for name, part in (held | still).items()}
    return Log(t, **parts)


DIFFICULT = {
    'late': (late, ' ms: identify from log.without_delay(0.0'),
    'short': (lambda log: log[: len(log) // 2], 'the arm is in motion for 10.0 s: 15 s or more'),
    'at rest': (after_a_rest, 'the arm stands still for 7.0 s'),
    'reversed': (lambda log: replace(log, tau=-log.tau), 'its sign may be reversed'),
    'degrees': (
        lambda log: replace(log, qd=np.degrees(log.qd)),
        'velocities are 57.3 times the derivative of the positions',
    ),
    'accelerations': (
        lambda log: replace(log, qdd=-log.qdd),
        'accelerations are -1 times the derivative of the velocities',
    ),
    'warmer': (
        lambda log: replace(log, tau=log.tau + 10.0 * np.sign(log.qd) * (log.t[:, None] > 10.0)),
        'to the second half',
    ),
}


@pytest.mark.parametrize('name', matrix(DIFFICULT, ['late', 'warmer']))
def test_a_difficult_log_is_named(name):
    change, expected = DIFFICULT[name]
    assert expected in found_messages(change(logs.log(ARM, 1, **MOTION)))


def test_a_torque_that_is_not_explained_says_nothing_of_friction():
    """Nor does a finding point to others: there may be none."""
    log = logs.log(ARM, 1, **MOTION)
    tau = np.array(log.tau)
    wave = 9.0 * np.sign(np.sin(0.9 * log.t))
    tau[:, 5] = wave * np.sign(wave @ log.qd[:, 5])  # does positive work
    found = [it.message for it in identify(ARM, replace(log, tau=tau)).findings if it.where.endswith("'wrist3_joint'")]
    assert len(found) == 1 and 'the model does not explain its torque; friction, contact, a coupling' in found[0]


SHORT = logs.log(ARM, 1, duration=1.0, rate=50.0)
AT_REST = replace(SHORT, qd=0.0 * SHORT.qd)


@pytest.mark.parametrize(
    ('log', 'options', 'message'),
    [
        (SHORT, {'method': 'lasso'}, 'method: expected one of consistent, wls, ols'),
        (SHORT, {'friction': ('viscous', 'sticky')}, "friction: no term 'sticky'; there are viscous"),
        (SHORT, {'friction': ('temperature',)}, 'friction: temperature: the log has no temperatures'),
        (SHORT, {'constants_deviation': 0.1}, 'constants_deviation: expected currents'),
        (
            SHORT,
            {'prior': Robot.named('aubo_i5').chain(tip_link='wrist2_Link')},
            'prior: expected a robot with 6 joints',
        ),
        (AT_REST, {}, 'log: expected at least 20 samples in motion, got 0'),
    ],
)
def test_a_wrong_argument_is_named(log, options, message):
    with pytest.raises(ArgumentError, match=message):
        identify(ARM, log, **options)


# Prediction


def test_a_residual_is_shown_with_its_frequency():
    log = logs.log(ARM, 1, noise=0.0, **MOTION)
    disturbed = replace(log, tau=log.tau + np.sin(2.0 * np.pi * 5.02 * log.t)[:, None])
    shown = validate(ARM, disturbed)
    both = validate(ARM, Log.joined([disturbed, disturbed])).spectrum()
    assert both[0][both[1].argmax(axis=0)] == pytest.approx(np.full(6, 5.02), abs=0.05)
    frequencies, amplitudes = shown.spectrum()
    # the window leaves nothing a few lines away
    assert amplitudes[np.abs(frequencies - 5.02) > 0.5].max() < 0.01
    assert frequencies[np.argmax(amplitudes, axis=0)] == pytest.approx(np.full(6, 5.02), abs=0.05)
    assert amplitudes.max(axis=0) == pytest.approx(np.ones(6), rel=0.1)
    assert shown.rms == pytest.approx(np.full(6, np.sqrt(0.5)), rel=0.05)
    assert 1.0 - shown.r2 == pytest.approx(shown.rms**2 / log.tau.var(axis=0), rel=0.1)


def test_a_joint_at_rest_does_not_count():
    shown = validate(ARM, replace(SHORT, qd=SHORT.qd * [1, 1, 1, 1, 1, 0]))
    assert np.isnan(shown.rms[5]) and np.isfinite(shown.rms[:5]).all()


def test_cross_validation_predicts_blocks_that_it_has_not_seen():
    log = logs.log(ARM, 1, **MOTION)
    shown = cross_validate(ARM, log, folds=2, friction=('viscous', 'coulomb'))
    half = len(log) // 2
    of_second = identify(ARM, log[half:], friction=('viscous', 'coulomb')).robot
    assert shown.predicted[:half] == pytest.approx(validate(of_second, log[:half]).predicted)
    with pytest.raises(ArgumentError, match='folds: expected'):
        cross_validate(ARM, log, folds=1)


def test_half_of_a_measured_log_predicts_the_other():
    path = DATA / 'aubo_i5_measured_traj1.csv'
    if not path.exists():
        pytest.skip(f'{path} is missing')
    robot = Robot.named('aubo_i5')
    shown = cross_validate(robot, Log.from_csv(path, robot), folds=2, prior=WRONG, speed=-1.0)
    assert shown.r2.min() > 0.97 and shown.r2.mean() > 0.985


@pytest.mark.parametrize('factor', matrix([1e3, 0.1], [0.1]))
def test_torques_of_another_unit_are_a_finding(factor):
    log = logs.log(ARM, 6, **MOTION)
    found = identify(ARM, Log(log.t, log.q, log.qd, log.qdd, factor * log.tau))
    assert any('another unit or meaning' in it.message for it in found.findings)


def test_a_torque_that_is_constant_is_a_finding():
    log = logs.log(ARM, 6, **MOTION)
    tau = log.tau.copy()
    tau[:, 5] = 0.5
    found = identify(ARM, Log(log.t, log.q, log.qd, log.qdd, tau)).findings
    assert [it.where for it in found if 'is constant' in it.message] == [f'joint {ARM.joint_names[5]!r}']
