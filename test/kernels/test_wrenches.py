"""Dynamics with wrenches in a reference frame: the twin's wrenches in the frames of the links, and complex steps."""

from functools import cache
from types import SimpleNamespace

from support import naive
from support import random_trees as trees
from support.matrices import matrix

import numpy as np
import pytest

from robot_dynamics_ros.jit.batch_loop import batch_loop
from robot_dynamics_ros.kernels import with_wrenches

TOLERANCE = 1e-10  # of the largest magnitude in the quantity
SEED = pytest.mark.parametrize('seed', matrix(range(1, 31), (1, 2, 5, 9, 14, 30)))
VIEW = pytest.mark.parametrize('view', [0, 1, 2])


@cache
def case(seed):
    """Return a tree of all kinds of joints, a state, and wrenches on points of all links, the motion of the base."""
    joints, rng = trees.random_joints(seed, count=seed, general=0.5 * (seed % 2)), np.random.default_rng([seed, 3])
    rows = rng.normal(scale=3.0, size=(seed + 1, 9))
    return SimpleNamespace(
        joints=joints, arrays=trees.arrays_of(joints), s=trees.random_state(joints, seed), rows=rows,
        v_0=rng.normal(size=6), a_0=rng.normal(size=6),
    )  # fmt: skip


def on_links(c, view):
    """Return the wrenches in the frames of the links (n + 1, 6), link by link."""
    f_ext = []
    for T, (n, f, point) in zip(naive.link_poses(c.joints, c.s.q), c.rows.reshape(-1, 3, 3), strict=True):
        R, p = T[:3, :3], T[:3, 3]
        if view == 0:
            f_ext.append([*R.T @ (n - np.cross(p, f)), *R.T @ f])
        elif view == 1:
            f_ext.append([*R.T @ (n + np.cross(R @ point, f)), *R.T @ f])
        else:
            f_ext.append([*(n + np.cross(point, f)), *f])
    return np.array(f_ext)


def call(name, c, view, *vectors, shape=None, gravity=None):
    """Return the result of one state by a kernel of ``with_wrenches``."""
    dtype = np.result_type(float, *vectors)
    vectors = [np.ascontiguousarray(vector, dtype)[None] for vector in (*vectors, c.rows.ravel())]
    result = np.full((1, *(shape or (len(c.s.qd),))), np.nan, dtype)
    gravity = c.s.gravity if gravity is None else gravity
    kernel = batch_loop(getattr(with_wrenches, name))
    kernel(c.arrays, trees.nan_workspace(c.arrays, dtype), *vectors, gravity.astype(dtype), view, result)
    return result[0]


@SEED
@VIEW
def test_torques_are_those_of_wrenches_on_the_links(seed, view):
    c = case(seed)
    expected = naive.inverse_dynamics(c.joints, c.s.q, c.s.qd, c.s.qdd, c.s.gravity, on_links(c, view))[0]
    assert trees.relative_error(call('rnea_with_wrenches', c, view, c.s.q, c.s.qd, c.s.qdd), expected) < TOLERANCE


@SEED
@VIEW
def test_accelerations_are_those_of_wrenches_on_the_links(seed, view):
    c = case(seed)
    tau = naive.inverse_dynamics(c.joints, c.s.q, c.s.qd, c.s.qdd, c.s.gravity, on_links(c, view))[0]
    rounding = np.finfo(float).eps * np.linalg.cond(naive.mass_matrix(c.joints, c.s.q)) * 100.0
    for name in ('crba_forward_with_wrenches', 'aba_with_wrenches'):
        found = call(name, c, view, c.s.q, c.s.qd, tau)
        assert trees.relative_error(found, c.s.qdd) < max(TOLERANCE, rounding)


@SEED
@VIEW
def test_a_moving_base(seed, view):
    c = case(seed)
    spatial = c.a_0 - np.concatenate([np.zeros(3), np.cross(c.v_0[:3], c.v_0[3:])])
    f_ext = on_links(c, view)
    expected = naive.inverse_dynamics(c.joints, c.s.q, c.s.qd, c.s.qdd, c.s.gravity, f_ext, c.v_0, spatial)[0]
    name = 'rnea_on_moving_base_with_wrenches'
    assert trees.relative_error(call(name, c, view, c.s.q, c.s.qd, c.s.qdd, c.v_0, c.a_0), expected) < TOLERANCE
    found = call('crba_forward_on_moving_base_with_wrenches', c, view, c.s.q, c.s.qd, expected, c.v_0, c.a_0)
    rounding = np.finfo(float).eps * np.linalg.cond(naive.mass_matrix(c.joints, c.s.q)) * 100.0
    assert trees.relative_error(found, c.s.qdd) < max(TOLERANCE, rounding)


@SEED
@VIEW
@pytest.mark.parametrize(
    ('name', 'derivatives'),
    [
        ('rnea_with_wrenches', 'rnea_derivatives_with_wrenches'),
        ('crba_forward_with_wrenches', 'forward_derivatives_with_wrenches'),
    ],
)
def test_derivatives_are_complex_steps(seed, view, name, derivatives):
    """The wrenches are constant in the reference frame."""
    c = case(seed)
    state = c.s.q, c.s.qd, c.s.qdd if name.startswith('rnea') else c.s.tau
    expected = trees.complex_steps(lambda *moved: call(name, c, view, *moved), c.joints, *state)
    nv = len(c.s.qd)
    found = call(derivatives, c, view, *state, shape=(3, nv, nv))
    rounding = np.finfo(float).eps * np.linalg.cond(naive.mass_matrix(c.joints, c.s.q)) * 1e3
    assert trees.worst_error(found, expected) < max(TOLERANCE, rounding)
