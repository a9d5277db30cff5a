"""Feedforward torques of another lead: not added, and the arm is held until both motions are one."""

from support.control.followed_arm import AT, MS, ROBOT, SECOND, FollowedArm
from support.matrices import crossed, matrix
from support.robots.small_robots import one

import numpy as np
import pytest

from robot_dynamics_ros.control.trajectories.followed import LATEST_JOIN, Followed
from robot_dynamics_ros.control.trajectories.motion_agreement import POSITION, VELOCITY, MotionAgreement
from robot_dynamics_ros.control.trajectories.point_stream import Point, StreamPoint
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory

AWAY, STILL = np.array([1.0, 0.8, -0.5, 0.0, 0.0, 0.0]), np.zeros((2, 6))
FREE = np.full(6, np.inf), np.full(6, np.inf)


def left_behind(away=AWAY, since=3 * SECOND):
    """Return an arm that was activated again in mid-motion, ``since`` (ns) which feedforward_node has gone on."""
    arm = FollowedArm('pd_feedforward')
    arm.hears = False
    arm.send([0.5, 3.0], [AT, AT + away], STILL, STILL)
    arm.run(SECOND)
    arm.reactivate()
    arm.run(since)
    assert np.abs(arm.q - AT).max() < 0.5 * np.abs(away).max()
    return arm


def begin_where_it_stands(arm, rest=0.5):
    """Follow a slow motion that begins where the arm is, and return what the arm did."""
    here = arm.q.copy()
    arm.send([rest, rest + 2.5], [here, here + 0.05], STILL, STILL)
    return here, arm.run(4 * SECOND)


@pytest.mark.parametrize('away', [AWAY, 0.3 * AWAY, -0.6 * AWAY], ids=['far', 'near', 'behind'])
def test_a_motion_that_begins_where_the_arm_stands_leaves_it_by_no_more_than_itself(away):
    arm = left_behind(away)
    here, record = begin_where_it_stands(arm)
    assert not arm.silent
    assert np.abs(record.torque - record.torque[0]).max() < 12.0
    assert np.abs(record.qd).max() < 0.4
    assert arm.q == pytest.approx(here + 0.05, abs=0.02)  # it has joined the trajectory
    assert record.desired[-1][0] == pytest.approx(here + 0.05, abs=1e-9)


def test_one_that_never_becomes_the_same_motion_is_refused_and_the_arm_is_held():
    arm = left_behind(since=SECOND)
    here = arm.q.copy()
    arm.send([0.0, 0.6, 1e3], [here, here + 0.4, here + 0.4], np.zeros((3, 6)), np.zeros((3, 6)))
    record = arm.run(round((LATEST_JOIN + 1.0) * SECOND))
    assert not arm.silent and np.abs(record.qd).max() < 0.02
    assert arm.q == pytest.approx(here, abs=0.01)
    (reason,) = arm.told
    assert 'it leads to the trajectory from elsewhere' in reason


def test_a_stream_that_is_elsewhere_moves_no_arm_that_was_activated_again():
    arm, speed = FollowedArm('pd_feedforward', tolerance=0.5), 0.8
    sent, along = arm.now, np.array([1.0, 0.9, -0.6, 0.0, 0.0, 0.0])
    for k in range(125):  # to and fro
        t = 0.02 * (k + 5)
        s, v = 0.2 * (1.0 - np.cos(speed * np.pi * t)), 0.2 * speed * np.pi * np.sin(speed * np.pi * t)
        arm.send([0.1], [AT + s * along], [v * along], at=sent + k * 20 * MS)
    arm.run(50 * MS)
    arm.hold_still, arm.qd = True, np.zeros(6)
    arm.run(1150 * MS)  # until the stream is at its far end
    arm.hears = False
    arm.reactivate()
    arm.hold_still = False
    here = arm.q.copy()
    arm.run(300 * MS)
    assert not arm.silent and 'it leads to the trajectory from elsewhere' in arm.apart.reason
    assert np.abs(arm.q - here).max() < 0.02  # it sinks a little: it is heavier than its model


def held_elsewhere(off, gains=1.0):
    """Return an arm that is held ``off`` rad away from the last point, at which feedforward_node rests."""
    arm = FollowedArm('pd_feedforward', tolerance=0.5, gains=gains, heavier=1.0)
    arm.send([0.5, 1.5], [AT, AT + 0.1], STILL, STILL)
    arm.run(2 * SECOND)
    arm.hold_still, arm.qd, arm.q = True, np.zeros(6), arm.q - off * np.array([1.0, 1.0, -1.0, 0.0, 0.0, 0.0])
    arm.reactivate()
    arm.run(20 * MS)
    arm.hold_still = False
    arm.run(200 * MS)
    return arm


def held_in_mid_motion(speed, after=100 * MS):
    """Return an arm that stands and is held, while feedforward_node moves at ``speed`` rad/s along a trajectory."""
    arm, along = FollowedArm('pd_feedforward', tolerance=0.5, heavier=1.0), np.array([1.0, 1.0, -1.0, 0.0, 0.0, 0.0])
    arm.send(
        [0.5, 1.0, 6.0],
        [AT, AT + 0.25 * speed * along, AT + 5.25 * speed * along],
        [0 * AT, speed * along, speed * along],
    )
    arm.run(1100 * MS)
    arm.hold_still, arm.qd = True, np.zeros(6)
    arm.reactivate()
    arm.run(after)
    arm.hold_still = False
    arm.run(100 * MS)
    return arm


@pytest.mark.parametrize(
    ('motion', 'rate', 'rates'),
    crossed([(0.15, 20), (0.3, 20), (0.3, 200), (0.6, 100), (1.2, 20)], [10, 30, 100], [0, 1]),
    ids=str,
)
def test_a_stream_at_the_arms_own_position_moves_no_arm_that_stands(motion, rate, rates):
    speed, after = motion
    arm = held_in_mid_motion(speed, after * MS)
    here, begun = arm.q.copy(), arm.now
    for k in range(rate):
        arm.send([0.1], [here], *[STILL[:1]] * rates, at=begun + round(k * SECOND / rate))
    assert_stands(arm)


@pytest.mark.parametrize(
    ('speed', 'after', 'ahead'), [(0.15, 20, 0.1), (0.3, 20, 0.3), (0.6, 100, 0.3), (1.2, 20, 0.5)]
)
def test_nor_do_a_point_or_a_trajectory_there(speed, after, ahead):
    for further in [], [30.0]:
        arm = held_in_mid_motion(speed, after * MS)
        times = [ahead, *further]
        arm.send(times, [arm.q] * len(times), STILL[: len(times)])
        assert_stands(arm)


def assert_stands(arm):
    """What follows moves no arm that stands, and has no torque of another motion."""
    record = arm.run(SECOND)
    assert not arm.silent and not arm.told
    assert np.abs(record.torque - record.torque[0]).max() < 4.0  # friction at rest, of which the arm has none
    assert np.abs(record.qd).max() < 0.1


@pytest.mark.parametrize('gains', [1.0, 0.1], ids=['stiff', 'soft'])
@pytest.mark.parametrize(('off', 'ahead'), [(0.27, 0.3), (0.27, 0.4), (0.45, 0.5), (0.09, 0.1), (0.09, 0.4)])
def test_a_point_at_the_arms_own_position_moves_no_arm_that_stands(off, ahead, gains):
    arm = held_elsewhere(off, gains)
    arm.send([ahead], [arm.q], STILL[:1])
    assert_stands(arm)


@pytest.mark.parametrize('rates', [0, 1])
@pytest.mark.parametrize(('rate', 'off'), [(10, 0.3), (30, 0.27), (100, 0.09)])
def test_nor_does_a_stream_of_such_points(rate, off, rates):
    arm = held_elsewhere(off, gains=0.1)
    here, begun = arm.q.copy(), arm.now
    for k in range(rate):
        arm.send([0.1], [here], *[STILL[:1]] * rates, at=begun + round(k * SECOND / rate))
    assert_stands(arm)


@pytest.mark.parametrize(('off', 'first'), [(0.065, 0.1), (0.065, 0.2), (0.03, 0.05), (0.09, 0.3), (0.09, 0.5)])
def test_nor_does_a_trajectory_that_begins_there(off, first):
    arm = held_elsewhere(off)
    arm.send([first, 30.0], [arm.q, arm.q], STILL, STILL)
    assert_stands(arm)


@pytest.mark.parametrize('since', [400, 600])
def test_a_lone_point_is_followed_once_a_lead_from_elsewhere_has_ended(since):
    """feedforward_node comes from the middle of a motion, and passes the arm that is held."""
    arm = left_behind(since=since * MS)
    assert np.abs(arm.feedforward_motion[0] - arm.q).max() > 1.5 * POSITION
    arm.send([0.3], [arm.q], STILL[:1])
    waits = arm.run(100 * MS)
    assert 'it leads to the trajectory from elsewhere' in arm.apart.reason
    assert np.abs(waits.torque - waits.torque[0]).max() < 4.0
    arm.run(SECOND)
    assert_stands(arm)
    assert arm.apart is None


JOINTS = np.array([1.0, 0.9, -0.6, 0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ('rate', 'delay', 'far', 'speed'), [(200, 20, 1.2, 3.0), (100, 20, 0.4, 6.0), (30, 10, 0.8, 3.0)]
)
@pytest.mark.parametrize('phase', matrix([0.0, 0.125, 0.375, 0.5, 0.875], [0.125]))
def test_feedforward_activated_again_in_a_stream_goes_on_with_the_moving_arm(rate, delay, far, speed, phase):
    """To and fro, ``far`` rad with ``speed`` rad/s of the phase."""
    arm, period = FollowedArm('pd_feedforward', tolerance=0.5), 2.0 * np.pi / speed
    begun = arm.now
    for k in range(round((2.0 * period + 2.5) * rate)):
        s, v = 0.5 * far * (1.0 - np.cos(speed * k / rate)), 0.5 * far * speed * np.sin(speed * k / rate)
        at = begun + round(k * SECOND / rate)
        arm.send([0.0], [AT + s * JOINTS], [v * JOINTS], at=at, stamp=at, delay=delay)
    arm.run(round((1.0 + phase * period) * 250) * 4 * MS)
    before = arm.run(round(period * 250) * 4 * MS)
    arm.pause_feedforward(20 * MS)
    after = arm.run(SECOND)
    assert not arm.told
    assert largest_step(after) <= 2.0 * largest_step(before)
    assert (np.abs(after.torque).max(axis=0) <= 1.2 * np.abs(before.torque).max(axis=0))[:3].all()


def largest_step(record):
    """Return the largest change of a torque from one state to the next, N m."""
    return np.abs(np.diff(record.torque, axis=0)).max()


def agreement(desired, limits=FREE):
    return MotionAgreement(ROBOT, desired, limits)


def plan_of(desired, begun=False):
    """Return a trajectory from rest at 0 that moves on with 2 rad/s from the beginning."""
    plan = Followed(0, 0, Trajectory([0.0, 1.0], [[0.0] * 6, [2.0] * 6], np.full((2, 6), 2.0)), desired, FREE)
    if begun:
        plan.join(0.0, 0.5)
        plan.begun = True
    return plan


@pytest.mark.parametrize(
    ('position', 'velocity', 'agrees'),
    [
        (0.0, 0.0, True),
        (0.9 * POSITION, 0.0, True),
        (1.1 * POSITION, 0.0, False),
        (0.0, 2.0, True),  # on the trajectory, while this node is at rest
        (0.0, 2.0 + 1.1 * VELOCITY, False),
        (0.0, -0.9 * VELOCITY, True),
        (0.0, -1.1 * VELOCITY, False),
    ],
)
@pytest.mark.parametrize('joint', [0, 5])
def test_each_joint_is_near_this_nodes_motion_and_no_faster_than_that_or_the_trajectory(
    position, velocity, agrees, joint
):
    desired, motion = np.zeros((3, 6)), np.zeros((2, 6))
    motion[:, joint] = position, velocity
    fault = agreement(desired).fault(plan_of(desired), 0, motion, 0)
    assert (fault is None) == agrees
    if fault is not None:
        assert f'joint {ROBOT.joint_names[joint]!r} {abs(position):.3f} rad or m' in fault.reason


def test_a_turn_of_a_continuous_joint_is_no_distance():
    robot = one('continuous')
    desired = np.zeros((3, 1))
    plan = Followed(0, 0, Trajectory([0.0, 1.0], np.zeros((2, 1))), desired, (np.full(1, np.inf), np.full(1, np.inf)))
    turned = MotionAgreement(robot, desired, (np.full(1, np.inf), np.full(1, np.inf)))
    assert turned.fault(plan, 0, np.array([[6.0 * np.pi + 0.05], [0.0]]), 0) is None
    assert turned.fault(plan, 0, np.array([[5.0 * np.pi], [0.0]]), 0) is not None


def test_the_motion_of_this_node_counts_at_the_stamp_of_the_torque_and_stays_that_of_the_state():
    desired = np.zeros((3, 6))
    plan = plan_of(desired, begun=True)
    plan.sample(0.05)
    earlier = desired[:2].copy()
    plan.sample(0.4)
    now = desired.copy()
    assert np.abs(now[0] - earlier[0]).max() > 2.0 * POSITION
    ours = agreement(desired)
    assert ours.fault(plan, 400 * MS, earlier, 50 * MS) is None and (desired == now).all()
    assert ours.fault(plan, 400 * MS, earlier, 400 * MS) is not None and (desired == now).all()


def test_after_it_was_elsewhere_it_has_to_be_on_the_trajectory():
    """A lead that ends has the acceleration that brings it there in its torque."""
    desired = np.zeros((3, 6))
    plan, ours = plan_of(desired), agreement(desired)
    expected = plan.expect(0.02)[:2].copy()
    near = expected - np.array([0.01, 0.0])[:, None]
    assert ours.fault(plan, 20 * MS, near, 20 * MS) is None
    assert ours.fault(plan, 20 * MS, near + 1.0, 20 * MS) is not None
    assert ours.fault(plan, 20 * MS, near, 20 * MS) is not None
    assert ours.fault(plan, 20 * MS, expected, 20 * MS) is None


@pytest.mark.parametrize(
    ('position', 'velocity', 'agrees'),
    [
        (0.0, 0.0, True),
        (0.5, 1.9, True),  # on the way to the point, for 0.25 s
        (0.5, 1.0, False),  # further than that
        (-0.9 * POSITION, 1.9, True),
        (-1.6 * POSITION, 1.9, False),  # on another way, at whatever speed
        (0.5 + 1.6 * POSITION, 2.7, False),
    ],
)
def test_a_motion_to_a_lone_point_is_on_the_way_there(position, velocity, agrees):
    desired, motion = np.zeros((3, 6)), np.zeros((2, 6))
    motion[:, 1] = position, velocity
    assert (
        agreement(desired, (np.full(6, np.inf), np.full(6, 8.0))).fault(lone(desired), 0, motion, 0) is None
    ) == agrees


def lone(desired):
    """Return a plan to a lone point 0.5 rad away, passed with 0.2 rad/s."""
    trajectory = Trajectory([1.0], np.full((1, 6), 0.5), np.full((1, 6), 0.2))
    point = StreamPoint(Point(SECOND, *trajectory.last_point), None, np.zeros(6), FREE)
    return Followed(0, 0, trajectory, desired, FREE, point=point)


def test_after_it_was_elsewhere_it_has_to_rest_at_a_lone_point():
    desired = np.zeros((3, 6))
    desired[0] = 0.45
    plan, ours = lone(desired), agreement(desired)
    assert ours.fault(plan, 0, np.zeros((2, 6)), 0) is not None
    assert ours.fault(plan, 0, np.array([[0.48] * 6, [0.1] * 6]), 0) is not None
    assert ours.fault(plan, 0, np.array([[0.5] * 6, [0.2] * 6]), 0) is not None  # it goes on, and returns
    assert ours.fault(plan, 0, np.array([[0.5] * 6, [0.0] * 6]), 0) is None
