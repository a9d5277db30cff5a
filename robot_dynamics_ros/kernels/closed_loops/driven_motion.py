"""Motion of closed loops whose driven joints are given: each of these has a constant coupling, and thus a constraint.

The constraints J of closures, couplings and driven joints together fix all joints. Phi = M^-1 J' (J M^-1 J')^-1 changes
constraints by what it is multiplied with. So positions follow by Newton steps Phi (change - e), and the columns of Phi
that belong to driven joints are G: qd = G yd. Where J fixes all joints, Phi does not depend on M.
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.articulated_inertias import articulated_inertias
from robot_dynamics_ros.kernels.closed_loops.constraint_forces import propagate_constraints
from robot_dynamics_ros.kernels.closed_loops.constraints import residual_accelerations, residuals
from robot_dynamics_ros.kernels.closed_loops.multipliers import orthogonalise_constraints, response, solve_multipliers
from robot_dynamics_ros.kernels.closed_loops.relative_motion import (
    loop_poses,
    loop_state_of_transforms,
    relative_accelerations,
)
from robot_dynamics_ros.kernels.motion import base_at_rest, link_motion
from robot_dynamics_ros.kernels.position_steps import position_after


@kernel
def closing_step(model, work, q, change, result):
    """Write result (nq + 2 m), the position after a Newton step to e = change (m; rad, m), e - change at q, and shares.

    ``change`` has the positions of driven joints at their constraints, else zeros. The shares are what the constraints
    before it leave of the effect of each constraint, squared, see ``multipliers``: one vanishes at a singular position.
    Writes ``result`` and the arrays E r I_A U d a T R_A z_B e_AB p_B p_AB V V_share V_weight scale tau target step
    residual of ``work``; reads ``model``. Featherstone & Orin 2000, eq. 21, for steps.
    """
    first, shares = q.shape[0], q.shape[0] + change.shape[0]
    articulated_inertias(model, work, q)
    loop_poses(model, work, q)
    residuals(model, work, q, work.residual)
    propagate_constraints(model, work, q, work.V)
    for k in range(change.shape[0]):
        # s_0
        result[shares + k] = work.V_weight[k]
    orthogonalise_constraints(model, work)
    for k in range(change.shape[0]):
        # s / s_0 = 1 / (w s_0), and 0 for w = 0
        weight = work.V_weight[k]
        result[shares + k] = weight / (weight * weight * result[shares + k] + 1e-200)
        # J step = change - e
        result[first + k] = work.residual[k] - change[k]
        work.target[k] = change[k] - work.residual[k]
    solve_multipliers(work, work.target)
    response(model, work, work.step)
    position_after(model, q, work.step, result)


@kernel
def driven_motion(model, work, q, rates, accelerations, result):
    """Write result (held + 2, nv): rows of G', qd and qdd (per s, s^2).

    ``rates`` and ``accelerations`` (m; per s, s^2) are those of the constraints at q (nq; rad, m): of driven joints
    their velocities and accelerations, else zero. Row k of G' (held, nv) is the motion of all joints per motion of that
    of constant coupling k, of ``held`` ones. Writes ``result`` and
    the arrays E r w v a B I_A U d T rest still R_A z_B e_AB p_B p_AB v_AB a_AB V V_share V_weight scale tau target step
    of ``work``; reads ``model``. Featherstone & Orin 2000, eq. 17 and 21.
    """
    closing = model.constrained.shape[0]
    articulated_inertias(model, work, q)
    loop_poses(model, work, q)
    propagate_constraints(model, work, q, work.V)
    orthogonalise_constraints(model, work)
    held = result.shape[0] - 2
    row = 0
    for k in range(result.shape[1]):
        result[held, k] = 0.0
    for k in range(model.coupled.shape[0]):
        if model.coupled[k, 3] == 0:
            for constraint in range(rates.shape[0]):
                work.target[constraint] = 0.0
            work.target[closing + k] = 1.0
            solve_multipliers(work, work.target)
            response(model, work, work.step)
            for j in range(result.shape[1]):
                # qd += G_k yd_k
                result[row, j] = work.step[j]
                result[held, j] += work.step[j] * rates[closing + k]
            row += 1
    for k in range(result.shape[1]):
        work.step[k] = result[held, k]
    base_at_rest(work)
    for i in range(1, model.parent.shape[0]):
        link_motion(model, work, q, work.step, work.rest, i)
    loop_state_of_transforms(model, work, work.step)
    relative_accelerations(model, work)
    residual_accelerations(model, work, q, work.step, work.rest, work.target)
    for k in range(accelerations.shape[0]):
        # J qdd = accelerations - dJ/dt qd
        work.target[k] = accelerations[k] - work.target[k]
    solve_multipliers(work, work.target)
    response(model, work, work.step)
    for k in range(result.shape[1]):
        result[held + 1, k] = work.step[k]
