"""Residual learning pays where there is something to learn, refuses itself elsewhere, and is bounded."""

from dataclasses import replace

from support.logs.logs import DATA
from support.robots.small_robots import AUBO, one

import numpy as np
import pytest

from robot_dynamics_ros.control.terms.residual_torque import ResidualTorque
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import Log, fit_residual
from robot_dynamics_ros.identification.motions.fourier_trajectory import FourierTrajectory, at_rest
from robot_dynamics_ros.model.residual import FEATURES


def simulated(cogging, noise=0.3, seed=0, samples=1500):
    """Return a log of the AUBO-i5 with a torque of the motor's angle on joint 5, N m, and noise."""
    random = np.random.default_rng(seed)
    coefficients = at_rest(3) @ random.normal(size=(4, 6))
    motion = FourierTrajectory(AUBO.joint_names, 10.0, random.normal(size=6), *np.split(coefficients, 2))
    t = np.linspace(0.0, 10.0, samples)
    q, qd, qdd = motion.sample(t)
    tau = AUBO.inverse_dynamics(q, qd, qdd)
    tau = tau + AUBO.friction_torque(qd, tau) + noise * random.normal(size=tau.shape)
    tau[:, 4] += cogging * np.sin(2.0 * 101.0 * q[:, 4] + 0.4)
    return Log(t, q, qd, qdd, tau)


@pytest.mark.compiled
def test_what_is_there_is_learnt_and_what_is_noise_is_not():
    found = fit_residual(AUBO, simulated(1.0))
    assert found.pays.tolist() == [False] * 4 + [True, False] and found.findings == ()
    # noise of 0.3 N m and a sine of 1 N m; of the sine, a tenth of the noise's power in weights may be left
    assert abs(found.before[4] - np.hypot(0.3, np.sqrt(0.5))) < 0.04 and abs(found.after[4] - 0.3) < 0.03
    weights = found.model.weights[4]
    assert abs(weights[FEATURES.index('sin 2Nq')] - np.cos(0.4)) < 0.1
    assert abs(weights[FEATURES.index('cos 2Nq')] - np.sin(0.4)) < 0.1
    assert not found.model.weights[:4].any() and found.model.bound[:4].tolist() == [0.0] * 4
    # judged by another motion
    other = simulated(1.0, seed=5)
    torque = np.zeros(other.q.shape)
    term = ResidualTorque(AUBO, found.model)
    for row in zip(other.q, other.qd, torque, strict=True):
        term.add(*row)
    model = AUBO.inverse_dynamics(other.q, other.qd, other.qdd)
    left = other.tau - model - AUBO.friction_torque(other.qd, model)
    assert np.sqrt(np.mean((left - torque)[:, 4] ** 2)) < 0.6 * np.sqrt(np.mean(left[:, 4] ** 2))


@pytest.mark.compiled
def test_accelerations_without_a_filter_are_a_finding_of_the_result_and_of_the_refusal():
    noise = 5.0 * np.random.default_rng(3).normal(size=(1500, 6)) * [0, 0, 0, 0, 0, 1]
    learnt, refused = (replace(it, qdd=it.qdd + noise) for it in (simulated(1.0), simulated(0.0)))
    (finding,) = fit_residual(AUBO, learnt).findings
    assert finding.where == "joint 'wrist3_joint'" and finding.message.endswith(': low-pass the log')
    with pytest.raises(ArgumentError, match=f'does not pay.*; {finding.where}: {finding.message}$'):
        fit_residual(AUBO, refused)


@pytest.mark.compiled
def test_noise_alone_is_refused_with_the_figures():
    with pytest.raises(ArgumentError, match=r'does not pay.*wrist3_joint 0\.\d+ to 0\.\d+$'):
        fit_residual(AUBO, simulated(0.0))


@pytest.mark.compiled
def test_the_measured_aubo_i5_gets_one_where_it_pays_on_the_rest_of_the_log_too():
    if not (DATA / 'aubo_i5_measured_traj1.csv').exists():
        pytest.skip('the measured log is not there')
    log = Log.from_csv(DATA / 'aubo_i5_measured_traj1.csv', AUBO)
    found, rest = fit_residual(AUBO, log[:1200]), log[1200:]
    assert found.pays.any() and (found.after[found.pays] < 0.95 * found.before[found.pays]).all()
    torque = np.zeros(rest.q.shape)
    term = ResidualTorque(AUBO, found.model)
    for row in zip(np.array(rest.q), np.array(rest.qd), torque, strict=True):
        term.add(*row)
    model = AUBO.inverse_dynamics(rest.q, rest.qd, rest.qdd)
    left = rest.torque(AUBO) - model - AUBO.friction_torque(rest.qd, model)
    before, after = (np.sqrt(np.mean(x**2, axis=0)) for x in (left, left - torque))
    assert (after[found.pays] < before[found.pays]).all() and np.array_equal(after[~found.pays], before[~found.pays])


@pytest.mark.compiled
def test_what_comes_and_goes_is_not_learnt():
    always, never = simulated(2.0), simulated(0.0)
    parts = ~np.isin(np.arange(1500) // 250, (1, 4))
    tau = np.where(parts[:, None], always.tau, never.tau)
    # most of the sine would lower the RMS of all parts, and raise that of two
    with pytest.raises(ArgumentError, match='does not pay'):
        fit_residual(AUBO, Log(always.t, always.q, always.qd, always.qdd, tau))


@pytest.mark.compiled
def test_a_motor_of_unknown_gear_ratio_gets_no_weights():
    robot, t = one(), np.linspace(0.0, 10.0, 600)
    q, qd, qdd = np.sin(t)[:, None], np.cos(t)[:, None], -np.sin(t)[:, None]
    tau = (
        robot.inverse_dynamics(q, qd, qdd)
        + 0.2 * np.sin(2.0 * q)
        + 0.02 * np.random.default_rng(0).normal(size=q.shape)
    )
    weights = fit_residual(robot, Log(t, q, qd, qdd, tau)).model.weights[0]
    assert not weights[FEATURES.index('sin Nq') :].any() and weights[:9].all()


@pytest.mark.parametrize(
    ('part', 'blocks', 'reason'),
    [
        (slice(0, 250), 6, "joint 'shoulder_joint' moves in fewer than 50 samples"),
        (slice(None), 2, 'blocks: expected a whole number >= 3'),
    ],
)
def test_a_log_that_is_too_short_is_refused_by_name(part, blocks, reason):
    with pytest.raises(ArgumentError, match=reason):
        fit_residual(AUBO, simulated(1.0)[part], blocks)


@pytest.mark.compiled
@pytest.mark.parametrize('factor', [1e3, 0.0])
def test_a_log_whose_torques_are_others_teaches_nothing(factor):
    log = simulated(1.0)
    with pytest.raises(ArgumentError, match='or the model leaves too much'):
        fit_residual(AUBO, Log(log.t, log.q, log.qd, log.qdd, factor * log.tau))
