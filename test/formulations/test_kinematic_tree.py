"""``KinematicTree``: its placements against the kernels' poses, and the robots that it refuses."""

from dataclasses import replace

from support.robots import random_trees as trees
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros import LoopClosure, Payload, Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formulations.kinematic_tree import KinematicTree
from robot_dynamics_ros.model.model import Model

ARM = Robot.named('aubo_i5').with_payload(Payload(2.0, (0.1, 0.0, 0.05)))


def robot_of(joints) -> Robot:
    return Robot(Model.of('random', trees.BASE, joints))


@pytest.mark.rounding
@pytest.mark.parametrize('robot', [ARM, robot_of(trees.random_joints(3, count=9))], ids=['arm', 'tree'])
def test_placements_multiply_to_poses(robot):
    """R_0i = R_0p R_pi, p_i = p_p + R_0p r_i."""
    tree = KinematicTree.of(robot, 'test', serial=False)
    q = np.random.default_rng(0).uniform(-2.0, 2.0, robot.nq)
    rotation, origin = [np.eye(3)], [np.zeros(3)]
    for i in range(1, tree.n + 1):
        p = tree.parent[i]
        R, r = tree.placement(i, q[i - 1])
        rotation.append(rotation[p] @ R)
        origin.append(origin[p] + rotation[p] @ r)
        pose = robot.link_pose(q, robot.link_names[i])
        assert np.abs(pose[:3, :3] - rotation[i]).max() < bound(20, tree.n)
        assert np.abs(pose[:3, 3] - origin[i]).max() < bound(20, tree.n, scale=np.abs(origin).max())


@pytest.mark.rounding
def test_bodies_have_the_payload():
    """Mass and centre of the last link include those of the payload."""
    tree, bare = (KinematicTree.of(robot, 'test') for robot in (ARM, ARM.without_payload()))
    assert tree.mass[6] == pytest.approx(bare.mass[6] + 2.0)
    moment = bare.mass[6] * bare.com[6] + 2.0 * np.array([0.1, 0.0, 0.05])
    assert np.abs(tree.mass[6] * tree.com[6] - moment).max() < bound(20, 2, scale=np.abs(moment).max())


def test_what_no_formulation_represents_is_refused_by_name():
    """Branches, joints of other types and rotor spin; the message names the joint and the formulation."""
    joints = trees.random_joints(5, count=8)
    with pytest.raises(ModelError, match='screws: a serial chain is expected, and joint'):
        KinematicTree.of(robot_of(joints), 'screws')
    for kind in ('helical', 'free'):
        other = [replace(joints[0], kind=kind, rotor=0.0, pitch=0.1 * (kind == 'helical'))]
        with pytest.raises(ModelError, match=f"spatial: joint '{joints[0].name}' is {kind}"):
            KinematicTree.of(robot_of(other), 'spatial', serial=False)
    spinning = replace(ARM.model.joints[0], spin=0.1)
    with pytest.raises(ModelError, match="joint 'shoulder_joint' has a rotor spin"):
        KinematicTree.of(Robot(Model.of('spin', 'base_link', [spinning])), 'operators')
    sprung = replace(ARM.model.joints[0], stiffness=0.1)
    with pytest.raises(ModelError, match="joint 'shoulder_joint' has a spring"):
        KinematicTree.of(Robot(Model.of('sprung', 'base_link', [sprung])), 'spatial')
    looped = ARM.with_loops([LoopClosure('grasp', None, link_b='wrist3_Link')])
    with pytest.raises(ModelError, match="test: a tree of joints is expected, and 'aubo_i5' has closed loops"):
        KinematicTree.of(looped, 'test')
    with pytest.raises(ModelError, match='no joint that moves'):
        KinematicTree.of(Robot(Model.of('still', 'base', [])), 'stacked')
