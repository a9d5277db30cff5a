"""Impulses at the position limits, in compiled code."""

from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.simulation.step_arrays import Buffers, Stops

MOST_SWEEPS = 50
"""Number of times that impulses at the position limits are repeated until no joint moves outwards."""
NEAR = 1e-13
"""rad, m. Distance from a limit at which steps to it end; ``stop`` does the rest."""
IMMOVABLE = 1e-10
"""Share of a joint's mobility left by the loops below which they hold it: it is rounding."""


@compiled()
@kernel
def is_beyond(stops: Stops, x: Buffers, nv: int) -> bool:
    """Return whether a joint is beyond its position limits; write ``side``."""
    count, beyond = x.u.shape[0] // nv, 0.0
    nq, joints = x.q.shape[0] // count, stops.lower.shape[0]
    for b in range(count):
        for j in range(joints):
            position = x.q[b * nq + stops.coordinates[j]]
            side = 1.0 if position > stops.upper[j] else -1.0 if position < stops.lower[j] else 0.0
            x.side[b * joints + j] = side
            beyond = beyond + side * side
    return beyond > 0.0


@kernel
def _within(stops, j, side, position) -> float:
    """Return the limit of a joint that was beyond it, or the nearest position within the limits."""
    if side > 0.0:
        return stops.upper[j]
    if side < 0.0:
        return stops.lower[j]
    return min(max(position, stops.lower[j]), stops.upper[j])


@compiled()
@kernel
def stop(stops: Stops, x: Buffers, nv: int) -> None:
    """Write q and qd with all joints within their position limits.

    A joint that moves outwards at its limit gets the impulse p that reverses its velocity, times the restitution:
    qd = qd - M^-1 e p, p = (1 + restitution) qd_j / (M^-1)_jj, M^-1 at the position before. Other joints follow. With
    closed loops M^-1 is that of ``end_column``; joints that the loops hold have no impulse.
    """
    count, size, qd = x.u.shape[0] // nv, nv * nv, x.qd[0]
    nq, joints = x.q.shape[0] // count, stops.lower.shape[0]
    for b in range(count):
        for j in range(joints):
            position = x.q[b * nq + stops.coordinates[j]]
            x.q[b * nq + stops.coordinates[j]] = _within(stops, j, x.side[b * joints + j], position)
        for _ in range(MOST_SWEEPS):
            meets = False
            for j in range(joints):
                position, v = x.q[b * nq + stops.coordinates[j]], stops.velocities[j]
                before = qd[b * nv + v]
                outwards = (position >= stops.upper[j] and before > 0.0) or (
                    position <= stops.lower[j] and before < 0.0
                )
                if outwards and x.M_inv[b * size + v * nv + v] > 0.0:
                    meets = True
                    impulse = (1.0 + stops.restitution) * before / x.M_inv[b * size + v * nv + v]
                    for i in range(nv):
                        qd[b * nv + i] = qd[b * nv + i] - x.M_inv[b * size + i * nv + v] * impulse
                    qd[b * nv + v] = -stops.restitution * before
            if not meets:
                break


@compiled(given='v')
@kernel
def begin_column(x: Buffers, nv: int, v: int) -> None:
    """Write change = -J M^-1 e, the rates of closed loops that an impulse at joint velocity ``v`` has to avoid."""
    count = x.u.shape[0] // nv
    m = x.change.shape[0] // count
    for b in range(count):
        for row in range(m):
            rate = 0.0
            for i in range(nv):
                rate = rate + x.J[(b * m + row) * nv + i] * x.M_inv[(b * nv + i) * nv + v]
            x.change[b * m + row] = -rate


@compiled(given='v')
@kernel
def end_column(x: Buffers, nv: int, v: int) -> None:
    """Write M_inv e = M^-1 e + u, the velocities by an impulse at joint velocity ``v`` with all loops closed.

    u = -M^-1 J' (J M^-1 J')^-1 J M^-1 e. Zeros where the loops hold the joint.
    """
    for b in range(x.u.shape[0] // nv):
        free = x.M_inv[(b * nv + v) * nv + v]
        is_held = not free + x.u[b * nv + v] > IMMOVABLE * free
        for i in range(nv):
            velocity = x.M_inv[(b * nv + i) * nv + v] + x.u[b * nv + i]
            x.M_inv[(b * nv + i) * nv + v] = 0.0 if is_held else velocity


@compiled()
@kernel
def step_within(stops: Stops, x: Buffers, nv: int) -> None:
    """Write u, a step that moves joints from beyond their position limits to them: a sum of columns of M_inv."""
    count = x.u.shape[0] // nv
    nq, joints = x.q.shape[0] // count, stops.lower.shape[0]
    for b in range(count):
        for i in range(nv):
            x.u[b * nv + i] = 0.0
        for _ in range(MOST_SWEEPS):
            is_within = True
            for j in range(joints):
                v = stops.velocities[j]
                position, column = x.q[b * nq + stops.coordinates[j]] + x.u[b * nv + v], x.M_inv[(b * nv + v) * nv + v]
                distance = _within(stops, j, x.side[b * joints + j], position) - position
                if abs(distance) > NEAR and column > 0.0:
                    is_within = False
                    for i in range(nv):
                        x.u[b * nv + i] = x.u[b * nv + i] + x.M_inv[(b * nv + i) * nv + v] * (distance / column)
            if is_within:
                break
