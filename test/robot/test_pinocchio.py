"""Methods of ``Robot`` against Pinocchio on 300 random trees; kernels in test/kernels/test_pinocchio.py."""

from support.matrices import matrix
from support.robots import random_trees as trees
from support.twins import pinocchio_peer as peers
from support.twins.pinocchio_peer import Peer, pin

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Robot
from robot_dynamics_ros.model.model import Frame, Model

TOLERANCE = 1e-9  # of the largest magnitude in the quantity


@pytest.mark.parametrize('seed', matrix(range(1000, 1100), range(1000, 1010)))
def test_every_quantity_is_pinocchios(seed):
    joints = trees.with_planar_about_z(trees.random_joints(seed, general=0.5 * (seed % 2)))
    rng = np.random.default_rng([seed, 2])
    link, origin = int(rng.integers(1, len(joints) + 1)), rng.normal(size=3)
    rotation = Rotation.from_quat(rng.normal(size=4)).as_matrix()
    tool = Frame(link, rotation, origin)
    robot = Robot(Model.of('random', trees.BASE, joints, {'tool': tool}), peers.random_gravity(seed))
    model, _, _ = trees.pinocchio_tree(joints)
    place = pin.SE3(rotation, origin)
    model.addFrame(pin.Frame('tool', model.getJointId(joints[link - 1].name), place, pin.FrameType.BODY))
    errors = peers.errors(Peer(robot, model), ['tool'], peers.random_state(robot, seed))
    assert {name: error for name, error in errors.items() if not error < TOLERANCE} == {}
