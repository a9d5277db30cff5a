"""A motor that turns with two joints: its friction and rotor are found, and the coupling where it is not stated."""

from support.logs import excited_logs as logs

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.yaml_files.actuator_export import actuators_of
from robot_dynamics_ros.identification import Log, identify, validate

pytestmark = pytest.mark.compiled

ARM = logs.arm().with_friction(load=0.0)
FIFTH, SIXTH = ARM.joint_names[4:]
COUPLING = {'motor_coupling': {SIXTH: {FIFTH: 1.0}}}
STATED = ARM.with_actuators(COUPLING)
W = np.eye(6)
W[5, 4] = 1.0


def wrist(seed):
    """Each rotor has the inertia and friction of its own velocity W qd, and torques count by W'."""
    t, q, qd, qdd = logs.fourier(seed, duration=20.0, rate=50.0)
    links = ARM.with_rotor_inertia(np.zeros(6)).inverse_dynamics(q, qd, qdd)
    tau = links + (qdd @ W.T * logs.ROTORS + ARM.friction_torque(qd @ W.T)) @ W
    return Log(t, q, qd, qdd, tau + 0.5 * logs.NOISE * np.random.default_rng(seed).normal(size=q.shape))


def test_friction_of_a_stated_coupling_is_that_of_the_motor():
    found = identify(STATED, wrist(1), prior=logs.wrong_masses())
    assert not any('turns with' in it.message for it in found.findings)
    assert found.robot.friction.viscous == pytest.approx(ARM.friction.viscous, rel=0.05)
    assert found.robot.friction.coulomb == pytest.approx(ARM.friction.coulomb, rel=0.05)
    # of the rotor of motor 6, joint 5 has as much; what they have in common is neglected
    assert found.robot.rotor_inertia[4:] == pytest.approx([logs.ROTORS[4] + logs.ROTORS[5], logs.ROTORS[5]], rel=0.15)
    assert found.robot.model.motor_coupling == STATED.model.motor_coupling
    assert validate(found.robot, wrist(21)).r2.min() > 0.98


def test_a_coupling_is_found_and_kept_in_files(tmp_path):
    log, other = wrist(2), wrist(22)
    found = identify(ARM, log)
    (finding,) = (it for it in found.findings if 'turns with' in it.message)
    assert finding.where == f'joint {SIXTH!r}' and f'joint {FIFTH!r}, too (ratio 1)' in finding.message
    assert found.robot.model.motor_coupling == STATED.model.motor_coupling
    (tmp_path / 'actuators.yaml').write_text(actuators_of(found.robot.model))
    again = Robot.from_urdf(found.robot.to_urdf()).with_actuators(tmp_path / 'actuators.yaml')
    assert again.model.motor_coupling == STATED.model.motor_coupling
    assert validate(again, other).r2[4:] == pytest.approx(validate(found.robot, other).r2[4:], abs=1e-6)
    assert validate(found.robot, other).r2.min() > 0.98
