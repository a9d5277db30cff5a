"""Kernels against the naive twins, stage by stage: the first test that fails names the first wrong stage.

The sampler comes first, then each stage after those it needs. Trees have 1 to 40 joints, the seed says how
many; each has wrenches on all links, gravity from any side and rotors on about half of its joints.
"""

from functools import cache

from support.matrices import matrix
from support.robots import random_trees as trees
from support.rounding import bound
from support.twins import naive

import numpy as np
import pytest

TOLERANCE = 1e-11  # of the largest magnitude in the quantity; 2e-14 was the worst found
SEEDS = range(1, 41)
SEED = pytest.mark.parametrize('seed', matrix(SEEDS, (*range(1, 11), 15, 20, 33, 40)))


@cache
def case(seed):
    """Return joints, model arrays and state of the tree with ``seed`` joints."""
    joints = trees.random_joints(seed, count=seed, general=0.5 * (seed % 2))
    return joints, trees.arrays_of(joints), trees.random_state(joints, seed)


@cache
def both_inverse_dynamics(seed):
    """Return (tau, work) of the kernel and (tau, v, a, f) of the twin."""
    joints, model, s = case(seed)
    args = (s.q, s.qd, s.qdd, s.gravity, s.f_ext)
    return trees.inverse_dynamics(model, *args, return_work=True), naive.inverse_dynamics(joints, *args)


# the sampler


def test_random_bodies_can_exist():
    """Mass positive, inertia about the centre positive definite, no moment above the sum of the others."""
    for joint in (joint for seed in SEEDS for joint in case(seed)[0]):
        mass, com, inertia = trees.central_parameters(joint.inertia)
        moments = np.linalg.eigvalsh(inertia)
        assert 0.1 <= mass <= 10.0 and np.max(np.abs(com)) <= 0.2
        assert moments[0] > 0.0 and moments[2] < moments[0] + moments[1]


@pytest.mark.rounding
def test_random_joints_are_of_every_sort():
    """Both kinds, with and without rotor, unit axes and proper rotations that are no two alike."""
    joints = [joint for seed in SEEDS for joint in case(seed)[0]]
    assert 0.2 < np.mean([joint.kind == 'prismatic' for joint in joints]) < 0.4
    assert 0.4 < np.mean([joint.rotor > 0.0 for joint in joints]) < 0.6
    axes = np.array([joint.axis for joint in joints])
    assert np.abs(np.linalg.norm(axes, axis=1) - 1.0).max() < bound(10, 3)
    assert len(np.unique(axes, axis=0)) == len(joints) and np.all(np.abs(axes).max(axis=0) > 0.9)
    for joint in joints:
        assert np.abs(joint.rotation @ joint.rotation.T - np.eye(3)).max() < bound(30, 3)
        assert np.linalg.det(joint.rotation) > 0.0


def test_random_trees_are_chains_and_bushes():
    """Some trees are chains, some branch a lot; some have several links on the base; lengths are 1 to 40."""
    chains, branched, many_on_base = 0, 0, 0
    for seed in SEEDS:
        parent = naive.parents(case(seed)[0])[1:]
        children = np.bincount(parent)
        chains += len(parent) > 4 and children.max() == 1
        branched += np.sum(children > 1) >= 4
        many_on_base += children[0] > 1
    assert chains >= 5 and branched >= 10 and many_on_base >= 5
    drawn = [len(trees.random_joints(seed)) for seed in range(200)]
    assert min(drawn) == 1 and max(drawn) == 40 and len(set(drawn)) > 35


def test_same_seed_same_tree():
    """A seed says everything; another seed says something else."""
    first, second, other = (trees.random_joints(seed, count=7) for seed in (3, 3, 4))
    for one, two in zip(trees.arrays_of(first), trees.arrays_of(second), strict=True):
        assert np.array_equal(one, two)
    assert not np.array_equal(trees.arrays_of(first).I, trees.arrays_of(other).I)
    for one, two in zip(trees.random_state(first, 3), trees.random_state(second, 3), strict=True):
        assert np.array_equal(one, two)
    assert not np.array_equal(trees.random_state(first, 3).q, trees.random_state(first, 4).q)


# the kernels


@SEED
def test_link_poses(seed):
    """Poses of all links, the base's included."""
    joints, model, s = case(seed)
    assert trees.relative_error(trees.link_poses(model, s.q), naive.link_poses(joints, s.q)) < TOLERANCE


@SEED
def test_link_transforms(seed):
    """E and r that every kernel works with, against the 6 x 6 matrix they stand for."""
    joints, _, s = case(seed)
    (_, work), _ = both_inverse_dynamics(seed)
    for i, X in enumerate(naive.joint_transforms(joints, s.q)[1:], start=1):
        assert trees.relative_error(naive.transform(work.E[i], work.r[i]), X) < TOLERANCE


@SEED
def test_link_velocities(seed):
    """Angular velocities (rnea has no others)."""
    (_, work), (_, v, _, _) = both_inverse_dynamics(seed)
    if any(joint.kind == 'revolute' for joint in case(seed)[0]):
        assert trees.relative_error(work.w, np.array(v)[:, :3]) < TOLERANCE
    else:
        assert np.all(work.w == 0.0)


@SEED
def test_link_accelerations(seed):
    """The kernel's classical acceleration is the twin's spatial one plus w x v in its linear part."""
    (_, work), (_, v, a, _) = both_inverse_dynamics(seed)
    classical = np.array(a)
    classical[:, 3:] += np.cross(np.array(v)[:, :3], np.array(v)[:, 3:])
    assert trees.relative_error(work.a, classical) < TOLERANCE


@SEED
def test_joint_forces(seed):
    """The force that each joint transmits, and row 0: what holds the base in place."""
    (_, work), (_, _, _, f) = both_inverse_dynamics(seed)
    assert trees.relative_error(work.f, np.array(f)) < TOLERANCE


@SEED
def test_rnea(seed):
    """Inverse dynamics."""
    (tau, _), (expected, _, _, _) = both_inverse_dynamics(seed)
    assert trees.relative_error(tau, expected) < TOLERANCE


@SEED
def test_whole_inertia(seed):
    """The inertia of everything that moves, in the base frame."""
    joints, model, s = case(seed)
    whole = naive.spatial_inertia(trees.whole_inertia(model, s.q))
    assert trees.relative_error(whole, naive.whole_inertia(joints, s.q)) < TOLERANCE


@SEED
def test_mass_matrix(seed):
    """The mass matrix, against table 6.2 and against the sum of J' I J."""
    joints, model, s = case(seed)
    M = trees.mass_matrix(model, s.q)
    assert trees.relative_error(M, naive.mass_matrix(joints, s.q)) < TOLERANCE
    assert trees.relative_error(M, naive.mass_matrix_from_jacobians(joints, s.q)) < TOLERANCE


@SEED
def test_accelerations(seed):
    """Forward dynamics."""
    joints, model, s = case(seed)
    args = (s.q, s.qd, s.tau, s.gravity, s.f_ext)
    expected = naive.forward_dynamics(joints, *args)
    assert trees.relative_error(trees.forward_dynamics(model, *args), expected) < TOLERANCE


@SEED
def test_kinetic_energy(seed):
    """Kinetic energy, rotors included."""
    joints, model, s = case(seed)
    expected = naive.kinetic_energy(joints, s.q, s.qd)
    assert abs(trees.kinetic_energy(model, s.q, s.qd) - expected) < TOLERANCE * expected


@SEED
def test_potential_energy(seed):
    """Potential energy, relative to a lift by 1 m since it may be near zero."""
    joints, model, s = case(seed)
    scale = 9.81 * max(joint.inertia[0] for joint in joints)  # J, the heaviest link lifted by 1 m
    expected = naive.potential_energy(joints, s.q, s.gravity)
    assert abs(trees.potential_energy(model, s.q, s.gravity) - expected) < TOLERANCE * scale


@SEED
def test_total_energy(seed):
    """Kinetic plus potential energy, relative to the larger scale of both."""
    joints, model, s = case(seed)
    kinetic = naive.kinetic_energy(joints, s.q, s.qd)
    scale = max(kinetic, 9.81 * max(joint.inertia[0] for joint in joints))  # J
    expected = kinetic + naive.potential_energy(joints, s.q, s.gravity)
    assert abs(trees.total_energy(model, s.q, s.qd, s.gravity) - expected) < TOLERANCE * scale
