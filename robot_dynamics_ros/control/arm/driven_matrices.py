"""Matrices of driven joints from those of all joints: the same bits in nodes and C.

``rows`` (m, n) is G' of qd = G yd, with n joints, m of which are driven.
"""

from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Array3, Matrix


@compiled(given='rows J out')
@kernel
def driven_jacobian(rows: Matrix, J: Matrix, out: Matrix) -> None:
    """Write out (6, m) = J G, by the Jacobian J (6, n) of a frame."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = 0.0
            for j in range(rows.shape[1]):
                out[i, k] = J[i, j] * rows[k, j] + out[i, k]


@kernel
def driven_mass_matrix(MG: Matrix, rows: Matrix, M: Matrix, out: Matrix) -> None:
    """Write out (m, m) = G' M G, by the mass matrix M (n, n); MG (n, m) is scratch."""
    m = out.shape[0]
    for i in range(MG.shape[0]):
        for k in range(m):
            MG[i, k] = 0.0
            for j in range(rows.shape[1]):
                MG[i, k] = M[i, j] * rows[k, j] + MG[i, k]
    for i in range(m):
        for k in range(m):
            out[i, k] = 0.0
            for j in range(rows.shape[1]):
                out[i, k] = rows[i, j] * MG[j, k] + out[i, k]


@compiled(given='rows M out')
def driven_mass_matrices(MG: Matrix, rows: Array3, M: Array3, out: Array3) -> None:
    """Write out (count, m, m), the matrices of ``driven_mass_matrix`` for M (count, n, n) and rows (count, m, n)."""
    for state in range(out.shape[0]):
        driven_mass_matrix(MG, rows[state], M[state], out[state])


@compiled(given='rows M out')
@kernel
def driven_mass_matrix_inverse(MG: Matrix, rows: Matrix, M: Matrix, out: Matrix) -> None:
    """Write out (m, m), the inverse of G' M G, by the mass matrix M (n, n); MG (n, m) is scratch.

    Gauss-Jordan elimination in place; it needs no pivoting, since the matrix is positive definite.
    """
    m = out.shape[0]
    driven_mass_matrix(MG, rows, M, out)
    for p in range(m):
        # row p = row p / pivot; other rows lose their multiple of it
        pivot = out[p, p]
        out[p, p] = 1.0
        for k in range(m):
            out[p, k] = out[p, k] / pivot
        for i in range(m):
            if i != p:
                left = out[i, p]
                out[i, p] = 0.0
                for k in range(m):
                    out[i, k] = out[i, k] - left * out[p, k]
