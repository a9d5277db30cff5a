"""Robots and states for tests of functions that other libraries differentiate."""

from functools import cache

from support.robots import random_trees as trees
from support.robots.small_robots import seven_joints

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.model.model import Model

TOLERANCE = 1e-12
"""Of the largest number of a result."""
ROBOTS = {
    'aubo_i5': lambda: Robot.named('aubo_i5'),
    'tree_of_8': lambda: Robot(Model.of('random', trees.BASE, trees.random_joints(11, count=8)), (1.0, -2.0, -9.0)),
    'seven_joints': seven_joints,
}
of_all_robots = pytest.mark.parametrize('name', ROBOTS)
robot_named = cache(lambda name: ROBOTS[name]())
DYNAMICS = ('inverse_dynamics', 'forward_dynamics')
COUNTS = {'inverse_dynamics': 3, 'forward_dynamics': 3, 'bias_torque': 2, 'kinetic_energy': 2, 'total_energy': 2}
"""Numbers of vectors of a state, where it is not one."""


def vectors(robot, quantity, batch=()):
    """Return random vectors (*batch, n) of a quantity."""
    return [*np.random.default_rng(0).normal(size=(COUNTS.get(quantity, 1), *batch, robot.nv))]


def error(found, expected):
    """Return the largest difference, relative to the largest number."""
    return np.abs(np.asarray(found) - expected).max() / np.abs(expected).max()
