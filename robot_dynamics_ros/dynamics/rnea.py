"""Recursive Newton-Euler algorithm: inverse dynamics."""

from robot_dynamics_ros.dynamics.inertia import body_force
from robot_dynamics_ros.dynamics.jit import kernel
from robot_dynamics_ros.dynamics.joints import joint_transform
from robot_dynamics_ros.dynamics.spatial import (
    angular_velocity_from_parent,
    cross,
    dot,
    force_to_parent,
    point_acceleration,
    rotate,
)


@kernel
def rnea(model, work, q, qd, qdd, gravity, f_ext, tau):
    """Write tau (n, N m or N), the joint torques of the motion q, qd, qdd (n each, rad or m, and per s, s^2).

    Writes ``tau`` and the rows E r w a B f of ``work``; f[0] is the force that the ground exerts on the base.
    Reads ``model``, ``gravity`` (3, m/s^2, base frame) and ``f_ext`` (n + 1, 6; N m, N), the wrench acting on each
    link in its own frame. Rotor inertia is included, friction is not.

    Featherstone & Orin 2000, eq. 3 to 5 in link coordinates (RBDA table 5.1, right column). Deviation: accelerations
    are the classical ones of the link's origin, see ``spatial``.
    """
    n = model.parent.shape[0] - 1
    # w_0 = 0, a_0 = -gravity: a base that accelerates upwards feels like gravity
    for k in range(3):
        work.w[0, k] = 0.0
        work.a[0, k] = 0.0
        work.a[0, k + 3] = -gravity[k]
    for k in range(6):
        work.f[0, k] = -f_ext[0, k]
    point_acceleration(work.w, work.a, 0, work.B)

    for i in range(1, n + 1):
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
        # f_i = I_i a_i + v_i x* I_i v_i - f_ext_i
        point_acceleration(w, a, i, B)
        body_force(model.I, B, a, i, work.f)
        for k in range(6):
            work.f[i, k] -= f_ext[i, k]

    for i in range(n, 0, -1):
        # tau_i = S_i' f_i + rotor_i qdd_i
        tau[i - 1] = dot(model.S, i, work.f, i) + model.rotor[i] * qdd[i - 1]
        # f_p += X_i' f_i
        force_to_parent(work.E, work.r, work.f, i, model.parent[i])
