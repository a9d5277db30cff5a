"""Gravity from standing poses: the torque at other poses, deviations that hold, and what is refused."""

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import Log, StandingPoses, gravity, gravity_poses, identify_gravity
from robot_dynamics_ros.model.pseudo_inertia import violation

TRUTH, PRIOR = Robot.named('aubo_i5'), Robot.named('aubo_i5_lecture')
N = TRUTH.nv
NAMES = TRUTH.joint_names
OTHERS = np.random.default_rng(7).uniform(-3.0, 3.0, (1000, N))
GRAVITY = TRUTH.gravity_torque(OTHERS)
LARGEST = np.abs(GRAVITY).max(axis=0)
POSES = gravity_poses(PRIOR)
SCALE = np.array([1.0, 0.9, 1.1, 1.05, 0.95, 1.0])


def both_sides(q=POSES, seed=1, noise=0.01, robot=TRUTH, scale=1.0, friction=TRUTH.friction.coulomb):
    """Each pose twice, with all joints from above and from below; noise as a share of each joint's largest gravity."""
    q = np.repeat(q, 2, axis=0)
    direction = np.resize([[1.0] * N, [-1.0] * N], q.shape)
    random = np.random.default_rng(seed)
    tau = robot.gravity_torque(q) + friction * direction + noise * LARGEST * random.normal(size=q.shape)
    return StandingPoses(q, scale * tau, direction)


def worst(robot):
    """The largest error of the gravity torque at other poses, as a share of the joint's largest; joint 1 has none."""
    return (np.abs(robot.gravity_torque(OTHERS) - GRAVITY).max(axis=0)[1:] / LARGEST[1:]).max()


def test_gravity_is_found_from_wrong_masses_with_static_friction_and_noise():
    """The prior is wrong by half; static friction of the last joint is 1,800 times its largest gravity torque."""
    assert worst(PRIOR) > 0.5
    for seed in range(3):
        found = identify_gravity(PRIOR, both_sides(seed=seed))
        assert worst(found.robot) < 0.02
        assert found.findings == ()
        assert found.static_friction == pytest.approx(TRUTH.friction.coulomb, rel=0.05)


def test_a_pose_reached_from_one_side_each_is_enough_if_the_sides_vary():
    pairs = both_sides()
    side = np.random.default_rng(2).integers(0, 2, (len(POSES), N))
    chosen = 2 * np.arange(len(POSES))[:, None] + side
    tau, direction = (np.take_along_axis(it, chosen, axis=0) for it in (pairs.tau, pairs.direction))
    assert worst(identify_gravity(PRIOR, StandingPoses(POSES, tau, direction)).robot) < 0.03


def test_every_link_is_consistent():
    for noise in (0.0, 0.05, 1.0):
        robot = identify_gravity(PRIOR, both_sides(noise=noise)).robot
        assert [violation(row) for row in robot.inertial_parameters.reshape(-1, 10)] == [None] * N


def test_a_prior_with_links_that_no_body_has_is_repaired():
    rows = PRIOR.inertial_parameters.reshape(-1, 10).copy()
    rows[3], rows[4, 4:] = 0.0, 0.0
    found = identify_gravity(PRIOR.with_inertial_parameters(rows), both_sides())
    assert worst(found.robot) < 0.03
    assert [violation(row) for row in found.robot.inertial_parameters.reshape(-1, 10)] == [None] * N


def test_without_noise_the_base_parameters_are_exact_up_to_the_prior():
    found = identify_gravity(PRIOR, both_sides(noise=0.0))
    assert found.regrouping.shape == (10, 10 * N)
    assert found.base_parameters == pytest.approx(found.regrouping @ TRUTH.inertial_parameters, abs=1e-5)
    assert found.rms[1:] == pytest.approx(0.0, abs=1e-4)


def test_deviations_say_how_far_base_parameters_and_friction_are_from_the_truth():
    squares = []
    for seed in range(12):
        found = identify_gravity(PRIOR, both_sides(seed=seed))
        truth = found.regrouping @ TRUTH.inertial_parameters
        error = [
            *((found.base_parameters - truth) / found.standard_deviation),
            *((found.static_friction - TRUTH.friction.coulomb) / found.static_friction_deviation)[1:],
        ]
        squares.append(np.square(error))
        assert (np.abs(error) < 5.0).all()
    # 180 errors: the mean of their squares is 1, and five of its deviations are 0.5
    assert 0.5 < np.mean(squares) < 1.7


def test_torque_scales_are_found_with_a_known_load_and_doubtful_without():
    load = Payload(4.0, (0.01, 0.02, 0.08))
    empty = both_sides(scale=SCALE)
    loaded = both_sides(seed=2, scale=SCALE, robot=TRUTH.with_payload(load))
    found = identify_gravity(PRIOR, empty, torque_scale=True, known_load=(load, loaded))
    assert found.torque_scale[1:5] == pytest.approx(SCALE[1:5], abs=0.02)
    assert (np.abs(found.torque_scale - SCALE) < 5.0 * found.torque_scale_deviation).all()
    assert worst(found.robot) < 0.02
    alone = identify_gravity(PRIOR, empty, torque_scale=True)
    # ratios of scales are known, the common factor is not
    assert (alone.torque_scale_deviation[1:5] > 10.0 * found.torque_scale_deviation[1:5]).all()
    assert (alone.torque_scale / alone.torque_scale[1])[2:5] == pytest.approx((SCALE / SCALE[1])[2:5], rel=0.05)
    # and not doubtful beyond what the prior says of scales
    assert (alone.torque_scale_deviation[1:5] > 0.05).all() and (alone.torque_scale_deviation < 0.31).all()
    unasked = identify_gravity(PRIOR, empty)
    assert unasked.torque_scale.tolist() == [1.0] * N and unasked.torque_scale_deviation.tolist() == [0.0] * N


def test_scales_do_not_depend_on_the_number_of_steps(monkeypatch):
    """Full steps alternate between scales that differ by 20 %."""
    scales = []
    for steps in (14, 15, 16):
        monkeypatch.setattr(gravity, 'STEPS_WITH_SCALE', steps)
        scales.append(identify_gravity(PRIOR, both_sides(scale=SCALE), torque_scale=True).torque_scale)
    assert np.ptp(scales, axis=0)[1:5].max() < 0.02


def standing_log(period=0.02, seconds=1.0, poses=6):
    """Return the log of an arm that approaches each pose from 0.2 rad below and above, and stands still there."""
    steps, still = round(2.0 / period), round(seconds / period)
    q, sides, last = [], [], POSES[0]
    for pose in POSES[:poses]:
        for side in (1.0, -1.0):
            for target, wait in ((pose - 0.2 * side, 0), (pose, still)):
                way = last + (target - last) * np.linspace(0.0, 1.0, 2 + steps)[1:, None]
                q += [*way, *np.repeat(target[None], wait, axis=0)]
                sides += [np.sign(target - last)] * (len(way) + wait)
                last = target
    q, sides = np.array(q), np.array(sides)
    qd = np.diff(q, axis=0, prepend=q[:1]) / period
    tau = TRUTH.gravity_torque(q) + TRUTH.friction.coulomb * sides
    return Log(period * np.arange(len(q)), q, qd, np.zeros_like(q), tau)


def test_standing_poses_of_a_log_have_the_direction_of_the_last_motion():
    poses = StandingPoses.from_log(PRIOR, standing_log())
    assert poses.q == pytest.approx(np.repeat(POSES[:6], 2, axis=0))
    assert poses.direction.tolist() == [[1.0] * N, [-1.0] * N] * 6
    assert poses.tau == pytest.approx(TRUTH.gravity_torque(poses.q) + TRUTH.friction.coulomb * poses.direction)


def test_a_log_is_identified_by_its_standing_poses():
    log = standing_log()
    found = identify_gravity(PRIOR, log)
    assert found.base_parameters == pytest.approx(
        identify_gravity(PRIOR, StandingPoses.from_log(PRIOR, log)).base_parameters, rel=1e-6
    )
    assert worst(found.robot) < 0.02


def test_a_joint_reached_from_one_side_or_with_a_reversed_torque_is_a_finding():
    poses = both_sides()
    direction, tau = poses.direction.copy(), poses.tau.copy()
    direction[:, 3], tau[:, 3] = 1.0, tau[:, 3] - 2.0 * (direction[:, 3] < 0.0) * 0.0
    found = identify_gravity(PRIOR, StandingPoses(poses.q, tau, direction))
    assert [finding.where for finding in found.findings] == [f'joint {NAMES[3]!r}']
    assert 'one side' in found.findings[0].message
    tau = poses.tau * np.where(np.arange(N) == 2, -1.0, 1.0)
    found = identify_gravity(PRIOR, StandingPoses(poses.q, tau, poses.direction))
    assert [finding.where for finding in found.findings] == [f'joint {NAMES[2]!r}']
    assert 'sign' in found.findings[0].message


@pytest.mark.parametrize('factor', [1e3, 0.1])
def test_torques_of_another_unit_are_a_finding(factor):
    poses = both_sides()
    found = identify_gravity(PRIOR, StandingPoses(poses.q, factor * poses.tau, poses.direction))
    (finding,) = found.findings
    assert finding.where == 'log' and 'efforts have another unit or meaning' in finding.message


def test_a_finding_for_unknown_directions():
    poses = both_sides(friction=0.0)
    found = identify_gravity(PRIOR, StandingPoses(poses.q, poses.tau, np.zeros_like(poses.q)))
    assert len(found.findings) == N
    assert worst(found.robot) < 0.02


@pytest.mark.parametrize(
    ('poses', 'why'),
    [
        (POSES[:3], 'got 3 of 6'),
        (np.repeat(POSES[:1], 20, axis=0), 'got 1 of 40'),
        (POSES[0] + 0.01 * np.random.default_rng(1).normal(size=(20, N)), r'got \d of 40'),
        (POSES[0] + 0.2 * np.arange(20)[:, None] * (np.arange(N) == 1), f'do not excite gravity.*{NAMES[0]}'),
    ],
)
def test_poses_that_are_too_few_not_distinct_or_do_not_excite_gravity_are_refused(poses, why):
    with pytest.raises(ArgumentError, match=why):
        identify_gravity(PRIOR, both_sides(poses))


def test_a_robot_without_gravity_is_refused():
    with pytest.raises(ArgumentError, match='do not excite gravity'):
        identify_gravity(PRIOR.with_gravity((0.0, 0.0, 0.0)), both_sides())


def test_a_log_without_standstill_is_refused():
    with pytest.raises(ArgumentError, match='never stands still'):
        identify_gravity(PRIOR, standing_log(seconds=0.3))


@pytest.mark.parametrize(
    ('name', 'changes'),
    [
        ('q', {'q': np.zeros(N)}),
        ('tau', {'tau': np.zeros((4, N - 1))}),
        ('tau', {'tau': np.full((4, N), np.nan)}),
        ('direction', {'direction': np.full((4, N), 0.5)}),
    ],
)
def test_standing_poses_are_refused_by_name(name, changes):
    fields = {'q': POSES[:4], 'tau': np.zeros((4, N)), 'direction': np.ones((4, N)), **changes}
    with pytest.raises(ArgumentError, match=f'^{name}'):
        StandingPoses(**fields)


def test_proposed_poses_are_within_the_limits_and_excite_better_than_arbitrary_ones():
    assert POSES.shape == (20, N)
    inner = 0.1 - 1e-12
    assert (TRUTH.limits.lower + inner <= POSES).all() and (TRUTH.limits.upper - inner >= POSES).all()
    found = identify_gravity(PRIOR, both_sides())
    for seed in range(3):
        arbitrary = np.random.default_rng(seed).uniform(-2.9, 2.9, (20, N))
        other = identify_gravity(PRIOR, both_sides(arbitrary))
        assert np.prod(found.standard_deviation / other.standard_deviation) < 1.0
    assert len(np.unique(gravity_poses(PRIOR, 60), axis=0)) == 60
    way = np.abs(np.diff(POSES, axis=0)).max(axis=1)
    assert way[:10].mean() < way[10:].mean()


def test_proposed_poses_avoid_what_is_impossible():
    poses = gravity_poses(PRIOR, 8, avoid=lambda q: q[1] < 0.5)
    assert len(poses) == 8 and (poses[:, 1] >= 0.5).all()
    with pytest.raises(ArgumentError, match='count: expected 1 to'):
        gravity_poses(PRIOR, 8, avoid=lambda q: q[1] < 2.9)
    heavy = PRIOR.with_payload(Payload(15.0, (0.0, 0.0, 0.1)))
    assert (np.abs(heavy.gravity_torque(gravity_poses(heavy))) <= heavy.limits.effort).all()
    assert (np.abs(heavy.gravity_torque(POSES)) > heavy.limits.effort).any()
