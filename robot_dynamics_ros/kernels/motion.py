"""Velocities and accelerations of the links, from the base outwards."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.joints import across_joint, joint_transform
from robot_dynamics_ros.kernels.spatial import cross, motion_from_parent, point_acceleration, rotate


@kernel
def base_motion(work, v_0, a_0, gravity):
    """Write w[0], a[0] and B[0] of ``work`` for a base of velocity v_0 and acceleration a_0 under ``gravity`` (3).

    ``v_0`` (6; rad/s, m/s) and ``a_0`` (6; rad/s^2, m/s^2) are in the base frame, a_0's linear part is the classical
    acceleration of its origin. v_0's linear part is not read: no force depends on it.
    """
    # w_0 = v_0's angular part, a_0 = a_0 - gravity: gravity as a fictitious acceleration of the base
    for k in range(3):
        work.w[0, k] = v_0[k]
        work.a[0, k] = a_0[k]
        work.a[0, k + 3] = a_0[k + 3] - gravity[k]
    point_acceleration(work.w, work.a, 0, work.B)


@kernel
def base_at_rest(work):
    """Write w[0], a[0] and B[0] of ``work`` for a base at rest without gravity, and zeros to rest and still."""
    no_motion(work)
    base_motion(work, work.still, work.still, work.still)


@kernel
def no_motion(work):
    """Write zeros to rest and still of ``work``: velocities or accelerations of the joints, and of the base."""
    for k in range(work.rest.shape[0]):
        work.rest[k] = 0.0
    for k in range(6):
        work.still[k] = 0.0


@kernel
def link_angular_velocity(model, work, qd, i):
    """Write w[i] = E_i w_p + S_i qd_i of ``work``; return E_i w_p (3) and S_i qd_i (6).

    Featherstone & Orin 2000, eq. 3, the angular part.
    """
    p, w = model.parent[i], work.w
    Ew_x, Ew_y, Ew_z = rotate(work.E, i, w[p, 0], w[p, 1], w[p, 2])
    wx, wy, wz, vx, vy, vz = across_joint(model, qd, i)
    w[i, 0], w[i, 1], w[i, 2] = Ew_x + wx, Ew_y + wy, Ew_z + wz
    return Ew_x, Ew_y, Ew_z, wx, wy, wz, vx, vy, vz


@kernel
def link_velocity(model, work, qd, i):
    """Write v[i] = X_i v_p + S_i qd_i of ``work``; reads E and r of link ``i``.

    Featherstone & Orin 2000, eq. 3.
    """
    motion_from_parent(work.E, work.r, work.v, i, model.parent[i])
    for k in range(model.first[i], model.first[i + 1]):
        for row in range(6):
            work.v[i, row] += model.S[k, row] * qd[k - 1]


@kernel
def link_motion(model, work, q, qd, qdd, i):
    """Write the rows ``i`` of E r w a B of ``work`` from those of the parent link, at q (nq), qd, qdd (nv each).

    Featherstone & Orin 2000, eq. 3, 4 in link coordinates; accelerations are the classical ones of the link's origin,
    see ``spatial``.
    """
    p = model.parent[i]
    E, r, w, a, B = work.E, work.r, work.w, work.a, work.B
    # X_i = X_J(q_i) X_T(i)
    joint_transform(model, q, i, E, r)
    Ew_x, Ew_y, Ew_z, wx, wy, wz, vx, vy, vz = link_angular_velocity(model, work, qd, i)
    # alpha_i = E_i alpha_p + E_i w_p x S_i qd_i + S_i qdd_i
    alpha_x, alpha_y, alpha_z, ax, ay, az = across_joint(model, qdd, i)
    Ea_x, Ea_y, Ea_z = rotate(E, i, a[p, 0], a[p, 1], a[p, 2])
    cx, cy, cz = cross(Ew_x, Ew_y, Ew_z, wx, wy, wz)
    a[i, 0], a[i, 1], a[i, 2] = Ea_x + cx + alpha_x, Ea_y + cy + alpha_y, Ea_z + cz + alpha_z
    # a_i = E_i (a_p + B_p r_i) + (E_i w_p + w_i) x S_i qd_i + S_i qdd_i
    Ea_x, Ea_y, Ea_z = rotate(
        E,
        i,
        a[p, 3] + B[p, 0, 0] * r[i, 0] + B[p, 0, 1] * r[i, 1] + B[p, 0, 2] * r[i, 2],
        a[p, 4] + B[p, 1, 0] * r[i, 0] + B[p, 1, 1] * r[i, 1] + B[p, 1, 2] * r[i, 2],
        a[p, 5] + B[p, 2, 0] * r[i, 0] + B[p, 2, 1] * r[i, 1] + B[p, 2, 2] * r[i, 2],
    )
    cx, cy, cz = cross(Ew_x + w[i, 0], Ew_y + w[i, 1], Ew_z + w[i, 2], vx, vy, vz)
    a[i, 3], a[i, 4], a[i, 5] = Ea_x + cx + ax, Ea_y + cy + ay, Ea_z + cz + az
    # B_i = alpha_i x + w_i x w_i x
    point_acceleration(w, a, i, B)
