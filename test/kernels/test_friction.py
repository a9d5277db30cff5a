"""Joint friction: odd without its offset, Coulomb at high speed, smooth at zero velocity."""

import dataclasses

from support.robots import random_trees as trees
from support.robots.facade_robots import ACTUATORS, TREE

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.friction import friction_torque
from robot_dynamics_ros.model.model import Model

VISCOUS = np.array([0.5, 9.0, 0.0])
COULOMB = np.array([3.0, 0.0, 12.0])
TRANSITION = np.array([0.01, 0.2, 0.05])
UNCOUPLED = np.zeros((0, 0))


def friction_at(qd, offset=0.0):
    """Return the friction torque of three joints that move at qd (3 or one number), by the kernel."""
    three = trees.random_joints(seed=1, count=3)
    joints = [
        dataclasses.replace(joint, viscous=viscous, coulomb=coulomb, transition=transition, offset=offset)
        for joint, viscous, coulomb, transition in zip(three, VISCOUS, COULOMB, TRANSITION, strict=True)
    ]
    qd = np.full(3, qd) if np.ndim(qd) == 0 else np.ascontiguousarray(qd)
    tau = np.full_like(qd, np.nan)
    friction_torque(
        np.array(Model.of('three', trees.BASE, joints).friction), UNCOUPLED, qd, np.zeros_like(qd), 0.0 * qd, tau
    )
    return tau


@pytest.mark.parametrize('qd', [1e-5, 0.01, 0.3, 2.0])
def test_friction_is_odd(qd):
    """Without offset, friction only changes its sign with the velocity; an offset adds at any velocity."""
    assert np.all(friction_at(qd) > 0.0)
    assert np.array_equal(friction_at(-qd), -friction_at(qd))
    assert np.array_equal(friction_at(0.0), np.zeros(3))
    assert np.array_equal(friction_at(0.0, offset=0.25), np.full(3, 0.25))
    both_ways = friction_at(qd, offset=0.25) + friction_at(-qd, offset=0.25)
    assert np.allclose(both_ways, 0.5, rtol=0.0, atol=1e-14)


def test_friction_slope_at_zero_velocity():
    """No jump: the slope at rest is viscous + coulomb / transition velocity."""
    expected = VISCOUS + COULOMB / TRANSITION
    complex_step = friction_at(1e-30j * np.ones(3)).imag / 1e-30
    assert np.allclose(complex_step, expected, rtol=1e-14, atol=0.0)


def test_friction_tends_to_coulomb():
    """Far above the transition velocity the smooth sign is 1, less half the square of their ratio."""
    coulomb = friction_at(100.0 * TRANSITION) - VISCOUS * 100.0 * TRANSITION
    assert np.allclose(coulomb, COULOMB * (1.0 - 0.5e-4), rtol=1e-8, atol=1e-12)


def test_friction_at_the_transition_velocity():
    """There the smooth sign is 1 / sqrt(2) = 0.7071."""
    coulomb = friction_at(TRANSITION) - VISCOUS * TRANSITION
    assert np.allclose(coulomb, COULOMB * np.sqrt(0.5), rtol=1e-12, atol=1e-15)


def friction_of_joint(qd, tau, **figures):
    """Return the friction torques (count) of one joint at qd (count) under the transmitted torques tau."""
    joint = dataclasses.replace(trees.random_joints(seed=1, count=1)[0], **figures)
    friction = np.array(Model.of('one', trees.BASE, [joint]).friction)
    qd, tau = np.broadcast_arrays(np.atleast_1d(qd)[:, None], np.atleast_1d(tau)[:, None])
    torque = np.full(qd.shape, np.nan)
    for b in range(len(qd)):
        friction_torque(friction, UNCOUPLED, 1.0 * qd[b], 1.0 * tau[b], 0.0 * qd[b], torque[b])
    return torque[:, 0]


def test_friction_is_its_formula():
    figures = dict(
        viscous=0.7,
        coulomb=2.0,
        offset=-0.3,
        transition=0.02,
        stribeck=1.5,
        stribeck_velocity=0.2,
        load=0.1,
        quadratic=0.4,
    )
    qd, tau = np.random.default_rng(0).uniform(-1.0, 1.0, (2, 50)) * [[1.0], [30.0]]
    level = 2.0 + 0.1 * abs(tau) + 1.5 / (1.0 + (qd / 0.2) ** 2)
    expected = (0.7 + 0.4 * abs(qd)) * qd + level * qd / np.hypot(qd, 0.02) - 0.3
    assert friction_of_joint(qd, tau, **figures) == pytest.approx(expected, rel=1e-14)


def test_stribeck_friction_falls_from_its_peak_to_coulomb():
    """Half of what it has beyond Coulomb is left at the Stribeck velocity, a hundredth at ten times of it."""
    figures = dict(coulomb=2.0, transition=1e-9, stribeck=1.6, stribeck_velocity=0.05)
    qd = np.array([1e-6, 0.05, 0.5, 50.0])
    expected = 2.0 + 1.6 * np.array([1.0, 0.5, 1.0 / 101.0, 0.0])
    assert friction_of_joint(qd, 0.0, **figures) == pytest.approx(expected, abs=1e-5)
    slow, fast = friction_of_joint(np.array([0.02, 0.1]), 0.0, viscous=1.0, **figures)
    assert slow > fast


def test_friction_grows_with_the_load_whichever_way_it_points():
    figures = dict(coulomb=2.0, transition=1e-9, load=0.05)
    assert friction_of_joint([1.0, 1.0, 1.0], [0.0, 40.0, -40.0], **figures) == pytest.approx(
        [2.0, 4.0, 4.0], rel=1e-12
    )
    assert friction_of_joint([-1.0, -1.0], [40.0, -40.0], **figures) == pytest.approx([-4.0, -4.0], rel=1e-12)
    torques = np.array([0.0, 1e-12, 3.3, -123.456, 1e6])
    assert (friction_of_joint(np.ones(5), torques, transition=1e-9, load=1.0) == abs(torques)).all()


def test_what_is_not_there_changes_no_bit():
    """A joint without Stribeck's part and load, whatever it transmits, has the friction of the three other figures."""
    qd, tau = np.random.default_rng(1).normal(size=(2, 1000)) * [[1.0], [100.0]]
    v = trees.random_joints(seed=1, count=1)[0].transition
    simple = np.array([_three_figures(0.7, 2.0, -0.3, v, it) for it in qd])
    assert (friction_of_joint(qd, tau, viscous=0.7, coulomb=2.0, offset=-0.3) == simple).all()


@kernel
def _three_figures(viscous, coulomb, offset, transition, qd):
    """Return viscous qd + coulomb sign(qd) + offset."""
    return viscous * qd + coulomb * (qd / np.sqrt(qd * qd + transition * transition)) + offset


LOADED = {'friction_load': {'z_turn': 0.0, 'm_slide': 0.2, 'a_wag': 0.0}}


def test_friction_that_grows_with_the_load_asks_for_it():
    robot = Robot.from_urdf(TREE).with_actuators({**ACTUATORS, **LOADED})
    qd, tau = np.random.default_rng(2).uniform(-2.0, 2.0, (2, 4, 3))
    with pytest.raises(
        ArgumentError, match=r"^tau: required, since the friction of joint 'm_slide' grows with the torque"
    ):
        robot.friction_torque(qd)
    plain = Robot.from_urdf(TREE).with_actuators(ACTUATORS)
    more = robot.friction_torque(qd, tau) - plain.friction_torque(qd)
    assert more[:, [0, 2]].tolist() == np.zeros((4, 2)).tolist()
    assert more[:, 1] == pytest.approx(0.2 * abs(tau[:, 1]) * qd[:, 1] / np.hypot(qd[:, 1], 0.05))
    # one torque for all states, one state for all torques
    assert (robot.friction_torque(qd, tau[0])[2] == robot.friction_torque(qd[2], tau[0])).all()
    assert (robot.friction_torque(qd[0], tau)[2] == robot.friction_torque(qd[0], tau[2])).all()
    with pytest.raises(ArgumentError, match=r'^tau\[1\]: nan is not finite$'):
        robot.friction_torque(qd[0], [0.0, np.nan, 0.0])


def test_a_motor_that_other_joints_turn_brakes_them():
    """Motor 3 turns with q3 + q2 / 2, motor 1 with q1 - q3: their friction does the work of their velocities."""
    joints = trees.random_joints(seed=2, count=3)
    friction, random = np.array(Model.of('three', trees.BASE, joints).friction), np.random.default_rng(3)
    W = np.eye(3)
    W[2, 1], W[0, 2] = 0.5, -1.0
    for qd in random.normal(size=(20, 3)):
        motors, alone, coupled = np.zeros((3, 3))
        friction_torque(friction, UNCOUPLED, W @ qd, np.zeros(3), motors, alone)
        friction_torque(friction, W, qd, np.zeros(3), motors, coupled)
        assert motors == pytest.approx(alone, rel=1e-13) and coupled == pytest.approx(W.T @ alone, rel=1e-13)
        assert coupled @ qd == pytest.approx(alone @ (W @ qd))
    # the identity changes nothing
    friction_torque(friction, np.eye(3), qd, np.zeros(3), motors, coupled)
    friction_torque(friction, UNCOUPLED, qd, np.zeros(3), motors, alone)
    assert (coupled == alone).all()
