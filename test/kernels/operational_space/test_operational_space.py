"""Operational-space kernels against NumPy's matrices of the naive twin, on arms, trees and free bases with rotors."""

import dataclasses
from functools import cache
from types import SimpleNamespace

from support.code.robots_code import loop_of
from support.matrices import matrix
from support.robots import random_trees as trees
from support.twins import naive

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.kernels import kinematics, operational_space

SEED = pytest.mark.parametrize('seed', matrix(range(12), range(5)))
VIEW = pytest.mark.parametrize('reference_frame', [0, 1, 2])


@cache
def case(seed):
    """Return a tree on at least six joints in a row, the last of which carries the frame, and matrices of the twin."""
    rng = np.random.default_rng(seed)
    joints = trees.random_joints(seed, count=6 + seed, chain=1.0, general=0.3 * (seed % 2))
    joints += [
        dataclasses.replace(joint, name=f'other {joint.name}', link=f'other {joint.link}', parent=joints[2].link)
        for joint in trees.random_joints(seed + 100, count=3, chain=0.0)
    ]
    joints = [
        dataclasses.replace(it, spin=float(rng.uniform(-0.05, 0.05))) if it.kind == 'revolute' else it for it in joints
    ]
    arrays, s, link = trees.arrays_of(joints), trees.random_state(joints, seed), 6 + seed
    rotation, origin = Rotation.from_quat(rng.normal(size=4)).as_matrix(), rng.normal(size=3)
    T = naive.link_poses(joints, s.q)[link]
    M = trees.mass_matrix(arrays, s.q)
    return SimpleNamespace(joints=joints, arrays=arrays, s=s, frame=(link, rotation, origin), T=T, M=M)


def jacobian(c, reference_frame):
    """Return J (6, nv) by the twin."""
    link, rotation, origin = c.frame
    R, p = c.T[:3, :3] @ rotation, c.T[:3, :3] @ origin + c.T[:3, 3]
    w, v = np.split(naive.jacobians(c.joints, c.s.q)[link], 2)
    w, v = c.T[:3, :3] @ w, c.T[:3, :3] @ (v + np.cross(w, origin, axis=0))
    if reference_frame == 0:
        v = v + np.cross(p, w, axis=0)
    if reference_frame == 2:
        w, v = R.T @ w, R.T @ v
    return np.vstack([w, v])


def call(name, c, reference_frame, *arguments, shape):
    """Return the result of one state by a kernel."""
    result = np.full((1, *shape), np.nan)
    kernel = loop_of(getattr(operational_space, name))
    kernel(c.arrays, trees.nan_workspace(c.arrays), *arguments, *c.frame, reference_frame, result)
    return result[0]


def tolerance(c, J) -> float:
    """Return 1e-11, or what rounding makes of the conditions of M and of J M^-1 J'."""
    conditions = np.linalg.cond(c.M), np.linalg.cond(J @ np.linalg.solve(c.M, J.T))
    return max(1e-11, 1e3 * np.finfo(float).eps * max(conditions))


@SEED
@VIEW
def test_inertia_and_inverse_are_those_of_the_twins_matrices(seed, reference_frame):
    c = case(seed)
    J = jacobian(c, reference_frame)
    expected = np.linalg.inv(J @ np.linalg.solve(c.M, J.T))
    found = call('operational_space_inertia', c, reference_frame, c.s.q[None], shape=(6, 6))
    assert trees.relative_error(found, expected) < tolerance(c, J)
    assert np.array_equal(found, found.T)
    inverse = call('consistent_inverse', c, reference_frame, c.s.q[None], shape=(len(c.M), 6))
    assert trees.relative_error(inverse, np.linalg.solve(c.M, J.T) @ expected) < tolerance(c, J)


@SEED
@VIEW
def test_bias_accelerates_the_frame_against_what_it_does_alone(seed, reference_frame):
    """bias = -inertia a, where a is the frame's acceleration without joint torques, gravity included."""
    c = case(seed)
    J, s, none = jacobian(c, reference_frame), c.s, trees.no_wrenches(c.joints)
    inertia = np.linalg.inv(J @ np.linalg.solve(c.M, J.T))
    h = trees.inverse_dynamics(c.arrays, s.q, s.qd, 0.0 * s.qd, s.gravity, none)
    zeros = np.zeros((1, len(s.qd)))
    a = np.full((1, 6), np.nan)
    loop_of(kinematics.frame_acceleration)(
        c.arrays, trees.nan_workspace(c.arrays), s.q[None], s.qd[None], zeros, *c.frame, reference_frame, a
    )
    arguments = s.q[None], s.qd[None], zeros, s.gravity, none[None]
    found = call('operational_space_bias', c, reference_frame, *arguments, shape=(6,))
    expected = inertia @ (J @ np.linalg.solve(c.M, h) - a[0])
    assert np.abs(found - expected).max() < tolerance(c, J) * np.abs(inertia).max() * np.abs(a).max()


@VIEW
def test_no_result_is_finite_where_the_frame_cannot_move_in_all_directions(reference_frame):
    """Five joints, or a frame before the sixth; with six the result is finite."""
    c = case(0)
    for link in range(6):
        short = SimpleNamespace(**{**vars(c), 'frame': (link, *c.frame[1:])})
        assert not np.isfinite(
            call('operational_space_inertia', short, reference_frame, c.s.q[None], shape=(6, 6))
        ).all()
        inverse = call('consistent_inverse', short, reference_frame, c.s.q[None], shape=(len(c.M), 6))
        assert not np.isfinite(inverse).all()
    assert np.isfinite(call('operational_space_inertia', c, reference_frame, c.s.q[None], shape=(6, 6))).all()


@pytest.mark.parametrize('condition', [1e3, 1e10, 0.99e12 / 36.0, 1.01e12, 1e15])
def test_the_condition_above_which_the_inverse_is_not_finite(condition):
    """No matrix of a condition above 1e12 has a finite inverse, all below 1e12 / 36 have one."""
    for seed in range(20):
        axes = np.linalg.qr(np.random.default_rng(seed).normal(size=(6, 6)))[0]
        sizes = np.geomspace(1.0, 1.0 / condition, 6)
        A, A_inv = axes @ np.diag(sizes) @ axes.T, np.full((6, 6), np.nan)
        expected = axes @ np.diag(1.0 / sizes) @ axes.T
        operational_space.invert(A, A_inv)
        assert np.isfinite(A_inv).all() == (condition < 1e12)
        if condition < 1e12:
            assert trees.relative_error(A_inv, expected) < 1e2 * np.finfo(float).eps * condition
