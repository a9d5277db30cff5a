"""Solution of J M^-1 J' lam = t for the multipliers lam of closed loops, whether constraints are independent or not.

The Delassus matrix J M^-1 J' = V' V with V = D^-1/2 K. The columns of V, one for each constraint, are made orthogonal
one after the other (modified Gram-Schmidt), which does not square the condition of V. What is left of a column that
depends on those before it is rounding, of numbers or of the axes in a description, as is a column of a constraint
without effect. A constraint takes part where the length that is left is more than ``loop_tolerance`` of the length of a
constraint that moves all joints. Otherwise its weight w is zero: dependent constraints get a zero multiplier. This one
rule decides everything that depends on the rank. Both lengths are in the metric of the inverse mass matrix, so their
quotient has no unit. A second orthogonalisation of each column gains nothing here (2026-11-22).
"""

import numpy as np

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.spatial import dot, motion_from_parent


@kernel
def orthogonalise_constraints(model, work):
    """Write V (nv or more, m or more) = D^-1/2 V of ``work`` with orthogonal columns, V_share, V_weight and scale.

    Reads ``model`` and ``d``. V_share[j, l] is the share of column j in the column l after it. V_weight[j] is s_0
    before, see ``effective_mobility``, and then the weight 1 / (v_j' v_j) of column j, or zero. Golub & Van Loan 2013,
    algorithm 5.2.6; the rank test is described above.
    """
    V, share, weight = work.V, work.V_share, work.V_weight
    m = weight.shape[0]
    tolerance = model.loop_tolerance[0]
    for k in range(work.tau.shape[0]):
        work.scale[k] = 1.0 / np.sqrt(work.d[k + 1])
        for j in range(m):
            V[k, j] *= work.scale[k]
    for j in range(m):
        # share_jl = v_j' v_l, of all columns at once
        for after in range(V.shape[1]):
            share[j, after] = 0.0
        for group in range(V.shape[0] // 4):
            add_products(V, 4 * group, j, share)
        # s = v_j' v_j
        s = share[j, j]
        # w = 1 / s where s is more than tolerance^2 s_0, else 0, without a branch: x / sqrt(x^2) is 1 or -1
        x = s - tolerance * tolerance * weight[j] - 1e-140
        weight[j] = (0.5 + 0.5 * (x / np.sqrt(x * x))) / (s + 1e-300)
        # v_l -= v_j (v_j' v_l) w, where the share of columns up to j is zero
        for before in range(j + 1):
            share[j, before] = 0.0
        for after in range(j + 1, m):
            share[j, after] *= weight[j]
        for k in range(V.shape[0]):
            subtract_share(V, k, j, share)


@kernel
def add_products(V, k, j, share):
    """Write row ``j`` of share += the sum of V_ij V_i over four rows i = k, k + 1, ... of V, in groups of eight."""
    v1, v2, v3, v4 = V[k, j], V[k + 1, j], V[k + 2, j], V[k + 3, j]
    for after in range(8 * (V.shape[1] // 8)):
        x = share[j, after]
        x += v1 * V[k, after]
        x += v2 * V[k + 1, after]
        x += v3 * V[k + 2, after]
        x += v4 * V[k + 3, after]
        share[j, after] = x


@kernel
def subtract_share(V, k, j, share):
    """Write row ``k`` of V -= V_kj share_j, in groups of eight."""
    v = V[k, j]
    for after in range(8 * (V.shape[1] // 8)):
        V[k, after] -= v * share[j, after]


@kernel
def solve_multipliers(work, target):
    """Write tau (nv) of ``work``, the forces K lam on the joints of the solution lam for ``target`` (m).

    Reads V, V_share, V_weight and scale of ``work``, written by ``orthogonalise_constraints``; overwrites ``target``.
    Golub & Van Loan 2013, section 5.3.
    """
    V = work.V
    for k in range(work.tau.shape[0]):
        work.tau[k] = 0.0
    for j in range(target.shape[0]):
        # t_l -= share_jl t_j
        for after in range(j + 1, target.shape[0]):
            target[after] -= work.V_share[j, after] * target[j]
        # K lam = D^1/2 sum of v_j w_j t_j
        w_t = work.V_weight[j] * target[j]
        for k in range(work.tau.shape[0]):
            work.tau[k] += V[k, j] * w_t
    for k in range(work.tau.shape[0]):
        work.tau[k] /= work.scale[k]


@kernel
def response(model, work, step):
    """Write step (nv) = M^-1 J' lam, the change of accelerations or velocities by the forces tau (nv) = K lam.

    Writes ``step`` and the array a of ``work``. Reads ``model`` and the arrays E r U d tau of ``work``.
    Featherstone & Orin 2000, eq. 14, its last pass for these forces alone.
    """
    for k in range(6):
        work.a[0, k] = 0.0
    for i in range(1, model.parent.shape[0]):
        # a_i = X_i a_p
        motion_from_parent(work.E, work.r, work.a, i, model.parent[i])
        for k in range(model.first[i], model.first[i + 1]):
            # step_k = (tau_k - U_k' a_i) / d_k,  a_i += S_k step_k
            step[k - 1] = (work.tau[k - 1] - dot(work.U, k, work.a, i)) / work.d[k]
            for row in range(6):
                work.a[i, row] += model.S[k, row] * step[k - 1]
