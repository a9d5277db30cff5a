"""Recursive Newton-Euler algorithm: inverse dynamics."""

from robot_dynamics_ros.dynamics.inertia import body_force
from robot_dynamics_ros.dynamics.jit import kernel
from robot_dynamics_ros.dynamics.joints import across_joint, joint_transform
from robot_dynamics_ros.dynamics.spatial import (
    cross,
    dot,
    force_to_parent,
    point_acceleration,
    rotate,
)


@kernel
def rnea(model, work, q, qd, qdd, gravity, f_ext, tau):
    """Write tau (nv, N m or N), the joint torques of the motion q (nq, rad or m), qd, qdd (nv each, per s, s^2).

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
        E, r, w, a, B = work.E, work.r, work.w, work.a, work.B
        # X_i = X_J(q_i) X_T(i)
        joint_transform(model, q, i, E, r)
        # w_i = E_i w_p + S_i qd_i
        Ew_x, Ew_y, Ew_z = rotate(E, i, w[p, 0], w[p, 1], w[p, 2])
        wx, wy, wz, vx, vy, vz = across_joint(model, qd, i)
        w[i, 0], w[i, 1], w[i, 2] = Ew_x + wx, Ew_y + wy, Ew_z + wz
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
        # f_i = I_i a_i + v_i x* I_i v_i - f_ext_i
        point_acceleration(w, a, i, B)
        body_force(model.I, B, a, i, work.f)
        for k in range(6):
            work.f[i, k] -= f_ext[i, k]

    for i in range(n, 0, -1):
        # tau_i = S_i' f_i + rotor_i qdd_i
        for k in range(model.first[i], model.first[i + 1]):
            tau[k - 1] = dot(model.S, k, work.f, i) + model.rotor[k] * qdd[k - 1]
        # f_p += X_i' f_i
        force_to_parent(work.E, work.r, work.f, i, model.parent[i])
