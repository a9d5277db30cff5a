"""Eigenvalues by QR steps, beside LAPACK's."""

import numpy as np
import pytest

from robot_dynamics_ros.control.laws.impedance.symmetric_eigenvalues import diagonalise


def random_matrix(seed, m):
    root = np.random.default_rng(seed).normal(size=(m, m)) * np.logspace(-2, 1, m)
    return root @ root.T


@pytest.mark.parametrize('size', [1e-8, 1.0, 1e8])
@pytest.mark.parametrize('m', [1, 2, 6])
@pytest.mark.parametrize('seed', range(5))
def test_they_are_those_of_lapack_and_their_vectors_are_orthogonal(seed, m, size):
    matrix = size * random_matrix(seed, m)
    S, V = matrix.copy(), np.full((m, m), np.nan)
    diagonalise(S, V)
    expected, scale = np.linalg.eigvalsh(matrix), np.linalg.norm(matrix)
    assert np.sort(np.diag(S)) == pytest.approx(expected, rel=1e-12, abs=1e-13 * scale)
    assert pytest.approx(np.eye(m), abs=1e-13) == V.T @ V
    assert V * np.diag(S) @ V.T == pytest.approx(matrix, abs=1e-13 * scale)


@pytest.mark.parametrize('rank', range(7))
def test_they_are_right_where_some_are_zero_or_equal(rank):
    root = np.random.default_rng(rank).normal(size=(6, rank))
    for matrix in (root @ root.T, np.linalg.qr(np.random.default_rng(rank).normal(size=(6, 6)))[0]):
        matrix = matrix @ np.diag([3.0, 3.0, 3.0, 1.0, 1.0, 0.0]) @ matrix.T if rank > 2 else matrix @ matrix.T
        S, V = matrix.copy(), np.empty((6, 6))
        diagonalise(S, V)
        assert V * np.diag(S) @ V.T == pytest.approx(matrix, abs=1e-13 * (1.0 + np.linalg.norm(matrix)))
        assert pytest.approx(np.eye(6), abs=1e-13) == V.T @ V


@pytest.mark.parametrize('size', [1e-200, 1e-30, 1e30])
def test_they_are_right_for_any_size(size):
    matrix = size * random_matrix(3, 6)
    S, V = matrix.copy(), np.empty((6, 6))
    diagonalise(S, V)
    # squares of the smallest numbers vanish
    assert V * np.diag(S) @ V.T == pytest.approx(matrix, abs=1e-13 * np.linalg.norm(matrix) + 1e-160)


def test_what_is_not_finite_ends():
    S, V = np.full((6, 6), np.nan), np.empty((6, 6))
    diagonalise(S, V)
    assert np.isnan(np.diag(S)).any()


@pytest.mark.parametrize('matrix', [np.zeros((6, 6)), np.diag([3.0, 0.0, -1.0, 3.0, 1e-9, 2.0])])
def test_of_a_diagonal_matrix_they_are_its_numbers(matrix):
    S, V = matrix.copy(), np.empty((6, 6))
    diagonalise(S, V)
    assert np.array_equal(np.diag(S), np.diag(matrix)) and np.array_equal(V, np.eye(6))
