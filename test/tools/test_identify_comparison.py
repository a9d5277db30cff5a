"""Two results of an identification are compared parameter by parameter, as far as both have them."""

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import Log
from robot_dynamics_ros.tools.identify_comparison import Result, comparison_text
from robot_dynamics_ros.tools.identify_parameters import Estimate

ROBOT = Robot.named('aubo_i5')
T = 0.1 * np.arange(20)
Q = np.sin(T[:, None] + np.arange(6))
LOG = Log(T, Q, np.cos(T[:, None] + np.arange(6)), -Q, Q)


def result(name, **more):
    parameters = {
        ('link', 'm c_x'): Estimate('kg m', 1.0, 0.1, {'mass of tip': 0.4}),
        ('link', 'J_zz'): Estimate('kg m^2', 0.3, np.inf, {}),
    }
    return Result(name, ROBOT, parameters | {('joint', key.replace('_', ' ')): it for key, it in more.items()})


def compared(one, other):
    """The parameters that differ, by name, with their deviations."""
    lines = comparison_text(one, other, LOG).split('\n\n')
    rows = lines[1].splitlines()[1:] if len(lines) > 2 else []
    return {row.split('  ')[0]: float(row.split()[-1]) for row in rows}


def test_what_differs_by_more_than_its_deviation_is_listed_the_clearest_first():
    one = result(
        'a', viscous_friction=Estimate('N m s/rad', 2.0, 0.3, {}), rotor_inertia=Estimate('kg m^2', 0.5, 0.03, {})
    )
    other = result(
        'b', viscous_friction=Estimate('N m s/rad', 3.5, 0.4, {}), rotor_inertia=Estimate('kg m^2', 0.8, 0.04, {})
    )
    found = compared(one, other)
    assert found == {'joint, rotor inertia': 6.0, 'joint, viscous friction': 3.0}
    assert list(found) == ['joint, rotor inertia', 'joint, viscous friction']
    assert '2 of 4 parameters differ' in comparison_text(one, other, LOG)
    assert compared(one, one) == {}


def test_friction_that_is_left_out_is_0_and_a_torque_constant_is_not_compared():
    one = result('a', load_friction=Estimate('', 0.1, 0.02, {}), torque_constant=Estimate('N m/A', 8.0, 0.3, {}))
    assert compared(one, result('b')) == compared(result('b'), one) == {'joint, load friction': 5.0}


def test_parameters_that_are_no_comparable_sums_are_refused():
    other = result('b')
    other.parameters['link', 'm c_x'] = Estimate('kg m', 1.0, 0.1, {'mass of tip': 0.5})
    with pytest.raises(ArgumentError, match=r'm c_x of link is another sum in b: geometry or gravity differ'):
        comparison_text(result('a'), other, LOG)


def test_a_folder_without_a_result_and_a_result_of_another_robot_are_refused(tmp_path):
    (tmp_path / 'robot.yaml').write_text(ROBOT.to_yaml())
    with pytest.raises(ArgumentError, match=r' has no parameters\.yaml; expected the folder of a result'):
        Result.read(tmp_path, ROBOT.joint_names)
    (tmp_path / 'parameters.yaml').write_text('[]')
    with pytest.raises(ArgumentError, match=r'has the joints shoulder_joint, .*, the one that is stated one'):
        Result.read(tmp_path, ['one'])
