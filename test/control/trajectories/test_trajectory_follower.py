"""Which trajectory is followed, when another one replaces it, and when it is dropped."""

from support.control.allocations import most_allocated
from support.control.followed_trajectories import (
    FREE,
    MS,
    ROBOT,
    SECOND,
    START,
    ZERO,
    Following,
    dropped,
    following,
    line,
)

import numpy as np
import pytest

from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.law import TORQUE, Outcome
from robot_dynamics_ros.control.trajectories import trajectory_follower
from robot_dynamics_ros.control.trajectories.motion_tolerance import MotionTolerance
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_follower import NO_TRAJECTORY, NOT_BEGUN
from robot_dynamics_ros.errors import ArgumentError


def test_without_a_trajectory_nothing_is_followed():
    one = Following()
    assert one.at(0.0) is NO_TRAJECTORY
    assert NO_TRAJECTORY == (Outcome.IDLE, 'no trajectory')
    assert np.isnan(one.desired).all() and one.told == []


def test_it_begins_at_its_start_and_holds_its_end():
    one = following(*line(0.0, 2.0), start=0.5)
    assert one.at(0.499999999) is NOT_BEGUN and NOT_BEGUN == (Outcome.IDLE, 'the trajectory has not begun')
    assert np.isnan(one.desired).all()
    assert one.at(0.5) is TORQUE
    assert one.desired.tolist() == [ZERO, [2.0] * 3, ZERO]
    assert one.at(0.75, [9.0] * 3) is TORQUE  # looked at where it begins alone
    assert one.desired[0] == pytest.approx([0.5] * 3)
    for seconds in (1.6, 99.0):
        assert one.at(seconds, [9.0] * 3) is TORQUE
        assert one.desired.tolist() == [[2.0] * 3, ZERO, ZERO]
    assert one.told == []


def test_the_newest_is_followed():
    one = following(*line(0.0, 2.0))
    assert one.at(0.0) is TORQUE
    one.receive(*line(0.05, 0.05), start=0.5)
    assert one.at(0.6) is TORQUE and one.desired[0] == pytest.approx([1.2] * 3)  # its lead begins there
    assert one.at(0.65) is TORQUE and one.desired[0].tolist() == [0.05] * 3
    one.follower.stop()
    assert one.at(0.7) is NO_TRAJECTORY


def test_why_one_is_not_followed_any_more_is_told():
    one = Following(1.0, robot=FREE, acceleration_limit=1.0)
    old = one.receive(*line(0.0, 3.0))
    assert one.follower.ended(old) == ''
    assert one.at(0.0) is TORQUE
    refused = one.receive(*line(0.1, 0.1), start=0.2)
    assert one.at(0.2, [0.1] * 3) is TORQUE
    assert "joint 'turn' does not reach it in time" in one.follower.ended(refused) and one.follower.ended(old) == ''
    newer = one.receive(*line(0.9, 3.9), start=0.3)
    assert one.follower.ended(old) == one.follower.ended(newer) == ''
    assert one.at(0.3, [0.9] * 3) is TORQUE
    assert one.follower.ended(old) == 'a newer trajectory has replaced it' and one.follower.ended(newer) == ''
    one.receive(*line(0.9, 3.9), start=0.3)
    assert one.follower.ended(old) == 'a newer trajectory has replaced it'
    one.follower.stop()
    assert one.follower.ended(newer) == 'a stop has ended it'
    dropped_one = one.receive(*line(9.0, 9.0), start=1.0)
    assert one.at(1.0) == one.follower.plan.dropped
    assert one.follower.ended(dropped_one) == dropped_one.dropped.reason


def test_one_whose_tolerance_the_arm_leaves_is_dropped_until_it_rests():
    one = following(*line(0.0, 2.0))
    zone = MotionTolerance('path', ROBOT, one.desired, np.full(3, 0.1), np.full(3, np.inf))
    one.receive(*line(0.0, 2.0), start=0.5, tolerance=zone)
    assert one.at(0.5, ZERO) is TORQUE
    plan = one.follower.plan
    assert one.at(0.6, [0.2, 0.11, 0.3]) is TORQUE and not plan.is_left
    assert one.at(0.7, [0.2, 0.2, 0.4]).reason.startswith("trajectory dropped: path: joint 'turn' is 0.2 rad")
    assert plan.is_left and one.follower.ended(plan) == plan.dropped.reason
    one.receive(*line(0.0, 2.0), start=1.0, tolerance=zone)
    assert one.at(1.0, ZERO) is TORQUE
    assert one.at(9.0, [9.0] * 3) is TORQUE


# A trajectory that replaces another one


def test_the_old_one_goes_on_until_the_new_one_starts():
    one = following(*line(0.0, 2.0))
    assert one.at(0.0) is TORQUE
    old = one.follower.plan
    one.receive(*line(0.8, 0.8), start=0.4)
    for seconds in (0.1, 0.399999999):
        assert one.at(seconds) is TORQUE and one.follower.plan is old
        assert one.desired[0] == pytest.approx([2.0 * seconds] * 3)
    assert one.at(0.4, [0.8] * 3) is TORQUE and one.follower.plan is not old
    assert one.desired[0].tolist() == [0.8] * 3
    assert one.at(9.0, [0.8] * 3) is TORQUE and one.desired[0].tolist() == [0.8] * 3


def test_a_third_one_replaces_the_one_that_has_not_started():
    one = following(*line(0.0, 2.0))
    assert one.at(0.0) is TORQUE
    one.receive(*line(0.5, 0.5), start=0.2)
    one.receive(*line(0.8, 0.8), start=0.4, now=0.1)
    assert one.at(0.3) is TORQUE and one.desired[0] == pytest.approx([0.6] * 3)
    assert one.at(0.4, [0.8] * 3) is TORQUE and one.desired[0].tolist() == [0.8] * 3


@pytest.mark.parametrize(('sent', 'goes_on'), [(0.14999, False), (0.15, True), (0.2, True), (0.3, True)])
def test_one_that_begins_soon_is_not_replaced_though_no_state_has_come_since(sent, goes_on):
    """Another node may have followed it: then both would follow different ones until the third one starts."""
    one = following(*line(0.0, 2.0))
    assert one.at(0.0) is TORQUE
    one.receive(*line(0.5, 0.5), start=0.2, now=0.05)
    one.receive(*line(0.8, 0.8), start=1.4, now=0.31, sent=sent)
    assert one.at(0.4, [0.5] * 3) is TORQUE and one.desired[0] == pytest.approx([0.8] * 3)
    assert one.at(0.5) is TORQUE and one.desired[0] == pytest.approx([0.5 if goes_on else 1.0] * 3)
    assert one.at(1.4, [0.8] * 3) is TORQUE and one.at(1.45) is TORQUE and one.desired[0].tolist() == [0.8] * 3


def test_one_that_has_begun_before_the_first_state_is_followed_until_the_next_one_starts():
    one = following(*line(0.0, 2.0), start=-0.05)
    one.receive(*line(1.0, 1.0), start=0.5, now=0.0)
    assert one.at(0.0, [0.1] * 3) is TORQUE and one.desired[0] == pytest.approx([0.1] * 3)
    assert one.at(0.5, [1.0] * 3) is TORQUE and one.desired[0] == pytest.approx([1.1] * 3)
    assert one.at(0.55) is TORQUE and one.desired[0].tolist() == [1.0] * 3


def test_without_states_no_more_than_the_last_ones_are_kept():
    one = Following()
    for k in range(20):
        one.receive(*line(0.0, 2.0), start=0.1 * k)
    assert len(one.follower._plans) <= 3
    assert one.at(1.9) is TORQUE and one.desired[0] == pytest.approx(ZERO)


def test_one_that_was_dropped_is_not_resumed_before_the_next():
    one = following(*line(0.0, 2.0))
    assert one.at(0.0) is TORQUE
    one.receive(*line(2.0, 2.0), start=0.2)
    assert one.at(0.2, [0.4] * 3) == dropped('turn', '1.600')  # the one before is over, too
    assert one.at(0.3, [0.4] * 3) == dropped('turn', '1.600')
    one.receive(*line(0.4, 0.4), start=1.0)
    assert one.at(0.5, [0.4] * 3) == dropped('turn', '1.600')
    assert one.at(1.0, [0.4] * 3) is TORQUE


def test_a_new_one_waits_for_permission_while_the_old_one_goes_on():
    one, asked = following(*line(0.0, 2.0)), []
    assert one.at(0.0) is TORQUE
    one.follower.may_begin = lambda plan, stamp, newer_waits: bool(asked.append((plan, stamp)) or len(asked) > 2)
    one.receive(*line(0.0, 2.0), start=0.1)
    for seconds in (0.1, 0.2):
        assert one.at(seconds) is TORQUE and one.desired[0] == pytest.approx([2.0 * seconds] * 3)
    assert one.at(0.3, [0.4] * 3) is TORQUE and one.desired[0] == pytest.approx([0.6] * 3)
    assert one.at(0.4) is TORQUE and len(asked) == 3 and one.desired[0] == pytest.approx([0.6] * 3)
    assert one.follower.plan.time(START + 400 * MS) == pytest.approx(0.3)
    assert {plan for plan, _ in asked} == {one.follower.plan} and one.follower.plan.due_since == START + 100 * MS
    assert [stamp - START for _, stamp in asked] == [100 * MS, 200 * MS, 300 * MS]


def test_an_older_one_that_waits_as_well_is_asked_for_beside_the_newer_one():
    one, asked = following(*line(0.0, 2.0)), []
    one.follower.may_begin = lambda plan, stamp, newer_waits: bool(asked.append((plan.start, newer_waits)))
    one.receive(*line(0.0, 1.0), start=0.01)
    one.at(0.1)
    assert asked == [(START + 10 * MS, False), (START, True)] and one.follower.waits
    one.follower.may_begin = lambda plan, stamp, newer_waits: newer_waits
    assert one.at(0.2, [0.4] * 3) is TORQUE and one.follower.plan.start == START and not one.follower.waits


def test_a_motion_from_before_another_node_holds_the_arm_leads_to_no_other_one():
    """It goes on; the next one begins at the measured state, and so does what follows that one as usual."""
    for since, expected in ((0.0, 0.05), (0.1, 0.05), (-0.1, 0.4)):
        one = following(*line(0.0, 2.0))
        assert one.at(0.0) is TORQUE and one.at(0.1) is TORQUE
        one.follower.held_since(START + round(since * 1000) * MS)
        assert one.at(0.15) is TORQUE and one.desired[0] == pytest.approx([0.3] * 3)
        one.receive([1.0, 2.0], [[0.1] * 3] * 2, start=0.2)
        assert one.at(0.2, [0.05] * 3) is TORQUE and one.desired[0] == pytest.approx([expected] * 3)
        one.receive([1.0, 2.0], [[0.1] * 3] * 2, start=0.3)
        assert one.at(0.3, [0.05] * 3) is TORQUE
        assert one.follower.plan.since == (START if since < 0.0 else START + 200 * MS)


def test_after_a_stop_the_next_one_does_not_begin_at_the_reference_of_the_last():
    one = following([0.0, 1.0], [[0.09] * 3] * 2)
    assert one.at(0.0) is TORQUE
    one.follower.stop()
    one.receive([0.0, 1.0], [[0.11] * 3] * 2, start=0.1)
    assert one.at(0.1) == dropped('turn', '0.110')


def test_one_that_can_not_be_announced_yet_begins_at_a_later_state():
    """Or a torque along it would be taken for one of the trajectory before."""
    one, asked = following(*line(0.0, 2.0)), []
    assert one.at(0.0) is TORQUE
    old = one.follower.plan
    one.follower.announce = lambda plan: bool(asked.append(plan) or len(asked) > 1)
    one.receive(*line(0.2, 0.2), start=0.1)
    assert one.at(0.1) is TORQUE and one.follower.plan is old and one.desired[0] == pytest.approx([0.2] * 3)
    assert one.at(0.2) is TORQUE and asked == [one.follower.plan] * 2 and one.follower.plan is not old
    one = Following()
    one.follower.announce = lambda plan: False
    one.receive(*line(0.0, 2.0))
    assert one.at(0.0) is NOT_BEGUN and one.at(0.01) is NOT_BEGUN


def test_one_that_the_reference_does_not_reach_in_time_is_refused_and_the_one_before_goes_on():
    one = following(*line(0.0, 3.0), robot=FREE, acceleration_limit=1.0)
    assert one.at(0.0) is TORQUE
    old = one.follower.plan
    one.follower.announce = pytest.fail
    one.receive(*line(0.1, 0.1), start=0.2)
    for seconds in (0.2, 0.3):
        assert one.at(seconds, [0.1] * 3) is TORQUE and one.follower.plan is old
        assert one.desired[0] == pytest.approx([3.0 * seconds] * 3)
    assert one.told == [one.follower.unreached] and "joint 'turn' does not reach it in time" in one.told[0]
    one.follower.announce = lambda plan: True
    one.receive(*line(0.9, 3.9), start=0.3)
    assert one.at(0.3, [0.9] * 3) is TORQUE and one.follower.plan is not old and one.follower.unreached == ''


def test_nothing_is_handed_over_before_it_is_prepared():
    one, seen = Following(), []
    one.follower.prepare = lambda plan: seen.append((plan, one.at(0.0)))
    one.receive(*line(0.0, 2.0))
    ((plan, result),) = seen
    assert result is NO_TRAJECTORY and plan.start == START and plan.identity == Trajectory(*line(0.0, 2.0)).digest
    assert one.at(0.0) is TORQUE and one.follower.plan is plan and one.follower.follows(plan)
    one.follower.stop()
    assert not one.follower.follows(plan) and not one.follower.follows(None)


def test_one_that_begins_while_another_is_received_stays_in_force():
    """Or the motion would jump back to the one before it."""
    one = following(*line(0.0, 2.0))
    assert one.at(0.0) is TORQUE
    one.receive(*line(0.4, 0.4), start=0.2)
    one.follower.prepare = lambda plan: one.at(0.2, [0.4] * 3)
    one.receive(*line(0.8, 0.8), start=9.0)
    assert one.at(0.3, [0.4] * 3) is TORQUE and one.desired[0].tolist() == [0.4] * 3


def test_whether_it_is_after_the_last_point():
    one = following(*line(0.0, 0.05))
    for seconds, rests in ((0.0, False), (1.0, False), (1.1, True), (99.0, True)):
        assert one.at(seconds) is TORQUE and one.follower.rests is rests


def test_a_digest_names_the_points():
    times, positions = line(0.0, 2.0)
    digests = {
        Trajectory(times, positions).digest,
        Trajectory(times + 1e-9, positions).digest,
        Trajectory(times, positions + 1e-15).digest,
        Trajectory(times, positions, np.zeros((2, 3))).digest,
        Trajectory(times, positions, np.zeros((2, 3)), np.zeros((2, 3))).digest,
        Trajectory(times, positions[:, :2]).digest,
    }
    assert len(digests) == 6 and all(0 < digest < 2**64 for digest in digests)
    assert Trajectory(times.tolist(), positions.tolist()).digest == Trajectory(times, positions).digest


def test_one_that_is_over_is_refused_and_the_current_one_continues():
    one = following(*line(0.0, 0.05))
    with pytest.raises(ArgumentError, match=r'^trajectory: it ended 0\.250 s before it was received$'):
        one.receive(*line(0.0, 2.0), start=-1.0, now=0.25)
    assert one.at(0.5) is TORQUE and one.desired[0] == pytest.approx([0.025] * 3)
    one.receive(*line(0.0, 0.08), start=-0.5, now=0.5)  # it ends now
    assert one.at(0.5) is TORQUE and one.at(0.55) is TORQUE and one.desired[0].tolist() == [0.08] * 3


def test_a_copy_knows_the_start_of_the_one_before():
    one = following(*line(0.0, 2.0), start=1.0)
    assert one.at(1.0) is TORQUE
    one.receive(*line(0.0, 2.0), start=3.0)
    first, second = one.follower._plans
    second.is_exact = False
    second.agree_on(first.start)
    assert not second.is_exact and second.start == START + 3 * SECOND
    second.agree_on(first.start + 1)
    assert second.is_exact and second.start == first.start + 1
    one.receive(*line(0.0, 3.0), start=4.0)
    assert one.follower._plans[-1].later_than == 0
    one.follower._plans[-1].is_exact = False  # another node may know an earlier start of it
    one.receive(*line(0.0, 3.0), start=5.0)
    assert one.follower._plans[-1].later_than == 0


# What it costs


@pytest.fixture
def sampled(monkeypatch):
    """Return the times at which trajectories are sampled, in s after their starts."""
    times = []

    class Counted(trajectory_follower.Followed):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            sample = self.sample
            self.sample = lambda t: (times.append(t), sample(t))

    monkeypatch.setattr(trajectory_follower, 'Followed', Counted)
    return times


@pytest.mark.parametrize('first', [0.0, 1.0])
def test_a_long_trajectory_costs_no_more_at_its_first_state_than_a_short_one(first, sampled, monkeypatch):
    """What takes long is prepared when it is received: here nothing more is prepared, computed or kept of 20,000."""
    made, used, outcomes = [], {}, []
    prepare = Trajectory.__init__

    def counted(self, *arguments):
        made.append(len(arguments[0]))
        prepare(self, *arguments)

    monkeypatch.setattr(Trajectory, '__init__', counted)
    for points in (2, 20_000):
        one = following(first + 0.001 * np.arange(points), np.full((points, 3), 0.01), np.zeros((points, 3)))
        one.at(-1.0)
        made.clear()
        used[points] = most_allocated(lambda: outcomes.append(one.at(0.0)))  # noqa: B023
        assert outcomes.pop() is TORQUE
        assert made == [] and sampled == [0.0]
        sampled.clear()
    assert used[20_000] < 20_000 < 20_000 * 3 * 8
    assert used[20_000] < 2 * used[2] + 2000


def test_a_trajectory_ends_by_the_clock_of_the_states_where_their_stamps_lag():
    one = Following()
    one.at(10.0)
    one.receive([0.0, 1.0], np.zeros((2, 3)), start=10.0, now=12.4)
    assert one.at(10.5) is TORQUE
    with pytest.raises(ArgumentError, match=r'it ended 0\.500 s before'):
        one.receive([0.0, 1.0], np.zeros((2, 3)), start=9.0, now=12.4)
    # states ahead of now, or from before an activation, do not count
    with pytest.raises(ArgumentError, match=r'it ended 0\.250 s before'):
        one.receive([0.0, 1.0], np.zeros((2, 3)), start=9.0, now=10.25)
    one.follower.stop()
    with pytest.raises(ArgumentError, match=r'it ended 1\.400 s before'):
        one.receive([0.0, 1.0], np.zeros((2, 3)), start=10.0, now=12.4)


def test_one_whose_way_leaves_the_position_limits_is_refused_and_the_one_before_goes_on():
    one = Following(3.0, acceleration_limit=4.0, positions=PositionLimits(ROBOT, 0.2))
    one.receive([0.0, 9.0], [[0.0, 3.0, 0.0]] * 2)
    assert one.at(0.0, [0.0, 3.0, 0.0]) is TORQUE
    before = one.follower.plan
    one.receive([0.0], [[0.0, 3.0, 0.0]], [[0.0, -2.0, 0.0]], start=0.5)  # its run-up begins beyond 3.2 rad
    assert one.at(0.5, [0.0, 3.0, 0.0]) is TORQUE and one.follower.plan is before
    assert one.told == [one.follower.unreached]
    assert one.follower.unreached == (
        "trajectory refused: joint 'swing' would leave its position limits on the way to it; begin at the reference in "
        'force, or with less velocity; the one before goes on'
    )
    with pytest.raises(ArgumentError, match=r"joint 'swing': position 3\.\d+ is beyond its limits"):
        one.receive([0.0], [[0.0, 3.0, 0.0]], [[0.0, 2.0, 0.0]], start=1.0)
