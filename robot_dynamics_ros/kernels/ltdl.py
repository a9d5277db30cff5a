"""L' D L factorisation of the mass matrix, which preserves the zeros of a branched tree."""

from robot_dynamics_ros.jit.decorators import kernel


@kernel
def ltdl(model, M, d):
    """Write M = L' D L over the lower triangle of M (nv, nv): L below its diagonal (all 1), 1 / D into d (nv + 1).

    Reads ``model``. Only entries between a velocity and its ancestors are accessed (RBDA table 6.3).
    """
    for k in range(M.shape[0], 0, -1):
        d[k] = 1.0 / M[k - 1, k - 1]
        i = model.before[k]
        while i > 0:
            # L_ki = M_ki / D_k,  M_ij -= L_ki M_kj for each ancestor j of i
            L = M[k - 1, i - 1] * d[k]
            j = i
            while j > 0:
                M[i - 1, j - 1] -= L * M[k - 1, j - 1]
                j = model.before[j]
            M[k - 1, i - 1] = L
            i = model.before[i]


@kernel
def ltdl_solve(model, L, d, x):
    """Write x (nv) = (L' D L)^-1 x, with L and d from ``ltdl``.

    Reads ``model``, ``L`` and ``d``. RBDA section 6.5, table 6.4.
    """
    # x = L'^-1 x
    for i in range(x.shape[0], 0, -1):
        j = model.before[i]
        while j > 0:
            x[j - 1] -= L[i - 1, j - 1] * x[i - 1]
            j = model.before[j]
    # x = L^-1 D^-1 x
    for i in range(1, x.shape[0] + 1):
        x[i - 1] *= d[i]
        j = model.before[i]
        while j > 0:
            x[i - 1] -= L[i - 1, j - 1] * x[j - 1]
            j = model.before[j]


@kernel
def ltdl_solve_rows(model, L, d, X):
    """Write X (nv, a multiple of 8) = (L' D L)^-1 X, with L and d from ``ltdl``; X ends with the unit matrix (nv, nv).

    The columns of the unit matrix are in reverse order: the 1 of row k is ``k`` before the end. The inverse is
    symmetric: row k has it up to this place, which is the upper triangle; what is behind is scratch. All numbers have
    the bits of ``ltdl_solve``.

    Reads ``model``, ``L`` and ``d``. RBDA section 6.5, table 6.4, by operations on rows: four rows are subtracted at a
    time, which needs half the time of one after the other (35 velocities, 2026-11-22).
    """
    # X = L'^-1 X
    i = X.shape[0]
    while i > 0:
        # X_j -= sum of L_mj X_m over a chain of up to four velocities m = i, i - 1, ... k; first for each j in it
        k = i
        while k > 1 and k > i - 3 and model.before[k] == k - 1:
            subtract_chain(L, i, k, X, k - 1)
            k -= 1
        # then for each ancestor j
        j = model.before[k]
        while j > 0:
            subtract_chain(L, i, k, X, j)
            j = model.before[j]
        i = k - 1
    # X = L^-1 D^-1 X
    for i in range(1, X.shape[0] + 1):
        scale = d[i]
        j = model.before[i]
        if j == 0:
            subtract_rows(X, i, i, scale, i, 0.0, i, 0.0, i, 0.0, i, 0.0)
        while j > 0:
            # X_i -= sum of L_ij X_j over up to four ancestors j
            j2 = model.before[j]
            j3 = model.before[j2]
            j4 = model.before[j3]
            L1, L2, L3, L4 = L[i - 1, j - 1], 0.0, 0.0, 0.0
            if j2 > 0:
                L2 = L[i - 1, j2 - 1]
            else:
                j2 = j
            if j3 > 0:
                L3 = L[i - 1, j3 - 1]
            else:
                j3 = j
            if j4 > 0:
                L4 = L[i - 1, j4 - 1]
                k = model.before[j4]
            else:
                j4 = j
                k = 0
            subtract_rows(X, i, i, scale, j, L1, j2, L2, j3, L3, j4, L4)
            scale = 1.0
            j = k


@kernel
def subtract_chain(L, i, k, X, j):
    """Write row ``j`` of X -= the sum of L_mj X_m over m = i, i - 1, ... k, at most four. RBDA table 6.4, L'^-1."""
    L1, L2, L3, L4 = L[i - 1, j - 1], 0.0, 0.0, 0.0
    i2, i3, i4 = i, i, i
    if k < i:
        i2 = i - 1
        L2 = L[i2 - 1, j - 1]
    if k < i - 1:
        i3 = i - 2
        L3 = L[i3 - 1, j - 1]
    if k < i - 2:
        i4 = i - 3
        L4 = L[i4 - 1, j - 1]
    subtract_rows(X, j, k, 1.0, i, L1, i2, L2, i3, L3, i4, L4)


@kernel
def subtract_rows(X, j, k, scale, j1, L1, j2, L2, j3, L3, j4, L4):
    """Write row ``j`` of X = scale X_j - L1 X_j1 - L2 X_j2 - L3 X_j3 - L4 X_j4, up to ``k`` before the end or further.

    RBDA table 6.4.
    """
    for column in range(8 * ((X.shape[1] - k) // 8 + 1)):
        x = X[j - 1, column] * scale
        x -= L1 * X[j1 - 1, column]
        x -= L2 * X[j2 - 1, column]
        x -= L3 * X[j3 - 1, column]
        x -= L4 * X[j4 - 1, column]
        X[j - 1, column] = x
