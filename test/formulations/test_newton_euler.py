"""Vectors in link frames: motions of links against the kernels, and the notes' small functions by their definitions."""

from support.robots import chains
from support.robots.random_trees import random_body
from support.rounding import bound

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.formulations import newton_euler
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree, rotation_about, skew
from robot_dynamics_ros.formulations.newton_euler import Motion
from robot_dynamics_ros.model.inertial_parameters import central_parameters, moved, symmetric

RANDOM = np.random.default_rng(16)


def rotation() -> np.ndarray:
    return Rotation.from_quat(RANDOM.normal(size=4)).as_matrix()


def complex_rotation(w, step) -> np.ndarray:
    """1 + [w] dt: a rotation to first order, which is all that a complex step keeps."""
    return np.eye(3) + skew(w) * step


@pytest.mark.parametrize('seed', range(10))
def test_motions_of_links_are_those_of_the_kernels(seed):
    robot = chains.random_chain(seed)
    tree = KinematicTree.of(robot, 'test')
    q, qd, qdd, _ = chains.random_motion(robot, seed)
    for name, link in zip(robot.link_names, newton_euler.outward(tree, q, qd, qdd, np.zeros(3)), strict=True):
        velocity, acceleration = np.concatenate([link.w, link.v]), np.concatenate([link.wd, link.vd])
        R = robot.link_pose(q, name)[:3, :3]
        to_base = np.kron(np.eye(2), R)
        assert np.allclose(to_base @ velocity, robot.link_velocity(q, qd, name), rtol=0.0, atol=1e-12)
        assert np.allclose(to_base @ acceleration, robot.link_acceleration(q, qd, qdd, name), rtol=0.0, atol=1e-11)


@pytest.mark.parametrize('seed', range(10))
def test_motions_of_centres_add_up_to_that_of_the_centre_of_mass(seed):
    """sum of m vc = m J qd, and sum of m vcd is its time derivative."""
    robot = chains.random_chain(seed)
    tree = KinematicTree.of(robot, 'test')
    q, qd, qdd, _ = chains.random_motion(robot, seed)
    motions = newton_euler.outward(tree, q, qd, qdd, np.zeros(3))
    velocity, acceleration = np.zeros(3), np.zeros(3)
    for name, link, c, m in zip(robot.link_names, motions, tree.com, tree.mass, strict=True):
        R = robot.link_pose(q, name)[:3, :3]
        vc, vcd = newton_euler.motion_of_point(link, c)
        velocity, acceleration = velocity + m * R @ vc, acceleration + m * R @ vcd

    def momentum(t):
        return tree.mass.sum() * robot.center_of_mass_jacobian(q + t * qd + t**2 / 2 * qdd) @ (qd + t * qdd)

    h = 1e-5
    assert np.allclose(velocity, momentum(0.0), rtol=0.0, atol=1e-12 * tree.mass.sum())
    difference = (momentum(h) - momentum(-h)) / (2.0 * h)
    assert np.allclose(acceleration, difference, rtol=1e-7, atol=1e-7 * np.abs(acceleration).max())


@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_motion_transfer_is_the_derivative_of_the_pose(kind):
    """Position, velocity and acceleration of a link on a moving parent, by differences of its pose."""
    turn, p, Z = rotation(), RANDOM.normal(size=3), np.array([0.6, 0.0, 0.8])
    q, qd, qdd = RANDOM.normal(size=3)
    w, v, vd = RANDOM.normal(size=(3, 3))

    def pose(t):
        """Of the link at time t; the parent turns with a constant w and is displaced by v t + vd t^2 / 2."""
        at = q + qd * t + qdd * t**2 / 2.0
        parent = Rotation.from_rotvec(w * t).as_matrix()
        shift = v * t + vd * t**2 / 2.0
        if kind == 'revolute':
            return parent @ turn @ rotation_about(Z, at), shift + parent @ p
        return parent @ turn, shift + parent @ (p + turn @ Z * at)

    R, _ = pose(0.0)
    inside = turn.T @ R if kind == 'revolute' else np.eye(3)
    origin = p if kind == 'revolute' else p + turn @ Z * q
    transfer = getattr(newton_euler, f'{kind}_transfer')
    found = transfer(Motion(w, np.zeros(3), v, vd), (turn @ inside).T, origin, Z, qd, qdd)
    h = 1e-4
    (R_1, p_1), (_, p_0), (R_2, p_2) = pose(-h), pose(0.0), pose(h)
    turned = R.T @ (R_2 - R_1) / (2.0 * h)
    assert np.allclose(skew(found.w), turned, rtol=0.0, atol=1e-6)
    assert np.allclose(found.v, R.T @ (p_2 - p_1) / (2.0 * h), rtol=0.0, atol=1e-6)
    assert np.allclose(found.vd, R.T @ (p_2 - 2.0 * p_0 + p_1) / h**2, rtol=0.0, atol=1e-6)
    # R'' = R ([wd] + [w]^2)
    curved = R.T @ (R_2 - 2.0 * R + R_1) / h**2
    assert np.allclose(skew(found.wd) + skew(found.w) @ skew(found.w), curved, rtol=0.0, atol=1e-6)


@pytest.mark.rounding
def test_inertia_of_points_gives_their_angular_momentum_and_energy():
    """I w = sum of r x m (w x r); w' I w / 2 = sum of m |w x r|^2 / 2."""
    masses, points, w = RANDOM.uniform(0.1, 2.0, 5), RANDOM.normal(size=(5, 3)), RANDOM.normal(size=3)
    I = newton_euler.inertia_of_points(masses, points)
    momentum = sum(np.cross(r, m * np.cross(w, r)) for m, r in zip(masses, points, strict=True))
    energy = sum(m * np.sum(np.cross(w, r) ** 2) for m, r in zip(masses, points, strict=True)) / 2.0
    assert np.abs(I @ w - momentum).max() < bound(20, 15, scale=np.abs(I).max() * np.abs(w).max())
    assert abs(w @ I @ w / 2.0 - energy) < bound(20, 15, scale=energy)
    assert (np.linalg.eigvalsh(I) > 0.0).all()


@pytest.mark.rounding
def test_rotation_and_shift_of_an_inertia_are_those_of_its_points():
    masses, points = RANDOM.uniform(0.1, 2.0, 5), RANDOM.normal(size=(5, 3))
    centre = masses @ points / masses.sum()
    about_centre = newton_euler.inertia_of_points(masses, points - centre)
    R, to = rotation(), RANDOM.normal(size=3)
    shifted = newton_euler.inertia_of_points(masses, points - centre + to)
    found = newton_euler.inertia_about_other_point(about_centre, masses.sum(), to)
    assert np.abs(found - shifted).max() < bound(20, 15, scale=np.abs(shifted).max())
    turned = newton_euler.inertia_of_points(masses, points @ R.T)
    about_origin = newton_euler.inertia_of_points(masses, points)
    assert np.allclose(newton_euler.inertia_in_other_axes(about_origin, R), turned, rtol=0.0, atol=1e-12)


def test_both_transforms_are_those_of_the_model():
    row, R, p = random_body(RANDOM), rotation(), RANDOM.normal(size=3)
    mass, com, I = central_parameters(row)
    found = newton_euler.inertia_about_other_point(newton_euler.inertia_in_other_axes(I, R), mass, R @ com + p)
    assert np.allclose(found, symmetric(moved(row, R, p)[4:]), rtol=0.0, atol=1e-12)


@pytest.mark.rounding
def test_inertia_rate_is_the_derivative_of_a_rotating_inertia():
    """d/dt of R I R' with R' = [w] R, by a complex step; along w it vanishes: [w] w = 0."""
    w, h = RANDOM.normal(size=3), 1e-30
    I = symmetric(random_body(RANDOM)[4:])
    rotated = newton_euler.inertia_in_other_axes(I, complex_rotation(w, 1j * h))
    largest = bound(20, 3, scale=np.abs(I).max() * np.abs(w).max())
    assert np.abs(newton_euler.inertia_rate(I, w) - rotated.imag / h).max() < largest
    assert newton_euler.inertia_rate(I, w) @ w == pytest.approx(np.cross(w, I @ w))
    assert abs(w @ newton_euler.inertia_rate(I, w) @ w) < largest * np.abs(w).max() ** 2
