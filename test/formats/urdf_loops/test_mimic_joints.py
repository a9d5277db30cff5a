"""Joints that follow others by a plugin of Gazebo or a parameter of ros2_control, beside <mimic>."""

from support.robots.cut_four_bar import cut_four_bar

import pytest

from robot_dynamics_ros import Coupling, Robot
from robot_dynamics_ros.errors import ModelError

PLUGIN = (
    '<gazebo><plugin name="m" filename="libroboticsgroup_upatras_gazebo_mimic_joint_plugin.so"><joint>crank</joint>'
    '<mimicJoint>coupler</mimicJoint><multiplier>-1.0</multiplier><offset>0.2</offset></plugin></gazebo>'
)
PARAMETERS = (
    '<ros2_control name="c" type="system"><joint name="coupler"><param name="mimic">crank</param>'
    '<param name="multiplier">-1</param><param name="offset">0.2</param></joint></ros2_control>'
)
FOLLOWING = Coupling('coupler', 'crank', (0.2, -1.0))


def mimicking(attributes: str, more: str = '') -> str:
    """Return the tree of the four-bar with a <mimic> in its coupler."""
    before, tag, after = cut_four_bar(more).partition('<joint name="coupler"')
    return before + tag + after.replace('</joint>', f'<mimic {attributes}/></joint>', 1)


def on_coupler(robot: Robot) -> list[str]:
    """Return the findings on the coupler's joint."""
    return [it.message for it in robot.findings if it.where == "joint 'coupler'"]


@pytest.mark.parametrize('stated', [PLUGIN, PARAMETERS], ids=['plugin', 'parameters'])
def test_it_becomes_a_coupling_on_request(stated):
    robot = Robot.from_urdf(cut_four_bar(stated), mimic='couple')
    assert robot.loops.couplings == (FOLLOWING,) and not on_coupler(robot)
    assert not [it for it in robot.findings if it.where.startswith('plugin')]
    robot = Robot.from_urdf(cut_four_bar(stated))
    assert not robot.loops.all
    assert on_coupler(robot) == ["it mimics 'crank'; here it is a joint of its own, with its own torque"]


def test_defaults_are_those_of_the_plugin():
    text = PLUGIN.replace('<multiplier>-1.0</multiplier><offset>0.2</offset>', '')
    assert Robot.from_urdf(cut_four_bar(text), mimic='couple').loops.couplings[0].polynomial == (0.0, 1.0)


def test_the_same_said_twice_is_said_once():
    text = mimicking('joint="crank" multiplier="-1.00" offset="2e-1"', PLUGIN + PARAMETERS)
    robot = Robot.from_urdf(text, mimic='couple')
    assert robot.loops.couplings == (FOLLOWING,) and not on_coupler(robot)


def test_of_two_that_differ_the_former_counts_and_a_finding_names_both():
    robot = Robot.from_urdf(mimicking('joint="rocker"', PLUGIN), mimic='couple')
    assert robot.loops.couplings == (Coupling('coupler', 'rocker', (0.0, 1.0)),)
    assert on_coupler(robot) == [
        "<mimic> has it follow 'rocker' (multiplier 1.0, offset 0.0), <plugin> 'crank' (multiplier -1.0, offset 0.2): "
        'the former is used'
    ]


def test_a_joint_that_does_not_exist_is_a_finding():
    robot = Robot.from_urdf(cut_four_bar(PLUGIN.replace('>coupler<', '>cupler<')), mimic='couple')
    (found,) = [it for it in robot.findings if it.where == "joint 'cupler'"]
    assert found.message == "<plugin> has it follow 'crank', but no such joint moves: not used"
    robot = Robot.from_urdf(cut_four_bar(PLUGIN.replace('>crank<', '>kranc<')), mimic='couple')
    assert not robot.loops.all and 'here it is a joint of its own' in on_coupler(robot)[0]


def test_a_plugin_for_mimic_joints_in_another_form_is_a_finding():
    robot = Robot.from_urdf(cut_four_bar('<gazebo><plugin name="p" filename="libgazebo_mimic.so"/></gazebo>'))
    (found,) = [it for it in robot.findings if it.where == "plugin 'p'"]
    assert found.message.startswith('its joints that mimic others are not read: state <mimic>')


def test_words_for_numbers_are_refused_where_they_are_used():
    text = cut_four_bar(PLUGIN.replace('-1.0', 'minus'))
    with pytest.raises(ModelError, match=r'joint \'coupler\': <plugin multiplier="minus">: expected a finite number'):
        Robot.from_urdf(text, mimic='couple')


def test_a_mimic_of_a_fixed_joint_is_not_looked_at():
    text = cut_four_bar().replace('<child link="plane"/>', '<child link="plane"/><mimic/>')
    assert not Robot.from_urdf(text, mimic='couple').loops.all
