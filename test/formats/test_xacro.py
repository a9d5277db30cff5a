"""URDF of a xacro file with arguments; without xacro, the command that writes it."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formats.xacro import is_xacro, urdf_of_xacro, xacro_arguments, xacro_command
from robot_dynamics_ros.tools import replay
from robot_dynamics_ros.tools.robot_options import robot_of, stated_description

pytestmark = pytest.mark.plain

FILE = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="$(arg name)">
  <xacro:arg name="mass" default="2"/>
  <link name="base"/>
  <link name="tip"><inertial><mass value="${2 * $(arg mass)}"/><origin xyz="0.5 0 0"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 1 0"/></joint>
</robot>"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / 'an arm.urdf.xacro'
    path.write_text(FILE)
    return str(path)


@pytest.mark.parametrize(
    ('arguments', 'name', 'mass'), [('name:=arm', 'arm', 4.0), ('name:=ur10e mass:=0.5', 'ur10e', 1.0)]
)
def test_arguments_are_those_of_the_file(file, arguments, name, mass):
    pytest.importorskip('xacro', reason='the Python package xacro is not installed')
    robot = Robot.from_urdf(urdf_of_xacro(file, xacro_arguments(arguments)))
    assert robot.name == name
    assert robot.gravity_torque([0.0]) == pytest.approx([-mass * 9.81 * 0.5])


def test_commands_have_arguments_of_xacro_files(file):
    pytest.importorskip('xacro', reason='the Python package xacro is not installed')
    options = replay.parser().parse_args([file, 'log.csv', '--xacro-args', 'name:=arm mass:=1'])
    assert robot_of(options).gravity_torque([0.0]) == pytest.approx([-2.0 * 9.81 * 0.5])
    assert (
        Robot.from_urdf(replay.node_parameters(options, stated_description(options), {})['robot_description']).name
        == 'arm'
    )


@pytest.mark.parametrize(('mass', 'half_weight'), [(3, 3.0), (0.5, 0.5), ('0.5', 0.5)])
def test_arguments_in_python_are_text_or_numbers(file, mass, half_weight):
    pytest.importorskip('xacro', reason='the Python package xacro is not installed')
    robot = Robot.from_description(file, xacro_args={'name': 'arm', 'mass': mass})
    assert robot.gravity_torque([0.0]) == pytest.approx([-2.0 * half_weight * 9.81 * 0.5])


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        ('mass:=2', "xacro_args: expected text or numbers by name, .*, got 'mass:=2'"),
        ({'mass': [2]}, r'mass: .*\[2\]'),
        ({'mass': True}, 'mass: .* True'),
    ],
)
def test_wrong_arguments_in_python_are_named(file, arguments, said):
    with pytest.raises(ArgumentError, match=said):
        Robot.from_description(file, xacro_args=arguments)


def test_a_xacro_file_is_no_urdf(file):
    with pytest.raises(ModelError, match=r'an arm\.urdf\.xacro: expected a URDF.* Robot\.from_description'):
        Robot.from_urdf(file)


def test_a_file_of_macros_alone_is_named(tmp_path):
    pytest.importorskip('xacro', reason='the Python package xacro is not installed')
    path = tmp_path / 'macros.xacro'
    path.write_text(
        FILE.replace('<link', '<xacro:macro name="arm"><link', 1).replace('</joint>', '</joint></xacro:macro>')
    )
    with pytest.raises(ModelError, match=r'macros\.xacro only defines macros; open the file that calls them'):
        urdf_of_xacro(str(path), {'name': 'arm'})


def test_a_file_of_properties_is_named(tmp_path):
    pytest.importorskip('xacro', reason='the Python package xacro is not installed')
    path = tmp_path / 'parameters.xacro'
    path.write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="m" value="2"/></robot>')
    with pytest.raises(ModelError, match=r'parameters\.xacro has no <link>; open the file that includes it'):
        urdf_of_xacro(str(path), {})


def test_an_error_in_the_file_is_reported_with_its_path(file):
    pytest.importorskip('xacro', reason='the Python package xacro is not installed')
    with pytest.raises(ModelError, match=r'xacro does not process .*an arm\.urdf\.xacro: .*heavy'):
        urdf_of_xacro(file, {'name': 'arm', 'mass': 'heavy'})


WITH_PACKAGES = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="$(arg name)">
  <xacro:include filename="$(find my_arm)/parts/tip.xacro"/>
  <xacro:include filename="$(find hand)/hand.xacro"/></robot>"""
TIP = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="tip"><visual><geometry>
  <mesh filename="package://my_arm/parts/tip.stl"/><mesh filename="package://my_arm/none.stl"/></geometry></visual>
  </link></robot>"""


@pytest.fixture
def with_packages(tmp_path):
    """Return a file in a clone of a package of another name, which includes files of this package and another."""
    clone, hand = tmp_path / 'my_arm.git', tmp_path / 'hand v2'
    (clone / 'parts').mkdir(parents=True)
    hand.mkdir()
    (clone / 'package.xml').write_text('<package><name>my_arm</name></package>')
    (clone / 'parts' / 'tip.xacro').write_text(TIP)
    (clone / 'parts' / 'tip.stl').touch()
    (clone / 'arm.xacro').write_text(WITH_PACKAGES)
    (hand / 'hand.xacro').write_text(TIP.replace('"tip"', '"hand"'))
    return str(clone / 'arm.xacro'), hand


def test_packages_are_found_without_ros(with_packages, monkeypatch):
    xacro = pytest.importorskip('xacro', reason='the Python package xacro is not installed')
    find = xacro.substitution_args._eval_find
    path, hand = with_packages
    document = ElementTree.fromstring(urdf_of_xacro(path, {'name': 'arm'}, {'hand': str(hand)}))
    assert [link.get('name') for link in document.iter('link')] == ['tip', 'hand']
    meshes = [mesh.get('filename') for mesh in document.iter('mesh')]
    assert meshes[:2] == [Path(path).with_name('parts').joinpath('tip.stl').as_uri(), 'package://my_arm/none.stl']
    monkeypatch.delenv('ROS_PACKAGE_PATH', raising=False)
    with pytest.raises(
        ModelError, match=r"arm\.xacro: package 'hand' is neither above the file nor on AMENT_PREFIX_PATH"
    ):
        urdf_of_xacro(path, {'name': 'arm'})
    monkeypatch.setenv('ROS_PACKAGE_PATH', str(hand.parent))
    hand.rename(hand.with_name('hand'))
    assert '"hand"' in urdf_of_xacro(path, {'name': 'arm'})
    assert xacro.substitution_args._eval_find is find


def test_without_xacro_the_command_is_named(file, monkeypatch):
    monkeypatch.setitem(sys.modules, 'xacro', None)
    with pytest.raises(ModelError, match='pip install xacro') as caught:
        urdf_of_xacro(file, {'name': 'ur10e'})
    assert str(caught.value).endswith(f": xacro '{file}' name:=ur10e > '{file.removesuffix('.xacro')}'")
    with pytest.raises(ModelError, match=r"no file 'nowhere\.xacro'"):
        urdf_of_xacro('nowhere.xacro', {})


def test_arguments_are_read_as_xacro_reads_them():
    assert xacro_arguments("name:=ur10e text:='a b' empty:=") == {'name': 'ur10e', 'text': 'a b', 'empty': ''}
    for wrong in ('name=ur10e', ':=x', 'a b:=c', "a:='b"):
        with pytest.raises(ArgumentError, match='xacro_args'):
            xacro_arguments(wrong)


def test_which_descriptions_are_xacro_files():
    assert is_xacro('a.urdf.xacro') and is_xacro('a.xacro')
    assert not is_xacro('a.urdf') and not is_xacro('<robot name="a.xacro"/><!-- .xacro')
    assert xacro_command('a.xacro', {}) == 'xacro a.xacro > a.urdf'
