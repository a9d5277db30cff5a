"""Kinematics: where links are, how they move, and how that follows from the joints.

A velocity, an acceleration or a column of a Jacobian is (angular, linear) in the axes of the base frame, of the point
``origin`` (3, m, link frame) of link ``i``.
"""

from robot_dynamics_ros.dynamics.jit import kernel
from robot_dynamics_ros.dynamics.joints import joint_transform
from robot_dynamics_ros.dynamics.motion import base_motion, link_motion, link_velocity
from robot_dynamics_ros.dynamics.spatial import cross, rotate


@kernel
def link_poses(model, work, q, T):
    """Write T (n + 1, 4, 4; m), the homogeneous pose of every link's frame in the base frame, at q (nq, rad or m).

    Writes all of ``T`` and the rows E r of ``work``. Reads ``model``. RBDA eq. 2.28, composed from base to tip.
    """
    n = model.parent.shape[0] - 1
    # T_0 = 1
    for row in range(4):
        for column in range(4):
            T[0, row, column] = 1.0 if row == column else 0.0

    for i in range(1, n + 1):
        p = model.parent[i]
        joint_transform(model, q, i, work.E, work.r)
        # T_i = T_p [E_i' r_i; 0 1]
        for row in range(3):
            # a row of R_p E_i' is E_i times that row of R_p
            for column in range(3):
                T[i, row, column] = (
                    T[p, row, 0] * work.E[i, column, 0]
                    + T[p, row, 1] * work.E[i, column, 1]
                    + T[p, row, 2] * work.E[i, column, 2]
                )
            T[i, row, 3] = (
                T[p, row, 0] * work.r[i, 0] + T[p, row, 1] * work.r[i, 1] + T[p, row, 2] * work.r[i, 2] + T[p, row, 3]
            )
            T[i, 3, row] = 0.0
        T[i, 3, 3] = 1.0


@kernel
def point_velocity(model, work, q, qd, i, origin, v):
    """Write v (6; rad/s, m/s), the velocity of a point of link ``i`` at q (nq, rad or m), qd (nv, per s).

    Writes ``v`` and the rows E r v T of ``work``. Reads ``model``. RBDA eq. 4.10, link by link.
    """
    link_poses(model, work, q, work.T)
    for k in range(6):
        work.v[0, k] = 0.0
    for j in range(1, model.parent.shape[0]):
        link_velocity(model, work, qd, j)
    # v = R (v_i + w_i x origin)
    wx, wy, wz = work.v[i, 0], work.v[i, 1], work.v[i, 2]
    wo_x, wo_y, wo_z = cross(wx, wy, wz, origin[0], origin[1], origin[2])
    v[0], v[1], v[2] = rotate(work.T, i, wx, wy, wz)
    v[3], v[4], v[5] = rotate(work.T, i, work.v[i, 3] + wo_x, work.v[i, 4] + wo_y, work.v[i, 5] + wo_z)


@kernel
def point_acceleration_of(model, work, q, qd, qdd, i, origin, a):
    """Write a (6; rad/s^2, m/s^2), the classical acceleration of a point of link ``i`` under the motion q, qd, qdd.

    Writes ``a`` and the rows E r w a B T of ``work``. Reads ``model``, q (nq, rad or m), qd, qdd (nv each, per s, s^2).
    RBDA eq. 2.48, link by link; classical, see ``spatial``.
    """
    link_poses(model, work, q, work.T)
    for k in range(3):
        a[k] = 0.0
    base_motion(work, a)
    for j in range(1, model.parent.shape[0]):
        link_motion(model, work, q, qd, qdd, j)
    # a = R (a_i + B_i origin)
    x, y, z = origin[0], origin[1], origin[2]
    B = work.B
    a[0], a[1], a[2] = rotate(work.T, i, work.a[i, 0], work.a[i, 1], work.a[i, 2])
    a[3], a[4], a[5] = rotate(
        work.T,
        i,
        work.a[i, 3] + B[i, 0, 0] * x + B[i, 0, 1] * y + B[i, 0, 2] * z,
        work.a[i, 4] + B[i, 1, 0] * x + B[i, 1, 1] * y + B[i, 1, 2] * z,
        work.a[i, 5] + B[i, 2, 0] * x + B[i, 2, 1] * y + B[i, 2, 2] * z,
    )


@kernel
def jacobian(model, work, q, i, origin, J):
    """Write J (6, nv), with J qd the velocity of a point of link ``i`` at q (nq, rad or m).

    Writes all of ``J`` and the rows E r T of ``work``. Reads ``model``. Featherstone & Orin 2000, section 3.4.
    """
    link_poses(model, work, q, work.T)
    for row in range(6):
        for k in range(J.shape[1]):
            J[row, k] = 0.0
    x, y, z = rotate(work.T, i, origin[0], origin[1], origin[2])
    x, y, z = x + work.T[i, 0, 3], y + work.T[i, 1, 3], z + work.T[i, 2, 3]
    j = i
    while j > 0:
        for k in range(model.first[j], model.first[j + 1]):
            # the angular part R S_w, the linear part R S_v + R S_w x (point - origin of link j)
            wx, wy, wz = rotate(work.T, j, model.S[k, 0], model.S[k, 1], model.S[k, 2])
            vx, vy, vz = rotate(work.T, j, model.S[k, 3], model.S[k, 4], model.S[k, 5])
            wd_x, wd_y, wd_z = cross(wx, wy, wz, x - work.T[j, 0, 3], y - work.T[j, 1, 3], z - work.T[j, 2, 3])
            J[0, k - 1], J[1, k - 1], J[2, k - 1] = wx, wy, wz
            J[3, k - 1], J[4, k - 1], J[5, k - 1] = vx + wd_x, vy + wd_y, vz + wd_z
        j = model.parent[j]
