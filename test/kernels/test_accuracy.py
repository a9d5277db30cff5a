"""Forward dynamics of chains of 80 links against the kernels' own sources on numbers of 60 digits.

An error is the largest one of all accelerations, relative to the largest acceleration. All numbers of a model are exact
in double precision, and there are no rotations at q = 0, so that both algorithms have the same solution.
"""

from functools import cache
from types import SimpleNamespace

from support.code.other_numbers import OtherNumbers
from support.code.robots_code import loop_of
from support.robots import random_trees as trees

import mpmath
import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.kernels.aba import aba
from robot_dynamics_ros.kernels.crba_forward import crba_forward
from robot_dynamics_ros.model.arrays import ModelArrays, Workspace
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model

DIGITS, LINKS = 60, 80
AXES = {'parallel': ((0.0, 0.0, 1.0),), 'alternating': ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))}
GRAVITY = np.array([0.0, -9.81, 0.0])
SEEDS = (0, 1)
CASE = pytest.mark.parametrize(('axes', 'seed'), [(axes, seed) for axes in AXES for seed in SEEDS])


def chain(axes: str) -> Robot:
    """Return equal links of 0.1 m and 1 kg, on revolute joints with parallel or alternating axes."""
    body, joints = ten_parameters(1.0, [0.05, 0.0, 0.0], np.diag([1e-3, 1e-3, 1e-3])), []
    for i in range(LINKS):
        parent, origin = f'link_{i - 1}' if i else trees.BASE, np.array([0.1 * (i > 0), 0.0, 0.0])
        axis = np.array(AXES[axes][i % len(AXES[axes])])
        joints.append(Joint(f'joint_{i}', f'link_{i}', parent, 'revolute', axis, np.eye(3), origin, body))
    return Robot(Model.of(axes, trees.BASE, joints), GRAVITY)


@cache
def case(axes, seed):
    """Return a chain, a random state, and its accelerations in 60 digits."""
    robot, state = chain(axes), np.random.default_rng(seed).uniform(-1.0, 1.0, (3, LINKS))
    return SimpleNamespace(robot=robot, state=state, expected=in_many_digits(aba, robot, state))


def in_many_digits(kernel, robot, state) -> np.ndarray:
    """Return the accelerations (80,), mpmath's numbers, by the source of a kernel."""
    with mpmath.workdps(DIGITS):
        numbers = OtherNumbers(lambda x: (mpmath.sin(x), mpmath.cos(x)), mpmath.sqrt)
        arrays, work = robot.model.arrays, Workspace.of(robot.model.arrays, object)
        model = ModelArrays(*(array if array.dtype.kind == 'i' else exact(array) for array in arrays))
        vectors, result = [exact(vector) for vector in state], exact(np.zeros(LINKS))
        still, none = exact(np.zeros(6)), exact(np.zeros((LINKS + 1, 6)))
        numbers.run(kernel, model, work, *vectors, still, still, exact(GRAVITY), none, result)
    return result


def exact(array) -> np.ndarray:
    """Return an array of mpmath's numbers."""
    return np.array([mpmath.mpf(float(x)) for x in array.ravel()], object).reshape(array.shape)


def in_doubles(kernel, robot, state) -> np.ndarray:
    """Return the accelerations (80,) by machine code."""
    arrays, result = robot.model.arrays, np.empty((1, LINKS))
    work = Workspace.of(arrays)
    loop_of(kernel)(arrays, work, *state[:, np.newaxis], GRAVITY, np.zeros((1, arrays.n + 1, 6)), result)
    return result[0]


def error(found, expected) -> float:
    """Return the largest error, relative to the largest acceleration."""
    with mpmath.workdps(DIGITS):
        return float(max(abs(a - b) for a, b in zip(found, expected, strict=True)) / max(abs(b) for b in expected))


@CASE
def test_articulated_bodies_are_off_by_less_than_1e_14(axes, seed):
    """7e-16 and 1e-15 are typical of parallel axes, 5e-16 of alternating ones."""
    c = case(axes, seed)
    assert error(in_doubles(aba, c.robot, c.state), c.expected) <= 1e-14


@CASE
def test_the_mass_matrix_loses_digits_with_its_condition(axes, seed, record_property):
    """1e-10 to 4e-10 are typical of parallel axes, 1e-11 of alternating ones."""
    c = case(axes, seed)
    found = error(in_doubles(crba_forward, c.robot, c.state), c.expected)
    record_property('error by mass matrix', found)
    condition = np.linalg.cond(c.robot.mass_matrix(c.state[0]))
    assert 1e-13 < found < 1e-16 * condition


def test_both_algorithms_agree_in_many_digits():
    c = case('alternating', 0)
    assert error(in_many_digits(crba_forward, c.robot, c.state), c.expected) < 1e-50


@CASE
def test_the_method_that_is_chosen_for_long_chains_is_the_accurate_one(axes, seed):
    """With regrouped inertias it would be 2e-14 to 6e-14 on parallel axes."""
    c = case(axes, seed)
    found = c.robot.forward_dynamics(*c.state)
    assert error(found, c.expected) <= 1e-14
    assert (found == c.robot.forward_dynamics(*c.state, method='articulated')).all()
    assert error(c.robot.forward_dynamics(*c.state, method='mass_matrix'), c.expected) > 1e-13
