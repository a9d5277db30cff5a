"""``spatial``: RNEA, CRBA and ABA in base coordinates against the kernels, known torques and identities."""

from support.robots import chains
from support.robots import random_trees as trees
from support.robots.printed_torques import GOLDEN, rigid_body
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formulations import spatial
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree
from robot_dynamics_ros.model.model import Model

TREES = range(10)
AGREEMENT = 1e-10
GRAVITY = (1.0, -4.0, -8.0)


def random_tree(seed: int) -> Robot:
    joints = trees.random_joints([seed, 16], count=12, chain=0.5)
    return Robot(Model.of(f'tree {seed}', trees.BASE, joints), GRAVITY)


ROBOTS = {**chains.robots(), **{f'tree {seed}': random_tree(seed) for seed in TREES}}


def test_torques_and_mass_matrices_agree_with_the_kernels():
    for seed, (name, robot) in enumerate(ROBOTS.items()):
        q, qd, qdd, wrench = chains.random_motion(robot, seed)
        found = spatial.inverse_dynamics(robot, q, qd, qdd, wrench)
        expected = chains.expected_torques(robot, q, qd, qdd, wrench)
        assert chains.disagreement(found, expected) < AGREEMENT, name
        assert chains.disagreement(spatial.mass_matrix(robot, q), robot.mass_matrix(q)) < AGREEMENT, name


def test_without_a_wrench_none_acts():
    robot = ROBOTS['aubo_i5']
    q, qd, qdd, _ = chains.random_motion(robot, 0)
    found = spatial.inverse_dynamics(robot, q, qd, qdd)
    assert chains.disagreement(found, chains.expected_torques(robot, q, qd, qdd)) < AGREEMENT


@pytest.mark.rounding
def test_forward_dynamics_returns_the_accelerations_of_inverse_dynamics():
    for seed, (name, robot) in enumerate(ROBOTS.items()):
        q, qd, qdd, wrench = chains.random_motion(robot, seed)
        tau = spatial.inverse_dynamics(robot, q, qd, qdd, wrench)
        found = spatial.forward_dynamics(robot, q, qd, tau, wrench)
        assert np.abs(found - qdd).max() < chains.rounding(robot, q, qd, tau, wrench), name


def test_the_mass_matrix_is_the_change_of_torque_with_acceleration_and_of_kinetic_energy():
    """M delta_i = D(q, 0, delta_i) - D(q, 0, 0) (section 3.2); M is symmetric and positive definite."""
    for seed in TREES:
        robot = ROBOTS[f'tree {seed}']
        q, qd, _, _ = chains.random_motion(robot, seed)
        M, still = spatial.mass_matrix(robot, q), np.zeros(robot.nv)
        at_rest = spatial.inverse_dynamics(robot, q, still, still)
        columns = [spatial.inverse_dynamics(robot, q, still, unit) - at_rest for unit in np.eye(robot.nv)]
        assert chains.disagreement(M, np.transpose(columns)) < AGREEMENT
        assert (M == M.T).all() and np.linalg.eigvalsh(M).min() > 0.0
        # T = sum of v_i' I_i v_i / 2
        tree = KinematicTree.of(robot, 'test', serial=False)
        h, I, _ = spatial.links_at(tree, q)
        v = [np.zeros(6)]
        for i in range(1, tree.n + 1):
            v.append(v[tree.parent[i]] + h[i] * qd[i - 1])
        energy = sum(0.5 * v[i] @ I[i] @ v[i] for i in range(1, tree.n + 1))
        energy += 0.5 * tree.rotor[1:] @ qd**2
        assert 0.5 * qd @ M @ qd == pytest.approx(energy, rel=1e-12)


@pytest.mark.rounding
def test_cross_products_of_motion_and_force():
    """v x v = 0, v x (m x f) keeps the power (v x m) . f + m . (v x f) = 0."""
    v, m, f = np.random.default_rng(4).normal(size=(3, 6))
    a, b, c = (np.abs(vector).max() for vector in (v, m, f))
    assert np.abs(spatial.motion_cross(v) @ v).max() < bound(10, 6, scale=a**2)
    power = (spatial.motion_cross(v) @ m) @ f + m @ (spatial.force_cross(v) @ f)
    assert abs(power) < bound(10, 6, scale=a * b * c)
    n, force = np.cross(v[:3], f[:3]) + np.cross(v[3:], f[3:]), np.cross(v[:3], f[3:])
    assert np.abs(spatial.force_cross(v) @ f - [*n, *force]).max() < bound(10, 6, scale=a * c)


def test_known_mass_matrices():
    robot = Robot(rigid_body('official'), GOLDEN['gravity'])
    for state in GOLDEN['states']:
        assert np.allclose(spatial.mass_matrix(robot, state['q']), state['M_official'], rtol=0.0, atol=1e-9)


def test_a_tree_read_once_serves_many_states():
    robot = ROBOTS['aubo_i5']
    q, qd, qdd, wrench = chains.random_motion(robot, 5)
    tree = KinematicTree.of(robot, 'spatial')
    assert (
        spatial.inverse_dynamics(tree, q, qd, qdd, wrench) == spatial.inverse_dynamics(robot, q, qd, qdd, wrench)
    ).all()
    branched = KinematicTree.of(ROBOTS['tree 0'], 'spatial', serial=False)
    with pytest.raises(ModelError, match=r"screws: a serial chain is expected, and joint 'joint_\d+' begins a branch"):
        KinematicTree.of(branched, 'screws')


def test_bad_input_is_named():
    robot = ROBOTS['aubo_i5']
    q, qd, qdd, _ = chains.random_motion(robot, 5)
    with pytest.raises(ArgumentError, match=r'qd: expected shape \(6,\), got \(5,\)'):
        spatial.inverse_dynamics(robot, q, qd[:5], qdd)
    with pytest.raises(ArgumentError, match='tip_wrench'):
        spatial.inverse_dynamics(robot, q, qd, qdd, np.zeros(3))
    free = trees.random_joints(1, count=1, general=1.0)
    with pytest.raises(ModelError, match="spatial: joint 'joint_1' is"):
        spatial.mass_matrix(Robot(Model.of('free', trees.BASE, free)), q)
