"""Rotors of motors that turn on the link before their joint: what they add to a link's spatial forces.

The rotor of joint i stands on the parent link p, its axis along the joint's axis z, and turns there at N qd_i (N the
gear ratio, below 0 where it turns the other way). The inertia of p holds it as if it were locked. What its turning adds
are the reflected inertia rotor_i = N^2 I_m, which the algorithms have themselves, and the angular momentum
spin_i qd_i z on link p, spin_i = N I_m (I_m: kg m^2 about the rotor's own axis). The latter is here; a joint without it
has geared_i = 0.
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.spatial import cross, rotate_back


@kernel
def rotor_axis(model, i):
    """Return z (3), the axis of joint ``i`` with a rotor in the parent's coordinates; the joint's turn leaves it."""
    k = model.geared[i]
    return rotate_back(model.E0, i, model.S[k, 0], model.S[k, 1], model.S[k, 2])


@kernel
def rotor_torque(model, work, qd, qdd, i, tau):
    """Write tau_k (N m; tau: nv) and f[p] of ``work`` (N m, parent's frame) += what the rotor of joint ``i`` takes.

    Reads the rows w and a of the parent, qd and qdd (nv; per s, s^2). Siciliano et al. 2009, section 7.5.2.
    """
    k = model.geared[i]
    p = model.parent[i]
    if k > 0:
        w, a = work.w, work.a
        x, y, z = rotor_axis(model, i)
        # tau_k += spin_k z . alpha_p
        tau[k - 1] += model.spin[k] * (x * a[p, 0] + y * a[p, 1] + z * a[p, 2])
        # n_p += spin_k (z qdd_k + w_p x z qd_k)
        wz_x, wz_y, wz_z = cross(w[p, 0], w[p, 1], w[p, 2], x, y, z)
        work.f[p, 0] += model.spin[k] * (x * qdd[k - 1] + wz_x * qd[k - 1])
        work.f[p, 1] += model.spin[k] * (y * qdd[k - 1] + wz_y * qd[k - 1])
        work.f[p, 2] += model.spin[k] * (z * qdd[k - 1] + wz_z * qd[k - 1])


@kernel
def rotor_momentum(model, i, f, row):
    """Write f[row] += the momentum on the parent link of joint ``i``'s rotor for a unit velocity, in link coordinates.

    The same three numbers in link and parent frame but for the rotation, so that it is carried inwards with the link's.
    """
    k = model.geared[i]
    if k > 0:
        # f += [ spin_k z ; 0 ]
        for axis in range(3):
            f[row, axis] += model.spin[k] * model.S[k, axis]


@kernel
def rotor_gyration(model, w, i, rate, f):
    """Write f[i] += the moment that turns the momentum of joint ``i``'s rotor at a velocity, in link coordinates.

    ``rate`` is the velocity (rad/s), ``w`` has angular velocities of links in its first three columns: w_i x z is
    w_p x z. N m. Siciliano et al. 2009, section 7.5.2.
    """
    k = model.geared[i]
    if k > 0:
        # f += [ spin_k w_p x z rate ; 0 ]
        S = model.S
        wz = cross(w[i, 0], w[i, 1], w[i, 2], S[k, 0], S[k, 1], S[k, 2])
        momentum = model.spin[k] * rate
        for axis in range(3):
            f[i, axis] += momentum * wz[axis]


@kernel
def rotor_energy(model, v, qd, i, T):
    """Write T[0] (J) += the energy of the rotor of joint ``i`` beyond the reflected one, at v[p] (6) and qd (nv).

    Siciliano et al. 2009, section 7.1.1.
    """
    k = model.geared[i]
    p = model.parent[i]
    if k > 0:
        # T += spin_k qd_k z . w_p
        x, y, z = rotor_axis(model, i)
        T[0] += model.spin[k] * qd[k - 1] * (x * v[p, 0] + y * v[p, 1] + z * v[p, 2])


@kernel
def rotor_on_parent(model, work, qd, qdd, i):
    """Write f[i] and G[i] += what the parent of joint ``i`` has of its rotor, for them to be carried there.

    Reads row v of the link, qd and qdd (nv; per s, s^2). Siciliano et al. 2009, section 7.5.2; G: see ``momentum``.
    """
    k = model.geared[i]
    if k > 0:
        S, f, G = model.S, work.f, work.G
        # f += [ spin_k (z qdd_k + w_p x z qd_k) ; 0 ]
        for axis in range(3):
            f[i, axis] += model.spin[k] * S[k, axis] * qdd[k - 1]
        rotor_gyration(model, work.v, i, qd[k - 1], f)
        # G -= L x, L = spin_k z qd_k: added to w_p, a motion m asks for the moment m_w x L
        momentum = model.spin[k] * qd[k - 1]
        Lx, Ly, Lz = momentum * S[k, 0], momentum * S[k, 1], momentum * S[k, 2]
        G[i, 0, 1] += Lz
        G[i, 0, 2] -= Ly
        G[i, 1, 0] -= Lz
        G[i, 1, 2] += Lx
        G[i, 2, 0] += Ly
        G[i, 2, 1] -= Lx


@kernel
def rotor_changes(model, work, i):
    """Write F_M[i], F_qd[i] and C[i] += the rotor's part of joint ``i``, which only the links before it feel.

    Reads row v of the link. The derivatives of ``rotor_torque`` by qdd_k and qd_k, and of tau_k by the parent's motion.
    Siciliano et al. 2009, section 7.5.2.
    """
    # F_M += [ spin_k z ; 0 ],  F_qd += [ spin_k w_p x z ; 0 ],  C += spin_k w_p x z
    rotor_momentum(model, i, work.F_M, i)
    rotor_gyration(model, work.v, i, 1.0, work.F_qd)
    rotor_gyration(model, work.v, i, 1.0, work.C)
