"""L' D L factors of a branched tree: operations and zeros, counted on numbers that count, against dense Cholesky."""

import dataclasses

from support.robots import random_trees as trees
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.formulations import forward
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree
from robot_dynamics_ros.formulations.operation_count import CountedNumber, Tally
from robot_dynamics_ros.kernels.ltdl import ltdl
from robot_dynamics_ros.model.model import Model


def binary_tree(n: int) -> Robot:
    """Return a tree of revolute joints where two follow each one."""
    joints = trees.random_joints(127, count=n, prismatic=0.0)
    names = [trees.BASE, *(joint.link for joint in joints)]
    joints = [dataclasses.replace(joint, parent=names[(k + 1) // 2]) for k, joint in enumerate(joints)]
    return Robot(Model.of('binary tree', trees.BASE, joints))


def by_kernel(robot: Robot, M) -> tuple[np.ndarray, np.ndarray, int]:
    """Return L, the diagonal D and the multiplications of the kernel's source."""
    tally, n = Tally(), robot.nv
    counted, d = _counted(M, tally), np.zeros(n + 1, object)
    ltdl.py_func(robot.model.arrays, counted, d)
    L = np.tril(_values(counted), -1) + np.eye(n)
    return L, 1.0 / _values(d[1:]), tally.dense['multiplications']


def by_cholesky(robot: Robot, M) -> int:
    """Return the multiplications of the textbook's Cholesky factors, which read every entry of M."""
    tally = Tally()
    forward.cholesky(KinematicTree.of(robot, 'test', serial=False), _counted(M, tally))
    return tally.dense['multiplications']


def _counted(M, tally) -> np.ndarray:
    return np.array([[CountedNumber(entry, tally) for entry in row] for row in M], object)


def _values(numbers) -> np.ndarray:
    return np.array([float(getattr(x, 'value', x)) for x in numbers.ravel()]).reshape(numbers.shape)


@pytest.mark.rounding
def test_a_binary_tree_of_127_needs_a_fiftieth_of_the_multiplications_of_dense_cholesky():
    robot = binary_tree(127)
    M = robot.mass_matrix(np.random.default_rng(0).uniform(-2.0, 2.0, 127))
    L, D, multiplications = by_kernel(robot, M)
    # seven joints are before each of the last
    assert np.abs(L.T @ (D[:, None] * L) - M).max() < bound(20, 7, scale=np.abs(M).max())
    dense = by_cholesky(robot, M)
    assert dense == sum(i * (i + 1) // 2 for i in range(127))
    # as RBDA table 6.3 says: one for each pair of a joint and one before it, and for each two before it
    depth = np.array([k.bit_length() - 1 for k in range(1, 128)])
    assert multiplications == (depth + depth * (depth + 1) // 2).sum()
    assert multiplications * 50 <= dense
    assert dense / multiplications == 127.0


def test_entries_between_branches_stay_zero():
    robot = binary_tree(31)
    L, _, _ = by_kernel(robot, robot.mass_matrix(np.full(31, 0.4)))
    for k in range(1, 32):
        before, j = set(), k // 2
        while j:
            before.add(j)
            j //= 2
        assert {j + 1 for j in np.flatnonzero(L[k - 1, : k - 1])} == before
