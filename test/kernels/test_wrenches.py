"""Dynamics with wrenches in a reference frame: the twin's wrenches in the frames of the links, and complex steps."""

from functools import cache
from itertools import product
from types import SimpleNamespace

from support.code.robots_code import loop_of_program
from support.matrices import matrix
from support.robots import random_trees as trees
from support.twins import naive

import numpy as np
import pytest

from robot_dynamics_ros.algorithms.program import program_of
from robot_dynamics_ros.model.configuration import integrate
from robot_dynamics_ros.model.model import Frame

TOLERANCE = 1e-10  # of the largest magnitude in the quantity
FRAMES = (0, 1, 2)
VIEW = pytest.mark.parametrize('reference_frame', FRAMES)


@cache
def case(seed):
    """Return a tree of all kinds of joints, a state, and wrenches on points of all links, the motion of the base."""
    joints, rng = trees.random_joints(seed, count=seed, general=0.5 * (seed % 2)), np.random.default_rng([seed, 3])
    rows = rng.normal(scale=3.0, size=(seed + 1, 9))
    turn, F, origin = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(scale=3.0, size=6), rng.normal(size=3)
    return SimpleNamespace(
        frame=(int(rng.integers(seed + 1)), turn * np.linalg.det(turn), origin), F=F,
        joints=joints, arrays=trees.arrays_of(joints), s=trees.random_state(joints, seed), rows=rows,
        v_0=rng.normal(size=6), a_0=rng.normal(size=6),
    )  # fmt: skip


def on_link(T, reference_frame, n, f, point, turn=None):
    """Return a wrench in the frame of a link with pose T; ``turn`` are the axes of ``reference_frame`` 2."""
    R, p = T[:3, :3], T[:3, 3]
    if reference_frame == 0:
        return np.array([*R.T @ (n - np.cross(p, f)), *R.T @ f])
    axes = R.T if reference_frame == 1 else np.eye(3) if turn is None else turn
    return np.array([*(axes @ n + np.cross(point, axes @ f)), *axes @ f])


def on_links(c, reference_frame, form):
    """Return the wrenches in the frames of the links (n + 1, 6), link by link."""
    poses, f_ext = naive.link_poses(c.joints, c.s.q), np.zeros((len(c.joints) + 1, 6))
    if form == 'on a frame':
        link, turn, origin = c.frame
        f_ext[link] = on_link(poses[link], reference_frame, c.F[:3], c.F[3:], origin, turn)
        return f_ext
    for i, (n, f, point) in enumerate(c.rows.reshape(-1, 3, 3)):
        f_ext[i] = on_link(poses[i], reference_frame, n, f, point if form == 'at points' else np.zeros(3))
    return f_ext


INPUTS = {'on a frame': 'wrench', 'at points': 'wrenches_at_points', 'at origins': 'wrenches'}
FORM = pytest.mark.parametrize('form', INPUTS)
SEEDS = (1, 2, 3, 5, 7, 9, 11, 14, 20)
CASE = pytest.mark.parametrize(
    ('seed', 'reference_frame', 'form'),
    matrix(
        product(SEEDS, FRAMES, INPUTS), [(seed, *of) for seed, of in zip(SEEDS, product(FRAMES, INPUTS), strict=True)]
    ),
)


def call(name, c, reference_frame, form, *vectors, shape=None, gravity=None):
    """Return the result of one state, or of each of many, of the quantity ``name`` with wrenches in a form."""
    dtype = np.result_type(float, *vectors)
    wrenches = {'on a frame': c.F, 'at points': c.rows.ravel(), 'at origins': c.rows[:, :6].ravel()}[form]
    states = np.shape(vectors[0])[:-1]
    vectors = [np.atleast_2d(np.ascontiguousarray(vector, dtype)) for vector in (*vectors, wrenches)]
    result = np.full((len(vectors[0]), *(shape or (len(c.s.qd),))), np.nan, dtype)
    gravity = c.s.gravity if gravity is None else gravity
    frames = [Frame(*c.frame)] if form == 'on a frame' else []
    program = program_of(c.arrays, name, frames, reference_frame, INPUTS[form])
    work = trees.nan_workspace(c.arrays, dtype)
    loop_of_program(program)(c.arrays, work, *vectors, gravity.astype(dtype), result)
    return result if states else result[0]


@CASE
def test_rnea_with_wrenches_on_the_links(seed, reference_frame, form):
    c = case(seed)
    expected = naive.inverse_dynamics(
        c.joints, c.s.q, c.s.qd, c.s.qdd, c.s.gravity, on_links(c, reference_frame, form)
    )[0]
    assert (
        trees.relative_error(call('inverse_dynamics', c, reference_frame, form, c.s.q, c.s.qd, c.s.qdd), expected)
        < TOLERANCE
    )


@CASE
def test_accelerations_are_those_of_wrenches_on_the_links(seed, reference_frame, form):
    c = case(seed)
    tau = naive.inverse_dynamics(c.joints, c.s.q, c.s.qd, c.s.qdd, c.s.gravity, on_links(c, reference_frame, form))[0]
    rounding = np.finfo(float).eps * np.linalg.cond(naive.mass_matrix(c.joints, c.s.q)) * 100.0
    for name in ('forward_dynamics_by_mass_matrix', 'forward_dynamics_by_articulated'):
        found = call(name, c, reference_frame, form, c.s.q, c.s.qd, tau)
        assert trees.relative_error(found, c.s.qdd) < max(TOLERANCE, rounding)


@CASE
def test_wrenches_on_a_moving_base(seed, reference_frame, form):
    c = case(seed)
    spatial = c.a_0 - np.concatenate([np.zeros(3), np.cross(c.v_0[:3], c.v_0[3:])])
    f_ext = on_links(c, reference_frame, form)
    expected = naive.inverse_dynamics(c.joints, c.s.q, c.s.qd, c.s.qdd, c.s.gravity, f_ext, c.v_0, spatial)[0]
    name = 'inverse_dynamics_on_moving_base'
    assert (
        trees.relative_error(call(name, c, reference_frame, form, c.s.q, c.s.qd, c.s.qdd, c.v_0, c.a_0), expected)
        < TOLERANCE
    )
    found = call(
        'forward_dynamics_by_mass_matrix_on_moving_base',
        c,
        reference_frame,
        form,
        c.s.q,
        c.s.qd,
        expected,
        c.v_0,
        c.a_0,
    )
    rounding = np.finfo(float).eps * np.linalg.cond(naive.mass_matrix(c.joints, c.s.q)) * 100.0
    assert trees.relative_error(found, c.s.qdd) < max(TOLERANCE, rounding)


DERIVATIVES = pytest.mark.parametrize(
    ('name', 'derivatives'),
    [
        ('inverse_dynamics', 'inverse_dynamics_derivatives'),
        ('forward_dynamics_by_mass_matrix', 'forward_dynamics_derivatives'),
    ],
)


@pytest.mark.slow  # it compiles derivatives that nothing else calls
@pytest.mark.parametrize('seed', [1, 2, 9])
@VIEW
@FORM
@DERIVATIVES
def test_derivatives_are_complex_steps(seed, reference_frame, form, name, derivatives):
    """The wrenches are constant in the reference frame."""
    c = case(seed)
    state = c.s.q, c.s.qd, c.s.qdd if name.startswith('inverse') else c.s.tau
    expected = trees.complex_steps(lambda *moved: call(name, c, reference_frame, form, *moved), c.joints, *state)
    nv = len(c.s.qd)
    found = call(derivatives, c, reference_frame, form, *state, shape=(3, nv, nv))
    rounding = np.finfo(float).eps * np.linalg.cond(naive.mass_matrix(c.joints, c.s.q)) * 1e3
    assert trees.worst_error(found, expected) < max(TOLERANCE, rounding)


@pytest.mark.parametrize('seed', matrix([2, 9], [9]))
@VIEW
@FORM
@DERIVATIVES
def test_derivatives_are_central_differences(seed, reference_frame, form, name, derivatives):
    """Of four points: the error is some h^4 of the scale, which for a matrix near zero is a millionth of the largest,
    and eps cond(M) / h. Here kernels are machine code too."""
    c, h = case(seed), 1e-3
    state = c.s.q, c.s.qd, c.s.qdd if name.startswith('inverse') else c.s.tau
    nv = len(c.s.qd)
    units = np.eye(3 * nv).reshape(3 * nv, 3, nv)

    def moved_by(step):
        states = [(integrate(c.arrays, state[0], step * u[0]), state[1] + step * u[1], state[2] + step * u[2])
                  for u in units]  # fmt: skip
        return call(name, c, reference_frame, form, *map(np.stack, zip(*states, strict=True)))

    a, b, d, e = (moved_by(step) for step in (-2 * h, -h, h, 2 * h))
    expected = ((8 * (d - b) - (e - a)) / (12 * h)).reshape(3, nv, nv).swapaxes(1, 2)
    found = call(derivatives, c, reference_frame, form, *state, shape=(3, nv, nv))
    rounding = np.finfo(float).eps * np.linalg.cond(naive.mass_matrix(c.joints, c.s.q)) / h
    assert trees.worst_error(found, expected) < 1e-5 + 10 * rounding
