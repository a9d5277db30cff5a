"""Forward dynamics of robots with closed loops; residuals of their constraints, and steps that close the loops."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.aba import aba
from robot_dynamics_ros.kernels.articulated_inertias import articulated_inertias
from robot_dynamics_ros.kernels.closed_loops.closure_torque import add_closure_torques
from robot_dynamics_ros.kernels.closed_loops.constraint_forces import (
    constraint_jacobian_of_poses,
    propagate_constraints,
)
from robot_dynamics_ros.kernels.closed_loops.constraints import residual_accelerations, residual_rates, residuals
from robot_dynamics_ros.kernels.closed_loops.multipliers import orthogonalise_constraints, response, solve_multipliers
from robot_dynamics_ros.kernels.closed_loops.relative_motion import (
    loop_poses,
    loop_state,
    loop_state_of_transforms,
    relative_accelerations,
)
from robot_dynamics_ros.kernels.motion import base_at_rest, link_motion, no_motion


@kernel
def loop_forward(model, work, q, qd, tau, gravity, f_ext, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2), the joint accelerations under tau (nv, N m or N) with all loops closed.

    Writes ``qdd`` and most arrays of ``work``. Arguments as ``aba``, for a base at rest, whose result without loops
    is corrected: the multipliers come first, linear in n for a fixed number of constraints. Springs and dampers of
    closures act, and the residuals of the constraints decay: d^2e/dt^2 + 2 gain de/dt + gain^2 e = 0.

    Featherstone & Orin 2000, eq. 15 to 21 (their method 2).
    """
    for k in range(tau.shape[0]):
        work.tau[k] = tau[k]
    if model.sprung.shape[0] > 0:
        # tau += tau_a
        loop_state(model, work, q, qd)
        add_closure_torques(model, work, work.tau)
    no_motion(work)
    aba(model, work, q, qd, work.tau, work.still, work.still, gravity, f_ext, qdd)
    loop_state_of_transforms(model, work, qd)
    relative_accelerations(model, work)
    residuals(model, work, q, work.residual)
    residual_rates(model, work, q, qd, work.residual_rate)
    residual_accelerations(model, work, q, qd, qdd, work.target)
    gain = model.loop_gain[0]
    for k in range(work.target.shape[0]):
        # J M^-1 J' lam = -(J qdd + dJ/dt qd + 2 gain J qd + gain^2 e)
        work.target[k] = -(work.target[k] + gain * (2.0 * work.residual_rate[k] + gain * work.residual[k]))
    propagate_constraints(model, work, q, work.V)
    orthogonalise_constraints(model, work)
    solve_multipliers(work, work.target)
    response(model, work, work.step)
    for k in range(tau.shape[0]):
        qdd[k] += work.step[k]


@kernel
def loop_errors(model, work, q, errors):
    """Write errors (m; rad, m) of all constraints at q (nq, rad or m). Featherstone & Orin 2000, eq. 16.

    Writes ``errors`` and the arrays E r T R_A z_B e_AB p_B p_AB of ``work``; reads ``model``.
    """
    loop_poses(model, work, q)
    residuals(model, work, q, errors)


@kernel
def loop_jacobian(model, work, q, J):
    """Write J (m, nv), the derivative of the errors, at q (nq, rad or m). Featherstone & Orin 2000, eq. 17.

    Writes all of ``J`` and the arrays E r T R_A z_B e_AB p_B p_AB of ``work``; reads ``model``.
    """
    loop_poses(model, work, q)
    constraint_jacobian_of_poses(model, work, q, J)


@kernel
def loop_rates(model, work, q, qd, rates):
    """Write rates (m; per s) = J qd of the errors at q (nq, rad or m), qd (nv, per s).

    Writes ``rates`` and the arrays E r w T v R_A z_B e_AB p_B p_AB v_AB of ``work``; reads ``model``.
    Featherstone & Orin 2000, eq. 16, its derivative.
    """
    loop_state(model, work, q, qd)
    residual_rates(model, work, q, qd, rates)


@kernel
def loop_accelerations(model, work, q, qd, qdd, accelerations):
    """Write accelerations (m; per s^2) = J qdd + dJ/dt qd of the errors for q (nq, rad or m), qd, qdd (nv, per s, s^2).

    Writes ``accelerations`` and the arrays E r w v a B T rest still R_A z_B e_AB p_B p_AB v_AB a_AB of ``work``; reads
    ``model``. Featherstone & Orin 2000, eq. 17.
    """
    base_at_rest(work)
    for i in range(1, model.parent.shape[0]):
        link_motion(model, work, q, qd, qdd, i)
    loop_state_of_transforms(model, work, qd)
    relative_accelerations(model, work)
    residual_accelerations(model, work, q, qd, qdd, accelerations)


@kernel
def loop_step(model, work, q, change, step):
    """Write step (nv) = M^-1 J' (J M^-1 J')^-1 change, which changes residuals by ``change`` (m), at q (nq; rad, m).

    Of all such steps it has the least step' M step. Of positions it is a Newton step, of velocities a projection, or
    the effect of an impact. Writes ``step`` and the arrays E r I_A U d a T R_A z_B e_AB p_B p_AB V V_share V_weight
    scale tau target of ``work``; reads ``model``. Featherstone & Orin 2000, eq. 21, for impulses.
    """
    articulated_inertias(model, work, q)
    loop_poses(model, work, q)
    propagate_constraints(model, work, q, work.V)
    orthogonalise_constraints(model, work)
    for k in range(change.shape[0]):
        work.target[k] = change[k]
    solve_multipliers(work, work.target)
    response(model, work, step)
