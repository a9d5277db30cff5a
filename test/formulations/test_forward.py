"""``forward``: four ways of forward dynamics against the kernels and each other."""

from dataclasses import replace

from support.robots import chains
from support.robots import random_trees as trees
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formulations import forward, spatial
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree
from robot_dynamics_ros.model.model import Model

ROBOTS = chains.robots()
OF_TREES = [method for method in forward.METHODS if method is not forward.by_operators]


def check(method, robot: Robot, seed: int) -> None:
    """FD(ID(qdd)) = qdd, as the kernels' FD does."""
    q, qd, qdd, wrench = chains.random_motion(robot, seed)
    tau = chains.expected_torques(robot, q, qd, qdd, wrench)
    found = method(robot, q, qd, tau, wrench)
    largest = chains.rounding(robot, q, qd, tau, wrench)
    assert np.abs(found - qdd).max() < largest, robot.name
    # the wrench as torques J' F
    expected = robot.forward_dynamics(q, qd, tau + robot.jacobian(q, robot.link_names[-1]).T @ wrench)
    assert np.abs(found - expected).max() < largest, robot.name


@pytest.mark.rounding
@pytest.mark.compiled
@pytest.mark.parametrize('method', forward.METHODS, ids=lambda method: method.__name__)
def test_accelerations_of_chains_agree_with_the_kernels(method):
    for seed, robot in enumerate(ROBOTS.values()):
        check(method, robot, seed)


@pytest.mark.rounding
@pytest.mark.parametrize('method', OF_TREES, ids=lambda method: method.__name__)
def test_accelerations_of_trees_agree_with_the_kernels(method):
    for seed in range(5):
        joints = trees.random_joints([seed, 17], count=10, chain=0.5)
        check(method, Robot(Model.of(f'tree {seed}', trees.BASE, joints)), seed)


@pytest.mark.parametrize('method', forward.METHODS, ids=lambda method: method.__name__)
def test_without_torque_and_gravity_an_arm_at_rest_stays_at_rest(method):
    robot = ROBOTS['aubo_i5'].with_gravity((0.0, 0.0, 0.0))
    assert (method(robot, np.full(6, 0.3), np.zeros(6), np.zeros(6)) == 0.0).all()
    falling = method(ROBOTS['aubo_i5'], np.full(6, 0.3), np.zeros(6), np.zeros(6))
    assert np.abs(falling).max() > 1.0


def test_inverse_dynamics_is_called_n_plus_1_times(monkeypatch):
    calls, inverse_dynamics = [], spatial.inverse_dynamics

    def counted(*arguments):
        calls.append(arguments)
        return inverse_dynamics(*arguments)

    monkeypatch.setattr(spatial, 'inverse_dynamics', counted)
    q, qd, qdd, wrench = chains.random_motion(ROBOTS['aubo_i5'], 2)
    forward.by_inverse_dynamics(ROBOTS['aubo_i5'], q, qd, qdd, wrench)
    assert len(calls) == 7


@pytest.mark.rounding
def test_cholesky_factors_and_solution():
    """L L' = M, M x = b; numpy finds the same factors."""
    tree = KinematicTree.of(ROBOTS['aubo_i5'], 'test')
    M, b = ROBOTS['aubo_i5'].mass_matrix(np.full(6, 0.7)), np.arange(6.0)
    L = np.array([[*row, *[0.0] * (6 - len(row))] for row in forward.cholesky(tree, M)])
    assert chains.disagreement(L, np.linalg.cholesky(M)) < bound(10, 6, np.linalg.cond(M))
    x = forward.solved(tree, M, b)
    assert np.abs(M @ x - b).max() < bound(10, 6, scale=np.abs(M).max() * np.abs(x).max())


@pytest.mark.parametrize('method', forward.METHODS, ids=lambda method: method.__name__)
def test_bad_input_is_named(method):
    robot = ROBOTS['aubo_i5']
    with pytest.raises(ArgumentError, match=r'tau: expected shape \(6,\), got \(4,\)'):
        method(robot, np.zeros(6), np.zeros(6), np.zeros(4))
    with pytest.raises(ArgumentError, match='tip_wrench'):
        method(robot, np.zeros(6), np.zeros(6), np.zeros(6), [1.0])
    joints = list(robot.model.joints)
    joints[-1] = replace(joints[-1], inertia=np.zeros(10), rotor=0.0)
    weightless = Robot(Model.of('weightless', 'base_link', joints))
    with pytest.raises(ModelError, match="joint 'wrist3_joint' has no inertia to accelerate"):
        method(weightless, np.zeros(6), np.zeros(6), np.zeros(6))


def test_what_operators_do_not_represent_is_refused():
    joints = trees.random_joints([1, 17], count=6, chain=0.0)
    with pytest.raises(ModelError, match='forward dynamics by operators: a serial chain is expected'):
        forward.by_operators(Robot(Model.of('bush', trees.BASE, joints)), *np.zeros((3, 6)))
