"""Dynamics with one external wrench F (6; N m, N) on a frame: see ``frame_wrench`` for the frame and ``view``."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.aba import aba, aba_on_moving_base
from robot_dynamics_ros.kernels.crba_forward import solve_by_mass_matrix
from robot_dynamics_ros.kernels.forward_derivatives import by_mass_matrix
from robot_dynamics_ros.kernels.frame_wrench import (
    add_changes_of_wrench,
    external_wrench,
    no_wrenches,
    wrench_on_link,
)
from robot_dynamics_ros.kernels.loop_forward import loop_forward
from robot_dynamics_ros.kernels.motion import base_motion, moving_base_motion
from robot_dynamics_ros.kernels.rnea import forces_on_links, torques_of_forces
from robot_dynamics_ros.kernels.rnea_derivatives import rnea_derivatives


@kernel
def rnea_with_wrench(model, work, q, qd, qdd, F, gravity, i, rotation, origin, view, tau):
    """Write tau (nv, N m or N) as ``rnea`` does, with the wrench F on a frame.

    Writes ``tau`` and the rows E r w a B f f_ext of ``work``. Other arguments as ``rnea``.
    Featherstone & Orin 2000, eq. 3, 4, 7, 8.
    """
    base_motion(work, gravity)
    torques_with_wrench(model, work, q, qd, qdd, F, i, rotation, origin, view, tau)


@kernel
def rnea_on_moving_base_with_wrench(model, work, q, qd, qdd, v_0, a_0, F, gravity, i, rotation, origin, view, tau):
    """Write tau (nv, N m or N) as ``rnea_on_moving_base`` does, with the wrench F on a frame.

    Writes ``tau`` and the rows E r w a B f f_ext of ``work``. Other arguments as there.
    Featherstone & Orin 2000, eq. 3, 4, 7, 8.
    """
    moving_base_motion(work, v_0, a_0, gravity)
    torques_with_wrench(model, work, q, qd, qdd, F, i, rotation, origin, view, tau)


@kernel
def torques_with_wrench(model, work, q, qd, qdd, F, i, rotation, origin, view, tau):
    """Write tau (nv, N m or N) and the rows E r w a B f f_ext of ``work`` from w, a and B of the base.

    Both passes of ``rnea``. Featherstone & Orin 2000, eq. 3, 4, 7, 8.
    """
    no_wrenches(model, work)
    forces_on_links(model, work, q, qd, qdd, work.f_ext)
    # f_i -= f_ext_i
    nx, ny, nz, fx, fy, fz = wrench_on_link(model, work, F, i, rotation, origin, view)
    f = work.f
    f[i, 0], f[i, 1], f[i, 2] = f[i, 0] - nx, f[i, 1] - ny, f[i, 2] - nz
    f[i, 3], f[i, 4], f[i, 5] = f[i, 3] - fx, f[i, 4] - fy, f[i, 5] - fz
    torques_of_forces(model, work, qd, qdd, tau)


@kernel
def crba_forward_with_wrench(model, work, q, qd, tau, F, gravity, i, rotation, origin, view, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2) as ``crba_forward`` does, with the wrench F on a frame.

    Writes ``qdd`` and the rows E r w a B f I_c d M h rest f_ext of ``work``. Other arguments as there.
    Featherstone & Orin 2000, section 2.
    """
    # h = ID(q, qd, 0, F)
    for k in range(tau.shape[0]):
        work.rest[k] = 0.0
    rnea_with_wrench(model, work, q, qd, work.rest, F, gravity, i, rotation, origin, view, work.h)
    solve_by_mass_matrix(model, work, q, tau, qdd)


@kernel
def crba_forward_on_moving_base_with_wrench(
    model, work, q, qd, tau, v_0, a_0, F, gravity, i, rotation, origin, view, qdd
):
    """Write qdd (nv) as ``crba_forward_on_moving_base`` does, with the wrench F on a frame.

    Writes ``qdd`` and the rows E r w a B f I_c d M h rest f_ext of ``work``. Other arguments as there.
    Featherstone & Orin 2000, section 2.
    """
    # h = ID(q, qd, 0, v_0, a_0, F)
    for k in range(tau.shape[0]):
        work.rest[k] = 0.0
    h = work.h
    rnea_on_moving_base_with_wrench(model, work, q, qd, work.rest, v_0, a_0, F, gravity, i, rotation, origin, view, h)
    solve_by_mass_matrix(model, work, q, tau, qdd)


@kernel
def aba_with_wrench(model, work, q, qd, tau, F, gravity, i, rotation, origin, view, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2) as ``aba`` does, with the wrench F on a frame.

    Writes ``qdd`` and the rows E r w a B c f I_A p_A U d u f_ext of ``work``. Other arguments as there.
    Featherstone & Orin 2000, eq. 12 to 14.
    """
    external_wrench(model, work, q, F, i, rotation, origin, view)
    aba(model, work, q, qd, tau, gravity, work.f_ext, qdd)


@kernel
def aba_on_moving_base_with_wrench(model, work, q, qd, tau, v_0, a_0, F, gravity, i, rotation, origin, view, qdd):
    """Write qdd (nv) as ``aba_on_moving_base`` does, with the wrench F on a frame.

    Writes ``qdd`` and the rows E r w a B c f I_A p_A U d u f_ext of ``work``. Other arguments as there.
    Featherstone & Orin 2000, eq. 12 to 14.
    """
    external_wrench(model, work, q, F, i, rotation, origin, view)
    aba_on_moving_base(model, work, q, qd, tau, v_0, a_0, gravity, work.f_ext, qdd)


@kernel
def loop_forward_with_wrench(model, work, q, qd, tau, F, gravity, i, rotation, origin, view, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2) as ``loop_forward`` does, with the wrench F on a frame.

    Writes ``qdd``, and the row f_ext of ``work`` with what ``loop_forward`` writes. Other arguments as there.
    Featherstone & Orin 2000, eq. 15 to 21.
    """
    external_wrench(model, work, q, F, i, rotation, origin, view)
    loop_forward(model, work, q, qd, tau, gravity, work.f_ext, qdd)


@kernel
def rnea_derivatives_with_wrench(model, work, q, qd, qdd, F, gravity, i, rotation, origin, view, D):
    """Write D (3, nv, nv) as ``rnea_derivatives`` does, with the wrench F, constant in ``view``, on a frame.

    Writes all of ``D`` and the rows E r v a f I_c b G Psi_d Psi_dd S_d F_q F_qd F_M C J T f_ext of ``work``; J and T
    unless ``view`` is 2. Other arguments as there. Singh, Russell & Wensing 2022, algorithm 1.
    """
    external_wrench(model, work, q, F, i, rotation, origin, view)
    rnea_derivatives(model, work, q, qd, qdd, gravity, work.f_ext, D)
    if view != 2:
        add_changes_of_wrench(model, work, q, F, i, origin, view, D[0])


@kernel
def forward_derivatives_with_wrench(model, work, q, qd, tau, F, gravity, i, rotation, origin, view, D):
    """Write D (3, nv, nv) as ``forward_derivatives`` does, with the wrench F, constant in ``view``, on a frame.

    Writes all of ``D`` and the rows E r w v a B f I_c d M h rest qdd b G Psi_d Psi_dd S_d F_q F_qd F_M C J T f_ext
    Y of ``work``; J and T unless ``view`` is 2. Other arguments as there. Featherstone & Orin 2000, eq. 15 without
    loops.
    """
    crba_forward_with_wrench(model, work, q, qd, tau, F, gravity, i, rotation, origin, view, work.qdd)
    external_wrench(model, work, q, F, i, rotation, origin, view)
    rnea_derivatives(model, work, q, qd, work.qdd, gravity, work.f_ext, D)
    if view != 2:
        add_changes_of_wrench(model, work, q, F, i, origin, view, D[0])
    by_mass_matrix(model, work, D)
