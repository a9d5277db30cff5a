"""Exciting trajectories: condition number, gradient, limits at all times, forbidden positions, refusals."""

from support.robots.facade_robots import TREE
from support.robots.small_robots import AUBO, general, joint, link, robot

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import condition_numbers, optimise_excitation
from robot_dynamics_ros.identification.motions.excitation import _Excitation
from robot_dynamics_ros.identification.motions.fourier_trajectory import at_rest
from robot_dynamics_ros.identification.motions.motion_limits import motion_limits

pytestmark = pytest.mark.compiled
BODY = '0.1 0.05 0.2', (0.2, 0.01, 0, 0.3, 0, 0.1)
LIMIT = '<limit lower="{}" upper="{}" velocity="2" effort="60"/><dynamics damping="1" friction="2"/>'
SLIDER = robot(
    link('base'), link('arm', 2.0, *BODY), link('sledge', 1.0, *BODY),
    joint('swing', 'base', 'arm', 'revolute', '0 1 0', inside=LIMIT.format(-2, 1.5)),
    joint('slide', 'arm', 'sledge', 'prismatic', '1 0 0', inside=LIMIT.format(-0.1, 0.5)),
)  # fmt: skip
CHEAP = {'harmonics': 3, 'duration': 5.0, 'starts': 1}


def within_limits(arm, motion, acceleration=1 / 0.3):
    """Return whether a motion is within the limits of the arm at 20,000 times, and the largest share of each."""
    q, qd, qdd = motion.sample(np.linspace(0.0, motion.duration, 20_001))
    torque = arm.inverse_dynamics(q, qd, qdd)
    torque += arm.friction_torque(qd, torque)
    limits = arm.limits
    shares = [
        np.abs((2.0 * q - limits.upper - limits.lower) / (limits.upper - limits.lower)),
        np.abs(qd) / limits.velocity,
        np.abs(qdd) / (acceleration * limits.velocity),
        np.abs(torque) / limits.effort,
    ]
    return [share.max(axis=0) for share in shares]


def test_the_aubo_i5_within_its_limits():
    motion = optimise_excitation(AUBO, starts=1)
    found = condition_numbers(AUBO, *motion.points()[1:])
    # one start reaches 38 to 50 and 4 to 10, eight reach 39
    assert found.weighted < 70.0 and found.scaled < 20.0
    shares = within_limits(AUBO, motion)
    assert max(share.max() for share in shares) <= 0.95
    assert min(share.max() for share in shares[:3]) > 0.7  # and uses them
    assert np.abs(motion.sample([0.0, 10.0])[1:]).max() < 1e-10


def test_a_sliding_joint_and_a_seed():
    first, second = (optimise_excitation(SLIDER, **CHEAP, seed=3) for _ in range(2))
    assert np.array_equal(first.sines, second.sines) and np.array_equal(first.center, second.center)
    assert not np.array_equal(first.sines, optimise_excitation(SLIDER, **CHEAP, seed=4).sines)
    assert max(share.max() for share in within_limits(SLIDER, first)) <= 0.95
    # better than any of 15 motions of random coefficients within the same limits
    problem = excitation(SLIDER)
    random = np.random.default_rng(0)
    middle = problem.centres(random)[0]
    drawn = [problem.within_limits(random.normal(size=problem._scale.shape), middle) for _ in range(15)]
    best = min(condition_numbers(SLIDER, *motion.points()[1:]).weighted for motion in drawn)
    assert condition_numbers(SLIDER, *first.points()[1:]).weighted < 0.8 * best


def excitation(arm, avoid=None, share=0.95):
    return _Excitation(arm, 3, 5.0, motion_limits(arm, None, share), arm.limits.effort, avoid)


def test_the_gradient_is_that_of_the_cost():
    problem = excitation(SLIDER, lambda q: q[:, 0] - 0.2, share=0.3)
    x = 6.0 * np.random.default_rng(1).normal(size=problem._scale.size)
    assert problem._meets_walls(x, np.array([-0.25, 0.2]))
    exact = problem._cost(x, 10.0)[1]
    differences = [
        (problem._cost(x + step, 10.0)[0] - problem._cost(x - step, 10.0)[0]) / 2e-5 for step in 1e-5 * np.eye(len(x))
    ]
    assert np.abs(exact - differences).max() < 1e-4 * np.abs(exact).max()
    small = 0.1 * x
    slopes = [
        (problem._cost(small + step, 0.0)[0] - problem._cost(small - step, 0.0)[0]) / 2e-5 for step in 1e-5 * np.eye(10)
    ]
    assert np.abs(problem._cost(small, 0.0)[1] - slopes).max() < 1e-4 * np.abs(slopes).max()
    # each limit, and the walls, contribute to the first
    q, qd, qdd = (basis @ (x.reshape(-1, 2) * problem._scale) for basis in problem._basis)
    limits, torque = problem._limits, SLIDER.inverse_dynamics(problem._middle + q, qd, qdd)
    pairs = (q, problem._half), (qd, limits.velocity), (qdd, limits.acceleration), (torque, limits.effort)
    assert all((np.abs(values) > limit).any() for values, limit in pairs)


@pytest.mark.parametrize('avoid', [lambda q: q[:, 0] > 0.3, lambda q: q[:, 0] - 0.3], ids=['true', 'positive'])
def test_forbidden_positions_are_avoided(avoid):
    free, motion = optimise_excitation(SLIDER, **CHEAP), optimise_excitation(SLIDER, **CHEAP, avoid=avoid)
    assert free.points()[1][:, 0].max() > 0.4
    reached = motion.sample(np.linspace(0.0, 5.0, 3 * 200 + 1))[0][:, 0].max()
    assert 0.1 < reached <= 0.3
    # a condition number of 8 measured, and of 33 where the free motion is scaled down
    problem = excitation(SLIDER, avoid)
    middle = problem.centres(np.random.default_rng(0))[0]
    x = np.vstack([(free.center - problem._middle) / problem._scale[0], coefficients(free) / problem._scale[1:]])
    scaled = problem.within_limits(x, middle)
    found, least = (condition_numbers(SLIDER, *it.points()[1:]).weighted for it in (motion, scaled))
    assert found < 0.6 * least


def coefficients(motion):
    return at_rest(motion.harmonics).T @ np.vstack([motion.sines, motion.cosines])


def test_torques_with_friction_are_within_a_low_limit():
    free = optimise_excitation(SLIDER, **CHEAP)
    motion = optimise_excitation(SLIDER, **CHEAP, limits={'effort': [60.0, 8.0]})
    before, after = (60.0 * within_limits(SLIDER, it)[3][1] for it in (free, motion))
    assert before > 10.0 and 4.0 < after <= 0.95 * 8.0
    # what the optimiser leaves is scaled down until the torque is within its limit
    problem = _Excitation(SLIDER, 3, 5.0, motion_limits(SLIDER, {'effort': [60.0, 8.0]}), np.ones(2), None)
    middle = problem.centres(np.random.default_rng(0))[0]
    fast = problem.within_limits(np.vstack([np.zeros(2), 0.5 * coefficients(free) / problem._scale[1:]]), middle)
    torque = np.abs(SLIDER.inverse_dynamics(*fast.sample(problem.fine_times)))[:, 1].max()
    assert 0.99 * problem._limits.effort[1] < torque <= problem._limits.effort[1]


def test_condition_numbers_are_those_of_the_definition():
    random = np.random.default_rng(2)
    q, qd, qdd = random.normal(size=(3, 40, 2))
    noise = np.array([2.0, 0.1])
    columns = SLIDER.base_parameters().independent
    rows = [SLIDER.torque_regressor(*state)[:, columns] / noise[:, None] for state in zip(q, qd, qdd, strict=True)]
    W = np.concatenate(rows)
    found = condition_numbers(SLIDER, q, qd, qdd, noise)
    sizes = np.linalg.svd(W, compute_uv=False)
    assert abs(found.weighted / (sizes[0] / sizes[-1]) - 1.0) < 1e-10
    sizes = np.linalg.svd(W / np.sqrt((W**2).sum(axis=0)), compute_uv=False)
    assert abs(found.scaled / (sizes[0] / sizes[-1]) - 1.0) < 1e-10
    assert abs(condition_numbers(SLIDER, q, qd, qdd, 5.0 * noise).weighted / found.weighted - 1.0) < 1e-10
    still = np.zeros((3, 2))
    assert condition_numbers(SLIDER, still, still, still) == (np.inf, np.inf)


def test_a_missing_effort_limit_is_named_where_the_noise_is_proportional_to_it():
    unlimited = Robot.from_urdf(TREE)
    states = np.zeros((3, 10, 3))
    with pytest.raises(ArgumentError, match=r"^joint 'a_wag' has no effort limit, .*: state noise \(N m\), "):
        condition_numbers(unlimited, *states)
    assert condition_numbers(unlimited, *states, noise=[1.0]) == (np.inf, np.inf)


def test_the_time_limit_ends_a_search_within_limits():
    full, ended = (
        optimise_excitation(SLIDER, **CHEAP),
        optimise_excitation(SLIDER, 3, 5.0, starts=10**9, time_limit=1e-9),
    )
    assert not np.array_equal(full.sines, ended.sines)  # the first of a milliard starts is not finished either
    assert max(share.max() for share in within_limits(SLIDER, ended)) <= 0.95


@pytest.mark.parametrize(
    ('arguments', 'reason'),
    [
        ({'harmonics': 1}, 'harmonics: expected a whole number >= 2'),
        ({'harmonics': 2.5}, 'harmonics: expected a whole number'),
        ({'duration': -1.0}, 'duration: expected'),
        ({'share': 1.1}, 'share: expected at most 1'),
        ({'starts': 0}, 'starts: expected'),
        ({'time_limit': 0.0}, 'time_limit: expected'),
        ({'noise': [1.0, 0.0]}, 'noise: expected one finite number > 0'),
        ({'limits': {'jerk': 1.0}}, 'limits: expected one of lower'),
        ({'limits': {'velocity': [1.0, 2.0, 3.0]}}, r'limits: velocity: expected a number or shape \(2,\)'),
        ({'limits': {'velocity': [1.0, np.nan]}}, "joint 'slide' has no velocity limit"),
        ({'limits': {'effort': [0.0, 1.0]}}, "joint 'swing' has no effort limit"),
        ({'limits': {'lower': [0.0, 0.6]}}, "joint 'slide' has a lower limit that is not below"),
        ({'limits': {'effort': [60.0, 3.0]}}, "joint 'slide' has more friction at its velocity limit"),
        ({'limits': {'effort': [5.0, 60.0], 'lower': -0.1, 'upper': 0.1}}, "need more than the effort .*'swing'"),
        ({'limits': {'acceleration': [1e-4, 2.0]}}, "too little motion.* joint 'swing' moves least"),
        ({'limits': {'velocity': [1e-5, 2.0]}}, "too little motion.* joint 'swing' moves least"),
        ({'avoid': lambda q: np.ones(len(q), bool)}, 'avoid: it forbids all of'),
        ({'avoid': lambda q: q[0, 0] > 1.0}, r'avoid: expected a result of shape'),
    ],
)
def test_what_cannot_be_met_is_refused_by_name(arguments, reason):
    with pytest.raises(ArgumentError, match=reason):
        optimise_excitation(SLIDER, **(CHEAP | arguments))


def test_friction_at_the_velocity_limit_is_taken_off_the_effort_limit():
    rubbing = SLIDER.with_friction(offset=[-1.5, 0.5], stribeck=0.3, load=[0.1, 0.0])
    limits = motion_limits(rubbing, share=0.5)
    assert np.abs(limits.effort - [(30.0 - 1.0 - 2.0 - 1.5 - 0.3) / 1.1, 30.0 - 1.0 - 2.0 - 0.5 - 0.3]).max() < 1e-12
    assert np.abs(limits.upper - [0.625, 0.35]).max() < 1e-12 and np.abs(limits.lower - [-1.125, 0.05]).max() < 1e-12


def test_missing_limits_are_assumed_for_turning_joints_alone():
    inside = '<limit velocity="2" effort="60"/>'
    arm = link('arm', 2.0, *BODY)
    turning = robot(link('base'), arm, joint('a', 'base', 'arm', 'continuous', '0 1 0', inside=inside))
    limits = motion_limits(turning)
    assert limits.lower == -np.pi and limits.upper == np.pi and abs(limits.acceleration[0] - 2.0 / 0.3) < 1e-12
    with pytest.raises(ArgumentError, match="joint 'a' has no lower limit"):
        motion_limits(general('prismatic'))
