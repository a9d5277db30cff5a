"""Derivatives of forward dynamics, including the inverse of the mass matrix."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.crba_forward import crba_forward
from robot_dynamics_ros.kernels.ltdl import ltdl_solve_rows
from robot_dynamics_ros.kernels.motion import no_motion
from robot_dynamics_ros.kernels.rnea_derivatives import rnea_derivatives


@kernel
def forward_derivatives(model, work, q, qd, tau, gravity, f_ext, D_f, D):
    """Write D (3, nv, nv), the derivatives of qdd = FD(q, qd, tau) with respect to q, qd and tau; the last is M^-1.

    Columns and D_f as in ``rnea_derivatives``, other arguments as in ``aba`` for a base at rest. Writes all of ``D``
    and the arrays E r w v a B f I_c d M h rest still qdd b G Psi_d Psi_dd S_d F_q F_qd F_M C Y of ``work``.

    The chain rule on M FD + C = tau + tau_s (Featherstone & Orin 2000, eq. 15 without loops), tau_s the torques of
    springs: dFD = M^-1 (dtau + dtau_s - dID) (Carpentier & Mansard 2018).
    """
    # qdd = FD(q, qd, tau), M = L' D L
    no_motion(work)
    crba_forward(model, work, q, qd, tau, work.still, work.still, gravity, f_ext, work.qdd)
    rnea_derivatives(model, work, q, qd, work.qdd, gravity, f_ext, D_f, D)
    by_mass_matrix(model, work, D)


@kernel
def by_mass_matrix(model, work, D):
    """Write D (3, nv, nv), derivatives of inverse dynamics before, as those of forward dynamics.

    Writes the array Y of ``work``. Reads ``model`` and M and d of ``work``, the factors of the mass matrix.
    Carpentier & Mansard 2018, section 4.
    """
    n = D.shape[1]
    end = work.Y.shape[1]
    # Y = [dID_q dID_qd 0 1], the columns of 1 in reverse order
    for row in range(n):
        for column in range(n):
            work.Y[row, column] = D[0, row, column]
        for column in range(n):
            work.Y[row, n + column] = D[1, row, column]
        # - d tau_s / dq
        work.Y[row, row] += model.stiffness[row + 1]
        for column in range(2 * n, end):
            work.Y[row, column] = 0.0
        work.Y[row, end - 1 - row] = 1.0
    ltdl_solve_rows(model, work.M, work.d, work.Y)
    # dFD_q = -M^-1 dID_q,  dFD_qd = -M^-1 dID_qd,  dFD_tau = M^-1
    for row in range(n):
        for column in range(n):
            D[0, row, column] = -work.Y[row, column]
        for column in range(n):
            D[1, row, column] = -work.Y[row, n + column]
        for column in range(row + 1):
            D[2, row, column] = work.Y[column, end - 1 - row]
            D[2, column, row] = D[2, row, column]
