"""Conversions of the ten inertial parameters of a rigid body (NumPy, not compiled).

A row is m (kg), h = m c (3, kg m), J about the frame's origin as xx, xy, xz, yy, yz, zz (kg m^2), as kernels read it
(see ``inertia``). The row of a rigid assembly of bodies is the sum of their rows.
"""

import numpy as np

from robot_dynamics_ros.model.linear_algebra import trace

# Functions whose results are arguments are exported as C, too: they take lists, or arrays, of numbers.


def write_row(body, row):
    """Write the row (10,) of a body: mass (kg), centre (3, m), and xx, yy, zz, xy, xz, yz about it (6, kg m^2)."""
    m, x, y, z = body[0], body[1], body[2], body[3]
    square = x * x + y * y + z * z
    row[0], row[1], row[2], row[3] = m, m * x, m * y, m * z
    # J_c + m (c . c 1 - c c')
    row[4], row[7], row[9] = (
        body[4] + m * (square - x * x),
        body[5] + m * (square - y * y),
        body[6] + m * (square - z * z),
    )
    row[5], row[6], row[8] = body[7] + m * (0.0 - x * y), body[8] + m * (0.0 - x * z), body[9] + m * (0.0 - y * z)


def write_body(row, body):
    """Write the body (10,), as in ``write_row``, of a row (10,); the centre is 0 without a mass."""
    m = row[0]
    body[0] = m
    for i in range(1, 4):
        body[i] = row[i] / m if m != 0.0 else 0.0
    x, y, z = body[1], body[2], body[3]
    square = x * x + y * y + z * z
    # J - m (c . c 1 - c c')
    body[4], body[5], body[6] = (
        row[4] - m * (square - x * x),
        row[7] - m * (square - y * y),
        row[9] - m * (square - z * z),
    )
    body[7], body[8], body[9] = row[5] - m * (0.0 - x * y), row[6] - m * (0.0 - x * z), row[8] - m * (0.0 - y * z)


def write_moved_row(row, rotation, origin, P, moved_row):
    """Write the row (10,) in a frame where its own has the rotation (9,) and origin (3, m); P (9,) is scratch."""
    m = row[0]
    # tr(J)/2 1 - J, second moments
    half = 0.5 * (row[4] + row[7] + row[9])
    xx, xy, xz = half - row[4], 0.0 - row[5], 0.0 - row[6]
    yy, yz, zz = half - row[7], 0.0 - row[8], half - row[9]
    for i in range(3):
        x, y, z = rotation[3 * i], rotation[3 * i + 1], rotation[3 * i + 2]
        moved_row[1 + i] = x * row[1] + y * row[2] + z * row[3] + 0.0
        u, v, w = x * xx + y * xy + z * xz + 0.0, x * xy + y * yy + z * yz + 0.0, x * xz + y * yz + z * zz + 0.0
        for j in range(3):
            P[3 * i + j] = u * rotation[3 * j] + v * rotation[3 * j + 1] + w * rotation[3 * j + 2] + 0.0
    # x = R x' + p in P, the sum of m x x'
    for i in range(3):
        for j in range(3):
            across = P[3 * i + j] + moved_row[1 + i] * origin[j] + moved_row[1 + j] * origin[i]
            P[3 * i + j] = across + m * (origin[i] * origin[j])
    for i in range(3):
        moved_row[1 + i] = moved_row[1 + i] + m * origin[i]
    # tr(P) 1 - P
    total = P[0] + P[4] + P[8]
    zero = 0.0 * total
    moved_row[0] = m
    moved_row[4], moved_row[7], moved_row[9] = total - P[0], total - P[4], total - P[8]
    moved_row[5], moved_row[6], moved_row[8] = zero - P[1], zero - P[2], zero - P[5]


def is_inertia(body, rounding):
    """Return whether no principal moment of a body (10,), as in ``write_row``, exceeds the others by ``rounding``.

    The second moments tr(J)/2 1 - J with half of it added are then positive definite, by their factors L D L'. False
    for numbers that are not finite.
    """
    half = 0.5 * (body[4] + body[5] + body[6] + rounding)
    d = half - body[4]
    if not d > 0.0:
        return False
    y, z = -body[7] / d, -body[8] / d
    e = half - body[5] + body[7] * y
    if not e > 0.0:
        return False
    f = -body[9] + body[8] * y
    return half - body[6] + body[8] * z - f * (f / e) > 0.0


def ten_parameters(mass, com, inertia) -> np.ndarray:
    """Return the row (10,) of a body from mass (kg), centre (3, m) and inertia about the centre (3, 3; kg m^2)."""
    row = [0.0] * 10
    write_row(body_numbers(mass, com, inertia), row)
    return np.array(row)


def body_numbers(mass, com, inertia) -> list[float]:
    """Return the numbers of a body (10,), as in ``write_row``."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = np.asarray(inertia, float).tolist()
    return [float(mass), *np.asarray(com, float).tolist(), xx, yy, zz, xy, xz, yz]


def central_parameters(row) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass (kg), centre (3, m; 0 if massless) and inertia about the centre (3, 3; kg m^2) of a row (10,)."""
    body = [0.0] * 10
    write_body(np.asarray(row, float).tolist(), body)
    xx, yy, zz, xy, xz, yz = body[4:]
    return body[0], np.array(body[1:4]), symmetric((xx, xy, xz, yy, yz, zz))


def second_moments(row) -> np.ndarray:
    """Return P = tr(J)/2 1 - J (3, 3; kg m^2), the sum of m x x' over a body's mass points, of a row (10,)."""
    J = symmetric(row[4:])
    return 0.5 * trace(J) * np.eye(3) - J


def parameters_of_moments(mass, h, P) -> np.ndarray:
    """Return the row (10,) of a body from mass (kg), first moment h (3, kg m) and second moments P (3, 3; kg m^2)."""
    return _row(mass, h, trace(P) * np.eye(3) - P)


def moved(row, rotation, origin) -> np.ndarray:
    """Return the row (10,) transformed to a frame where its own has the rotation (3, 3) and the origin (3, m)."""
    R, p = np.ravel(rotation).tolist(), np.asarray(origin, float).tolist()
    P, result = [0.0] * 9, [0.0] * 10
    write_moved_row(np.asarray(row, float).tolist(), R, p, P, result)
    return np.array(result)


def symmetric(entries) -> np.ndarray:
    """Return the matrix (3, 3) of xx, xy, xz, yy, yz, zz."""
    xx, xy, xz, yy, yz, zz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _row(mass, h, J) -> np.ndarray:
    """Return the row (10,) of m, h (3) and J (3, 3)."""
    return np.array([mass, *h, J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]])
