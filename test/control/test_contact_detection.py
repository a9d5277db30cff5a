"""Contact by thresholds, and thresholds that are learnt in free motion."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from robot_dynamics_ros.control.contact_detection import FRICTION_SHARE, RELEASE, REVERSAL_SPEED, ContactDetector
from robot_dynamics_ros.control.threshold_learning import MOVED, NEEDED, ThresholdLearning

GAIN, PERIOD = 25.0, 0.01
FAST, SLOW = np.full(2, 1.0), np.zeros(2)
NOTHING = np.zeros(2)
NAMES = ('shoulder', 'elbow')
STATIC = np.array([3.0, 0.5])


def detector(level=(2.0, 1.0), reversal=(4.0, 0.0)):
    made = ContactDetector(2, GAIN)
    made.thresholds[:] = level, reversal
    return made


def away_from_reversals(made):
    for _ in range(200):
        made.update(NOTHING, NOTHING, FAST, PERIOD)
    return made


def test_without_thresholds_there_is_no_contact():
    made = ContactDetector(2, GAIN)
    assert not made.is_calibrated
    assert not made.update(np.full(2, 1e6), NOTHING, FAST, PERIOD)
    assert (made.ratio, made.threshold.tolist(), made.trust) == (0.0, [np.inf, np.inf], 1.0)


def test_a_joint_beyond_its_threshold_is_contact_until_it_is_well_below():
    made = away_from_reversals(detector())
    assert not made.update(np.array([1.9, 0.0]), NOTHING, FAST, PERIOD)
    assert made.joint == 0 and made.ratio == pytest.approx(0.95) and made.trust == pytest.approx(0.1)
    assert made.update(np.array([0.0, -1.1]), NOTHING, FAST, PERIOD)
    assert made.joint == 1 and made.ratio == pytest.approx(1.1) and made.trust == 0.0
    assert made.update(np.array([0.0, -1.01 * RELEASE]), NOTHING, FAST, PERIOD)
    assert not made.update(np.array([0.0, -0.99 * RELEASE]), NOTHING, FAST, PERIOD)
    assert made.update(np.array([0.0, -1.1]), NOTHING, FAST, PERIOD)
    made.reset()
    assert not made.contact


def test_the_threshold_is_wider_near_a_reversal_and_for_a_time_constant_after_it():
    made = away_from_reversals(detector())
    assert made.threshold == pytest.approx([2.0, 1.0])
    made.update(NOTHING, NOTHING, np.full(2, 0.99 * REVERSAL_SPEED), PERIOD)
    assert made.threshold == pytest.approx([6.0, 1.0])
    time, seen = 0.0, []
    for _ in range(20):
        made.update(NOTHING, NOTHING, FAST, PERIOD)
        time += PERIOD
        seen.append(made.threshold[0])
        assert seen[-1] == pytest.approx(2.0 + 4.0 * min(1.0, 2.0 * math.exp(-GAIN * time)))
    assert seen[0] == pytest.approx(6.0) and seen[-1] < 2.1


def test_friction_of_the_model_widens_the_threshold():
    made = away_from_reversals(detector())
    made.update(NOTHING, np.array([-30.0, 10.0]), FAST, PERIOD)
    assert made.threshold == pytest.approx([2.0 + 30.0 * FRICTION_SHARE, 1.0 + 10.0 * FRICTION_SHARE])


class Lesson:
    """A detector that learns."""

    def __init__(self, made=None, limit=None, tracker=None):
        self.detector = ContactDetector(2, GAIN) if made is None else made
        self.learning = ThresholdLearning(self.detector, NAMES, STATIC, limit, tracker)

    def feed(self, residual, qd, count, friction=NOTHING):
        for _ in range(count):
            sample = np.array(residual), friction, np.array(qd), PERIOD
            self.detector.update(*sample)
            self.learning.add(*sample)

    def swing(self, far=(1.0, 0.2), near=(1.2, 0.9), seconds=2.0 * MOVED):
        """Move both joints both ways."""
        count = round(seconds / PERIOD)
        for sign in (1.0, -1.0):
            self.feed(near, SLOW, 5)
            self.feed(NOTHING, sign * FAST, 5)  # for a time constant it is near the reversal
            self.feed(far, sign * FAST, count)


def test_thresholds_are_the_largest_residuals_times_the_margin_at_least_static_friction_at_rest():
    lesson = Lesson()
    lesson.feed(NOTHING, FAST, 1)
    assert lesson.learning.begin(1.0, 2.0) == '' and lesson.learning.status == 'learning for 1 s'
    lesson.swing()
    assert lesson.learning.status == 'learnt'
    np.testing.assert_allclose(lesson.detector.thresholds, [[2.0, 0.4], [1.0, 1.4]])
    assert lesson.detector.is_calibrated
    # what belongs to the friction's share is not learnt
    lesson.learning.begin(1.0, 2.0)
    lesson.detector.thresholds[:] = np.inf
    lesson.swing(far=(1.0, 0.2), near=(0.0, 0.0))
    assert lesson.learning.status == 'learnt'


def test_a_threshold_above_a_share_of_the_effort_limit_is_not_learnt():
    lesson = Lesson(limit=np.array([6.0, 100.0]))
    lesson.feed(NOTHING, FAST, 1)
    lesson.learning.begin(1.0, 2.0)
    lesson.swing()
    assert not lesson.detector.is_calibrated
    assert lesson.learning.status == (
        "not learnt, the thresholds before stay: the threshold of joint 'shoulder' would be 2.4, above 30 % of its "
        'effort limit 6 N m (N): was something touching the arm, or is the payload not set?'
    )


def test_a_learnt_threshold_is_at_least_the_correction_of_the_tracker_that_it_bounds():
    lesson = Lesson(tracker=SimpleNamespace(correction=lambda: np.array([2.5, 0.0])))
    lesson.feed(NOTHING, FAST, 1)
    lesson.learning.begin(1.0, 2.0)
    lesson.swing()
    np.testing.assert_allclose(lesson.detector.thresholds, [[2.5, 0.4], [0.5, 1.4]])


@pytest.mark.parametrize(('limit', 'least'), [(None, [1e-3, 1e-3]), ((50.0, 0.0), [0.05, 1e-3])])
def test_a_learnt_threshold_is_never_zero(limit, least):
    lesson = Lesson(limit=limit)
    lesson.feed(NOTHING, FAST, 1)
    lesson.learning.begin(1.0, 2.0)
    lesson.swing(far=NOTHING, near=NOTHING)
    assert lesson.detector.thresholds[0].tolist() == least


def test_the_share_of_the_friction_is_not_learnt_twice():
    lesson = Lesson()
    lesson.feed(NOTHING, FAST, 1)
    lesson.learning.begin(1.2, 2.0)
    friction = np.array([5.0, 0.0])
    for sign in (1.0, -1.0):
        lesson.feed(NOTHING, SLOW, 5)
        lesson.feed((1.0, 1.0), sign * FAST, 60, friction)
    assert lesson.learning.status == 'learnt'
    assert lesson.detector.thresholds[0] == pytest.approx([2.0 * 1.0 - 5.0 * FRICTION_SHARE, 2.0])


def test_it_is_refused_without_external_torque_at_rest_and_in_contact_and_says_what_it_needs():
    lesson = Lesson(detector())
    assert lesson.learning.begin(1.0, 2.0) == f'no external torque is known: {NEEDED}'
    lesson.feed(NOTHING, SLOW, 1)
    assert lesson.learning.begin(1.0, 2.0) == f'the arm stands still: {NEEDED}'
    lesson.feed((0.0, 9.0), FAST, 1)
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
    lesson.feed((0.0, 9.0), FAST, 1)
    assert lesson.learning.status == "not learnt, the thresholds before stay: contact at joint 'elbow'"
    lesson.feed(NOTHING, FAST, 20)
    lesson.learning.begin(1.0, 2.0)
    lesson.feed(NOTHING, (1.0, 1.0), 50)
    lesson.feed(NOTHING, (-1.0, 1.0), 51)
    assert lesson.learning.status == f'not learnt, the thresholds before stay: elbow: {NEEDED}'
    assert lesson.detector.thresholds.tolist() == before.tolist()
