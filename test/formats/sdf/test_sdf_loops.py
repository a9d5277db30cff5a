"""Joints of an SDF that close loops, and gearboxes."""

from support.formats.sdf_texts import HELD, hinge, sdf, sdf_of
from support.robots.cut_four_bar import PIN_OF_ROCKER, closed_at, cut_four_bar

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError

IN_GAZEBO = (
    f'<joint name="pin" type="revolute"><pose>{PIN_OF_ROCKER} 0 0 0</pose><parent>coupler_link</parent>'
    '<child>rocker_link</child><axis><xyz expressed_in="">0 0 1</xyz><dynamics><damping>0.3</damping>'
    '<spring_stiffness>2</spring_stiffness><spring_reference>0.1</spring_reference></dynamics></axis></joint>'
)


def four_bar(joint: str = IN_GAZEBO, first: bool = False) -> Robot:
    """Return the SDF of a four-bar that is cut, with a joint before or after the others."""
    text = sdf_of(cut_four_bar(), relative=True)
    where = '<joint' if first else '</model>'
    return Robot.from_sdf(text.replace(where, joint + where, 1))


def test_a_second_joint_of_a_link_closes_a_loop_as_one_in_gazebo():
    ours, theirs = four_bar(), Robot.from_urdf(cut_four_bar(f'<gazebo>{IN_GAZEBO}</gazebo>'))
    one, other = ours.loops.closures[0], theirs.loops.closures[0]
    assert (one.kind, one.stiffness, one.damping, one.rest) == ('revolute', 2.0, 0.3, 0.1)
    for pose in ('pose_a', 'pose_b'):
        assert getattr(one, pose) == pytest.approx(getattr(other, pose), abs=1e-15)
    q, qd, tau = closed_at(0.4), [0.5, -0.5, 0.5], [1.0, 0.2, -0.3]
    assert ours.forward_dynamics(q, qd, tau) == pytest.approx(theirs.forward_dynamics(q, qd, tau), rel=1e-12)


def test_simbody_says_which_joint_closes_the_loop():
    must = '<physics><simbody><must_be_loop_joint>1</must_be_loop_joint></simbody></physics></joint>'
    ours = four_bar(IN_GAZEBO.replace('</joint>', must), first=True)
    assert [it.name for it in ours.loops.closures] == ['pin'] and ours.joint_names == four_bar().joint_names
    # else the first joint of the rocker moves it, and the second one closes the loop
    other = four_bar(first=True)
    assert [it.name for it in other.loops.closures] == ['rocker'] and 'pin' in other.joint_names
    for robot in (ours, other):
        assert robot.loop_errors(np.zeros(3)) == pytest.approx(0.0, abs=1e-15)
    assert ours.kinetic_energy(np.zeros(3), [0.2, -0.2, 0.2]) == pytest.approx(
        other.kinetic_energy(np.zeros(3), [0.2, -0.2, 0.2]), rel=1e-12
    )


def test_joints_in_a_circle_leave_a_base():
    back = '<joint name="back" type="ball"><parent>b</parent><child>a</child></joint>'
    robot = Robot.from_sdf(sdf('<link name="a"/>' + hinge() + back))
    assert robot.joint_names == ('j',) and [it.kind for it in robot.loops.closures] == ['point']


def test_what_a_closing_joint_has_no_place_for():
    limited = IN_GAZEBO.replace('<dynamics>', '<limit><upper>1</upper></limit><dynamics><friction>2</friction>')
    findings = '\n'.join(map(str, four_bar(limited).findings))
    assert "loop 'pin': its <upper> 1 is not used" in findings and "loop 'pin': its <friction> 2 is not" in findings
    with pytest.raises(ModelError, match=r"joint 'pin': it closes a loop, and its type is 'prismatic'"):
        four_bar(IN_GAZEBO.replace('"revolute"', '"prismatic"'))
    for kind, expected in (('ball', 'point'), ('fixed', 'weld')):
        assert four_bar(IN_GAZEBO.replace('"revolute"', f'"{kind}"')).loops.closures[0].kind == expected


def gears(axis='0 1 0', axis2='', ratio='3', reference='a') -> str:
    second = axis2 and f'<axis2><xyz>{axis2}</xyz></axis2>'
    return (
        f'<joint name="gears" type="gearbox"><parent>b</parent><child>c</child><gearbox_ratio>{ratio}</gearbox_ratio>'
        f'<gearbox_reference_body>{reference}</gearbox_reference_body><axis><xyz>{axis}</xyz></axis>{second}</joint>'
    )


@pytest.mark.parametrize(
    ('inside', 'slope'),
    [
        (gears(), -3.0),
        (gears(axis2='0 1 0'), -3.0),
        (gears(axis2='0 -1 0'), 3.0),
        (gears('0 -2 0'), -3.0),
        (gears('0 -2 0', '0 1 0'), 3.0),
    ],
)
def test_gears_turn_against_each_other_about_their_axes(inside, slope):
    """theta_2 = -ratio theta_1, of which each is against the body that carries the gears."""
    robot = Robot.from_sdf(sdf(HELD + hinge() + hinge(name='k', link='c') + inside))
    (coupling,) = robot.loops.couplings
    assert (coupling.joint, coupling.other, coupling.polynomial) == ('k', 'j', (0.0, slope))
    assert not [it for it in robot.findings if 'read' in it.message or 'coupled' in it.message]


def test_a_gear_that_carries_the_body_turns_the_other_way():
    """The body turns on gear b, which the world holds: theta_1 is that of b against it, and q of it against b."""
    mount = '<link name="b"/><joint name="w" type="fixed"><parent>world</parent><child>b</child></joint>'
    ends = '<parent>b</parent><child>a</child><axis><xyz>0 1 0</xyz></axis>'
    inside = (
        f'{mount}<link name="a"/><joint name="j" type="revolute">{ends}</joint>{hinge(name="k", link="c")}{gears()}'
    )
    assert Robot.from_sdf(sdf(inside)).loops.couplings[0].polynomial == (0.0, 3.0)


def test_gears_that_no_joint_carries_are_a_finding():
    for inside in (gears('1 0 0'), gears(reference='c'), gears(axis2='1 0 0')):
        robot = Robot.from_sdf(sdf(HELD + hinge() + hinge(name='k', link='c') + inside))
        assert not robot.loops.couplings
        assert "joint 'gears': its gears are not coupled: no revolute joint" in '\n'.join(map(str, robot.findings))
