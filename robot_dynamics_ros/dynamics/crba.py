"""Composite-rigid-body algorithm: joint-space mass matrix."""

from robot_dynamics_ros.dynamics.inertia import inertia_times, inertia_to_parent
from robot_dynamics_ros.dynamics.jit import kernel
from robot_dynamics_ros.dynamics.joints import joint_transform
from robot_dynamics_ros.dynamics.spatial import dot, force_to_parent


@kernel
def crba(model, work, q, M):
    """Write M (n, n; kg m^2, kg m or kg), the mass matrix at q (n, rad or m), rotor inertia included.

    Writes all of ``M`` and the rows E r I_c f of ``work``; I_c[0] is the inertia of the whole arm at the base.
    Reads ``model``. Featherstone & Orin 2000, eq. 7 (RBDA table 6.2).
    """
    n = model.parent.shape[0] - 1
    # I_c_i = I_i, M = 0
    for k in range(10):
        work.I_c[0, k] = 0.0
    for i in range(1, n + 1):
        joint_transform(model, q, i, work.E, work.r)
        for k in range(10):
            work.I_c[i, k] = model.I[i, k]
        for j in range(n):
            M[i - 1, j] = 0.0

    for i in range(n, 0, -1):
        # I_c_p += X_i' I_c_i X_i
        inertia_to_parent(work.E, work.r, work.I_c, i, model.parent[i])
        # F = I_c_i S_i,  M_ii = S_i' F + rotor_i
        inertia_times(work.I_c, i, model.S, i, work.f, i)
        M[i - 1, i - 1] = dot(model.S, i, work.f, i) + model.rotor[i]
        # for each ancestor j: F = X' F,  M_ij = M_ji = S_j' F
        j = i
        while model.parent[j] > 0:
            for k in range(6):
                work.f[model.parent[j], k] = 0.0
            force_to_parent(work.E, work.r, work.f, j, model.parent[j])
            j = model.parent[j]
            M[i - 1, j - 1] = dot(model.S, j, work.f, j)
            M[j - 1, i - 1] = M[i - 1, j - 1]
