"""Robots with other inertial parameters, friction and rotor inertias: torques, what is kept, findings, refusals."""

from support.robots.facade_robots import TREE
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ArgumentError


@pytest.fixture
def robot():
    return Robot.named('aubo_i5')


@pytest.fixture
def state(robot):
    return np.random.default_rng(5).normal(size=(3, robot.nv))


@pytest.mark.rounding
def test_torques_are_linear_in_the_parameters_that_are_set(robot, state):
    parameters = robot.inertial_parameters.reshape(-1, 10) * np.linspace(0.5, 2.0, 6)[:, None]
    changed = robot.with_inertial_parameters(parameters)
    rotors = robot.rotor_inertia * state[2]
    expected = robot.torque_regressor(*state) @ parameters.ravel() + rotors
    size = np.abs(robot.torque_regressor(*state)) @ np.abs(parameters.ravel())
    np.testing.assert_allclose(changed.inverse_dynamics(*state), expected, rtol=0, atol=bound(60, 60, scale=size.max()))
    assert (
        changed.with_inertial_parameters(parameters.ravel()).inertial_parameters.tolist() == parameters.ravel().tolist()
    )
    by_columns = robot.with_inertial_parameters(np.asfortranarray(parameters))
    assert by_columns.inverse_dynamics(*state).tolist() == changed.inverse_dynamics(*state).tolist()
    assert robot.inertial_parameters.tolist() != parameters.ravel().tolist()


def test_a_payload_is_part_of_the_parameters(robot, state):
    loaded = robot.with_payload(Payload(2.0, (0.0, 0.01, 0.05)))
    again = loaded.with_inertial_parameters(loaded.inertial_parameters)
    assert again.payloads == {}
    assert again.inverse_dynamics(*state).tolist() == loaded.inverse_dynamics(*state).tolist()


def test_impossible_parameters_are_findings_by_link(robot):
    parameters = robot.inertial_parameters.reshape(-1, 10).copy()
    parameters[2, 0] = -1.0
    changed = robot.with_inertial_parameters(parameters)
    link = robot.link_names[3]
    assert f"error: link '{link}': its mass of -1 kg is negative" in [str(it) for it in changed.findings]
    restored = changed.with_inertial_parameters(robot.inertial_parameters)
    assert [it for it in restored.findings if it.severity == 'error'] == []


def test_findings_on_replaced_inertials_are_gone_and_those_on_the_base_stay():
    flawed = Robot.from_urdf(TREE.replace('iyy="0.03"', 'iyy="0.12"'))
    assert any('sledge' in it.where for it in flawed.findings)
    right = Robot.from_urdf(TREE)
    assert not any('sledge' in it.where for it in flawed.with_inertial_parameters(right.inertial_parameters).findings)
    kept = {str(it) for it in right.with_friction(viscous=0.1).findings}
    assert kept == {str(it) for it in right.findings}


@pytest.mark.rounding
def test_friction_terms_that_are_not_given_stay(robot):
    changed = robot.with_friction(coulomb=2.0, viscous=np.arange(6.0))
    assert changed.friction.coulomb.tolist() == [2.0] * 6
    assert changed.friction.viscous.tolist() == list(range(6))
    assert changed.friction.transition.tolist() == robot.friction.transition.tolist()
    qd = np.linspace(-1.0, 1.0, 6)
    smooth = qd / np.sqrt(qd * qd + robot.friction.transition**2)
    expected = np.arange(6.0) * qd + 2.0 * smooth + robot.friction.offset
    reference = robot.with_friction(coulomb=2.0, viscous=np.arange(6.0), load=0.0, stribeck=0.0)
    np.testing.assert_allclose(reference.friction_torque(qd), expected, rtol=0, atol=bound(10, 4, scale=5.0))


def test_friction_is_a_copy_whatever_its_memory_layout(robot):
    table = np.arange(12.0).reshape(6, 2)
    changed = robot.with_friction(viscous=table[:, 0], coulomb=(whole := np.ones(6)))
    expected = changed.friction_torque(np.ones(6))
    table[:], whole[:] = 0.0, 0.0
    assert changed.friction.viscous.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    np.testing.assert_array_equal(changed.friction_torque(np.ones(6)), expected)


@pytest.mark.rounding
def test_rotor_inertia_is_on_the_diagonal_and_spins_keep_their_gears(robot):
    rotor = np.linspace(0.1, 0.6, 6)
    q = np.zeros(6)
    changed = robot.with_rotor_inertia(rotor)
    difference = changed.mass_matrix(q) - robot.with_rotor_inertia(np.zeros(6)).mass_matrix(q)
    np.testing.assert_allclose(difference, np.diag(rotor), rtol=0, atol=bound(10, 6, scale=10.0))
    gears = {'gear_ratio': dict.fromkeys(robot.joint_names, 100.0)}
    directions = {'rotor_direction': dict.fromkeys(robot.joint_names, 1.0)}
    inertias = {'rotor_inertia': dict.fromkeys(robot.joint_names, 0.2)}
    spinning = robot.with_actuators({**gears, **directions, **inertias})
    np.testing.assert_allclose(spinning.with_rotor_inertia(rotor).rotor_spin, rotor / 100.0, rtol=1e-15)


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        (
            lambda robot: robot.with_inertial_parameters(np.ones(59)),
            r'parameters: expected shape \(6, 10\), got \(59,\)',
        ),
        (lambda robot: robot.with_inertial_parameters(np.full(60, np.nan)), r'parameters\[0, 0\]: nan is not finite'),
        (lambda robot: robot.with_friction(dry=1.0), r"friction: no term 'dry'; there are viscous, coulomb"),
        (lambda robot: robot.with_friction(coulomb=[1.0, 2.0]), r'coulomb: expected shape \(6,\), got \(2,\)'),
        (
            lambda robot: robot.with_friction(load=-0.1),
            r"load of joint 'shoulder_joint': expected at least 0, got -0.1",
        ),
        (
            lambda robot: robot.with_friction(transition=[1, 1, 0, 1, 1, 1]),
            r"transition of joint 'foreArm_joint': expected above 0, got 0",
        ),
        (lambda robot: robot.with_rotor_inertia(-np.ones(6)), r'rotor_inertia: expected at least 0 kg m\^2'),
    ],
)
def test_refusals_name_the_culprit(robot, change, message):
    with pytest.raises(ArgumentError, match=message):
        change(robot)
