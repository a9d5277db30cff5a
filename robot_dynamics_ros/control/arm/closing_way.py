"""Arithmetic of the way of a mechanism from one position with closed loops to another: the same bits in nodes and C.

``closed_mechanism`` calls these functions around ``closing_step`` and ``driven_motion`` of its robot, and exported C
(``driven_code``) in the same order.
"""

import numpy as np

from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Integers, Matrix, Vector
from robot_dynamics_ros.kernels.choices import select

CLOSED = 1e-7
"""rad, or relative to the robot's characteristic length: loops are closed where this was left before the last Newton
step, and about its square is left after it."""
NEAREST = 0.03
"""Share of a constraint's effect, relative to the one at home, below which a position is singular.

It is about in proportion to the distance from a singular position, so that no step of a way passes one.
"""
INFINITE = float('inf')
ROOM = 0.03
"""Distance of two states, in the units of joints, in which no actuated joint is too fast."""


@kernel
def turns_of(ahead, turn):
    """Return the number of whole turns (rad; 0: none) in a difference ``ahead`` (rad, m), rounded to the nearest."""
    # x + 1.5 2^52 - 1.5 2^52
    return (ahead / select(turn > 0.0, turn, 1.0) + 6755399441055744.0) - 6755399441055744.0


@compiled(given='begin y way')
def way_between(turn: Vector, longest: Vector, begin: Vector, y: Vector, way: Vector) -> None:
    """Write way (2 m + 1): the end y (m; rad, m) without turns from ``begin`` (m), the difference, and a number.

    The number is how many of the ``longest`` steps (m) of the joints there are in between, NaN unless all are finite.
    Joints with a turn (rad; 0: none) go the shorter way.
    """
    m = y.shape[0]
    most, wrong = 0.0, 0.0
    for k in range(m):
        ahead = y[k] - begin[k]
        way[k] = y[k] - turns_of(ahead, turn[k]) * turn[k]
        way[m + k] = way[k] - begin[k]
        steps = abs(way[m + k]) / longest[k]
        most = select(steps > most, steps, most)
        wrong += 0.0 * steps
    way[2 * m] = most + wrong


@compiled(given='begin way share change')
def put_position(first: int, begin: Vector, way: Vector, share: float, change: Vector) -> None:
    """Write the position at a ``share`` of a way to the constraints ``change`` of actuated joints, from ``first`` on.

    At a share of 1 it is the end of the way.
    """
    m = begin.shape[0]
    for k in range(m):
        change[first + k] = select(share < 1.0, begin[k] + share * way[m + k], way[k])


@compiled(given='closing')
def open_constraint(unit: Vector, closing: Vector) -> int:
    """Return the constraint with most left before the last Newton step, -1 where all were closed.

    ``closing`` is the result of ``closing_step``; each constraint has its ``unit``.
    """
    first = closing.shape[0] - 2 * unit.shape[0]
    worst, most = -1, CLOSED
    for k in range(unit.shape[0]):
        left = abs(closing[first + k]) / unit[k]
        if not left <= most:
            worst, most = k, left
    return worst


@compiled(given='closing')
def singular_constraint(home: Vector, least: Vector, closing: Vector) -> int:
    """Return the constraint with the ``least`` (1) share of its effect at ``home``, -1 where none is singular.

    Constraints without an effect there depend on others. The share is in proportion to the square of a distance.
    """
    first = closing.shape[0] - home.shape[0]
    worst = 0
    least[0] = INFINITE
    for k in range(home.shape[0]):
        if home[k] > 0.0:
            share = closing[first + k] / home[k]
            if not share >= least[0]:
                worst = k
                least[0] = share
    return -1 if least[0] >= NEAREST * NEAREST else worst


@compiled(given='before y reach')
def fast_joint(turn: Vector, unit: Vector, fastest: Vector, before: Vector, y: Vector, reach: float) -> int:
    """Return the first joint at y (m; rad, m) that cannot have come from ``before`` (m) in ``reach`` (s), -1 for none.

    ``fastest`` (m) are the velocities of the joints; twice as fast ones count as noise.
    """
    for k in range(y.shape[0]):
        ahead = y[k] - before[k]
        if abs(ahead - turns_of(ahead, turn[k]) * turn[k]) > ROOM * unit[k] + 2.0 * fastest[k] * reach:
            return k
    return -1


@compiled(given='q positions')
def follower_off(coordinates: Integers, turn: Vector, tolerance: float, q: Vector, positions: Vector) -> int:
    """Return the first of the followers, by their ``coordinates``, that is measured farther than tolerated from q.

    -1 for none. NaN in ``positions`` is not measured.
    """
    for k in range(positions.shape[0]):
        off = positions[k] - q[coordinates[k]]
        off -= turn[k] * np.floor(off / select(turn[k] > 0.0, turn[k], 1.0) + 0.5)
        if abs(off) > tolerance:
            return k
    return -1


@compiled(given='rows tau out')
@kernel
def driven_torque(rows: Matrix, tau: Vector, out: Vector) -> None:
    """Write out = G' tau (m) of the torques tau (n) of all joints; ``rows`` (m, n) is G'."""
    for k in range(out.shape[0]):
        out[k] = 0.0
        for j in range(tau.shape[0]):
            # tau_y = G' tau
            out[k] = rows[k, j] * tau[j] + out[k]
