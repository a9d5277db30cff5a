"""A whole trajectory of time steps in compiled code, without a call of Python.

With a torque of Python the same functions are called stage by stage, so that both give the same bits.
"""

from robot_dynamics_ros.compiler.array_call import call_rows
from robot_dynamics_ros.simulation.position_limits import is_beyond, stop
from robot_dynamics_ros.simulation.time_steps import begin_stage, end_stage, end_step, is_finite, subtract_friction


def trajectory(model, plan, x, calls, torque, friction, stops, first, count, q, qd, work) -> int:
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
                begin_stage(model, plan, x, s)
            if plan.friction:
                subtract_friction(friction, x, x.qd if s == 0 else x.qd_s)
            vectors = calls.start if s == 0 else calls.stage
            call_rows(calls.forward, vectors, calls.load, x.qdd, calls.states, calls.forward_last)
            end_stage(model, plan, x, s)
        end_step(model, plan, x)
        if plan.limits and is_beyond(stops, x, nv):
            call_rows(calls.inverse, calls.start, calls.load, x.M_inv, calls.states, calls.inverse_last)
            stop(stops, x, nv)
        if (k + 1) % plan.every == 0:
            if not is_finite(x):
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
