"""What loops leave of the degrees of freedom of a robot, and whether its motors fit."""

from support.robots.cut_four_bar import PIN_OF_COUPLER, PIN_OF_ROCKER, cut_four_bar
from support.robots.simulated_robots import four_bar

import numpy as np
import pytest

from robot_dynamics_ros import Coupling, LoopClosure, Robot
from robot_dynamics_ros.control.arm.following.loop_check import (
    effective_mobility,
    loop_rows,
    motor_findings,
    opening_findings,
)


def place(text: str) -> np.ndarray:
    """Return the pose (4, 4; m) of a point, as three numbers in a text."""
    pose = np.eye(4)
    pose[:3, 3] = [float(it) for it in text.split()]
    return pose


PIN = LoopClosure('pin', 'coupler_link', place(PIN_OF_COUPLER), 'rocker_link', place(PIN_OF_ROCKER), 'planar_point')


def bar(*loops, actuated=()) -> Robot:
    """Return the cut four-bar with these loops."""
    return Robot.from_urdf(cut_four_bar()).with_loops(loops, actuated=actuated)


def message_of(robot: Robot) -> str:
    """Return the finding on the motors of a robot, '' for none."""
    return ' '.join(it.message for it in motor_findings(robot))


def test_rows_are_those_of_the_constraints():
    held = Coupling('rocker', None, (0.25,))
    pin, coupling = loop_rows(bar(PIN, held, actuated=['rocker']))
    assert (pin.kind, pin.constraints, pin.joints, pin.actuated) == (
        'planar_point', 2, ('crank', 'coupler', 'rocker'), ('rocker',)
    )  # fmt: skip
    assert coupling[:4] == ('rocker', 'coupling', ('rocker', 'a constant'), 1) and coupling.opening == 0.25


def test_a_loop_that_is_wide_open_near_where_it_is_said_to_be_closed_is_a_finding():
    robot, closed = (bar(PIN, actuated=['rocker']) for _ in range(2))
    q = closed.close_loops(closed.neutral()).q
    near = dict(zip(closed.joint_names, map(float, q), strict=True))
    stated, moved = (
        robot.with_loops(robot.loops.all, near=it) for it in (near, {**near, 'crank': near['crank'] + 0.5})
    )
    assert not [*opening_findings(stated)]
    (found,) = opening_findings(moved)
    assert found.where == "loop 'pin'" and 'it is open by 0.' in found.message and '(near)' in found.message
    assert not [*opening_findings(robot.with_loops(robot.loops.all, near={}))]


def test_a_weld_that_is_turned_by_half_a_turn_has_no_opening():
    turned = np.diag([1.0, -1.0, -1.0, 1.0])
    (row,) = loop_rows(
        Robot.named('aubo_i5').with_loops([LoopClosure('w', 'base_link', turned, 'shoulder_Link', kind='weld')])
    )
    assert np.isnan(row.opening)


def test_joints_before_the_last_common_link_are_not_in_the_loop():
    robot = Robot.named('aubo_i5')
    (row,) = loop_rows(robot.with_loops([LoopClosure('l', 'upperArm_Link', link_b='wrist1_Link')]))
    assert row.joints == ('foreArm_joint', 'wrist1_joint')


def test_the_mobility_is_that_beside_singular_positions():
    flat = bar(PIN)  # a parallelogram is singular where it is flat, at position pi/2
    assert effective_mobility(flat) == 1
    robot = four_bar()
    assert effective_mobility(robot) == 1


def test_a_singular_position_zero_does_not_count():
    # crank and rocker of 0.5 m along the ground of 1 m, where the parallelogram is flat and can fold
    text = cut_four_bar().replace('xyz="1 0 0" rpy="0 0 -0.4"', 'xyz="0 1 0" rpy="0 0 -0.4"')
    flat = Robot.from_urdf(text).with_loops(
        [LoopClosure('pin', 'coupler_link', place('0 1 0'), 'rocker_link', place(PIN_OF_ROCKER), 'planar_point')]
    )
    assert flat.mobility(np.zeros(3)) == 2 and effective_mobility(flat) == 1


def test_a_free_base_does_not_count():
    text = cut_four_bar()
    crank = text[text.index('<link name="crank_link">') : text.index('<link name="coupler_link">')]
    text = text.replace('name="mount" type="fixed"', 'name="mount" type="floating"')
    robot = Robot.from_urdf(text.replace('<link name="plane"/>', crank.replace('crank_link', 'plane')))
    assert robot.nv == 9
    assert effective_mobility(robot.with_loops([PIN])) == 1


HELD = LoopClosure('held', 'plane', place('1 0.5 0'), 'rocker_link', place(PIN_OF_ROCKER))
SAID = {
    'a motor for each': ([PIN], ['crank'], ''),
    'no closures': ([Coupling('rocker', 'crank', (0.0, 1.0))], [], ''),
    'none': ([PIN], [], 'its loops leave 1 degree of freedom, and nothing says which joints have a motor: state 1 of'),
    'one more': ([PIN], ['crank', 'coupler'], '2 joints have a motor (crank, coupler): 1 more than that'),
    'one fewer': (
        [HELD],
        ['coupler'],
        'its loops leave 2 degrees of freedom, and 1 joint has a motor (coupler): 1 of the motions have none',
    ),
    'no motion': ([HELD, PIN], [], 'its loops leave 0 degrees of freedom: it cannot move'),
    'too short': ([LoopClosure('x', None, place('9 0 0'), 'rocker_link')], [], 'its loops cannot be closed'),
}


@pytest.mark.parametrize(('loops', 'actuated', 'said'), SAID.values(), ids=SAID)
def test_motors_are_compared_with_the_degrees_of_freedom(loops, actuated, said):
    found = message_of(bar(*loops, actuated=actuated))
    assert said in found and bool(said) == bool(found)
