"""URDF of a xacro file with arguments; without xacro, the command that writes it."""

import sys

import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formats.xacro import is_xacro, urdf_of_xacro, xacro_arguments, xacro_command

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


def test_an_error_in_the_file_is_reported_with_its_path(file):
    pytest.importorskip('xacro', reason='the Python package xacro is not installed')
    with pytest.raises(ModelError, match=r'xacro does not process .*an arm\.urdf\.xacro: .*heavy'):
        urdf_of_xacro(file, {'name': 'arm', 'mass': 'heavy'})


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
