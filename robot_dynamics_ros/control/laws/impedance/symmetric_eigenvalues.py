"""Eigenvalues of a small symmetric matrix by Jacobi rotations (Golub & Van Loan 2013, section 8.5)."""

import numpy as np

from robot_dynamics_ros.jit.decorators import kernel

SWEEPS = 12
"""Over all pairs of rows; from the first ones on, the error is squared by each, and six are enough for 6 rows."""
DIAGONAL = 1e-34
"""Sum of the squares beside the diagonal, over that of the whole matrix, below which the matrix counts as diagonal."""


@kernel
def diagonalise(S, V):
    """Write the eigenvalues of S (m, m) onto its diagonal, and their eigenvectors into the columns of V (m, m).

    Reads and writes both triangles of ``S``, which is symmetric; beside the diagonal rounding errors remain.
    """
    m = S.shape[0]
    size = 0.0
    for i in range(m):
        for j in range(m):
            V[i, j] = 1.0 if i == j else 0.0
            size += S[i, j] * S[i, j]
    for _ in range(SWEEPS):
        beside = 0.0
        for p in range(m):
            for q in range(p + 1, m):
                beside += S[p, q] * S[p, q]
        if beside <= DIAGONAL * size:
            break
        for p in range(m):
            for q in range(p + 1, m):
                if S[p, q] == 0.0:
                    continue
                # t^2 + 2 tau t - 1 = 0, the smaller root: tan of the rotation that makes S_pq zero
                tau = 0.5 * (S[q, q] - S[p, p]) / S[p, q]
                t = 1.0 / (abs(tau) + np.sqrt(1.0 + tau * tau))
                if tau < 0.0:
                    t = -t
                c = 1.0 / np.sqrt(1.0 + t * t)
                s = t * c
                for k in range(m):
                    S[k, p], S[k, q] = c * S[k, p] - s * S[k, q], s * S[k, p] + c * S[k, q]
                for k in range(m):
                    S[p, k], S[q, k] = c * S[p, k] - s * S[q, k], s * S[p, k] + c * S[q, k]
                    V[k, p], V[k, q] = c * V[k, p] - s * V[k, q], s * V[k, p] + c * V[k, q]
