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
    work: np.ndarray  # (count)      J, of net since the start
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
    forward_last: int
    vectors: np.ndarray  # (3 or 4,) int64   addresses of q_s, qd_s, the torque, and wrenches
    inverse: int
    inverse_last: int
    positions: np.ndarray  # (1,) int64      address of q
    load: np.ndarray  # (19,)
    states: int


@kernel
def _begin_stage(model, plan, x, node):
    """Write q_s, qd_s and u: the state of a stage, at ``node`` of the step."""
    step = plan.h * node
    if plan.elementary:
        # q_s = q + h node qd_s,  qd_s = qd + h node qdd of the stage before
        for k in range(x.q.shape[0]):
            x.q_s[k] = x.q[k] + step * x.qd_s[k]
            x.qd_s[k] = x.qd[k] + step * x.qdd[k]
    else:
        # u = h node K,  q_s = q (+) u
        nv = model.S.shape[0] - 1
        for k in range(x.qd.shape[0]):
            x.u[k] = step * x.K[k]
            x.qd_s[k] = x.qd[k] + step * x.qdd[k]
        _move(model, nv, x.q, x.u, x.q_s)


@kernel
def _move(model, nv, q, u, end):
    """Write the positions ``end`` after steps u from q, all in flat rows."""
    count = u.shape[0] // nv
    nq = q.shape[0] // count
    for b in range(count):
        position_after(model, q[b * nq : (b + 1) * nq], u[b * nv : (b + 1) * nv], end[b * nq : (b + 1) * nq])


@kernel
def _subtract_friction(friction, x):
    """Write net, the torque that the joints transmit: net + friction(qd_s, net) = tau."""
    nv = friction.load.shape[0]
    for b in range(x.work.shape[0]):
        for i in range(nv):
            still = friction_of(
                friction.viscous[i],
                friction.coulomb[i],
                friction.offset[i],
                friction.transition[i],
                friction.stribeck[i],
                friction.stribeck_velocity[i],
                0.0,
                x.qd_s[b * nv + i],
                0.0,
            )
            # load sign(qd), friction per transmitted torque
            ratio = friction_of(
                0.0, 0.0, 0.0, friction.transition[i], 0.0, 1.0, friction.load[i], x.qd_s[b * nv + i], 1.0
            )
            rest = x.tau[b * nv + i] - still
            x.net[b * nv + i] = rest / (1.0 + (ratio if rest > 0.0 else -ratio))


@kernel
def _end_stage(model, plan, x, s):
    """Write or increase the sums dq, dqd and work by those of stage ``s``, once its qdd is known."""
    step, nv = plan.h * plan.weights[s], model.S.shape[0] - 1
    if not plan.elementary:
        for b in range(x.work.shape[0]):
            i, j = b * nv, (b + 1) * nv
            step_velocity(model, x.u[i:j], x.qd_s[i:j], x.K[i:j])
    K = x.qd_s if plan.elementary else x.K
    if s == 0:
        for k in range(x.qd.shape[0]):
            x.dq[k] = step * K[k]
            x.dqd[k] = step * x.qdd[k]
    else:
        for k in range(x.qd.shape[0]):
            x.dq[k] = x.dq[k] + step * K[k]
            x.dqd[k] = x.dqd[k] + step * x.qdd[k]
    if plan.work:
        net = x.net if plan.friction else x.tau
        for b in range(x.work.shape[0]):
            power = 0.0
            for k in range(b * nv, (b + 1) * nv):
                power = power + net[k] * x.qd_s[k]
            x.work[b] = x.work[b] + step * power


@kernel
def _end_step(model, plan, x):
    """Write q and qd after the step; return whether all velocities are finite."""
    bad = 0
    for k in range(x.qd.shape[0]):
        x.qd[k] = x.qd[k] + x.dqd[k]
        bad |= x.qd[k] * 0.0 != 0.0
    if plan.semi_implicit:
        for k in range(x.qd.shape[0]):
            x.dq[k] = plan.h * x.qd[k]
    if plan.elementary:
        for k in range(x.q.shape[0]):
            x.q[k] = x.q[k] + x.dq[k]
    else:
        _move(model, model.S.shape[0] - 1, x.q, x.dq, x.q)
    return bad == 0


@kernel
def _is_beyond(stops, x, nv):
    """Return whether a joint is beyond its position limits."""
    nq = x.q.shape[0] // x.work.shape[0]
    for b in range(x.work.shape[0]):
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
    nq, size = x.q.shape[0] // x.work.shape[0], nv * nv
    for b in range(x.work.shape[0]):
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
def trajectory(model, plan, x, calls, torque, friction, stops, q, qd, work):
    """Write q (count, samples, nq), qd and work (count, samples) of all steps; return 0, or the step that diverges.

    ``torque`` (1 or count, 1 or steps, nv) is held during each step. ``x`` has the states at the start; its further
    rows are copies that complete a block.
    """
    nq, nv = q.shape[2], qd.shape[2]
    for k in range(plan.steps):
        if plan.work and (k == 0 or torque.shape[1] > 1):
            for b in range(x.work.shape[0]):
                row = min(b, torque.shape[0] - 1)
                for i in range(nv):
                    x.tau[b * nv + i] = torque[row, min(k, torque.shape[1] - 1), i]
        for s in range(plan.nodes.shape[0]):
            _begin_stage(model, plan, x, plan.nodes[s])
            if plan.friction:
                _subtract_friction(friction, x)
            call_rows(calls.forward, calls.vectors, calls.load, x.qdd, calls.states, calls.forward_last)
            _end_stage(model, plan, x, s)
        if not _end_step(model, plan, x):
            return k + 1
        if plan.limits and _is_beyond(stops, x, nv):
            call_rows(calls.inverse, calls.positions, calls.load, x.M_inv, calls.states, calls.inverse_last)
            _stop(stops, x, nv)
        if (k + 1) % plan.every == 0:
            sample = (k + 1) // plan.every
            for b in range(q.shape[0]):
                for i in range(nq):
                    q[b, sample, i] = x.q[b * nq + i]
                for i in range(nv):
                    qd[b, sample, i] = x.qd[b * nv + i]
                work[b, sample] = x.work[b]
    return 0


@entry
def begin_stage(model, plan, x, node):
    """Write the state of a stage."""
    _begin_stage(model, plan, x, node)


@entry
def subtract_friction(friction, x):
    """Write the torque that the joints transmit."""
    _subtract_friction(friction, x)


@entry
def end_stage(model, plan, x, s):
    """Add a stage to the sums of the step."""
    _end_stage(model, plan, x, s)


@entry
def end_step(model, plan, x):
    """Write the state after the step; return whether all velocities are finite."""
    return _end_step(model, plan, x)


@entry
def is_beyond(stops, x, nv):
    """Return whether a joint is beyond its position limits."""
    return _is_beyond(stops, x, nv)


@entry
def stop(stops, x, nv):
    """Write positions and velocities within the position limits."""
    _stop(stops, x, nv)
