"""Joints in <gazebo> close a loop of a URDF: where SDFormat places them, about which axis, and what is not read."""

from support.robots.cut_four_bar import PIN_OF_ROCKER, closed_at, cut_four_bar

import numpy as np
import pytest

from robot_dynamics_ros import LoopClosure, Robot
from robot_dynamics_ros.errors import ModelError

ENDS = '<parent>coupler_link</parent><child>rocker_link</child>'
PIN = f'<pose>{PIN_OF_ROCKER} 0 0 0</pose>'
AXIS = '<axis><xyz expressed_in="">0 0 1</xyz></axis>'
HINGE = f'<joint name="pin" type="revolute">{PIN}{ENDS}{AXIS}</joint>'


def robot_of(joint: str) -> Robot:
    """Return the four-bar that a joint in <gazebo> closes."""
    return Robot.from_urdf(cut_four_bar(f'<gazebo>{joint}</gazebo>'))


def on_loops(robot: Robot) -> list[str]:
    """Return the findings on loops."""
    return [str(it) for it in robot.findings if it.where.startswith('loop')]


def assert_is_parallelogram(robot: Robot) -> None:
    """Assert that the loop is closed along the motion of a parallelogram, and open elsewhere."""
    for x in (0.0, 0.3, -1.1):
        assert robot.loop_errors(closed_at(x)) == pytest.approx(0.0, abs=1e-15)
        assert robot.mobility(closed_at(x)) == 1
    assert abs(robot.loop_errors([0.3, 0.1, 0.3])).max() > 0.1


def test_a_hinge_closes_the_loop_where_it_is_in_the_child():
    robot = robot_of(HINGE)
    (pin,) = robot.loops.closures
    assert (pin.name, pin.kind, pin.link_a, pin.link_b) == ('pin', 'revolute', 'coupler_link', 'rocker_link')
    assert pin.pose_b[:3, 3] == pytest.approx([float(it) for it in PIN_OF_ROCKER.split()])
    assert pin.pose_a[:3, 3] == pytest.approx([1.0, 0.0, 0.0])
    assert_is_parallelogram(robot)
    by_hand = Robot.from_urdf(cut_four_bar()).with_loops(
        [LoopClosure('pin', 'coupler_link', pin.pose_a, 'rocker_link', pin.pose_b, 'planar_point')]
    )
    q, qd, tau = closed_at(0.4), [0.5, -0.5, 0.5], [1.0, 0.2, -0.3]
    # its tilt has dependent constraints only
    assert robot.forward_dynamics(q, qd, tau) == pytest.approx(by_hand.forward_dynamics(q, qd, tau), rel=1e-12)


def test_a_ball_is_a_point_and_a_fixed_joint_a_weld():
    ball = robot_of(HINGE.replace('"revolute"', '"ball"'))
    assert ball.loops.closures[0].kind == 'point'
    assert_is_parallelogram(ball)
    fixed = robot_of(HINGE.replace('"revolute"', '"fixed"'))
    assert fixed.loops.closures[0].kind == 'weld' and fixed.mobility(closed_at(0.0)) == 0
    assert fixed.loop_errors(closed_at(0.0)) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize('attribute', ['relative_to', 'frame'])
def test_a_pose_may_be_relative_to_another_frame(attribute):
    assert_is_parallelogram(robot_of(HINGE.replace(PIN, f'<pose {attribute}="coupler_link">1 0 0 0 0 0</pose>')))
    in_model = Robot.from_urdf(cut_four_bar()).link_pose(closed_at(0.0), 'coupler_link') @ [1.0, 0.0, 0.0, 1.0]
    place = ' '.join(map(str, in_model[:3]))
    assert_is_parallelogram(robot_of(HINGE.replace(PIN, f'<pose {attribute}="__model__">{place} 0.5 -0.4 0.3</pose>')))


@pytest.mark.parametrize(
    'stated',
    ['<xyz expressed_in="__model__">{}</xyz>', '<xyz>{}</xyz><use_parent_model_frame>1</use_parent_model_frame>'],
)
def test_an_axis_may_be_expressed_in_the_model(stated):
    z = Robot.from_urdf(cut_four_bar()).link_pose(closed_at(0.0), 'plane')[:3, 2]
    robot = robot_of(HINGE.replace(AXIS, f'<axis>{stated.format(" ".join(map(str, z)))}</axis>'))
    assert_is_parallelogram(robot)
    assert not on_loops(robot)


def test_an_axis_that_gazebo_has_taken_for_another_is_a_finding():
    robot = robot_of(HINGE.replace('<xyz expressed_in="">', '<xyz>'))
    assert_is_parallelogram(robot)
    (found,) = on_loops(robot)
    assert found.startswith("warning: loop 'pin': its axis is expressed in the frame of the joint, as in Gazebo 11")


def test_a_spring_and_a_damper_act_and_other_forces_are_findings():
    dynamics = '<damping>0.2</damping><spring_stiffness>3</spring_stiffness><spring_reference>0.1</spring_reference>'
    limit = '<limit><lower>-1.5</lower><upper>1e16</upper></limit>'
    more = f'{limit}<dynamics>{dynamics}<friction>0.5</friction></dynamics></axis>'
    robot = robot_of(HINGE.replace('</axis>', more))
    (pin,) = robot.loops.closures
    assert (pin.damping, pin.stiffness, pin.rest) == (0.2, 3.0, 0.1)
    unused = [it for it in on_loops(robot) if 'is not used' in it]
    assert len(unused) == 2 and '<lower> -1.5' in unused[0] and '<friction> 0.5' in unused[1]


def test_a_joint_that_fixes_the_base_to_the_world_is_no_loop():
    robot = robot_of('<joint name="stand" type="fixed"><parent>world</parent><child>base</child></joint>')
    assert on_loops(robot) == ["warning: loop 'stand': it closes no loop: 'base' and 'base' are one rigid body"]


def test_the_world_is_the_base():
    to_base = '<joint name="pin" type="ball"><parent>world</parent><child>rocker_link</child></joint>'
    assert robot_of(to_base).loops.closures[0].link_a == 'base'


OPEN = {
    'another type': ('"revolute"', '"screw"', "its type is 'screw', and the loop stays open: only fixed, revolute"),
    'an unknown parent': ('coupler_link', 'cupler', "the loop stays open: its parent 'cupler' is no link"),
    'an unknown child': ('<child>rocker_link', '<child>rocker', "the loop stays open: its child 'rocker' is no link"),
    'one body': ('coupler_link', 'rocker_link', "it closes no loop: 'rocker_link' and 'rocker_link' are one rigid"),
    'an unknown frame': ('<pose>', '<pose relative_to="x">', "the loop stays open: its <pose> is relative to 'x'"),
    'degrees': ('<pose>', '<pose degrees="true">', 'the loop stays open: <pose degrees> is not read'),
    'an unknown frame of the axis': (
        'expressed_in=""',
        'expressed_in="x"',
        'the loop stays open: its axis is expressed',
    ),
}


@pytest.mark.parametrize(('old', 'new', 'why'), OPEN.values(), ids=OPEN)
def test_what_cannot_be_read_leaves_the_loop_open_with_a_finding(old, new, why):
    robot = robot_of(HINGE.replace(old, new))
    assert not robot.loops.all
    assert on_loops(robot)[0].startswith(f"warning: loop 'pin': {why}")


def test_a_joint_of_a_link_is_none_of_the_robot():
    robot = Robot.from_urdf(cut_four_bar(f'<gazebo reference="rocker_link">{HINGE}</gazebo>'))
    assert not robot.loops.all
    assert 'only a <gazebo> without reference adds joints' in on_loops(robot)[0]


def test_a_plugin_that_closes_a_loop_is_a_finding():
    robot = robot_of('<plugin name="p" filename="libclosed_loop_plugin.so"><joint>pin</joint></plugin>')
    assert [it for it in robot.findings if it.where == "plugin 'p'" and 'state the loop in a loops file' in it.message]


WRONG = {
    'a word in a pose': ('<pose>', '<pose>x ', "loop 'pin': <pose> x "),
    'an axis of zero': ('0 0 1<', '0 0 0<', "loop 'pin': <xyz>: the axis has no direction"),
    'two poses': (PIN, PIN + PIN, "loop 'pin': <pose> occurs 2 times"),
}


@pytest.mark.parametrize(('old', 'new', 'culprit'), WRONG.values(), ids=WRONG)
def test_wrong_numbers_are_refused_by_name(old, new, culprit):
    with pytest.raises(ModelError) as error:
        robot_of(HINGE.replace(old, new))
    assert str(error.value).startswith(f'robot description: {culprit}')


def test_a_name_that_occurs_twice_is_refused():
    with pytest.raises(ModelError, match="loop 'pin': the name occurs twice"):
        robot_of(HINGE + HINGE)


def test_too_many_loops_are_refused_at_once():
    with pytest.raises(ModelError, match='close more than 1000 loops'):
        robot_of(HINGE * 1100)


def test_poses_of_frames_at_position_zero_are_those_of_the_robot():
    tree = Robot.from_urdf(cut_four_bar())
    robot = robot_of(HINGE)
    pin = robot.loops.closures[0]
    a = tree.link_pose(closed_at(0.0), 'coupler_link') @ pin.pose_a
    b = tree.link_pose(closed_at(0.0), 'rocker_link') @ pin.pose_b
    np.testing.assert_allclose(a, b, atol=1e-15)
