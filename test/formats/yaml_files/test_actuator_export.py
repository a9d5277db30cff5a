"""Exported actuator files: with the URDF they give the same robot again."""

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.yaml_files.actuator_export import actuators_of

STATED = {
    'gear_ratio': {f'j{k}': 50.0 + k for k in (1, 2)},
    'torque_constant': {f'j{k}': 0.1 * k for k in (1, 2)},
    'rotor_inertia': {f'j{k}': 0.3 * k for k in (1, 2)},
    'rotor_direction': {'j1': 1.0, 'j2': 0.0},
    **{
        f'friction_{name}': {f'j{k}': 0.01 * i + 1e-5 * k for k in (1, 2)}
        for i, name in enumerate(
            ('offset', 'transition', 'stribeck', 'stribeck_velocity', 'load', 'quadratic'), start=1
        )
    },
}
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
LINKS = ''.join(f'<link name="l{k}">{INERTIAL}</link>' for k in (1, 2))
JOINTS = ''.join(
    f'<joint name="j{k}" type="{{}}"><parent link="l{k - 1}"/><child link="l{k}"/><axis xyz="0 0 1"/>'
    '<limit lower="-1" upper="1" velocity="1" effort="9"/><dynamics damping="0.5" friction="0.25"/></joint>'
    for k in (1, 2)
)
URDF = f'<robot name="two"><link name="l0"/>{LINKS}{JOINTS}</robot>'


@pytest.mark.parametrize('left_out', [None, *STATED])
def test_urdf_and_actuator_file_are_the_robot_again(tmp_path, left_out):
    given = {name: table for name, table in STATED.items() if name != left_out}
    if left_out == 'gear_ratio':
        del given['rotor_direction']  # needs it
    robot = Robot.from_urdf(URDF.format('revolute', 'revolute')).with_actuators(given)
    path = tmp_path / 'actuators.yaml'
    path.write_text(actuators_of(robot.model))
    again = Robot.from_urdf(robot.to_urdf()).with_actuators(path)
    unknown = {name for name in STATED if f'{name}:' not in path.read_text()}
    assert unknown == {left_out} & {'gear_ratio', 'torque_constant'}
    for fields in ('friction', 'actuators'):
        for name, value in getattr(robot.model, fields)._asdict().items():
            np.testing.assert_array_equal(getattr(getattr(again.model, fields), name), value)
    np.testing.assert_array_equal(again.model.arrays.rotor, robot.model.arrays.rotor)
    np.testing.assert_array_equal(again.model.arrays.spin, robot.model.arrays.spin)


def test_a_joint_with_two_numbers_is_refused_by_name():
    robot = Robot.from_urdf(URDF.format('planar', 'revolute'))
    friction = robot.model.friction._replace(offset=np.array([1.0, 2.0, 2.0, 2.0]))
    with pytest.raises(ModelError, match="joint 'j1': an actuator file has one friction_offset a joint"):
        actuators_of(robot.with_friction(**friction._asdict()).model)
    equal = friction._replace(offset=np.array([1.0, 1.0, 1.0, 2.0]))
    assert 'j1: 1.0' in actuators_of(robot.with_friction(**equal._asdict()).model)
