"""Robots and states for tests of functions that other libraries differentiate."""

from functools import cache

from support.robots import random_trees as trees
from support.robots.facade_robots import robot_of
from support.robots.small_robots import mixed, one, seven_joints

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.model.model import Model

TOLERANCE = 1e-12
"""Of the largest number of a result."""


def tree(seed: int, count: int) -> Robot:
    """Return a random tree of revolute, prismatic and helical joints under another gravity."""
    return Robot(Model.of('random', trees.BASE, trees.random_joints(seed, count=count)), (1.0, -2.0, -9.0))


FEW = {'aubo_i5': lambda: Robot.named('aubo_i5'), 'tree_of_8': lambda: tree(11, 8), 'seven_joints': seven_joints}
ROBOTS = {
    **FEW,
    'aubo_i5_lecture': lambda: Robot.named('aubo_i5_lecture'),
    'payload': lambda: Robot.named('aubo_i5').with_payload(Payload(2.0, (0.0, 0.02, 0.05))),
    'rotors': lambda: seven_joints().with_rotor_inertia(np.full(7, 0.3)),
    'one_joint': one,
    'mixed': mixed,
    'tree': lambda: robot_of('tree'),
    'tree_of_15': lambda: tree(12, 15),
}
of_few_robots = pytest.mark.parametrize('name', FEW)
of_all_robots = pytest.mark.parametrize('name', ROBOTS)
robot_named = cache(lambda name: ROBOTS[name]())
DYNAMICS = ('inverse_dynamics', 'forward_dynamics')
COUNTS = {
    **dict.fromkeys(['inverse_dynamics', 'forward_dynamics', 'torque', 'acceleration'], 3),
    **dict.fromkeys(['bias_torque', 'kinetic_energy', 'total_energy'], 2),
}
"""Numbers of vectors of a state, where it is not one."""


def vectors(robot, quantity, batch=()):
    """Return random vectors (*batch, n) of a quantity."""
    return [*np.random.default_rng(0).normal(size=(COUNTS.get(quantity, 1), *batch, robot.nv))]


def error(found, expected):
    """Return the largest difference, relative to the largest number."""
    return np.abs(np.asarray(found) - expected).max() / np.abs(expected).max()
