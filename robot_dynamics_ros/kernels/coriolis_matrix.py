"""Coriolis matrix of Christoffel symbols."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.body_coriolis import (
    body_coriolis_matrix,
    body_coriolis_times,
    body_coriolis_to_parent,
    body_coriolis_transpose_times,
)
from robot_dynamics_ros.kernels.inertia import inertia_times, inertia_to_parent
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.rotors import rotor_changes, rotor_coriolis_matrix
from robot_dynamics_ros.kernels.spatial import (
    dot,
    dot_couple,
    force_on_parent,
    motion_cross,
    motion_from_parent,
    rotate_back,
)


@kernel
def coriolis_matrix(model, work, q, qd, C):
    """Write C (nv, nv; N m s/rad or N s/m) at q (nq, rad or m), qd (nv, per s): C qd = c, and Mdot - 2 C is skew.

    Writes all of ``C`` and the arrays E r v I_c b G S_d F_qd F_M C of ``work``. Reads ``model``. Rotor spin is
    included. For joints whose qd is the time derivative of q; for others C is half the derivative of c with respect to
    qd, too.

    Echeandia & Wensing 2021, algorithm 1, with the factor of v x* I v that yields Christoffel symbols, in link
    coordinates. Deviation: c = C qd is quadratic in qd, so that C is half its derivative; C is linear in qd and is
    computed as the whole derivative at qd / 2, as in ``rnea_derivatives``.
    """
    n = model.parent.shape[0] - 1
    for k in range(C.shape[0]):
        for m in range(C.shape[0]):
            C[k, m] = 0.0
    # v_0 = 0
    for row in range(6):
        work.v[0, row] = 0.0
    for i in range(1, n + 1):
        joint_transform(model, q, i, work.E, work.r)
        velocity_and_changes(model, work, qd, i)
        # I_c_i = I_i, and B_i
        for k in range(10):
            work.I_c[i, k] = model.I[i, k]
        body_coriolis_matrix(model.I, work.v, i, work.b, work.G)

    for i in range(n, 0, -1):
        F_qd, F_M = work.F_qd, work.F_M
        for k in range(model.first[i], model.first[i + 1]):
            # F_qd = I_c S_d_k + B S_k,  F_M = I_c S_k,  C = B' S_k
            inertia_times(work.I_c, i, work.S_d, k, F_qd, i)
            inertia_times(work.I_c, i, model.S, k, F_M, i)
            BS = body_coriolis_times(work.b, work.G, i, model.S, k)
            for row in range(6):
                F_qd[i, row] += BS[row]
            work.C[i, 0], work.C[i, 1], work.C[i, 2] = body_coriolis_transpose_times(work.b, work.G, i, model.S, k)
            # torque of k, motion of m of the same joint: F_M' S_d_m + C' S_m
            for m in range(model.first[i], model.first[i + 1]):
                C[k - 1, m - 1] = dot(work.S_d, m, F_M, i) + dot_couple(model.S, m, work.C, i)
            rotor_changes(model, work, i)
            # for each ancestor j: F = X' F
            j = i
            while model.parent[j] > 0:
                p = model.parent[j]
                force_on_parent(work.E, work.r, F_qd, j, p)
                force_on_parent(work.E, work.r, F_M, j, p)
                work.C[p, 0], work.C[p, 1], work.C[p, 2] = rotate_back(
                    work.E, j, work.C[j, 0], work.C[j, 1], work.C[j, 2]
                )
                j = p
                for m in range(model.first[j], model.first[j + 1]):
                    # torque of k, motion of m: F_M' S_d_m + C' S_m; torque of m, motion of k: S_m' F_qd
                    C[k - 1, m - 1] = dot(work.S_d, m, F_M, j) + dot_couple(model.S, m, work.C, j)
                    C[m - 1, k - 1] = dot(model.S, m, F_qd, j)
        p = model.parent[i]
        if p > 0:
            # composite inertia and B of the subtree
            rotor_coriolis_matrix(model, i, 0.5 * qd[model.first[i] - 1], work.G)
            inertia_to_parent(work.E, work.r, work.I_c, i, p)
            body_coriolis_to_parent(work.E, work.r, work.b, work.G, i, p)


@kernel
def velocity_and_changes(model, work, qd, i):
    """Write the rows ``i`` of v, the velocity for qd / 2 (nv, per s), and S_d of each velocity k of its joint.

    A unit of velocity k adds S_k to the velocity of each link in its subtree and S_d_k - v x S_k to its acceleration.
    Reads E and r of the link. Singh, Russell & Wensing 2022, algorithm 1, outward pass.
    """
    v, S, S_d = work.v, model.S, work.S_d
    # X_i v_p
    motion_from_parent(work.E, work.r, v, i, model.parent[i])
    for k in range(model.first[i], model.first[i + 1]):
        # S_d_k = v_p x S_k
        vS = motion_cross(v, i, S, k)
        for row in range(6):
            S_d[k, row] = vS[row]
    # v_i = X_i v_p + S_i qd_i / 2
    for k in range(model.first[i], model.first[i + 1]):
        rate = 0.5 * qd[k - 1]
        for row in range(6):
            v[i, row] += S[k, row] * rate
    for k in range(model.first[i], model.first[i + 1]):
        # S_d_k += v_i x S_k
        vS = motion_cross(v, i, S, k)
        for row in range(6):
            S_d[k, row] += vS[row]
