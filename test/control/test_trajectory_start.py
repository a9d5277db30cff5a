"""Where a trajectory may begin: the start tolerance, and the approach to a first point that is later than now."""

from types import SimpleNamespace

from support.followed_trajectories import ROBOT, ZERO, Following, dropped, following, line
from support.small_robots import AUBO

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from robot_dynamics_ros.control.law import TORQUE, Outcome

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
