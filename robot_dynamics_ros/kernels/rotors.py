"""Angular momentum of motor rotors that are mounted on the parent link of their joint.

The rotor of joint i is mounted on the parent link p with its axis along the joint's axis z, and turns at N qd_i
relative to p (N: gear ratio, negative for the opposite direction). The inertia of p includes the rotor as if it were
locked. The rotation adds the reflected inertia rotor_i = N^2 I_m, which the algorithms add themselves, and the angular
momentum spin_i qd_i z on link p, spin_i = N I_m (I_m: kg m^2 about the rotor's own axis), which is computed here.
geared_i = 0 marks a joint without spin.
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.spatial import cross, rotate_back


@kernel
def rotor_axis(model, i):
    """Return z (3), the axis of joint ``i`` in the parent's coordinates, which does not depend on q."""
    k = model.geared[i]
    return rotate_back(model.E0, i, model.S[k, 0], model.S[k, 1], model.S[k, 2])


@kernel
def rotor_torque(model, work, qd, qdd, i, tau):
    """Write tau_k (N m; tau: nv) and f[p] of ``work`` (N m, parent's frame) += the torques of joint ``i``'s rotor.

    Reads the arrays w and a of the parent, qd and qdd (nv; per s, s^2). Siciliano et al. 2009, section 7.5.2.
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
    """Write f[row] += spin z, the angular momentum of joint ``i``'s rotor per unit velocity, in link coordinates.

    It acts on the parent link. As a pure couple it may be added to the link's force before that is transformed there.
    """
    k = model.geared[i]
    if k > 0:
        # f += [ spin_k z ; 0 ]
        for axis in range(3):
            f[row, axis] += model.spin[k] * model.S[k, axis]


@kernel
def rotor_momentum_of_rate(model, i, rate, f):
    """Write f[i] += spin z rate, the angular momentum (N m s) of joint ``i``'s rotor at ``rate`` (rad/s).

    In link coordinates; it acts on the parent link, see ``rotor_momentum``.
    """
    k = model.geared[i]
    if k > 0:
        # f += [ spin_k z rate ; 0 ]
        momentum = model.spin[k] * rate
        for axis in range(3):
            f[i, axis] += momentum * model.S[k, axis]


@kernel
def rotor_gyration(model, w, i, rate, f):
    """Write f[i] += spin w_p x z rate, the gyroscopic moment (N m) of joint ``i``'s rotor, in link coordinates.

    ``rate`` is the velocity (rad/s), the first three columns of ``w`` are angular velocities of links: w_i x z is
    w_p x z. Siciliano et al. 2009, section 7.5.2.
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
    """Write T[0] (J) += spin qd z . w_p of joint ``i``'s rotor, without its reflected inertia, at v[p] (6) and qd (nv).

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
    """Write f[i] and G[i] += the parts of joint ``i``'s rotor that act on its parent, in link coordinates.

    Reads row v of the link, qd and qdd (nv; per s, s^2). Siciliano et al. 2009, section 7.5.2. G: ``body_coriolis``.
    """
    k = model.geared[i]
    if k > 0:
        S, f, G = model.S, work.f, work.G
        # f += [ spin_k (z qdd_k + w_p x z qd_k) ; 0 ]
        for axis in range(3):
            f[i, axis] += model.spin[k] * S[k, axis] * qdd[k - 1]
        rotor_gyration(model, work.v, i, qd[k - 1], f)
        rotor_coriolis_matrix(model, i, qd[k - 1], G)


@kernel
def rotor_coriolis_matrix(model, i, rate, G):
    """Write G[i] -= L x, L the angular momentum (N m s) of joint ``i``'s rotor at ``rate`` (rad/s), link coordinates.

    A motion m added to the parent's velocity changes the moment by m_w x L. Siciliano et al. 2009, section 7.5.2.
    """
    k = model.geared[i]
    if k > 0:
        S = model.S
        # G -= L x, L = spin_k z qd_k
        momentum = model.spin[k] * rate
        Lx, Ly, Lz = momentum * S[k, 0], momentum * S[k, 1], momentum * S[k, 2]
        G[i, 0, 1] += Lz
        G[i, 0, 2] -= Ly
        G[i, 1, 0] -= Lz
        G[i, 1, 2] += Lx
        G[i, 2, 0] += Ly
        G[i, 2, 1] -= Lx


@kernel
def rotor_changes(model, work, i):
    """Write F_M[i], F_qd[i] and C[i] += the parts of joint ``i``'s rotor, which act on the links before it only.

    Reads row v of the link. The derivatives of ``rotor_torque`` by qdd_k and qd_k, and of tau_k by the parent's motion.
    Siciliano et al. 2009, section 7.5.2.
    """
    # F_M += [ spin_k z ; 0 ],  F_qd += [ spin_k w_p x z ; 0 ],  C += spin_k w_p x z
    rotor_momentum(model, i, work.F_M, i)
    rotor_gyration(model, work.v, i, 1.0, work.F_qd)
    rotor_gyration(model, work.v, i, 1.0, work.C)
