"""Forward dynamics by mass matrix: the factor, and agreement with the articulated-body algorithm.

And of both with nv + 1 inverse dynamics, the slow way that needs neither (``naive``).
"""

from support.code.robots_code import loop_of
from support.robots import random_trees as trees
from support.twins import naive

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.kernels.aba import aba
from robot_dynamics_ros.kernels.crba_forward import crba_forward
from robot_dynamics_ros.kernels.ltdl import ltdl, ltdl_solve
from robot_dynamics_ros.model.model import Model

SEEDS = range(12)


def joints_of(seed):
    return trees.random_joints(seed, count=1 + 3 * seed, general=0.5 * (seed % 2))


def drawn(seed):
    joints = joints_of(seed)
    return trees.arrays_of(joints), trees.random_state(joints, seed)


@pytest.mark.parametrize('seed', SEEDS)
def test_the_factor_reproduces_the_mass_matrix(seed):
    model, state = drawn(seed)
    n = len(state.qd)
    M, d = trees.mass_matrix(model, state.q), np.full(n + 1, np.nan)
    whole = M.copy()
    ltdl(model, M, d)
    L = np.tril(M, -1) + np.eye(n)
    assert np.abs(L.T @ np.diag(1.0 / d[1:]) @ L - whole).max() < 1e-12 * np.abs(whole).max()
    x = state.tau.copy()
    ltdl_solve(model, M, d, x)
    assert np.abs(whole @ x - state.tau).max() < 1e-9 * np.abs(state.tau).max()


def test_branches_stay_apart():
    joints = trees.random_joints(4, count=12, chain=0.2)
    model, n = trees.arrays_of(joints), 12
    M, d = trees.mass_matrix(model, np.ones(n)), np.zeros(n + 1)
    zeros = M == 0.0
    assert zeros.any()
    ltdl(model, M, d)
    assert (np.tril(M, -1)[np.tril(zeros, -1)] == 0.0).all()


@pytest.mark.parametrize('seed', SEEDS)
def test_both_algorithms_agree(seed):
    model, state = drawn(seed)
    n = len(state.qd)
    results = []
    for algorithm in (loop_of(aba), loop_of(crba_forward)):
        qdd = np.full((1, n), np.nan)
        work = trees.nan_workspace(model)
        rows = (row[None] for row in (state.q, state.qd, state.tau))
        algorithm(model, work, *rows, state.gravity, state.f_ext[None], qdd)
        results.append(qdd)
    assert np.abs(results[0] - results[1]).max() < 1e-9 * np.abs(results[0]).max()


@pytest.mark.parametrize('robot', [Robot.named('aubo_i5')._model, *range(5)], ids=['aubo_i5', *'01234'])
def test_both_agree_with_the_slow_way(robot):
    described = Model.of('random', trees.BASE, joints_of(robot)) if isinstance(robot, int) else robot
    joints, model = described.joints, described.arrays
    state = trees.random_state(joints, 5)
    given = state.q, state.qd, state.tau, state.gravity, state.f_ext
    expected = naive.forward_dynamics_by_inverse_dynamics(joints, *given)
    q, qd, tau = state.q[None], state.qd[None], state.tau[None]
    for algorithm in (loop_of(aba), loop_of(crba_forward)):
        qdd = np.full((1, len(state.qd)), np.nan)
        algorithm(model, trees.nan_workspace(model), q, qd, tau, state.gravity, state.f_ext[None], qdd)
        assert trees.relative_error(qdd[0], expected) < 1e-10
