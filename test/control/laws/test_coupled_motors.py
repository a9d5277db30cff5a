"""Motors that turn with several joints: their friction in robots, files and control laws; what is refused."""

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.laws.joint_space_control import JointSpaceControl
from robot_dynamics_ros.control.observers.momentum_observer import MomentumObserver
from robot_dynamics_ros.control.terms.compensation import Compensation
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formats.yaml_files.actuator_export import actuators_of
from robot_dynamics_ros.robot.export.c_library_export import controller_library
from robot_dynamics_ros.simulation.simulator import simulate

ALONE = Robot.named('aubo_i5').with_friction(
    viscous=[9.0, 8.0, 7.0, 3.0, 2.0, 1.5], coulomb=2.0, load=0.1, quadratic=0.3
)
FOURTH, FIFTH, SIXTH = ALONE.joint_names[3:]
COUPLED = ALONE.with_actuators({'motor_coupling': {SIXTH: {FIFTH: 1.0, FOURTH: -0.5}, FIFTH: {FOURTH: 1.0}}})
W = np.eye(6)
W[5, 4], W[5, 3], W[4, 3] = 1.0, -0.5, 1.0
Q, QD, QDD = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 6))


def expected(qd, transmitted):
    return W.T @ ALONE.friction_torque(W @ qd, transmitted)


def test_friction_acts_at_the_motors():
    transmitted = ALONE.inverse_dynamics(Q, QD, QDD)
    assert COUPLED.friction_torque(QD, transmitted) == pytest.approx(expected(QD, transmitted), rel=1e-12)
    many = np.random.default_rng(1).normal(size=(3, 4, 6))
    found, out = COUPLED.friction_torque(many, transmitted), np.zeros((3, 4, 6))
    assert COUPLED.friction_torque(many, transmitted, out=out) is out and (out == found).all()
    assert found[2, 1] == pytest.approx(expected(many[2, 1], transmitted), rel=1e-12)
    assert COUPLED.digest == ALONE.digest and (COUPLED.mass_matrix(Q) == ALONE.mass_matrix(Q)).all()


def test_files_hold_the_coupling(tmp_path):
    path = tmp_path / 'actuators.yaml'
    path.write_text(actuators_of(COUPLED.model))
    again = Robot.named('aubo_i5').with_actuators(path)
    assert again.model.motor_coupling == COUPLED.model.motor_coupling
    assert Robot.from_yaml(COUPLED.to_yaml()).model.motor_coupling == COUPLED.model.motor_coupling
    assert 'motor_coupling' not in actuators_of(ALONE.model) + ALONE.to_yaml()
    assert not again.with_actuators({'motor_coupling': {}}).model.motor_coupling


def test_a_part_of_the_robot_keeps_the_coupling_of_its_joints():
    wrist = COUPLED.chain(COUPLED.link_names[4], gravity=(0.0, 0.0, -9.81))
    assert wrist.model.motor_velocities().tolist() == [[1.0, 0.0], [1.0, 1.0]]
    both = ALONE.with_attached(COUPLED, 'wrist3_Link', prefix='other_')
    assert both.model.motor_velocities()[6:, 6:].tolist() == W.tolist()
    # a joint that is locked does not turn the motors of others
    held = COUPLED.with_locked_joints({FOURTH: 0.3})
    assert held.model.motor_velocities()[3:, 3:].tolist() == [[1.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize('terms', [('gravity', 'coriolis', 'inertia', 'friction'), ('friction',)])
def test_compensation_adds_the_friction_of_coupled_motors(terms):
    out = np.full(6, np.nan)
    Compensation(COUPLED, terms).torque(Q, QD, QDD, out)
    transmitted = ALONE.inverse_dynamics(Q, QD, QDD)
    rigid = transmitted if 'gravity' in terms else 0.0
    assert out == pytest.approx(rigid + expected(QD, transmitted), rel=1e-10)


def test_computed_torque_adds_the_friction_of_coupled_motors():
    found = []
    for robot in (COUPLED, ALONE):
        law, out = JointSpaceControl(robot, 'computed_torque', np.full(6, 10.0), np.ones(6), 5.0), np.zeros(6)
        law.torque(Q, QD, (Q, QD, QDD), np.zeros(6), out)
        found.append(out)
    transmitted = ALONE.inverse_dynamics(Q, QD, QDD)
    difference = expected(QD, transmitted) - ALONE.friction_torque(QD, transmitted)
    assert found[0] - found[1] == pytest.approx(difference, abs=1e-9)


def test_the_momentum_observer_subtracts_it():
    robot = COUPLED.with_friction(load=0.0)
    observer, friction = MomentumObserver(robot, gain=100.0), robot.friction_torque(QD)
    for k in range(100):
        t = 1e-3 * k
        q = Q + t * QD
        torque = robot.inverse_dynamics(q, QD, 0.0 * q) + friction
        valid = observer.update(round(1e9 * (1.0 + t)), q, QD, torque)
    assert valid and np.abs(observer.residual).max() < 1e-3
    alone = ALONE.with_friction(load=0.0).friction_torque(QD)
    assert np.abs(friction - alone)[3:].min() > 0.1


@pytest.mark.parametrize(
    ('table', 'message'),
    [
        ({SIXTH: {'tool': 1.0}}, "actuators: motor_coupling: no joint 'tool' in aubo_i5"),
        ({'tool': {FIFTH: 1.0}}, "motor_coupling: no joint 'tool'"),
        ({SIXTH: {SIXTH: 1.0}}, 'is coupled with itself'),
        ({SIXTH: {FIFTH: 'one'}}, f'motor_coupling: {SIXTH}: {FIFTH}: expected'),
        ({SIXTH: 1.0}, f'motor_coupling: {SIXTH}: expected a table'),
        ({SIXTH: {FIFTH: float('nan')}}, f'motor_coupling: {SIXTH}: {FIFTH}'),
    ],
)
def test_a_wrong_coupling_is_named(table, message):
    with pytest.raises(ModelError, match=message):
        ALONE.with_actuators({'motor_coupling': table})


def test_what_has_no_coupling_of_motors_refuses_it_by_name():
    with pytest.raises(ModelError, match=f'joint {FOURTH!r} turns the motor of joint {FIFTH!r}, which'):
        controller_library(COUPLED)
    with pytest.raises(ArgumentError, match=f'the motor of joint {FIFTH!r} is coupled'):
        simulate(COUPLED, Q, QD, duration=0.01, friction=True)
