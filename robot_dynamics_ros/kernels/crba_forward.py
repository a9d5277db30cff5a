"""Forward dynamics by mass matrix: faster than the articulated-body algorithm for robots of few joints."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.crba import crba
from robot_dynamics_ros.kernels.joint_springs import against_spring
from robot_dynamics_ros.kernels.ltdl import ltdl, ltdl_solve
from robot_dynamics_ros.kernels.motion import no_motion
from robot_dynamics_ros.kernels.rnea import rnea


@kernel
def crba_forward(model, work, q, qd, tau, v_0, a_0, gravity, f_ext, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2), the joint accelerations under the joint torques tau (nv, N m or N).

    Writes ``qdd`` and the arrays E r w a B f I_c d M h rest still of ``work``. Arguments as ``aba``.
    M(q) qdd = tau + tau_s - h(q, qd): method 3 of Walker & Orin 1982 (Featherstone & Orin 2000, section 2).
    """
    # h = ID(q, qd, 0)
    no_motion(work)
    rnea(model, work, q, qd, work.rest, v_0, a_0, gravity, f_ext, work.h)
    solve_by_mass_matrix(model, work, q, tau, qdd)


@kernel
def solve_by_mass_matrix(model, work, q, tau, qdd):
    """Write qdd (nv) = M(q)^-1 (tau + tau_s - h), h of ``work``, tau_s the torques of springs.

    Writes ``qdd`` and the arrays E r I_c f M d of ``work``: M has L, d has 1 / D. RBDA section 6.5.
    """
    # M = L' D L
    crba(model, work, q, work.M)
    ltdl(model, work.M, work.d)
    # qdd = M^-1 (tau + tau_s - h), tau_s the torques of springs
    for k in range(tau.shape[0]):
        qdd[k] = tau[k] - against_spring(model, q, k + 1) - work.h[k]
    ltdl_solve(model, work.M, work.d, qdd)
