"""Forces of the constraints of closed loops on the joints: freely, and through articulated bodies."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.closed_loops.constraints import constraint_force, coupling
from robot_dynamics_ros.kernels.force_propagation import force_along, propagate_force
from robot_dynamics_ros.kernels.spatial import cross, force_at_parent, rotate, rotate_back


@kernel
def force_on_link(model, work, constraint, i):
    """Return the unit force of a constraint of a closure as a force on link ``i``, six components in the link's frame.

    Reads ``model`` and the arrays T R_A p_B e_AB z_B of ``work``. RBDA section 8.3.
    """
    c = model.constrained[constraint, 0]
    nx, ny, nz, fx, fy, fz = constraint_force(model, work, constraint)
    nx, ny, nz = rotate(work.R_A, c, nx, ny, nz)
    fx, fy, fz = rotate(work.R_A, c, fx, fy, fz)
    # n + (p_B - p_i) x f
    cx, cy, cz = cross(
        work.p_B[c, 0] - work.T[i, 0, 3],
        work.p_B[c, 1] - work.T[i, 1, 3],
        work.p_B[c, 2] - work.T[i, 2, 3],
        fx,
        fy,
        fz,
    )
    nx, ny, nz = rotate_back(work.T, i, nx + cx, ny + cy, nz + cz)
    fx, fy, fz = rotate_back(work.T, i, fx, fy, fz)
    return nx, ny, nz, fx, fy, fz


@kernel
def constraint_jacobian_of_poses(model, work, q, J):
    """Write J (m, nv), the derivative of the errors, at q (nq, rad or m). Featherstone & Orin 2000, eq. 17.

    Writes all of ``J``; reads ``model`` and the arrays E r T R_A p_B e_AB z_B of ``work``.
    """
    closing = model.constrained.shape[0]
    for constraint in range(J.shape[0]):
        for k in range(J.shape[1]):
            J[constraint, k] = 0.0
    for constraint in range(closing):
        # the constraint's force on b, and minus this force on a, down to the last link that both move with
        c = model.constrained[constraint, 0]
        for side in range(2):
            j = model.loop_link[c, side]
            stop = model.loop_link[c, 2]
            nx, ny, nz, fx, fy, fz = force_on_link(model, work, constraint, j)
            sign = 2.0 * side - 1.0
            while j != stop:
                for k in range(model.first[j], model.first[j + 1]):
                    J[constraint, k - 1] = sign * force_along(model, k, nx, ny, nz, fx, fy, fz)
                nx, ny, nz, fx, fy, fz = force_at_parent(work.E, work.r, j, nx, ny, nz, fx, fy, fz)
                j = model.parent[j]
    for k in range(model.coupled.shape[0]):
        _, slope, _ = coupling(model, q, k)
        J[closing + k, model.coupled[k, 0] - 1] = 1.0
        if model.coupled[k, 3] > 0:
            J[closing + k, model.coupled[k, 3] - 1] = -slope


@kernel
def propagate_constraints(model, work, q, K):
    """Write K (nv, m) with J M^-1 J' = K' D^-1 K, at q (nq, rad or m): forces of the constraints, through free joints.

    Writes all of ``K``, and V_weight, see ``effective_mobility``; reads ``model`` and the arrays E r U d T R_A p_B e_AB
    z_B of ``work``. See ``propagate_force``: Rodriguez, Jain & Kreutz-Delgado 1991, section 5; for Featherstone & Orin
    2000, eq. 21.
    """
    closing = model.constrained.shape[0]
    for k in range(K.shape[0]):
        for constraint in range(K.shape[1]):
            K[k, constraint] = 0.0
    for constraint in range(closing):
        # the force on b and minus this force on a meet at the last link that both move with
        c = model.constrained[constraint, 0]
        a, b, stop = model.loop_link[c, 0], model.loop_link[c, 1], model.loop_link[c, 2]
        nx, ny, nz, fx, fy, fz = force_on_link(model, work, constraint, b)
        bx, by, bz, bfx, bfy, bfz = propagate_force(model, work, b, stop, constraint, nx, ny, nz, fx, fy, fz, K)
        nx, ny, nz, fx, fy, fz = force_on_link(model, work, constraint, a)
        ax, ay, az, afx, afy, afz = propagate_force(model, work, a, stop, constraint, -nx, -ny, -nz, -fx, -fy, -fz, K)
        propagate_force(model, work, stop, 0, constraint, ax + bx, ay + by, az + bz, afx + bfx, afy + bfy, afz + bfz, K)
        work.V_weight[constraint] = effective_mobility(model, work, constraint)
    for k in range(model.coupled.shape[0]):
        _, slope, _ = coupling(model, q, k)
        propagate_torque(model, work, model.coupled[k, 0], model.coupled[k, 2], closing + k, 1.0, K)
        work.V_weight[closing + k] = 1.0 / work.d[model.coupled[k, 0]]
        if model.coupled[k, 3] > 0:
            propagate_torque(model, work, model.coupled[k, 3], model.coupled[k, 5], closing + k, -slope, K)


@kernel
def effective_mobility(model, work, constraint):
    """Return the mobility (1 / kg or 1 / (kg m^2)) that a constraint of a closure has if its force moves all joints.

    It is the square of the constraint's vector D^-1/2 K. A force in a direction in which no joint moves has one of
    rounding alone: it is not zero where the axes of joints are turned in space. Reads ``model``, the arrays d r of
    ``work`` and V_weight of the constraint before. For the rank test of Golub & Van Loan 2013, section 5.4.
    """
    c = model.constrained[constraint, 0]
    component = model.constrained[constraint, 1]
    # those of one unit begin with component 0, 3 or 6
    if component != component // 3 * 3:
        return work.V_weight[constraint - 1]
    square = 0.0
    for side in range(2):
        j = model.loop_link[c, side]
        x, y, z = model.loop_p[c, side, 0], model.loop_p[c, side, 1], model.loop_p[c, side, 2]
        # |n|^2 and |f|^2 of a unit moment, or of a unit force, with levers as if at right angles to each other
        nn, ff = 1.0, 0.0
        if component == 3:
            nn, ff = 0.0, 1.0
        while j > 0:
            if component == 3:
                nn += x * x + y * y + z * z
            for k in range(model.first[j], model.first[j + 1]):
                # (|S_w|^2 |n|^2 + |S_v|^2 |f|^2) / d
                ww = model.S[k, 0] * model.S[k, 0] + model.S[k, 1] * model.S[k, 1] + model.S[k, 2] * model.S[k, 2]
                vv = model.S[k, 3] * model.S[k, 3] + model.S[k, 4] * model.S[k, 4] + model.S[k, 5] * model.S[k, 5]
                square += (ww * nn + vv * ff) / work.d[k]
            x, y, z = work.r[j, 0], work.r[j, 1], work.r[j, 2]
            j = model.parent[j]
    return square


@kernel
def propagate_torque(model, work, k, i, column, tau_k, K):
    """Write column ``column`` of K (nv, any) += the joint torque tau_k (N m, N) of velocity ``k``, and its reactions.

    ``k`` is the only velocity of joint ``i``. Reads ``model`` and E r U d of ``work``. See ``propagate_force``:
    Rodriguez, Jain & Kreutz-Delgado 1991, section 5.
    """
    K[k - 1, column] += tau_k
    # f = -U_k tau_k / d_k on the link, X' f on its parent
    share = -(tau_k / work.d[k])
    nx, ny, nz, fx, fy, fz = force_at_parent(
        work.E,
        work.r,
        i,
        work.U[k, 0] * share,
        work.U[k, 1] * share,
        work.U[k, 2] * share,
        work.U[k, 3] * share,
        work.U[k, 4] * share,
        work.U[k, 5] * share,
    )
    propagate_force(model, work, model.parent[i], 0, column, nx, ny, nz, fx, fy, fz, K)
