"""Products, determinants, rotations and angles of models: exact where they claim it, and as near as rounding allows."""

from support.rounding import bound

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Robot
from robot_dynamics_ros.model import untrusted_values
from robot_dynamics_ros.model.linear_algebra import determinant, product
from robot_dynamics_ros.model.rotations import sine_and_cosine


@given(st.floats(-1e30, 1e30) | st.floats(-7.0, 7.0))
def test_sine_and_cosine_are_correctly_rounded(angle):
    with mpmath.workprec(400):
        exact = float(mpmath.sin(angle)), float(mpmath.cos(angle))
    assert sine_and_cosine(angle) == exact


ROTATIONS = Rotation.random(200, np.random.default_rng(0)).as_matrix()


def test_a_rotation_stays_as_it_is_when_it_is_read():
    for rotation in [*ROTATIONS, *(product(*three) for three in ROTATIONS[:198].reshape(-1, 3, 3, 3))]:
        assert np.array_equal(untrusted_values.rotation('rotation', rotation), rotation)


@pytest.mark.rounding
def test_a_rounded_rotation_becomes_the_nearest_one():
    """The orthogonal polar factor R of A: R' A is symmetric."""
    for rotation in ROTATIONS:
        rounded = np.round(rotation, 7)
        nearest = untrusted_values.rotation('rotation', rounded)
        assert not np.array_equal(nearest, rounded)
        assert np.abs(nearest.T @ nearest - np.eye(3)).max() < bound(10, 3)
        stretch = nearest.T @ rounded
        assert np.abs(stretch - stretch.T).max() < bound(10, 3)


def test_a_unit_vector_stays_as_it_is_when_it_is_read():
    for axis in ROTATIONS[:, 0]:
        assert np.array_equal(untrusted_values.direction('axis', axis), axis)


@pytest.mark.parametrize('name', ['aubo_i5', 'aubo_i5_lecture'])
def test_rotations_in_yaml_are_the_models_to_the_bit(name):
    robot = Robot.named(name)
    read = Robot.from_yaml(robot.to_yaml())
    for field in ('E0', 'Ec', 'Es', 'r0', 'S'):
        assert np.array_equal(getattr(read._model.arrays, field), getattr(robot._model.arrays, field)), field


@pytest.mark.rounding
@pytest.mark.parametrize('condition', [1.0, 1e3, 1e9])
def test_determinants_of_inertias(condition):
    for R in ROTATIONS:
        inertia = R @ np.diag([1.0, 0.9, 1.0 / condition]) @ R.T
        assert determinant(inertia) == pytest.approx(0.9 / condition, rel=bound(20, 3, condition))
