"""Inverse of the joint-space mass matrix, by articulated-body inertias."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.articulated_inertias import articulated_inertias
from robot_dynamics_ros.kernels.spatial import dot, force_on_parent


@kernel
def mass_matrix_inverse(model, work, q, M_inv):
    """Write M_inv (nv, nv; per kg m^2, kg m or kg), the inverse of the mass matrix at q (nq, rad or m), with rotors.

    Writes all of ``M_inv`` and the arrays E r p_A I_A U d M of ``work``: M is L, d the diagonal of 1 / D in M_inv =
    L 1 / D L'. Reads ``model``. The mass matrix itself is not formed. A joint without inertia gives inf or NaN.

    The articulated-body algorithm (RBDA table 7.1) at zero velocity without gravity. Its second pass is run once for a
    unit torque at each velocity k; L_km is the resulting u_m, where m is k or a velocity before it. The third pass is
    not needed: it applies the transpose of the second (Rodriguez, Jain & Kreutz-Delgado 1991).
    """
    L, d = work.M, work.d
    articulated_inertias(model, work, q)
    # d = 1 / D
    for k in range(1, M_inv.shape[0] + 1):
        d[k] = 1.0 / d[k]
    for i in range(1, model.parent.shape[0]):
        for k in range(model.first[i], model.first[i + 1]):
            row_of_unit_torque(model, work, i, k, L)
            # (L 1 / D)_km
            for m in range(1, k + 1):
                M_inv[k - 1, m - 1] = L[k - 1, m - 1] * d[m]
            # M_inv_km = M_inv_mk = sum of (L 1 / D)_kj L_mj over m (L_mm = 1) and all j before it
            for m in range(k, 0, -1):
                j = model.before[m]
                while j > 0:
                    M_inv[k - 1, m - 1] += L[m - 1, j - 1] * M_inv[k - 1, j - 1]
                    j = model.before[j]
                M_inv[m - 1, k - 1] = M_inv[k - 1, m - 1]


@kernel
def row_of_unit_torque(model, work, i, k, L):
    """Write L (nv, nv) from column 1 to k of row ``k``: u = tau - S' p_A for a unit torque at ``k``.

    ``k`` is a velocity of joint ``i``. Writes the arrays p_A of ``work`` from link ``i`` to the base. Reads ``model``
    and the rows that ``articulated_inertias`` writes, d inverted. RBDA table 7.1, second pass.
    """
    for m in range(1, k):
        L[k - 1, m - 1] = 0.0
    # u_k = 1,  p_A_i = U_k / d_k
    L[k - 1, k - 1] = 1.0
    for row in range(6):
        work.p_A[i, row] = work.U[k, row] * work.d[k]
    j = i
    m = model.before[k]
    while m > 0:
        if m < model.first[j]:
            # p_A_p = X_j' p_A_j
            force_on_parent(work.E, work.r, work.p_A, j, model.parent[j])
            j = model.parent[j]
        # u_m = -S_m' p_A_j,  p_A_j += U_m u_m / d_m
        L[k - 1, m - 1] = -dot(model.S, m, work.p_A, j)
        u_d = L[k - 1, m - 1] * work.d[m]
        for row in range(6):
            work.p_A[j, row] += work.U[m, row] * u_d
        m = model.before[m]
