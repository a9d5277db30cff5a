"""What elastic joints refuse: robots that they do not fit, and wrong arguments, which are named."""

from dataclasses import replace

from support.robots.simulated_robots import floating, four_bar, limited

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.simulation import simulate
from robot_dynamics_ros.simulation.elastic_joints import ElasticJoints

ARM = Robot.named('aubo_i5').with_rotor_inertia(np.full(6, 0.5))
ELASTIC = ElasticJoints(ARM, 1e4)


@pytest.mark.parametrize(
    ('robot', 'message'),
    [
        (Robot.named('aubo_i5'), r"joint 'upperArm_joint' has no rotor inertia"),
        (floating('spherical'), r"joint 'root' is spherical; expected one degree of freedom"),
        (four_bar(), r'four_bar has closed loops or mimic joints'),
    ],
    ids=['rotor', 'spherical', 'loop'],
)
def test_robots_that_it_does_not_fit_are_refused(robot, message):
    with pytest.raises(ArgumentError, match=f'^elastic joints: {message}'):
        ElasticJoints(robot, 1e4)


def test_a_joint_with_a_spring_of_its_own_is_refused():
    joints = [replace(joint, stiffness=3.0, rotor=1.0) for joint in limited().model.joints]
    with pytest.raises(ArgumentError, match=r"^elastic joints: joint 'one' has a spring of its own"):
        ElasticJoints(Robot(Model.of('sprung', 'base', joints)), 1e4)


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ((0.0, 0.0), 'stiffness: expected one finite number > 0 or 6'),
        ((np.inf, 0.0), 'stiffness: expected one finite number > 0 or 6'),
        ((np.full(5, 1e4), 0.0), 'stiffness: expected one finite number > 0 or 6'),
        ((1e4, -1.0), 'damping: expected one finite number >= 0 or 6'),
    ],
    ids=str,
)
def test_wrong_stiffness_and_damping_are_refused(values, message):
    with pytest.raises(ArgumentError, match=f'^{message}'):
        ElasticJoints(ARM, *values)


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'q0': np.full(6, np.nan)}, r'q0\[0\]: nan is not finite'),
        ({'qd0': np.zeros(5)}, r'qd0: expected shape \(\.\.\., 6\)'),
        ({'q0': np.zeros(12)}, r'q0: expected shape \(\.\.\., 6\)'),
        ({'step': 0.0}, r'step: expected a positive number'),
        ({'method': 'rk5'}, r'method: expected one of'),
        ({'torque': np.zeros(12)}, r'torque: expected 6 torques a row, got shape \(12,\)'),
        ({'wrenches': np.zeros((13, 6))}, r'wrenches: expected shape \(\.\.\., 7, 6\), got \(13, 6\)'),
        ({'torque': lambda *state: np.zeros(5)}, r'torque\(0, \.\.\.\): expected 6 torques a row, got shape \(5,\)'),
        ({'torque': lambda *state: np.full(6, np.inf)}, r'torque\(0, \.\.\.\)\[0\]: inf is not finite'),
    ],
    ids=['nan', 'short', 'long', 'step', 'method', 'row', 'wrenches', 'function', 'infinite'],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ArgumentError, match=f'^{message}'):
        simulate(ELASTIC, **{'q0': np.full(6, 0.3), 'qd0': np.zeros(6), 'duration': 1e-3, 'step': 1e-4} | arguments)
