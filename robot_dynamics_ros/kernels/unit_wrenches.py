"""Unit wrenches on frames, propagated through articulated bodies: the columns of K, and products of them.

J M^-1 J' = K' D^-1 K; see ``kinematics`` for a frame and for ``reference_frame``.
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.force_propagation import force_along, force_past_velocity
from robot_dynamics_ros.kernels.frame_wrench import link_in_base, wrench_in_link
from robot_dynamics_ros.kernels.spatial import dot, force_at_parent, motion_from_parent


@kernel
def propagate_unit_wrenches(model, work, i, rotation, origin, reference_frame, column, K):
    """Write six columns of K (nv, any), from ``column`` on: those of the unit wrenches on a frame of link ``i``.

    Only arrays of velocities between base and link are written, and the row Lambda of ``work``. Reads ``model`` and the
    arrays E r U d of ``work`` that ``articulated_inertias`` writes. Rodriguez, Jain & Kreutz-Delgado 1991, section 5.
    """
    f = work.Lambda
    pose = link_in_base(model, work, i)
    for row in range(6):
        # a column of J' as a force on the link
        nx = 1.0 if row == 0 else 0.0
        ny = 1.0 if row == 1 else 0.0
        nz = 1.0 if row == 2 else 0.0
        fx = 1.0 if row == 3 else 0.0
        fy = 1.0 if row == 4 else 0.0
        fz = 1.0 if row == 5 else 0.0
        f[row, 0], f[row, 1], f[row, 2], f[row, 3], f[row, 4], f[row, 5] = wrench_in_link(
            pose, rotation, origin, reference_frame, nx, ny, nz, fx, fy, fz
        )
    j = i
    while j > 0:
        # six side by side: 100 joints need 10 us, one wrench after the other 17 us (of the whole kernel, 2026-11-22)
        for k in range(model.first[j + 1] - 1, model.first[j] - 1, -1):
            d_inv = 1.0 / work.d[k]
            for row in range(6):
                # K_k = S_k' f,  f -= U_k K_k / d_k
                nx, ny, nz, fx, fy, fz = f[row, 0], f[row, 1], f[row, 2], f[row, 3], f[row, 4], f[row, 5]
                K[k - 1, column + row] = force_along(model, k, nx, ny, nz, fx, fy, fz)
                f[row, 0], f[row, 1], f[row, 2], f[row, 3], f[row, 4], f[row, 5] = force_past_velocity(
                    work, k, K[k - 1, column + row] * d_inv, nx, ny, nz, fx, fy, fz
                )
        for row in range(6):
            # f = X_j' f
            f[row, 0], f[row, 1], f[row, 2], f[row, 3], f[row, 4], f[row, 5] = force_at_parent(
                work.E, work.r, j, f[row, 0], f[row, 1], f[row, 2], f[row, 3], f[row, 4], f[row, 5]
            )
        j = model.parent[j]


@kernel
def product_of_frames(model, work, i, row, j, column, K, A):
    """Write the block (6, 6) of A = K' D^-1 K at (row, column) >= of frames of links ``i`` and ``j``.

    On the diagonal, where the frames are one, only the lower triangle is computed. Reads ``model``, K (nv, any) from
    ``propagate_unit_wrenches`` and the array d of ``work``. Rodriguez, Jain & Kreutz-Delgado 1991, section 5.
    """
    # p: the last link that moves both, or is one of them
    p = i
    m = j
    while p != m:
        if p > m:
            p = model.parent[p]
        else:
            m = model.parent[m]
    for k in range(6):
        for c in range(6):
            A[row + k, column + c] = 0.0
    m = model.first[p + 1] - 1
    while m > 0:
        # A += K_m' K_m / d_m
        d_inv = 1.0 / work.d[m]
        for k in range(6):
            K_d = K[m - 1, row + k] * d_inv
            count = 6
            if row == column:
                count = k + 1
            for c in range(count):
                A[row + k, column + c] += K_d * K[m - 1, column + c]
        m = model.before[m]


@kernel
def no_forces(K):
    """Write zeros to K (nv, any)."""
    for k in range(K.shape[0]):
        for column in range(K.shape[1]):
            K[k, column] = 0.0


@kernel
def accelerations(model, work, K):
    """Write M^-1 J' over K (nv, a multiple of 6), of which every column is that of a force, or of a sum of forces.

    Overwrites the array I_A of ``work``: a row of I_A_i has the acceleration of link ``i`` for one of six columns.
    Reads ``model`` and the arrays E r U d of ``work`` that ``articulated_inertias`` writes. RBDA table 7.1, third pass.
    """
    a = work.I_A
    for row in range(6):
        for k in range(6):
            a[0, row, k] = 0.0
    for column in range(0, K.shape[1], 6):
        for i in range(1, model.parent.shape[0]):
            for row in range(6):
                # a_i = X_i a_p
                motion_from_parent(work.E, work.r, a[:, row], i, model.parent[i])
            for k in range(model.first[i], model.first[i + 1]):
                d_inv = 1.0 / work.d[k]
                for row in range(6):
                    # qdd_k = (K_k - U_k' a_i) / d_k,  a_i += S_k qdd_k
                    qdd_k = (K[k - 1, column + row] - dot(work.U, k, a[:, row], i)) * d_inv
                    K[k - 1, column + row] = qdd_k
                    for m in range(6):
                        a[i, row, m] += model.S[k, m] * qdd_k


@kernel
def mirror(A):
    """Write the upper triangle of a symmetric matrix A (any, any) of which the lower one is given."""
    for row in range(A.shape[0]):
        for column in range(row):
            A[column, row] = A[row, column]
