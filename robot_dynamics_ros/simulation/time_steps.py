"""One time step of a robot in compiled code, and a whole trajectory of such steps without a call of Python.

States are rows of flat arrays; a stage evaluates the derivative of all of them at once. With a torque of Python the
same functions are called stage by stage, so that both give the same bits.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.jit.address_call import call_rows
from robot_dynamics_ros.jit.decorators import entry, kernel
from robot_dynamics_ros.kernels.friction import friction_of
from robot_dynamics_ros.kernels.position_steps import position_after, step_velocity

MOST_SWEEPS = 50
"""Number of times that impulses at the position limits are repeated until no joint moves outwards."""


class Plan(NamedTuple):
    """Method and length of a simulation, the same for all states."""

    h: float  # s, one step
    nodes: np.ndarray  # (stages,)      of the time step; u = h node K is the step to the state of a stage
    weights: np.ndarray  # (stages,)    of the derivatives in a step
    semi_implicit: bool  # whether positions move at the velocity after the step
    elementary: bool  # whether a position's step is a sum of coordinates
    friction: bool
    work: bool  # whether there is a torque
    limits: bool
    steps: int
    every: int  # steps between two samples


class Buffers(NamedTuple):
    """Arrays of ``count`` states in rows, flat."""

    q: np.ndarray  # (count nq)      at the beginning of the step
    qd: np.ndarray  # (count nv)
    q_s: np.ndarray  # (count nq)    of the stage
    qd_s: np.ndarray  # (count nv)
    u: np.ndarray  # (count nv)      step from q to q_s
    K: np.ndarray  # (count nv)      velocity of the step, du/dt
    qdd: np.ndarray  # (count nv)
    tau: np.ndarray  # (count nv)    applied torque
    net: np.ndarray  # (count nv)    applied torque minus friction
    dq: np.ndarray  # (count nv)     h times the weighted sum of K
    dqd: np.ndarray  # (count nv)    h times the weighted sum of qdd
    work: np.ndarray  # (count nv)   J, of net since the start
    M_inv: np.ndarray  # (count nv nv), or (0) without limits


class Stops(NamedTuple):
    """Position limits of the joints that have some."""

    coordinates: np.ndarray  # (m,) int64    index in q
    velocities: np.ndarray  # (m,) int64     index in qd
    lower: np.ndarray  # (m,) rad, m
    upper: np.ndarray  # (m,) rad, m
    restitution: float  # velocity after an impact / minus velocity before it


class Calls(NamedTuple):
    """Code of forward dynamics and of the inverse mass matrix for the rows of ``Buffers``; see ``array_call.Rows``."""

    forward: int
    forward_last: int  # argument of that code
    start: np.ndarray  # (3 or 4,) int64     addresses of q, qd, the torque, and wrenches
    stage: np.ndarray  # (3 or 4,) int64     the same with q_s and qd_s
    inverse: int
    inverse_last: int
    load: np.ndarray  # (19,)
    states: int


@kernel
def _add(x, a, y, result):
    """Write result = x + a y; one loop for one sum, which LLVM makes vector instructions of."""
    for k in range(result.shape[0]):
        result[k] = x[k] + a * y[k]


@kernel
def _begin_stage(model, plan, x, s):
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
def _subtract_friction(friction, x, qd):
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
def _end_stage(model, plan, x, s):
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
def _end_step(model, plan, x):
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
def _is_finite(x):
    """Return whether all velocities are finite; those of a state that diverges stay infinite or NaN."""
    wrong = 0
    for k in range(x.qd.shape[0]):
        wrong += x.qd[k] - x.qd[k] != 0.0
    return wrong == 0


@kernel
def _is_beyond(stops, x, nv):
    """Return whether a joint is beyond its position limits."""
    count = x.qd.shape[0] // nv
    nq = x.q.shape[0] // count
    for b in range(count):
        for j in range(stops.lower.shape[0]):
            position = x.q[b * nq + stops.coordinates[j]]
            if position < stops.lower[j] or position > stops.upper[j]:
                return True
    return False


@kernel
def _stop(stops, x, nv):
    """Write q and qd with all joints within their position limits.

    A joint that moves outwards at its limit gets the impulse p that reverses its velocity, times the restitution:
    qd = qd - M^-1 e p, p = (1 + restitution) qd_j / (M^-1)_jj, M^-1 at the position before. Other joints follow.
    """
    count, size = x.qd.shape[0] // nv, nv * nv
    nq = x.q.shape[0] // count
    for b in range(count):
        for j in range(stops.lower.shape[0]):
            position = x.q[b * nq + stops.coordinates[j]]
            x.q[b * nq + stops.coordinates[j]] = min(max(position, stops.lower[j]), stops.upper[j])
        for _ in range(MOST_SWEEPS):
            meets = False
            for j in range(stops.lower.shape[0]):
                position, v = x.q[b * nq + stops.coordinates[j]], stops.velocities[j]
                before = x.qd[b * nv + v]
                if (position >= stops.upper[j] and before > 0.0) or (position <= stops.lower[j] and before < 0.0):
                    meets = True
                    impulse = (1.0 + stops.restitution) * before / x.M_inv[b * size + v * nv + v]
                    for i in range(nv):
                        x.qd[b * nv + i] = x.qd[b * nv + i] - x.M_inv[b * size + i * nv + v] * impulse
                    x.qd[b * nv + v] = -stops.restitution * before
            if not meets:
                break


@entry
def trajectory(model, plan, x, calls, torque, friction, stops, first, count, q, qd, work):
    """Write q (samples, all nq), qd (samples, all nv) and work (samples, all) of all steps of ``count`` states.

    ``first`` is the number of their first state among all. ``torque`` (1 or count, 1 or steps, nv) is held during each
    step. ``x`` has the states at the start; its further rows are copies that complete a block. Returns 0, or the step
    of the first sample that is not finite.
    """
    nv = model.S.shape[0] - 1
    nq = x.q.shape[0] // (x.qd.shape[0] // nv)
    for k in range(plan.steps):
        if plan.work and (k == 0 or torque.shape[1] > 1):
            for b in range(x.qd.shape[0] // nv):
                row = min(b, torque.shape[0] - 1)
                for i in range(nv):
                    x.tau[b * nv + i] = torque[row, min(k, torque.shape[1] - 1), i]
        for s in range(plan.nodes.shape[0]):
            if s > 0:
                _begin_stage(model, plan, x, s)
            if plan.friction:
                _subtract_friction(friction, x, x.qd if s == 0 else x.qd_s)
            vectors = calls.start if s == 0 else calls.stage
            call_rows(calls.forward, vectors, calls.load, x.qdd, calls.states, calls.forward_last)
            _end_stage(model, plan, x, s)
        _end_step(model, plan, x)
        if plan.limits and _is_beyond(stops, x, nv):
            call_rows(calls.inverse, calls.start, calls.load, x.M_inv, calls.states, calls.inverse_last)
            _stop(stops, x, nv)
        if (k + 1) % plan.every == 0:
            if not _is_finite(x):
                return k + 1
            sample = (k + 1) // plan.every
            for i in range(count * nq):
                q[sample, first * nq + i] = x.q[i]
            for i in range(count * nv):
                qd[sample, first * nv + i] = x.qd[i]
            if plan.work:
                for b in range(count):
                    for i in range(nv):
                        work[sample, first + b] += x.work[b * nv + i]
    return 0


@entry
def begin_stage(model, plan, x, s):
    """Write the state of a stage."""
    _begin_stage(model, plan, x, s)


@entry
def subtract_friction(friction, x, qd):
    """Write the torque that the joints transmit."""
    _subtract_friction(friction, x, qd)


@entry
def end_stage(model, plan, x, s):
    """Add a stage to the sums of the step."""
    _end_stage(model, plan, x, s)


@entry
def end_step(model, plan, x):
    """Write the state after the step."""
    _end_step(model, plan, x)


@entry
def is_beyond(stops, x, nv):
    """Return whether a joint is beyond its position limits."""
    return _is_beyond(stops, x, nv)


@entry
def stop(stops, x, nv):
    """Write positions and velocities within the position limits."""
    _stop(stops, x, nv)
