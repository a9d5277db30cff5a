"""One compiled Runge-Kutta step of a batch of states: a stage evaluates the derivatives of the whole batch."""

from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Matrix
from robot_dynamics_ros.kernels.friction import joint_friction, unloaded
from robot_dynamics_ros.kernels.position_steps import position_after, step_velocity
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.simulation.step_arrays import Buffers, Plan


@kernel
def _add(x, a, y, result):
    """Write result = x + a y; one loop for one sum, which LLVM makes vector instructions of."""
    for k in range(result.shape[0]):
        result[k] = x[k] + a * y[k]


@compiled(given='s')
@kernel
def begin_stage(model: ModelArrays, plan: Plan, x: Buffers, s: int) -> None:
    """Write q_s, qd[s] and u: the state of stage ``s`` > 0."""
    step = plan.h * plan.nodes[s]
    if plan.elementary:
        # q_s = q + h node qd of the stage before
        _add(x.q, step, x.qd[s - 1], x.q_s)
    else:
        # u = h node K of the stage before,  q_s = q (+) u
        for k in range(x.u.shape[0]):
            x.u[k] = step * x.K[s - 1, k]
        _move(model, x.q, x.u, x.q_s)
    # qd[s] = qd + h node qdd of the stage before
    _add(x.qd[0], step, x.qdd[s - 1], x.qd[s])


@kernel
def _move(model, q, u, end):
    """Write the positions ``end`` after steps u from q, all in flat rows."""
    nv = model.S.shape[0] - 1
    count = u.shape[0] // nv
    nq = q.shape[0] // count
    for b in range(count):
        position_after(model, q[b * nq : (b + 1) * nq], u[b * nv : (b + 1) * nv], end[b * nq : (b + 1) * nq])


@compiled(given='s')
@kernel
def subtract_friction(friction: Matrix, x: Buffers, s: int) -> None:
    """Write net, the torque that the joints transmit in stage ``s``: net + friction(qd, net) = tau."""
    nv, qd = friction.shape[1], x.qd[s]
    for b in range(qd.shape[0] // nv):
        for i in range(nv):
            speed = qd[b * nv + i]
            rest = x.tau[b * nv + i] - joint_friction(friction, i, speed, 0.0)
            x.net[b * nv + i] = unloaded(friction, i, speed, rest)


@compiled(given='s')
@kernel
def end_stage(model: ModelArrays, plan: Plan, x: Buffers, s: int) -> None:
    """Write K[s], unless it is qd[s], and increase the work by that of stage ``s``, once its qdd is known."""
    nv, qd = model.S.shape[0] - 1, x.qd[s]
    if not plan.elementary:
        K = x.K[s]
        if s == 0:
            # u = 0
            for k in range(qd.shape[0]):
                K[k] = qd[k]
        else:
            for b in range(qd.shape[0] // nv):
                i, j = b * nv, (b + 1) * nv
                step_velocity(model, x.u[i:j], qd[i:j], K[i:j])
    if plan.work:
        step, net = plan.h * plan.weights[s], x.net if plan.friction else x.tau
        for k in range(qd.shape[0]):
            x.work[k] = x.work[k] + step * net[k] * qd[k]


@compiled()
@kernel
def end_step(model: ModelArrays, plan: Plan, x: Buffers) -> None:
    """Write q and qd[0] after the step."""
    if not plan.semi_implicit:
        _weighted_sum(plan, x.qd if plan.elementary else x.K, x.u)
    _weighted_sum(plan, x.qdd, x.dqd)
    _add(x.qd[0], 1.0, x.dqd, x.qd[0])
    if plan.semi_implicit:
        for k in range(x.u.shape[0]):
            x.u[k] = plan.h * x.qd[0, k]
    move_positions(model, plan, x)


@compiled()
@kernel
def move_positions(model: ModelArrays, plan: Plan, x: Buffers) -> None:
    """Write q = q (+) u."""
    if plan.elementary:
        _add(x.q, 1.0, x.u, x.q)
    else:
        _move(model, x.q, x.u, x.q)


@compiled()
@kernel
def change_velocities(x: Buffers) -> None:
    """Write qd[0] = qd[0] + u."""
    _add(x.qd[0], 1.0, x.u, x.qd[0])


@kernel
def _weighted_sum(plan, rates, result):
    """Write result = h times the weighted sum of ``rates`` (stages, count nv), of one stage or four."""
    a, first = plan.h * plan.weights[0], rates[0]
    if rates.shape[0] == 1:
        for k in range(result.shape[0]):
            result[k] = a * first[k]
    else:
        b, c, d = plan.h * plan.weights[1], plan.h * plan.weights[2], plan.h * plan.weights[3]
        second, third, fourth = rates[1], rates[2], rates[3]
        for k in range(result.shape[0]):
            total = a * first[k]
            total = total + b * second[k]
            total = total + c * third[k]
            result[k] = total + d * fourth[k]


@kernel
def is_finite(x) -> bool:
    """Return whether all states are finite; one that diverges stays infinite or NaN."""
    wrong = 0
    q, qd = x.q, x.qd[0]
    for k in range(q.shape[0]):
        wrong += q[k] - q[k] != 0.0
    for k in range(qd.shape[0]):
        wrong += qd[k] - qd[k] != 0.0
    return wrong == 0
