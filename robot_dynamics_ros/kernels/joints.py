"""Joint transforms, and joint velocities as spatial velocities of the links."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.sincos import sincos


@kernel
def joint_transform(model, q, i, E, r):
    """Write the transform X_i of joint ``i`` (1..n) at its coordinates in ``q`` (rad, m) into ``E[i]`` and ``r[i]``.

    A joint has one angle about its axis, a unit quaternion (x, y, z, w), or neither, and up to three slides; ``model``
    has their indices in ``q``. The constant matrices include the fixed rotation from the parent (RBDA section 4.4:
    X_i = X_J X_T; table 4.1; quaternions: eq. 4.12 with w last).
    """
    # r = r0 + r1 q
    for row in range(3):
        r[i, row] = model.r0[i, row]
        for k in range(model.slides[i]):
            r[i, row] += model.r1[i, k, row] * q[model.slide[i] + k]
    if model.angle[i] >= 0:
        # E = E0 + Ec cos(q) + Es sin(q)
        s, c = sincos(q[model.angle[i]])
        for row in range(3):
            for column in range(3):
                E[i, row, column] = (
                    model.E0[i, row, column] + model.Ec[i, row, column] * c + model.Es[i, row, column] * s
                )
    elif model.quaternion[i] >= 0:
        # E = E_J E0 with E_J of the unit quaternion (x, y, z, w)
        k = model.quaternion[i]
        x, y, z, w = q[k], q[k + 1], q[k + 2], q[k + 3]
        x2, y2, z2 = x + x, y + y, z + z
        for column in range(3):
            E0_x, E0_y, E0_z = model.E0[i, 0, column], model.E0[i, 1, column], model.E0[i, 2, column]
            E[i, 0, column] = (1.0 - y2 * y - z2 * z) * E0_x + (x2 * y + z2 * w) * E0_y + (x2 * z - y2 * w) * E0_z
            E[i, 1, column] = (x2 * y - z2 * w) * E0_x + (1.0 - x2 * x - z2 * z) * E0_y + (y2 * z + x2 * w) * E0_z
            E[i, 2, column] = (x2 * z + y2 * w) * E0_x + (y2 * z - x2 * w) * E0_y + (1.0 - x2 * x - y2 * y) * E0_z
    else:
        # E = E0
        for row in range(3):
            for column in range(3):
                E[i, row, column] = model.E0[i, row, column]


@kernel
def across_joint(model, rates, i):
    """Return S_i rates_i, six components in link coordinates; ``rates`` (nv) are velocities or accelerations."""
    wx, wy, wz, vx, vy, vz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(model.first[i], model.first[i + 1]):
        wx += model.S[k, 0] * rates[k - 1]
        wy += model.S[k, 1] * rates[k - 1]
        wz += model.S[k, 2] * rates[k - 1]
        vx += model.S[k, 3] * rates[k - 1]
        vy += model.S[k, 4] * rates[k - 1]
        vz += model.S[k, 5] * rates[k - 1]
    return wx, wy, wz, vx, vy, vz
