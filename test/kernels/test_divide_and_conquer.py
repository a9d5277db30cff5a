"""Divide and conquer against articulated bodies, constraint forces and Pinocchio; its operations and its depth."""

import dataclasses
from functools import cache

from support import constraint_forces
from support import random_trees as trees
from support.depth_numbers import DepthRun, depth_of, floats, value_of
from support.matrices import matrix

import numpy as np
import pytest

from robot_dynamics_ros.evaluation import divide_and_conquer
from robot_dynamics_ros.evaluation.divide_and_conquer import PHASES, DivideAndConquer
from robot_dynamics_ros.jit.decorators import Kernel
from robot_dynamics_ros.kernels.aba import aba
from robot_dynamics_ros.model.arrays import Workspace
from robot_dynamics_ros.model.assembly import Assembly, AssemblyWorkspace
from robot_dynamics_ros.model.model import Model

TOLERANCE = 1e-10  # of the largest acceleration; 1e-13 was the worst found
SEED = pytest.mark.parametrize('seed', matrix(range(60), range(0, 60, 4)))
LOCAL = 2
"""Reference frame of wrenches in the frames of links."""
MOST_OPERATIONS, MOST_DEPTH = 3.6, 75
"""Operations relative to articulated bodies, and depth of one more doubling of a chain."""
SIZES = (15, 31, 63, 127, 255)


def with_spin(joints, seed):
    """Return the joints with spinning rotors on some revolute ones."""
    random = np.random.default_rng(seed)
    spins = [0.1 * random.normal() if it.kind == 'revolute' and it.rotor > 0.0 else 0.0 for it in joints]
    return [dataclasses.replace(it, spin=spin) for it, spin in zip(joints, spins, strict=True)]


def accelerations(joints, s, f_ext, parts=1):
    """Return qdd (nv) by divide and conquer."""
    computation = DivideAndConquer(Model.of('tree', trees.BASE, joints), parts)
    qdd = np.full((1, len(s.qd)), np.nan)
    vectors = s.q[None], s.qd[None], s.tau[None], f_ext.reshape(1, -1), np.zeros((1, 0))
    computation.compute(vectors, s.gravity, LOCAL, qdd)
    return qdd[0]


@SEED
def test_accelerations_are_those_of_articulated_bodies(seed):
    """Trees of all kinds of joints, with rotors that spin and wrenches on all links."""
    joints = with_spin(trees.random_joints(seed, general=0.5 * (seed % 3 > 0)), seed)
    s = trees.random_state(joints, seed)
    expected = trees.forward_dynamics(trees.arrays_of(joints), s.q, s.qd, s.tau, s.gravity, s.f_ext)
    assert trees.relative_error(accelerations(joints, s, s.f_ext), expected) < TOLERANCE


@pytest.mark.compiled
@SEED
def test_inverse_dynamics_returns_the_torques(seed):
    joints = with_spin(trees.random_joints(seed, general=0.3), seed)
    s = trees.random_state(joints, seed)
    arrays = trees.arrays_of(joints)
    qdd = accelerations(joints, s, s.f_ext)
    tau = trees.inverse_dynamics(arrays, s.q, s.qd, qdd, s.gravity, s.f_ext)
    # a torque is a sum of M qdd, of which an error of qdd is a part
    largest = np.abs(trees.mass_matrix(arrays, s.q)).max() * np.abs(qdd).max()
    assert np.abs(tau - s.tau).max() < TOLERANCE * largest


@pytest.mark.compiled
@pytest.mark.parametrize('seed', matrix(range(24), range(0, 24, 3)))
def test_chains_move_as_by_constraint_forces(seed):
    joints = trees.random_joints(seed, chain=1.0, general=0.5 * (seed % 2))
    joints = [dataclasses.replace(joint, rotor=0.0) for joint in joints]
    s = trees.random_state(joints, seed)
    expected = constraint_forces.forward_dynamics(joints, s.q, s.qd, s.tau, s.gravity, s.f_ext)
    assert trees.relative_error(accelerations(joints, s, s.f_ext), expected) < 1e-9


@pytest.mark.compiled
@SEED
def test_accelerations_are_pinocchios(seed):
    pin = pytest.importorskip('pinocchio', reason='the outside oracle, Pinocchio (package pin), is not installed')
    joints = trees.with_planar_about_z(trees.random_joints(seed, general=0.5 * (seed % 2)))
    s = trees.random_state(joints, seed)
    model, links, order = trees.pinocchio_tree(joints)
    model.gravity.linear = s.gravity
    q = trees.pinocchio_positions(joints, links, s.q)
    expected = pin.aba(model, model.createData(), q, s.qd[order], s.tau[order])
    found = accelerations(joints, s, trees.no_wrenches(joints))
    assert trees.relative_error(found[order], expected) < TOLERANCE


# operations and depth


@cache
def counted(n, algorithm):
    """Return operations, depth and result for a random chain of n revolute joints, gears without spin included."""
    joints = trees.random_joints(3, count=n, prismatic=0.0, chain=1.0)
    s, model, run = trees.random_state(joints, 3), Model.of('chain', trees.BASE, joints), DepthRun()
    arrays, gravity, qdd = floats(model.arrays), np.array(s.gravity.tolist(), object), np.zeros((1, n), object)
    q, qd, tau = (run.numbers(vector)[None] for vector in (s.q, s.qd, s.tau))
    if algorithm is aba:
        no_wrenches = np.array(np.zeros((n + 1, 6)).tolist(), object)
        work = Workspace.of(model.arrays, object)
        run.run(aba, arrays, work, q[0], qd[0], tau[0], *[[0.0] * 6] * 2, gravity, no_wrenches, qdd[0])
    else:
        assembly, work = Assembly.of(model.arrays, model.link_names), AssemblyWorkspace.of(model.arrays, object)
        none, plan = np.zeros((1, 0)), [0, PHASES, 0, 2, LOCAL]
        states = Kernel(divide_and_conquer._states)
        run.run(states, arrays, floats(assembly), work, q, qd, tau, none, none, gravity, qdd, plan)
    return run.operations, max(map(depth_of, qdd[0])), np.array([value_of(number) for number in qdd[0]])


@pytest.mark.compiled
@pytest.mark.parametrize('n', SIZES)
def test_counted_numbers_give_the_accelerations(n):
    by_bodies, by_halves = counted(n, aba)[2], counted(n, divide_and_conquer)[2]
    assert trees.relative_error(by_halves, by_bodies) < 1e-12


@pytest.mark.compiled
def test_depth_grows_by_the_same_with_each_doubling():
    depths = [counted(n, divide_and_conquer)[1] for n in SIZES]
    growth = np.diff(depths)
    assert (growth == growth[0]).all() and growth[0] <= MOST_DEPTH
    # each link of a chain is behind the one before it in ABA
    links = np.array(SIZES)
    assert np.ptp(np.diff([counted(n, aba)[1] for n in SIZES]) / np.diff(links)) == 0.0
    assert counted(255, aba)[1] > 15 * depths[-1]


@pytest.mark.compiled
def test_operations_of_a_link_are_a_few_of_articulated_bodies():
    ratios = [counted(n, divide_and_conquer)[0] / counted(n, aba)[0] for n in SIZES]
    assert max(ratios) == ratios[-1] < MOST_OPERATIONS
    # the operations of a link no longer grow: joints near the ends of a chain need fewer
    assert counted(255, divide_and_conquer)[0] / 255 < 1.02 * counted(127, divide_and_conquer)[0] / 127
