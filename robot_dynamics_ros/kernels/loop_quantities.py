"""Errors, Jacobian and accelerations of closed loops, and steps that close them."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.articulated_inertias import articulated_inertias
from robot_dynamics_ros.kernels.loop_forces import loop_jacobian_of_poses, propagate_rows
from robot_dynamics_ros.kernels.loop_motion import relative_accelerations
from robot_dynamics_ros.kernels.loop_rows import row_accelerations, row_errors, row_rates
from robot_dynamics_ros.kernels.loop_solution import orthogonalise_rows, response, solve_rows
from robot_dynamics_ros.kernels.loop_state import loop_poses, loop_state, loop_state_of_transforms
from robot_dynamics_ros.kernels.motion import base_at_rest, link_motion


@kernel
def loop_errors(model, work, q, errors):
    """Write errors (m; rad, m) of all rows at q (nq, rad or m). Featherstone & Orin 2000, eq. 16.

    Writes ``errors`` and the rows E r T R_A z_B e_AB p_B p_AB of ``work``; reads ``model``.
    """
    loop_poses(model, work, q)
    row_errors(model, work, q, errors)


@kernel
def loop_jacobian(model, work, q, J):
    """Write J (m, nv), the derivative of the errors, at q (nq, rad or m). Featherstone & Orin 2000, eq. 17.

    Writes all of ``J`` and the rows E r T R_A z_B e_AB p_B p_AB of ``work``; reads ``model``.
    """
    loop_poses(model, work, q)
    loop_jacobian_of_poses(model, work, q, J)


@kernel
def loop_rates(model, work, q, qd, rates):
    """Write rates (m; per s) = J qd of the errors at q (nq, rad or m), qd (nv, per s).

    Writes ``rates`` and the rows E r w T v R_A z_B e_AB p_B p_AB v_AB of ``work``; reads ``model``.
    Featherstone & Orin 2000, eq. 16, its derivative.
    """
    loop_state(model, work, q, qd)
    row_rates(model, work, q, qd, rates)


@kernel
def loop_accelerations(model, work, q, qd, qdd, accelerations):
    """Write accelerations (m; per s^2) = J qdd + dJ/dt qd of the errors for q (nq, rad or m), qd, qdd (nv, per s, s^2).

    Writes ``accelerations`` and the rows E r w v a B T rest still R_A z_B e_AB p_B p_AB v_AB a_AB of ``work``; reads
    ``model``. Featherstone & Orin 2000, eq. 17.
    """
    base_at_rest(work)
    for i in range(1, model.parent.shape[0]):
        link_motion(model, work, q, qd, qdd, i)
    loop_state_of_transforms(model, work, qd)
    relative_accelerations(model, work)
    row_accelerations(model, work, q, qd, qdd, accelerations)


@kernel
def loop_step(model, work, q, change, step):
    """Write step (nv) = M^-1 J' (J M^-1 J')^-1 change, which changes the rows by ``change`` (m), at q (nq, rad or m).

    Of all such steps it has the least step' M step. Of positions it is a Newton step, of velocities a projection, or
    the effect of an impact. Writes ``step`` and the rows E r I_A U d a T R_A z_B e_AB p_B p_AB V V_row V_norm scale tau
    row_target of ``work``; reads ``model``. Featherstone & Orin 2000, eq. 21, for impulses.
    """
    articulated_inertias(model, work, q)
    loop_poses(model, work, q)
    propagate_rows(model, work, q, work.V)
    orthogonalise_rows(model, work)
    for row in range(change.shape[0]):
        work.row_target[row] = change[row]
    solve_rows(work, work.row_target)
    response(model, work, step)
