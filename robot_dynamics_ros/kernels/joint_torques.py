"""Joint torques besides rigid-body dynamics: springs, friction of motors and gears, and a learnt residual.

A motor gives tau = tau_t + friction(qd, tau_t) + residual(q, qd). It transmits tau_t = M qdd + c + g - tau_s, with the
torque of the spring tau_s. So friction that grows with the load grows with tau_t.
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.friction import friction_torque, unloaded
from robot_dynamics_ros.kernels.joint_springs import against_spring
from robot_dynamics_ros.kernels.residual import residual_torque


@kernel
def add_joint_torques(model, work, q, qd, friction, W, residual, tau):
    """Write tau (nv, N m or N) += what springs, friction and residual take at q (nq, rad or m), qd (nv, per s).

    Friction and W as in ``friction_torque``; residual (nv, 16) as in ``residual_torque``, (0, 16) for none. Writes
    ``tau`` and the arrays h net of ``work``; reads ``model``.
    """
    n = tau.shape[0]
    for k in range(n):
        # tau_t = tau - tau_s
        tau[k] += against_spring(model, q, k + 1)
    friction_torque(friction, W, qd, tau, work.h, work.net)
    for k in range(n):
        # tau = tau_t + friction
        tau[k] += work.net[k]
    for k in range(residual.shape[0]):
        tau[k] += residual_torque(residual, k, q[k], qd[k])


@kernel
def transmitted_torque(model, work, q, qd, tau, friction, W, residual):
    """Write the array net of ``work`` (nv, N m or N): tau_t of torques tau (nv) at q (nq, rad or m), qd (nv, per s).

    Arguments as in ``add_joint_torques``; where W is not empty, no friction may depend on the load. Writes the arrays h
    net of ``work`` and reads rest.
    """
    friction_torque(friction, W, qd, work.rest, work.h, work.net)
    for k in range(residual.shape[0]):
        work.net[k] += residual_torque(residual, k, q[k], qd[k])
    for k in range(tau.shape[0]):
        # tau_t + load |tau_t| sign(qd) = tau - friction - residual
        work.net[k] = unloaded(friction, k, qd[k], tau[k] - work.net[k])
