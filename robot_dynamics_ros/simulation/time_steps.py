"""One time step of states in flat rows, in compiled code: a stage evaluates the derivative of all of them at once."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.friction import friction_of
from robot_dynamics_ros.kernels.position_steps import position_after, step_velocity


@kernel
def _add(x, a, y, result):
    """Write result = x + a y; one loop for one sum, which LLVM makes vector instructions of."""
    for k in range(result.shape[0]):
        result[k] = x[k] + a * y[k]


@kernel
def begin_stage(model, plan, x, s) -> None:
    """Write q_s, qd_s and u: the state of stage ``s``; the first one begins at q and qd."""
    step = plan.h * plan.nodes[s]
    if plan.elementary:
        # q_s = q + h node qd_s of the stage before
        _add(x.q, step, x.qd if s == 1 else x.qd_s, x.q_s)
    else:
        # u = h node K,  q_s = q (+) u
        K = x.qd if s == 1 else x.K
        for k in range(x.qd.shape[0]):
            x.u[k] = step * K[k]
        _move(model, x.q, x.u, x.q_s)
    # qd_s = qd + h node qdd of the stage before
    _add(x.qd, step, x.qdd, x.qd_s)


@kernel
def _move(model, q, u, end):
    """Write the positions ``end`` after steps u from q, all in flat rows."""
    nv = model.S.shape[0] - 1
    count = u.shape[0] // nv
    nq = q.shape[0] // count
    for b in range(count):
        position_after(model, q[b * nq : (b + 1) * nq], u[b * nv : (b + 1) * nv], end[b * nq : (b + 1) * nq])


@kernel
def subtract_friction(friction, x, qd) -> None:
    """Write net, the torque that the joints transmit at qd: net + friction(qd, net) = tau."""
    nv = friction.load.shape[0]
    for b in range(qd.shape[0] // nv):
        for i in range(nv):
            still = friction_of(
                friction.viscous[i],
                friction.coulomb[i],
                friction.offset[i],
                friction.transition[i],
                friction.stribeck[i],
                friction.stribeck_velocity[i],
                0.0,
                qd[b * nv + i],
                0.0,
            )
            # load sign(qd), friction per transmitted torque
            ratio = friction_of(0.0, 0.0, 0.0, friction.transition[i], 0.0, 1.0, friction.load[i], qd[b * nv + i], 1.0)
            rest = x.tau[b * nv + i] - still
            x.net[b * nv + i] = rest / (1.0 + (ratio if rest > 0.0 else -ratio))


@kernel
def end_stage(model, plan, x, s) -> None:
    """Write or increase the sums dq, dqd and work by those of stage ``s``, once its qdd is known."""
    step, qd = plan.h * plan.weights[s], x.qd if s == 0 else x.qd_s
    if plan.elementary or s == 0:
        # u = 0
        K = qd
    else:
        K, nv = x.K, model.S.shape[0] - 1
        for b in range(qd.shape[0] // nv):
            i, j = b * nv, (b + 1) * nv
            step_velocity(model, x.u[i:j], qd[i:j], K[i:j])
    if s == 0:
        for k in range(x.qd.shape[0]):
            x.dq[k] = step * K[k]
        for k in range(x.qd.shape[0]):
            x.dqd[k] = step * x.qdd[k]
    else:
        _add(x.dq, step, K, x.dq)
        _add(x.dqd, step, x.qdd, x.dqd)
    if plan.work:
        net = x.net if plan.friction else x.tau
        for k in range(x.qd.shape[0]):
            x.work[k] = x.work[k] + step * net[k] * qd[k]


@kernel
def end_step(model, plan, x) -> None:
    """Write q and qd after the step."""
    _add(x.qd, 1.0, x.dqd, x.qd)
    if plan.semi_implicit:
        for k in range(x.qd.shape[0]):
            x.dq[k] = plan.h * x.qd[k]
    if plan.elementary:
        _add(x.q, 1.0, x.dq, x.q)
    else:
        _move(model, x.q, x.dq, x.q)


@kernel
def is_finite(x) -> bool:
    """Return whether all velocities are finite; those of a state that diverges stay infinite or NaN."""
    wrong = 0
    for k in range(x.qd.shape[0]):
        wrong += x.qd[k] - x.qd[k] != 0.0
    return wrong == 0
