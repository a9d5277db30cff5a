"""What efforts at rest say about their meaning, with the AUBO-i5's friction, and torque constants of its file.

The upper arm joint carries up to 69 N m against 12.4 N m of friction, the others too little to count.
"""

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.guards.effort_check import POSITIONS, EffortCheck
from robot_dynamics_ros.control.guards.measured_effort import (
    FRICTION_RATIO,
    MEANINGS,
    SHARE,
    MeasuredEffort,
    Resting,
)
from robot_dynamics_ros.control.joints.joint_friction import static_friction
from robot_dynamics_ros.control.joints.standstill import DURATION_NS
from robot_dynamics_ros.errors import ArgumentError, ModelError

ROBOT = Robot.named('aubo_i5')
NAMES = ROBOT.joint_names
CONSTANTS = ROBOT.model.torque_constant()
STRETCHED = np.array([0.0, -1.5, 0.1, 0.0, 0.3, 0.0])  # upper arm level: large gravity
HALF = np.array([0.0, -1.0, 0.1, 0.0, 0.3, 0.0])
UPRIGHT = np.zeros(6)
FRICTION = static_friction(ROBOT, UPRIGHT, np.zeros(6))
LARGEST = 69.0
STUCK = FRICTION * np.array([0.9, -0.9, 0.9, -0.9, 0.9, -0.9])  # what friction holds, of either sign


def unknown():
    """Torque constants of a robot without an actuator file."""
    raise ModelError('joint a: no torque constant is known')


def resting(effort, q=STRETCHED, robot=ROBOT):
    """The arm at rest at q, with an effort that is a function of its joint torque and its gravity torque."""
    gravity = robot.gravity_torque(q)
    return Resting(gravity, static_friction(robot, q, gravity), effort(gravity + STUCK, gravity))


TRUTH = {
    'torque': lambda torque, gravity: torque,
    'current': lambda torque, gravity: torque / CONSTANTS,
    'torque_without_gravity': lambda torque, gravity: torque - gravity,
}
POSES = [STRETCHED, -STRETCHED, STRETCHED + np.array([0.5, 0.05, 0.0, 0.4, 0.0, 0.0])]


@pytest.mark.parametrize('stated', MEANINGS)
@pytest.mark.parametrize('truth', MEANINGS)
@pytest.mark.parametrize('constants', [lambda: CONSTANTS, unknown], ids=['known', 'unknown'])
def test_the_truth_agrees_and_anything_else_is_named(stated, truth, constants):
    if stated == 'current' and constants is unknown:
        return
    heavier = ROBOT.gravity_torque(np.array(POSES)) * 1.1  # masses are wrong by a tenth
    rests = []
    for q, gravity in zip(POSES, heavier, strict=True):
        rests.append(resting(lambda _, g, gravity=gravity: TRUTH[truth](gravity + STUCK, gravity), q))
    verdict = MeasuredEffort(stated, NAMES, constants).judge(rests, LARGEST)
    if stated == truth:
        assert verdict.fits and verdict.sentence.startswith(f'agrees with {stated}; largest difference: ')
        return
    seen = {
        'torque': 'it looks like torque:',
        'torque_without_gravity': 'it looks like torque_without_gravity:',
        'current': 'it looks like current:' if constants is not unknown else 'as with a current, another scale',
    }
    assert verdict.fits is False and seen[truth] in verdict.sentence
    assert verdict.sentence.startswith(f'stated as {stated}, but ') and "at joint 'upperArm_joint'" in verdict.sentence


def test_a_small_effort_in_one_position_may_be_a_current_too():
    verdict = MeasuredEffort('torque', NAMES, unknown).judge([resting(TRUTH['current'])], LARGEST)
    assert verdict.fits is False and 'torque_without_gravity or current: see another position' in verdict.sentence
    known = MeasuredEffort('torque', NAMES, lambda: CONSTANTS).judge([resting(TRUTH['current'])], LARGEST)
    assert 'it looks like current:' in known.sentence


def test_the_number_of_times_that_a_torque_is_scaled_is_stated():
    rests = [resting(lambda _, g: 4.0 * g, q) for q in POSES]
    verdict = MeasuredEffort('torque', NAMES, unknown).judge(rests, LARGEST)
    assert verdict.fits is False and 'it is 4 times gravity' in verdict.sentence
    wrong = MeasuredEffort('current', NAMES, lambda: 3.0 * CONSTANTS)
    verdict = wrong.judge([resting(lambda _, g: g / CONSTANTS, q) for q in POSES], LARGEST)
    assert 'it is 3 times gravity, so torque constants' in verdict.sentence and ' A where gravity' in verdict.sentence


def test_the_opposite_sign_is_seen():
    rests = [resting(lambda _, g: -g, q) for q in POSES[:1]]
    verdict = MeasuredEffort('torque', NAMES, unknown).judge(rests, LARGEST)
    assert verdict.fits is False and 'the opposite sign' in verdict.sentence


def test_a_push_fits_nothing():
    rests = [resting(lambda torque, g: torque + 55.0 * np.eye(6)[1], q) for q in POSES]
    verdict = MeasuredEffort('torque', NAMES, unknown).judge(rests, LARGEST)
    assert verdict.fits is False and 'does not fit the gravity torque' in verdict.sentence


def test_a_push_that_is_over_is_no_contradiction():
    pushed = resting(lambda torque, g: torque + 55.0 * np.eye(6)[1])
    right, small = resting(TRUTH['torque'], -STRETCHED), resting(TRUTH['torque'], UPRIGHT)
    effort = MeasuredEffort('torque', NAMES, unknown)
    assert effort.judge([pushed, right], LARGEST).fits
    assert effort.judge([pushed, right, small], LARGEST).fits
    assert effort.judge([right, pushed], LARGEST).fits is False
    assert effort.judge([right, pushed, small], LARGEST).fits is False


@pytest.mark.parametrize('effort', [0.0, 500.0])
def test_nothing_is_said_where_gravity_is_small_against_friction(effort):
    """At 0.55 rad the upper arm's gravity is 3 times its friction."""
    for q in (UPRIGHT, np.array([0.0, -0.55, 0.1, 0.0, 0.3, 0.0])):
        rest = resting(lambda *_: np.full(6, effort), q)
        assert np.abs(rest.gravity / rest.friction).max() < FRICTION_RATIO
        verdict = MeasuredEffort('torque', NAMES, unknown).judge([rest], LARGEST)
        assert verdict.fits is None and 'nothing can be said' in verdict.sentence and 'upperArm' in verdict.sentence


def test_nothing_is_said_where_gravity_is_noise_and_friction_unknown():
    """Without friction figures a tenth of the largest gravity torque of the arm is the least that counts."""
    gravity = np.array([0.0, 6.8, 0.0])
    rest = Resting(gravity, np.zeros(3), np.zeros(3))
    effort = MeasuredEffort('torque', 'abc', unknown)
    assert effort.judge([rest], 69.0).fits is None
    assert effort.judge([rest], 67.0).fits is False
    assert effort.judge([Resting(np.zeros(3), np.zeros(3), np.ones(3))], 0.0).fits is None
    assert effort.judge([], 69.0).fits is None


@pytest.mark.parametrize(('meaning', 'zero'), [('torque', 1.0), ('torque_without_gravity', 0.0)])
def test_the_tolerance_is_friction_and_a_share_of_gravity(meaning, zero):
    gravity, friction = np.array([40.0]), np.array([8.0])
    tolerance = 8.0 + SHARE * 40.0
    for excess, fits in ((0.99, True), (1.01, False)):
        for sign in (1.0, -1.0):
            rest = Resting(gravity, friction, zero * gravity + sign * excess * tolerance)
            assert MeasuredEffort(meaning, 'a', unknown).judge([rest], 40.0).fits is fits


def test_no_effort_is_within_the_tolerance_of_both_torques():
    assert SHARE + 1.0 / FRICTION_RATIO <= 0.5


def test_static_friction_has_every_term_that_holds_a_joint():
    robot = ROBOT.with_friction(coulomb=1.0, stribeck=2.0, load=0.1, offset=-4.0)
    assert static_friction(robot, UPRIGHT, np.full(6, -30.0)).tolist() == [10.0] * 6


def test_an_unbalanced_model_of_the_robot_is_not_a_current():
    """What is left of gravity where the robot subtracts it with masses that differ by 4 %."""
    rests = [resting(lambda _, g: 0.04 * g, q) for q in POSES]
    assert MeasuredEffort('torque_without_gravity', NAMES, unknown).judge(rests, LARGEST).fits
    rests = [resting(lambda _, g: 0.08 * g, q) for q in POSES]
    assert MeasuredEffort('torque_without_gravity', NAMES, unknown).judge(rests, LARGEST).fits is False


def test_efforts_become_torques():
    gravity, effort = np.arange(12.0).reshape(2, 6), np.ones((2, 6))
    expected = {'torque': effort, 'current': effort * CONSTANTS, 'torque_without_gravity': effort + gravity}
    for meaning, torque in expected.items():
        assert np.array_equal(MeasuredEffort(meaning, NAMES, lambda: CONSTANTS).torque(effort, gravity), torque)


def test_what_cannot_be_used_is_refused():
    with pytest.raises(ArgumentError, match=r"effort: expected one of torque, current, .*, got 'force'"):
        MeasuredEffort('force', NAMES, unknown)
    with pytest.raises(ArgumentError, match='effort: current: joint a: no torque constant is known: state an actuator'):
        MeasuredEffort('current', NAMES, unknown)


def stand(check, robot, q, effort, start):
    """Let the arm stand at q for the duration, in four samples."""
    for k in range(4):
        check.add(robot, start + k * DURATION_NS // 3, q, np.zeros(6), effort)


@pytest.mark.compiled
def test_the_check_compares_each_position_in_which_the_arm_stood_once():
    check = EffortCheck(MeasuredEffort('torque', NAMES, unknown), 6)
    assert check.verdict().fits is None and check.differences().shape == (0,)
    gravity = ROBOT.gravity_torque(STRETCHED)
    stand(check, ROBOT, STRETCHED, gravity, 0)
    assert check.verdict().fits
    stand(check, ROBOT, STRETCHED, gravity, 2 * DURATION_NS)  # the same standstill
    stand(check, ROBOT, HALF, ROBOT.gravity_torque(HALF) + np.eye(6)[5], 9 * DURATION_NS)
    assert len(check._rests) == 2
    assert check.differences() == pytest.approx([0.0, 0.0, 0.0, 0.0, 0.0, 1.0], abs=1e-9)
    for k in range(2 * POSITIONS):
        stand(check, ROBOT, STRETCHED + 0.01 * k, np.zeros(6), (20 + 9 * k) * DURATION_NS)
    assert len(check._rests) == POSITIONS and check.verdict().fits is False


@pytest.mark.compiled
def test_a_payload_in_force_belongs_to_gravity_and_a_new_one_begins_again():
    loaded = ROBOT.with_payload(Payload(5.0, (0.0, 0.0, 0.1)))
    with_load, without = (robot.gravity_torque(STRETCHED) for robot in (loaded, ROBOT))
    check = EffortCheck(MeasuredEffort('torque', NAMES, unknown), 6)
    stand(check, ROBOT, -STRETCHED, loaded.gravity_torque(-STRETCHED), 0)
    stand(check, ROBOT, STRETCHED, with_load, 2 * DURATION_NS)
    assert abs(check.differences()) == pytest.approx(abs(with_load - without))
    assert abs(check.differences()[1]) > 30.0 and check.verdict().fits is False
    stand(check, loaded, STRETCHED, with_load, 4 * DURATION_NS)
    assert check.verdict().fits and check.differences() == pytest.approx(np.zeros(6), abs=1e-9)


def test_an_arm_that_moves_says_nothing():
    check = EffortCheck(MeasuredEffort('torque', NAMES, unknown), 6)
    for k in range(50):
        check.add(ROBOT, k * DURATION_NS, STRETCHED, np.full(6, 0.1), np.zeros(6))
    assert check.verdict().fits is None
