"""Impulses at the position limits, in compiled code."""

from robot_dynamics_ros.jit.decorators import kernel

MOST_SWEEPS = 50
"""Number of times that impulses at the position limits are repeated until no joint moves outwards."""


@kernel
def is_beyond(stops, x, nv) -> bool:
    """Return whether a joint is beyond its position limits."""
    count = x.u.shape[0] // nv
    nq = x.q.shape[0] // count
    for b in range(count):
        for j in range(stops.lower.shape[0]):
            position = x.q[b * nq + stops.coordinates[j]]
            if position < stops.lower[j] or position > stops.upper[j]:
                return True
    return False


@kernel
def stop(stops, x, nv) -> None:
    """Write q and qd with all joints within their position limits.

    A joint that moves outwards at its limit gets the impulse p that reverses its velocity, times the restitution:
    qd = qd - M^-1 e p, p = (1 + restitution) qd_j / (M^-1)_jj, M^-1 at the position before. Other joints follow.
    """
    count, size, qd = x.u.shape[0] // nv, nv * nv, x.qd[0]
    nq = x.q.shape[0] // count
    for b in range(count):
        for j in range(stops.lower.shape[0]):
            position = x.q[b * nq + stops.coordinates[j]]
            x.q[b * nq + stops.coordinates[j]] = min(max(position, stops.lower[j]), stops.upper[j])
        for _ in range(MOST_SWEEPS):
            meets = False
            for j in range(stops.lower.shape[0]):
                position, v = x.q[b * nq + stops.coordinates[j]], stops.velocities[j]
                before = qd[b * nv + v]
                if (position >= stops.upper[j] and before > 0.0) or (position <= stops.lower[j] and before < 0.0):
                    meets = True
                    impulse = (1.0 + stops.restitution) * before / x.M_inv[b * size + v * nv + v]
                    for i in range(nv):
                        qd[b * nv + i] = qd[b * nv + i] - x.M_inv[b * size + i * nv + v] * impulse
                    qd[b * nv + v] = -stops.restitution * before
            if not meets:
                break
