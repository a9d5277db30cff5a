"""Forward dynamics by mass matrix: faster than the articulated-body algorithm for robots of few joints."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.crba import crba
from robot_dynamics_ros.kernels.ltdl import ltdl, ltdl_solve
from robot_dynamics_ros.kernels.rnea import rnea


@kernel
def crba_forward(model, work, q, qd, tau, gravity, f_ext, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2), the joint accelerations under the joint torques tau (nv, N m or N).

    Writes ``qdd`` and all rows of ``work`` that ``rnea``, ``crba`` and ``ltdl`` write, M and h. Arguments as ``aba``.
    M(q) qdd = tau - h(q, qd): method 3 of Walker & Orin 1982 (Featherstone & Orin 2000, section 2).
    """
    # h = ID(q, qd, 0)
    for k in range(tau.shape[0]):
        work.rest[k] = 0.0
    rnea(model, work, q, qd, work.rest, gravity, f_ext, work.h)
    # M = L' D L
    crba(model, work, q, work.M)
    ltdl(model, work.M, work.d)
    # qdd = M^-1 (tau - h)
    for k in range(tau.shape[0]):
        qdd[k] = tau[k] - work.h[k]
    ltdl_solve(model, work.M, work.d, qdd)
