"""Friction terms that pay, passes that end, a prior that the log contradicts: never worse than a simpler model."""

from dataclasses import replace

from support.logs import baseline_fits
from support.logs import excited_logs as logs
from support.matrices import matrix

import numpy as np
import pytest

from robot_dynamics_ros.identification import Validation, identify, validate
from robot_dynamics_ros.identification.friction_terms import term_names
from robot_dynamics_ros.identification.iterated_fit import TOLERANCE, TorqueProblem, first_state, iterated, next_pass
from robot_dynamics_ros.identification.model_selection import last_pass, with_terms_that_pay
from robot_dynamics_ros.identification.parameter_estimation import FRICTION
from robot_dynamics_ros.identification.regression import Regression

pytestmark = pytest.mark.compiled

ARM = logs.arm()
MOTION = {'duration': 20.0, 'rate': 50.0}
SUPERLINEAR = ARM.with_friction(coulomb=0.0, load=0.0, quadratic=[30.0, 25.0, 20.0, 4.0, 4.0, 4.0])
LOADED = ARM.with_friction(load=[0.0, 0.3, 0.3, 0.25, 0.3, 0.2])


def not_measured(log):
    """The last two joints' efforts are a hundredth of their friction, without the arm's part."""
    tau, random = log.tau.copy(), np.random.default_rng(1)
    tau[:, 4:] = 0.01 * (log.qd[:, 4:] + np.sign(log.qd[:, 4:]) + 0.3 * random.normal(size=(len(log), 2)))
    return replace(log, tau=tau)


KINDS = {
    'friction grows faster than linearly': (SUPERLINEAR, lambda log: log),
    'friction grows with the load': (LOADED, lambda log: log),
    'usual friction': (ARM, lambda log: log),
    'two joints are not measured': (ARM, not_measured),
}


@pytest.mark.parametrize('kind', matrix(KINDS, ['two joints are not measured']))
def test_another_motion_is_not_predicted_worse_than_by_least_squares(kind):
    robot, change = KINDS[kind]
    training, judging = (change(logs.log(robot, seed, **MOTION)) for seed in (1, 21))
    found = identify(logs.wrong_masses() if robot is ARM else ARM, training)
    mine = validate(found.robot, judging).r2
    moving = np.abs(judging.qd) > 0.02
    for tau in baseline_fits.predictions(ARM, training, judging).values():
        assert (mine > Validation(judging.t, judging.tau, tau, moving).r2 - 0.005).all()
    if robot is SUPERLINEAR:
        assert mine.min() > 0.999


def test_friction_terms_are_those_that_an_arm_has():
    found = identify(ARM, logs.log(SUPERLINEAR, 2, **MOTION))
    assert found.robot.friction.quadratic == pytest.approx(SUPERLINEAR.friction.quadratic, rel=0.03)
    assert set(found.left_out) == {'load'} and found.robot.friction.load.max() < 0.02
    without = np.isin(ARM.joint_names, found.left_out['load'])
    assert (np.isnan(found.friction_deviation['load']) == without).all() and not found.robot.friction.load[
        without
    ].any()
    assert (found.friction_deviation['quadratic'] > 0.0).all()
    loaded = identify(ARM, logs.log(LOADED, 2, **MOTION))
    assert loaded.robot.friction.load[1:4] == pytest.approx(LOADED.friction.load[1:4], abs=0.02)
    assert loaded.left_out['quadratic'] == tuple(ARM.joint_names)


@pytest.mark.parametrize('seed', matrix([1, 2], [1]))
def test_a_gear_that_locks_itself_is_no_estimate(seed):
    log = not_measured(logs.log(ARM, seed, **MOTION))
    found, simpler = identify(ARM, log), identify(ARM, log, friction=('viscous', 'coulomb', 'offset'))
    assert found.robot.friction.load.max() < 1.0
    assert (found.r2 > simpler.r2 - 0.005).all()


def test_passes_end_where_the_torque_no_longer_changes():
    log = logs.log(LOADED, 3, **MOTION)
    names = term_names(FRICTION, None)
    problem = TorqueProblem(ARM, ARM, log, 'consistent', names, 0.3, 0.0)
    _, settled = with_terms_that_pay(problem)
    assert settled.change < TOLERANCE
    # Gauss-Newton steps: after a few passes the torque does not change any more, with load-dependent friction of 0.3
    now = first_state(problem)
    for _ in range(8):
        passed = next_pass(problem, np.ones((len(names), 6), bool), now, settled=True)
        now = passed.state
    assert passed.change < 0.5 * TOLERANCE


def test_passes_that_do_not_end_are_a_finding(monkeypatch):
    monkeypatch.setattr('robot_dynamics_ros.identification.iterated_fit.MOST_PASSES', 1)
    found = identify(ARM, logs.log(LOADED, 3, **MOTION), friction=('viscous', 'coulomb'))
    messages = [it.message for it in found.findings]
    assert any(it.startswith('the fit does not converge: its torque still changes by ') for it in messages)


def test_a_prior_that_the_log_contradicts_weighs_less(monkeypatch):
    monkeypatch.setattr('robot_dynamics_ros.identification.parameter_estimation.WEIGHTS', (1e5, 0.3))
    heavy = ARM.with_inertial_parameters(3.0 * ARM.inertial_parameters)
    training, judging = (logs.log(ARM, seed, duration=10.0, rate=50.0) for seed in (4, 24))
    options = {'friction': ('viscous', 'coulomb')}
    free, held = (identify(ARM, training, prior=heavy, **options, **weight) for weight in ({}, {'weight': 1e5}))
    (finding,) = (it for it in free.findings if it.where == 'prior')
    assert 'contradicts the masses of the description: its weight is 0.3 in place of 100000' in finding.message
    assert (validate(free.robot, judging).rms < 0.5 * validate(held.robot, judging).rms)[:3].all()
    right = identify(ARM, training, **options)
    assert not any(it.where == 'prior' for it in (*held.findings, *right.findings))


# Sums that are held out


def test_without_a_part_the_parameters_are_those_of_the_others():
    log = logs.log(ARM, 5, duration=10.0, rate=50.0)
    problem = TorqueProblem(ARM, ARM, log, 'wls', ('viscous', 'offset', 'coulomb'), 0.3, 0.0)
    terms = np.ones((3, 6), bool)
    now = iterated(problem, terms, first_state(problem))
    _, last = last_pass(problem, terms, now.state, (0.3,))
    held_out = last.held_out()
    for k, part in enumerate(last.parts):
        others = last.whole._replace(sums=last.whole.sums - part.sums)
        fit = others.nearest_fit(last.weights, problem.prior(terms, last.state.scales))
        x = np.append(fit.links, fit.own)[:, None]
        assert held_out[k] == pytest.approx(part.squares(x)[:, 0], rel=1e-6)


def test_squares_are_those_of_the_residuals_of_each_torque():
    random = np.random.default_rng(6)
    Y, own, torques = random.normal(size=(50, 2, 3)), random.normal(size=(50, 2, 2)), random.normal(size=(50, 2, 4))
    x = random.normal(size=(7, 4))
    found = Regression.of(Y, own, torques).squares(x)
    for j in range(2):
        residual = torques[:, j] - Y[:, j] @ x[:3] - own[:, j] @ x[3 + 2 * j : 5 + 2 * j]
        assert found[j] == pytest.approx((residual**2).sum(axis=0))
