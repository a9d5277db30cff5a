"""Pseudo-inertia and log-Cholesky coordinates: which ten numbers are a body, and coordinates in which all are."""

from support.matrices import matrix
from support.robots import random_trees as trees
from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.pseudo_inertia import (
    log_cholesky,
    parameters_of_log_cholesky,
    parameters_of_pseudo_inertia,
    pseudo_inertia,
    violation,
)

pytestmark = pytest.mark.plain

SEEDS = pytest.mark.parametrize('seed', matrix(range(50), range(10)))


def body(seed) -> np.ndarray:
    return trees.random_body(np.random.default_rng(seed))


def coordinates(seed) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=10)


# pseudo-inertia


@pytest.mark.rounding
@SEEDS
def test_it_is_the_sum_over_mass_points(seed):
    random = np.random.default_rng(seed)
    masses, points = random.uniform(size=9), random.normal(size=(9, 3))
    row = sum(ten_parameters(mass, point, np.zeros((3, 3))) for mass, point in zip(masses, points, strict=True))
    extended = np.column_stack([points, np.ones(9)])
    expected = np.einsum('k,ki,kj->ij', masses, extended, extended)
    assert np.abs(pseudo_inertia(row) - expected).max() < bound(10, len(points), scale=np.abs(row).max())
    assert violation(row) is None


@SEEDS
def test_parameters_to_pseudo_inertia_and_back(seed):
    row = np.random.default_rng(seed).normal(size=10)  # a body or not
    assert parameters_of_pseudo_inertia(pseudo_inertia(row)) == pytest.approx(row, rel=1e-14, abs=1e-14)


BROKEN = {
    'no mass': (ten_parameters(0.0, np.zeros(3), np.zeros((3, 3))), 'mass of 0 kg is not positive'),
    'negative mass': (ten_parameters(-2.0, np.ones(3), np.eye(3)), 'mass of -2 kg is not positive'),
    'NaN': (np.full(10, np.nan), 'mass of nan kg is not positive'),
    'point': (ten_parameters(1.0, np.ones(3), np.zeros((3, 3))), 'not positive definite: principal moments'),
    'negative moment': (ten_parameters(1.0, np.ones(3), np.diag([1.0, -0.1, 1.0])), 'not positive definite'),
    'sheet': (ten_parameters(1.0, np.zeros(3), np.diag([1.0, 2.0, 3.0])), 'triangle inequality'),
    'beyond a sheet': (
        ten_parameters(1.0, np.ones(3), np.diag([1.0, 2.0, 3.1])),
        '1, 2, 3.1 kg m^2 break the triangle',
    ),
}


@pytest.mark.parametrize('broken', BROKEN)
def test_the_violated_condition_is_named(broken):
    row, text = BROKEN[broken]
    assert text in violation(row)
    with pytest.raises(ArgumentError, match=r'^inertial parameters: ') as caught:
        log_cholesky(row)
    assert text in str(caught.value)


@pytest.mark.parametrize('seed', matrix(range(100), range(30)))
def test_the_conditions_are_that_it_is_positive_definite(seed):
    random = np.random.default_rng(seed)
    moments = random.uniform(0.0, 1.0, 3)
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    row = ten_parameters(random.uniform(-0.2, 1.0), random.normal(size=3), turn @ np.diag(moments) @ turn.T)
    assert (violation(row) is None) == (np.linalg.eigvalsh(pseudo_inertia(row))[0] > 0.0)


def test_some_pseudo_inertias_are_positive_definite_and_some_not():
    found = [violation(ten_parameters(1.0, [0, 0, 0], np.diag(m))) is None for m in ((1, 1, 1), (1, 2, 4))]
    assert found == [True, False]


# log-Cholesky coordinates


@SEEDS
def test_any_log_cholesky_coordinates_are_a_body(seed):
    assert violation(parameters_of_log_cholesky(coordinates(seed))) is None


@SEEDS
def test_parameters_to_log_cholesky_coordinates_and_back(seed):
    row = body(seed)
    assert parameters_of_log_cholesky(log_cholesky(row)) == pytest.approx(row, rel=1e-12, abs=1e-12)
    theta = 0.5 * coordinates(seed)
    assert log_cholesky(parameters_of_log_cholesky(theta)) == pytest.approx(theta, rel=1e-12, abs=1e-12)


def test_what_the_coordinates_are():
    """A unit mass is unmoved at zero; alpha scales all of it, d stretches, t moves, s shears."""
    assert parameters_of_log_cholesky(np.zeros(10)) == pytest.approx([1, 0, 0, 0, 2, 0, 0, 2, 0, 2])
    unit = np.eye(10)
    assert parameters_of_log_cholesky(np.log(3.0) * unit[0])[0] == pytest.approx(9.0)
    for axis in range(3):
        stretched = pseudo_inertia(parameters_of_log_cholesky(np.log(2.0) * unit[1 + axis]))
        assert np.diag(stretched) == pytest.approx([4.0 if k == axis else 1.0 for k in range(4)])
        assert parameters_of_log_cholesky(0.3 * unit[7 + axis])[1:4] == pytest.approx(0.3 * np.eye(3)[axis])
    for k, entry in ((4, (0, 1)), (5, (1, 2)), (6, (0, 2))):
        assert pseudo_inertia(parameters_of_log_cholesky(0.3 * unit[k]))[entry] == pytest.approx(0.3)


# the outside source


@SEEDS
def test_pinocchio_has_the_same(seed):
    pin = pytest.importorskip('pinocchio', minversion='3.4', reason='Pinocchio (package pin) is not installed')
    order = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # it has xx, xy, yy, xz, yz, zz
    theta = coordinates(seed)
    row = parameters_of_log_cholesky(theta)
    assert row[order] == pytest.approx(pin.LogCholeskyParameters(theta).toDynamicParameters(), rel=1e-12, abs=1e-12)
    theirs = pin.PseudoInertia.FromDynamicParameters(row[order]).toMatrix()
    assert pseudo_inertia(row) == pytest.approx(theirs, rel=1e-12, abs=1e-12)
