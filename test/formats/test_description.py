"""A description is read by its format: that of a file by its suffix, that of an .xml file by what is in it."""

from support.formats.sdf_texts import sdf_of
from support.robots.facade_robots import TREE

import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.described_arm import described
from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError
from robot_dynamics_ros.formats.description import urdf_of_description
from robot_dynamics_ros.formats.library import named_urdf

MJCF = """<mujoco model="pendulum"><option gravity="0 0 -1.62"/><worldbody><body name="bob">
  <joint name="swing" axis="0 1 0"/>
  <inertial pos="0 0 -0.5" mass="2" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>"""
SDF = sdf_of(TREE, relative=True).replace('<model', '<world name="w"><model').replace('</sdf>', '</world></sdf>')
YAML = Robot.from_urdf(TREE).with_gravity((0.0, 1.0, 0.0)).to_yaml()


@pytest.mark.parametrize(
    ('name', 'text', 'joints', 'gravity'),
    [
        ('arm.urdf', TREE, 3, [0.0, 0.0, -9.81]),
        ('ARM.URDF', TREE, 3, [0.0, 0.0, -9.81]),
        ('arm.xml', TREE, 3, [0.0, 0.0, -9.81]),
        ('arm.xml', MJCF, 1, [0.0, 0.0, -1.62]),
        ('arm.sdf', SDF, 3, [0.0, 0.0, -9.8]),
        ('arm.world', SDF, 3, [0.0, 0.0, -9.8]),
        ('arm.xml', SDF, 3, [0.0, 0.0, -9.8]),
        ('arm.mjcf', MJCF, 1, [0.0, 0.0, -1.62]),
        ('arm.yaml', YAML, 3, [0.0, 1.0, 0.0]),
        ('arm.yml', YAML, 3, [0.0, 1.0, 0.0]),
    ],
)
@pytest.mark.parametrize('kind', [str, lambda path: path], ids=['text', 'path'])
def test_a_file_is_read_by_its_format(name, text, joints, gravity, kind, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    robot = Robot.from_description(kind(path))
    assert robot.nv == joints and robot.gravity.tolist() == gravity
    assert urdf_of_description(kind(path)) == (str(path) if text is TREE else None)


def test_names_and_text_are_descriptions():
    assert Robot.from_description('aubo_i5').digest == Robot.named('aubo_i5').digest
    assert urdf_of_description('aubo_i5') == str(named_urdf('aubo_i5'))
    assert Robot.from_description(TREE).digest == Robot.from_urdf(TREE).digest
    assert urdf_of_description(TREE) == TREE
    assert Robot.from_description(SDF).digest == Robot.from_sdf(SDF).digest
    assert Robot.from_description('<!-- <robot> --> ' + SDF).nv == 3 and urdf_of_description(SDF) is None


def test_joints_with_mimic_are_coupled_on_request():
    text = TREE.replace('effort="0"/>', 'effort="0"/><mimic joint="z_turn"/>')
    assert not Robot.from_description(text).loops.couplings
    assert [it.other for it in Robot.from_description(text, mimic='couple').loops.couplings] == ['z_turn']


@pytest.mark.parametrize(
    ('description', 'error', 'message'),
    [
        ('arm.urdf.xacro', ModelError, "no file 'arm.urdf.xacro'"),
        ('an arm.sdf', ModelError, 'an arm.sdf: cannot be read: No such file or directory'),
        ('no_such_robot', UnknownNameError, 'there are aubo_i5'),
        ('nowhere.xml', ModelError, 'nowhere.xml'),
        # text is that of a URDF: it names no files
        (MJCF, ModelError, '<mujoco>: expected <robot>; Robot.from_mjcf reads it'),
    ],
)
def test_what_is_no_description_is_named(description, error, message):
    with pytest.raises(error) as refused:
        Robot.from_description(description)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ('read', 'text', 'message'),
    [
        (Robot.from_urdf, SDF, '<sdf>: expected <robot>; Robot.from_sdf reads it'),
        (Robot.from_sdf, MJCF, '<mujoco>: expected <sdf>; Robot.from_mjcf reads it'),
        (Robot.from_mjcf, TREE, '<robot>: expected <mujoco>; Robot.from_urdf reads it'),
        (Robot.from_sdf, '<arm/>', '<arm>: expected <sdf>'),
    ],
)
def test_another_format_is_refused_with_what_reads_it(read, text, message):
    with pytest.raises(ModelError) as refused:
        read(text)
    assert str(refused.value) == f'robot description: {message}'


@pytest.mark.parametrize(
    ('description', 'message'),
    [
        ('arm.urdf.xacro', 'expected a URDF; write one: xacro arm.urdf.xacro > arm.urdf'),
        ('panda_description', 'panda_description: a node downloads none; start it by bringup.launch.py'),
    ],
)
def test_nodes_evaluate_and_download_nothing(description, message):
    with pytest.raises(ModelError) as refused:
        described(description)
    assert message in str(refused.value)


def test_arguments_without_a_xacro_file_are_refused():
    with pytest.raises(ArgumentError, match=r"^xacro_args: the model is no xacro file: 'aubo_i5'$"):
        Robot.from_description('aubo_i5', xacro_args={'name': 'ur'})
