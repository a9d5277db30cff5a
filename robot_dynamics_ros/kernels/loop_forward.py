"""Forward dynamics of robots with closed loops."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.aba import aba
from robot_dynamics_ros.kernels.closing_torque import add_closing_torques
from robot_dynamics_ros.kernels.loop_forces import propagate_rows
from robot_dynamics_ros.kernels.loop_motion import relative_accelerations
from robot_dynamics_ros.kernels.loop_rows import row_accelerations, row_errors, row_rates
from robot_dynamics_ros.kernels.loop_solution import orthogonalise_rows, response, solve_rows
from robot_dynamics_ros.kernels.loop_state import loop_state, loop_state_of_transforms
from robot_dynamics_ros.kernels.motion import no_motion


@kernel
def loop_forward(model, work, q, qd, tau, gravity, f_ext, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2), the joint accelerations under tau (nv, N m or N) with all loops closed.

    Writes ``qdd`` and most rows of ``work``. Arguments as ``aba``, for a base at rest, whose result without loops
    is corrected: the multipliers come first, linear in n at fixed rows. Springs and dampers of closures act, and the
    errors of the rows decay: d^2e/dt^2 + 2 gain de/dt + gain^2 e = 0.

    Featherstone & Orin 2000, eq. 15 to 21 (their method 2).
    """
    for k in range(tau.shape[0]):
        work.tau[k] = tau[k]
    if model.sprung.shape[0] > 0:
        # tau += tau_a
        loop_state(model, work, q, qd)
        add_closing_torques(model, work, work.tau)
    no_motion(work)
    aba(model, work, q, qd, work.tau, work.still, work.still, gravity, f_ext, qdd)
    loop_state_of_transforms(model, work, qd)
    relative_accelerations(model, work)
    row_errors(model, work, q, work.row_error)
    row_rates(model, work, q, qd, work.row_rate)
    row_accelerations(model, work, q, qd, qdd, work.row_target)
    gain = model.loop_gain[0]
    for row in range(work.row_target.shape[0]):
        # J M^-1 J' lam = -(J qdd + dJ/dt qd + 2 gain J qd + gain^2 e)
        work.row_target[row] = -(work.row_target[row] + gain * (2.0 * work.row_rate[row] + gain * work.row_error[row]))
    propagate_rows(model, work, q, work.V)
    orthogonalise_rows(model, work)
    solve_rows(work, work.row_target)
    response(model, work, work.step)
    for k in range(tau.shape[0]):
        qdd[k] += work.step[k]
