"""Eigenvalues and eigenvectors of a small symmetric matrix.

Householder reflections H = 1 - v v', |v|^2 = 2, make it tridiagonal, and QR steps with Wilkinson's shift diagonal: a
third of the time of Jacobi rotations for 6 rows.

References
----------
Golub & Van Loan 2013, Matrix Computations, algorithms 8.3.1, 8.3.2 and 8.3.3.
"""

import numpy as np

from robot_dynamics_ros.jit.decorators import kernel

STEPS = 30
"""Of QR for one eigenvalue at most; two are usual."""
NEGLIGIBLE = 2.3e-16
"""An entry beside the diagonal over those on it that counts as zero."""


@kernel
def diagonalise(S, V):
    """Write the eigenvalues of S (m, m) onto its diagonal, and their eigenvectors into the columns of V (m, m).

    Reads both triangles of ``S``, which is symmetric; beside the diagonal it is scratch.
    """
    tridiagonalise(S, V)
    m = S.shape[0]
    for row in range(1, m):
        last = m - row
        for _ in range(STEPS):
            if abs(S[last, last - 1]) <= NEGLIGIBLE * (abs(S[last - 1, last - 1]) + abs(S[last, last])):
                break
            first = 0
            for k in range(1, last):
                if abs(S[k, k - 1]) <= NEGLIGIBLE * (abs(S[k - 1, k - 1]) + abs(S[k, k])):
                    first = k
            # mu = d - b^2 / (a + sign(a) sqrt(a^2 + b^2)), the eigenvalue of the last two rows next to the last one
            a, b = 0.5 * (S[last - 1, last - 1] - S[last, last]), S[last, last - 1]
            root = np.sqrt(a * a + b * b)
            mu = S[last, last] - b * b / (a - root if a < 0.0 else a + root)
            x, z = S[first, first] - mu, S[first + 1, first]
            for k in range(first, last):
                # [c s; -s c] turns (x, z) to (r, 0)
                r = np.sqrt(x * x + z * z)
                c, s = 1.0, 0.0
                if r > 0.0:
                    c, s = x / r, z / r
                if k > first:
                    S[k, k - 1] = r
                d, e, f = S[k, k], S[k + 1, k], S[k + 1, k + 1]
                w, x_w = c * d + s * e, c * e + s * f
                y, y_w = c * e - s * d, c * f - s * e
                S[k, k] = c * w + s * x_w
                S[k + 1, k] = c * x_w - s * w
                S[k + 1, k + 1] = c * y_w - s * y
                if k + 1 < last:
                    x, z = S[k + 1, k], s * S[k + 2, k + 1]
                    S[k + 2, k + 1] *= c
                for i in range(m):
                    V[i, k], V[i, k + 1] = c * V[i, k] + s * V[i, k + 1], c * V[i, k + 1] - s * V[i, k]


@kernel
def tridiagonalise(S, V):
    """Write V (m, m), orthogonal, and the diagonal of V' S V and what is below it into S (m, m): the rest is zero.

    Reads both triangles of ``S``, which is symmetric; the others of its entries are scratch.
    """
    m = S.shape[0]
    for k in range(m - 2):
        beyond = 0.0
        for i in range(k + 2, m):
            beyond += S[i, k] * S[i, k]
        for i in range(k + 1, m):
            S[k, i] = 0.0
        if beyond == 0.0:
            continue
        # v = (x -+ |x| e_1) / sqrt(|x|^2 +- |x| x_1), kept in the row
        first = S[k + 1, k]
        size = np.sqrt(first * first + beyond)
        factor = 1.0 / np.sqrt(size * (size + abs(first)))
        S[k + 1, k] = size if first < 0.0 else -size
        S[k, k + 1] = factor * (first - S[k + 1, k])
        for i in range(k + 2, m):
            S[k, i] = factor * S[i, k]
        # p = S v,  w = p - v' p / 2 v
        half = 0.0
        for i in range(k + 1, m):
            V[0, i] = 0.0
            for j in range(k + 1, m):
                V[0, i] += S[i, j] * S[k, j]
            half += 0.5 * S[k, i] * V[0, i]
        for i in range(k + 1, m):
            V[0, i] -= half * S[k, i]
        # S -= v w' + w v'
        for i in range(k + 1, m):
            for j in range(k + 1, m):
                S[i, j] -= S[k, i] * V[0, j]
                S[i, j] -= V[0, i] * S[k, j]
    # V = H_1 H_2 ..., from the last one
    for i in range(m):
        for j in range(m):
            V[i, j] = 1.0 if i == j else 0.0
    for before in range(m - 2):
        k = m - 3 - before
        for j in range(k + 1, m):
            along = 0.0
            for i in range(k + 1, m):
                along += S[k, i] * V[i, j]
            for i in range(k + 1, m):
                V[i, j] -= S[k, i] * along
