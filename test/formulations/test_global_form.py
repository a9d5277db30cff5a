"""``global_form``: torques, mass matrix and accelerations against the kernels and each other; the sparse system."""

from dataclasses import replace

from support.robots import chains
from support.robots import random_trees as trees
from support.rounding import bound

import numpy as np
import pytest
from scipy.sparse.linalg import splu

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formulations import global_form, spatial
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree
from robot_dynamics_ros.model.model import Model

METHODS = (global_form.by_mass_matrix, global_form.by_sparse_system)
METHOD = pytest.mark.parametrize('method', METHODS, ids=lambda method: method.__name__)


def tree(seed: int, count: int = 10, chain: float = 0.5) -> Robot:
    """Return a random tree of revolute and prismatic joints."""
    joints = trees.random_joints([seed, 27], count=count, chain=chain)
    return Robot(Model.of(f'tree {seed}', trees.BASE, joints), np.random.default_rng(seed).normal(size=3) * 5.0)


def robots() -> dict[str, Robot]:
    """Return arms, every fourth random chain, bushes and trees."""
    few = {name: robot for k, (name, robot) in enumerate(chains.robots().items()) if k < 3 or k % 4 == 0}
    return {**few, **{f'tree {seed}': tree(seed, 1 + 2 * seed, chain=0.25 * (seed % 4)) for seed in range(10)}}


ROBOTS = robots()


@pytest.mark.rounding
def test_torques_agree_with_the_kernels():
    for seed, (name, robot) in enumerate(ROBOTS.items()):
        q, qd, qdd, wrench = chains.random_motion(robot, seed)
        found = global_form.inverse_dynamics(robot, q, qd, qdd, wrench)
        assert chains.disagreement(found, chains.expected_torques(robot, q, qd, qdd, wrench)) < bound(100, robot.nv), (
            name
        )


@pytest.mark.rounding
def test_mass_matrices_agree_with_the_kernels():
    for seed, (name, robot) in enumerate(ROBOTS.items()):
        q = chains.random_motion(robot, seed)[0]
        assert chains.disagreement(global_form.mass_matrix(robot, q), robot.mass_matrix(q)) < bound(200, robot.nv), name


@pytest.mark.rounding
@pytest.mark.compiled
@METHOD
def test_accelerations_agree_with_the_kernels(method):
    for seed, (name, robot) in enumerate(ROBOTS.items()):
        q, qd, qdd, wrench = chains.random_motion(robot, seed)
        tau = chains.expected_torques(robot, q, qd, qdd, wrench)
        found, largest = method(robot, q, qd, tau, wrench), chains.rounding(robot, q, qd, tau, wrench)
        for way in ('articulated', 'mass_matrix'):
            expected = robot.forward_dynamics(q, qd, tau, {robot.link_names[-1]: wrench}, method=way)
            assert np.abs(found - expected).max() < largest, name
        assert np.abs(found - qdd).max() < largest, name


@pytest.mark.rounding
def test_both_ways_agree_with_each_other():
    for seed, (name, robot) in enumerate(ROBOTS.items()):
        q, qd, tau, wrench = chains.random_motion(robot, seed)
        one, other = (method(robot, q, qd, tau, wrench) for method in METHODS)
        assert np.abs(one - other).max() < chains.rounding(robot, q, qd, tau, wrench), name


def system_of(robot: Robot, seed: int = 1):
    """Return tree, matrices of the links, what the state causes, and the sparse system of a random state."""
    q, qd, tau, wrench = chains.random_motion(robot, seed)
    tree = KinematicTree.of(robot, 'test', serial=False)
    links = global_form.links_of(tree, q)
    forces = global_form.rates(tree, links, qd, wrench)
    return tree, links, forces, global_form.sparse_system(tree, links, forces, tau)


@pytest.mark.rounding
def test_velocities_and_accelerations_are_sums_along_the_tree():
    """P v = H qd is eq. 3, P a = H qdd + Hdot qd eq. 4 (29)."""
    robot = tree(3)
    q, qd, _, _ = chains.random_motion(robot, 3)
    kinematic_tree, links, _, _ = system_of(robot, 3)
    h = spatial.links_at(kinematic_tree, q).h
    v = [np.zeros(6)]
    for i in range(1, robot.nv + 1):
        v.append(v[kinematic_tree.parent[i]] + h[i] * qd[i - 1])
    found = global_form.solve_outwards(links.P, links.H @ qd).reshape(-1, 6)
    assert np.abs(found - v[1:]).max() < bound(20, robot.nv, scale=np.abs(v).max())


@pytest.mark.rounding
def test_constraint_forces_have_no_power():
    """T' S = 0 with S = P^-1 H, and T has full rank."""
    kinematic_tree, links, _, (A, _, order) = system_of(tree(4))
    N = kinematic_tree.n
    whole = np.empty(A.shape)
    whole[np.ix_(order, order)] = A.toarray()
    T, S = whole[: 6 * N, 6 * N :], global_form.solve_outwards(links.P, links.H.toarray())
    assert np.abs(T.T @ S).max() < bound(20, 6 * N, scale=np.abs(T).max() * np.abs(S).max())
    assert np.linalg.matrix_rank(T) == 5 * N
    assert np.abs(whole - whole.T).max() < bound(20, 6, scale=np.abs(whole).max())
    assert not whole[6 * N :, 6 * N :].any()


@pytest.mark.parametrize('shape', ['chain', 'tree', 'bush'])
def test_elimination_of_the_sparse_system_fills_nothing_in(shape):
    """Blocks of a link or a joint are zero in the factors where they are in the system: their number grows as N."""
    entries = []
    for count in (10, 40):
        robot = tree(5, count, {'chain': 1.0, 'tree': 0.6, 'bush': 0.0}[shape])
        *_, (A, _, _) = system_of(robot)
        factors = splu(A, permc_spec='NATURAL', diag_pivot_thresh=0.0)
        assert np.array_equal(factors.perm_r, np.arange(11 * count))
        block = np.repeat(np.arange(2 * count), np.tile([6, 5], count))
        there = {(block[i], block[j]) for i, j in zip(*A.nonzero(), strict=True)}
        filled = (factors.L + factors.U).nonzero()
        found = {(block[i], block[j]) for i, j in zip(*filled, strict=True)}
        assert found <= there | {(k, k) for k in range(2 * count)}
        entries.append(len(filled[0]))
    assert 3.8 < entries[1] / entries[0] < 4.6


@METHOD
def test_without_torque_and_gravity_a_robot_at_rest_stays_at_rest(method):
    robot = tree(6).with_gravity((0.0, 0.0, 0.0))
    assert np.abs(method(robot, np.full(10, 0.3), np.zeros(10), np.zeros(10))).max() < 1e-12
    assert np.abs(method(tree(6), np.full(10, 0.3), np.zeros(10), np.zeros(10))).max() > 1.0


@METHOD
def test_bad_input_is_named(method):
    robot = Robot.named('aubo_i5')
    with pytest.raises(ArgumentError, match=r'tau: expected shape \(6,\), got \(4,\)'):
        method(robot, np.zeros(6), np.zeros(6), np.zeros(4))
    with pytest.raises(ArgumentError, match='tip_wrench'):
        method(robot, np.zeros(6), np.zeros(6), np.zeros(6), [1.0])
    joints = list(robot.model.joints)
    joints[-1] = replace(joints[-1], inertia=np.zeros(10), rotor=0.0)
    weightless = Robot(Model.of('weightless', 'base_link', joints))
    with pytest.raises(ModelError, match="joint 'wrist3_joint' has no inertia to accelerate"):
        method(weightless, np.full(6, 0.3), np.zeros(6), np.zeros(6))


@pytest.mark.rounding
def test_a_massless_link_between_two_others_is_no_hindrance():
    robot = Robot.named('aubo_i5')
    joints = list(robot.model.joints)
    joints[2] = replace(joints[2], inertia=np.zeros(10), rotor=0.0)
    hollow = Robot(Model.of('hollow', 'base_link', joints))
    q, qd, tau, wrench = chains.random_motion(hollow, 8)
    expected = hollow.forward_dynamics(q, qd, tau, {hollow.link_names[-1]: wrench})
    for method in METHODS:
        found = method(hollow, q, qd, tau, wrench)
        assert np.abs(found - expected).max() < chains.rounding(hollow, q, qd, tau, wrench)


def test_a_joint_of_another_type_is_named():
    joints = trees.random_joints([1, 27], count=3, chain=1.0)
    joints[1] = replace(joints[1], kind='spherical')
    with pytest.raises(ModelError, match="global form: joint 'joint_2' is spherical"):
        global_form.inverse_dynamics(Robot(Model.of('ball', trees.BASE, joints)), *np.zeros((3, 5)))
