"""Joints with a motor of a URDF that states loops: from transmissions and command interfaces."""

from support.robots.cut_four_bar import PIN_OF_COUPLER, PIN_OF_ROCKER, cut_four_bar

import pytest

from robot_dynamics_ros import Robot

PIN = (
    f'<loop_joint name="pin" type="spherical"><link1 link="coupler_link" xyz="{PIN_OF_COUPLER}"/>'
    f'<link2 link="rocker_link" xyz="{PIN_OF_ROCKER}"/></loop_joint>'
)
CONTROL = '<ros2_control name="c" type="system">{}</ros2_control>'
COMMANDED = '<joint name="{}"><command_interface name="effort"/><state_interface name="position"/></joint>'
READ = '<joint name="{}"><state_interface name="position"/></joint>'
STATED = {
    'a transmission': ('<transmission name="t"><type>x</type><joint name="rocker"/></transmission>', ('rocker',)),
    'a command interface': (CONTROL.format(READ.format('coupler') + COMMANDED.format('crank')), ('crank',)),
    'state interfaces alone': (CONTROL.format(READ.format('crank')), ()),
    'nothing': ('', ()),
    'an unknown joint': (CONTROL.format(COMMANDED.format('kranc')), ()),
    'two, in the order of the robot': (
        CONTROL.format(COMMANDED.format('rocker') + COMMANDED.format('crank')),
        ('crank', 'rocker'),
    ),
}


@pytest.mark.parametrize(('stated', 'actuated'), STATED.values(), ids=STATED)
def test_joints_with_a_motor(stated, actuated):
    assert Robot.from_urdf(cut_four_bar(PIN + stated)).loops.actuated == actuated
    assert Robot.from_urdf(cut_four_bar(stated)).loops.actuated == ()  # a tree


def test_positions_of_a_loops_file_stay_where_the_urdf_names_the_motors(tmp_path):
    (tmp_path / 'loops.yaml').write_text('loops: {near: {crank: 0.5, coupler: -0.5, rocker: 0.5}}')
    text = cut_four_bar(PIN + STATED['a transmission'][0])
    loops = Robot.from_urdf(text, loops_file=tmp_path / 'loops.yaml').loops
    assert loops.actuated == ('rocker',)
    assert loops.near == {'crank': 0.5, 'coupler': -0.5, 'rocker': 0.5}


def test_joints_that_are_not_independent_have_none():
    def told(text: str, *dependent: str) -> str:
        for joint in dependent:
            text = text.replace(f'<joint name="{joint}" ', f'<joint name="{joint}" independent="false" ')
        return text

    robot = Robot.from_urdf(told(cut_four_bar(PIN), 'coupler', 'rocker'))
    assert robot.loops.actuated == ('crank',)
    assert not [it for it in robot.findings if 'independent' in it.message]
    stated = CONTROL.format(COMMANDED.format('rocker') + COMMANDED.format('crank'))
    assert Robot.from_urdf(told(cut_four_bar(PIN + stated), 'rocker')).loops.actuated == ('crank',)


@pytest.mark.parametrize('mimic', ['ignore', 'couple'])
def test_a_joint_that_mimics_another_has_none(mimic):
    following = COMMANDED.format('rocker').replace('<command', '<param name="mimic">crank</param><command', 1)
    text = cut_four_bar(PIN + CONTROL.format(COMMANDED.format('crank') + following))
    assert Robot.from_urdf(text, mimic=mimic).loops.actuated == ('crank',)
