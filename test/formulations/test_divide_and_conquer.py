"""``divide_and_conquer``: accelerations against the kernels, articulated bodies and constraint forces; its levels."""

from dataclasses import replace

from support.robots import chains
from support.robots import random_trees as trees
from support.rounding import bound
from support.twins import constraint_forces

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formulations import divide_and_conquer, forward, spatial
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree
from robot_dynamics_ros.model.model import Model

CHAINS = chains.robots()


def tree(seed: int, count: int = 12, chain: float = 0.5) -> Robot:
    """Return a random tree of revolute and prismatic joints."""
    joints = trees.random_joints([seed, 48], count=count, chain=chain)
    return Robot(Model.of(f'tree {seed}', trees.BASE, joints), np.random.default_rng(seed).normal(size=3) * 5.0)


TREES = {f'tree {seed}': tree(seed, 1 + 2 * seed, chain=0.25 * (seed % 4)) for seed in range(12)}


def rounding(robot: Robot, qdd) -> float:
    """Return the largest error of ``qdd``: each link's inertia is inverted."""
    links = KinematicTree.of(robot, 'test', serial=False)
    inertias = [spatial.spatial_inertia(*link) for link in zip(links.mass, links.com, links.inertia, strict=True)]
    return bound(1000, robot.nv, max(np.linalg.cond(I) for I in inertias[1:]), np.abs(qdd).max())


@pytest.mark.rounding
@pytest.mark.compiled
@pytest.mark.parametrize('robots', [CHAINS, TREES], ids=['chains', 'trees'])
def test_accelerations_agree_with_the_kernels(robots):
    for seed, (name, robot) in enumerate(robots.items()):
        q, qd, tau, wrench = chains.random_motion(robot, seed)
        found = divide_and_conquer.forward_dynamics(robot, q, qd, tau, wrench)
        wrenches = {robot.link_names[-1]: wrench}
        expected = robot.forward_dynamics(q, qd, tau, wrenches, method='articulated')
        assert np.abs(found - expected).max() < rounding(robot, expected), name


@pytest.mark.rounding
def test_accelerations_are_those_of_articulated_bodies():
    """The textbook's recursion, one link after the other, under a wrench and with rotors."""
    for seed, (name, robot) in enumerate(TREES.items()):
        q, qd, tau, wrench = chains.random_motion(robot, seed + 50)
        expected = forward.by_articulated_bodies(robot, q, qd, tau, wrench)
        found = divide_and_conquer.forward_dynamics(robot, q, qd, tau, wrench)
        assert np.abs(found - expected).max() < rounding(robot, expected), name


@pytest.mark.rounding
def test_chains_move_as_by_constraint_forces():
    """By a system of equations for the forces that no joint's motion works against."""
    for seed in range(8):
        joints = [replace(it, rotor=0.0) for it in trees.random_joints(seed, count=9, chain=1.0)]
        s = trees.random_state(joints, seed)
        expected = constraint_forces.forward_dynamics(joints, s.q, s.qd, s.tau, s.gravity, trees.no_wrenches(joints))
        robot = Robot(Model.of('chain', trees.BASE, joints), s.gravity)
        found = divide_and_conquer.forward_dynamics(robot, s.q, s.qd, s.tau)
        assert np.abs(found - expected).max() < rounding(robot, expected)


def levels_of(parents) -> list:
    """Return the levels of a tree by the parent link of each link, from link 1 on."""
    of_links = dict.fromkeys(('revolute', 'axis', 'rotation', 'origin', 'mass', 'com', 'inertia', 'rotor'), ())
    return divide_and_conquer.levels(KinematicTree((-1, *parents), **of_links, gravity=np.zeros(3), names=()))


@pytest.mark.parametrize('n', [1, 2, 3, 4, 7, 8, 15, 16, 100, 1000])
def test_levels_of_a_chain_are_its_binary_logarithm(n):
    """Pairs of n links and the base, pairs of pairs, and so on."""
    assert len(levels_of(range(n))) == np.ceil(np.log2(n + 1))


def test_levels_of_trees():
    # leaves of one link join one after the other, branches on the base independently
    assert len(levels_of([0, *[1] * 50])) == 51
    assert len(levels_of([0] * 50)) == 1
    # two binary trees of 7 generations: each link waits for its two branches, one after the other
    assert len(levels_of([(i - 1) // 2 for i in range(1, 255)])) == 2 * 6


def test_a_level_joins_each_assembly_once_and_leaves_two_handles_at_most():
    for seed in range(20):
        parents = [int(p) for p in np.random.default_rng(seed).integers(0, np.arange(1, 41))]
        steps_of_levels = levels_of(parents)
        assert sorted(step.i for steps in steps_of_levels for step in steps) == list(range(1, 41))
        for steps in steps_of_levels:
            used = [number for step in steps for number in (step.i, step.j) if number > 0]
            assert len(used) == len(set(used))
            assert all(len(step.handles) <= 2 for step in steps)
        # an assembly on the base has one handle, and none in the end
        assert not any(step.handles for step in steps_of_levels[-1])


def test_without_torque_and_gravity_a_robot_at_rest_stays_at_rest():
    robot = tree(6)
    assert np.abs(divide_and_conquer.forward_dynamics(robot, *np.zeros((3, 12)))).max() > 1.0
    weightless = robot.with_gravity((0.0, 0.0, 0.0))
    assert not divide_and_conquer.forward_dynamics(weightless, *np.zeros((3, 12))).any()


def test_what_it_does_not_represent_is_named():
    arm, zeros = Robot.named('aubo_i5'), np.zeros((3, 6))
    with pytest.raises(ArgumentError, match=r'tau: expected shape \(6,\), got \(4,\)'):
        divide_and_conquer.forward_dynamics(arm, *zeros[:2], np.zeros(4))
    with pytest.raises(ArgumentError, match='tip_wrench'):
        divide_and_conquer.forward_dynamics(arm, *zeros, [1.0])
    massless = trees.ten_parameters(0.0, np.zeros(3), np.eye(3))
    rod = trees.ten_parameters(1.0, np.zeros(3), np.diag([0.0, 0.1, 0.1]))
    for change, culprit in (
        ({'inertia': np.zeros(10)}, "the link of joint 'foreArm_joint' has no mass"),
        ({'inertia': massless}, "the link of joint 'foreArm_joint' has no mass"),
        ({'inertia': rod}, "the link of joint 'foreArm_joint' has no rotational inertia about every axis"),
        ({'kind': 'spherical'}, "joint 'foreArm_joint' is spherical"),
    ):
        joints = list(arm.model.joints)
        joints[2] = replace(joints[2], rotor=0.0, **change)
        robot = Robot(Model.of('changed', 'base_link', joints))
        with pytest.raises(ModelError, match=f'divide and conquer: {culprit}'):
            divide_and_conquer.forward_dynamics(robot, *np.zeros((3, robot.nv)))
