"""Inverse articulated-body inertias: accelerations of the handles of an assembly of links per force on them.

That of one handle is a symmetric 6 x 6 matrix [P Q; Q' R], which maps a force vector to a motion vector; only its upper
triangle is used. Rows of arrays are as in ``spatial``.
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.spatial import cross, rotate


@kernel
def motion_at_link(E, r, i, wx, wy, wz, vx, vy, vz):
    """Return X_i m of a motion vector in the parent's coordinates, six components."""
    rw_x, rw_y, rw_z = cross(r[i, 0], r[i, 1], r[i, 2], wx, wy, wz)
    wx, wy, wz = rotate(E, i, wx, wy, wz)
    vx, vy, vz = rotate(E, i, vx - rw_x, vy - rw_y, vz - rw_z)
    return wx, wy, wz, vx, vy, vz


@kernel
def rotate_matrix(E, i, xx, xy, xz, yx, yy, yz, zx, zy, zz):
    """Return E_i A E_i' for a 3 x 3 matrix A, the nine components row by row."""
    # columns of E_i A
    xx, yx, zx = rotate(E, i, xx, yx, zx)
    xy, yy, zy = rotate(E, i, xy, yy, zy)
    xz, yz, zz = rotate(E, i, xz, yz, zz)
    # rows of (E_i A) E_i'
    xx, xy, xz = rotate(E, i, xx, xy, xz)
    yx, yy, yz = rotate(E, i, yx, yy, yz)
    zx, zy, zz = rotate(E, i, zx, zy, zz)
    return xx, xy, xz, yx, yy, yz, zx, zy, zz


@kernel
def inverse_inertia_at_link(E, r, Phi, j, i, N):
    """Write N[i] = X_i Phi[j] X_i', the inverse inertia of a handle on link ``i``'s parent, in link coordinates."""
    F = Phi[j]
    rx, ry, rz = r[i, 0], r[i, 1], r[i, 2]
    # Q + P (r x)
    c_x, c_y, c_z = cross(F[0, 0], F[0, 1], F[0, 2], rx, ry, rz)
    Q_xx, Q_xy, Q_xz = F[0, 3] + c_x, F[0, 4] + c_y, F[0, 5] + c_z
    c_x, c_y, c_z = cross(F[0, 1], F[1, 1], F[1, 2], rx, ry, rz)
    Q_yx, Q_yy, Q_yz = F[1, 3] + c_x, F[1, 4] + c_y, F[1, 5] + c_z
    c_x, c_y, c_z = cross(F[0, 2], F[1, 2], F[2, 2], rx, ry, rz)
    Q_zx, Q_zy, Q_zz = F[2, 3] + c_x, F[2, 4] + c_y, F[2, 5] + c_z
    # R + Q' (r x) - (r x)(Q + P (r x)), the upper triangle
    R_xx = F[3, 3] + F[1, 3] * rz - F[2, 3] * ry - ry * Q_zx + rz * Q_yx
    R_xy = F[3, 4] + F[2, 3] * rx - F[0, 3] * rz - ry * Q_zy + rz * Q_yy
    R_xz = F[3, 5] + F[0, 3] * ry - F[1, 3] * rx - ry * Q_zz + rz * Q_yz
    R_yy = F[4, 4] + F[2, 4] * rx - F[0, 4] * rz - rz * Q_xy + rx * Q_zy
    R_yz = F[4, 5] + F[0, 4] * ry - F[1, 4] * rx - rz * Q_xz + rx * Q_zz
    R_zz = F[5, 5] + F[0, 5] * ry - F[1, 5] * rx - rx * Q_yz + ry * Q_xz
    A = N[i]
    A[0, 0], A[0, 1], A[0, 2], _, A[1, 1], A[1, 2], _, _, A[2, 2] = rotate_matrix(
        E, i, F[0, 0], F[0, 1], F[0, 2], F[0, 1], F[1, 1], F[1, 2], F[0, 2], F[1, 2], F[2, 2]
    )
    A[0, 3], A[0, 4], A[0, 5], A[1, 3], A[1, 4], A[1, 5], A[2, 3], A[2, 4], A[2, 5] = rotate_matrix(
        E, i, Q_xx, Q_xy, Q_xz, Q_yx, Q_yy, Q_yz, Q_zx, Q_zy, Q_zz
    )
    A[3, 3], A[3, 4], A[3, 5], _, A[4, 4], A[4, 5], _, _, A[5, 5] = rotate_matrix(
        E, i, R_xx, R_xy, R_xz, R_xy, R_yy, R_yz, R_xz, R_yz, R_zz
    )


@kernel
def factor_inverse_inertia(L, i):
    """Write the factors of A = L D L' into L[i], whose upper triangle is A: L goes below it, D^-1 on the diagonal."""
    A = L[i]
    for k in range(6):
        D_inv = 1.0 / A[k, k]
        for row in range(k + 1, 6):
            A[row, k] = A[k, row] * D_inv
            for column in range(row, 6):
                A[row, column] -= A[row, k] * A[k, column]
        A[k, k] = D_inv


@kernel
def solved_lower(L, i, x, y, z, u, v, w):
    """Return L^-1 b with the factor L[i] for a vector b of six components, six components."""
    y -= L[i, 1, 0] * x
    z -= L[i, 2, 0] * x + L[i, 2, 1] * y
    u -= L[i, 3, 0] * x + L[i, 3, 1] * y + L[i, 3, 2] * z
    v -= L[i, 4, 0] * x + L[i, 4, 1] * y + L[i, 4, 2] * z + L[i, 4, 3] * u
    w -= L[i, 5, 0] * x + L[i, 5, 1] * y + L[i, 5, 2] * z + L[i, 5, 3] * u + L[i, 5, 4] * v
    return x, y, z, u, v, w


@kernel
def solve_lower(L, i, g, k):
    """Write g[k] = L^-1 g[k] with the factor L[i]."""
    g[k, 0], g[k, 1], g[k, 2], g[k, 3], g[k, 4], g[k, 5] = solved_lower(
        L, i, g[k, 0], g[k, 1], g[k, 2], g[k, 3], g[k, 4], g[k, 5]
    )


@kernel
def solve_upper(L, i, g, k):
    """Write g[k] = L'^-1 g[k] with the factor L[i]."""
    for row in range(5, 0, -1):
        for column in range(row):
            g[k, column] -= L[i, row, column] * g[k, row]


@kernel
def product_with_column(x, y, z, u, v, w, G, i, k):
    """Return b' G[i, :, k] for a vector b of six components."""
    return (
        x * G[i, 0, k] + y * G[i, 1, k] + z * G[i, 2, k] + u * G[i, 3, k] + v * G[i, 4, k] + w * G[i, 5, k]
    )  # fmt: skip


@kernel
def product_of_row(y, k, G, i, column):
    """Return y[k]' G[i, :, column]."""
    return product_with_column(y[k, 0], y[k, 1], y[k, 2], y[k, 3], y[k, 4], y[k, 5], G, i, column)


@kernel
def scaled_column(G, L, i, k):
    """Return D^-1 G[i, :, k], six components, with D^-1 on the diagonal of L[i]."""
    return (
        G[i, 0, k] * L[i, 0, 0], G[i, 1, k] * L[i, 1, 1], G[i, 2, k] * L[i, 2, 2],
        G[i, 3, k] * L[i, 3, 3], G[i, 4, k] * L[i, 4, 4], G[i, 5, k] * L[i, 5, 5],
    )  # fmt: skip
