"""How the links move: angular velocities and classical accelerations, outward from the base."""

from robot_dynamics_ros.dynamics.jit import kernel
from robot_dynamics_ros.dynamics.joints import joint_transform
from robot_dynamics_ros.dynamics.spatial import (
    angular_velocity_from_parent,
    cross,
    point_acceleration,
    rotate,
)


@kernel
def base_motion(work, gravity):
    """Write w[0], a[0] and B[0] of ``work`` for a base at rest under ``gravity`` (3, m/s^2, base frame).

    A base that accelerates upwards feels like gravity (RBDA section 5.3).
    """
    # w_0 = 0, a_0 = -gravity
    for k in range(3):
        work.w[0, k] = 0.0
        work.a[0, k] = 0.0
        work.a[0, k + 3] = -gravity[k]
    point_acceleration(work.w, work.a, 0, work.B)


@kernel
def link_motion(model, work, q, qd, qdd, i):
    """Write row ``i`` of E r w a B of ``work``, from its parent's, for q, qd, qdd (n each, rad or m, and per s, s^2).

    Reads ``model``. Featherstone & Orin 2000, eq. 3 in link coordinates (RBDA table 5.1, right column). Deviation:
    accelerations are the classical ones of the link's origin, see ``spatial``.
    """
    p = model.parent[i]
    E, r, w, a, B, S = work.E, work.r, work.w, work.a, work.B, model.S
    # X_i = X_J(q_i) X_T(i)
    joint_transform(model, q, i, E, r)
    # w_i = E_i w_p + S_i qd_i
    Ew_x, Ew_y, Ew_z, Sx, Sy, Sz = angular_velocity_from_parent(E, w, S, qd, i, p)
    # alpha_i = E_i alpha_p + w_i x S_i qd_i + S_i qdd_i
    Ea_x, Ea_y, Ea_z = rotate(E, i, a[p, 0], a[p, 1], a[p, 2])
    cx, cy, cz = cross(Ew_x, Ew_y, Ew_z, Sx, Sy, Sz)
    a[i, 0] = Ea_x + cx + S[i, 0] * qdd[i - 1]
    a[i, 1] = Ea_y + cy + S[i, 1] * qdd[i - 1]
    a[i, 2] = Ea_z + cz + S[i, 2] * qdd[i - 1]
    # a_i = E_i (a_p + B_p r_i) + 2 w_i x S_i qd_i + S_i qdd_i
    Ea_x, Ea_y, Ea_z = rotate(
        E,
        i,
        a[p, 3] + B[p, 0, 0] * r[i, 0] + B[p, 0, 1] * r[i, 1] + B[p, 0, 2] * r[i, 2],
        a[p, 4] + B[p, 1, 0] * r[i, 0] + B[p, 1, 1] * r[i, 1] + B[p, 1, 2] * r[i, 2],
        a[p, 5] + B[p, 2, 0] * r[i, 0] + B[p, 2, 1] * r[i, 1] + B[p, 2, 2] * r[i, 2],
    )
    qd2 = 2.0 * qd[i - 1]
    cx, cy, cz = cross(Ew_x, Ew_y, Ew_z, S[i, 3] * qd2, S[i, 4] * qd2, S[i, 5] * qd2)
    a[i, 3] = Ea_x + cx + S[i, 3] * qdd[i - 1]
    a[i, 4] = Ea_y + cy + S[i, 4] * qdd[i - 1]
    a[i, 5] = Ea_z + cz + S[i, 5] * qdd[i - 1]
    point_acceleration(w, a, i, B)
