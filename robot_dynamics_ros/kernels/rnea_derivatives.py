"""Derivatives of inverse dynamics, including the mass matrix."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.body_coriolis import (
    body_coriolis_matrix,
    body_coriolis_times,
    body_coriolis_to_parent,
    body_coriolis_transpose_times,
)
from robot_dynamics_ros.kernels.inertia import inertia_times, inertia_to_parent
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.rotors import rotor_changes, rotor_on_parent
from robot_dynamics_ros.kernels.spatial import (
    dot,
    dot_couple,
    force_on_parent,
    force_to_parent,
    motion_cross,
    motion_cross_force,
    motion_from_parent,
    rotate_back,
)


@kernel
def rnea_derivatives(model, work, q, qd, qdd, gravity, f_ext, D_f, D):
    """Write D (3, nv, nv), the derivatives of tau = ID(q, qd, qdd) with respect to q, qd and qdd; the last is M.

    Column k belongs to velocity k. The derivative with respect to q is along a unit step of ``configuration.integrate``
    in velocity k; for joints of one degree of freedom, it is with respect to the coordinate.

    Arguments as ``rnea`` for a base at rest. ``f_ext`` is constant in the frame of its link, unless D_f (nv, nv; or no
    entries) has the derivative of its torques -J' f_ext. Writes all of ``D`` and the arrays E r v a f I_c b G Psi_d
    Psi_dd S_d F_q F_qd F_M C of ``work``; a is the spatial acceleration here.

    Singh, Russell & Wensing 2022, algorithm 1, in link coordinates. Deviation: their 2 B is B, stored as twelve
    numbers, see ``body_coriolis``.
    """
    n = model.parent.shape[0] - 1
    for k in range(D.shape[1]):
        for m in range(D.shape[1]):
            D[0, k, m], D[1, k, m], D[2, k, m] = 0.0, 0.0, 0.0
    # v_0 = 0, a_0 = -gravity
    for row in range(6):
        work.v[0, row] = 0.0
        work.a[0, row] = 0.0
    for row in range(3):
        work.a[0, row + 3] = -gravity[row]
    for i in range(1, n + 1):
        joint_transform(model, q, i, work.E, work.r)
        motion_and_changes(model, work, qd, qdd, i)
        # I_c_i = I_i
        for k in range(10):
            work.I_c[i, k] = model.I[i, k]
        # f_i = I_i a_i + B_i v_i / 2 - f_ext_i
        body_coriolis_matrix(model.I, work.v, i, work.b, work.G)
        inertia_times(model.I, i, work.a, i, work.f, i)
        Bv = body_coriolis_times(work.b, work.G, i, work.v, i)
        for row in range(6):
            work.f[i, row] += 0.5 * Bv[row]
            work.f[i, row] -= f_ext[i, row]

    for i in range(n, 0, -1):
        F_q, F_qd, F_M = work.F_q, work.F_qd, work.F_M
        for k in range(model.first[i], model.first[i + 1]):
            # F_q = I_c Psi_dd_k + B Psi_d_k + S_k x* f_i,  F_qd = I_c S_d_k + B S_k,  F_M = I_c S_k,  C = B' S_k
            inertia_times(work.I_c, i, work.Psi_dd, k, F_q, i)
            inertia_times(work.I_c, i, work.S_d, k, F_qd, i)
            inertia_times(work.I_c, i, model.S, k, F_M, i)
            BPsi_d = body_coriolis_times(work.b, work.G, i, work.Psi_d, k)
            BS = body_coriolis_times(work.b, work.G, i, model.S, k)
            Sf = motion_cross_force(model.S, k, work.f, i)
            for row in range(6):
                F_q[i, row] += BPsi_d[row]
                F_q[i, row] += Sf[row]
                F_qd[i, row] += BS[row]
            work.C[i, 0], work.C[i, 1], work.C[i, 2] = body_coriolis_transpose_times(work.b, work.G, i, model.S, k)
            of_carriers(model, work, k, i, D)
            D[2, k - 1, k - 1] += model.rotor[k]
            rotor_changes(model, work, i)
            # for each ancestor j: F = X' F
            j = i
            while model.parent[j] > 0:
                p = model.parent[j]
                force_on_parent(work.E, work.r, F_q, j, p)
                force_on_parent(work.E, work.r, F_qd, j, p)
                force_on_parent(work.E, work.r, F_M, j, p)
                work.C[p, 0], work.C[p, 1], work.C[p, 2] = rotate_back(
                    work.E, j, work.C[j, 0], work.C[j, 1], work.C[j, 2]
                )
                j = p
                of_carriers(model, work, k, j, D)
                for m in range(model.first[j], model.first[j + 1]):
                    # torque of m, motion of k: S_m' F
                    D[0, m - 1, k - 1] = dot(model.S, m, F_q, j)
                    D[1, m - 1, k - 1] = dot(model.S, m, F_qd, j)
                    D[2, m - 1, k - 1] = D[2, k - 1, m - 1]
        p = model.parent[i]
        if p > 0:
            # f_p += X_i' f_i, and likewise composite inertia and B
            rotor_on_parent(model, work, qd, qdd, i)
            force_to_parent(work.E, work.r, work.f, i, p)
            inertia_to_parent(work.E, work.r, work.I_c, i, p)
            body_coriolis_to_parent(work.E, work.r, work.b, work.G, i, p)
    # D_q += d(-J' f_ext)/dq
    for k in range(D_f.shape[0]):
        for m in range(D_f.shape[0]):
            D[0, k, m] += D_f[k, m]


@kernel
def motion_and_changes(model, work, qd, qdd, i):
    """Write the rows ``i`` of v and a, both spatial, and Psi_d Psi_dd S_d of each velocity k of its joint.

    For a link of velocity v in the joint's subtree: a unit displacement along velocity k changes its velocity by
    Psi_d_k and its acceleration by Psi_dd_k - v x Psi_d_k. A unit of velocity k adds S_k and S_d_k - v x S_k.

    Singh, Russell & Wensing 2022, algorithm 1, outward pass; S_d is the sum of two vectors there.
    """
    v, a, S, Psi_d, Psi_dd, S_d = work.v, work.a, model.S, work.Psi_d, work.Psi_dd, work.S_d
    # X_i v_p, X_i a_p
    motion_from_parent(work.E, work.r, v, i, model.parent[i])
    motion_from_parent(work.E, work.r, a, i, model.parent[i])
    for k in range(model.first[i], model.first[i + 1]):
        # Psi_d_k = v_p x S_k,  Psi_dd_k = a_p x S_k + v_p x Psi_d_k
        vS, aS = motion_cross(v, i, S, k), motion_cross(a, i, S, k)
        for row in range(6):
            Psi_d[k, row] = vS[row]
        vPsi_d = motion_cross(v, i, Psi_d, k)
        for row in range(6):
            Psi_dd[k, row] = aS[row] + vPsi_d[row]
    # v_i = X_i v_p + S_i qd_i
    for k in range(model.first[i], model.first[i + 1]):
        for row in range(6):
            v[i, row] += S[k, row] * qd[k - 1]
    for k in range(model.first[i], model.first[i + 1]):
        # a_i = X_i a_p + v_i x S_i qd_i + S_i qdd_i,  S_d_k = v_p x S_k + v_i x S_k
        vS = motion_cross(v, i, S, k)
        for row in range(6):
            a[i, row] += vS[row] * qd[k - 1]
            a[i, row] += S[k, row] * qdd[k - 1]
            S_d[k, row] = Psi_d[k, row] + vS[row]


@kernel
def of_carriers(model, work, k, j, D):
    """Write the entries of D for torque ``k`` and each velocity m of joint ``j``, which is its own or an ancestor.

    Reads F_M = I_c S_k and C = B' S_k at link j. Singh, Russell & Wensing 2022, algorithm 1, inward pass.
    """
    for m in range(model.first[j], model.first[j + 1]):
        # D_q = F_M' Psi_dd_m + C' Psi_d_m,  D_qd = F_M' S_d_m + C' S_m,  D_qdd = F_M' S_m
        D[0, k - 1, m - 1] = dot(work.Psi_dd, m, work.F_M, j) + dot_couple(work.Psi_d, m, work.C, j)
        D[1, k - 1, m - 1] = dot(work.S_d, m, work.F_M, j) + dot_couple(model.S, m, work.C, j)
        D[2, k - 1, m - 1] = dot(model.S, m, work.F_M, j)
