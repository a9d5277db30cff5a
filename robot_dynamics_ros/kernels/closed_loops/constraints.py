"""Constraints of closed loops: residuals, their rates and accelerations, and the forces that correspond to them.

The first ones are those of closures, whose frame B is held to their frame A, see ``relative_motion``. Their components
are

    0, 1, 2   2 epsilon, with (epsilon, eta) the quaternion of B against A: 2 sin(angle / 2) along the axis of rotation
    3, 4, 5   p_AB
    6, 7      2 sin(angle / 2) along x and y of A, with the angle between the z axes of A and B

Couplings follow: q_j - polynomial(q_other). The residual of each constraint has the rate J qd, where J is its
derivative, also where the loop is open. Only frames turned by half a turn against each other have no finite derivative.
"""

import numpy as np

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.spatial import cross


@kernel
def residuals(model, work, q, errors):
    """Write errors (m; rad, m) of all constraints at q (nq, rad or m). Featherstone & Orin 2000, eq. 16.

    Writes ``errors``; reads ``model`` and the arrays e_AB z_B p_AB of ``work``.
    """
    closing = model.constrained.shape[0]
    for constraint in range(closing):
        c = model.constrained[constraint, 0]
        component = model.constrained[constraint, 1]
        if component < 3:
            errors[constraint] = 2.0 * work.e_AB[c, component]
        elif component < 6:
            errors[constraint] = work.p_AB[c, component - 3]
        elif component == 6:
            # s (-z_y, z_x), z the z axis of B
            errors[constraint] = -(tilt_scale(work, c) * work.z_B[c, 1])
        else:
            errors[constraint] = tilt_scale(work, c) * work.z_B[c, 0]
    for k in range(model.coupled.shape[0]):
        value, _, _ = coupling(model, q, k)
        errors[closing + k] = q[model.coupled[k, 1]] - value


@kernel
def residual_rates(model, work, q, qd, rates):
    """Write rates (m; per s) of the errors at qd (nv, per s). Featherstone & Orin 2000, eq. 16, its derivative.

    Writes ``rates``; reads ``model`` and the arrays v_AB e_AB z_B of ``work``.
    """
    closing = model.constrained.shape[0]
    for constraint in range(closing):
        rates[constraint] = along_constraint(model, work, constraint, work.v_AB)
    for k in range(model.coupled.shape[0]):
        _, slope, _ = coupling(model, q, k)
        rates[closing + k] = qd[model.coupled[k, 0] - 1]
        if model.coupled[k, 3] > 0:
            rates[closing + k] -= slope * qd[model.coupled[k, 3] - 1]


@kernel
def residual_accelerations(model, work, q, qd, qdd, accelerations):
    """Write accelerations (m; per s^2) of the errors for the motion q (nq, rad or m), qd, qdd (nv, per s, s^2).

    Writes ``accelerations``; reads ``model`` and the arrays v_AB a_AB e_AB z_B of ``work``.
    Featherstone & Orin 2000, eq. 17.
    """
    closing = model.constrained.shape[0]
    for constraint in range(closing):
        accelerations[constraint] = along_constraint(model, work, constraint, work.a_AB)
        accelerations[constraint] += change_along_constraint(model, work, constraint)
    for k in range(model.coupled.shape[0]):
        _, slope, curvature = coupling(model, q, k)
        accelerations[closing + k] = qdd[model.coupled[k, 0] - 1]
        if model.coupled[k, 3] > 0:
            qd_k = qd[model.coupled[k, 3] - 1]
            accelerations[closing + k] -= slope * qdd[model.coupled[k, 3] - 1] + curvature * (qd_k * qd_k)


@kernel
def along_constraint(model, work, constraint, motions):
    """Return the product of the unit force of a constraint with one of ``motions`` (c, 6). RBDA section 8.3."""
    c = model.constrained[constraint, 0]
    nx, ny, nz, fx, fy, fz = constraint_force(model, work, constraint)
    return (
        nx * motions[c, 0] + ny * motions[c, 1] + nz * motions[c, 2]
        + fx * motions[c, 3] + fy * motions[c, 4] + fz * motions[c, 5]
    )  # fmt: skip


@kernel
def constraint_force(model, work, constraint):
    """Return the force of unit size that a constraint exerts on B: (moment at B's origin, force) in the axes of A.

    Its product with v_AB is the rate of the constraint's error. Reads ``model`` and the arrays e_AB z_B of ``work``.
    RBDA section 8.3.
    """
    c = model.constrained[constraint, 0]
    component = model.constrained[constraint, 1]
    nx, ny, nz, fx, fy, fz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if component < 3:
        # d/dt 2 epsilon = eta w + w x epsilon
        x, y, z, eta = work.e_AB[c, 0], work.e_AB[c, 1], work.e_AB[c, 2], work.e_AB[c, 3]
        if component == 0:
            nx, ny, nz = eta, z, -y
        elif component == 1:
            nx, ny, nz = -z, eta, x
        else:
            nx, ny, nz = y, -x, eta
    elif component == 3:
        fx = 1.0
    elif component == 4:
        fy = 1.0
    elif component == 5:
        fz = 1.0
    else:
        # d/dt s (-z_y, z_x) with dz/dt = w x z and ds/dt = -s^3 / 4 dz_z/dt
        s = tilt_scale(work, c)
        k = 0.25 * s * s * s
        x, y, z = work.z_B[c, 0], work.z_B[c, 1], work.z_B[c, 2]
        if component == 6:
            nx, ny, nz = s * z + k * y * y, -(k * x * y), -(s * x)
        else:
            nx, ny, nz = -(k * x * y), s * z + k * x * x, -(s * y)
    return nx, ny, nz, fx, fy, fz


@kernel
def change_along_constraint(model, work, constraint):
    """Return the acceleration of a constraint's error where a_AB is zero, at the velocity v_AB. RBDA section 8.2.

    Reads ``model`` and the arrays v_AB e_AB z_B of ``work``.
    """
    c = model.constrained[constraint, 0]
    component = model.constrained[constraint, 1]
    wx, wy, wz = work.v_AB[c, 0], work.v_AB[c, 1], work.v_AB[c, 2]
    change = 0.0
    if component < 3:
        # d eta/dt w + w x d epsilon/dt = -(w . w) epsilon / 2
        change = -(0.5 * (wx * wx + wy * wy + wz * wz) * work.e_AB[c, component])
    elif component > 5:
        # d^2/dt^2 s (-z_y, z_x) with d^2z/dt^2 = w x (w x z)
        s = tilt_scale(work, c)
        x, y, z = work.z_B[c, 0], work.z_B[c, 1], work.z_B[c, 2]
        dx, dy, dz = cross(wx, wy, wz, x, y, z)
        ddx, ddy, ddz = cross(wx, wy, wz, dx, dy, dz)
        ds = -(0.25 * s * s * s * dz)
        dds = -(0.25 * s * s * (3.0 * ds * dz + s * ddz))
        change = ddx * s + 2.0 * dx * ds + x * dds
        if component == 6:
            change = -(ddy * s + 2.0 * dy * ds + y * dds)
    return change


@kernel
def tilt_scale(work, c):
    """Return 1 / cos(angle / 2) of the angle between the z axes of A and B of closure ``c``."""
    return np.sqrt(2.0 / (1.0 + work.z_B[c, 2]))


@kernel
def coupling(model, q, k):
    """Return the polynomial of coupling ``k`` at q (nq, rad or m) of the other joint, and its two derivatives."""
    x = 0.0
    if model.coupled[k, 3] > 0:
        x = q[model.coupled[k, 4]]
    value, slope, curvature = 0.0, 0.0, 0.0
    for power in range(model.polynomial.shape[1] - 1, -1, -1):
        # Horner's rule, with both derivatives
        curvature = curvature * x + 2.0 * slope
        slope = slope * x + value
        value = value * x + model.polynomial[k, power]
    return value, slope, curvature
