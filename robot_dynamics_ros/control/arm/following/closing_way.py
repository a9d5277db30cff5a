"""Arithmetic of the way of a mechanism from one position with closed loops to another: the same bits in nodes and C.

``closed_mechanism`` calls these functions around ``closing_step`` and ``driven_motion`` of its robot, and exported C
(``driven_code``) in the same order.
"""

from robot_dynamics_ros.control.arm.following.joint_jumps import turns_of
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.kernels.choices import select

CLOSED = 1e-7
"""rad, or relative to the robot's characteristic length: loops are closed where this was left before the last Newton
step, and about its square is left after it."""
NEAREST = 0.05
"""Distance from a singular position, about in rad, below which a position counts as singular: two of the longest steps.

A constraint vanishes at a singular position in proportion to the distance, and where the motion ends, as at a dead
point, to the square root of it.
"""
PASSED = 0.5 * NEAREST
"""Distance from a singular position to which measured states are followed: beyond it the assembly mode is not known."""
SLOW = 0.3
"""Distance from a singular position, likewise, below which steps are shorter, by the square of the distance."""
SHRINKS = 0.25
"""Most of a step that the second Newton step leaves: where more is left, the step may lead into another assembly mode
(Newton and Kantorovich: one half and the nearest solution is found)."""
INFINITE = float('inf')


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


@compiled(given='begin way share distance change')
def put_next(first: int, begin: Vector, way: Vector, share: Vector, distance: float, change: Vector) -> None:
    """Write the next position of a way to the constraints ``change`` of actuated joints, from ``first`` on.

    Writes the ``share`` (1) of the way that it is at, from the one before; the position at a share of 1 is the end.
    Steps are shorter at a small ``distance`` from a singular position. At a dead point positions change with the root
    of the distance in actuated joints, so a step of the square of its share changes them by that share.
    """
    m = begin.shape[0]
    near = distance / SLOW
    reach = select(near < 1.0, near * near, 1.0)
    if (1.0 - share[0]) * way[2 * m] <= reach:
        share[0] = 1.0
        for k in range(m):
            change[first + k] = way[k]
        return
    share[0] += reach / way[2 * m]
    for k in range(m):
        change[first + k] = begin[k] + share[0] * way[m + k]


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


@compiled(given='begin closing')
def slow_constraint(unit: Vector, begin: Vector, closing: Vector) -> int:
    """Return the constraint with most left by the first Newton step, -1 where that is less than ``SHRINKS`` of all.

    ``begin`` and ``closing`` are results of ``closing_step`` for the first and second step.
    """
    first = closing.shape[0] - 2 * unit.shape[0]
    worst, most, all_of_it = -1, 0.0, 0.0
    for k in range(unit.shape[0]):
        left = abs(closing[first + k]) / unit[k]
        whole = abs(begin[first + k]) / unit[k]
        all_of_it = select(whole > all_of_it, whole, all_of_it)
        if not left <= most:
            worst, most = k, left
    return worst if not most <= SHRINKS * all_of_it + CLOSED else -1


@compiled(given='closing')
def nearest_constraint(reference: Vector, least: Vector, closing: Vector) -> int:
    """Return the constraint with the ``least`` (1) share of its ``reference``, of those that have one.

    The others depend on these. The share is the square of the distance from a singular position.
    """
    first = closing.shape[0] - reference.shape[0]
    nearest = 0
    least[0] = INFINITE
    for k in range(reference.shape[0]):
        if reference[k] > 0.0:
            share = closing[first + k] / reference[k]
            if not share >= least[0]:
                nearest = k
                least[0] = share
    return nearest


@compiled(given='rows tau out')
@kernel
def driven_torque(rows: Matrix, tau: Vector, out: Vector) -> None:
    """Write out = G' tau (m) of the torques tau (n) of all joints; ``rows`` (m, n) is G'."""
    for k in range(out.shape[0]):
        out[k] = 0.0
        for j in range(tau.shape[0]):
            # tau_y = G' tau
            out[k] = rows[k, j] * tau[j] + out[k]
