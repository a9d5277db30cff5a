"""Energy regressors: kinetic and potential energy as products with the links' inertial parameters."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.motion import link_velocity
from robot_dynamics_ros.kernels.spatial import cross, rotate


@kernel
def kinetic_energy_regressor(model, work, q, qd, y):
    """Write y (10 n) with T = y pi, the links' kinetic energy (J) at q (nq, rad or m), qd (nv, per s).

    ``pi`` is as for ``torque_regressor``; rotors are not included. Writes all of ``y`` and the arrays E r v of
    ``work``. Reads of ``model`` the geometry only. Siciliano et al. 2009, section 7.2.2.
    """
    n = model.parent.shape[0] - 1
    for k in range(6):
        work.v[0, k] = 0.0
    for i in range(1, n + 1):
        # v_i = X_i v_p + S_i qd_i
        joint_transform(model, q, i, work.E, work.r)
        link_velocity(model, work, qd, i)
        # T_i = (m v' v + 2 h' (v x w) + w' J w) / 2
        first = 10 * (i - 1)
        wx, wy, wz = work.v[i, 0], work.v[i, 1], work.v[i, 2]
        vx, vy, vz = work.v[i, 3], work.v[i, 4], work.v[i, 5]
        y[first] = 0.5 * (vx * vx + vy * vy + vz * vz)
        y[first + 1], y[first + 2], y[first + 3] = cross(vx, vy, vz, wx, wy, wz)
        y[first + 4], y[first + 5], y[first + 6] = 0.5 * wx * wx, wx * wy, wx * wz
        y[first + 7], y[first + 8], y[first + 9] = 0.5 * wy * wy, wy * wz, 0.5 * wz * wz


@kernel
def potential_energy_regressor(model, work, q, gravity, y):
    """Write y (10 n) with V = y pi, the potential energy (J) of ``potential_energy`` at q (nq, rad or m).

    ``pi`` is as for ``torque_regressor``. Writes all of ``y`` and the arrays E r a d of ``work``: the linear part of a
    is minus gravity, d the potential energy of 1 kg at the link's origin (J/kg). Reads of ``model`` the geometry only,
    and ``gravity`` (3, m/s^2, base frame). Siciliano et al. 2009, section 7.2.2.
    """
    n = model.parent.shape[0] - 1
    work.d[0] = 0.0
    for k in range(3):
        work.a[0, k + 3] = -gravity[k]
    for i in range(1, n + 1):
        p = model.parent[i]
        joint_transform(model, q, i, work.E, work.r)
        # d_i = d_p - gravity_p' r_i
        work.d[i] = work.d[p] + work.a[p, 3] * work.r[i, 0] + work.a[p, 4] * work.r[i, 1] + work.a[p, 5] * work.r[i, 2]
        work.a[i, 3], work.a[i, 4], work.a[i, 5] = rotate(work.E, i, work.a[p, 3], work.a[p, 4], work.a[p, 5])
        # V_i = m d_i - gravity_i' h
        first = 10 * (i - 1)
        y[first] = work.d[i]
        y[first + 1], y[first + 2], y[first + 3] = work.a[i, 3], work.a[i, 4], work.a[i, 5]
        for k in range(4, 10):
            y[first + k] = 0.0
