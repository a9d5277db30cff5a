"""Actuated joints of mechanisms: which of their turns count, and how far they move it."""

from contextlib import nullcontext, suppress
from dataclasses import replace

from support.robots.driven_mechanisms import closed, driven_robot, followed, seen
from support.robots.mechanisms import (
    ARMS,
    BASE,
    IN_PLANE,
    MECHANISMS,
    Mechanism,
    X,
    actuated,
    box,
    geared_four_bar,
    moving,
    pose,
    rod,
)

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, LoopClosure, Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.actuated_joints import is_the_same_after_a_turn, unit_before_gears
from robot_dynamics_ros.errors import ArgumentError, LoopError

CRANK = 'four-bar, revolute'
GEARED = pytest.mark.parametrize('ratios', [(0.25,), (-3.0,), (0.5, 0.5), (0.01,)])


def last_of(ratios) -> str:
    """Return the motor of a geared four-bar."""
    return f'gear {len(ratios) - 1} joint'


def geared(ratios) -> DrivenRobot:
    return driven_robot(actuated(geared_four_bar(*ratios), (last_of(ratios),)))


def sprung(joint: str) -> Robot:
    """Return the four-bar with a spring at a joint."""
    bars = MECHANISMS[CRANK]
    joints = tuple(replace(it, stiffness=5.0) if it.name == joint else it for it in bars.joints)
    return actuated(replace(bars, joints=joints), ('crank joint',))


def screw() -> Robot:
    """Return a nut on a screw with a thread of 0.05 m/rad, whose rod turns an arm about its end."""
    end = np.array([0.6 + 0.4 * np.cos(2.0), 0.4 * np.sin(2.0)])
    length, angle = np.hypot(*end), np.arctan2(end[1], end[0])
    part = box(0.3, (0.05, 0.05, 0.05))
    joints = (
        moving('screw', BASE, (0.0, 0.0, 0.0), part, X),
        replace(moving('nut', 'screw', (0.0, 0.0, 0.0), part, X, 'helical'), pitch=0.05),
        moving('rod', 'nut', (0.0, 0.0, 0.0), rod(length, 2.0)),
        moving('arm', BASE, (0.6, 0.0, 0.0), rod(0.4, 5.0)),
    )
    tip, pin = pose((length, 0.0, 0.0), IN_PLANE), pose((0.4, 0.0, 0.0), IN_PLANE)
    closure = LoopClosure('pin', 'rod', tip, 'arm', pin, 'revolute')
    return actuated(Mechanism('screw', joints, (closure,), np.array([0.0, 0.0, angle, 2.0]), 1), ('screw joint',))


def test_a_screw_is_where_its_turns_say():
    robot = driven_robot(screw())
    for k, angle in enumerate((0.5, 3.5, 5.5, -4.0)):
        robot.following.begin()
        followed(robot, [angle], float(k))
        nut = robot.mechanism.link_pose(robot.positions([angle]), 'nut')
        assert nut[0, 3] == pytest.approx(-0.05 * angle, abs=1e-9)


@GEARED
def test_a_motor_is_where_its_turns_say(ratios):
    """The outside calculation: the linkage without gears, whose crank is at their product times the motor's angle."""
    robot, linkage, ratio = geared(ratios), closed(CRANK), np.prod(ratios)
    assert not robot.continuous_joints.any() and not robot.following.alone.any()
    for k, crank in enumerate(np.arange(-9.0, 9.0, 0.7)):
        y = np.array([crank / ratio])
        robot.following.begin()
        followed(robot, y, float(k))
        expected = ratio * linkage.gravity_torque([crank])
        np.testing.assert_allclose(robot.gravity_torque(y), expected, rtol=1e-9, atol=1e-9 * abs(ratio))
        assert abs(robot.positions(y)[robot.robot.joint_names.index('crank joint')] - crank) < 1e-9


@pytest.mark.parametrize('ratios', [(0.25,), (-0.5, 0.5), (0.01,)])
def test_a_motor_before_a_gear_may_move_as_fast_as_what_it_drives(ratios):
    """The crank at 2 rad/s with 20 rad/s^2, from rest; refused where the motor jumps by 5 degrees, or a turn."""
    robot, ratio = geared(ratios), np.prod(ratios)
    y, rate = robot.following.home.copy(), 0.0
    for k in range(400):
        goal = 0.0 if k < 10 else 1.9 if k < 200 else -2.0
        rate += np.clip(goal - rate, -0.4, 0.4)
        y = y + 0.02 * rate / ratio
        followed(robot, y, 0.02 * k)
    for stop in range(100):
        # a stop from a speed that shows, which the next states confirm
        k, rate = k + 1, min(rate + 0.4, 0.0)
        y = y + 0.02 * rate / ratio
        with suppress(LoopError) if stop < 12 else nullcontext():
            followed(robot, y, 0.02 * k)
    jump = 2.0 * np.pi if abs(ratio) < 0.1 else np.radians(5.0)
    with pytest.raises(LoopError, match='has jumped'):
        seen(robot, y + jump, 0.02 * (k + 1))


@pytest.mark.parametrize('ratio', [0.25, 0.01, 0.002])
@pytest.mark.parametrize('speed', [0.5, 5.0])
def test_a_motor_that_is_reported_modulo_a_turn_gets_no_torque_beyond_it(ratio, speed):
    """Against the page: its turns count. It stood for a moment, and turns at ``speed`` (rad/s)."""
    robot = geared((ratio,))
    home = float(robot.following.home[0])
    begin, accepted = np.floor(home / (2.0 * np.pi)) * 2.0 * np.pi, 0
    for k in range(round((100.0 / speed + 1.0) * 125.0)):
        true = home + speed * max(0.0, 0.008 * k - 0.5)
        with suppress(LoopError):
            seen(robot, [begin + (true - begin) % (2.0 * np.pi)], 0.008 * k)
            assert abs(robot.following.measured.y[0] - true) < 1e-6
            accepted += 1
    assert accepted > 62


@pytest.mark.parametrize(
    ('robot', 'joint', 'expected'),
    [
        (actuated(MECHANISMS[CRANK], ('crank joint',)), 'crank joint', True),
        (actuated(MECHANISMS['delta of parallelograms'], ARMS), ARMS[1], True),
        (actuated(MECHANISMS['gears'], ('first joint', 'free end joint')), 'first joint', False),
        (actuated(MECHANISMS['gears'], ('first joint', 'free end joint')), 'free end joint', True),
        (actuated(geared_four_bar(0.5), ('gear 0 joint',)), 'gear 0 joint', False),
        (screw(), 'screw joint', False),
        (sprung('crank joint'), 'crank joint', False),
        (sprung('rocker joint'), 'crank joint', False),
    ],
)
def test_couplings_and_springs_tell_turns_apart(robot, joint, expected):
    assert is_the_same_after_a_turn(robot, joint) is expected


def test_the_spring_of_a_crank_is_wound_up():
    robot = driven_robot(sprung('crank joint'))
    home = robot.following.home
    for k, turn in enumerate((0.0, 2.0 * np.pi)):
        robot.following.begin()
        followed(robot, home + turn, float(k))
    wound = robot.gravity_torque(home + turn) - robot.gravity_torque(home)
    np.testing.assert_allclose(wound, 5.0 * 2.0 * np.pi, rtol=1e-9)


def test_a_follower_with_a_spring_is_compared_without_turns():
    robot, plain = driven_robot(sprung('rocker joint')), closed(CRANK)
    home = robot.following.home
    rocker = float(robot.positions(home)[2])
    seen(plain, home, 0.0, rocker=rocker + 2.0 * np.pi)
    seen(robot, home, 0.0, rocker=rocker)
    with pytest.raises(LoopError, match="joint 'rocker joint'"):
        seen(robot, home, 0.01, rocker=rocker + 2.0 * np.pi)


def test_turns_of_a_shaft_between_two_gears_count_where_it_is_measured():
    """Off by a turn, the crank is a quarter of a turn elsewhere; the crank itself may be measured modulo a turn."""
    robot = geared((0.25, 0.25))
    home = robot.following.home
    places = dict(zip(robot.robot.joint_names, robot.positions(home), strict=True))
    turn = 2.0 * np.pi

    def see(stamp, **off):
        measured = np.full(len(robot.followers), np.nan)
        for name, more in off.items():
            joint = f'{name.replace("_", " ")} joint'
            measured[robot.followers.index(joint)] = places[joint] + more
        robot.following.measure(home, measured, stamp)

    see(0, gear_0=0.0, crank=turn)
    with pytest.raises(LoopError, match="joint 'gear 0 joint' is at"):
        see(10_000_000, gear_0=turn)


def test_a_place_too_far_away_is_named():
    robot = driven_robot(sprung('crank joint'))
    with pytest.raises(ArgumentError, match=r"'crank joint' at 60 is too far .* \(near\)"):
        seen(robot, [60.0], 0.0)


@pytest.mark.parametrize(
    ('polynomials', 'expected'),
    [
        ([(0.0, 0.01)], 100.0),
        ([(0.3, -0.01)], 100.0),
        ([(0.0, 0.01), (0.0, 0.1)], 10.0),
        ([(0.0, 40.0)], 1.0),
        ([(0.0, 0.01, 0.2)], 1.0),
        ([(0.0, 0.0)], 1.0),
    ],
)
def test_the_unit_is_what_moves_a_joint_behind_gears_by_one(polynomials, expected):
    bars = geared_four_bar(1.0)
    followers = 'crank joint', 'rocker joint'
    couplings = (Coupling(it, 'gear 0 joint', of) for it, of in zip(followers, polynomials, strict=False))
    robot = Mechanism('geared', bars.joints, (*bars.loops[:1], *couplings), bars.near, 1).robot
    assert unit_before_gears(robot, 'gear 0 joint') == pytest.approx(expected)
