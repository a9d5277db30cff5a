"""Divide-and-conquer articulated-body algorithm: forward dynamics in O(log n) steps.

An assembly of links has a handle on its first link and possibly one on another link; forces f on the handles accelerate
them by

    a_1 = Phi_11 f_1 + Phi_12 f_2 + b_1
    a_2 = Phi_12' f_1 + Phi_22 f_2 + b_2,

each in its link's coordinates (Featherstone 1999, part 1). A joint joins two assemblies to one. Its force is
eliminated by the factors L D L' of the sum of both inverse inertias, one velocity of the joint after the other:
products stay symmetric, a rotor needs no case of its own, and a joint that is free in all directions is no exception.
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.divide_and_conquer.free_links import free_link
from robot_dynamics_ros.kernels.divide_and_conquer.inverse_inertia import (
    factor_inverse_inertia,
    inverse_inertia_at_link,
    motion_at_link,
    solve_lower,
    solve_upper,
)
from robot_dynamics_ros.kernels.divide_and_conquer.joined_inverse_inertias import (
    accelerations_by_handles,
    add_to_inverse_inertias,
    responses,
    subtract_rotor,
)
from robot_dynamics_ros.kernels.joint_springs import against_spring
from robot_dynamics_ros.kernels.joints import across_joint
from robot_dynamics_ros.kernels.rotors import rotor_momentum_of_rate
from robot_dynamics_ros.kernels.spatial import cross, dot, force_at_parent, rotate


@kernel
def join(model, assembly, work, q, qd, tau, i):
    """Write the inverse inertias of the assembly that joint ``i`` makes of two, in the rows of the assembly above.

    Writes also the rows of L G_1 G_2 g z y h_1 h_2 d u of the joint, which ``separate`` reads. Reads q (nq, rad or m),
    qd (nv, per s) and tau (nv, N m or N). Featherstone 1999, part 1, with factors K = L D L' in place of its inverse
    and of a basis of the constraint forces; these are the forces of Featherstone & Orin 2000, section 3.5.
    """
    j, L, g = assembly.above[i], work.L, work.g
    if assembly.alone[i] == 1:
        free_link(model, assembly, work, qd, i)
    if assembly.alone_above[i] == 1:
        free_link(model, assembly, work, qd, j)
    relative_acceleration(model, work, qd, j, i)
    # K = Phi_11_i + X_i Phi_22_j X_i' = L D L'
    if model.parent[i] == 0:
        for row in range(6):
            for column in range(row, 6):
                L[i, row, column] = work.Phi_11[i, row, column]
    else:
        inverse_inertia_at_link(work.E, work.r, work.Phi_22, j, i, L)
        for row in range(6):
            for column in range(row, 6):
                L[i, row, column] += work.Phi_11[i, row, column]
    factor_inverse_inertia(L, i)
    # g = L^-1 (relative acceleration),  G_1 = L^-1 X_i Phi_21_j,  G_2 = L^-1 Phi_12_i or -L^-1 X_i Phi_22_j
    solve_lower(L, i, g, i)
    if model.parent[i] > 0:
        accelerations_by_handles(assembly, work, j, i)
    for k in range(model.first[i], model.first[i + 1]):
        # z_k = L^-1 S_k,  y_k = D^-1 z_k - sum of y y' z_k / d,  d_k = z_k' y_k + rotor_k
        for row in range(6):
            work.z[k, row] = model.S[k, row]
        work.d[k] = model.rotor[k]
        work.u[k] = tau[k - 1] - against_spring(model, q, k)
        if model.geared[i] == k:
            subtract_rotor(model, work, j, i)
        solve_lower(L, i, work.z, k)
        for row in range(6):
            work.y[k, row] = L[i, row, row] * work.z[k, row]
        for before in range(model.first[i], k):
            y_z = dot(work.y, before, work.z, k) / work.d[before]
            for row in range(6):
                work.y[k, row] -= y_z * work.y[before, row]
            # u_k -= z_k' y u / d: torques of the velocities before
            work.u[k] -= y_z * work.u[before]
        work.d[k] += dot(work.z, k, work.y, k)
        # h_1 = y_k' G_1,  h_2 = y_k' G_2
        if model.parent[i] > 0:
            responses(model, assembly, work, j, i, k)
    # u_k -= y_k' g
    for k in range(model.first[i], model.first[i + 1]):
        work.u[k] -= dot(work.y, k, g, i)
    if model.parent[i] > 0:
        add_to_inverse_inertias(model, assembly, work, j, i)


@kernel
def relative_acceleration(model, work, qd, j, i):
    """Write g[i] = c_i + X_i b_2[j] - b_1[i] of ``work``, the acceleration across joint ``i`` without its force.

    The velocity-product acceleration c_i is that of ``aba``. Featherstone & Orin 2000, eq. 4.
    """
    g, w, p = work.g, work.w, model.parent[i]
    # c_i = [ E_i w_p x S_i qd_i ; E_i w_p x w_p x r_i + (E_i w_p + w_i) x S_i qd_i ]
    Ew_x, Ew_y, Ew_z = rotate(work.E, i, w[p, 0], w[p, 1], w[p, 2])
    wx, wy, wz, vx, vy, vz = across_joint(model, qd, i)
    g[i, 0], g[i, 1], g[i, 2] = cross(Ew_x, Ew_y, Ew_z, wx, wy, wz)
    g[i, 3], g[i, 4], g[i, 5] = cross(Ew_x + w[i, 0], Ew_y + w[i, 1], Ew_z + w[i, 2], vx, vy, vz)
    wr_x, wr_y, wr_z = cross(w[p, 0], w[p, 1], w[p, 2], work.r[i, 0], work.r[i, 1], work.r[i, 2])
    ax, ay, az = cross(w[p, 0], w[p, 1], w[p, 2], wr_x, wr_y, wr_z)
    b = work.b_2
    alpha_x, alpha_y, alpha_z, ax, ay, az = motion_at_link(
        work.E, work.r, i, b[j, 0], b[j, 1], b[j, 2], b[j, 3] + ax, b[j, 4] + ay, b[j, 5] + az
    )
    g[i, 0] += alpha_x - work.b_1[i, 0]
    g[i, 1] += alpha_y - work.b_1[i, 1]
    g[i, 2] += alpha_z - work.b_1[i, 2]
    g[i, 3] += ax - work.b_1[i, 3]
    g[i, 4] += ay - work.b_1[i, 4]
    g[i, 5] += az - work.b_1[i, 5]


@kernel
def separate(model, assembly, work, i, qdd):
    """Write the accelerations of joint ``i`` in qdd (nv, rad/s^2 or m/s^2), and the forces on the handles it joined.

    Writes f_1 and f_2 of both assemblies and p[i] of ``work``, from f_1 and f_2 of the joined one and the rows that
    ``join`` wrote. Featherstone 1999, part 1; Featherstone & Orin 2000, section 3.5.
    """
    j, f_1, f_2, f, z = assembly.above[i], work.f_1, work.f_2, work.p, work.z
    # f = g + G_1 f_1 - G_2 f_2 + sum of z qdd
    for row in range(6):
        f[i, row] = work.g[i, row]
    first = model.first[i]
    last = model.first[i + 1] - 1
    for k in range(last, first - 1, -1):
        # qdd_k = (u_k - h_1 f_1 + h_2 f_2 - y_k' sum of z qdd of the velocities behind) / d_k
        u = work.u[k]
        if model.parent[i] > 0:
            u -= dot(work.h_1, k, f_1, j)
        if assembly.through[i] == 1 or assembly.kept[i] == 1:
            u += dot(work.h_2, k, f_2, j)
        for behind in range(k + 1, last + 1):
            u -= dot(work.y, k, z, behind) * qdd[behind - 1]
        qdd[k - 1] = u / work.d[k]
    for k in range(first, last + 1):
        for row in range(6):
            f[i, row] += z[k, row] * qdd[k - 1]
    if model.parent[i] > 0:
        for row in range(6):
            for column in range(6):
                f[i, row] += work.G_1[i, row, column] * f_1[j, column]
    if assembly.through[i] == 1 or assembly.kept[i] == 1:
        for row in range(6):
            for column in range(6):
                f[i, row] -= work.G_2[i, row, column] * f_2[j, column]
    # the joint's force on link i: f_1 = L'^-1 D^-1 f
    for row in range(6):
        f_1[i, row] = work.L[i, row, row] * f[i, row]
    solve_upper(work.L, i, f_1, i)
    if model.parent[i] > 0:
        # on the parent link: -X_i' (f_1 + [ spin_k z qdd_k ; 0 ])
        for row in range(6):
            f[i, row] = f_1[i, row]
        rotor_momentum_of_rate(model, i, qdd[model.first[i] - 1], f)
        nx, ny, nz, fx, fy, fz = force_at_parent(
            work.E, work.r, i, f[i, 0], f[i, 1], f[i, 2], f[i, 3], f[i, 4], f[i, 5]
        )
        if assembly.kept[i] == 1:
            f_2[j, 0] -= nx
            f_2[j, 1] -= ny
            f_2[j, 2] -= nz
            f_2[j, 3] -= fx
            f_2[j, 4] -= fy
            f_2[j, 5] -= fz
        else:
            if assembly.through[i] == 1:
                for row in range(6):
                    f_2[i, row] = f_2[j, row]
            f_2[j, 0], f_2[j, 1], f_2[j, 2], f_2[j, 3], f_2[j, 4], f_2[j, 5] = -nx, -ny, -nz, -fx, -fy, -fz
