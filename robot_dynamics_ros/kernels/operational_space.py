"""Operational-space dynamics of a frame that is fixed to link ``i``; see ``kinematics`` for both frames.

Where the frame cannot move in all six directions, or nearly so, results are not finite: where the condition of
J M^-1 J' may be above 1e12 / 36.
"""

import numpy as np

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.crba import crba
from robot_dynamics_ros.kernels.kinematics import frame_acceleration, jacobian_of_poses
from robot_dynamics_ros.kernels.ltdl import ltdl
from robot_dynamics_ros.kernels.motion import no_motion
from robot_dynamics_ros.kernels.poses import composed_poses
from robot_dynamics_ros.kernels.rnea import rnea


@kernel
def operational_space_inertia(model, work, q, i, rotation, origin, reference_frame, inertia):
    """Write inertia (6, 6; kg m^2, kg m, kg) = (J M^-1 J')^-1 of a frame at q (nq, rad or m), rotors included.

    Writes all of ``inertia`` and the arrays E r f I_c d M T J K A of ``work``. Reads ``model``.

    Khatib 1987, eq. 29, by the factors of M: J M^-1 J' = K' D^-1 K, K = L'^-1 J', where only the rows of velocities
    between the base and the frame are not zero (RBDA section 6.5). M^-1 is not formed.
    """
    frame_inertia_inverse(model, work, q, i, rotation, origin, reference_frame)
    invert(work.A, inertia)


@kernel
def operational_space_inertia_inverse(model, work, q, i, rotation, origin, reference_frame, A):
    """Write A (6, 6; per kg m^2, kg m, kg) = J M^-1 J' of a frame at q (nq, rad or m), rotors included.

    Writes all of ``A`` and the arrays E r f I_c d M T J K A of ``work``. Reads ``model``. RBDA section 6.5.
    """
    frame_inertia_inverse(model, work, q, i, rotation, origin, reference_frame)
    for row in range(6):
        for column in range(row + 1):
            A[row, column] = work.A[row, column]
            A[column, row] = work.A[row, column]


@kernel
def consistent_inverse(model, work, q, i, rotation, origin, reference_frame, inverse):
    """Write inverse (nv, 6; rad or m per rad, m) = M^-1 J' (J M^-1 J')^-1 of a frame at q (nq, rad or m).

    Writes all of ``inverse`` and the arrays E r f I_c d M T J K A Lambda of ``work``. Reads ``model``.
    Khatib 1987, eq. 36.
    """
    frame_inertia_inverse(model, work, q, i, rotation, origin, reference_frame)
    invert(work.A, work.Lambda)
    for k in range(1, inverse.shape[0] + 1):
        # D^-1 K Lambda
        for row in range(6):
            inverse[k - 1, row] = 0.0
            for column in range(6):
                inverse[k - 1, row] += work.K[k - 1, column] * work.Lambda[row, column]
            inverse[k - 1, row] *= work.d[k]
        # x = L^-1 x
        j = model.before[k]
        while j > 0:
            for row in range(6):
                inverse[k - 1, row] -= work.M[k - 1, j - 1] * inverse[j - 1, row]
            j = model.before[j]


@kernel
def operational_space_bias(model, work, q, qd, qdd, gravity, f_ext, i, rotation, origin, reference_frame, bias):
    """Write bias (6; N m, N) = Lambda (J M^-1 h - a), h = ID(q, qd, qdd) and a the frame's acceleration for qdd.

    With qdd = 0 (nv), J M^-1 h - a is minus the acceleration of the frame without joint torques. ``a`` is without
    gravity. Writes ``bias`` and the arrays E r w v a B f I_c d M h T J K A Lambda rest still of ``work``. Other
    arguments as ``rnea``. Khatib 1987, eq. 30, 31.
    """
    no_motion(work)
    rnea(model, work, q, qd, qdd, work.still, work.still, gravity, f_ext, work.h)
    frame_acceleration(model, work, q, qd, qdd, i, rotation, origin, reference_frame, bias)
    frame_inertia_inverse(model, work, q, i, rotation, origin, reference_frame)
    invert(work.A, work.Lambda)
    # h = L'^-1 h
    n = work.h.shape[0]
    for k in range(n, 0, -1):
        j = model.before[k]
        while j > 0:
            work.h[j - 1] -= work.M[k - 1, j - 1] * work.h[k - 1]
            j = model.before[j]
    # J M^-1 h = K' D^-1 h
    for row in range(6):
        work.A[row, 0] = -bias[row]
        for k in range(1, n + 1):
            work.A[row, 0] += work.K[k - 1, row] * work.d[k] * work.h[k - 1]
    for row in range(6):
        bias[row] = 0.0
        for column in range(6):
            bias[row] += work.Lambda[row, column] * work.A[column, 0]


@kernel
def frame_inertia_inverse(model, work, q, i, rotation, origin, reference_frame):
    """Write A (6, 6) = J M^-1 J' = K' D^-1 K of ``work``, the lower triangle, and K (nv, 6) = L'^-1 J'.

    Writes the arrays E r f I_c d M T J K A of ``work``: M has L, d has 1 / D. Reads ``model``. RBDA section 6.5.
    """
    A, K, L = work.A, work.K, work.M
    crba(model, work, q, L)
    ltdl(model, L, work.d)
    # E and r are those of ``crba``; J as forces that pass the links beside those of M needs 1.9 times its products
    composed_poses(model, work, i)
    jacobian_of_poses(model, work, i, rotation, origin, reference_frame, work.J)
    for row in range(6):
        for column in range(row + 1):
            A[row, column] = 0.0
        for k in range(K.shape[0]):
            K[k, row] = work.J[row, k]
    # from the velocity of the frame's joint, or the nearest one before it, to the base
    k = model.first[i + 1] - 1
    while k > 0:
        # A += K_k K_k' / D_k
        for row in range(6):
            K_d = K[k - 1, row] * work.d[k]
            for column in range(row + 1):
                A[row, column] += K_d * K[k - 1, column]
        # K_j -= L_kj K_k for each velocity j before k
        j = model.before[k]
        while j > 0:
            for row in range(6):
                K[j - 1, row] -= L[k - 1, j - 1] * K[k - 1, row]
            j = model.before[j]
        k = model.before[k]


@kernel
def invert(A, A_inv):
    """Write A_inv (m, m) = A^-1 of a symmetric matrix (m, m) of which only the lower triangle is read.

    Writes ``A_inv``, which may be ``A``, and ``A``: its lower triangle becomes the inverse of the Cholesky factor.
    Results are not finite if A is not positive definite or if tr(A) tr(A^-1), an upper bound of its condition, is above
    1e12. Golub & Van Loan 2013, algorithm 4.2.1.
    """
    m = A.shape[0]
    trace = A[0, 0]
    for k in range(1, m):
        trace += A[k, k]
    # A = L L', 1 / L_kk on the diagonal
    for k in range(m):
        for j in range(k):
            A[k, k] -= A[k, j] * A[k, j]
        A[k, k] = 1.0 / np.sqrt(A[k, k])
        for row in range(k + 1, m):
            for j in range(k):
                A[row, k] -= A[row, j] * A[k, j]
            A[row, k] *= A[k, k]
    # L^-1, column by column
    for k in range(m):
        for row in range(k + 1, m):
            A[row, k] *= A[k, k]
            for j in range(k + 1, row):
                A[row, k] += A[row, j] * A[j, k]
            A[row, k] = -(A[row, row] * A[row, k])
    # A^-1 = L'^-1 L^-1: a row of it needs no row of L^-1 before its own
    for row in range(m):
        for column in range(row + 1):
            x = A[row, row] * A[row, column]
            for k in range(row + 1, m):
                x += A[k, row] * A[k, column]
            A_inv[row, column] = x
            A_inv[column, row] = x
    # 0 if tr(A) tr(A^-1) < 1e12, else NaN
    trace_of_inverse = A_inv[0, 0]
    for k in range(1, m):
        trace_of_inverse += A_inv[k, k]
    margin = np.sqrt(1e12 - trace * trace_of_inverse)
    A_inv[0, 0] += margin - margin
