"""Coriolis matrix: identities, Christoffel symbols, the twin of 6 x 6 matrices, Pinocchio, and rotors with spin."""

import dataclasses
from functools import cache

from support.code.robots_code import loop_of
from support.matrices import matrix
from support.robots import random_trees as trees
from support.twins import naive

import numpy as np
import pytest

from robot_dynamics_ros.kernels.coriolis_matrix import coriolis_matrix

TOLERANCE = 1e-11  # of the largest entry; 2e-15 was the worst found
SEEDS = range(1, 41)
SEED = pytest.mark.parametrize('seed', matrix(SEEDS, (1, 2, 3, 5, 8, 13, 20, 33, 40)))
KINDS = ('revolute', 'prismatic', 'helical', 'cylindrical')  # qd is the time derivative of q


@cache
def case(seed):
    """Return joints of one or two degrees of freedom, about half of the turning ones with spin, arrays and a state."""
    joints, rng = trees.random_joints(seed, count=seed, general=0.6), np.random.default_rng(seed)
    joints = [it if it.kind in KINDS else dataclasses.replace(it, kind='cylindrical') for it in joints]
    joints = [
        dataclasses.replace(it, spin=float(rng.uniform(-0.1, 0.1))) if it.kind == 'revolute' and rng.random() < 0.5
        else it
        for it in joints
    ]  # fmt: skip
    return joints, trees.arrays_of(joints), trees.random_state(joints, seed)


def kernel(model, q, qd):
    """Return C (nv, nv) by the kernel."""
    C = np.full((1, len(qd), len(qd)), np.nan)
    loop_of(coriolis_matrix)(model, trees.nan_workspace(model), q[None], qd[None], C)
    return C[0]


def mass_matrix_slopes(model, q):
    """Return dM/dq_k (nv, nv, nv) by complex steps, k first."""
    return np.array([trees.mass_matrix(model, q + 1j * trees.STEP * unit).imag / trees.STEP for unit in np.eye(len(q))])


def largest(*arrays) -> float:
    return max(np.abs(array).max() for array in arrays)


def test_the_cases_have_every_kind_and_rotors():
    joints = [joint for seed in SEEDS for joint in case(seed)[0]]
    assert {joint.kind for joint in joints} == set(KINDS)
    assert sum(joint.spin != 0.0 for joint in joints) > 50


@SEED
def test_entries_are_those_of_christoffel_symbols(seed):
    """C_ij = sum of (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) qd_k / 2. Siciliano et al. 2009, eq. 7.45."""
    _, model, s = case(seed)
    dM = mass_matrix_slopes(model, s.q)
    symbols = 0.5 * (np.einsum('kij->ijk', dM) + np.einsum('jik->ijk', dM) - np.einsum('ijk->ijk', dM))
    error = largest(kernel(model, s.q, s.qd) - symbols @ s.qd)
    assert error < TOLERANCE * largest(dM @ s.qd, trees.mass_matrix(model, s.q))


@SEED
def test_coriolis_torques_and_the_rate_of_the_mass_matrix(seed):
    """C qd = c by inverse dynamics, and Mdot = C + C'."""
    joints, model, s = case(seed)
    C = kernel(model, s.q, s.qd)
    c = trees.inverse_dynamics(model, s.q, s.qd, 0.0 * s.qd, trees.no_gravity(), trees.no_wrenches(joints))
    scale = largest(C, trees.mass_matrix(model, s.q))
    assert largest(C @ s.qd - c) < TOLERANCE * largest(scale * s.qd)
    rate = trees.mass_matrix(model, s.q + 1j * trees.STEP * s.qd).imag / trees.STEP
    assert largest(rate - C - C.T) < TOLERANCE * scale


@SEED
def test_matrix_is_linear_in_qd(seed):
    _, model, s = case(seed)
    one, other, both = (kernel(model, s.q, qd) for qd in (s.qd, s.qdd, s.qd + s.qdd))
    assert largest(one + other - both) < TOLERANCE * largest(one, other, trees.mass_matrix(model, s.q))


@SEED
def test_matrix_is_the_twins(seed):
    """Sum of J' (I dJ/dt + B J), B = (v x* I + (I v) crossed from the right - I v x) / 2; the twin has no spin."""
    joints, _, s = case(seed)
    joints = [dataclasses.replace(joint, spin=0.0) for joint in joints]
    parent, X, S = naive.parents(joints), naive.joint_transforms(joints, s.q), naive.joint_axes(joints)
    v, inertia, J = naive.velocities(joints, s.q, s.qd), naive.inertias(joints), naive.jacobians(joints, s.q)
    expected, dJ = np.zeros((len(s.qd), len(s.qd))), [np.zeros_like(J[0])]
    for i, (_, of_v) in enumerate(naive.places(joints), start=1):
        # an axis moves with its link: dS/dt = v_i x S
        dJ_i = X[i] @ dJ[parent[i]]
        dJ_i[:, of_v] = naive.crm(v[i]) @ S[i]
        dJ.append(dJ_i)
        from_right = np.array([naive.crf(unit) @ inertia[i] @ v[i] for unit in np.eye(6)]).T
        B = 0.5 * (naive.crf(v[i]) @ inertia[i] + from_right - inertia[i] @ naive.crm(v[i]))
        expected += J[i].T @ (inertia[i] @ dJ_i + B @ J[i])
    found = kernel(trees.arrays_of(joints), s.q, s.qd)
    assert largest(found - expected) < TOLERANCE * largest(expected, naive.mass_matrix(joints, s.q))


@SEED
def test_matrix_is_pinocchios(seed):
    pin = pytest.importorskip(
        'pinocchio', minversion='3.4', reason='the outside source, Pinocchio (package pin), is not installed'
    )
    joints = trees.random_joints(seed, count=seed)
    s = trees.random_state(joints, seed)
    model, links, order = trees.pinocchio_tree(joints)
    q = trees.pinocchio_positions(joints, links, s.q)
    theirs = pin.computeCoriolisMatrix(model, model.createData(), q, s.qd[order])
    found = kernel(trees.arrays_of(joints), s.q, s.qd)[np.ix_(order, order)]
    assert largest(found - theirs) < TOLERANCE * largest(theirs, np.ones(1))
