"""Composite-rigid-body algorithm: joint-space mass matrix."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.centroidal import single_inertias
from robot_dynamics_ros.kernels.inertia import inertia_times, inertia_to_parent
from robot_dynamics_ros.kernels.rotors import rotor_momentum
from robot_dynamics_ros.kernels.spatial import dot, force_at_parent


@kernel
def crba(model, work, q, M):
    """Write M (nv, nv; kg m^2, kg m or kg), the mass matrix at q (nq, rad or m), rotor inertia and spin included.

    Writes all of ``M`` and the arrays E r I_c f of ``work``.
    Reads ``model``. Featherstone & Orin 2000, eq. 9, 10 (RBDA table 6.2).
    """
    n = model.parent.shape[0] - 1
    # I_c_i = I_i, M = 0
    single_inertias(model, work, q)
    for k in range(M.shape[0]):
        for m in range(M.shape[0]):
            M[k, m] = 0.0

    for i in range(n, 0, -1):
        if model.parent[i] > 0:
            # I_c_p += X_i' I_c_i X_i
            inertia_to_parent(work.E, work.r, work.I_c, i, model.parent[i])
        for k in range(model.first[i], model.first[i + 1]):
            # F = I_c_i S_k,  M_kk = S_k' F + rotor_k
            inertia_times(work.I_c, i, model.S, k, work.f, i)
            M[k - 1, k - 1] = dot(model.S, k, work.f, i) + model.rotor[k]
            # of the same joint: M_km = M_mk = S_m' F
            for m in range(model.first[i], k):
                M[k - 1, m - 1] = dot(model.S, m, work.f, i)
                M[m - 1, k - 1] = M[k - 1, m - 1]
            # force on the links before: F += [ spin_k z ; 0 ]
            rotor_momentum(model, i, work.f, i)
            # for each ancestor j: F = X' F,  M_km = M_mk = S_m' F
            nx, ny, nz, fx, fy, fz = work.f[i, 0], work.f[i, 1], work.f[i, 2], work.f[i, 3], work.f[i, 4], work.f[i, 5]
            j = i
            while model.parent[j] > 0:
                nx, ny, nz, fx, fy, fz = force_at_parent(work.E, work.r, j, nx, ny, nz, fx, fy, fz)
                j = model.parent[j]
                for m in range(model.first[j], model.first[j + 1]):
                    M[k - 1, m - 1] = (
                        model.S[m, 0] * nx + model.S[m, 1] * ny + model.S[m, 2] * nz
                        + model.S[m, 3] * fx + model.S[m, 4] * fy + model.S[m, 5] * fz
                    )  # fmt: skip
                    M[m - 1, k - 1] = M[k - 1, m - 1]
