"""Poses and velocities of all links, and the motion of frame B (fixed to link b) against frame A (fixed to link a).

There is a pair of frames for each loop closure. All is in the axes of A, at the origin of B: p_AB = R_A' (p_B - p_A),
R_AB = R_A' R_B, v_AB = (R_A' (w_B - w_A), d/dt p_AB) and its time derivative a_AB. It is exact also where A and B are
apart.
"""

import numpy as np

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.motion import link_angular_velocity
from robot_dynamics_ros.kernels.poses import base_pose, link_poses, pose_of_link
from robot_dynamics_ros.kernels.spatial import cross, rotate, rotate_back


@kernel
def loop_poses(model, work, q):
    """Write the arrays E r T R_A z_B e_AB p_B p_AB of ``work`` at q (nq, rad or m). RBDA eq. 2.28."""
    link_poses(model, work, q, work.T)
    relative_poses(model, work)


@kernel
def loop_state(model, work, q, qd):
    """Write the arrays E r w T v R_A z_B e_AB p_B p_AB v_AB of ``work`` at q (nq, rad or m), qd (nv, per s).

    Reads ``model``. Featherstone & Orin 2000, eq. 3.
    """
    for k in range(3):
        work.w[0, k] = 0.0
    for i in range(1, model.parent.shape[0]):
        joint_transform(model, q, i, work.E, work.r)
        link_angular_velocity(model, work, qd, i)
    loop_state_of_transforms(model, work, qd)


@kernel
def loop_state_of_transforms(model, work, qd):
    """Write the arrays T v R_A z_B e_AB p_B p_AB v_AB of ``work`` at qd (nv, per s) from E, r and w.

    Reads ``model``. Featherstone & Orin 2000, eq. 3.
    """
    # T_0 = 1, v_0 = 0
    base_pose(work.T)
    for k in range(6):
        work.v[0, k] = 0.0
    for i in range(1, model.parent.shape[0]):
        pose_of_link(model, work, i, work.T)
        velocity_of_link(model, work, qd, i)
    relative_poses(model, work)
    relative_velocities(model, work)


@kernel
def velocity_of_link(model, work, qd, i):
    """Write v[i] = X_i v_p + S_i qd_i of ``work``, its angular part w[i]; reads the arrays E r w.

    Featherstone & Orin 2000, eq. 3.
    """
    p, v, w = model.parent[i], work.v, work.w
    for row in range(3):
        v[i, row] = w[i, row]
    # E_i (v_p + w_p x r_i)
    wr_x, wr_y, wr_z = cross(w[p, 0], w[p, 1], w[p, 2], work.r[i, 0], work.r[i, 1], work.r[i, 2])
    v[i, 3], v[i, 4], v[i, 5] = rotate(work.E, i, v[p, 3] + wr_x, v[p, 4] + wr_y, v[p, 5] + wr_z)
    for k in range(model.first[i], model.first[i + 1]):
        for row in range(3, 6):
            v[i, row] += model.S[k, row] * qd[k - 1]


@kernel
def relative_poses(model, work):
    """Write the arrays R_A z_B e_AB p_B p_AB of ``work`` from the poses T of the links. RBDA section 8.2."""
    for c in range(model.loop_link.shape[0]):
        a, b, R, T = model.loop_link[c, 0], model.loop_link[c, 1], model.loop_R, work.T
        # R_A = R_a A
        for column in range(3):
            work.R_A[c, 0, column], work.R_A[c, 1, column], work.R_A[c, 2, column] = rotate(
                T, a, R[c, 0, 0, column], R[c, 0, 1, column], R[c, 0, 2, column]
            )
        # columns of R_A' R_b B
        xx, yx, zx = axis_of_frame(model, work, c, 0)
        xy, yy, zy = axis_of_frame(model, work, c, 1)
        xz, yz, zz = axis_of_frame(model, work, c, 2)
        work.z_B[c, 0], work.z_B[c, 1], work.z_B[c, 2] = xz, yz, zz
        # cos(angle / 2) = sqrt(1 + tr R) / 2,  sin(angle / 2) axis = vee(R - R') / (4 cos(angle / 2))
        w = 0.5 * np.sqrt(1.0 + xx + yy + zz)
        scale = 0.25 / w
        work.e_AB[c, 0], work.e_AB[c, 1], work.e_AB[c, 2] = (zy - yz) * scale, (xz - zx) * scale, (yx - xy) * scale
        work.e_AB[c, 3] = w
        # p_AB = R_A' (p_B - p_A)
        ax, ay, az = point_of_link(T, a, model.loop_p, c, 0)
        bx, by, bz = point_of_link(T, b, model.loop_p, c, 1)
        work.p_B[c, 0], work.p_B[c, 1], work.p_B[c, 2] = bx, by, bz
        work.p_AB[c, 0], work.p_AB[c, 1], work.p_AB[c, 2] = rotate_back(work.R_A, c, bx - ax, by - ay, bz - az)


@kernel
def axis_of_frame(model, work, c, column):
    """Return an axis of B of closure ``c`` in the axes of A. RBDA section 8.2."""
    R, b = model.loop_R, model.loop_link[c, 1]
    x, y, z = rotate(work.T, b, R[c, 1, 0, column], R[c, 1, 1, column], R[c, 1, 2, column])
    x, y, z = rotate_back(work.R_A, c, x, y, z)
    return x, y, z


@kernel
def point_of_link(T, i, points, c, side):
    """Return a point (3, m) of link ``i`` in the base frame, from ``points`` (c, 2, 3)."""
    x, y, z = rotate(T, i, points[c, side, 0], points[c, side, 1], points[c, side, 2])
    return x + T[i, 0, 3], y + T[i, 1, 3], z + T[i, 2, 3]


@kernel
def relative_velocities(model, work):
    """Write the array v_AB of ``work`` from v T R_A p_B. RBDA eq. 8.3."""
    for c in range(model.loop_link.shape[0]):
        x, y, z = work.p_B[c, 0], work.p_B[c, 1], work.p_B[c, 2]
        awx, awy, awz, avx, avy, avz = velocity_at(work, model.loop_link[c, 0], x, y, z)
        bwx, bwy, bwz, bvx, bvy, bvz = velocity_at(work, model.loop_link[c, 1], x, y, z)
        v = work.v_AB
        v[c, 0], v[c, 1], v[c, 2] = rotate_back(work.R_A, c, bwx - awx, bwy - awy, bwz - awz)
        v[c, 3], v[c, 4], v[c, 5] = rotate_back(work.R_A, c, bvx - avx, bvy - avy, bvz - avz)


@kernel
def relative_accelerations(model, work):
    """Write the array a_AB of ``work`` from v v_AB a T R_A p_B. RBDA section 8.2.

    A fictitious acceleration of the base that stands for gravity has no effect.
    """
    v, of, R = work.v_AB, work.a_AB, work.R_A
    for c in range(model.loop_link.shape[0]):
        a, b, x, y, z = model.loop_link[c, 0], model.loop_link[c, 1], work.p_B[c, 0], work.p_B[c, 1], work.p_B[c, 2]
        wx, wy, wz = rotate(work.T, a, work.v[a, 0], work.v[a, 1], work.v[a, 2])
        a1, a2, a3, a4, a5, a6 = acceleration_at(work, a, wx, wy, wz, x, y, z)
        bx, by, bz = rotate(work.T, b, work.v[b, 0], work.v[b, 1], work.v[b, 2])
        b1, b2, b3, b4, b5, b6 = acceleration_at(work, b, bx, by, bz, x, y, z)
        # w_A in the axes of A
        wx, wy, wz = rotate_back(R, c, wx, wy, wz)
        # R_A' (alpha_B - alpha_A) - w_A x w_AB
        cx, cy, cz = cross(wx, wy, wz, v[c, 0], v[c, 1], v[c, 2])
        alpha_x, alpha_y, alpha_z = rotate_back(R, c, b1 - a1, b2 - a2, b3 - a3)
        of[c, 0], of[c, 1], of[c, 2] = alpha_x - cx, alpha_y - cy, alpha_z - cz
        # R_A' (a_B - a_A) - 2 w_A x v_AB, a_A that of the point of link a at the origin of B
        cx, cy, cz = cross(wx, wy, wz, v[c, 3], v[c, 4], v[c, 5])
        ax, ay, az = rotate_back(R, c, b4 - a4, b5 - a5, b6 - a6)
        of[c, 3], of[c, 4], of[c, 5] = ax - 2.0 * cx, ay - 2.0 * cy, az - 2.0 * cz


@kernel
def velocity_at(work, i, x, y, z):
    """Return the velocity of link ``i`` at a point (3, m, base frame), in base axes: six components. RBDA eq. 2.14."""
    wx, wy, wz = rotate(work.T, i, work.v[i, 0], work.v[i, 1], work.v[i, 2])
    vx, vy, vz = rotate(work.T, i, work.v[i, 3], work.v[i, 4], work.v[i, 5])
    cx, cy, cz = cross(wx, wy, wz, x - work.T[i, 0, 3], y - work.T[i, 1, 3], z - work.T[i, 2, 3])
    return wx, wy, wz, vx + cx, vy + cy, vz + cz


@kernel
def acceleration_at(work, i, wx, wy, wz, x, y, z):
    """Return the classical acceleration of link ``i`` at a point (3, m, base frame), in base axes: six components.

    (wx, wy, wz) is the link's angular velocity in base axes. Reads the arrays a T of ``work``. RBDA eq. 2.51.
    """
    alpha_x, alpha_y, alpha_z = rotate(work.T, i, work.a[i, 0], work.a[i, 1], work.a[i, 2])
    ax, ay, az = rotate(work.T, i, work.a[i, 3], work.a[i, 4], work.a[i, 5])
    x, y, z = x - work.T[i, 0, 3], y - work.T[i, 1, 3], z - work.T[i, 2, 3]
    # a + alpha x r + w x (w x r)
    cx, cy, cz = cross(wx, wy, wz, x, y, z)
    wx, wy, wz = cross(wx, wy, wz, cx, cy, cz)
    cx, cy, cz = cross(alpha_x, alpha_y, alpha_z, x, y, z)
    return alpha_x, alpha_y, alpha_z, ax + cx + wx, ay + cy + wy, az + cz + wz
