"""Friction tracker: the friction of the present run is found, at rest and by bad samples nothing is learnt."""

from dataclasses import replace

from support.control.allocations import most_allocated

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.joints.standstill import SPEED
from robot_dynamics_ros.control.observers.contact_detection import RELEASE
from robot_dynamics_ros.control.observers.friction_tracker import (
    HIGHEST_SCALE,
    LARGEST_GAP,
    LOWEST_SCALE,
    PRIOR,
    FrictionTracker,
)
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import Log

ROBOT = Robot.named('aubo_i5')
N = ROBOT.nv
PERIOD, TIME_CONSTANT = 0.005, 1.0
LEVEL = ROBOT.friction.viscous + ROBOT.friction.coulomb / np.sqrt(1.0 + ROBOT.friction.transition**2)


def motion(count=1000, slowest=1.0):
    """Velocities (count, n) of all joints that reverse, and the friction of the model."""
    t = PERIOD * np.arange(count)[:, None]
    qd = 1.2 * np.sin((slowest + 0.3 * np.arange(N)) * t) + 0.3 * np.cos(2.7 * t)
    return qd, ROBOT.friction_torque(qd)


def fed(tracker, qd, friction, measured, elapsed=PERIOD):
    """Predictions (m, n), each before its sample is learnt."""
    predicted = np.zeros_like(friction)
    for k in range(len(qd)):
        tracker.torque(friction[k], predicted[k])
        tracker.update(qd[k], friction[k], measured[k], elapsed)
    return predicted


def learnt(scale=1.3, offset=0.1):
    tracker = FrictionTracker(ROBOT, TIME_CONSTANT)
    qd, friction = motion()
    fed(tracker, qd, friction, scale * friction + offset * LEVEL)
    return tracker


def test_a_new_tracker_predicts_the_friction_of_the_model():
    friction, out = np.arange(1.0, N + 1), np.zeros(N)
    assert FrictionTracker(ROBOT, TIME_CONSTANT).torque(friction, out) is out
    assert out.tolist() == friction.tolist()


@pytest.mark.parametrize(('scale', 'offset'), [(1.3, 0.1), (0.75, -0.2), (1.0, 0.0)])
def test_friction_that_differs_by_a_scale_and_an_offset_is_found(scale, offset):
    """Up to the share of the prior."""
    tracker = learnt(scale, offset)
    assert tracker.scale == pytest.approx(np.full(N, scale), abs=0.02)
    assert tracker.offset / LEVEL == pytest.approx(np.full(N, offset), abs=0.02)


def test_the_estimate_is_that_of_weighted_least_squares_over_all_samples():
    """A slow twin: the sum over the samples, weighted by the time moved since, and the prior, solved at once."""
    random = np.random.default_rng(4)
    qd, friction = motion(300)
    measured = 1.1 * friction + 0.1 * LEVEL * random.normal(size=friction.shape)
    tracker = FrictionTracker(ROBOT, TIME_CONSTANT)
    fed(tracker, qd, friction, measured)
    for k in range(N):
        moved = np.abs(qd[:, k]) > SPEED
        f, y = friction[moved, k] / LEVEL[k], measured[moved, k] / LEVEL[k]
        kept = TIME_CONSTANT / (TIME_CONSTANT + PERIOD)
        root = np.sqrt(PERIOD * kept ** np.arange(len(f))[::-1])
        rows = np.vstack([np.column_stack([f, np.ones(len(f))]) * root[:, None], np.sqrt(PRIOR) * np.eye(2)])
        twin = np.linalg.lstsq(rows, np.concatenate([y * root, np.sqrt(PRIOR) * np.array([1.0, 0.0])]), rcond=None)[0]
        assert [tracker.scale[k], tracker.offset[k] / LEVEL[k]] == pytest.approx(twin, abs=1e-9)


def test_friction_that_changes_is_followed_within_some_time_constants():
    tracker = learnt(0.75, 0.0)
    qd, friction = motion(2000)
    error = fed(tracker, qd, friction, 1.25 * friction)[1000:] - 1.25 * friction[1000:]
    assert (np.abs(error) < 0.03 * LEVEL).all()


def test_a_joint_at_rest_neither_learns_nor_forgets():
    tracker = learnt()
    scale, offset = tracker.scale.copy(), tracker.offset.copy()
    for qd in (np.zeros(N), np.full(N, 0.99 * SPEED), np.full(N, -0.99 * SPEED)):
        fed(tracker, np.tile(qd, (500, 1)), np.tile(LEVEL, (500, 1)), np.tile(-LEVEL, (500, 1)), LARGEST_GAP)
    assert tracker.scale.tolist() == scale.tolist() and tracker.offset.tolist() == offset.tolist()
    only = np.where(np.arange(N) == 2, 1.0, 0.0)
    tracker.update(only, LEVEL, LEVEL, PERIOD)
    assert np.flatnonzero(tracker.scale != scale).tolist() == [2]


def test_after_a_motion_without_reversal_the_prediction_fits_and_scale_and_offset_share_the_difference():
    tracker = FrictionTracker(ROBOT, TIME_CONSTANT)
    qd = np.tile(np.ones(N), (1000, 1))
    friction = np.tile(LEVEL, (1000, 1))
    assert fed(tracker, qd, friction, 1.4 * friction)[-1] == pytest.approx(1.4 * LEVEL, rel=0.02)
    assert tracker.scale == pytest.approx(1.2, abs=0.02) and tracker.offset / LEVEL == pytest.approx(0.2, abs=0.02)


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf, 1e300])
def test_a_bad_sample_of_a_joint_changes_nothing(bad):
    tracker = learnt()
    scale, offset = tracker.scale.copy(), tracker.offset.copy()
    moves, wrong = np.full(N, 1.0), np.full(N, bad)
    cases = [(moves, wrong, LEVEL, PERIOD), (moves, LEVEL, wrong, PERIOD), (moves, LEVEL, 2.0 * LEVEL, -abs(bad))]
    if not np.isfinite(bad):
        cases.append((wrong, LEVEL, 2.0 * LEVEL, PERIOD))
    for case in [*cases, (moves, LEVEL, 2.0 * LEVEL, 0.0), (moves, LEVEL, 2.0 * LEVEL, np.nan)]:
        tracker.update(*case)
        assert tracker.scale.tolist() == scale.tolist() and tracker.offset.tolist() == offset.tolist()


@pytest.mark.compiled
def test_no_sequence_of_samples_leaves_the_bounds():
    """Magnitudes over twelve decades, constant over long times or random, with any time between them."""
    random = np.random.default_rng(8)
    for time_constant in (1e-6, 1.0, 1e6):
        tracker = FrictionTracker(ROBOT, time_constant)
        for _ in range(400):
            qd, friction, measured = LEVEL * random.normal(size=(3, N)) * 10.0 ** random.uniform(-9, 3, (3, N))
            for _ in range(random.integers(1, 40)):
                tracker.update(qd, friction, measured, float(10.0 ** random.uniform(-6, 6)))
                assert (tracker.scale >= LOWEST_SCALE).all() and (tracker.scale <= HIGHEST_SCALE).all()
                assert (np.abs(tracker.offset) <= LEVEL * (1.0 + 1e-12)).all()
        tracker.reset()
        assert tracker.scale.tolist() == [1.0] * N and tracker.offset.tolist() == [0.0] * N
        # what was found before does not stay
        qd, friction = motion(2000)
        fed(tracker, qd, friction, 1.2 * friction)
        if time_constant == 1.0:
            assert tracker.scale == pytest.approx(1.2, abs=0.02)


@pytest.mark.compiled
def test_with_contact_thresholds_the_correction_alone_is_never_contact():
    """At the friction of each sample; also where thresholds come later, and where they grow with the motion."""
    contact = np.full(N, np.inf)
    tracker = FrictionTracker(ROBOT, TIME_CONSTANT, contact)
    qd, friction = motion(2000)
    fed(tracker, qd, friction, 2.0 * friction + 0.8 * LEVEL)
    assert (tracker.correction() > LEVEL).all()
    for k in range(2000):
        contact[:] = (0.1 + 0.1 * np.abs(qd[k])) * LEVEL
        tracker.update(qd[k], friction[k], -friction[k] - 2.0 * LEVEL * np.sin(0.01 * k), PERIOD if k else 0.0)
        correction = np.abs(tracker.torque(friction[k], np.zeros(N)) - friction[k])
        assert (correction < RELEASE * contact).all(), k


def test_thresholds_bound_the_change_at_the_friction_of_the_sample_not_at_a_larger_one():
    """Slow joints with a tenth more friction than the model's: well below their thresholds, so it is followed."""
    friction = ROBOT.friction_torque(np.full(N, 0.1)) - ROBOT.friction.offset
    assert (friction < 0.7 * LEVEL).all()
    tracker = FrictionTracker(ROBOT, TIME_CONSTANT, 0.3 * friction)
    for k in range(2000):
        sign = 1.0 if k // 20 % 2 else -1.0
        tracker.update(np.full(N, 0.1 * sign), sign * friction, 1.1 * sign * friction, PERIOD)
    assert tracker.scale == pytest.approx(1.1, abs=0.01)


def test_a_short_contact_has_a_bounded_effect():
    """0.1 s of ten times the friction level: no more than of half a level."""
    strong, weak = learnt(1.0, 0.0), learnt(1.0, 0.0)
    for _ in range(20):
        strong.update(np.ones(N), LEVEL, 11.0 * LEVEL, PERIOD)
        weak.update(np.ones(N), LEVEL, weak.scale * LEVEL + weak.offset + 0.5 * LEVEL, PERIOD)
    assert strong.torque(LEVEL, np.zeros(N)) == pytest.approx(weak.torque(LEVEL, np.zeros(N)), rel=1e-9)
    assert (strong.torque(LEVEL, np.zeros(N)) < 1.3 * LEVEL).all()


def test_a_long_gap_between_samples_counts_as_a_short_one():
    long, short = learnt(), learnt()
    long.update(np.ones(N), LEVEL, LEVEL, 1e6)
    short.update(np.ones(N), LEVEL, LEVEL, LARGEST_GAP)
    assert long.scale.tolist() == short.scale.tolist() and long.offset.tolist() == short.offset.tolist()


def test_a_joint_without_friction_learns_nothing():
    robot = Robot.from_dh([{'a': 0.3, 'mass': 1.0}])
    tracker = FrictionTracker(robot)
    tracker.update(np.ones(1), np.zeros(1), np.ones(1), PERIOD)
    assert (tracker.scale.tolist(), tracker.offset.tolist()) == ([1.0], [0.0])


def test_friction_that_only_grows_with_the_torque_is_learnt():
    robot = ROBOT.with_friction(viscous=0.0, coulomb=0.0, load=0.1)
    tracker, (qd, _) = FrictionTracker(robot), motion()
    friction = robot.friction_torque(qd, np.full(N, 10.0))
    fed(tracker, qd, friction, 1.3 * friction)
    assert tracker.scale == pytest.approx(1.3, abs=0.05)


@pytest.mark.compiled
def test_an_update_of_another_shape_is_refused():
    with pytest.raises(TypeError, match='track_friction: expected'):
        FrictionTracker(ROBOT, TIME_CONSTANT).update(np.ones(N - 1), LEVEL, LEVEL, PERIOD)


@pytest.mark.compiled
def test_an_update_allocates_nothing():
    tracker, rows = FrictionTracker(ROBOT, TIME_CONSTANT), np.ones((3, N))
    qd, friction, measured = rows
    tracker.update(qd, friction, measured, PERIOD)

    def updates():
        for _ in range(100):
            tracker.update(qd, friction, measured, PERIOD)

    # an array of six numbers takes 150 bytes
    assert most_allocated(updates) < 100


def log(scale=1.0, count=400):
    t = PERIOD * np.arange(count)
    qd, _ = motion(count)
    q, qdd = np.cumsum(qd, axis=0) * PERIOD, np.gradient(qd, PERIOD, axis=0)
    rigid = ROBOT.inverse_dynamics(q, qd, qdd)
    tau = rigid + scale * ROBOT.friction_torque(qd)
    return Log(t, q, qd, qdd, tau)


@pytest.mark.compiled
def test_predicted_torques_of_a_log_approach_the_measured_ones():
    measured = log(1.3, count=1000)
    predicted = FrictionTracker(ROBOT, TIME_CONSTANT).predict(measured)
    fixed = ROBOT.inverse_dynamics(measured.q, measured.qd, measured.qdd) + ROBOT.friction_torque(measured.qd)
    assert predicted[:2] == pytest.approx(fixed[:2])
    late = slice(600, None)
    assert (np.abs(predicted - measured.tau)[late] < 0.06 * LEVEL).all()
    assert (np.abs(fixed - measured.tau)[late].max(axis=0) > 0.15 * LEVEL).all()


@pytest.mark.compiled
def test_the_prediction_of_a_sample_uses_only_samples_before_it():
    measured, k = log(1.3), 123
    before = FrictionTracker(ROBOT, TIME_CONSTANT).predict(measured)
    tau = measured.tau.copy()
    tau[k] += LEVEL
    after = FrictionTracker(ROBOT, TIME_CONSTANT).predict(replace(measured, tau=tau))
    assert (before[: k + 1] == after[: k + 1]).all()
    assert (before[k + 1] != after[k + 1]).all()


@pytest.mark.parametrize('wrong', [0.0, -1.0, np.nan, np.inf, [1.0, 2.0]])
def test_a_time_constant_is_above_zero(wrong):
    with pytest.raises(ArgumentError, match='time_constant'):
        FrictionTracker(ROBOT, wrong)
