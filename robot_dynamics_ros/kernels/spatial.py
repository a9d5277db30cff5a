"""Spatial (6-vector) algebra on rows of flat arrays, in link coordinates.

A motion vector is (angular, linear), a force vector (moment, force), both at the origin of the link's frame
(Featherstone & Orin 2000, section 3; RBDA chapter 2). Row ``i`` of an array belongs to link ``i``, row 0 to the base.

The transform ``X_i`` from the parent ``p`` to link ``i`` is stored as ``E_i`` (3 x 3, rotates parent coordinates into
link coordinates) and ``r_i`` (3, m, origin of link ``i`` in the parent's frame):

    X_i = [  E_i        0  ]        X_i' maps forces of link i to the parent.
          [ -E_i r_i x  E_i ]

Accelerations: the linear part is the classical acceleration of the link's origin, not the spatial one (they differ by
w x v, RBDA eq. 2.51). X_i, I_i and S_i act on both alike; with the classical one no linear velocity is needed, and
RNEA of the AUBO-i5 needs 325 multiplications instead of 463 (counted 2026-11-20 with constants folded).
"""

from robot_dynamics_ros.jit.decorators import kernel


@kernel
def cross(ax, ay, az, bx, by, bz):
    """Return a x b, the three components."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def rotate(E, i, x, y, z):
    """Return E_i (x, y, z): parent coordinates to link coordinates; with poses T for E, link to base coordinates."""
    return (
        E[i, 0, 0] * x + E[i, 0, 1] * y + E[i, 0, 2] * z,
        E[i, 1, 0] * x + E[i, 1, 1] * y + E[i, 1, 2] * z,
        E[i, 2, 0] * x + E[i, 2, 1] * y + E[i, 2, 2] * z,
    )


@kernel
def rotate_back(E, i, x, y, z):
    """Return E_i' (x, y, z): link coordinates to parent coordinates."""
    return (
        E[i, 0, 0] * x + E[i, 1, 0] * y + E[i, 2, 0] * z,
        E[i, 0, 1] * x + E[i, 1, 1] * y + E[i, 2, 1] * z,
        E[i, 0, 2] * x + E[i, 1, 2] * y + E[i, 2, 2] * z,
    )


@kernel
def motion_from_parent(E, r, v, i, p):
    """Write v[i] = X_i v[p]."""
    rw_x, rw_y, rw_z = cross(r[i, 0], r[i, 1], r[i, 2], v[p, 0], v[p, 1], v[p, 2])
    v[i, 0], v[i, 1], v[i, 2] = rotate(E, i, v[p, 0], v[p, 1], v[p, 2])
    v[i, 3], v[i, 4], v[i, 5] = rotate(E, i, v[p, 3] - rw_x, v[p, 4] - rw_y, v[p, 5] - rw_z)


@kernel
def force_to_parent(E, r, f, i, p):
    """Write f[p] += X_i' f[i]."""
    nx, ny, nz = rotate_back(E, i, f[i, 0], f[i, 1], f[i, 2])
    fx, fy, fz = rotate_back(E, i, f[i, 3], f[i, 4], f[i, 5])
    rf_x, rf_y, rf_z = cross(r[i, 0], r[i, 1], r[i, 2], fx, fy, fz)
    f[p, 0] += nx + rf_x
    f[p, 1] += ny + rf_y
    f[p, 2] += nz + rf_z
    f[p, 3] += fx
    f[p, 4] += fy
    f[p, 5] += fz


@kernel
def force_at_parent(E, r, i, nx, ny, nz, fx, fy, fz):
    """Return X_i' f of a force vector in link coordinates, six components."""
    nx, ny, nz = rotate_back(E, i, nx, ny, nz)
    fx, fy, fz = rotate_back(E, i, fx, fy, fz)
    rf_x, rf_y, rf_z = cross(r[i, 0], r[i, 1], r[i, 2], fx, fy, fz)
    return nx + rf_x, ny + rf_y, nz + rf_z, fx, fy, fz


@kernel
def force_on_parent(E, r, f, i, p):
    """Write f[p] = X_i' f[i]."""
    f[p, 0], f[p, 1], f[p, 2], f[p, 3], f[p, 4], f[p, 5] = force_at_parent(
        E, r, i, f[i, 0], f[i, 1], f[i, 2], f[i, 3], f[i, 4], f[i, 5]
    )


@kernel
def motion_cross(v, i, m, k):
    """Return v[i] x m[k] of two motion vectors, six components (RBDA eq. 2.31)."""
    wx, wy, wz, sx, sy, sz = v[i, 0], v[i, 1], v[i, 2], m[k, 0], m[k, 1], m[k, 2]
    ws_x, ws_y, ws_z = cross(wx, wy, wz, sx, sy, sz)
    wl_x, wl_y, wl_z = cross(wx, wy, wz, m[k, 3], m[k, 4], m[k, 5])
    vs_x, vs_y, vs_z = cross(v[i, 3], v[i, 4], v[i, 5], sx, sy, sz)
    return ws_x, ws_y, ws_z, wl_x + vs_x, wl_y + vs_y, wl_z + vs_z


@kernel
def motion_cross_force(v, i, f, k):
    """Return v[i] x* f[k] of a motion and a force vector, six components (RBDA eq. 2.32)."""
    wx, wy, wz, fx, fy, fz = v[i, 0], v[i, 1], v[i, 2], f[k, 3], f[k, 4], f[k, 5]
    wn_x, wn_y, wn_z = cross(wx, wy, wz, f[k, 0], f[k, 1], f[k, 2])
    vf_x, vf_y, vf_z = cross(v[i, 3], v[i, 4], v[i, 5], fx, fy, fz)
    wf_x, wf_y, wf_z = cross(wx, wy, wz, fx, fy, fz)
    return wn_x + vf_x, wn_y + vf_y, wn_z + vf_z, wf_x, wf_y, wf_z


@kernel
def dot(a, i, b, j):
    """Return the product a[i]' b[j] of a motion and a force vector."""
    return (
        a[i, 0] * b[j, 0] + a[i, 1] * b[j, 1] + a[i, 2] * b[j, 2]
        + a[i, 3] * b[j, 3] + a[i, 4] * b[j, 4] + a[i, 5] * b[j, 5]
    )  # fmt: skip


@kernel
def dot_couple(m, k, C, j):
    """Return m[k]' C[j] of a motion vector and a pure moment (3)."""
    return m[k, 0] * C[j, 0] + m[k, 1] * C[j, 1] + m[k, 2] * C[j, 2]


@kernel
def point_acceleration(w, alpha, i, B):
    """Write B[i] = alpha x + w x w x, which maps a point of the link to its acceleration relative to the origin.

    ``w`` holds angular velocities, ``alpha`` angular accelerations in its first three columns.
    """
    x, y, z = w[i, 0], w[i, 1], w[i, 2]
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    B[i, 0, 0], B[i, 0, 1], B[i, 0, 2] = -yy - zz, xy - alpha[i, 2], xz + alpha[i, 1]
    B[i, 1, 0], B[i, 1, 1], B[i, 1, 2] = xy + alpha[i, 2], -xx - zz, yz - alpha[i, 0]
    B[i, 2, 0], B[i, 2, 1], B[i, 2, 2] = xz - alpha[i, 1], yz + alpha[i, 0], -xx - yy


@kernel
def rotate_matrix_back(E, i, xx, xy, xz, yx, yy, yz, zx, zy, zz):
    """Return E_i' A E_i for a 3 x 3 matrix A, the nine components row by row."""
    # rows of A E_i
    xx, xy, xz = rotate_back(E, i, xx, xy, xz)
    yx, yy, yz = rotate_back(E, i, yx, yy, yz)
    zx, zy, zz = rotate_back(E, i, zx, zy, zz)
    # columns of E_i' (A E_i)
    xx, yx, zx = rotate_back(E, i, xx, yx, zx)
    xy, yy, zy = rotate_back(E, i, xy, yy, zy)
    xz, yz, zz = rotate_back(E, i, xz, yz, zz)
    return xx, xy, xz, yx, yy, yz, zx, zy, zz
