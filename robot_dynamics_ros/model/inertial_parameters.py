"""Conversions of the ten inertial parameters of a rigid body (NumPy, not compiled).

A row is m (kg), h = m c (3, kg m), J about the frame's origin as xx, xy, xz, yy, yz, zz (kg m^2), as kernels read it
(see ``inertia``). The row of a rigid assembly of bodies is the sum of their rows.
"""

import numpy as np

from robot_dynamics_ros.model.linear_algebra import dot, product, trace


def ten_parameters(mass, com, inertia) -> np.ndarray:
    """Return the row (10,) of a body from mass (kg), centre (3, m) and inertia about the centre (3, 3; kg m^2)."""
    com = np.asarray(com, float)
    return _row(mass, mass * com, np.asarray(inertia, float) + mass * (dot(com, com) * np.eye(3) - np.outer(com, com)))


def central_parameters(row) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass (kg), centre (3, m; 0 if massless) and inertia about the centre (3, 3; kg m^2) of a row (10,)."""
    mass = float(row[0])
    com = row[1:4] / mass if mass else np.zeros(3)
    return mass, com, symmetric(row[4:]) - mass * (dot(com, com) * np.eye(3) - np.outer(com, com))


def second_moments(row) -> np.ndarray:
    """Return P = tr(J)/2 1 - J (3, 3; kg m^2), the sum of m x x' over a body's mass points, of a row (10,)."""
    J = symmetric(row[4:])
    return 0.5 * trace(J) * np.eye(3) - J


def parameters_of_moments(mass, h, P) -> np.ndarray:
    """Return the row (10,) of a body from mass (kg), first moment h (3, kg m) and second moments P (3, 3; kg m^2)."""
    return _row(mass, h, trace(P) * np.eye(3) - P)


def moved(row, rotation, origin) -> np.ndarray:
    """Return the row (10,) transformed to a frame where its own has the rotation (3, 3) and the origin (3, m)."""
    m, h = row[0], product(rotation, row[1:4])
    across = np.outer(h, origin)
    # x = R x' + p in P, the sum of m x x'
    P = product(rotation, second_moments(row), rotation.T) + across + across.T + m * np.outer(origin, origin)
    return parameters_of_moments(m, h + m * origin, P)


def symmetric(entries) -> np.ndarray:
    """Return the matrix (3, 3) of xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _row(mass, h, J) -> np.ndarray:
    """Return the row (10,) of m, h (3) and J (3, 3)."""
    return np.array([mass, *h, J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]])
