"""Streams of short trajectories, and ways to a first point that is near in time, on an arm heavier than its model."""

from functools import cache
from itertools import product

from support.control.followed_arm import AT, LIMITS, MS, ROBOT, SECOND, TICK, FollowedArm
from support.matrices import matrix

import numpy as np
import pytest

AWAY, DURATION = np.array([0.3, -0.25, 0.3, 0.4, -0.3, 0.4]), 0.9
LAWS = 'computed_torque', 'pd_feedforward', 'pd_gravity'
DELAYS = {'no delay': {}, 'states 20 ms late': {'state_delay': 20}, 'commands 20 ms late': {'command_delay': 20}}


def motion(t):
    """Return position, velocity and acceleration of a motion of minimum jerk from AT, (3, n)."""
    s = np.clip(t / DURATION, 0.0, 1.0)
    part = 10 * s**3 - 15 * s**4 + 6 * s**5
    rate, change = 30 * s**2 * (1 - s) ** 2 / DURATION, 60 * s * (1 - s) * (1 - 2 * s) / DURATION**2
    return np.array([AT + part * AWAY, rate * AWAY, change * AWAY])


@cache
def whole(law, delay):
    """Return the largest torque of each joint along the motion sent as one trajectory."""
    arm = FollowedArm(law, **DELAYS[delay])
    times = np.arange(0.0, DURATION + 1e-9, 0.03)
    arm.send(times, *np.swapaxes([motion(t) for t in times], 0, 1))
    record = arm.run(round((DURATION + 0.3) * SECOND))
    assert not arm.told and not arm.silent
    return np.abs(record.torque).max(axis=0)


def streamed(arm, rate, rates, ahead, delay=0.0, jitter=0.0, stamped=False, timer=0.0):
    """Send the motion as points at ``rate`` Hz with so many ``rates``, each ``ahead`` s before its time; return it.

    Messages take ``delay`` ms and up to ``jitter`` ms more, in order; their source is off by up to ``timer`` ms.
    """
    random, begun, last = np.random.default_rng(0), arm.now, 0
    for k in range(round((DURATION + 0.1) * rate)):
        sent = begun + round((k / rate + timer * 1e-3 * random.uniform(-1.0, 1.0)) * SECOND)
        rows = motion((k + 1) / rate)[: 1 + rates]
        last = max(last, sent + round((delay + jitter * random.uniform()) * MS))
        arm.send([ahead], *rows[:, None], at=sent, delay=(last - sent) / MS, stamp=sent if stamped else 0)
    return arm.run(round((DURATION + 0.4) * SECOND))


def assert_like_the_whole(arm, record, law, delay):
    assert not arm.told and not arm.silent
    assert np.abs(record.desired[-1][0] - motion(9.0)[0]).max() < 1e-3
    assert (np.abs(record.torque).max(axis=0) <= 1.2 * whole(law, delay)).all()


LATE = {'in time': {}, '20 ms late': {'delay': 20.0}, 'up to 20 ms late': {'jitter': 20.0}}
STREAMS = list(product((20, 30, 50, 100), (0, 1), ('at its time', 'at 0 s'), LAWS, DELAYS, LATE))
FEW = [
    (20, 0, 'at 0 s', 'pd_feedforward', 'commands 20 ms late', 'up to 20 ms late'),
    (20, 1, 'at its time', 'pd_feedforward', 'states 20 ms late', '20 ms late'),
    (30, 0, 'at its time', 'pd_feedforward', 'no delay', 'up to 20 ms late'),
    (30, 1, 'at 0 s', 'pd_feedforward', 'commands 20 ms late', 'in time'),
    (30, 1, 'at its time', 'computed_torque', 'states 20 ms late', 'up to 20 ms late'),
    (50, 0, 'at 0 s', 'pd_feedforward', 'states 20 ms late', 'in time'),
    (50, 1, 'at its time', 'pd_gravity', 'commands 20 ms late', 'up to 20 ms late'),
    (100, 0, 'at its time', 'pd_feedforward', 'commands 20 ms late', '20 ms late'),
    (100, 1, 'at 0 s', 'pd_feedforward', 'no delay', 'up to 20 ms late'),
]


@pytest.mark.parametrize(('rate', 'rates', 'ahead', 'law', 'delay', 'late'), matrix(STREAMS, FEW))
def test_a_stream_of_points_needs_the_torque_of_the_motion_sent_whole(rate, rates, ahead, law, delay, late):
    """At the rates of MoveIt Servo and of policies."""
    arm = FollowedArm(law, **DELAYS[delay])
    record = streamed(arm, rate, rates, 1.0 / rate if ahead == 'at its time' else 0.0, **LATE[late])
    assert_like_the_whole(arm, record, law, delay)


@pytest.mark.parametrize(
    'how', [{'stamped': True}, {'stamped': True, 'ahead': 0.1}, {'rates': 2}, {'timer': 2.0}], ids=str
)
def test_so_does_a_stream_with_stamps_or_accelerations_or_of_an_unsteady_source(how):
    arm = FollowedArm('pd_feedforward')
    assert_like_the_whole(arm, streamed(arm, 50, **{'rates': 1, 'ahead': 0.0, **how}), 'pd_feedforward', 'no delay')


@pytest.mark.parametrize('rates', [0, 1])
def test_a_stream_that_ends_in_mid_motion_comes_to_rest_within_the_limits(rates):
    arm = FollowedArm('pd_gravity')
    for k in range(15):
        arm.send([0.03], *motion((k + 1) * 0.03)[: 1 + rates, None], at=arm.now + k * 30 * MS)
    record = arm.run(2 * SECOND)
    last = motion(0.45)
    assert np.abs(record.desired[-1] - [last[0], np.zeros(6), np.zeros(6)]).max() < 1e-9
    assert_within_limits(record)
    assert np.abs(record.desired[:, 0] - AT).max() < np.abs(last[0] - AT).max() + 0.1


def test_a_stream_with_a_gap_goes_on_within_the_limits():
    arm = FollowedArm('pd_feedforward')
    for k in range(30):
        if not 12 <= k < 18:
            arm.send([0.03], *motion((k + 1) * 0.03)[:2, None], at=arm.now + k * 30 * MS)
    record = arm.run(2 * SECOND)
    assert not arm.told and not arm.silent and np.abs(record.desired[-1][0] - motion(9.0)[0]).max() < 1e-9
    assert_within_limits(record)


def assert_within_limits(record):
    """The reference is continuous, no faster than the arm allows, and no joint saturates."""
    q, qd, qdd = np.swapaxes(record.desired[1:], 0, 1)
    h = TICK * 1e-9
    assert (np.abs(qdd) <= 1.01 * LIMITS[1]).all() and (np.abs(qd) <= ROBOT.limits.velocity).all()
    assert (np.abs(np.diff(qd, axis=0)) <= 1.01 * h * LIMITS[1]).all()
    assert (np.abs(np.diff(q, axis=0) - 0.5 * h * (qd[1:] + qd[:-1])) <= 0.3 * h * h * LIMITS[1]).all()
    assert (np.abs(record.torque) < 0.9 * LIMITS[0]).all()


@pytest.mark.parametrize('law', LAWS)
def test_a_point_that_is_too_near_in_time_is_reached_within_the_limits(law):
    """0.03 rad away at 0.02 s, as the start tolerance allows."""
    arm = FollowedArm(law)
    arm.send([0.02], [AT + 0.03])
    record = arm.run(SECOND)
    assert arm.told == [] and not arm.silent and record.desired[-1][0] == pytest.approx(AT + 0.03)
    assert_within_limits(record)


@pytest.mark.parametrize('law', LAWS[:2])
@pytest.mark.parametrize(('first', 'delay'), [(0.1, 49.0), (0.06, 30.0), (0.0, 100.0)])
def test_a_late_plan_is_joined_within_the_limits(law, first, delay):
    """One that begins 0.05 rad away from the arm."""
    arm = FollowedArm(law)
    ends = np.array([AT + 0.05, AT + 0.05 + AWAY])
    arm.send([first, first + 1.0], ends, np.zeros((2, 6)), np.zeros((2, 6)), delay=delay)
    record = arm.run(2 * SECOND)
    assert arm.told == [] and not arm.silent and record.desired[-1][0] == pytest.approx(ends[1])
    assert_within_limits(record)


@pytest.mark.parametrize('law', LAWS[:2])
def test_a_plan_with_a_stamp_that_comes_shortly_before_its_first_point_is_joined_within_the_limits(law):
    """30 ms before it."""
    arm = FollowedArm(law)
    ends = np.array([AT + 0.05, AT + 0.05 + AWAY])
    arm.send([0.5, 1.5], ends, np.zeros((2, 6)), np.zeros((2, 6)), stamp=arm.now - 470 * MS)
    record = arm.run(2 * SECOND)
    assert arm.told == [] and not arm.silent and record.desired[-1][0] == pytest.approx(ends[1])
    assert_within_limits(record)
