"""Linear algebra of small matrices and vectors, with the same bits on every processor.

BLAS and LAPACK choose their code, and with it the order of summation, by the processor, so that ``@`` and ``np.linalg``
round differently from machine to machine. A model built with them would have another digest on another machine. Here
every sum is written out in a fixed order, of operations that IEEE 754 rounds in one way only.
"""

import math

import numpy as np


def product(first, *others) -> np.ndarray:
    """Return the product of matrices (.., ..), from left to right; the last one may be a vector (..,)."""
    result = np.asarray(first, float)
    for other in others:
        right = np.asarray(other, float)
        rows = right if right.ndim == 2 else right[:, None]
        total = result[:, :1] * rows[0]
        for k in range(1, len(rows)):
            total = total + result[:, k, None] * rows[k]
        result = (total if right.ndim == 2 else total[:, 0]) + 0.0  # no negative zeros
    return result


def dot(a, b) -> float:
    """Return the scalar product of two vectors (n,)."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += float(x) * float(y)
    return total


def norm(vector) -> float:
    """Return the length of a vector (n,)."""
    return math.sqrt(dot(vector, vector))


def trace(matrix) -> float:
    """Return the sum of the diagonal of a matrix (3, 3)."""
    return float(matrix[0, 0] + matrix[1, 1] + matrix[2, 2])


def cross(a, b) -> np.ndarray:
    """Return the vector product (3,) of two vectors (3,); np.cross takes ten times as long."""
    (a_x, a_y, a_z), (b_x, b_y, b_z) = a.tolist(), b.tolist()
    return np.array([a_y * b_z - a_z * b_y, a_z * b_x - a_x * b_z, a_x * b_y - a_y * b_x])


def determinant(matrix) -> float:
    """Return the determinant of a matrix (3, 3)."""
    return dot(matrix[0], cross(matrix[1], matrix[2]))
