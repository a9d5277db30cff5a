"""Which method of forward dynamics is chosen for which tree."""

import dataclasses

from support.robots import random_trees as trees
from support.robots.example_robots import example_urdfs

import pytest

from robot_dynamics_ros.algorithms.forward_method import articulated_bodies_pay
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.model.editing import with_attached
from robot_dynamics_ros.model.model import Model

FREE = """
<robot name="flying"><link name="surroundings"/><link name="flyer"/>
  <joint name="root_joint" type="floating"><parent link="surroundings"/><child link="flyer"/></joint></robot>
"""


def tree(parents) -> Model:
    """Return a tree of revolute joints with these numbers of parent links, 0 for the base."""
    joints = trees.random_joints(1, count=len(parents), prismatic=0.0)
    names = [trees.BASE, *(joint.link for joint in joints)]
    joints = [dataclasses.replace(joint, parent=names[p]) for joint, p in zip(joints, parents, strict=True)]
    return Model.of('tree', trees.BASE, joints)


def chain(n):
    return tree(range(n))


def binary(n):
    return tree([i // 2 for i in range(1, n + 1)])


def known(end):
    (path,) = (path for path in example_urdfs() if path.endswith(end))
    return model_from_urdf(path)


def flying(end):
    return with_attached(model_from_urdf(FREE), known(end), 'flyer', None, '')


BY_MASS_MATRIX = {
    'chain of 9': lambda: chain(9),
    'binary tree of 63': lambda: binary(63),
    'a hundred joints on the base': lambda: tree([0] * 100),
    'Allegro hand': lambda: known('allegro_left_hand.urdf'),
    'Solo 12 on a free joint': lambda: flying('solo12.urdf'),
    'G1': lambda: known('g1_29dof_rev_1_0.urdf'),
    'Talos, 32 joints': lambda: known('talos_reduced.urdf'),
    'no joint': lambda: tree([]),
}
BY_ARTICULATED_BODIES = {
    'chain of 10': lambda: chain(10),
    'chain of 1000': lambda: chain(1000),
    'binary tree of 127': lambda: binary(127),
    'G1 on a free joint': lambda: flying('g1_29dof_rev_1_0.urdf'),
    'Talos, 44 joints': lambda: known('talos_full_v2.urdf'),
}


@pytest.mark.parametrize('robot', BY_MASS_MATRIX)
def test_few_velocities_before_each_one_are_left_to_the_mass_matrix(robot):
    assert not articulated_bodies_pay(BY_MASS_MATRIX[robot]().arrays)


@pytest.mark.parametrize('robot', BY_ARTICULATED_BODIES)
def test_many_velocities_before_each_one_are_left_to_articulated_bodies(robot):
    assert articulated_bodies_pay(BY_ARTICULATED_BODIES[robot]().arrays)
