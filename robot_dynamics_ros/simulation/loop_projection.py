"""Projection of states on closed loops after a step, in compiled code: by the least change in the metric of M.

States are in flat rows. With a torque of Python, ``stepwise_motion`` calls the same functions around calls of the same
quantities, so that both give the same bits.
"""

from robot_dynamics_ros.codegen.compiled_calls import call_rows
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.simulation.position_limits import begin_column, end_column, is_beyond, step_within
from robot_dynamics_ros.simulation.step_arrays import Buffers
from robot_dynamics_ros.simulation.time_steps import change_velocities, move_positions

ROUNDS = 7
"""Newton steps of positions, onto the loops and to the limits in turns: 0.01 rad beyond a limit end below 1e-15."""
STANDSTILL = 1e-6
"""rad/s, m/s. Changes of slower velocities are rounding."""


@compiled()
@kernel
def opposite(change: Vector) -> None:
    """Write change = -change, so that a step removes an error."""
    for k in range(change.shape[0]):
        change[k] = -change[k]


@kernel
def close_positions(model, plan, stops, x, calls, nv) -> bool:
    """Write q = q (+) M^-1 J' (J M^-1 J')^-1 (-e), a Newton step: the tiny error e of a step is squared.

    Return whether a joint was beyond its position limits; it is at the limit then, and M_inv is that of ``end_column``.
    """
    loops, beyond = calls.loops, False
    for k in range(ROUNDS):
        if k % 2 == 0:
            call_rows(loops.errors, calls.vectors[0], calls.inputs, x.change, calls.states)
            opposite(x.change)
            call_rows(loops.step, loops.of_step, calls.inputs, x.u, calls.states)
        else:
            call_rows(calls.inverse, calls.vectors[0], calls.inputs, x.M_inv, calls.states)
            call_rows(loops.jacobian, calls.vectors[0], calls.inputs, x.J, calls.states)
            for j in range(stops.velocities.shape[0]):
                begin_column(x, nv, stops.velocities[j])
                call_rows(loops.step, loops.of_step, calls.inputs, x.u, calls.states)
                end_column(x, nv, stops.velocities[j])
            step_within(stops, x, nv)
        move_positions(model, plan, x)
        if k == 0:
            beyond = plan.limits and is_beyond(stops, x, nv)
            if not beyond:
                break
    return beyond


@kernel
def close_velocities(x, calls):
    """Write qd = qd - M^-1 J' (J M^-1 J')^-1 J qd."""
    loops = calls.loops
    call_rows(loops.rates, calls.vectors[0], calls.inputs, x.change, calls.states)
    opposite(x.change)
    call_rows(loops.step, loops.of_step, calls.inputs, x.u, calls.states)
    change_velocities(x)


@compiled(given='step')
@kernel
def record_jumps(x: Buffers, nv: int, step: int) -> None:
    """Write jump: the largest change of velocities by ``close_velocities``, its step number, and the largest velocity.

    The change is relative to the largest velocity of the motion so far. At the start jump[2] is ``STANDSTILL``.
    Steps in which a joint was beyond its position limits do not count: it was moved to the limit.
    """
    qd, jump = x.qd[0], x.jump
    limits = x.side.shape[0] // max(1, jump.shape[1])
    for b in range(jump.shape[1]):
        change, beyond = 0.0, 0.0
        for j in range(b * limits, (b + 1) * limits):
            beyond += abs(x.side[j])
        for k in range(b * nv, (b + 1) * nv):
            change = max(change, abs(x.u[k]))
            jump[2, b] = max(jump[2, b], abs(qd[k]))
        if beyond == 0.0 and change > jump[0, b] * jump[2, b]:
            jump[0, b] = change / jump[2, b]
            jump[1, b] = step
