"""Inverse articulated-body inertias of the assembly that a joint makes of two (Featherstone 1999); see ``passes``.

``j`` is the assembly above joint ``i``, ``i`` the one beyond it. The second handle of the joined assembly is that of
``i`` where ``through`` says so, that of ``j`` where it is ``kept``; else there is none.
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.divide_and_conquer.inverse_inertia import (
    motion_at_link,
    product_of_row,
    product_with_column,
    scaled_column,
    solved_lower,
)
from robot_dynamics_ros.kernels.rotors import rotor_axis


@kernel
def accelerations_by_handles(assembly, work, j, i):
    """Write G_1[i] and G_2[i] of ``work``: L^-1 times relative acceleration per force on each handle that remains."""
    L, G_1, G_2, Phi, E, r = work.L, work.G_1[i], work.G_2[i], work.Phi_12, work.E, work.r
    F = work.Phi_22[j]
    for k in range(6):
        x, y, z, u, v, w = motion_at_link(
            E, r, i, Phi[j, k, 0], Phi[j, k, 1], Phi[j, k, 2], Phi[j, k, 3], Phi[j, k, 4], Phi[j, k, 5]
        )
        G_1[0, k], G_1[1, k], G_1[2, k], G_1[3, k], G_1[4, k], G_1[5, k] = solved_lower(L, i, x, y, z, u, v, w)
        if assembly.through[i] == 1:
            G_2[0, k], G_2[1, k], G_2[2, k], G_2[3, k], G_2[4, k], G_2[5, k] = solved_lower(
                L, i, Phi[i, 0, k], Phi[i, 1, k], Phi[i, 2, k], Phi[i, 3, k], Phi[i, 4, k], Phi[i, 5, k]
            )
        if assembly.kept[i] == 1:
            x, y, z, u, v, w = motion_at_link(
                E, r, i, -F[0, k], -F[min(1, k), max(1, k)], -F[min(2, k), max(2, k)],
                -F[min(3, k), max(3, k)], -F[min(4, k), max(4, k)], -F[k, 5],
            )  # fmt: skip
            G_2[0, k], G_2[1, k], G_2[2, k], G_2[3, k], G_2[4, k], G_2[5, k] = solved_lower(L, i, x, y, z, u, v, w)


@kernel
def subtract_rotor(model, work, j, i):
    """Write z[k] -= X_i m, d[k] -= s' m and u[k] -= s' b_2[j] of the velocity ``k`` of joint ``i``, whose rotor spins.

    The couple s = [ spin_k z ; 0 ] acts on the parent link, which it accelerates by m = Phi_22 s. Siciliano et al.
    2009, section 7.5.2.
    """
    k, F = model.geared[i], work.Phi_22[j]
    x, y, z = rotor_axis(model, i)
    x, y, z = model.spin[k] * x, model.spin[k] * y, model.spin[k] * z
    mx, my, mz = (
        F[0, 0] * x + F[0, 1] * y + F[0, 2] * z,
        F[0, 1] * x + F[1, 1] * y + F[1, 2] * z,
        F[0, 2] * x + F[1, 2] * y + F[2, 2] * z,
    )
    wx, wy, wz, vx, vy, vz = motion_at_link(
        work.E, work.r, i, mx, my, mz,
        F[0, 3] * x + F[1, 3] * y + F[2, 3] * z,
        F[0, 4] * x + F[1, 4] * y + F[2, 4] * z,
        F[0, 5] * x + F[1, 5] * y + F[2, 5] * z,
    )  # fmt: skip
    work.z[k, 0] -= wx
    work.z[k, 1] -= wy
    work.z[k, 2] -= wz
    work.z[k, 3] -= vx
    work.z[k, 4] -= vy
    work.z[k, 5] -= vz
    work.d[k] -= x * mx + y * my + z * mz
    work.u[k] -= x * work.b_2[j, 0] + y * work.b_2[j, 1] + z * work.b_2[j, 2]


@kernel
def responses(model, assembly, work, j, i, k):
    """Write h_1[k] = y_k' G_1[i] and h_2[k] = y_k' G_2[i] of ``work``: of the velocity ``k`` to forces on the handles.

    A spinning rotor adds s' Phi_12[j]' and -s' Phi_22[j], see ``subtract_rotor``.
    """
    h_1, h_2, Phi, F = work.h_1, work.h_2, work.Phi_12, work.Phi_22[j]
    for column in range(6):
        h_1[k, column] = product_of_row(work.y, k, work.G_1, i, column)
        if assembly.through[i] == 1 or assembly.kept[i] == 1:
            h_2[k, column] = product_of_row(work.y, k, work.G_2, i, column)
    if model.geared[i] == k:
        x, y, z = rotor_axis(model, i)
        x, y, z = model.spin[k] * x, model.spin[k] * y, model.spin[k] * z
        for row in range(6):
            h_1[k, row] += Phi[j, row, 0] * x + Phi[j, row, 1] * y + Phi[j, row, 2] * z
        if assembly.kept[i] == 1:
            for row in range(6):
                h_2[k, row] -= F[0, row] * x + F[min(1, row), max(1, row)] * y + F[min(2, row), max(2, row)] * z


@kernel
def add_to_inverse_inertias(model, assembly, work, j, i):
    """Write the rows ``j`` of Phi_11 Phi_12 Phi_22 b_1 b_2 of ``work``, those of the joined assembly.

    Phi_11 -= G_1' D^-1 G_1 - sum of h_1 h_1' / d;  b_1 -= G_1' D^-1 g + sum of h_1 u / d; likewise the others.
    """
    Phi_11, Phi_12, Phi_22, b_1, b_2 = work.Phi_11[j], work.Phi_12[j], work.Phi_22[j], work.b_1, work.b_2
    L, g = work.L, work.g
    if assembly.through[i] == 1:
        for row in range(6):
            b_2[j, row] = b_2[i, row]
            for column in range(6):
                Phi_12[row, column] = 0.0
            for column in range(row, 6):
                Phi_22[row, column] = work.Phi_22[i, row, column]
    for row in range(6):
        # a row of G_1' D^-1 times G_1, g and G_2
        x, y, z, u, v, w = scaled_column(work.G_1, L, i, row)
        b_1[j, row] -= x * g[i, 0] + y * g[i, 1] + z * g[i, 2] + u * g[i, 3] + v * g[i, 4] + w * g[i, 5]
        for column in range(row, 6):
            Phi_11[row, column] -= product_with_column(x, y, z, u, v, w, work.G_1, i, column)
        if assembly.through[i] == 1 or assembly.kept[i] == 1:
            for column in range(6):
                Phi_12[row, column] += product_with_column(x, y, z, u, v, w, work.G_2, i, column)
            # a row of G_2' D^-1 times G_2 and g
            x, y, z, u, v, w = scaled_column(work.G_2, L, i, row)
            b_2[j, row] += x * g[i, 0] + y * g[i, 1] + z * g[i, 2] + u * g[i, 3] + v * g[i, 4] + w * g[i, 5]
            for column in range(row, 6):
                Phi_22[row, column] -= product_with_column(x, y, z, u, v, w, work.G_2, i, column)
    for k in range(model.first[i], model.first[i + 1]):
        d_inv = 1.0 / work.d[k]
        for row in range(6):
            h_d = work.h_1[k, row] * d_inv
            b_1[j, row] -= h_d * work.u[k]
            for column in range(row, 6):
                Phi_11[row, column] += h_d * work.h_1[k, column]
            if assembly.through[i] == 1 or assembly.kept[i] == 1:
                for column in range(6):
                    Phi_12[row, column] -= h_d * work.h_2[k, column]
        if assembly.through[i] == 1 or assembly.kept[i] == 1:
            for row in range(6):
                h_d = work.h_2[k, row] * d_inv
                b_2[j, row] += h_d * work.u[k]
                for column in range(row, 6):
                    Phi_22[row, column] += h_d * work.h_2[k, column]
