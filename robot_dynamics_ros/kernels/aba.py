"""Articulated-body algorithm: forward dynamics."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.articulated_inertias import free_velocity
from robot_dynamics_ros.kernels.inertia import (
    articulated_times,
    articulated_to_parent,
    body_force,
    rigid_to_articulated,
)
from robot_dynamics_ros.kernels.joint_springs import against_spring
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.motion import link_angular_velocity
from robot_dynamics_ros.kernels.rotors import rotor_gyration
from robot_dynamics_ros.kernels.spatial import (
    cross,
    dot,
    force_to_parent,
    motion_from_parent,
    point_acceleration,
    rotate,
)


@kernel
def aba(model, work, q, qd, tau, v_0, a_0, gravity, f_ext, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2), the joint accelerations under the joint torques tau (nv, N m or N).

    Writes ``qdd`` and the arrays E r w a B c f I_A p_A U d u tau of ``work``. Reads ``model``, q (nq, rad or m), qd
    (nv, per s), v_0 (6; rad/s, m/s) and a_0 (6; rad/s^2, m/s^2), the motion of the base as in ``base_motion``,
    ``gravity`` (3, m/s^2, base frame) and ``f_ext`` (n + 1, 6; N m, N), the wrench acting on each link in its own
    frame. Rotor inertia and spin and springs of joints are included, friction is not. A joint without any inertia gives
    inf or NaN.

    Featherstone & Orin 2000, eq. 12 to 14, under tau + tau_s, tau_s the torques of springs.
    """
    for k in range(tau.shape[0]):
        work.tau[k] = tau[k] - against_spring(model, q, k + 1)
    aba_without_springs(model, work, q, qd, work.tau, v_0, a_0, gravity, f_ext, qdd)


@kernel
def aba_without_springs(model, work, q, qd, tau, v_0, a_0, gravity, f_ext, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2), the joint accelerations under tau (nv, N m or N) where no spring acts.

    Writes ``qdd`` and the arrays E r w a B c f I_A p_A U d u of ``work``. Arguments as ``aba``.

    Featherstone & Orin 2000, eq. 12 to 14 in link coordinates (RBDA table 7.1, right column). Deviation: accelerations
    are the classical ones of the link's origin, see ``spatial``, so c_i has E_i w_p x w_p x r_i for v_i x S_i qd_i's
    linear part.
    """
    # w_0 = v_0's angular part
    for k in range(3):
        work.w[0, k] = v_0[k]
    articulated_bodies(model, work, q, qd, tau, f_ext)
    # a_0 = a_0 - gravity
    for k in range(3):
        work.a[0, k] = a_0[k]
        work.a[0, k + 3] = a_0[k + 3] - gravity[k]
    free_accelerations(model, work, qdd)


@kernel
def articulated_bodies(model, work, q, qd, tau, f_ext):
    """Write the arrays E r w a B c f I_A p_A U d u of ``work`` from w of the base; a is zero.

    The first two passes of ``aba_without_springs``, with its arguments. Featherstone & Orin 2000, eq. 12 to 14.
    """
    n = model.parent.shape[0] - 1
    for k in range(6):
        work.a[0, k] = 0.0
        work.p_A[0, k] = 0.0
        for column in range(6):
            work.I_A[0, k, column] = 0.0
    point_acceleration(work.w, work.a, 0, work.B)

    for i in range(1, n + 1):
        p = model.parent[i]
        E, r, w, B, c = work.E, work.r, work.w, work.B, work.c
        # X_i = X_J(q_i) X_T(i)
        joint_transform(model, q, i, E, r)
        # w_i = E_i w_p + S_i qd_i
        Ew_x, Ew_y, Ew_z, wx, wy, wz, vx, vy, vz = link_angular_velocity(model, work, qd, i)
        # c_i = [ E_i w_p x S_i qd_i ; E_i w_p x w_p x r_i + (E_i w_p + w_i) x S_i qd_i ]
        c[i, 0], c[i, 1], c[i, 2] = cross(Ew_x, Ew_y, Ew_z, wx, wy, wz)
        wwr_x, wwr_y, wwr_z = rotate(
            E,
            i,
            B[p, 0, 0] * r[i, 0] + B[p, 0, 1] * r[i, 1] + B[p, 0, 2] * r[i, 2],
            B[p, 1, 0] * r[i, 0] + B[p, 1, 1] * r[i, 1] + B[p, 1, 2] * r[i, 2],
            B[p, 2, 0] * r[i, 0] + B[p, 2, 1] * r[i, 1] + B[p, 2, 2] * r[i, 2],
        )
        wS_x, wS_y, wS_z = cross(Ew_x + w[i, 0], Ew_y + w[i, 1], Ew_z + w[i, 2], vx, vy, vz)
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
        # one degree of freedom after the other, the outermost first: the d_i x d_i solve by elimination
        for k in range(model.first[i + 1] - 1, model.first[i] - 1, -1):
            # U_k = I_A_i S_k + [ spin_k z ; 0 ],  d_k = S_k' I_A_i S_k + rotor_k,  I_a = I_A_i - U_k U_k' / d_k
            d_inv = free_velocity(model, work, i, k)
            # u_k = tau_k - S_k' p_A_i
            work.u[k] = tau[k - 1] - dot(model.S, k, p_A, i)
            # p_A_i += [ spin_k w_p x z qd_k ; 0 ] + U_k u_k / d_k
            rotor_gyration(model, work.w, i, qd[k - 1], p_A)
            u_d = work.u[k] * d_inv
            for row in range(6):
                p_A[i, row] += U[k, row] * u_d
        # p_a = p_A_i + I_a c_i
        articulated_times(I_A, i, c, i, work.f, i)
        for k in range(6):
            p_A[i, k] += work.f[i, k]
        # I_A_p += X_i' I_a X_i,  p_A_p += X_i' p_a
        articulated_to_parent(work.E, work.r, I_A, i, model.parent[i])
        force_to_parent(work.E, work.r, p_A, i, model.parent[i])


@kernel
def free_accelerations(model, work, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2) and the array a of ``work`` from a of the base.

    The third pass of ``aba_without_springs``; reads ``model`` and the arrays E r c U d u of ``work``. Featherstone &
    Orin 2000, eq. 12.
    """
    for i in range(1, model.parent.shape[0]):
        # a_i = X_i a_p + c_i
        motion_from_parent(work.E, work.r, work.a, i, model.parent[i])
        for k in range(6):
            work.a[i, k] += work.c[i, k]
        for k in range(model.first[i], model.first[i + 1]):
            # qdd_k = (u_k - U_k' a_i) / d_k,  a_i += S_k qdd_k
            qdd[k - 1] = (work.u[k] - dot(work.U, k, work.a, i)) / work.d[k]
            for row in range(6):
                work.a[i, row] += model.S[k, row] * qdd[k - 1]
