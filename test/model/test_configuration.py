"""Positions of joints of several degrees of freedom: steps between them, against Pinocchio and the kernels."""

import dataclasses

from support.matrices import matrix
from support.robots import random_trees as trees
from support.rounding import bound
from support.twins import naive

import numpy as np
import pytest
from scipy.linalg import expm

from robot_dynamics_ros.model import configuration
from robot_dynamics_ros.model.model import Model

SEED = pytest.mark.parametrize('seed', matrix(range(40), range(10)))


def drawn(seed):
    joints = trees.with_planar_about_z(trees.random_joints(seed, general=0.7))
    return joints, Model.of('random', trees.BASE, joints), trees.random_state(joints, seed)


def same_place(joints, q, other):
    """Assert that two positions put every link in the same place."""
    ours, theirs = naive.link_poses(joints, q), naive.link_poses(joints, other)
    assert np.abs(ours - theirs).max() < 1e-11 * max(1.0, np.abs(theirs).max())


@pytest.mark.rounding
@pytest.mark.parametrize('scale', [1.0, 1e-2, 1e-5, 1e-12])
@SEED
def test_a_difference_leads_there(seed, scale):
    joints, model, s = drawn(seed)
    step = scale * s.qd
    end = configuration.integrate(model.arrays, s.q, step)
    assert configuration.difference(model.arrays, s.q, end) == pytest.approx(
        step, abs=bound(20, 1, scale=np.abs(s.q).max()), rel=1e-9
    )
    other = trees.random_state(joints, seed + 1).q
    way = configuration.difference(model.arrays, s.q, other)
    same_place(joints, configuration.integrate(model.arrays, s.q, way), other)


@SEED
def test_a_step_is_a_second_at_a_constant_velocity(seed):
    """Poses one joint after the other: X(integrate(q, v)) is X(q) moved by the exponential of the joint's twist S v."""
    joints, model, s = drawn(seed)
    end = configuration.integrate(model.arrays, s.q, s.qd)
    for joint, S, (of_q, of_v) in zip(joints, naive.joint_axes(joints)[1:], naive.places(joints), strict=True):
        twist, moved, pose = S @ s.qd[of_v], np.zeros((4, 4)), np.eye(4)
        moved[:3, :3], moved[:3, 3] = naive.cross_matrix(twist[:3]), twist[3:]
        pose[:3, :3], pose[:3, 3] = naive.joint_pose(joint, s.q[of_q])
        wanted = pose @ expm(moved)
        turned, origin = naive.joint_pose(joint, end[of_q])
        assert np.abs(turned - wanted[:3, :3]).max() < 1e-12 and np.abs(origin - wanted[:3, 3]).max() < 1e-12


@SEED
def test_steps_are_pinocchios(seed):
    pin = pytest.importorskip('pinocchio', reason='the outside source, Pinocchio (package pin), is not installed')
    joints, model, s = drawn(seed)
    other = trees.random_state(joints, seed + 1).q
    theirs, links, order = trees.pinocchio_tree(joints)
    end = configuration.integrate(model.arrays, s.q, s.qd)
    q, q_end, q_other = (trees.pinocchio_positions(joints, links, it) for it in (s.q, end, other))
    assert q_end == pytest.approx(pin.integrate(theirs, q, s.qd[order]), abs=1e-9)
    way = configuration.difference(model.arrays, s.q, other)
    assert way[order] == pytest.approx(pin.difference(theirs, q, q_other), abs=1e-9)


@SEED
def test_at_neutral_every_link_is_at_the_placement_of_its_joint(seed):
    joints, model, _ = drawn(seed)
    poses = naive.link_poses(joints, configuration.neutral(model.arrays))
    parent = naive.parents(joints)
    for i, joint in enumerate(joints, start=1):
        rest = np.eye(4)
        rest[:3, :3], rest[:3, 3] = joint.rotation, joint.origin
        assert np.abs(poses[i] - poses[parent[i]] @ rest).max() < 1e-12


@pytest.mark.rounding
def test_random_positions_keep_to_the_limits():
    joints, _, _ = drawn(3)
    limited = [dataclasses.replace(it, lower=-0.2, upper=0.5) for it in joints]
    model, generator = Model.of('random', trees.BASE, limited), np.random.default_rng(0)
    q = np.array([configuration.random(model.arrays, model.limits, generator) for _ in range(300)])
    single = np.concatenate([[naive.SIZES[it.kind][0] == 1] * naive.SIZES[it.kind][0] for it in joints])
    assert q[:, single].min() >= -0.2 and q[:, single].max() <= 0.5
    assert q[:, single].min() < -0.19 and q[:, single].max() > 0.49
    for k in model.arrays.quaternion[model.arrays.quaternion >= 0]:
        assert np.abs(np.linalg.norm(q[:, k : k + 4], axis=1) - 1.0).max() < bound(10, 4)
        assert np.abs(q[:, k : k + 4].mean(axis=0)).max() < 0.15  # no rotation is preferred


def test_integrate_and_difference_broadcast():
    _, model, s = drawn(5)
    steps = np.random.default_rng(0).normal(size=(4, 3, len(s.qd)))
    ends = configuration.integrate(model.arrays, s.q, steps)
    assert ends.shape == (4, 3, len(s.q))
    assert (ends[2, 1] == configuration.integrate(model.arrays, s.q, steps[2, 1])).all()
    ways = configuration.difference(model.arrays, s.q, ends)
    assert ways.shape == steps.shape and np.abs(configuration.difference(model.arrays, s.q, s.q)).max() < 1e-12
