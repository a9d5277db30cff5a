"""The inverse of the mass matrix on trees with all kinds of joints: identity, twin, unit torques, Pinocchio."""

from functools import cache

from support.code.robots_code import loop_of
from support.code.traces import trace
from support.matrices import matrix
from support.robots import random_trees as trees
from support.rounding import bound
from support.twins import naive

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.codegen.straight_line import count
from robot_dynamics_ros.kernels.ltdl import ltdl
from robot_dynamics_ros.kernels.mass_matrix_inverse import mass_matrix_inverse
from robot_dynamics_ros.model.regrouping import regrouped

SEEDS = range(3000, 3008)
TOLERANCE = 1e-9  # of the largest magnitude in the quantity


@cache
def case(seed):
    """Return a tree of 1 to 20 joints, its arrays, a state, the result, and the workspace that it leaves."""
    joints = trees.with_planar_about_z(trees.random_joints(seed, count=seed - 2999, general=0.5))
    arrays, s = trees.arrays_of(joints), trees.random_state(joints, seed)
    work, M_inv = trees.nan_workspace(arrays), np.full((len(s.qd), len(s.qd)), np.nan)
    loop_of(mass_matrix_inverse)(arrays, work, s.q[None], M_inv[None])
    return joints, arrays, s, M_inv, work


@pytest.mark.rounding
@pytest.mark.parametrize('seed', SEEDS)
def test_mass_matrix_times_inverse_is_one(seed):
    _, arrays, s, M_inv, _ = case(seed)
    M = trees.mass_matrix(arrays, s.q)
    condition = np.linalg.cond(M)
    assert np.abs(M @ M_inv - np.eye(len(M))).max() < bound(10, len(M), condition)
    assert (M_inv == M_inv.T).all()


@pytest.mark.parametrize('seed', SEEDS)
def test_inverse_is_that_of_the_twin(seed):
    joints, _, s, M_inv, _ = case(seed)
    assert trees.relative_error(M_inv, np.linalg.inv(naive.mass_matrix(joints, s.q))) < TOLERANCE


@pytest.mark.parametrize('seed', SEEDS)
def test_columns_are_accelerations_under_unit_torques(seed):
    joints, arrays, s, M_inv, _ = case(seed)
    rest, no_wrenches = np.zeros(len(s.qd)), trees.no_wrenches(joints)
    columns = [
        trees.forward_dynamics(arrays, s.q, rest, unit, trees.no_gravity(), no_wrenches) for unit in np.eye(len(rest))
    ]
    assert trees.relative_error(M_inv, np.transpose(columns)) < TOLERANCE


@pytest.mark.parametrize('seed', SEEDS)
def test_inverse_is_pinocchios(seed):
    pin = pytest.importorskip(
        'pinocchio', minversion='3.4', reason='the outside source, Pinocchio (package pin), is not installed'
    )
    joints, _, s, M_inv, _ = case(seed)
    model, links, order = trees.pinocchio_tree(joints)
    upper = np.triu(pin.computeMinverse(model, model.createData(), trees.pinocchio_positions(joints, links, s.q)))
    expected = upper + np.triu(upper, 1).T
    assert trees.relative_error(M_inv[np.ix_(order, order)], expected) < TOLERANCE


@pytest.mark.parametrize('seed', matrix(SEEDS, SEEDS[:3]))
def test_what_is_left_behind_is_the_inverse_of_the_mass_matrixs_factor(seed):
    """M = L' D L of ``ltdl``, M^-1 = L 1 / D L': the same D, and factors that are each other's inverse."""
    _, arrays, s, _, work = case(seed)
    n = len(s.qd)
    M, d = trees.mass_matrix(arrays, s.q), np.full(n + 1, np.nan)
    ltdl(arrays, M, d)
    assert trees.relative_error(work.d[1:], d[1:]) < TOLERANCE
    inverse, factor = np.tril(work.M), np.tril(M, -1) + np.eye(n)
    assert np.abs(inverse @ factor - np.eye(n)).max() < TOLERANCE * np.abs(inverse).max()


def test_branches_on_the_base_do_not_feel_each_other():
    joints = trees.random_joints(5, count=12, chain=0.0)
    arrays, parent = trees.arrays_of(joints), naive.parents(joints)
    branch = list(range(13))
    for i in range(1, 13):
        branch[i] = branch[parent[i]] if parent[i] else i
    apart = np.not_equal.outer(branch[1:], branch[1:])
    M_inv = np.full((12, 12), np.nan)
    loop_of(mass_matrix_inverse)(arrays, trees.nan_workspace(arrays), np.ones((1, 12)), M_inv[None])
    assert apart.any() and not apart.all()
    assert (M_inv[apart] == 0.0).all() and (M_inv[~apart] != 0.0).all()


def test_the_inverse_for_the_aubo_i5_needs_few_operations():
    operations = count(trace(regrouped(Robot.named('aubo_i5')._model.arrays), 'mass_matrix_inverse'))
    assert operations.multiplications <= 649 and operations.additions <= 468 and operations.divisions == 6
