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
    """Write X (nv, nv) = (L' D L)^-1 X, with L and d from ``ltdl``, by operations on whole rows.

    Reads ``model``, ``L`` and ``d``. Each column has the bits of ``ltdl_solve``. RBDA section 6.5, table 6.4.
    """
    n = X.shape[0]
    # X = L'^-1 X
    for i in range(n, 0, -1):
        j = model.before[i]
        while j > 0:
            for column in range(n):
                X[j - 1, column] -= L[i - 1, j - 1] * X[i - 1, column]
            j = model.before[j]
    # X = L^-1 D^-1 X
    for i in range(1, n + 1):
        for column in range(n):
            X[i - 1, column] *= d[i]
        j = model.before[i]
        while j > 0:
            for column in range(n):
                X[i - 1, column] -= L[i - 1, j - 1] * X[j - 1, column]
            j = model.before[j]
