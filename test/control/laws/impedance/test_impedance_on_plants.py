"""A Cartesian impedance on arms in MuJoCo: what it yields to, how it vibrates, and how it presses against a wall."""

import itertools

from support.control.impedance_plant import ImpedancePlant
from support.matrices import matrix
from support.robots.small_robots import AUBO, seven_joints

import numpy as np
import pytest

from robot_dynamics_ros.control.arm.inverse_kinematics import InverseKinematics
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import CartesianHold, Impedance

pytestmark = pytest.mark.compiled  # long without

ARMS = {'six joints': AUBO, 'seven joints': seven_joints()}
STIFFNESS = np.array([20.0, 30.0, 40.0, 500.0, 800.0, 1000.0])
HELD = {'six joints': np.array([0.3, -0.8, 1.1, 0.4, 0.9, 0.1]), 'seven joints': np.full(7, 0.7)}


def impedance_of(arm, stiffness, posture, ratio=0.7):
    return Impedance(stiffness, *(np.full(arm.nv, gain) for gain in posture), ratio)


def pose_of(name, seed):
    """Return a position of an arm: the documented one, then random ones away from singular positions."""
    return HELD[name] if not seed else np.random.default_rng(seed).uniform(0.4, 1.3, ARMS[name].nv)


@pytest.mark.parametrize('name', HELD)
def test_the_frame_yields_as_its_springs_say(name):
    """A push of 10 N or 0.5 N m in each direction, after the vibration is over."""
    arm, q = ARMS[name], HELD[name]
    stiffness = np.array([40.0, 40.0, 40.0, 500.0, 800.0, 1000.0])
    law = CartesianHold(arm, impedance_of(arm, stiffness, (2.0, 2.0), 1.0))
    for direction in range(6):
        wrench = np.zeros(6)
        wrench[direction] = 0.5 if direction < 3 else 10.0
        plant = ImpedancePlant(arm, law, q)
        for _ in range(3000):
            plant.step(wrench)
        expected = wrench / stiffness
        assert plant.error()[direction] == pytest.approx(expected[direction], rel=0.02)
        # the others yield by what a wrench at a turned frame does
        others = np.delete(plant.error() * stiffness, direction) / wrench[direction]
        assert np.abs(others * np.delete(np.r_[np.ones(3) * 0.3, np.ones(3)], direction)).max() < 0.02


@pytest.mark.parametrize(
    ('name', 'seed'), matrix(itertools.product(HELD, range(20)), [('six joints', 0), ('seven joints', 0)])
)
def test_each_vibration_overshoots_as_its_damping_ratio_says(name, seed):
    """exp(-pi z / sqrt(1 - z^2)) = 4.6 % for z = 0.7, along each direction that vibrates by itself."""
    arm, q = ARMS[name], pose_of(name, seed)
    law = CartesianHold(arm, impedance_of(arm, STIFFNESS, (0.0, 2.0)))
    J, M_inv = arm.jacobian(q, arm.link_names[-1]), np.linalg.inv(arm.mass_matrix(q))
    A = J @ M_inv @ J.T
    root = np.sqrt(STIFFNESS)
    values, vectors = np.linalg.eigh(root[:, None] * A * root)
    for w, vector in zip(np.sqrt(values), vectors.T, strict=True):
        # a velocity along the vibration: x(t) = v / w_d exp(-z w t) sin(w_d t)
        plant = ImpedancePlant(arm, law, q)
        start = M_inv @ J.T @ np.linalg.solve(A, vector / root) * 0.1 * w
        plant.data.qvel[:] = start
        seen = []
        for _ in range(int(8.0 / w / 1e-3)):
            plant.step()
            seen.append(root * vector @ plant.error())
        forth, back = np.max(seen), -np.min(seen[int(np.argmax(seen)) :])
        assert back / forth == pytest.approx(np.exp(-np.pi * 0.7 / np.sqrt(1.0 - 0.49)), abs=0.015)


WALLS = itertools.product(HELD, range(5), range(3), (1.0, -1.0), (50.0, 400.0, 2000.0))
"""Arm, position, axis, direction along it, stiffness in N/m."""


@pytest.mark.parametrize(
    ('name', 'seed', 'axis', 'sign', 'k'),
    matrix(WALLS, [('six joints', 0, 2, -1.0, 400.0), ('seven joints', 1, 0, 1.0, 2000.0)]),
)
def test_against_a_wall_the_force_is_that_of_the_stated_displacement(name, seed, axis, sign, k):
    """The frame is held 1 cm behind a wall of 1e5 N/m, which gives way by its share; the posture is free."""
    arm, q, depth, of_wall = ARMS[name], pose_of(name, seed), 0.01, 1e5
    normal = np.eye(6)[3 + axis] * sign
    law = CartesianHold(arm, impedance_of(arm, np.r_[[40.0] * 3, [k] * 3], (0.0, 2.0), 1.0))
    plant, pressed = ImpedancePlant(arm, law, q), 0.0
    for step in range(10_000 if k < 100.0 else 4000):
        velocity = normal @ plant.twist()
        pressed = max(0.0, of_wall * (normal @ plant.error() + min(1.0, step / 500) * depth) + 200.0 * velocity)
        plant.step(-pressed * normal)
    assert pressed == pytest.approx(k * depth / (1.0 + k / of_wall), rel=0.02)


def test_motion_in_the_null_space_leaves_the_frame_where_it_is():
    """The elbow goes aside by up to 0.5 rad of a joint, and the frame is back to 0.5 mm and 0.1 degrees at rest."""
    arm, q = ARMS['seven joints'], HELD['seven joints']
    inverse = InverseKinematics(arm)
    pose = arm.link_pose(q, inverse.link)
    aside = inverse.position(pose, q, q + 0.5 * np.eye(7)[2])
    assert np.abs(aside - q).max() > 0.2
    law = CartesianHold(arm, impedance_of(arm, np.r_[[40.0] * 3, [800.0] * 3], (10.0, 4.0), 0.7))
    plant = ImpedancePlant(arm, law, q)
    plant.held = aside
    for _ in range(8000):
        plant.step()
    assert np.abs(np.array(plant.data.qpos) - aside).max() < 0.02
    rotation, translation = np.split(plant.error(), 2)
    assert np.linalg.norm(translation) < 0.5e-3 and np.degrees(np.linalg.norm(rotation)) < 0.1
