"""Articulated-body algorithm: forward dynamics."""

from robot_dynamics_ros.dynamics.inertia import (
    articulated_times,
    articulated_to_parent,
    body_force,
    rigid_to_articulated,
)
from robot_dynamics_ros.dynamics.jit import kernel
from robot_dynamics_ros.dynamics.joints import joint_transform
from robot_dynamics_ros.dynamics.spatial import (
    angular_velocity_from_parent,
    cross,
    dot,
    force_to_parent,
    motion_from_parent,
    point_acceleration,
    rotate,
)


@kernel
def aba(model, work, q, qd, tau, gravity, f_ext, qdd):
    """Write qdd (n, rad/s^2 or m/s^2), the joint accelerations under the joint torques tau (n, N m or N).

    Writes ``qdd`` and the rows E r w a B c f I_A p_A U d u of ``work``. Reads ``model``, q, qd (n each, rad or m, and
    per s), ``gravity`` (3, m/s^2, base frame) and ``f_ext`` (n + 1, 6; N m, N), the wrench acting on each link in its
    own frame. Rotor inertia is included, friction is not. A joint without any inertia gives inf or NaN.

    Featherstone & Orin 2000, eq. 8 in link coordinates (RBDA table 7.1, right column). Deviation: accelerations are
    the classical ones of the link's origin, see ``spatial``, so c_i has E_i w_p x w_p x r_i for v_i x S_i qd_i's
    linear part.
    """
    n = model.parent.shape[0] - 1
    for k in range(3):
        work.w[0, k] = 0.0
    for k in range(6):
        work.a[0, k] = 0.0
        work.p_A[0, k] = 0.0
        for column in range(6):
            work.I_A[0, k, column] = 0.0
    point_acceleration(work.w, work.a, 0, work.B)

    for i in range(1, n + 1):
        p = model.parent[i]
        E, r, w, B, c, S = work.E, work.r, work.w, work.B, work.c, model.S
        # X_i = X_J(q_i) X_T(i)
        joint_transform(model, q, i, E, r)
        # w_i = E_i w_p + S_i qd_i
        Ew_x, Ew_y, Ew_z, Sx, Sy, Sz = angular_velocity_from_parent(E, w, S, qd, i, p)
        # c_i = [ w_i x S_i qd_i ; E_i w_p x w_p x r_i + 2 w_i x S_i qd_i ]
        c[i, 0], c[i, 1], c[i, 2] = cross(Ew_x, Ew_y, Ew_z, Sx, Sy, Sz)
        wwr_x, wwr_y, wwr_z = rotate(
            E,
            i,
            B[p, 0, 0] * r[i, 0] + B[p, 0, 1] * r[i, 1] + B[p, 0, 2] * r[i, 2],
            B[p, 1, 0] * r[i, 0] + B[p, 1, 1] * r[i, 1] + B[p, 1, 2] * r[i, 2],
            B[p, 2, 0] * r[i, 0] + B[p, 2, 1] * r[i, 1] + B[p, 2, 2] * r[i, 2],
        )
        qd2 = 2.0 * qd[i - 1]
        wS_x, wS_y, wS_z = cross(Ew_x, Ew_y, Ew_z, S[i, 3] * qd2, S[i, 4] * qd2, S[i, 5] * qd2)
        c[i, 3], c[i, 4], c[i, 5] = wwr_x + wS_x, wwr_y + wS_y, wwr_z + wS_z
        # p_A_i = v_i x* I_i v_i - f_ext_i, the force of a body whose origin does not accelerate (a_i = 0)
        for k in range(6):
            work.a[i, k] = 0.0
        point_acceleration(w, work.a, i, B)
        body_force(model.I, B, work.a, i, work.p_A)
        for k in range(6):
            work.p_A[i, k] -= f_ext[i, k]
        # I_A_i = I_i
        rigid_to_articulated(model.I, i, work.I_A)

    for i in range(n, 0, -1):
        I_A, p_A, U, c = work.I_A, work.p_A, work.U, work.c
        # U_i = I_A_i S_i,  d_i = S_i' U_i + rotor_i,  u_i = tau_i - S_i' p_A_i
        articulated_times(I_A, i, model.S, i, U, i)
        work.d[i] = dot(model.S, i, U, i) + model.rotor[i]
        d_inv = 1.0 / work.d[i]
        work.u[i] = tau[i - 1] - dot(model.S, i, p_A, i)
        # I_a = I_A_i - U_i U_i' / d_i
        for row in range(6):
            U_d = U[i, row] * d_inv
            for column in range(row, 6):
                I_A[i, row, column] -= U_d * U[i, column]
        # p_a = p_A_i + I_a c_i + U_i u_i / d_i
        articulated_times(I_A, i, c, i, work.f, i)
        u_d = work.u[i] * d_inv
        for k in range(6):
            p_A[i, k] += work.f[i, k] + U[i, k] * u_d
        # I_A_p += X_i' I_a X_i,  p_A_p += X_i' p_a
        articulated_to_parent(work.E, work.r, I_A, i, model.parent[i])
        force_to_parent(work.E, work.r, p_A, i, model.parent[i])

    # a_0 = -gravity
    for k in range(3):
        work.a[0, k + 3] = -gravity[k]
    for i in range(1, n + 1):
        # a_i = X_i a_p + c_i
        motion_from_parent(work.E, work.r, work.a, i, model.parent[i])
        for k in range(6):
            work.a[i, k] += work.c[i, k]
        # qdd_i = (u_i - U_i' a_i) / d_i,  a_i += S_i qdd_i
        qdd[i - 1] = (work.u[i] - dot(work.U, i, work.a, i)) / work.d[i]
        for k in range(6):
            work.a[i, k] += model.S[i, k] * qdd[i - 1]
