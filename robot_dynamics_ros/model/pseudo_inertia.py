"""Pseudo-inertia of a rigid body: physical consistency, and log-Cholesky coordinates (NumPy, not compiled).

The pseudo-inertia is [P h; h' m] (4, 4) with the second moments P (kg m^2), the first moment h (kg m) and the mass m
(kg): the sum of m x x' over a body's particles at x = (x, y, z, 1). It is positive definite for every body that extends
in all directions (Wensing, Kim & Slotine 2018).
"""

import math

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.inertial_parameters import central_parameters, parameters_of_moments, second_moments
from robot_dynamics_ros.model.linear_algebra import product


def pseudo_inertia(row) -> np.ndarray:
    """Return the pseudo-inertia (4, 4) of ten parameters (10,)."""
    h = np.reshape(row[1:4], (3, 1))
    return np.block([[second_moments(row), h], [h.T, row[0]]])


def parameters_of_pseudo_inertia(matrix) -> np.ndarray:
    """Return the ten parameters (10,) of a pseudo-inertia (4, 4)."""
    return parameters_of_moments(matrix[3, 3], matrix[:3, 3], matrix[:3, :3])


def violation(row) -> str | None:
    """Return why the pseudo-inertia of ten parameters (10,) is not positive definite, or None if it is."""
    mass, _, inertia = central_parameters(row)
    if not mass > 0.0:
        return f'the mass of {mass:g} kg is not positive'
    moments = np.linalg.eigvalsh(inertia)
    shown = ', '.join(f'{moment:.6g}' for moment in moments)
    if not moments[0] > 0.0:
        return f'the inertia about the centre is not positive definite: principal moments {shown} kg m^2'
    if not moments[2] < moments[0] + moments[1]:
        return f'principal moments {shown} kg m^2 break the triangle inequality: one is not below the sum of the others'
    return None


def log_cholesky(row) -> np.ndarray:
    """Return the log-Cholesky coordinates (10,) of ten parameters (10,): alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3.

    Rucker & Wensing 2022. Raises ArgumentError with the ``violation`` of inconsistent parameters.
    """
    fault = violation(row)
    if fault:
        raise ArgumentError(f'inertial parameters: {fault}')
    # U U' with U upper triangular: Cholesky factor of the matrix with rows and columns in reverse order
    U = np.linalg.cholesky(pseudo_inertia(row)[::-1, ::-1])[::-1, ::-1]
    scale = U[3, 3]
    s12, s23, s13 = U[0, 1], U[1, 2], U[0, 2]
    return np.array([np.log(scale), *np.log(np.diag(U)[:3] / scale), *(np.array([s12, s23, s13, *U[:3, 3]]) / scale)])


def parameters_of_log_cholesky(coordinates) -> np.ndarray:
    """Return the ten parameters (10,) of log-Cholesky coordinates (10,); any ten real numbers are consistent.

    The pseudo-inertia is U U' with U = exp(alpha) times the upper triangular matrix of exp(d) and 1 on its diagonal, s
    and t above it. Rucker & Wensing 2022.
    """
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = coordinates
    U = math.exp(alpha) * np.array([
        [math.exp(d1), s12, s13, t1],
        [0.0, math.exp(d2), s23, t2],
        [0.0, 0.0, math.exp(d3), t3],
        [0.0, 0.0, 0.0, 1.0],
    ])  # fmt: skip
    return parameters_of_pseudo_inertia(product(U, U.T))
