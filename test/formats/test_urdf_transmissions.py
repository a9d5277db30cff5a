"""Rotor inertias and gear ratios in <transmission>: as Drake reads them; what is not used is reported."""

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ModelError

SIMPLE = '<type>transmission_interface/SimpleTransmission</type>'
ACTUATOR = '<actuator name="m"><drake:rotor_inertia value="1e-4"/><drake:gear_ratio value="100"/></actuator>'


def arm(*transmissions: str, kind='revolute', namespace=' xmlns:drake="http://drake.mit.edu"') -> str:
    """Return an arm of 0.52 kg m^2 about its joint 'j', and a bolt, with transmissions."""
    link = (
        '<inertial><origin xyz="0.5 0 0"/><mass value="2.0"/>'
        '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    return (
        f'<robot name="q"{namespace}><link name="base"/><link name="arm">{link}</link><link name="tool"/>'
        f'<joint name="j" type="{kind}"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>'
        '<limit lower="-3" upper="3" velocity="3" effort="50"/></joint>'
        '<joint name="bolt" type="fixed"><parent link="arm"/><child link="tool"/></joint>'
        f'{"".join(transmissions)}</robot>'
    )


def transmission(inside=SIMPLE, joint='j', actuator=ACTUATOR, name='t') -> str:
    return f'<transmission name="{name}">{inside}<joint name="{joint}"/>{actuator}</transmission>'


@pytest.mark.parametrize('namespace', [' xmlns:drake="http://drake.mit.edu"', ''], ids=['declared', 'undeclared'])
def test_a_rotor_behind_a_gear_is_reflected_to_the_joint(namespace):
    robot = Robot.from_urdf(arm(transmission(), namespace=namespace))
    # 0.02 + 2 x 0.5^2 + 100^2 x 1e-4, of Drake 1.51
    assert robot.mass_matrix([0.3]) == pytest.approx(np.array([[1.52]]), rel=1e-12)
    assert robot.rotor_inertia.tolist() == [1.0] and robot.actuators.gear_ratio.tolist() == [100.0]
    assert robot.findings == ()
    # it travels, and an actuator file has the last word
    assert Robot.from_yaml(robot.to_yaml()).rotor_inertia.tolist() == [1.0]
    assert robot.with_actuators({'rotor_inertia': {'j': 0.3}}).rotor_inertia.tolist() == [0.3]


def test_the_type_may_be_an_attribute_and_a_ratio_negative():
    old = transmission('').replace('name="t"', 'type="SimpleTransmission"')
    robot = Robot.from_urdf(arm(old.replace('"100"', '"-100"')))
    assert robot.rotor_inertia.tolist() == [1.0] and robot.actuators.gear_ratio.tolist() == [100.0]


@pytest.mark.parametrize(
    ('actuator', 'rotor', 'ratio'),
    [
        ('<actuator><drake:rotor_inertia value="0.2"/></actuator>', 0.2, np.nan),
        ('<actuator><drake:gear_ratio value="50"/></actuator>', 0.0, 50.0),
        ('<actuator><mechanicalReduction>100</mechanicalReduction></actuator>', 0.0, np.nan),
    ],
)
def test_what_is_not_stated_has_its_default(actuator, rotor, ratio):
    robot = Robot.from_urdf(arm(transmission(actuator=actuator)))
    assert robot.rotor_inertia.tolist() == [rotor] and robot.findings == ()
    np.testing.assert_array_equal(robot.actuators.gear_ratio, [ratio])


def test_motors_of_one_joint_add_up():
    other = transmission(actuator=ACTUATOR.replace('"100"', '"50"'), name='u')
    robot = Robot.from_urdf(arm(transmission(), other))
    assert robot.rotor_inertia.tolist() == [1.25] and np.isnan(robot.actuators.gear_ratio[0])
    assert Robot.from_urdf(arm(transmission(), transmission(name='u'))).actuators.gear_ratio.tolist() == [100.0]


REPORTED = {
    'another type': (
        transmission('<type>transmission_interface/DifferentialTransmission</type>'),
        "its rotor inertia and gear ratio are not used: its type is 'transmission_interface/DifferentialTransmission'",
    ),
    'no type': (transmission(''), "not used: its type is '', expected SimpleTransmission"),
    'fixed joint': (transmission(joint='bolt'), "not used: no joint 'bolt' moves"),
    'unknown joint': (transmission(joint='x'), "not used: no joint 'x' moves"),
    'motorInertia': (
        transmission(
            actuator='<actuator><motorInertia>1e-4</motorInertia><mechanicalReduction>100</mechanicalReduction></actuator>'
        ),
        '<motorInertia> 1e-4 behind a reduction of 100 is not used; state the inertia that is reflected to the joint',
    ),
    'rotor_inertia without a unit': (
        transmission(actuator='<actuator/>').replace('</transmission>', '<rotor_inertia value="3"/></transmission>'),
        '<rotor_inertia> 3 is not used; state the inertia',
    ),
}


@pytest.mark.parametrize(('text', 'message'), REPORTED.values(), ids=REPORTED)
def test_what_is_not_used_is_reported(text, message):
    robot = Robot.from_urdf(arm(text))
    assert robot.rotor_inertia.tolist() == [0.0]
    (finding,) = robot.findings
    assert finding.where == "transmission 't'" and message in finding.message


def test_a_motor_of_several_coordinates_is_reported():
    (finding,) = [it for it in Robot.from_urdf(arm(transmission(), kind='floating')).findings if 'rotor' in it.message]
    assert "joint 'j' is free" in finding.message


REFUSED = {
    'number': (
        ACTUATOR.replace('1e-4', 'much'),
        'transmission \'t\': <drake:rotor_inertia value="much">: expected a finite',
    ),
    'negative': (
        ACTUATOR.replace('1e-4', '-1'),
        'transmission \'t\': <drake:rotor_inertia value="-1">: expected at least 0',
    ),
    'no gear': (ACTUATOR.replace('"100"', '"0"'), 'transmission \'t\': <drake:gear_ratio value="0">: expected another'),
    'twice': (
        ACTUATOR.replace('</actuator>', '<drake:gear_ratio value="3"/></actuator>'),
        '<drake:gear_ratio> occurs 2',
    ),
}


@pytest.mark.parametrize(('actuator', 'message'), REFUSED.values(), ids=REFUSED)
def test_a_wrong_number_is_refused_by_name(actuator, message):
    with pytest.raises(ModelError) as error:
        Robot.from_urdf(arm(transmission(actuator=actuator)))
    assert message in str(error.value)
