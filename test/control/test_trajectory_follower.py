"""Which trajectory is followed, from where, and when it is dropped."""

import tracemalloc
from types import SimpleNamespace

from support.small_robots import AUBO, mixed

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from robot_dynamics_ros.control import trajectory_follower
from robot_dynamics_ros.control.law import TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.control.trajectory_follower import CLOCK_SET_BACK, NO_TRAJECTORY, NOT_BEGUN, TrajectoryFollower
from robot_dynamics_ros.errors import ArgumentError

ROBOT = mixed()  # a continuous joint of at most 2 rad/s, a limited one of 0.5, a slide without a known speed
SECOND, MS = 1_000_000_000, 1_000_000
START = 1_700_000_000 * SECOND
ZERO = [0.0, 0.0, 0.0]


class Following:
    """A follower and the state that it is given."""

    def __init__(self, tolerance=0.1, robot=ROBOT):
        self.desired = np.full((3, robot.nv), np.nan)
        self.told = []
        self.follower = TrajectoryFollower(robot, self.desired, tolerance, self.told.append)
        self.state = MeasuredState(np.zeros(robot.nv), np.zeros(robot.nv))
        self.state.has_velocity, self.state.resumed = True, False

    def at(self, seconds, q=ZERO, qd=ZERO, resumed=False):
        """Return what becomes of the state at ``seconds`` after START."""
        self.state.stamp, self.state.resumed = START + round(seconds * SECOND), resumed
        self.state.q[:], self.state.qd[:] = q, qd
        return self.follower.follow(self.state)

    def receive(self, times, positions, velocities=None, accelerations=None, start=0.0, now=None):
        began = START + round(start * SECOND)
        self.follower.receive(
            Trajectory(times, positions, velocities, accelerations),
            began,
            began if now is None else START + round(now * SECOND),
        )


def following(*arguments, **more):
    one = Following()
    one.receive(*arguments, **more)
    return one


def dropped(name, distance):
    reason = (
        f'trajectory dropped: joint {name!r} is {distance} rad or m from the desired position, more than '
        'start_tolerance allows; begin at the measured position'
    )
    return Result(Outcome.IDLE, reason)


def line(*ends):
    """Return the times and positions of a trajectory of all joints through ``ends``, a second apart."""
    return np.arange(len(ends), dtype=float), np.outer(ends, np.ones(3))


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
    assert one.at(0.6) is TORQUE and one.desired[0].tolist() == [0.05] * 3
    one.follower.stop()
    assert one.at(0.7) is NO_TRAJECTORY


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
    one.receive(*line(0.8, 0.8), start=0.4)
    assert one.at(0.3) is TORQUE and one.desired[0] == pytest.approx([0.6] * 3)
    assert one.at(0.4, [0.8] * 3) is TORQUE and one.desired[0].tolist() == [0.8] * 3


def test_one_that_was_dropped_is_not_resumed_before_the_next():
    one = following(*line(0.0, 2.0))
    assert one.at(0.0) is TORQUE
    one.receive(*line(2.0, 2.0), start=0.2)
    assert one.at(0.2, [0.4] * 3) == dropped('turn', '1.600')  # the one before is over, too
    assert one.at(0.3, [0.4] * 3) == dropped('turn', '1.600')
    one.receive(*line(0.4, 0.4), start=1.0)
    assert one.at(0.5, [0.4] * 3) is NOT_BEGUN
    assert one.at(1.0, [0.4] * 3) is TORQUE


def test_a_new_one_waits_for_permission_while_the_old_one_goes_on():
    one, asked = following(*line(0.0, 2.0)), []
    assert one.at(0.0) is TORQUE
    one.follower.may_begin = lambda plan, stamp: bool(asked.append((plan, stamp)) or len(asked) > 2)
    one.receive(*line(0.0, 2.0), start=0.1)
    for seconds in (0.1, 0.2):
        assert one.at(seconds) is TORQUE and one.desired[0] == pytest.approx([2.0 * seconds] * 3)
    assert one.at(0.3, [0.4] * 3) is TORQUE and one.desired[0] == pytest.approx([0.4] * 3)
    assert one.at(0.4) is TORQUE and len(asked) == 3
    assert {plan for plan, _ in asked} == {one.follower.plan} and one.follower.plan.due_since == START + 100 * MS
    assert [stamp - START for _, stamp in asked] == [100 * MS, 200 * MS, 300 * MS]


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
    one.receive(*line(0.0, 0.08), start=-1.0, now=0.0)  # it ends now
    assert one.at(0.0) is TORQUE and one.desired[0].tolist() == [0.08] * 3


# Where it is met


def test_the_start_tolerance_is_checked_joint_by_joint():
    for q in ([0.09, -0.09, 0.09], [0.0, 0.0999, 0.0]):
        assert following(*line(0.0, 1.0)).at(0.0, q) is TORQUE
    one = following(*line(0.0, 1.0))
    assert one.at(0.0, [0.0, -0.101, 5.0]) == dropped('swing', '0.101')  # the first that is too far away
    assert one.told == [dropped('swing', '0.101').reason]
    assert one.at(0.1) == dropped('swing', '0.101') and len(one.told) == 1  # for good, and told once
    one.receive(*line(0.0, 1.0), start=1.0)
    assert one.at(1.0) is TORQUE


def test_exactly_the_tolerance_is_within_it():
    one = Following(tolerance=0.125)
    one.receive(*line(0.0, 1.0))
    assert one.at(0.0, [0.125, -0.125, 0.0]) is TORQUE
    one.receive(*line(0.0, 1.0))
    assert one.at(0.0, [0.0, 0.0, 0.1250001]) == dropped('slide', '0.125')


def test_with_a_late_state_the_desired_position_at_its_stamp_counts():
    """The first state comes 0.5 s after the start."""
    assert following(*line(0.0, 2.0)).at(0.5, [1.0] * 3) is TORQUE
    assert following(*line(0.0, 2.0)).at(0.5, ZERO) == dropped('turn', '1.000')
    one = following(*line(0.0, 2.0))
    assert one.at(9.0, [1.95] * 3) is TORQUE and one.desired[0].tolist() == [2.0] * 3


def test_a_tolerance_of_0_allows_any_distance_that_is_one():
    one = Following(tolerance=0.0)
    one.receive(*line(0.0, 1.0))
    assert one.at(0.0, [1.0, -300.0, 1e6]) is TORQUE
    one.receive(*line(0.0, 1.0))
    assert one.at(0.0, [0.0, 0.0, np.nan]) == dropped('slide', 'nan')


@pytest.mark.parametrize('first', [0.0, 0.5])
def test_a_distance_that_is_no_number_is_too_far(first):
    one = following([first, 2.0], np.zeros((2, 3)))
    assert one.at(0.0, [0.0, np.nan, 0.0]) == dropped('swing', 'nan')
    assert len(one.told) == 1


# The way to a later first point


def test_a_first_point_that_the_joints_cannot_reach_in_time_is_refused():
    """At 0.01 s and 2 rad away: the joint would need 200 rad/s."""
    one = following([0.01, 1.0], [[2.0, 0.0, 0.0]] * 2)
    assert one.at(0.0) == dropped('turn', '2.000')
    assert one.at(0.02) == dropped('turn', '2.000')


@pytest.mark.parametrize(
    ('left', 'first', 'expected'),
    [
        (1.0, [1.99, 0.49, 0.09], TORQUE),  # 2 rad/s, 0.5 rad/s, and the tolerance where no speed is known
        (1.0, [2.01, 0.0, 0.0], dropped('turn', '2.010')),
        (1.0, [0.0, 0.51, 0.0], dropped('swing', '0.510')),
        (1.0, [0.0, 0.0, 0.11], dropped('slide', '0.110')),
        (0.5, [0.99, 0.24, 0.0], TORQUE),
        (0.5, [0.0, -0.26, 0.0], dropped('swing', '0.260')),
        (0.01, [0.09, 0.09, 0.09], TORQUE),  # within the tolerance, whatever the time
        (0.01, [0.0, 0.11, 0.0], dropped('swing', '0.110')),
    ],
)
@pytest.mark.parametrize('met', [0.0, 0.75])
def test_the_first_point_may_be_as_far_as_the_velocity_limits_reach(met, left, first, expected):
    """In the time that is left when the arm is met, not in all the time since the start."""
    one = following([met + left, met + left + 1.0], [first, first])
    assert one.at(met) == expected


@pytest.mark.parametrize('met', [0.0, 0.4, 0.99])
def test_the_approach_begins_at_the_measured_state(met):
    q, qd, first, speed = [0.02, -0.03, 0.04], [0.5, -0.2, 0.1], [0.05, 0.03, 0.04], [0.3, 0.2, 0.1]
    one = following([1.0, 2.0], [first, [1.0] * 3], [speed, ZERO])
    curve = CubicHermiteSpline([met, 1.0], [q, first], [qd, speed])
    assert one.at(met, q, qd) is TORQUE
    assert one.desired[:2] == pytest.approx(np.array([q, qd]), abs=1e-12)
    later = (met + 1.0) / 2.0
    assert one.at(later, [9.0] * 3) is TORQUE
    wanted = np.array([curve(later), curve(later, 1), curve(later, 2)])
    assert one.desired == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert one.at(1.0) is TORQUE and one.desired[:2] == pytest.approx(np.array([first, speed]), abs=1e-6)
    assert one.at(2.0) is TORQUE and one.desired[0] == pytest.approx([1.0] * 3, abs=1e-6)


def test_a_state_from_before_the_way_began_is_led_from_its_beginning():
    one = following([1.0, 2.0], [ZERO, ZERO])
    assert one.at(0.5, [0.05] * 3) is TORQUE
    assert one.at(0.4, [0.05] * 3) is TORQUE
    assert one.desired[0] == pytest.approx([0.05] * 3)


@pytest.mark.parametrize('points', [1, 2])
def test_measured_at_the_time_of_its_first_point_there_is_no_approach(points):
    """Nor is a rounding error of the time one, over which the acceleration would be 1e30."""
    first = 0.3
    one = following([first, 1.0][:points], [[0.05] * 3, [0.75] * 3][:points])
    assert one.at(first) is TORQUE
    assert one.desired[0] == pytest.approx([0.05] * 3, abs=1e-12)
    assert one.desired[1] == pytest.approx([1.0] * 3 if points == 2 else ZERO)
    assert one.desired[2].tolist() == ZERO
    for later in (np.nextafter(first, 1.0), first + 0.9e-9):
        one = following([later, 1.0][:points], [[0.05] * 3, [0.75] * 3][:points])
        assert one.at(first) is TORQUE
        assert one.desired[0] == pytest.approx([0.05] * 3, abs=1e-12) and one.desired[2].tolist() == ZERO


def test_after_its_time_a_single_point_is_held():
    one = following([0.5], [[0.05] * 3])
    assert one.at(0.7) is TORQUE and one.desired.tolist() == [[0.05] * 3, ZERO, ZERO]
    one = following([0.5], [[0.5] * 3])
    assert one.at(0.7) == dropped('turn', '0.500')


def test_velocity_limits_are_those_of_the_robot():
    speed = AUBO.limits.velocity[0]
    for distance, outcome in ((0.09, Outcome.TORQUE), (0.9 * speed, Outcome.TORQUE), (1.1 * speed, Outcome.IDLE)):
        one = Following(robot=AUBO)
        one.receive([1.0], [[distance, 0, 0, 0, 0, 0]])
        assert one.at(0.0, np.zeros(6), np.zeros(6)).outcome is outcome


@pytest.mark.parametrize('speed', [np.nan, np.inf])
def test_an_unknown_or_infinite_velocity_limit_reaches_nothing(speed):
    limits = ROBOT.limits._replace(velocity=np.full(3, speed))
    arm = SimpleNamespace(nv=3, joint_names=ROBOT.joint_names, limits=limits, continuous_joints=ROBOT.continuous_joints)
    for distance, found in ((0.09, TORQUE), (0.11, dropped('turn', '0.110'))):
        one = Following(robot=arm)
        one.receive([1.0], [[distance, 0.0, 0.0]])
        assert one.at(0.0) == found


# Continuous joints


def test_a_continuous_joint_is_compared_modulo_a_turn():
    one = following([0.0, 1.0], [[-3.141, 0.0, 0.0]] * 2)
    assert one.at(0.0, [3.141, 0.0, 0.0]) is TORQUE
    one = following([0.0, 1.0], [[0.0, -3.141, 0.0]] * 2)
    assert one.at(0.0, [0.0, 3.141, 0.0]) == dropped('swing', '6.282')
    one = following([0.0, 1.0], [[100 * 2 * np.pi, 0.0, 0.0]] * 2)
    assert one.at(0.0, [0.11, 0.0, 0.0]) == dropped('turn', '0.110')


def test_the_approach_to_the_first_point_makes_no_turn():
    """From 3.141 to -3.141: a thousandth of a radian onwards."""
    one = following([1.0, 2.0], [[-3.141, 0.05, 0.0]] * 2)
    q, turn = [3.141, 0.0, 0.0], 2.0 * np.pi
    assert one.at(0.5, q) is TORQUE
    assert one.desired[0] == pytest.approx([3.141 - turn, 0.0, 0.0], abs=1e-12)
    assert one.desired[1] == pytest.approx([(turn - 6.282) / 0.5, 0.1, 0.0], abs=1e-9)
    assert one.at(0.75, q) is TORQUE
    assert one.desired[0] == pytest.approx([-np.pi, 0.025, 0.0], abs=1e-9)


# Silences


def test_after_a_silence_it_continues_only_near_the_arm():
    one = following(*line(0.0, 2.0))
    assert one.at(0.0) is TORQUE
    assert one.at(0.5, [0.95] * 3, resumed=True) is TORQUE
    assert one.desired[0] == pytest.approx([1.0] * 3)
    assert one.at(0.6, ZERO) is TORQUE
    assert one.at(0.7, [1.4, 1.4, 0.0], resumed=True) == dropped('slide', '1.400')
    assert one.told == [dropped('slide', '1.400').reason]
    assert one.at(0.8, [1.6] * 3) == dropped('slide', '1.400')


def test_after_its_end_too():
    one = following(*line(0.0, 2.0))
    assert one.at(0.0) is TORQUE
    assert one.at(50.0, [2.05] * 3, resumed=True) is TORQUE
    assert one.at(60.0, [2.0, 2.5, 2.0], resumed=True) == dropped('swing', '0.500')


def test_on_the_way_to_the_first_point_the_way_counts_and_not_the_speed():
    """0.4 rad away from the way is too far, though the joint could still reach the first point."""
    one = following([1.0, 2.0], [[0.4, 0.0, 0.0]] * 2)
    assert one.at(0.0) is TORQUE
    assert one.at(0.5, [0.2, 0.0, 0.0], resumed=True) is TORQUE
    assert one.at(0.6, [0.24 - 0.4, 0.0, 0.0], resumed=True) == dropped('turn', '0.400')


def test_a_silence_before_it_begins_changes_nothing():
    one = following(*line(0.0, 2.0), start=1.0)
    assert one.at(0.5, resumed=True) is NOT_BEGUN
    assert one.at(1.0, resumed=True) is TORQUE


def test_a_continuous_joint_is_where_it_should_be_modulo_a_turn_after_a_silence():
    one = following([0.0, 1.0], [ZERO] * 2)
    assert one.at(0.0) is TORQUE
    assert one.at(0.5, [2.0 * np.pi - 0.05, 0.0, 0.0], resumed=True) is TORQUE


# Clocks that go back


def test_a_clock_that_is_set_back_drops_what_was_followed():
    """Received before or after the time to which the clock goes back, begun or not: the arm is elsewhere now."""
    for received, start in ((0.0, 0.0), (0.0, 6.0), (0.0, 20.0), (8.0, 20.0)):
        one = following(*line(0.0, 0.05), start=start, now=received)
        one.at(10.0)
        one.follower.set_back(START + 5 * SECOND)
        for seconds in (5.0, 6.5, 20.0):
            assert one.at(seconds, resumed=seconds == 5.0) is CLOCK_SET_BACK
        assert one.told == ['trajectory dropped: the clock was set back'] == [CLOCK_SET_BACK.reason]
        assert CLOCK_SET_BACK.outcome is Outcome.IDLE


def test_what_was_received_on_the_clock_as_it_is_now_is_followed():
    one = following(*line(0.0, 0.05))
    assert one.at(10.0) is TORQUE
    one.receive(*line(0.0, 0.05), start=5.5, now=5.0)  # no state has come between
    one.follower.set_back(START + 5 * SECOND)
    assert one.at(5.2, resumed=True) is NOT_BEGUN and one.at(5.5) is TORQUE
    assert one.told == [CLOCK_SET_BACK.reason]  # of the one before


def test_a_trajectory_received_later_than_now_is_dropped_though_it_was_never_followed():
    one = following(*line(0.0, 0.05), start=9.0, now=5.000000001)
    one.follower.set_back(START + 5 * SECOND)
    assert one.at(9.0) is CLOCK_SET_BACK and len(one.told) == 1


def test_what_was_dropped_stays_so_for_its_first_reason():
    one = following(*line(0.0, 1.0))
    assert one.at(0.0, [0.0, 1.0, 0.0]) == dropped('swing', '1.000')
    one.follower.set_back(START - SECOND)
    assert one.at(0.0) == dropped('swing', '1.000') and len(one.told) == 1
    one.follower.stop()
    one.follower.set_back(START - SECOND)
    assert one.at(0.0) is NO_TRAJECTORY


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


def test_warm_up_samples_once_and_leaves_the_desired_motion_alone(sampled):
    one = Following()
    one.follower.warm_up()
    assert len(sampled) == 1 and 0.0 < sampled[0] < 1.0
    assert np.isnan(one.desired).all() and one.at(0.0) is NO_TRAJECTORY


@pytest.mark.parametrize('first', [0.0, 1.0])
def test_a_long_trajectory_costs_no_more_at_its_first_state_than_a_short_one(first, sampled, monkeypatch):
    """What takes long is prepared when it is received: here nothing more is prepared, computed or kept of 20,000."""
    made, used = [], {}
    prepare = Trajectory.__init__

    def counted(self, *arguments):
        made.append(len(arguments[0]))
        prepare(self, *arguments)

    monkeypatch.setattr(Trajectory, '__init__', counted)
    for points in (2, 20_000):
        one = following(first + 0.001 * np.arange(points), np.full((points, 3), 0.01), np.zeros((points, 3)))
        one.at(-1.0)
        made.clear()
        tracemalloc.start()
        assert one.at(0.0) is TORQUE
        used[points] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
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
