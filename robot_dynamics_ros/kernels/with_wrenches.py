"""Dynamics with external wrenches given in a reference frame: see ``wrenches`` for the array and for ``view``."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.aba import aba, aba_on_moving_base
from robot_dynamics_ros.kernels.crba_forward import crba_forward, crba_forward_on_moving_base
from robot_dynamics_ros.kernels.forward_derivatives import by_mass_matrix
from robot_dynamics_ros.kernels.loop_forward import loop_forward
from robot_dynamics_ros.kernels.rnea import rnea, rnea_on_moving_base
from robot_dynamics_ros.kernels.rnea_derivatives import rnea_derivatives
from robot_dynamics_ros.kernels.wrenches import add_changes_of_wrenches, wrenches_on_links


@kernel
def rnea_with_wrenches(model, work, q, qd, qdd, wrenches, gravity, view, tau):
    """Write tau (nv, N m or N) as ``rnea`` does, with ``wrenches`` on the links.

    Writes ``tau`` and the rows E r w a B f T f_ext of ``work``; T unless ``view`` is 2. Other arguments as ``rnea``.
    Featherstone & Orin 2000, eq. 3, 4, 7, 8.
    """
    wrenches_on_links(model, work, q, wrenches, view)
    rnea(model, work, q, qd, qdd, gravity, work.f_ext, tau)


@kernel
def rnea_on_moving_base_with_wrenches(model, work, q, qd, qdd, v_0, a_0, wrenches, gravity, view, tau):
    """Write tau (nv, N m or N) as ``rnea_on_moving_base`` does, with ``wrenches`` on the links.

    Writes ``tau`` and the rows E r w a B f T f_ext of ``work``; T unless ``view`` is 2. Other arguments as there.
    Featherstone & Orin 2000, eq. 3, 4, 7, 8.
    """
    wrenches_on_links(model, work, q, wrenches, view)
    rnea_on_moving_base(model, work, q, qd, qdd, v_0, a_0, gravity, work.f_ext, tau)


@kernel
def crba_forward_with_wrenches(model, work, q, qd, tau, wrenches, gravity, view, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2) as ``crba_forward`` does, with ``wrenches`` on the links.

    Writes ``qdd`` and the rows E r w a B f I_c d M h rest T f_ext of ``work``; T unless ``view`` is 2. Other arguments
    as there. Featherstone & Orin 2000, section 2.
    """
    wrenches_on_links(model, work, q, wrenches, view)
    crba_forward(model, work, q, qd, tau, gravity, work.f_ext, qdd)


@kernel
def crba_forward_on_moving_base_with_wrenches(model, work, q, qd, tau, v_0, a_0, wrenches, gravity, view, qdd):
    """Write qdd (nv) as ``crba_forward_on_moving_base`` does, with ``wrenches`` on the links.

    Writes ``qdd`` and the rows E r w a B f I_c d M h rest T f_ext of ``work``; T unless ``view`` is 2. Other arguments
    as there. Featherstone & Orin 2000, section 2.
    """
    wrenches_on_links(model, work, q, wrenches, view)
    crba_forward_on_moving_base(model, work, q, qd, tau, v_0, a_0, gravity, work.f_ext, qdd)


@kernel
def aba_with_wrenches(model, work, q, qd, tau, wrenches, gravity, view, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2) as ``aba`` does, with ``wrenches`` on the links.

    Writes ``qdd`` and the rows E r w a B c f I_A p_A U d u T f_ext of ``work``; T unless ``view`` is 2. Other arguments
    as there. Featherstone & Orin 2000, eq. 12 to 14.
    """
    wrenches_on_links(model, work, q, wrenches, view)
    aba(model, work, q, qd, tau, gravity, work.f_ext, qdd)


@kernel
def aba_on_moving_base_with_wrenches(model, work, q, qd, tau, v_0, a_0, wrenches, gravity, view, qdd):
    """Write qdd (nv) as ``aba_on_moving_base`` does, with ``wrenches`` on the links.

    Writes ``qdd`` and the rows E r w a B c f I_A p_A U d u T f_ext of ``work``; T unless ``view`` is 2. Other arguments
    as there. Featherstone & Orin 2000, eq. 12 to 14.
    """
    wrenches_on_links(model, work, q, wrenches, view)
    aba_on_moving_base(model, work, q, qd, tau, v_0, a_0, gravity, work.f_ext, qdd)


@kernel
def loop_forward_with_wrenches(model, work, q, qd, tau, wrenches, gravity, view, qdd):
    """Write qdd (nv, rad/s^2 or m/s^2) as ``loop_forward`` does, with ``wrenches`` on the links.

    Writes ``qdd``, and the row f_ext of ``work`` with what ``loop_forward`` writes. Other arguments as there.
    Featherstone & Orin 2000, eq. 15 to 21.
    """
    wrenches_on_links(model, work, q, wrenches, view)
    loop_forward(model, work, q, qd, tau, gravity, work.f_ext, qdd)


@kernel
def rnea_derivatives_with_wrenches(model, work, q, qd, qdd, wrenches, gravity, view, D):
    """Write D (3, nv, nv) as ``rnea_derivatives`` does, with ``wrenches`` that are constant in ``view``.

    Writes all of ``D`` and the rows E r v a f I_c b G Psi_d Psi_dd S_d F_q F_qd F_M C J T f_ext of ``work``; J and T
    unless ``view`` is 2. Other arguments as there. Singh, Russell & Wensing 2022, algorithm 1.
    """
    wrenches_on_links(model, work, q, wrenches, view)
    rnea_derivatives(model, work, q, qd, qdd, gravity, work.f_ext, D)
    if view != 2:
        add_changes_of_wrenches(model, work, wrenches, view, D[0])


@kernel
def forward_derivatives_with_wrenches(model, work, q, qd, tau, wrenches, gravity, view, D):
    """Write D (3, nv, nv) as ``forward_derivatives`` does, with ``wrenches`` that are constant in ``view``.

    Writes all of ``D`` and the rows E r w v a B f I_c d M h rest qdd b G Psi_d Psi_dd S_d F_q F_qd F_M C J T f_ext
    Y of ``work``; J and T unless ``view`` is 2. Other arguments as there. Featherstone & Orin 2000, eq. 15 without
    loops.
    """
    wrenches_on_links(model, work, q, wrenches, view)
    crba_forward(model, work, q, qd, tau, gravity, work.f_ext, work.qdd)
    rnea_derivatives(model, work, q, qd, work.qdd, gravity, work.f_ext, D)
    if view != 2:
        add_changes_of_wrenches(model, work, wrenches, view, D[0])
    by_mass_matrix(model, work, D)
