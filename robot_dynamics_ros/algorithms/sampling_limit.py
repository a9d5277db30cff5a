"""Limits of sampled control with a diagonal damping D: the largest eigenvalue of M^-1 D, and periods of late torques.

``control/laws/gain_limits.py`` has the reasons. Nodes call these functions compiled, and controllers in exported C.
"""

import numpy as np

from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Matrix, Vector

LATE = np.sqrt(2.0)
"""Factor of a period whose torques act late."""
BISECTIONS = 40
LARGEST = 1e200
"""Eigenvalue, 1/s, above which none is told from others."""
SINGULAR = -1.0
"""In place of an eigenvalue: the mass matrix is not positive definite."""


@compiled(given='M value')
@kernel
def write_largest_eigenvalue(damping: Vector, none: Vector, L: Matrix, M: Matrix, value: Vector) -> None:
    """Write the largest eigenvalue of M^-1 D (1/s) into ``value`` (1), for M (n, n) and ``damping`` (n), diagonal of D.

    It is never below the ratio of two diagonal elements, and a M - D is positive definite from it on. Where it is below
    what ``value`` was before, that stays. ``SINGULAR`` for a matrix M that is not positive definite. ``none`` (n) is
    zero, and L (n, n) scratch.
    """
    if not is_definite(1.0, M, none, L):
        value[0] = SINGULAR
        return
    below = 0.0
    for i in range(damping.shape[0]):
        below = max(below, damping[i] / M[i, i])
    if below == 0.0 or is_definite(value[0], M, damping, L):
        return
    above = 2.0 * below
    for _ in range(BISECTIONS * BISECTIONS):
        if above > LARGEST or is_definite(above, M, damping, L):
            break
        below, above = above, 2.0 * above
    for _ in range(BISECTIONS):
        middle = 0.5 * (below + above)
        if is_definite(middle, M, damping, L):
            above = middle
        else:
            below = middle
    value[0] = above


@kernel
def is_definite(a, M, D, L):
    """Return whether a M - D, with a diagonal D (n), is positive definite, and write its Cholesky factor L (n, n)."""
    for i in range(L.shape[0]):
        for j in range(i + 1):
            rest = a * M[i, j] - (D[i] if i == j else 0.0)
            for k in range(j):
                rest = rest - L[i, k] * L[j, k]
            if i == j:
                if not rest > 0.0:
                    return False
                L[i, i] = np.sqrt(rest)
            else:
                L[i, j] = rest / L[j, j]
    return True


@compiled(given='M')
@kernel
def most_damped_joint(damping: Vector, none: Vector, L: Matrix, x: Vector, M: Matrix) -> int:
    """Return the joint k with the largest D_k (M^-1)_kk; ``none`` (n) is zero, L (n, n) and x (n) are scratch."""
    joint, largest, are_factors = 0, -1.0, is_definite(1.0, M, none, L)
    n = damping.shape[0]
    for k in range(n):
        # M^-1 = L^-T L^-1: the square of x = L^-1 e_k
        square = 0.0
        for i in range(k, n):
            x[i] = 1.0 if i == k else 0.0
            for j in range(k, i):
                x[i] = x[i] - L[i, j] * x[j]
            x[i] = x[i] / L[i, i]
            square = square + x[i] * x[i]
        if are_factors and damping[k] * square > largest:
            joint, largest = k, damping[k] * square
    return joint


def counted_period(period, delay):
    """Return the period without delay (s) as which a ``period`` (s) counts whose torques act ``delay`` (s) late."""
    return LATE * (period + 2.0 * delay) if delay > 0.0 else period


def delayed_period(period, delay):
    """Return the longest period (s) of torques that act ``delay`` (s) late, from the longest one (s) without delay."""
    return max(0.0, period / LATE - 2.0 * delay) if delay > 0.0 else period
