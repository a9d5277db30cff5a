"""Rigid-body and articulated-body inertias on rows of flat arrays, in link coordinates.

A rigid body's inertia ``I_i`` is the row of its ten parameters, linear in each, at the origin of the link's frame:
``m`` (kg), ``h = m c`` (3, kg m) and the rotational inertia ``J`` as xx, xy, xz, yy, yz, zz (kg m^2).

An articulated body's inertia ``I_A_i`` is the upper triangle of a symmetric 6 x 6 matrix [J H; H' M].
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.spatial import cross, rotate_back, rotate_matrix_back


@kernel
def body_force(I, B, a, i, f):
    """Write f[i], the net force on body ``i``, whose mass point at c has the acceleration a + B c.

    moment: h x a + vee(B P - P B'), force: m a + B h, with P the second moments of mass, P = tr(J)/2 1 - J.
    """
    m, hx, hy, hz = I[i, 0], I[i, 1], I[i, 2], I[i, 3]
    # P = tr(J)/2 1 - J
    P_xx = 0.5 * (I[i, 7] + I[i, 9] - I[i, 4])
    P_yy = 0.5 * (I[i, 4] + I[i, 9] - I[i, 7])
    P_zz = 0.5 * (I[i, 4] + I[i, 7] - I[i, 9])
    P_xy, P_xz, P_yz = -I[i, 5], -I[i, 6], -I[i, 8]
    # n = h x a + vee(B P - P B')
    ha_x, ha_y, ha_z = cross(hx, hy, hz, a[i, 3], a[i, 4], a[i, 5])
    BP_x = B[i, 2, 0] * P_xy - B[i, 1, 0] * P_xz + B[i, 2, 1] * P_yy - B[i, 1, 2] * P_zz
    BP_y = B[i, 0, 1] * P_yz - B[i, 2, 1] * P_xy + B[i, 0, 2] * P_zz - B[i, 2, 0] * P_xx
    BP_z = B[i, 1, 2] * P_xz - B[i, 0, 2] * P_yz + B[i, 1, 0] * P_xx - B[i, 0, 1] * P_yy
    f[i, 0] = ha_x + BP_x + (B[i, 2, 2] - B[i, 1, 1]) * P_yz
    f[i, 1] = ha_y + BP_y + (B[i, 0, 0] - B[i, 2, 2]) * P_xz
    f[i, 2] = ha_z + BP_z + (B[i, 1, 1] - B[i, 0, 0]) * P_xy
    # f = m a + B h
    f[i, 3] = m * a[i, 3] + B[i, 0, 0] * hx + B[i, 0, 1] * hy + B[i, 0, 2] * hz
    f[i, 4] = m * a[i, 4] + B[i, 1, 0] * hx + B[i, 1, 1] * hy + B[i, 1, 2] * hz
    f[i, 5] = m * a[i, 5] + B[i, 2, 0] * hx + B[i, 2, 1] * hy + B[i, 2, 2] * hz


@kernel
def inertia_times(I, i, v, j, f, k):
    """Write f[k] = I[i] v[j] for a rigid body's ten parameters: moment J w + h x v, force m v - h x w."""
    m, hx, hy, hz = I[i, 0], I[i, 1], I[i, 2], I[i, 3]
    wx, wy, wz = v[j, 0], v[j, 1], v[j, 2]
    hv_x, hv_y, hv_z = cross(hx, hy, hz, v[j, 3], v[j, 4], v[j, 5])
    hw_x, hw_y, hw_z = cross(hx, hy, hz, wx, wy, wz)
    f[k, 0] = I[i, 4] * wx + I[i, 5] * wy + I[i, 6] * wz + hv_x
    f[k, 1] = I[i, 5] * wx + I[i, 7] * wy + I[i, 8] * wz + hv_y
    f[k, 2] = I[i, 6] * wx + I[i, 8] * wy + I[i, 9] * wz + hv_z
    f[k, 3] = m * v[j, 3] - hw_x
    f[k, 4] = m * v[j, 4] - hw_y
    f[k, 5] = m * v[j, 5] - hw_z


@kernel
def inertia_to_parent(E, r, I, i, p):
    """Write I[p] += X_i' I[i] X_i for a rigid body's ten parameters."""
    m, rx, ry, rz = I[i, 0], r[i, 0], r[i, 1], r[i, 2]
    hx, hy, hz = rotate_back(E, i, I[i, 1], I[i, 2], I[i, 3])
    xx, xy, xz, _, yy, yz, _, _, zz = rotate_matrix_back(
        E, i, I[i, 4], I[i, 5], I[i, 6], I[i, 5], I[i, 7], I[i, 8], I[i, 6], I[i, 8], I[i, 9]
    )
    # h_p = E' h + m r,  J_p = E' J E - (r x)(E' h x) - (h_p x)(r x)
    gx, gy, gz = hx + m * rx, hy + m * ry, hz + m * rz
    I[p, 0] += m
    I[p, 1] += gx
    I[p, 2] += gy
    I[p, 3] += gz
    I[p, 4] += xx + ry * hy + rz * hz + gy * ry + gz * rz
    I[p, 5] += xy - ry * hx - gy * rx
    I[p, 6] += xz - rz * hx - gz * rx
    I[p, 7] += yy + rx * hx + rz * hz + gx * rx + gz * rz
    I[p, 8] += yz - rz * hy - gz * ry
    I[p, 9] += zz + rx * hx + ry * hy + gx * rx + gy * ry


@kernel
def rigid_to_articulated(I, i, I_A):
    """Write I_A[i], the upper triangle of the 6 x 6 matrix [J, h x; (h x)', m 1] of the ten parameters I[i]."""
    m, hx, hy, hz = I[i, 0], I[i, 1], I[i, 2], I[i, 3]
    I_A[i, 0, 0], I_A[i, 0, 1], I_A[i, 0, 2] = I[i, 4], I[i, 5], I[i, 6]
    I_A[i, 1, 1], I_A[i, 1, 2], I_A[i, 2, 2] = I[i, 7], I[i, 8], I[i, 9]
    I_A[i, 0, 3], I_A[i, 0, 4], I_A[i, 0, 5] = 0.0, -hz, hy
    I_A[i, 1, 3], I_A[i, 1, 4], I_A[i, 1, 5] = hz, 0.0, -hx
    I_A[i, 2, 3], I_A[i, 2, 4], I_A[i, 2, 5] = -hy, hx, 0.0
    I_A[i, 3, 3], I_A[i, 3, 4], I_A[i, 3, 5] = m, 0.0, 0.0
    I_A[i, 4, 4], I_A[i, 4, 5], I_A[i, 5, 5] = m, 0.0, m


@kernel
def articulated_times(I_A, i, v, j, f, k):
    """Write f[k] = I_A[i] v[j] for a symmetric 6 x 6 matrix of which only the upper triangle is read."""
    for row in range(6):
        f[k, row] = I_A[i, 0, row] * v[j, 0]
        for column in range(1, 6):
            f[k, row] += I_A[i, min(row, column), max(row, column)] * v[j, column]


@kernel
def articulated_to_parent(E, r, I_A, i, p):
    """Write I_A[p] += X_i' I_A[i] X_i, upper triangles of I_A = [J H; H' M]."""
    I = I_A[i]
    P = I_A[p]
    rx, ry, rz = r[i, 0], r[i, 1], r[i, 2]
    J_xx, J_xy, J_xz, _, J_yy, J_yz, _, _, J_zz = rotate_matrix_back(
        E, i, I[0, 0], I[0, 1], I[0, 2], I[0, 1], I[1, 1], I[1, 2], I[0, 2], I[1, 2], I[2, 2]
    )
    H_xx, H_xy, H_xz, H_yx, H_yy, H_yz, H_zx, H_zy, H_zz = rotate_matrix_back(
        E, i, I[0, 3], I[0, 4], I[0, 5], I[1, 3], I[1, 4], I[1, 5], I[2, 3], I[2, 4], I[2, 5]
    )
    M_xx, M_xy, M_xz, _, M_yy, M_yz, _, _, M_zz = rotate_matrix_back(
        E, i, I[3, 3], I[3, 4], I[3, 5], I[3, 4], I[4, 4], I[4, 5], I[3, 5], I[4, 5], I[5, 5]
    )
    # G = H + r x M
    G_xx, G_yx, G_zx = cross(rx, ry, rz, M_xx, M_xy, M_xz)
    G_xy, G_yy, G_zy = cross(rx, ry, rz, M_xy, M_yy, M_yz)
    G_xz, G_yz, G_zz = cross(rx, ry, rz, M_xz, M_yz, M_zz)
    G_xx, G_xy, G_xz = H_xx + G_xx, H_xy + G_xy, H_xz + G_xz
    G_yx, G_yy, G_yz = H_yx + G_yx, H_yy + G_yy, H_yz + G_yz
    G_zx, G_zy, G_zz = H_zx + G_zx, H_zy + G_zy, H_zz + G_zz
    # J_p += J + (r x) H' - G (r x)
    P[0, 0] += J_xx + ry * H_xz - rz * H_xy - G_xy * rz + G_xz * ry
    P[0, 1] += J_xy + ry * H_yz - rz * H_yy + G_xx * rz - G_xz * rx
    P[0, 2] += J_xz + ry * H_zz - rz * H_zy - G_xx * ry + G_xy * rx
    P[1, 1] += J_yy + rz * H_yx - rx * H_yz + G_yx * rz - G_yz * rx
    P[1, 2] += J_yz + rz * H_zx - rx * H_zz - G_yx * ry + G_yy * rx
    P[2, 2] += J_zz + rx * H_zy - ry * H_zx - G_zx * ry + G_zy * rx
    # H_p += G
    P[0, 3] += G_xx
    P[0, 4] += G_xy
    P[0, 5] += G_xz
    P[1, 3] += G_yx
    P[1, 4] += G_yy
    P[1, 5] += G_yz
    P[2, 3] += G_zx
    P[2, 4] += G_zy
    P[2, 5] += G_zz
    # M_p += M
    P[3, 3] += M_xx
    P[3, 4] += M_xy
    P[3, 5] += M_xz
    P[4, 4] += M_yy
    P[4, 5] += M_yz
    P[5, 5] += M_zz
