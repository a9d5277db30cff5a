"""Where a trajectory may begin: the start tolerance, and the approach to a first point that is later than now."""

from types import SimpleNamespace

from support.control.followed_trajectories import ROBOT, ZERO, Following, dropped, following, line
from support.robots.small_robots import AUBO

import numpy as np
import pytest
from scipy.interpolate import BPoly

from robot_dynamics_ros.control.law import TORQUE, Outcome
from robot_dynamics_ros.control.trajectories.lead import MIN_LEAD
from robot_dynamics_ros.control.trajectories.point_stream import MARGIN, USUAL_PERIOD
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory

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
    one = Following(tolerance=0.125)
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
    one = Following(tolerance=0.0)
    one.receive(*line(0.0, 1.0))
    assert one.at(0.0, [0.0, 0.0, np.nan]) == dropped('slide', 'nan')


@pytest.mark.parametrize('first', [0.0, 0.5])
def test_a_distance_that_is_no_number_is_too_far(first):
    one = following([first, 2.0], np.zeros((2, 3)))
    assert one.at(0.0, [0.0, np.nan, 0.0]) == dropped('swing', 'nan')
    assert len(one.told) == 1


def test_all_joints_are_near_the_arm_or_all_are_near_the_motion_that_is_replaced():
    new = [0.62, 0.32, 0.4]
    for q, expected in (
        ([0.55, 0.2, 0.4], dropped('swing', '0.120')),  # the first joint is near the arm, the second the motion
        ([0.55, 0.3, 0.4], TORQUE),
    ):
        one = following(*line(0.0, 2.0))
        assert one.at(0.0) is TORQUE
        one.receive([0.0, 1.0], [new] * 2, start=0.2)
        assert one.at(0.2, q) == expected


# The way to a later first point


def test_a_first_point_that_the_joints_cannot_reach_in_time_is_refused():
    """At 0.01 s and 2 rad away: the joint would need 200 rad/s."""
    one = following([0.01, 1.0], [[2.0, 0.0, 0.0]] * 2, robot=ROBOT)
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
    one = following([met + left, met + left + 1.0], [first, first], robot=ROBOT)
    assert one.at(met) == expected


@pytest.mark.parametrize('met', [0.0, 0.4, 0.69])
def test_the_way_to_a_later_first_point_begins_at_the_measured_state(met):
    q, qd, first, speed = [0.02, -0.03, 0.04], [0.5, -0.2, 0.1], [0.05, 0.03, 0.04], [0.3, 0.2, 0.1]
    one = following([1.0, 2.0], [first, [1.0] * 3], [speed, ZERO])
    assert one.at(met, q, qd) is TORQUE
    assert one.desired == pytest.approx(np.array([q, qd, ZERO]), abs=1e-12)
    then = Trajectory([1.0, 2.0], [first, [1.0] * 3], [speed, ZERO]), np.zeros((3, 3))
    then[0].sample(1.0, *then[1])
    curve = BPoly.from_derivatives([met, 1.0], np.swapaxes([[q, qd, ZERO], then[1]], 1, 1))
    later = (met + 1.0) / 2.0
    assert one.at(later, [9.0] * 3) is TORQUE
    wanted = np.array([curve(later), curve(later, 1), curve(later, 2)])
    assert one.desired == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert one.at(1.0) is TORQUE and one.desired == pytest.approx(then[1], abs=1e-6)
    assert one.at(2.0) is TORQUE and one.desired[0] == pytest.approx([1.0] * 3, abs=1e-6)


@pytest.mark.parametrize(
    ('qd', 'begins'),
    [
        (ZERO, ZERO),
        ([0.2, 0.05, 0.1], [0.2, 0.05, 0.1]),  # on their way to the velocity of the point
        ([0.5, -0.2, 0.0], [0.3, 0.0, 0.0]),  # faster, or in the other direction
    ],
)
@pytest.mark.parametrize('left', [0.29, 0.01])
def test_a_short_way_of_an_arm_that_another_node_holds_begins_at_the_trajectory(left, qd, begins):
    """The measured position lacks the position error with which that node carries the arm."""
    first, speed = np.array([0.05, 0.03, 0.04]), np.array([0.3, 0.2, 0.1])
    one = following([1.0, 2.0], [first, first + 0.25], [speed, speed])
    assert one.at(1.0 - left, [0.02, -0.03, 0.04], qd) is TORQUE
    away = max(left, MIN_LEAD)
    place = first - 0.5 * away * (begins + speed)
    assert one.desired == pytest.approx(np.array([place, begins, ZERO]), abs=1e-12)
    assert one.at(1.0 - left + away) is TORQUE
    then = np.zeros((3, 3))
    Trajectory([1.0, 2.0], [first, first + 0.25], [speed, speed]).sample(1.0 - left + away, *then)
    assert one.desired == pytest.approx(then, abs=1e-9)


def resting(q, first, way, held=None):
    """Return a follower at rest at 0, of an arm at q, after a trajectory that leads on from ``first`` (n) began."""
    one = following([0.0, 1.0], [ZERO, ZERO], [ZERO, ZERO])
    one.follower.start.held = held
    for t in (0.0, 1.5, 2.99):
        assert one.at(t) is TORQUE
    one.receive([way, way + 1.0], [first, [0.2] * 3], [ZERO, ZERO], start=3.0)
    assert one.at(3.0, q, [0.01, 0.0, 0.0]) is TORQUE
    return one


@pytest.mark.parametrize('q', [[0.3, 0.3, -0.3], [0.09, 0.0, 0.0], ZERO])
@pytest.mark.parametrize('way', [0.0, 0.1, 0.29])
def test_after_a_rest_a_short_way_begins_at_the_trajectory_where_the_arm_is_near_that(q, way):
    """That node may have been activated again: it holds the arm, and not the last point."""
    first = np.add(q, [0.05, 0.0, 0.0])
    assert resting(q, first, way).desired[:2] == pytest.approx(np.array([first, ZERO]), abs=1e-12)


@pytest.mark.parametrize(
    ('q', 'first', 'begins'),
    [
        ([0.11, 0.0, 0.0], [0.2, 0.0, 0.0], 'measured'),  # further from the last point than a position error
        ([0.0, 0.0, -0.3], [0.0, 0.0, -0.3], 'measured'),
        ([0.09, 0.0, 0.0], [0.1, 0.0, 0.0], 'measured'),  # held at the next one
        ([0.09, 0.0, 0.0], [0.02, 0.0, 0.0], 'at rest'),
        ([0.09, 0.0, 0.0], ZERO, 'at rest'),
        ([0.02, 0.0, 0.0], [-0.05, 0.05, 0.0], 'at rest'),
    ],
)
def test_after_a_rest_a_longer_way_begins_there_only_where_the_arm_is_held_there(q, first, begins):
    wanted = [q, [0.01, 0.0, 0.0], ZERO] if begins == 'measured' else [ZERO] * 3
    assert resting(q, first, 0.5).desired == pytest.approx(np.array(wanted), abs=1e-12)


@pytest.mark.parametrize('way', [0.1, 0.5])
def test_after_a_rest_a_node_that_holds_the_arm_itself_begins_there(way):
    one = resting([0.2, 0.0, 0.0], [0.2, 0.0, 0.0], way, held=lambda state: None)
    assert one.desired == pytest.approx(np.zeros((3, 3)), abs=1e-12)


def test_a_trajectory_that_is_refused_after_a_rest_elsewhere_leaves_the_node_at_rest():
    """It runs away faster than the arm may."""
    one = Following(robot=ROBOT, acceleration_limit=1.0, tolerance=0.5)
    one.receive([0.0, 1.0], [ZERO, ZERO], [ZERO, ZERO])
    assert one.at(0.0) is TORQUE and one.at(2.0) is TORQUE
    one.receive([0.3, 9.3], [[0.2] * 3, [0.2, 4.7, 0.2]], start=3.0)
    assert one.at(3.0, [0.2, 0.2, 0.2]) is TORQUE and one.desired.tolist() == [ZERO] * 3
    (reason,) = one.told
    assert 'does not reach it in time' in reason and reason.endswith('the one before goes on')


def test_a_point_that_continues_a_stream_begins_where_the_one_before_rests():
    """The motion is that of a stream, however far behind the arm is."""
    one = following([0.1], [[0.05] * 3], [[0.001] * 3])
    for t in (0.0, 0.2):
        assert one.at(t) is TORQUE
    one.receive([0.1], [[0.08] * 3], [ZERO], start=0.2)
    assert one.at(0.2, [-0.15] * 3) is TORQUE
    assert one.desired[0] == pytest.approx([0.05] * 3, abs=1e-3)


def test_a_stream_of_a_moving_arm_is_led_by_no_acceleration_before_it_has_a_velocity_of_its_own():
    """Its first differences are bounded by the acceleration limits, as if it had been at rest before."""
    one, speed = Following(acceleration_limit=4.0, tolerance=0.5), np.array([1.0, -0.5, 0.0])
    velocities = []
    for k in range(60):
        t = 0.01 * k
        if k % 2 == 0:
            one.receive([0.0], [t * speed], start=t, sent=t)
        assert one.at(t + 0.004, (t - 0.1) * speed, speed) is TORQUE
        assert np.abs(one.desired[2]).max() < 1.0
        velocities.append(one.desired[1].copy())
    assert velocities[0].tolist() == ZERO and velocities[-1] == pytest.approx(speed, rel=0.06)


def test_where_the_arm_is_held_is_the_reference_and_not_where_it_is_measured():
    one = following([0.0, 1.0], [[0.02, 0.0, 0.0]] * 2, [ZERO] * 2)
    one.follower.start.held = lambda state: np.array([0.05, 0.0, 0.0])
    assert one.at(0.0, qd=[0.3, 0.0, 0.0]) is TORQUE and one.desired[:, 0].tolist() == [0.05, 0.0, 0.0]
    assert one.at(MIN_LEAD) is TORQUE and one.desired[:, 0].tolist() == [0.02, 0.0, 0.0]


def test_the_measured_state_is_the_reference_where_the_arm_is_held_nowhere():
    one = following([0.0, 1.0], [[0.02, 0.0, 0.0]] * 2, [ZERO] * 2)
    one.follower.start.held = lambda state: None
    assert one.at(0.0, [0.01, 0.0, 0.0], [0.3, 0.0, 0.0]) is TORQUE and one.desired[:, 0].tolist() == [0.01, 0.3, 0.0]


def test_a_trajectory_that_begins_in_the_past_away_from_the_reference_is_joined_without_a_jump():
    """One that replaces it begins 0.05 rad off, 0.3 s ago, with another velocity."""
    one = following([0.0, 2.0], [ZERO, [1.0] * 3], [ZERO] * 2, acceleration_limit=5.0)
    assert one.at(0.0) is TORQUE and one.at(0.5) is TORQUE
    before = one.desired.copy()
    one.receive([0.0, 2.0], [[0.1] * 3, [0.5] * 3], [ZERO] * 2, start=0.2, now=0.5)
    assert one.at(0.5, before[0]) is TORQUE and one.desired == pytest.approx(before, abs=1e-12)
    motion = []
    for k in range(1, 400):
        assert one.at(0.5 + 0.002 * k) is TORQUE
        motion.append(one.desired.copy())
    motion = np.array(motion)
    assert np.abs(motion[:, 2]).max() < 5.01
    assert np.abs(np.diff(motion[:, 0], axis=0) / 0.002 - 0.5 * (motion[1:, 1] + motion[:-1, 1])).max() < 1e-3
    wanted = np.zeros((3, 3))
    Trajectory([0.0, 2.0], [[0.1] * 3, [0.5] * 3], [ZERO] * 2).sample(0.5 + 0.798 - 0.2, *wanted)
    assert one.desired == pytest.approx(wanted, abs=1e-9)


def test_a_lead_that_the_limits_make_longer_is_reported():
    one = following([0.02], [[0.03, 0.0, 0.0]], acceleration_limit=4.0, robot=ROBOT)
    assert one.at(0.0) is TORQUE and one.follower.joined_late() == ''  # begun on the point
    one = following([0.02], [[0.03, 0.0, 0.0]], acceleration_limit=4.0, robot=ROBOT)
    one.follower.start.held = lambda state: np.zeros(3)
    assert one.at(0.0) is TORQUE
    said = one.follower.joined_late()
    # a quintic from rest to rest: 10 / sqrt(3) distance / duration^2 is its largest acceleration
    least = np.sqrt(10.0 / np.sqrt(3.0) * 0.03 / 4.0)
    later, asked = float(said.split()[0]), MIN_LEAD + MARGIN + USUAL_PERIOD
    assert least < later + asked < 1.06 * least and "'turn'" in said and '4 rad/s^2' in said
    assert one.at(3.0) is TORQUE and one.desired[0, 0] == 0.03 and one.follower.joined_late() == ''


def test_one_that_can_not_be_joined_within_a_second_is_dropped_by_name():
    """It runs away at the velocity limit, from an arm at rest."""
    one = following([0.0, 9.0], [ZERO, [0.0, 4.5, 0.0]], robot=ROBOT, acceleration_limit=1.0)
    one.follower.start.held = lambda state: np.zeros(3)
    result = one.at(0.5, [0.0, 0.2, 0.0])
    assert result.outcome is Outcome.IDLE and "joint 'swing' does not reach it in time" in result.reason
    assert one.told == [result.reason] and one.at(0.6) is result


def test_a_state_from_before_the_way_began_is_led_from_its_beginning():
    one = following([1.0, 2.0], [ZERO, ZERO])
    assert one.at(0.5, [0.05] * 3) is TORQUE
    assert one.at(0.4, [0.05] * 3) is TORQUE
    assert one.desired[0] == pytest.approx([0.05] * 3)


@pytest.mark.parametrize('points', [1, 2])
def test_measured_at_the_time_of_its_first_point_there_is_no_approach(points):
    """Nor is a rounding error of the time one, over which the acceleration would be 1e30."""
    for first in (0.3, np.nextafter(0.3, 1.0), 0.3 + 0.9e-9):
        one = following([first, 1.0][:points], [[0.05] * 3, [0.75] * 3][:points])
        assert one.at(0.3) is TORQUE
        assert one.desired[0] == pytest.approx([0.05] * 3, abs=0.03) and np.abs(one.desired[2]).max() < 1e3


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
    assert one.desired[1:].tolist() == [ZERO, ZERO]
    assert one.at(0.75, q) is TORQUE
    assert one.desired[0] == pytest.approx([-np.pi, 0.025, 0.0], abs=1e-9)
