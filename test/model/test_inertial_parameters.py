"""Inertial parameters of a rigid body: the check of its principal moments, beside LAPACK's eigenvalues."""

import numpy as np
import pytest

from robot_dynamics_ros.model.inertial_parameters import body_numbers, central_parameters, is_inertia, ten_parameters

ROUNDING = 1e-6


@pytest.mark.parametrize('size', [1e-4, 1.0, 1e4])
@pytest.mark.parametrize('points', [1, 2, 3, 5])
def test_moments_are_judged_as_by_their_eigenvalues(points, size):
    rng, found = np.random.default_rng(points), set()
    for _ in range(500):
        x = np.sqrt(size) * rng.normal(size=(points, 3))
        P = x.T @ x + np.diag(rng.normal(size=3)) * rng.choice([0.0, ROUNDING])
        J = np.trace(P) * np.eye(3) - P
        least, middle, largest = np.linalg.eigvalsh(J)
        beyond = largest - middle - least - ROUNDING
        if abs(beyond) > 1e-14 * largest:
            assert is_inertia(body_numbers(1.0, np.zeros(3), J), ROUNDING) == (beyond < 0.0)
            found.add(beyond < 0.0)
    assert found == {True, False} if points < 3 else True in found


@pytest.mark.parametrize('wrong', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('place', range(4, 10))
def test_numbers_that_are_not_finite_are_no_inertia(place, wrong):
    body = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert is_inertia(body, ROUNDING)
    body[place] = wrong
    assert not is_inertia(body, ROUNDING)


def test_a_body_returns_from_its_row():
    rng = np.random.default_rng(3)
    x, mass, com = rng.normal(size=(4, 3)), 2.5, rng.normal(size=3)
    inertia = np.trace(x.T @ x) * np.eye(3) - x.T @ x
    for one, other in zip(central_parameters(ten_parameters(mass, com, inertia)), (mass, com, inertia), strict=True):
        assert one == pytest.approx(other, abs=1e-14)
    massless = central_parameters(np.r_[0.0, 1.0, 2.0, 3.0, np.zeros(6)])
    assert massless[0] == 0.0 and not massless[1].any()
