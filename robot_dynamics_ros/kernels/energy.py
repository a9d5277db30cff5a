"""Kinetic and potential energy of the robot."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.centroidal import mass_moments
from robot_dynamics_ros.kernels.inertia import inertia_times
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.motion import link_velocity
from robot_dynamics_ros.kernels.rotors import rotor_energy
from robot_dynamics_ros.kernels.spatial import dot


@kernel
def kinetic_energy(model, work, q, qd, T):
    """Write T (1, J), the kinetic energy of the motion q (nq, rad or m), qd (nv, per s), rotors included.

    Writes ``T`` and the arrays E r v f of ``work``. Reads ``model``. RBDA eq. 2.67, summed over the bodies.
    """
    n = model.parent.shape[0] - 1
    T[0] = 0.0
    for k in range(6):
        work.v[0, k] = 0.0
    for i in range(1, n + 1):
        # v_i = X_i v_p + S_i qd_i
        joint_transform(model, q, i, work.E, work.r)
        link_velocity(model, work, qd, i)
        for k in range(model.first[i], model.first[i + 1]):
            # T += rotor_k qd_k^2 / 2
            T[0] += 0.5 * (model.rotor[k] * qd[k - 1] * qd[k - 1])
        # T += spin_i qd_i z . w_p
        rotor_energy(model, work.v, qd, i, T)
        # T += v_i' I_i v_i / 2
        inertia_times(model.I, i, work.v, i, work.f, i)
        T[0] += 0.5 * dot(work.v, i, work.f, i)


@kernel
def potential_energy(model, work, q, gravity, V):
    """Write V (1, J), the potential energy at q (nq, rad or m); zero where all mass is at the base frame's origin.

    Writes ``V`` and the arrays E r I_c of ``work``. Reads ``model`` and ``gravity`` (3, m/s^2, base frame).
    Siciliano et al. 2009, section 7.1.2.
    """
    for i in range(1, model.parent.shape[0]):
        joint_transform(model, q, i, work.E, work.r)
    mass_moments(model, work)
    # V = -gravity . sum of m c
    V[0] = -(gravity[0] * work.I_c[0, 1] + gravity[1] * work.I_c[0, 2] + gravity[2] * work.I_c[0, 3])


@kernel
def total_energy(model, work, q, qd, gravity, E):
    """Write E (1, J), the kinetic plus the potential energy at q (nq, rad or m), qd (nv, per s).

    Writes ``E`` and the arrays E r v f I_c of ``work``. Reads ``model`` and ``gravity`` (3, m/s^2, base frame).
    Siciliano et al. 2009, section 7.1.
    """
    kinetic_energy(model, work, q, qd, E)
    mass_moments(model, work)
    # E = T - gravity . sum of m c
    E[0] -= gravity[0] * work.I_c[0, 1] + gravity[1] * work.I_c[0, 2] + gravity[2] * work.I_c[0, 3]
