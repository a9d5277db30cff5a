"""A whole trajectory of time steps in compiled code, without a call of Python.

With a torque of Python the same functions are called stage by stage, so that both give the same numbers.
"""

from robot_dynamics_ros.codegen.compiled_calls import call_rows
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Array3, Matrix
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.simulation.loop_projection import close_positions, close_velocities, record_jumps
from robot_dynamics_ros.simulation.position_limits import is_beyond, stop
from robot_dynamics_ros.simulation.step_arrays import Buffers, Calls, Plan, Stops
from robot_dynamics_ros.simulation.time_steps import begin_stage, end_stage, end_step, is_finite, subtract_friction


@compiled(given='first count')
def trajectory(
    model: ModelArrays,
    plan: Plan,
    x: Buffers,
    calls: Calls,
    torque: Array3,
    friction: Matrix,
    stops: Stops,
    q: Matrix,
    qd: Matrix,
    work: Matrix,
    first: int,
    count: int,
) -> int:
    """Write q (samples, all nq), qd (samples, all nv) and work (samples, all) of all steps of ``count`` states.

    ``first`` is the number of their first state among all. ``torque`` (1 or all, 1 or steps, nv) is held during each
    step. ``x`` has the states at the start; its further rows are copies that complete a block. Returns 0, or the step
    of the first sample that is not finite.
    """
    nv = model.S.shape[0] - 1
    nq = x.q.shape[0] // (x.u.shape[0] // nv)
    for k in range(plan.steps):
        sample, is_sample = (k + 1) // plan.every, (k + 1) % plan.every == 0
        if plan.work and (k == 0 or torque.shape[1] > 1):
            for b in range(x.u.shape[0] // nv):
                row = 0 if torque.shape[0] == 1 else first + min(b, count - 1)
                for i in range(nv):
                    x.tau[b * nv + i] = torque[row, min(k, torque.shape[1] - 1), i]
        for s in range(plan.nodes.shape[0]):
            if s > 0:
                begin_stage(model, plan, x, s)
            if plan.friction:
                subtract_friction(friction, x, s)
            call_rows(calls.forward, calls.vectors[s], calls.inputs, x.qdd[s], calls.states)
            end_stage(model, plan, x, s)
        end_step(model, plan, x)
        if plan.projection:
            beyond = close_positions(model, plan, stops, x, calls, nv)
            close_velocities(x, calls)
            record_jumps(x, nv, k + 1)
        else:
            beyond = plan.limits and is_beyond(stops, x, nv)
            if beyond:
                call_rows(calls.inverse, calls.vectors[0], calls.inputs, x.M_inv, calls.states)
        if beyond:
            stop(stops, x, nv)
        if is_sample:
            if not is_finite(x):
                return k + 1
            _copy(x.q, q[sample, first * nq : (first + count) * nq])
            _copy(x.qd[0], qd[sample, first * nv : (first + count) * nv])
            if plan.work:
                for b in range(count):
                    for i in range(nv):
                        work[sample, first + b] += x.work[b * nv + i]
    return 0


@kernel
def _copy(numbers, copies):
    """Write copies of the first ``numbers``."""
    for i in range(copies.shape[0]):
        copies[i] = numbers[i]
