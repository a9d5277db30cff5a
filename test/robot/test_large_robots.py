"""Robots of ten thousand links and more: accuracy of forward dynamics, memory, and the largest number of joints."""

import os
import subprocess
import sys

from support.robots import random_trees as trees
from support.robots.cables import cable, state_of

import numpy as np
import pytest

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.model import Model


def test_inverse_dynamics_of_ten_thousand_links_returns_the_torques():
    robot = cable(10_000)
    q, qd, tau = state_of(robot)
    found = robot.inverse_dynamics(q, qd, robot.forward_dynamics(q, qd, tau))
    assert np.abs(found - tau).max() < 1e-7 * np.abs(tau).max()  # it is 3e-9


def test_memory_of_ten_thousand_links():
    """The matrices of the workspace, 3 GB, are never written: a process with such a robot needs some 0.2 GB."""
    # what is compiled for all robots is compiled before
    small = cable(40)
    state = state_of(small)
    small.inverse_dynamics(*state[:2], small.forward_dynamics(*state))
    code = (
        'from support.robots.cables import cable, state_of; robot = cable(10_000); state = state_of(robot);'
        'qdd = robot.forward_dynamics(*state); robot.inverse_dynamics(*state[:2], qdd);'
        "print(*(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    paths = os.environ | {'PYTHONPATH': os.pathsep.join(sys.path)}
    finished = subprocess.run([sys.executable, '-c', code], env=paths, capture_output=True, text=True, check=True)
    assert int(finished.stdout) < 300_000  # kB


def test_twenty_thousand_links_are_the_most():
    with pytest.raises(ModelError, match='20001 joints that move: expected up to 20000'):
        Model.of('chain', trees.BASE, 20_001 * trees.random_joints(0, count=1))
