"""Contact by thresholds, and thresholds that are learnt in free motion."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from robot_dynamics_ros.control.observers.contact_detection import (
    FRICTION_SHARE,
    RELEASE,
    REVERSAL_SPEED,
    SAMPLES,
    ContactDetector,
)
from robot_dynamics_ros.control.observers.threshold_fit import LOWEST_INERTIA
from robot_dynamics_ros.control.observers.threshold_learning import GROWTH, MOVED, NEEDED, ThresholdLearning

GAIN, PERIOD = 25.0, 0.01
FAST, SLOW = np.full(2, 1.0), np.zeros(2)
NOTHING = np.zeros(2)
NAMES = ('shoulder', 'elbow')
STATIC = np.array([3.0, 0.5])


def detector(level=(2.0, 1.0), reversal=(4.0, 0.0)):
    made = ContactDetector(2, GAIN)
    made.thresholds[:2] = level, reversal
    return made


def away_from_reversals(made):
    for _ in range(200):
        made.update(NOTHING, NOTHING, NOTHING, FAST, PERIOD)
    return made


def held(made, residual):
    """Give a residual as often as it has to last; return whether it is contact."""
    for _ in range(SAMPLES):
        found = made.update(np.array(residual), NOTHING, NOTHING, FAST, PERIOD)
    return found


def test_without_thresholds_there_is_no_contact():
    made = ContactDetector(2, GAIN)
    assert not made.is_calibrated
    assert not made.update(np.full(2, 1e6), NOTHING, NOTHING, FAST, PERIOD)
    assert (made.ratio, made.threshold.tolist(), made.trust) == (0.0, [np.inf, np.inf], 1.0)


def test_a_joint_beyond_its_threshold_is_contact_until_it_is_well_below():
    made = away_from_reversals(detector())
    assert not held(made, [1.9, 0.0])
    assert made.joint == 0 and made.ratio == pytest.approx(0.95) and made.trust == pytest.approx(0.1)
    assert held(made, [0.0, -1.1])
    assert made.joint == 1 and made.ratio == pytest.approx(1.1) and made.trust == 0.0
    assert held(made, [0.0, -1.01 * RELEASE])
    assert not held(made, [0.0, -0.99 * RELEASE])
    assert held(made, [0.0, -1.1])
    made.reset()
    assert not made.contact


def test_a_peak_of_fewer_samples_than_have_to_agree_is_no_contact_nor_is_one_that_changes_its_sign():
    made = away_from_reversals(detector())
    for _ in range(3):
        for _ in range(SAMPLES - 1):
            assert not made.update(np.array([50.0, 50.0]), NOTHING, NOTHING, FAST, PERIOD)
        assert not made.update(NOTHING, NOTHING, NOTHING, FAST, PERIOD)
    for k in range(10):
        assert not made.update(np.full(2, 50.0 * (-1.0) ** k), NOTHING, NOTHING, FAST, PERIOD)
    away_from_reversals(made)
    for k in range(SAMPLES):
        assert made.update(np.array([-2.1 - k, 0.0]), NOTHING, NOTHING, FAST, PERIOD) == (k == SAMPLES - 1)
    assert made.size == pytest.approx([2.1, 0.0])


def test_a_single_sample_that_may_be_the_first_one_of_a_contact_is_not_trusted():
    made = away_from_reversals(detector())
    assert made.trust == 1.0
    made.update(np.array([50.0, 0.0]), NOTHING, NOTHING, FAST, PERIOD)
    assert made.trust == 0.0 and not made.contact


def test_the_threshold_is_wider_near_a_reversal_and_for_a_time_constant_after_it():
    made = away_from_reversals(detector())
    assert made.threshold == pytest.approx([2.0, 1.0])
    made.update(NOTHING, NOTHING, NOTHING, np.full(2, 0.99 * REVERSAL_SPEED), PERIOD)
    assert made.threshold == pytest.approx([6.0, 1.0])
    time, seen = 0.0, []
    for _ in range(20):
        made.update(NOTHING, NOTHING, NOTHING, FAST, PERIOD)
        time += PERIOD
        seen.append(made.threshold[0])
        assert seen[-1] == pytest.approx(2.0 + 4.0 * min(1.0, 2.0 * math.exp(-GAIN * time)))
    assert seen[0] == pytest.approx(6.0) and seen[-1] < 2.1


def test_friction_speed_and_inertial_torque_widen_the_threshold():
    made = away_from_reversals(detector())
    made.thresholds[2:] = [0.5, 0.0], [0.1, 0.2]
    made.update(NOTHING, np.array([-5.0, 0.0]), np.array([30.0, 10.0]), np.array([-3.0, 3.0]), PERIOD)
    expected = [2.0 + 5.0 * FRICTION_SHARE + 0.5 * 3.0 + 0.1 * 30.0, 1.0 + 0.2 * 10.0]
    assert made.threshold == pytest.approx(expected)


class Lesson:
    """A detector that learns."""

    def __init__(self, made=None, limit=None, tracker=None):
        self.detector = ContactDetector(2, GAIN) if made is None else made
        self.learning = ThresholdLearning(self.detector, NAMES, STATIC, limit, tracker)

    def feed(self, residual, qd, count, inertial=NOTHING, friction=NOTHING):
        for _ in range(count):
            sample = np.array(inertial), np.array(qd), PERIOD
            self.detector.update(np.array(residual), np.array(friction), *sample)
            self.learning.add(*sample)

    def swing(self, far=(1.0, 0.2), near=(1.2, 0.9), seconds=2.0 * MOVED, speed=1.0):
        """Move both joints both ways."""
        count = round(seconds / PERIOD)
        for sign in (1.0, -1.0):
            self.feed(near, SLOW, 5)
            self.feed(NOTHING, sign * speed * FAST, 5)  # for a time constant it is near the reversal
            self.feed(far, sign * speed * FAST, count)

    def learn(self, margin=2.0, **motion):
        """Calibrate with one swing; return what became of it."""
        self.feed(NOTHING, FAST, SAMPLES)
        assert self.learning.begin(1.0, margin) == ''
        self.swing(**motion)
        return self.learning.status


def test_thresholds_are_the_largest_residuals_times_the_margin_at_least_static_friction_at_rest():
    lesson = Lesson()
    lesson.feed(NOTHING, FAST, 1)
    assert lesson.learning.begin(1.0, 2.0) == '' and lesson.learning.status == 'learning for 1 s'
    lesson.swing()
    assert lesson.learning.status == 'learnt'
    np.testing.assert_allclose(lesson.detector.thresholds, [[2.0, 0.4], [1.0, 1.4], [0.0, 0.0], [0.1, 0.1]], atol=1e-9)
    assert lesson.detector.is_calibrated


def test_a_second_motion_adds_to_what_the_first_one_taught_until_it_is_forgotten():
    lesson = Lesson()
    assert lesson.learn(far=(1.0, 0.2)) == 'learnt'
    # faster, with a residual beyond the threshold, but not by far
    assert lesson.learn(far=(1.5 * GROWTH, 0.1), speed=3.0) == 'learnt'
    grows = lesson.detector.thresholds
    assert grows[0, 0] + 1.0 * grows[2, 0] >= 2.0 * 1.0 and grows[2, 0] > 0.0
    assert grows[0, 0] + 3.0 * grows[2, 0] >= 2.0 * 1.5 * GROWTH
    assert grows[0, 0] < 1.5 * GROWTH < 2.0 * 1.5 * GROWTH, 'slow motions keep a low threshold'
    assert grows[0, 1] == pytest.approx(0.4), 'the smaller residual of the second motion changes nothing'
    lesson.learning.forget()
    lesson.detector.thresholds[0] = np.inf
    assert lesson.learn(far=(0.3, 0.1)) == 'learnt'
    np.testing.assert_allclose(lesson.detector.thresholds[0], [0.6, 0.2])


def test_a_later_motion_needs_not_move_every_joint():
    lesson = Lesson()
    assert lesson.learn() == 'learnt'
    lesson.feed(NOTHING, FAST, SAMPLES)
    lesson.learning.begin(0.5, 2.0)
    lesson.feed(NOTHING, (1.0, 0.0), 60)
    assert lesson.learning.status == 'learnt'


def test_a_residual_that_follows_the_inertial_torque_is_learnt_as_its_share():
    lesson = Lesson()
    lesson.feed(NOTHING, FAST, 1)
    lesson.learning.begin(2.3, 2.0)
    for torque in (0.0, 2.0, 10.0, 50.0):
        for sign in (1.0, -1.0):
            inertial = np.array([torque, 0.0])
            lesson.feed((0.5 + 0.1 * torque, 0.1), sign * FAST, 30, inertial)
    assert lesson.learning.status == 'learnt'
    level, _, speed, share = lesson.detector.thresholds
    assert share[0] == pytest.approx(0.2) and share[1] == LOWEST_INERTIA
    assert level[0] + speed[0] == pytest.approx(1.0)


def test_a_threshold_above_a_share_of_the_effort_limit_is_not_learnt():
    lesson = Lesson(limit=np.array([6.0, 100.0]))
    assert lesson.learn() == (
        "not learnt, the thresholds before stay: the threshold of joint 'shoulder' would be 3, above 30 % of its "
        'effort limit 6 N m (N): was something touching the arm, or is the payload not set?'
    )
    assert not lesson.detector.is_calibrated
    lesson.learning.begin(1.0, 2.0)
    lesson.swing(far=(0.1, 0.1), near=NOTHING)
    assert lesson.learning.status.startswith('not learnt'), 'static friction is above it, too'


def test_a_learnt_threshold_is_at_least_the_correction_of_the_tracker_that_it_bounds():
    lesson = Lesson(tracker=SimpleNamespace(correction=lambda: np.array([2.5, 0.0])))
    assert lesson.learn() == 'learnt'
    np.testing.assert_allclose(lesson.detector.thresholds[:2], [[2.5, 0.4], [0.5, 1.4]])


@pytest.mark.parametrize(('limit', 'least'), [(None, [1e-3, 1e-3]), ((50.0, 0.0), [0.05, 1e-3])])
def test_a_learnt_threshold_is_never_zero(limit, least):
    lesson = Lesson(limit=limit)
    assert lesson.learn(far=NOTHING, near=NOTHING) == 'learnt'
    assert lesson.detector.thresholds[0].tolist() == least


def test_the_share_of_the_friction_is_beside_what_is_learnt():
    lesson = Lesson()
    lesson.feed(NOTHING, FAST, 1)
    lesson.learning.begin(1.1, 2.0)
    for sign in (1.0, -1.0):
        lesson.feed(NOTHING, SLOW, 5)
        lesson.feed((1.0, 1.0), sign * FAST, 60, friction=(5.0, 0.0))
    assert lesson.learning.status == 'learnt'
    thresholds = lesson.detector.thresholds
    assert thresholds[0] + thresholds[2] == pytest.approx([2.0, 2.0])
    assert lesson.detector.threshold[0] == pytest.approx(2.0 + 5.0 * FRICTION_SHARE, rel=1e-6)


def test_it_is_refused_without_external_torque_at_rest_and_in_contact_and_says_what_it_needs():
    lesson = Lesson(detector())
    assert lesson.learning.begin(1.0, 2.0) == f'no external torque is known: {NEEDED}'
    lesson.feed(NOTHING, SLOW, 1)
    assert lesson.learning.begin(1.0, 2.0) == f'the arm stands still: {NEEDED}'
    lesson.feed((0.0, 9.0), FAST, SAMPLES)
    assert lesson.learning.begin(1.0, 2.0).startswith("contact at joint 'elbow': end it, or forget the thresholds")
    lesson.feed(NOTHING, FAST, 1)
    assert lesson.learning.begin(1.0, 2.0) == ''
    lesson.learning.interrupt('the states stopped')
    assert lesson.learning.status == 'not learnt, the thresholds before stay: the states stopped'
    assert lesson.learning.begin(1.0, 2.0).startswith('no external torque')


def test_contact_and_a_joint_that_does_not_move_leave_the_thresholds_as_they_were():
    lesson = Lesson(detector())
    before = lesson.detector.thresholds.copy()
    lesson.feed(NOTHING, FAST, 1)
    lesson.learning.begin(1.0, 2.0)
    lesson.feed(NOTHING, FAST, 20)
    lesson.feed((0.0, 9.0), FAST, SAMPLES)
    assert lesson.learning.status == "not learnt, the thresholds before stay: contact at joint 'elbow'"
    lesson.feed(NOTHING, FAST, 20)
    lesson.learning.begin(1.0, 2.0)
    lesson.feed(NOTHING, (1.0, 1.0), 50)
    lesson.feed(NOTHING, (-1.0, 1.0), 51)
    assert lesson.learning.status == f'not learnt, the thresholds before stay: elbow: {NEEDED}'
    assert lesson.detector.thresholds.tolist() == before.tolist()
