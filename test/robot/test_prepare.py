"""Quantities that are prepared: their first call looks nothing up."""

from support.code.look_ups import recorded

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.following.mimic_joints import MimicJoints
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling

ROBOT = Robot.named('aubo_i5')
Q = np.linspace(-0.5, 0.5, 6)


@pytest.mark.parametrize(
    'robot',
    [ROBOT, DrivenRobot(ROBOT, MimicJoints(ROBOT, [Coupling('wrist3_joint', 'wrist1_joint', (0.0, 1.0))]))],
    ids=['all', 'driven'],
)
def test_the_first_call_of_a_prepared_quantity_looks_nothing_up(monkeypatch, robot):
    looked_up = recorded(monkeypatch)
    robot, q = robot.with_gravity((1.0, 2.0, 3.0)), Q[: robot.nv]
    robot.prepare('gravity_torque', 'inverse_dynamics')
    assert looked_up == ['gravity_torque', 'inverse_dynamics']
    found = robot.gravity_torque(q), robot.inverse_dynamics(q, q, q)
    assert looked_up == ['gravity_torque', 'inverse_dynamics']
    robot.mass_matrix(q)
    assert looked_up[2:] == ['mass_matrix']
    other = robot.with_gravity((1.0, 2.0, 3.0))
    assert [rows.tolist() for rows in found] == [
        other.gravity_torque(q).tolist(),
        other.inverse_dynamics(q, q, q).tolist(),
    ]


def test_an_unknown_quantity_is_refused_by_name():
    with pytest.raises(ArgumentError, match=r"^quantities: expected one of .*, got 'weight'"):
        ROBOT.prepare('weight')


@pytest.mark.parametrize('method', [ROBOT.prepare, ROBOT.compiled])
def test_the_nearest_quantity_is_proposed_and_steps_of_closing_are_not_listed(method):
    with pytest.raises(ArgumentError) as refused:
        method('mass_matrx')
    assert str(refused.value).endswith("got 'mass_matrx'; did you mean 'mass_matrix'?")
    assert 'loop_errors, ' in str(refused.value) and 'closing_step' not in str(refused.value)
