"""Lead: one polynomial from a reference state to a trajectory, within velocity and acceleration limits.

It begins at the position, velocity and acceleration of the reference and ends in those of the trajectory at the join
time t_J: a quintic, or a cubic where no acceleration is known there. t_J is the earliest of the times tried, ``GROWTH``
apart in the duration of the lead, at which

    |qd| <= max(limit, |qd| + |qdd| MIN_LEAD / 2 at both ends)     and     |qdd| <= max(limit, |qdd| at both ends)

at ``SAMPLES`` times along the lead: what the ends have already can't be avoided. Between the samples a quintic exceeds
that by 0.5 % at most. A lead that leaves the position limits is none: one that is longer leaves them further.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.control.trajectories.trajectory import cubic, quintic, sample
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Array3, Matrix, Vector

MIN_LEAD = 0.05
"""Shortest duration of a lead, s: noise dt in the time of a point costs an acceleration of 6 qd dt / duration^2."""
GROWTH = 1.05
SAMPLES = 24
ALREADY_THERE = 1e-5
"""rad, rad/s, m or m/s by which a reference may differ from a trajectory that it is on."""
MOVING, PLACE, PASSAGE = range(3)
"""Where a lead ends: on a trajectory, at its state then; at the one state of a point, whenever that is reached, with or
without an acceleration."""
LONGEST_STOP = 10.0
"""s that a motion may take to come to rest after its last point."""
BEGIN, JOIN, SHIFT = range(3)
"""Times of a lead, s: its begin, its end, and by how much the trajectory is later from then on."""
JOINED, STRETCHED, TOO_LONG, OUTSIDE = 0, 1, -1, -1_000_000
"""Results: joined as early as asked; later, for joint k (STRETCHED + k); not in time, for joint k (TOO_LONG - k); not
within the position limits of joint k (OUTSIDE - k)."""

Limits = tuple[np.ndarray, np.ndarray]
"""Velocity and acceleration limits, (n) each, rad/s and rad/s^2 or m/s and m/s^2; inf: none."""

_sample, _cubic, _quintic = kernel(sample), kernel(cubic), kernel(quintic)


class Segments(NamedTuple):
    """A motion as ``sample`` reads it: times (m), coefficients (m - 1, 6, n) and the position (n) at rest after it."""

    starts: np.ndarray
    coefficients: np.ndarray
    final: np.ndarray


@compiled(given='t earliest latest')
def _lead(
    reference: Matrix,
    target: Matrix,
    velocity_limit: Vector,
    acceleration_limit: Vector,
    lower: Vector,
    upper: Vector,
    starts: Vector,
    coefficients: Array3,
    final: Vector,
    lead: Matrix,
    times: Vector,
    kind: int,
    t: float,
    earliest: float,
    latest: float,
) -> int:
    """Write the coefficients ``lead`` (6, n) and ``times`` (3) of a lead from ``t`` to the segments; return the result.

    Reads q, qd and qdd of ``reference`` (3, n), limits (n each; inf: none), and the segments. A ``kind`` MOVING joins
    them where they are at t_J; of another one only the first state is reached. Writes ``target`` (3, n), the last one.
    t_J is between ``earliest`` and ``latest`` (s). No lead is written where the reference is on a trajectory already.
    """
    n = reference.shape[1]
    times[BEGIN], times[SHIFT] = t, 0.0
    if kind == MOVING and t >= starts[0]:
        _sample(starts, coefficients, final, target[0], target[1], target[2], t)
        is_there = True
        for j in range(n):
            is_there = is_there and abs(target[0, j] - reference[0, j]) <= ALREADY_THERE
            is_there = is_there and abs(target[1, j] - reference[1, j]) <= ALREADY_THERE
        if is_there:
            times[JOIN] = t
            return JOINED
    join, slowest = earliest, -1
    while True:
        T = join - t
        at = join if kind == MOVING else starts[0]
        _sample(starts, coefficients, final, target[0], target[1], target[2], at)
        worst, slow = 1.0 + 1e-9, -1
        for j in range(n):
            p0, v0, a0 = reference[0, j], reference[1, j], reference[2, j]
            p1, v1, a1 = target[0, j], target[1, j], target[2, j]
            c3, c4, c5 = 0.0, 0.0, 0.0
            if kind == PASSAGE:
                a1 = 0.0
                _, _, c2, c3 = _cubic(T, p0, p1, v0, v1)
            else:
                _, _, c2, c3, c4, c5 = _quintic(T, p0, p1, v0, v1, a0, a1)
            lead[0, j], lead[1, j], lead[2, j], lead[3, j], lead[4, j], lead[5, j] = p0, v0, c2, c3, c4, c5
            fastest = max(abs(v0) + 0.5 * MIN_LEAD * abs(a0), abs(v1) + 0.5 * MIN_LEAD * abs(a1), velocity_limit[j])
            largest = max(abs(a0), abs(a1), acceleration_limit[j])
            for k in range(SAMPLES + 1):
                s = T * k / SAMPLES
                v = v0 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))
                a = 2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))
                use = max(abs(v) / fastest, abs(a) / largest)
                if use > worst:
                    worst, slow = use, j
        if slow < 0:
            break
        slowest = slow
        join = t + GROWTH * T
        if join > latest:
            return TOO_LONG - slowest
    for j in range(n):
        lowest = min(lower[j], reference[0, j], target[0, j]) - ALREADY_THERE
        highest = max(upper[j], reference[0, j], target[0, j]) + ALREADY_THERE
        for k in range(1, SAMPLES):
            s = (join - t) * k / SAMPLES
            p = lead[0, j] + s * (lead[1, j] + s * (lead[2, j] + s * (lead[3, j] + s * (lead[4, j] + s * lead[5, j]))))
            if p < lowest or p > highest:
                times[JOIN] = join
                return OUTSIDE - j
    times[JOIN] = join
    times[SHIFT] = 0.0 if kind == MOVING else join - starts[0]
    return STRETCHED + slowest if slowest >= 0 else JOINED


@compiled(given='t')
def _follow(
    times: Vector,
    lead: Matrix,
    starts: Vector,
    coefficients: Array3,
    final: Vector,
    q: Vector,
    qd: Vector,
    qdd: Vector,
    t: float,
) -> None:
    """Write q, qd and qdd (n each) at ``t`` s: along a lead until t_J, then along the segments."""
    if t >= times[JOIN]:
        _sample(starts, coefficients, final, q, qd, qdd, t - times[SHIFT])
        return
    s = max(t - times[BEGIN], 0.0)
    for j in range(q.shape[0]):
        c0, c1, c2, c3, c4, c5 = lead[0, j], lead[1, j], lead[2, j], lead[3, j], lead[4, j], lead[5, j]
        q[j] = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
        qd[j] = c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))
        qdd[j] = 2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))


class Led:
    """Segments with a lead to them, from a reference state (3, n) that the caller writes before ``begin``.

    Attributes
    ----------
    segments : Segments
    kind : int
        Where the lead ends: ``MOVING``, ``PLACE`` or ``PASSAGE``.
    lead : ndarray, (6, n)
        Coefficients, lowest power first, of the time since its begin.
    times : ndarray, (3,)
        ``BEGIN``, ``JOIN`` and ``SHIFT``, s.
    begin : callable
        ``begin(t, earliest, latest)``: see ``_lead``.
    """

    def __init__(
        self,
        segments: Segments,
        kind: int,
        reference: np.ndarray,
        limits: Limits,
        positions: PositionLimits | None = None,
    ):
        """Prepare ``begin`` for reference states in ``reference``; ``positions`` None: those are not limited."""
        n = reference.shape[1]
        self.segments, self.kind, self.lead, self.times = segments, kind, np.zeros((6, n)), np.zeros(3)
        free = np.full(n, np.inf)
        between = (-free, free) if positions is None else (positions.lower, positions.upper)
        arrays = reference, np.zeros((3, n)), *limits, *between, *segments, self.lead, self.times
        self.begin = bound(_lead, *arrays, kind, then=(0.0, 0.0, 0.0))

    def sampler(self, q, qd, qdd):
        """Return a function of the time (s) that writes q, qd and qdd (n each)."""
        return bound(_follow, self.times, self.lead, *self.segments, q, qd, qdd, then=(0.0,))


def come_to_rest(
    time: float,
    state: np.ndarray,
    goal: np.ndarray,
    not_before: float,
    limits: Limits,
    positions: PositionLimits | None = None,
) -> Segments:
    """Return the motion from a state (3, n) at ``time`` s to rest at ``goal`` (n), ``not_before`` then, as one segment.

    ArgumentError where it would take longer than ``LONGEST_STOP``, or leave the ``positions`` (None: not limited).
    """
    led = Led(Segments(np.zeros(1), np.zeros((0, 6, len(goal))), goal), PLACE, state, limits, positions)
    found = led.begin(time, max(not_before, time + MIN_LEAD), time + LONGEST_STOP)
    if found <= OUTSIDE and positions is not None:
        joint = OUTSIDE - found
        motion = np.polyval(led.lead[::-1, joint], np.linspace(0.0, led.times[JOIN] - time, SAMPLES + 1))
        away = np.maximum(motion - positions.upper[joint], positions.lower[joint] - motion)
        fault = positions.fault(joint, float(motion[away.argmax()]))
        raise ArgumentError(f'trajectory: it comes to rest after its last point, where its velocity is not 0: {fault}')
    if found <= TOO_LONG:
        raise ArgumentError(f"trajectory: it can't come to rest within {LONGEST_STOP:g} s after its last point")
    return Segments(np.array([time, led.times[JOIN]]), led.lead[None], goal)
