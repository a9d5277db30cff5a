"""Fewer inertial parameters, the same torques."""

from support.code.traces import trace
from support.robots import random_trees as trees
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.codegen.straight_line import count
from robot_dynamics_ros.model.inertial_parameters import parameters_of_moments, second_moments, ten_parameters
from robot_dynamics_ros.model.regrouping import regrouped


@pytest.mark.parametrize('seed', range(40))
def test_torques_and_mass_matrix_stay(seed):
    joints = trees.random_joints(seed)
    arrays = trees.arrays_of(joints)
    state = trees.random_state(joints, seed)
    fewer = regrouped(arrays)
    assert (fewer.I != arrays.I).any() or len(joints) == 1 or fewer is arrays
    motion = (state.q, state.qd, state.qdd, state.gravity, state.f_ext)
    expected = trees.inverse_dynamics(arrays, *motion)
    assert trees.relative_error(trees.inverse_dynamics(fewer, *motion), expected) < 1e-12
    assert trees.relative_error(trees.mass_matrix(fewer, state.q), trees.mass_matrix(arrays, state.q)) < 1e-12


def test_torques_of_the_aubo_i5_stay():
    robot = Robot.named('aubo_i5')
    arrays = robot._model.arrays
    for q, qd, qdd in np.random.default_rng(0).normal(size=(100, 3, 6)):
        expected = trees.inverse_dynamics(arrays, q, qd, qdd, np.array([0.0, 0.0, -9.81]), np.zeros((7, 6)))
        assert np.abs(robot.inverse_dynamics(q, qd, qdd) - expected).max() <= 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize('seed', range(5))
def test_what_a_joint_can_not_feel_is_gone(seed):
    arrays = regrouped(trees.arrays_of(trees.random_joints(seed, count=12)))
    for i in range(1, 12):
        m, h, P = arrays.I[i, 0], arrays.I[i, 1:4], second_moments(arrays.I[i])
        axis = arrays.S[i, :3]
        if axis.any():
            own = (np.ones(3) - np.abs(axis)).argmax()  # another direction still has its moments
            assert abs(axis @ h) < 1e-12 and abs(axis @ P @ axis) < 1e-12 and abs(P[own, own]) > 1e-6
            assert m == 0.0
        else:
            assert not P.any()


def test_the_last_link_keeps_its_own():
    arrays = trees.arrays_of(trees.random_joints(3, count=6))
    assert (regrouped(arrays).I[-1] == arrays.I[-1]).all()


@pytest.mark.parametrize(('count', 'chain', 'left'), [(24, 1.0, False), (25, 1.0, True), (100, 0.0, False)])
def test_trees_with_many_links_in_a_row_are_left_as_they_are(count, chain, left):
    """There regrouping costs digits (``kernels/test_accuracy``)."""
    arrays = trees.arrays_of(trees.random_joints(4, count=count, chain=chain))
    assert (regrouped(arrays).I == arrays.I).all() == left


@pytest.mark.rounding
def test_moments_are_those_of_the_mass_points():
    random = np.random.default_rng(0)
    points, masses = random.normal(size=(9, 3)), random.uniform(size=9)
    row = sum(ten_parameters(mass, point, np.zeros((3, 3))) for mass, point in zip(masses, points, strict=True))
    P = np.einsum('k,ki,kj->ij', masses, points, points)
    largest = bound(10, len(points), scale=np.abs(row).max())
    assert np.abs(second_moments(row) - P).max() < largest
    assert np.abs(parameters_of_moments(masses.sum(), masses @ points, P) - row).max() < largest


def test_fewer_parameters_need_fewer_operations():
    arrays = Robot.named('aubo_i5')._model.arrays
    for name in ('inverse_dynamics', 'gravity_torque', 'forward_dynamics'):
        before, after = (count(trace(these, name)) for these in (arrays, regrouped(arrays)))
        assert after.multiplications < before.multiplications and after.additions < before.additions


def test_a_model_is_regrouped_once_for_all_its_robots():
    robot = Robot.named('aubo_i5')
    assert robot.with_gravity((0.0, 0.0, 1.0))._evaluator.arrays is robot._evaluator.arrays
