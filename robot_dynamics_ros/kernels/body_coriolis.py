"""Body-level Coriolis matrix B / 2 of a rigid body (Echeandia & Wensing 2021); B is stored as twelve numbers.

B is the derivative of the force on a body with respect to its velocity.

The force on a body with the velocity v and the inertia I is I a + v x* I v. In a frame that moves with the body, a
motion m added to the velocity changes this force by

    B m = v x* I m + m x* I v - I (v x m)

For a particle of mass mu at x with the velocity u, that is the force m_w x 2 mu u, where m_w is the angular part of m;
the linear part has no effect. Summed over a body, B m = (G m_w, m_w x b) with

    b = 2 sum of mu u                      (3, kg m/s), twice the linear momentum
    G = 2 sum of mu ((x.u) 1 - u x')       (3, 3; kg m^2/s), about the origin of the link's frame

The B of several bodies is the sum of theirs, and v x* I v = B v / 2.
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.spatial import cross, rotate_back, rotate_matrix_back


@kernel
def body_coriolis_matrix(I, v, i, b, G):
    """Write b[i] and G[i] of B for a body with the ten parameters I[i] and the velocity v[i]."""
    m, hx, hy, hz = I[i, 0] + I[i, 0], I[i, 1] + I[i, 1], I[i, 2] + I[i, 2], I[i, 3] + I[i, 3]
    wx, wy, wz, vx, vy, vz = v[i, 0], v[i, 1], v[i, 2], v[i, 3], v[i, 4], v[i, 5]
    # b = 2 (m v + w x h)
    wh_x, wh_y, wh_z = cross(wx, wy, wz, hx, hy, hz)
    b[i, 0], b[i, 1], b[i, 2] = m * vx + wh_x, m * vy + wh_y, m * vz + wh_z
    # P = tr(J)/2 1 - J, twice
    P_xx, P_yy, P_zz = I[i, 7] + I[i, 9] - I[i, 4], I[i, 4] + I[i, 9] - I[i, 7], I[i, 4] + I[i, 7] - I[i, 9]
    P_xy, P_xz, P_yz = -(I[i, 5] + I[i, 5]), -(I[i, 6] + I[i, 6]), -(I[i, 8] + I[i, 8])
    # G = 2 ((h.v) 1 - v h' - (w x) P)
    wP_xx, wP_yx, wP_zx = cross(wx, wy, wz, P_xx, P_xy, P_xz)
    wP_xy, wP_yy, wP_zy = cross(wx, wy, wz, P_xy, P_yy, P_yz)
    wP_xz, wP_yz, wP_zz = cross(wx, wy, wz, P_xz, P_yz, P_zz)
    G[i, 0, 0], G[i, 0, 1], G[i, 0, 2] = hy * vy + hz * vz - wP_xx, -wP_xy - vx * hy, -wP_xz - vx * hz
    G[i, 1, 0], G[i, 1, 1], G[i, 1, 2] = -wP_yx - vy * hx, hx * vx + hz * vz - wP_yy, -wP_yz - vy * hz
    G[i, 2, 0], G[i, 2, 1], G[i, 2, 2] = -wP_zx - vz * hx, -wP_zy - vz * hy, hx * vx + hy * vy - wP_zz


@kernel
def body_coriolis_to_parent(E, r, b, G, i, p):
    """Write b[p] += E_i' b_i and G[p] += E_i' G_i E_i + (r.b) 1 - b r', with b = E_i' b_i in the latter."""
    bx, by, bz = rotate_back(E, i, b[i, 0], b[i, 1], b[i, 2])
    xx, xy, xz, yx, yy, yz, zx, zy, zz = rotate_matrix_back(
        E, i, G[i, 0, 0], G[i, 0, 1], G[i, 0, 2], G[i, 1, 0], G[i, 1, 1], G[i, 1, 2], G[i, 2, 0], G[i, 2, 1], G[i, 2, 2]
    )
    rx, ry, rz = r[i, 0], r[i, 1], r[i, 2]
    b[p, 0] += bx
    b[p, 1] += by
    b[p, 2] += bz
    G[p, 0, 0] += xx + ry * by + rz * bz
    G[p, 0, 1] += xy - bx * ry
    G[p, 0, 2] += xz - bx * rz
    G[p, 1, 0] += yx - by * rx
    G[p, 1, 1] += yy + rx * bx + rz * bz
    G[p, 1, 2] += yz - by * rz
    G[p, 2, 0] += zx - bz * rx
    G[p, 2, 1] += zy - bz * ry
    G[p, 2, 2] += zz + rx * bx + ry * by


@kernel
def body_coriolis_times(b, G, i, m, k):
    """Return B_i m[k], a force vector, for a motion vector; six components."""
    wx, wy, wz = m[k, 0], m[k, 1], m[k, 2]
    fx, fy, fz = cross(wx, wy, wz, b[i, 0], b[i, 1], b[i, 2])
    return (
        G[i, 0, 0] * wx + G[i, 0, 1] * wy + G[i, 0, 2] * wz,
        G[i, 1, 0] * wx + G[i, 1, 1] * wy + G[i, 1, 2] * wz,
        G[i, 2, 0] * wx + G[i, 2, 1] * wy + G[i, 2, 2] * wz,
        fx,
        fy,
        fz,
    )


@kernel
def body_coriolis_transpose_times(b, G, i, m, k):
    """Return the angular part of B_i' m[k], G' m_w + b x m_v, three components; the linear part is zero."""
    wx, wy, wz = m[k, 0], m[k, 1], m[k, 2]
    bm_x, bm_y, bm_z = cross(b[i, 0], b[i, 1], b[i, 2], m[k, 3], m[k, 4], m[k, 5])
    return (
        G[i, 0, 0] * wx + G[i, 1, 0] * wy + G[i, 2, 0] * wz + bm_x,
        G[i, 0, 1] * wx + G[i, 1, 1] * wy + G[i, 2, 1] * wz + bm_y,
        G[i, 0, 2] * wx + G[i, 1, 2] * wy + G[i, 2, 2] * wz + bm_z,
    )
