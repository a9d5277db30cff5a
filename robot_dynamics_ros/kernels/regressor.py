"""Torque regressor: joint torques are linear in the inertial parameters of the links."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.motion import base_motion, link_motion, no_motion
from robot_dynamics_ros.kernels.spatial import cross, motion_from_parent


@kernel
def torque_regressor(model, work, q, qd, qdd, gravity, Y):
    """Write Y (nv, 10 n), tau = Y pi for the motion q (nq, rad or m), qd, qdd (nv each, per s, s^2) without rotors.

    ``pi`` holds the ten parameters of each moving link (see ``inertia``), one link after the other. Writes all of ``Y``
    and the arrays E r w a B v rest still of ``work``. Reads of ``model`` the geometry only, and ``gravity`` (3, m/s^2,
    base frame).

    Siciliano et al. 2009, section 7.2.2. Deviation: row k is the power of the links' forces at unit velocity k, which
    needs one velocity per link from the base outwards instead of ten forces inwards.
    """
    n = model.parent.shape[0] - 1
    no_motion(work)
    base_motion(work, work.still, work.still, gravity)
    for i in range(1, n + 1):
        link_motion(model, work, q, qd, qdd, i)

    for j in range(1, n + 1):
        for k in range(model.first[j], model.first[j + 1]):
            # v_j = S_k; v_i = 0 and no power where joint j does not move link i
            for i in range(j):
                for row in range(6):
                    work.v[i, row] = 0.0
            for column in range(10 * (j - 1)):
                Y[k - 1, column] = 0.0
            for row in range(6):
                work.v[j, row] = model.S[k, row]
            # v_i = X_i v_p,  Y_ki pi_i = v_i' f_i
            for i in range(j, n + 1):
                if i > j:
                    motion_from_parent(work.E, work.r, work.v, i, model.parent[i])
                power_of_parameters(work.w, work.a, work.B, work.v, i, Y, k - 1)


@kernel
def power_of_parameters(w, a, B, v, i, Y, row):
    """Write ten entries of Y[row] from column 10 (i - 1) on: v_i' f_i for a unit of each parameter of link i.

    f_i is the net force on the link, see ``body_force``.
    """
    first = 10 * (i - 1)
    wx, wy, wz = v[i, 0], v[i, 1], v[i, 2]
    vx, vy, vz = v[i, 3], v[i, 4], v[i, 5]
    xy, xz, yz = w[i, 0] * w[i, 1], w[i, 0] * w[i, 2], w[i, 1] * w[i, 2]
    # m: f = a
    Y[row, first] = vx * a[i, 3] + vy * a[i, 4] + vz * a[i, 5]
    # h: n = h x a, f = B h
    aw_x, aw_y, aw_z = cross(a[i, 3], a[i, 4], a[i, 5], wx, wy, wz)
    Y[row, first + 1] = aw_x + B[i, 0, 0] * vx + B[i, 1, 0] * vy + B[i, 2, 0] * vz
    Y[row, first + 2] = aw_y + B[i, 0, 1] * vx + B[i, 1, 1] * vy + B[i, 2, 1] * vz
    Y[row, first + 3] = aw_z + B[i, 0, 2] * vx + B[i, 1, 2] * vy + B[i, 2, 2] * vz
    # J: n = J alpha + w x J w, where B = alpha x + w x w x
    Y[row, first + 4] = wx * a[i, 0] + wy * xz - wz * xy
    Y[row, first + 5] = wy * B[i, 2, 1] - wx * B[i, 2, 0] + wz * (B[i, 0, 0] - B[i, 1, 1])
    Y[row, first + 6] = wx * B[i, 1, 0] - wz * B[i, 1, 2] + wy * (B[i, 2, 2] - B[i, 0, 0])
    Y[row, first + 7] = wy * a[i, 1] + wz * xy - wx * yz
    Y[row, first + 8] = wz * B[i, 0, 2] - wy * B[i, 0, 1] + wx * (B[i, 1, 1] - B[i, 2, 2])
    Y[row, first + 9] = wz * a[i, 2] + wx * yz - wy * xz
