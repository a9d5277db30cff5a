"""Centre of mass and momentum of the whole robot."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.inertia import inertia_times, inertia_to_parent
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.rotors import rotor_momentum
from robot_dynamics_ros.kernels.spatial import cross, force_to_parent


@kernel
def single_inertias(model, work, q):
    """Write the rows E r I_c of ``work`` at q (nq, rad or m): the inertia of each single link, zero for the base.

    Reads ``model``. RBDA section 6.2, where composite inertias begin.
    """
    for k in range(10):
        work.I_c[0, k] = 0.0
    for i in range(1, model.parent.shape[0]):
        joint_transform(model, q, i, work.E, work.r)
        for k in range(10):
            work.I_c[i, k] = model.I[i, k]


@kernel
def composite_inertias(model, work, q):
    """Write the rows E r I_c of ``work`` at q (nq, rad or m): the composite inertia of each link's subtree.

    Row 0 is the inertia of everything that moves, in the base frame. Reads ``model``. RBDA eq. 6.3.
    """
    single_inertias(model, work, q)
    # I_c_p += X_i' I_c_i X_i
    for i in range(model.parent.shape[0] - 1, 0, -1):
        inertia_to_parent(work.E, work.r, work.I_c, i, model.parent[i])


@kernel
def center_of_mass(model, work, q, c):
    """Write c (3, m), the centre of mass in the base frame at q (nq, rad or m).

    Writes ``c`` and the rows E r I_c of ``work``. Reads ``model``. A robot without mass gives NaN.
    Siciliano et al. 2009, section 7.1.2.
    """
    composite_inertias(model, work, q)
    for k in range(3):
        c[k] = work.I_c[0, k + 1] / work.I_c[0, 0]


@kernel
def centroidal_momentum_matrix(model, work, q, A):
    """Write A (6, nv), with A qd the momentum about the centre of mass (N m s, N s) in the axes of the base frame.

    Writes all of ``A`` and the rows E r I_c f of ``work``. Reads ``model``. The angular momentum of
    rotors is included. A robot without mass gives NaN. Orin & Goswami 2008, eq. 21, 27.
    """
    n = model.parent.shape[0] - 1
    composite_inertias(model, work, q)
    m = work.I_c[0, 0]
    x, y, z = work.I_c[0, 1] / m, work.I_c[0, 2] / m, work.I_c[0, 3] / m
    for i in range(1, n + 1):
        for k in range(model.first[i], model.first[i + 1]):
            # F = I_c_i S_k + [ spin_k z ; 0 ], transformed to the base
            inertia_times(work.I_c, i, model.S, k, work.f, i)
            rotor_momentum(model, i, work.f, i)
            j = i
            while j > 0:
                for row in range(6):
                    work.f[model.parent[j], row] = 0.0
                force_to_parent(work.E, work.r, work.f, j, model.parent[j])
                j = model.parent[j]
            # moment about the centre of mass c: n - c x F
            fx, fy, fz = work.f[0, 3], work.f[0, 4], work.f[0, 5]
            cf_x, cf_y, cf_z = cross(x, y, z, fx, fy, fz)
            A[0, k - 1] = work.f[0, 0] - cf_x
            A[1, k - 1] = work.f[0, 1] - cf_y
            A[2, k - 1] = work.f[0, 2] - cf_z
            A[3, k - 1], A[4, k - 1], A[5, k - 1] = fx, fy, fz
