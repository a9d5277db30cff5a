"""Recursive Newton-Euler algorithm: inverse dynamics."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.inertia import body_force
from robot_dynamics_ros.kernels.motion import base_motion, link_motion
from robot_dynamics_ros.kernels.rotors import rotor_torque
from robot_dynamics_ros.kernels.spatial import dot, force_to_parent


@kernel
def rnea(model, work, q, qd, qdd, v_0, a_0, gravity, f_ext, tau):
    """Write tau (nv, N m or N), the joint torques of the motion q (nq, rad or m), qd, qdd (nv each, per s, s^2).

    Writes ``tau`` and the arrays E r w a B f of ``work``; f[0] is the force that the ground exerts on the base.
    Reads ``model``, v_0 (6; rad/s, m/s) and a_0 (6; rad/s^2, m/s^2), the motion of the base, ``gravity`` (3, m/s^2,
    base frame) and ``f_ext`` (n + 1, 6; N m, N), the wrench acting on each link in its own frame. Rotor inertia and
    spin are included, friction is not.

    Featherstone & Orin 2000, eq. 3, 4, 7, 8 in link coordinates (RBDA table 5.1, right column). Deviation:
    accelerations are the classical ones of the link's origin, see ``spatial``.
    """
    # v_0, a_0 - gravity
    base_motion(work, v_0, a_0, gravity)
    for k in range(6):
        work.f[0, k] = -f_ext[0, k]
    for i in range(1, model.parent.shape[0]):
        # v_i = X_i v_p + S_i qd_i,  a_i = X_i a_p + v_i x S_i qd_i + S_i qdd_i
        link_motion(model, work, q, qd, qdd, i)
        # f_i = I_i a_i + v_i x* I_i v_i - f_ext_i
        body_force(model.I, work.B, work.a, i, work.f)
        for k in range(6):
            work.f[i, k] -= f_ext[i, k]
    for i in range(model.parent.shape[0] - 1, 0, -1):
        # tau_i = S_i' f_i + rotor_i qdd_i
        for k in range(model.first[i], model.first[i + 1]):
            tau[k - 1] = dot(model.S, k, work.f, i) + model.rotor[k] * qdd[k - 1]
        # f_p += X_i' f_i
        force_to_parent(work.E, work.r, work.f, i, model.parent[i])
        # tau_i += spin_i z . alpha_p,  n_p += spin_i (z qdd_i + w_p x z qd_i)
        rotor_torque(model, work, qd, qdd, i, tau)
