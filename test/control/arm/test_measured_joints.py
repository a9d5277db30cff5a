"""Fingers of a gripper that count where they are measured, and before where they are stated: positions and torques."""

from support.nodes.loader_stand_in import StandIn
from support.robots.gripper import FINGER, FOLLOWER, HELD, OPEN, TIP, arm_with_gripper, full_torque

import numpy as np
import pytest

from robot_dynamics_ros.control.arm.described_arm import locked_positions, measured_positions, same_robot
from robot_dynamics_ros.control.arm.measured_joints import LIMIT_NS, MeasuredJoints
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.terms.compensation import Compensation
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.lifecycle.robot_loader import load_robot

STATED = 0.02
STATES = 10_000_000
"""Time between two states of the arm, ns."""
NOTHING = np.nan
TERMS = ('gravity', 'coriolis', 'inertia')


def arm(stated=STATED):
    """Return the arm, whose order of followers is finger, then follower."""
    robot = load_robot(StandIn(locked_joints=[f'{FINGER}: measured from {stated}']), arm_with_gripper())
    assert robot.followers == (FINGER, FOLLOWER)
    return robot


class Fingers:
    """Measured joints that get states and reports; ``positions`` are those that count."""

    def __init__(self, robot=None, before=None):
        self.robot = robot or arm()
        self.joints = MeasuredJoints(self.robot, PositionLimits(self.robot.robot, 0.001, self.robot.followers))
        self.stamp = 100 * LIMIT_NS if before is None else before.stamp
        if before is not None:
            self.joints.continue_from(before.joints)

    def state(self, finger=NOTHING, follower=NOTHING, after=STATES):
        """Give a state of the arm, with positions of the fingers in it; return which positions count."""
        self.stamp += after
        measured = np.array([finger, follower])
        self.joints.report(measured, self.stamp, False)
        self.robot.following.measure(np.zeros(6), self.joints.count(measured, self.stamp), self.stamp)
        return self.robot.positions(np.zeros(6))[-2:].tolist()

    def report(self, finger=NOTHING, follower=NOTHING, late=0):
        """Give a message of the fingers alone, whose stamp is ``late`` ns before that of the last state."""
        return self.joints.report(np.array([finger, follower]), self.stamp - late, True)


@pytest.mark.parametrize(
    ('text', 'place', 'is_measured'),
    [
        ('0.02', 0.02, False),
        ('measured', np.nan, True),
        ('measured from 0.02', 0.02, True),
        (' measured  from  -1e-2 ', -0.01, True),
    ],
)
def test_a_position_is_stated_alone_or_after_the_word_measured(text, place, is_measured):
    entries = ['', f'finger:{text}']
    np.testing.assert_equal(locked_positions(entries), {'finger': place})
    np.testing.assert_equal(measured_positions(entries), {'finger': place} if is_measured else {})


@pytest.mark.parametrize(
    'text', ['measured from', 'measured from nan', 'measured from wide open', 'measured 0.02', 'from 0.02', 'Measured']
)
def test_another_text_is_refused_by_name(text):
    with pytest.raises(ArgumentError, match="'finger': expected a finite position, 'measured' or 'measured from POSI"):
        locked_positions([f'finger: {text}'])


def test_a_finger_counts_as_stated_until_it_is_reported_and_is_followed():
    fingers = Fingers()
    assert fingers.state() == [STATED, STATED]
    fingers = Fingers()
    assert fingers.state(0.05) == [0.05, 0.05]
    assert fingers.state(0.06, 0.055) == [0.06, 0.055]
    assert fingers.state() == [0.06, 0.055]  # where they were last
    assert fingers.state(0.03) == [0.03, 0.03]


@pytest.mark.parametrize('carries', [False, True])
def test_torques_are_those_of_the_full_model_at_each_opening(carries):
    robot, rng = arm(), np.random.default_rng(0)
    fingers = Fingers(robot)
    loaded = (robot.with_payload(HELD, TIP) if carries else robot).with_gravity((0.0, 0.0, -9.81))
    feedforward = Compensation(loaded, TERMS, None)
    largest, out = 0.0, np.empty(6)
    for phase in np.linspace(0.0, 2.0 * np.pi, 60):  # opening, then closing
        opening = 0.5 * OPEN * (1.0 - np.cos(phase))
        fingers.state(opening)
        q, qd, qdd = rng.uniform(-1.5, 1.5, (3, 6))
        np.testing.assert_allclose(
            loaded.gravity_torque(q), full_torque(q, opening, carries=carries), rtol=0, atol=1e-9
        )
        wanted = full_torque(q, opening, qd, qdd, carries)
        feedforward.torque(q, qd, qdd, out=out)
        np.testing.assert_allclose(out, wanted, rtol=0, atol=1e-9)
        largest = max(largest, np.abs(wanted - full_torque(q, STATED, qd, qdd, carries)).max())
    assert largest > (0.5 if carries else 1e-3)  # what a locked finger would be wrong by, N m


def test_reports_of_their_own_move_a_finger_without_a_step():
    fingers, places = Fingers(), []
    fingers.state()
    for k in range(130):
        if k % 10 == 0:
            fingers.report(0.06)  # the first one: over 1 s
        places += [fingers.state()]
    np.testing.assert_allclose(np.diff([STATED, *(it[0] for it in places[:100])]), 0.04 / 100, rtol=1e-9)
    assert places[-30:] == [[0.06, 0.06]] * 30
    fingers.report(0.05)  # 100 ms after the last one: over this time
    places = [fingers.state() for _ in range(10)]
    np.testing.assert_allclose(places, np.linspace([0.059] * 2, [0.05] * 2, 10), rtol=1e-12)
    assert places[-1] == [0.05, 0.05]


def test_a_finger_that_is_reported_again_after_a_silence_moves_there_within_a_second():
    fingers = Fingers()
    assert fingers.state(0.05)[0] == 0.05
    assert fingers.state(after=3 * LIMIT_NS)[0] == 0.05
    first = fingers.state(0.01)[0]
    assert first == pytest.approx(0.05 - 0.04 * STATES / LIMIT_NS)
    places = [fingers.state(0.01)[0] for _ in range(100)]
    assert np.abs(np.diff(places)).max() < 1.01 * 0.04 * STATES / LIMIT_NS
    assert places[-1] == 0.01
    assert fingers.state(0.03)[0] == 0.03  # and is then where each state says


def test_no_torque_depends_on_a_finger_before_the_first_state():
    fingers = Fingers()
    fingers.report(0.05)
    assert fingers.state() == [0.05, 0.05]
    fingers.joints.begin()  # an activation
    fingers.stamp += 5 * LIMIT_NS
    fingers.report(0.01)
    assert fingers.state() == [0.01, 0.01]
    fingers.state(after=2 * LIMIT_NS)
    fingers.joints.begin()
    assert fingers.state(0.06) == [0.06, 0.06]


def test_the_newer_stamp_counts_and_those_after_a_clock_that_was_set_back():
    fingers = Fingers()
    fingers.state(0.05)
    assert not fingers.report(0.01, late=1)
    assert fingers.state(after=LIMIT_NS)[0] == 0.05
    fingers.joints.clock_set_back()
    fingers.stamp -= 50 * LIMIT_NS
    assert fingers.state() == [0.05, 0.05]
    assert fingers.report(0.01)
    assert fingers.state()[0] == pytest.approx(0.05, abs=1e-3)
    assert fingers.state(after=LIMIT_NS)[0] == 0.01


def test_another_description_continues_where_a_finger_counts():
    before = Fingers()
    before.state(0.05)
    after = Fingers(arm(stated=0.07), before)
    assert after.state()[0] == 0.05
    never = Fingers()
    never.state()
    after = Fingers(arm(stated=0.07), never)
    assert after.state()[0] == pytest.approx(STATED, abs=1e-3)
    assert after.state(after=LIMIT_NS)[0] == 0.07
    was_locked = Fingers()
    was_locked.joints.go_on(was_locked.stamp)
    assert was_locked.state(0.07)[0] == pytest.approx(STATED, abs=1e-3)
    assert same_robot(arm(), arm()) and not same_robot(arm(), arm(stated=0.07))
    must = load_robot(StandIn(locked_joints=[f'{FINGER}: measured']), arm_with_gripper())
    zero = arm(stated=0.0)
    assert zero.couplings == must.couplings and not same_robot(zero, must)
    assert same_robot(must, load_robot(StandIn(locked_joints=[f'{FINGER}: measured']), arm_with_gripper()))


@pytest.mark.parametrize(
    ('finger', 'follower', 'reason'),
    [
        (np.nan, 0.01, f'joint {FINGER!r}: position is missing or not finite'),
        (np.inf, 0.01, f'joint {FINGER!r}: position is missing or not finite'),
        (20.0, 0.01, f'joint {FINGER!r}: position 20 is beyond its limits, 0 to 0.08 rad or m, by more than'),
        (0.01, -0.2, f'joint {FOLLOWER!r}: position -0.2 is beyond its limits'),
        (0.01, np.nan, ''),  # it follows
        (0.0805, 0.01, ''),
    ],
)
def test_a_wrong_position_is_named(finger, follower, reason):
    joints, both = Fingers().joints, np.ones(2, np.int64)
    fault = joints.fault(both, np.array([finger, follower]))
    assert fault.startswith(reason) if reason else not fault
    assert joints.fault(0 * both, np.full(2, np.nan)) == ''
    unlimited = MeasuredJoints(arm())
    assert bool(unlimited.fault(both, np.array([finger, follower]))) is not bool(np.isfinite(finger))
    assert (joints.named(both), joints.named(0 * both)) == (FINGER, '')


def test_a_finger_that_is_not_reported_is_named():
    fingers = Fingers()
    assert fingers.joints.warnings() == []  # nor is there a state
    fingers.state()
    fingers.state(after=LIMIT_NS)
    assert fingers.joints.warnings() == []
    fingers.state()
    (told,) = fingers.joints.warnings()
    assert told.startswith(
        f'joint {FINGER!r} is not in joint_states: it counts as where locked_joints states it, at 0.02 rad or m'
    )
    fingers.state(0.05)
    fingers.state(after=LIMIT_NS)
    assert fingers.joints.warnings() == []
    fingers.state()
    (told,) = fingers.joints.warnings()
    assert told.startswith(f'joint {FINGER!r} is not in joint_states any more: it counts as where it was last, at 0.05')
    fingers.report(0.05)
    assert fingers.joints.warnings() == []
