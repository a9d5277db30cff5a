"""Gains and the sampling period: the limit of stability, gains that keep clear of it, and a law that waits for it."""

from types import SimpleNamespace

from support.control.delayed_loop import growth
from support.matrices import matrix
from support.robots.driven_mechanisms import driven_robot
from support.robots.example_robots import example_urdfs
from support.robots.mechanisms import actuated, geared_four_bar

import numpy as np
import pytest
from scipy.optimize import differential_evolution

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.law import TORQUE, MeasuredState
from robot_dynamics_ros.control.laws.gain_limits import (
    LIMIT,
    PROPOSED,
    SAMPLES,
    UNKNOWN_PERIOD,
    DelayedLimit,
    SampledLaw,
    SamplingLimit,
    check_stated,
    configurations,
    lightest_configurations,
    of_damping,
    propose_gains,
)
from robot_dynamics_ros.errors import ArgumentError

NAMES = ('base', 'elbow', 'wrist')


def robot_with(M, viscous=0.0):
    """A robot of three joints whose mass matrix is the same everywhere."""
    n = len(M)
    return SimpleNamespace(
        nv=n,
        joint_names=NAMES[:n],
        limits=SimpleNamespace(lower=np.full(n, -np.inf), upper=np.full(n, np.inf)),
        friction=SimpleNamespace(viscous=np.full(n, viscous)),
        mass_matrix=lambda q: np.broadcast_to(M, (len(q), n, n)),
    )


def random_mass_matrix(rng):
    root = rng.normal(size=(3, 3)) * np.array([1.0, 0.3, 0.03])[:, None]
    return root @ root.T + np.diag([0.1, 0.01, 1e-4])


def spectral_radius(M, K, D, period):
    """Of M qdd = -D qd - K q where the right-hand side is held for a period: the exact step of q and qd."""
    stiff, damped = np.linalg.solve(M, np.diag(K)), np.linalg.solve(M, np.diag(D))
    one = np.eye(len(M))
    step = np.block(
        [
            [one - 0.5 * period**2 * stiff, period * one - 0.5 * period**2 * damped],
            [-period * stiff, one - period * damped],
        ]
    )
    return np.abs(np.linalg.eigvals(step)).max()


@pytest.mark.parametrize('seed', range(20))
def test_damping_alone_is_stable_up_to_the_limit_and_not_beyond(seed):
    rng = np.random.default_rng(seed)
    M, D = random_mass_matrix(rng), rng.uniform(0.1, 10.0, 3)
    limit = SamplingLimit(robot_with(M), np.zeros(3), D).period
    still = np.zeros(3)
    assert spectral_radius(M, still, D, 0.999 * limit) <= 1.0 + 1e-9  # positions stay where they are: a pole at 1
    assert spectral_radius(M, still, D, 1.001 * limit) > 1.0 + 1e-4


@pytest.mark.parametrize('seed', range(20))
def test_gains_below_the_limit_are_stable(seed):
    rng = np.random.default_rng(seed)
    M, D = random_mass_matrix(rng), rng.uniform(0.1, 10.0, 3)
    K = rng.uniform(0.0, 2000.0, 3)
    assert spectral_radius(M, K, D, 0.999 * SamplingLimit(robot_with(M), K, D).period) < 1.0


DELAYS = [0.0, 0.01, 0.1, 0.3, 0.5, 0.8, 1.0, 1.4, 2.0, 5.0]
"""Of torques, in periods."""


@pytest.mark.parametrize('delay', DELAYS)
def test_below_the_limit_of_a_delay_no_motion_grows(delay):
    """Of one joint, which stands for each x^H M x, x^H D x and x^H K x of several; both limits nearly reached, too."""
    for share in np.linspace(0.02, 0.999, 25):
        for of_spring in (0.0, 0.1, 0.3, 0.5, 0.7, 0.85, 0.95, 0.999):
            # T d / m and T k / (2 d) are so many times their limits
            d = share * LIMIT / (np.sqrt(2.0) * (1.0 + 2.0 * delay) if delay else 1.0)
            k = of_spring * d * d / share
            undelayed = min(LIMIT / d, LIMIT * d / k if k else np.inf)
            assert DelayedLimit(SimpleNamespace(period=undelayed), delay).period > 1.0
            K, D = np.full((1, 1), k), np.full((1, 1), d)
            assert growth(np.eye(1), np.zeros((1, 1)), K, D, 1.0, delay) < 1.0 + 1e-9


@pytest.mark.parametrize('delay', DELAYS)
@pytest.mark.parametrize('seed', range(4))
def test_gains_below_the_limit_of_a_delay_are_stable_and_far_above_they_are_not(seed, delay):
    rng = np.random.default_rng(seed)
    M, D = random_mass_matrix(rng), rng.uniform(0.1, 10.0, 3)
    K, still = rng.uniform(0.0, 2000.0, 3), np.zeros((3, 3))
    undelayed = SamplingLimit(robot_with(M), K, D).period
    # the period with which so many periods are at the limit
    period = undelayed / (np.sqrt(2.0) * (1.0 + 2.0 * delay)) if delay else undelayed
    limit = DelayedLimit(SamplingLimit(robot_with(M), K, D), delay * period)
    assert limit.period == pytest.approx(period)
    assert growth(M, still, np.diag(K), np.diag(D), 0.999 * period, 0.999 * delay * period) < 1.0 + 1e-9
    assert growth(M, still, np.diag(K), np.diag(D), 4.0 * period, 4.0 * delay * period) > 1.0 + 1e-4


def test_a_delay_is_named_where_gains_are_refused_for_it():
    undelayed = SamplingLimit(robot_with(np.eye(1)), [0.0], [4.0])  # below 0.5 s
    assert DelayedLimit(undelayed, 0.0).period == undelayed.period == pytest.approx(0.5)
    limit = DelayedLimit(undelayed, 0.1)
    assert limit.period == pytest.approx(0.5 / np.sqrt(2.0) - 0.2)
    assert limit.fault(0.15) == ''
    said = limit.fault(0.2)
    assert said.startswith("torque_delay: 0.1 s, with which 5 Hz count as 1.768 Hz: damping: joint 'base': 4 N m s/rad")
    assert limit.fault(limit.period).startswith('torque_delay: ')
    assert limit.contradiction(0.05, 0.1) == limit.contradiction(0.05, 0.12) == '' and limit.fault(0.05) == ''
    assert limit.contradiction(0.05, 0.2).startswith(
        'joint states are 0.2 s old when they come, by their stamps; torque_d'
    )
    assert DelayedLimit(undelayed, 1.0).period == 0.0 and DelayedLimit(undelayed, 1.0).fault(1e-9)


def test_one_joint_has_the_limits_of_the_textbook():
    light = robot_with(np.array([[0.002]]))
    assert SamplingLimit(light, [0.0], [4.0]).period == pytest.approx(LIMIT * 0.002 / 4.0)
    assert SamplingLimit(light, [400.0], [0.1]).period == pytest.approx(2.0 * 0.1 / 400.0)
    assert SamplingLimit(robot_with(np.array([[0.002]]), viscous=0.3), [400.0], [0.1]).period == pytest.approx(0.002)
    assert SamplingLimit(light, [0.0], [0.0]).period == np.inf
    assert SamplingLimit(light, [0.0], [0.0], bandwidth=10.0).period == 0.1
    # M Kp / Kd of the reference velocity adds to the damping
    assert SamplingLimit(light, [0.0], [4.0], reference_rate=500.0).period == pytest.approx(LIMIT / (2000.0 + 500.0))


@pytest.mark.parametrize('n', [1, 3, 6])
@pytest.mark.parametrize('seed', range(5))
def test_the_lightest_position_is_found_wherever_it_is(n, seed):
    rng = np.random.default_rng(seed)
    lightest, D = rng.uniform(-3.0, 3.0, n), rng.uniform(0.5, 2.0, n)
    arm = robot_with(np.eye(n))
    # 1 kg m^2 far away from it, 0.5 kg m^2 there
    arm.mass_matrix = lambda q: (1.0 - 0.5 * (0.5 + 0.5 * np.cos(q - lightest)).prod(-1))[:, None, None] * np.eye(n)
    limit = SamplingLimit(arm, np.zeros(n), D).period
    assert limit == pytest.approx(LIMIT * 0.5 / D.max(), rel=1e-4)


@pytest.mark.parametrize('n', [1, 24, 42, 300])
def test_the_time_of_a_search_is_bounded_for_many_joints(n):
    """A mass matrix of n joints, and its factors, take a time that grows with the square of n, and more."""
    arm, rows = robot_with(np.eye(1)), []
    arm.nv, arm.limits = n, SimpleNamespace(lower=np.full(n, -np.inf), upper=np.full(n, np.inf))
    lightest_configurations(arm, lambda q: rows.append(len(q)) or np.cos(q).mean(axis=1) + 2.0)
    least = min(24, n) / n
    assert sum(rows) * n**2 <= (2048 + 16384) * min(24, n) ** 2
    assert sum(rows) > 500 * least**2


@pytest.mark.compiled
@pytest.mark.parametrize('name', matrix(['kinova.urdf', 'z1.urdf', 'ur5_robot.urdf'], ['kinova.urdf']))
def test_no_other_search_finds_a_lighter_position(name):
    """By samples alone the limits of two of these arms would be 1.5 and 1.8 times as large."""
    arm = Robot.from_urdf(next(path for path in example_urdfs() if path.endswith(f'/{name}')))
    D = 20.0 * propose_gains(arm, 500.0, 12.0).damping

    def negative_eigenvalue(q):
        return -np.linalg.eigvals(np.linalg.solve(arm.mass_matrix(q), np.diag(D))).real.max()

    ends = np.transpose([arm.limits.lower, arm.limits.upper])
    whole = [tuple(end) if np.isfinite(end).all() else (-np.pi, np.pi) for end in ends]
    found = differential_evolution(negative_eigenvalue, whole, popsize=10, maxiter=80, polish=False)
    period = SamplingLimit(arm, np.zeros(arm.nv), D).period
    assert -found.fun < 1.01 * LIMIT / period


def test_a_refusal_names_joint_value_and_limit():
    M = np.diag([2.0, 0.5, 1.31e-4])
    limit = SamplingLimit(robot_with(M), [300.0, 300.0, 60.0], [30.0, 30.0, 4.0])
    assert limit.fault(0.9 * limit.period) == ''
    said = limit.fault(0.002)
    assert said.startswith("damping: joint 'wrist': 4 N m s/rad at 500 Hz: ")
    assert 'is 61.1, and sampled control is unstable from 2 on; use at most 0.13 N m s/rad' in said
    assert 'robot_dynamics_propose_gains' in said
    soft = SamplingLimit(robot_with(M), [300.0, 300.0, 60.0], [30.0, 0.1, 0.05]).fault(0.002)
    assert soft.startswith("stiffness: joint 'elbow': 300 N m/rad at 500 Hz needs a damping above 0.3 N m s/rad")
    fast = SamplingLimit(robot_with(M), [0.0] * 3, [0.0] * 3, bandwidth=20.0).fault(0.1)
    assert fast.startswith('bandwidth: 20 rad/s at 10 Hz: twice bandwidth times period is 4')


@pytest.mark.parametrize('largest', [1000.0, 1e16, 1e308])
def test_limits_wider_than_a_turn_are_none(largest):
    arm = robot_with(random_mass_matrix(np.random.default_rng(3)))
    expected = SamplingLimit(arm, np.zeros(3), np.ones(3)).period
    arm.limits = SimpleNamespace(lower=np.full(3, -largest), upper=np.full(3, largest))
    assert np.array_equal(np.abs(configurations(arm)) <= np.pi, np.full((SAMPLES, 3), True))
    assert SamplingLimit(arm, np.zeros(3), np.ones(3)).period == expected


def test_gains_of_any_size_are_refused_by_name():
    limit = SamplingLimit(robot_with(np.diag([2.0, 0.5, 1.3e-4])), np.ones(3), [1e308, 1.0, 1e308])
    assert limit.fault(0.002).startswith("damping: joint 'wrist': 1e+308 N m s/rad at 500 Hz: ")


def test_gains_that_nobody_has_stated_are_refused_with_the_helper():
    with pytest.raises(ArgumentError, match=r'stiffness: not stated.*robot_dynamics_propose_gains'):
        check_stated('stiffness', [-1.0])
    check_stated('stiffness', [0.0])


@pytest.mark.compiled
@pytest.mark.parametrize('rate', [1000.0, 100.0, 20.0])
def test_proposed_gains_are_critically_damped_and_keep_clear_of_the_limit(rate):
    robot, bandwidth = Robot.named('aubo_i5'), 12.0
    proposed = propose_gains(robot, rate, bandwidth)
    q = np.random.default_rng(1).uniform(robot.limits.lower, robot.limits.upper, (2000, 6))
    M = robot.mass_matrix(q)
    eigenvalues = np.linalg.eigvals(np.linalg.solve(M, np.broadcast_to(np.diag(proposed.damping), M.shape)))
    # other configurations than those of the proposal
    assert eigenvalues.real.max() / rate < 1.1 * proposed.eigenvalue
    assert proposed.eigenvalue <= PROPOSED * (1.0 + 1e-9)
    np.testing.assert_allclose(proposed.damping**2, 4.0 * proposed.inertia * proposed.stiffness, rtol=1e-12)
    assert (np.diagonal(M, axis1=1, axis2=2).max(axis=0) < 1.05 * proposed.inertia).all()
    assert (proposed.bandwidth == bandwidth).all() == (rate > 200.0)
    limit = SamplingLimit(robot, proposed.stiffness, proposed.damping)
    assert limit.fault(1.0 / rate) == ''


@pytest.mark.parametrize(('rate', 'reduced'), [(1000.0, False), (20.0, True)])
def test_proposed_gains_of_one_mass_matrix(rate, reduced):
    """Inertias are its diagonal; where the bandwidth asks for more, the largest eigenvalue of T M^-1 D is PROPOSED."""
    M = random_mass_matrix(np.random.default_rng(2))
    proposed = propose_gains(robot_with(M), rate, 12.0)
    np.testing.assert_allclose(proposed.inertia, np.diagonal(M), rtol=1e-12)
    largest = np.linalg.eigvals(np.linalg.solve(M, np.diag(proposed.damping))).real.max()
    np.testing.assert_allclose(largest / rate, proposed.eigenvalue, rtol=1e-9)
    np.testing.assert_allclose(proposed.damping**2, 4.0 * proposed.inertia * proposed.stiffness, rtol=1e-12)
    if reduced:
        np.testing.assert_allclose(proposed.eigenvalue, PROPOSED, rtol=1e-6)
    else:
        assert proposed.eigenvalue < PROPOSED
    assert (proposed.bandwidth < 12.0).any() == reduced


@pytest.mark.parametrize(('rate', 'bandwidth', 'name'), [(0.0, 10.0, 'rate'), (500.0, np.nan, 'bandwidth')])
def test_a_rate_or_bandwidth_that_is_not_positive_is_refused(rate, bandwidth, name):
    with pytest.raises(ArgumentError, match=f'^{name}: expected a positive number'):
        propose_gains(Robot.named('aubo_i5'), rate, bandwidth)


class Given:
    """A law that always has a torque."""

    stopped = 0

    def torque(self, state, out):
        out[:] = 1.0
        return TORQUE

    def stop_following(self):
        self.stopped += 1


def test_no_torque_before_the_period_is_known_and_none_where_the_gains_are_beyond_its_limit():
    given, told = Given(), []
    limit = SamplingLimit(robot_with(np.diag([0.002])), [0.0], [4.0])  # 1 ms
    law, state, out = SampledLaw(given, limit, told.append), MeasuredState(np.zeros(1), np.zeros(1)), np.zeros(1)
    assert law.torque(state, out) is UNKNOWN_PERIOD
    state.period = 0.002
    refused = law.torque(state, out)
    assert refused.reason == limit.fault(0.002)
    state.period = 0.0021
    assert law.torque(state, out) is refused  # said once
    assert told == [refused.reason]
    assert out == 0.0
    state.period = 0.0009
    assert law.torque(state, out) is TORQUE
    state.period = 0.002  # a machine that is late meanwhile
    assert law.torque(state, out) is TORQUE
    law.stop_following()
    assert law.torque(state, out) is not TORQUE
    assert (given.stopped, len(told)) == (1, 2)


@pytest.mark.compiled
@pytest.mark.parametrize('ratio', [0.25, 0.01])
def test_gains_of_a_motor_before_a_gear_count_where_what_it_drives_is_light(ratio):
    """The lightest crank of a linkage is at none of the angles within half a turn of its motor."""
    robot = driven_robot(actuated(geared_four_bar(ratio), ('gear 0 joint',)))
    cranks = robot.following.home[0] * ratio + np.linspace(0.0, 2.0 * np.pi, 2001)
    lightest = min(robot.mass_matrix(np.array([it / ratio]))[0, 0] for it in cranks)
    eigenvalues = of_damping(robot, np.ones(1))
    found = eigenvalues(lightest_configurations(robot, eigenvalues)).max()
    assert found == pytest.approx(1.0 / lightest, rel=1e-3)
