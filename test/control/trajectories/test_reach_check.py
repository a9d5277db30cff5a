"""Motions of a palletizer: those through a singular position, or out of reach, are refused with time and loop."""

import re

from support.control.followed_trajectories import Following
from support.nodes.messages import trajectory
from support.robots.mechanisms import MECHANISMS, PALLETIZER_ACTUATED, actuated

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.control.law import TORQUE
from robot_dynamics_ros.control.trajectories.reach_check import WayCheck, check_reach
from robot_dynamics_ros.control.trajectories.trajectory_follower import NO_TRAJECTORY
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of

ROBOT = actuated(MECHANISMS['palletizer'], PALLETIZER_ACTUATED)
ARM = DrivenRobot(ROBOT.with_loops([]), ClosedMechanism(ROBOT, ROBOT.loops.actuated))
HOME = ARM.following.home


def way(*positions):
    """Return a trajectory through positions, 2 s from one to the next, at rest in each."""
    points = [(2.0 * k, np.add(HOME, it), np.zeros(4), np.zeros(4)) for k, it in enumerate(positions)]
    return trajectory_of(ARM.joint_names, trajectory(ARM.joint_names, 0, *points))


def test_a_trajectory_within_reach_is_accepted():
    check_reach(way((0, 0, 0, 0), (1.0, -0.4, 0.3, 3.0), (-1.0, 0.3, -0.3, -3.0)), WayCheck.of(ARM))
    check_reach(way((0.1, 0, 0, 0)), WayCheck.of(ARM))


def test_one_through_a_singular_position_is_refused_where_it_comes_near():
    """Lever and upper arm are in line where their angles are equal, 1.6 rad from home."""
    with pytest.raises(ArgumentError, match=r"^trajectory: 3\.\d* s: loop '.*': .*singular"):
        check_reach(way((0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 2.0, 0)), WayCheck.of(ARM))


def test_a_way_back_does_not_hide_it():
    with pytest.raises(ArgumentError, match='singular'):
        check_reach(way((0, 0, 0, 0), (0, 0, 2.0, 0), (0, 0, 0, 0)), WayCheck.of(ARM))


@pytest.mark.parametrize('pause', [1.0, 600.0])
def test_a_short_segment_of_a_long_trajectory_does_not_hide_it(pause):
    """Its ends are near each other, and the lever turns 2 rad away between them."""
    still, there, back = np.zeros(4), np.array([0.0, 0.0, 4.0, 0.0]), np.array([0.0, 0.0, -4.0, 0.0])
    points = [(0.0, HOME, still), (1.0, HOME, there), (3.0, HOME, back), (4.0, HOME, still), (4.0 + pause, HOME, still)]
    with pytest.raises(ArgumentError, match=r'^trajectory: 1\.\d* s: .*singular'):
        check_reach(trajectory_of(ARM.joint_names, trajectory(ARM.joint_names, 0, *points)), WayCheck.of(ARM))


def test_from_near_a_singular_position_it_may_lead_away_but_not_to_another_one():
    """As near, but for an error by which the arm is held; from where it is far, the distance is that of any other."""
    arm = DrivenRobot(ROBOT.with_loops([]), ClosedMechanism(ROBOT, ROBOT.loops.actuated))
    *_, arm.following.measured = arm.following.way(arm.following.at_home, np.add(HOME, (0.0, 0.0, 1.35, 0.0)))
    assert 0.05 < arm.following.measured.distance < 0.08
    for first in (1.35, 1.353, 1.347):
        check_reach(way((0, 0, first, 0), (0, 0, 0, 0)), WayCheck.of(arm))
    with pytest.raises(ArgumentError, match=r'^trajectory: 0\.000 s: .*singular'):
        check_reach(way((0, 0, 1.39, 0), (0, 0, 0, 0)), WayCheck.of(arm))
    with pytest.raises(ArgumentError, match=r'^trajectory: 3\.\d* s: .*singular'):
        check_reach(way((0, 0, 1.35, 0), (0, 0, 0, 0), (0, 0, 1.35, 0)), WayCheck.of(arm))


def test_a_joint_in_no_loop_may_move_far():
    check_reach(way((0, 0, 0, 0), (1e5, 0, 0, 0)), WayCheck.of(ARM))


def test_a_robot_without_loops_has_no_such_limit():
    check_reach(way((0, 0, 0, 0), (0, 0, 9.0, 0)), WayCheck.of(Robot.named('aubo_i5')))


# Ways that are one polynomial


def lever(begin, end, velocity=0.0):
    """Return the cubic (6, 4) of the lever from ``begin`` to rest at ``end`` (rad from home) in 1 s."""
    found = np.zeros((6, 4))
    found[0] = np.add(HOME, (0.0, 0.0, begin, 0.0))
    found[1:4, 2] = velocity, 3.0 * (end - begin) - 2.0 * velocity, velocity - 2.0 * (end - begin)
    return found


def test_a_way_within_reach_has_no_fault():
    ways = WayCheck.of(ARM)
    for coefficients in (lever(0.0, 0.0, 8.0), lever(0.0, 1.2), lever(0.0, -1.0)):
        assert ways.fault(coefficients, 1.0) is None
    assert WayCheck.of(Robot.named('aubo_i5')) is None


def test_one_to_a_singular_position_and_back_is_told_with_time_loop_and_distance():
    """It turns at 4/27 of its velocity times 1 s."""
    told = r"loop 'fore ties': the mechanism is about 0\.0[78]\d* rad from a singular position, less than 0\.08, with "
    for velocity in (9.0, 10.4):
        fault = WayCheck.of(ARM).fault(lever(0.0, 0.0, velocity), 1.0)
        assert 0.0 < fault.time <= 0.5 and re.match(told, fault.reason), fault
    # at once, and far beyond
    assert 'singular position' in WayCheck.of(ARM).fault(lever(0.0, 0.0, 200.0), 1.0).reason


def test_one_that_begins_or_ends_near_a_singular_position_may_be_as_near():
    *_, near = ARM.following.way(ARM.following.at_home, lever(1.35, 0.0)[0])
    assert 0.05 < near.distance < 0.08
    ways = WayCheck.of(ARM)
    for begin, end in ((1.35, 0.0), (0.0, 1.35), (1.35, 1.35)):
        assert ways.fault(lever(begin, end), 1.0, near) is None
    assert ways.fault(lever(0.0, 1.35), 1.0) is None
    assert ways.fault(lever(1.35, 1.35, 0.2), 1.0, near).time < 0.5


# In the follower


def follower():
    """Return a follower of the palletizer that holds it at home."""
    one = Following(robot=ARM, tolerance=0.0, acceleration_limit=20.0)
    assert one.at(-1.0, HOME, np.zeros(4)) is NO_TRAJECTORY
    return one


def lever_at(*positions):
    """Return positions and velocities (m, 4) of points (position in rad from home, velocity in rad/s) of the lever."""
    positions, velocities = np.zeros((2, len(positions), 4)) + np.transpose(positions)[:, :, None] * [0, 0, 1, 0]
    return np.add(HOME, positions), velocities


def test_a_last_velocity_towards_a_singular_position_is_refused():
    one = follower()
    refused = (
        r'^trajectory: it comes to rest after its last point, where its velocity is not 0: 0\.\d\d\d s later: loop '
        r"'fore ties': the mechanism is about 0\.0[78]\d* rad from a singular position, less than 0\.08, with 'column"
    )
    for times in ([0.0, 2.0], [2.0]):
        points = lever_at((0.0, 0.0), (1.2, 4.0))
        with pytest.raises(ArgumentError, match=refused):
            one.receive(times, *(it[-len(times) :] for it in points))
        assert one.at(0.0, HOME, np.zeros(4)) is NO_TRAJECTORY
    one.receive([0.0, 2.0], *lever_at((0.0, 0.0), (1.2, 1.0)))
    one.receive([0.0, 2.0], *lever_at((0.0, 0.0), (1.2, -4.0)))


def test_it_comes_to_rest_from_where_the_trajectory_led():
    """The straight way there from where the arm was measured may lead elsewhere."""
    one, ends = follower(), []
    one.follower.start.ways.fault = lambda coefficients, duration, begin=None: ends.append(begin)
    *_, reached = ARM.following.way(ARM.following.at_home, lever(0.5, 0.0)[0])
    one.receive([0.0, 2.0], *lever_at((0.0, 0.0), (0.5, 1.0)), reached=reached)
    assert ends == [reached]


def test_a_way_to_a_trajectory_near_a_singular_position_is_refused_and_the_one_before_goes_on():
    one = follower()
    # it turns 1.2 rad from home
    one.receive([0.0, 2.0, 3.0, 5.0], *lever_at((0.0, 0.0), (1.1, 3.0), (1.1, -1.0), (0.0, 0.0)))
    assert one.at(0.0, HOME, np.zeros(4)) is TORQUE and one.at(2.0, HOME, np.zeros(4)) is TORQUE
    before = one.follower.plan
    one.receive([2.0], *lever_at((0.0, 0.0)), start=2.0)
    assert one.at(2.001, HOME, np.zeros(4)) is TORQUE and one.follower.plan is before
    assert one.told == [one.follower.unreached]
    assert re.match(
        r"trajectory refused: 0\.\d\d\d s on the way to it: loop 'fore ties': the mechanism is about 0\.0[78]\d* rad "
        r'from a singular position, less than 0\.08, with .*; begin at the reference in force, or with less velocity; '
        r'the one before goes on$',
        one.follower.unreached,
    )
    assert one.at(2.2, HOME, np.zeros(4)) is TORQUE and one.follower.plan is before
    one.receive([1.0], *lever_at((0.0, 0.0)), start=4.0)
    assert one.at(4.0, HOME, np.zeros(4)) is TORQUE and one.follower.plan is not before


def test_without_one_before_it_is_dropped():
    one = follower()
    one.receive([0.1], *lever_at((1.2, -4.0)))  # its run-up begins further away
    found = one.at(0.0, HOME, np.zeros(4))
    assert found.reason.startswith('trajectory dropped: 0.') and ' s on the way to it: loop ' in found.reason
    assert one.told == [found.reason]
