"""Propagation of forces from a link towards the base, through articulated bodies."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.spatial import force_at_parent


@kernel
def propagate_force(model, work, i, stop, column, nx, ny, nz, fx, fy, fz, K):
    """Write column ``column`` of K (nv, any) += S' f for the joints from link ``i`` to, but without, ancestor ``stop``.

    (nx, ny, nz, fx, fy, fz) is a force on link ``i`` in its own frame. Returns the force that arrives at link ``stop``
    while all joints between are free, six components in the frame of ``stop``. Reads ``model`` and the arrays E r U d
    of ``work`` that ``aba`` writes. With all columns, zero before, propagated to the base, J M^-1 J' = K' D^-1 K, where
    J' maps each of the forces to joint torques.

    Rodriguez, Jain & Kreutz-Delgado 1991, section 5; it is p_A of Featherstone & Orin 2000, eq. 14, for this force.
    """
    j = i
    while j != stop:
        for k in range(model.first[j + 1] - 1, model.first[j] - 1, -1):
            # K_k = S_k' f,  f -= U_k K_k / d_k
            K_k = force_along(model, k, nx, ny, nz, fx, fy, fz)
            K[k - 1, column] += K_k
            nx, ny, nz, fx, fy, fz = force_past_velocity(work, k, K_k / work.d[k], nx, ny, nz, fx, fy, fz)
        # f_p = X' f
        nx, ny, nz, fx, fy, fz = force_at_parent(work.E, work.r, j, nx, ny, nz, fx, fy, fz)
        j = model.parent[j]
    return nx, ny, nz, fx, fy, fz


@kernel
def force_along(model, k, nx, ny, nz, fx, fy, fz):
    """Return S_k' f of a force on the link of velocity ``k``."""
    return (
        model.S[k, 0] * nx + model.S[k, 1] * ny + model.S[k, 2] * nz
        + model.S[k, 3] * fx + model.S[k, 4] * fy + model.S[k, 5] * fz
    )  # fmt: skip


@kernel
def force_past_velocity(work, k, K_d, nx, ny, nz, fx, fy, fz):
    """Return f - U_k K_d, what is transmitted of a force on the link of velocity ``k``: six components."""
    U = work.U
    return (
        nx - U[k, 0] * K_d,
        ny - U[k, 1] * K_d,
        nz - U[k, 2] * K_d,
        fx - U[k, 3] * K_d,
        fy - U[k, 4] * K_d,
        fz - U[k, 5] * K_d,
    )
