"""Velocities, accelerations, Jacobians and momenta of trees with all kinds of joints: identities, twins, Pinocchio."""

from functools import cache
from types import SimpleNamespace

from support.matrices import matrix
from support.robots import random_trees as trees
from support.twins import naive

import numpy as np
import pytest

from robot_dynamics_ros.model import configuration

SEED = pytest.mark.parametrize('seed', matrix(range(2000, 2040), range(2000, 2008)))
TOLERANCE = 1e-9  # of the largest magnitude in the quantity
STEP = 1e-6  # s, of central differences


@cache
def case(seed):
    """Return a tree, a state, and a point of one of its links."""
    joints = trees.with_planar_about_z(trees.random_joints(seed, general=0.5))
    rng = np.random.default_rng(seed)
    return SimpleNamespace(
        joints=joints, arrays=trees.arrays_of(joints), s=trees.random_state(joints, seed),
        link=int(rng.integers(1, len(joints) + 1)), point=rng.uniform(-0.3, 0.3, 3),
    )  # fmt: skip


@cache
def pinocchio_case(seed):
    """Return ``case`` for Pinocchio, with the point as a frame."""
    pin = pytest.importorskip('pinocchio', reason='the outside source, Pinocchio (package pin), is not installed')
    c = case(seed)
    model, links, order = trees.pinocchio_tree(c.joints)
    joint = int(np.flatnonzero(links + 1 == c.link)[0]) + 1
    frame = model.addFrame(pin.Frame('point', joint, pin.SE3(np.eye(3), c.point), pin.FrameType.OP_FRAME))
    q = trees.pinocchio_positions(c.joints, links, c.s.q)
    return SimpleNamespace(pin=pin, model=model, data=model.createData(), order=order, q=q, frame=frame)


def angular_first(array):
    return np.concatenate([array[3:], array[:3]])


def moved(c, seconds):
    """Return position and velocity ``seconds`` later, the joints' accelerations being qdd."""
    step = seconds * c.s.qd + 0.5 * seconds**2 * c.s.qdd
    return configuration.integrate(c.arrays, c.s.q, step), c.s.qd + seconds * c.s.qdd


@SEED
def test_velocity_is_the_jacobian_times_qd(seed):
    c = case(seed)
    v = trees.point_velocity(c.arrays, c.s.q, c.s.qd, c.link, c.point)
    J = trees.jacobian(c.arrays, c.s.q, c.link, c.point)
    assert np.abs(J @ c.s.qd - v).max() < TOLERANCE * np.abs(v).max()


@SEED
def test_velocity_and_jacobian_are_the_twins(seed):
    c = case(seed)
    R = naive.link_poses(c.joints, c.s.q)[c.link][:3, :3]
    to_point = naive.transform(np.eye(3), c.point)
    turned = np.kron(np.eye(2), R) @ to_point
    v = turned @ naive.velocities(c.joints, c.s.q, c.s.qd)[c.link]
    assert trees.relative_error(trees.point_velocity(c.arrays, c.s.q, c.s.qd, c.link, c.point), v) < TOLERANCE
    J = turned @ naive.jacobians(c.joints, c.s.q)[c.link]
    assert trees.relative_error(trees.jacobian(c.arrays, c.s.q, c.link, c.point), J) < TOLERANCE


@SEED
def test_acceleration_is_the_velocitys_derivative(seed):
    c = case(seed)
    a = trees.point_acceleration(c.arrays, c.s.q, c.s.qd, c.s.qdd, c.link, c.point)
    after, before = (trees.point_velocity(c.arrays, *moved(c, t), c.link, c.point) for t in (STEP, -STEP))
    assert np.abs((after - before) / (2.0 * STEP) - a).max() < 1e-5 * np.abs(a).max()


@SEED
def test_acceleration_is_the_twins(seed):
    """Theirs is spatial, of the link's origin: the classical one is w x v more."""
    c = case(seed)
    _, v, a, _ = naive.inverse_dynamics(c.joints, c.s.q, c.s.qd, c.s.qdd, np.zeros(3), trees.no_wrenches(c.joints))
    to_point = naive.transform(np.eye(3), c.point)
    v_point, a_point = to_point @ v[c.link], to_point @ a[c.link]
    a_point[3:] += np.cross(v_point[:3], v_point[3:])
    R = naive.link_poses(c.joints, c.s.q)[c.link][:3, :3]
    found = trees.point_acceleration(c.arrays, c.s.q, c.s.qd, c.s.qdd, c.link, c.point)
    assert trees.relative_error(found, np.kron(np.eye(2), R) @ a_point) < TOLERANCE


@SEED
def test_velocity_jacobian_and_acceleration_are_pinocchios(seed):
    c, p = case(seed), pinocchio_case(seed)
    aligned = p.pin.LOCAL_WORLD_ALIGNED
    p.pin.forwardKinematics(p.model, p.data, p.q, c.s.qd[p.order], c.s.qdd[p.order])
    v = angular_first(p.pin.getFrameVelocity(p.model, p.data, p.frame, aligned).vector)
    assert trees.relative_error(trees.point_velocity(c.arrays, c.s.q, c.s.qd, c.link, c.point), v) < TOLERANCE
    a = angular_first(p.pin.getFrameClassicalAcceleration(p.model, p.data, p.frame, aligned).vector)
    found = trees.point_acceleration(c.arrays, c.s.q, c.s.qd, c.s.qdd, c.link, c.point)
    assert trees.relative_error(found, a) < TOLERANCE
    # for one velocity theirs is a vector
    J = angular_first(p.pin.computeFrameJacobian(p.model, p.data, p.q, p.frame, aligned)).reshape(6, -1)
    assert trees.relative_error(trees.jacobian(c.arrays, c.s.q, c.link, c.point)[:, p.order], J) < TOLERANCE


@SEED
def test_center_of_mass_and_momentum_are_pinocchios(seed):
    c, p = case(seed), pinocchio_case(seed)
    expected = p.pin.centerOfMass(p.model, p.data, p.q)
    assert trees.relative_error(trees.center_of_mass(c.arrays, c.s.q), expected) < TOLERANCE
    A = angular_first(p.pin.computeCentroidalMap(p.model, p.data, p.q)).reshape(6, -1)
    assert trees.relative_error(trees.centroidal_momentum_matrix(c.arrays, c.s.q)[:, p.order], A) < TOLERANCE
    J = p.pin.jacobianCenterOfMass(p.model, p.data, p.q).reshape(3, -1)
    assert trees.relative_error(trees.center_of_mass_jacobian(c.arrays, c.s.q)[:, p.order], J) < TOLERANCE
    h = angular_first(p.pin.computeCentroidalMomentum(p.model, p.data, p.q, c.s.qd[p.order]).vector)
    scale = max(np.abs(h).max(), np.abs(A).max())
    assert np.abs(trees.centroidal_momentum(c.arrays, c.s.q, c.s.qd) - h).max() < TOLERANCE * scale


@SEED
def test_momentum_is_the_twins_about_the_center_of_mass(seed):
    c = case(seed)
    about_base = naive.momentum(c.joints, c.s.q, c.s.qd)
    center = trees.center_of_mass(c.arrays, c.s.q)
    expected = np.concatenate([about_base[:3] - np.cross(center, about_base[3:]), about_base[3:]])
    found = trees.centroidal_momentum_matrix(c.arrays, c.s.q) @ c.s.qd
    for momentum in (found, trees.centroidal_momentum(c.arrays, c.s.q, c.s.qd)):
        assert np.abs(momentum - expected).max() < TOLERANCE * np.abs(about_base).max()


@SEED
def test_center_of_mass_moves_with_momentum_over_mass(seed):
    c = case(seed)
    after, before = (trees.center_of_mass(c.arrays, moved(c, t)[0]) for t in (STEP, -STEP))
    mass = sum(joint.inertia[0] for joint in c.joints)
    found = trees.centroidal_momentum_matrix(c.arrays, c.s.q)[3:] @ c.s.qd / mass
    for velocity in (found, trees.center_of_mass_jacobian(c.arrays, c.s.q) @ c.s.qd):
        assert np.abs((after - before) / (2.0 * STEP) - velocity).max() < 1e-6
