"""Centre of mass and momentum of the whole robot."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.inertia import inertia_times, inertia_to_parent
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.motion import link_velocity
from robot_dynamics_ros.kernels.poses import link_poses
from robot_dynamics_ros.kernels.rotors import rotor_momentum, rotor_momentum_of_rate
from robot_dynamics_ros.kernels.spatial import cross, force_to_parent, rotate, rotate_back


@kernel
def single_inertias(model, work, q):
    """Write the arrays E r I_c of ``work`` at q (nq, rad or m): the inertia of each single link, zero for the base.

    Reads ``model``. RBDA section 6.2, where composite inertias begin.
    """
    for k in range(10):
        work.I_c[0, k] = 0.0
    for i in range(1, model.parent.shape[0]):
        joint_transform(model, q, i, work.E, work.r)
        for k in range(10):
            work.I_c[i, k] = model.I[i, k]


@kernel
def mass_moments(model, work):
    """Write the first four columns of I_c of ``work``: mass and first moment m c (kg, kg m) of each link's subtree.

    Row 0 is that of everything that moves, in the base frame. Reads ``model`` and the arrays E r. RBDA eq. 6.3.
    """
    I_c = work.I_c
    for k in range(4):
        I_c[0, k] = 0.0
        for i in range(1, model.parent.shape[0]):
            I_c[i, k] = model.I[i, k]
    for i in range(model.parent.shape[0] - 1, 0, -1):
        # h_p += E_i' h_i + m_i r_i
        p, m = model.parent[i], I_c[i, 0]
        hx, hy, hz = rotate_back(work.E, i, I_c[i, 1], I_c[i, 2], I_c[i, 3])
        I_c[p, 0] += m
        I_c[p, 1] += hx + m * work.r[i, 0]
        I_c[p, 2] += hy + m * work.r[i, 1]
        I_c[p, 3] += hz + m * work.r[i, 2]


@kernel
def center_of_mass(model, work, q, c):
    """Write c (3, m), the centre of mass in the base frame at q (nq, rad or m).

    Writes ``c`` and the arrays E r I_c of ``work``. Reads ``model``. A robot without mass gives NaN.
    Siciliano et al. 2009, section 7.1.2.
    """
    for i in range(1, model.parent.shape[0]):
        joint_transform(model, q, i, work.E, work.r)
    mass_moments(model, work)
    for k in range(3):
        c[k] = work.I_c[0, k + 1] / work.I_c[0, 0]


@kernel
def center_of_mass_jacobian(model, work, q, J):
    """Write J (3, nv; m per rad or m), with J qd the velocity of the centre of mass in the axes of the base frame.

    Writes all of ``J`` and the arrays E r T I_c of ``work``. Reads ``model``. A robot without mass gives NaN.
    Orin & Goswami 2008, eq. 21, the linear part divided by the mass.
    """
    link_poses(model, work, q, work.T)
    mass_moments(model, work)
    m = work.I_c[0, 0]
    for i in range(1, model.parent.shape[0]):
        m_i, hx, hy, hz = work.I_c[i, 0], work.I_c[i, 1], work.I_c[i, 2], work.I_c[i, 3]
        for k in range(model.first[i], model.first[i + 1]):
            # J_k = R_i (m_i S_v + S_w x h_i) / m, m_i and h_i of the subtree
            S = model.S
            wh_x, wh_y, wh_z = cross(S[k, 0], S[k, 1], S[k, 2], hx, hy, hz)
            px, py, pz = rotate(work.T, i, m_i * S[k, 3] + wh_x, m_i * S[k, 4] + wh_y, m_i * S[k, 5] + wh_z)
            J[0, k - 1], J[1, k - 1], J[2, k - 1] = px / m, py / m, pz / m


@kernel
def centroidal_momentum_matrix(model, work, q, A):
    """Write A (6, nv), with A qd the momentum about the centre of mass (N m s, N s) in the axes of the base frame.

    Writes all of ``A`` and the arrays E r T I_c f of ``work``. Reads ``model``. The angular momentum of
    rotors is included. A robot without mass gives NaN. Orin & Goswami 2008, eq. 21, 27.
    """
    link_poses(model, work, q, work.T)
    for k in range(10):
        work.I_c[0, k] = 0.0
        for i in range(1, model.parent.shape[0]):
            work.I_c[i, k] = model.I[i, k]
    for i in range(model.parent.shape[0] - 1, 0, -1):
        # I_c_p += X_i' I_c_i X_i
        inertia_to_parent(work.E, work.r, work.I_c, i, model.parent[i])
    m, T = work.I_c[0, 0], work.T
    x, y, z = work.I_c[0, 1] / m, work.I_c[0, 2] / m, work.I_c[0, 3] / m
    for i in range(1, model.parent.shape[0]):
        for k in range(model.first[i], model.first[i + 1]):
            # F = I_c_i S_k + [ spin_k z ; 0 ], rotated to the axes of the base
            inertia_times(work.I_c, i, model.S, k, work.f, i)
            rotor_momentum(model, i, work.f, i)
            nx, ny, nz = rotate(T, i, work.f[i, 0], work.f[i, 1], work.f[i, 2])
            fx, fy, fz = rotate(T, i, work.f[i, 3], work.f[i, 4], work.f[i, 5])
            # moment about the centre of mass c: n + (p_i - c) x F
            rf_x, rf_y, rf_z = cross(T[i, 0, 3] - x, T[i, 1, 3] - y, T[i, 2, 3] - z, fx, fy, fz)
            A[0, k - 1], A[1, k - 1], A[2, k - 1] = nx + rf_x, ny + rf_y, nz + rf_z
            A[3, k - 1], A[4, k - 1], A[5, k - 1] = fx, fy, fz


@kernel
def centroidal_momentum(model, work, q, qd, h):
    """Write h (6; N m s, N s), the momentum about the centre of mass at q (nq, rad or m), qd (nv, per s).

    In the axes of the base frame. Writes ``h`` and the arrays E r v f I_c of ``work``. Reads ``model``. The angular
    momentum of rotors is included. A robot without mass gives NaN. Orin & Goswami 2008, eq. 20, summed inwards.
    """
    n = model.parent.shape[0] - 1
    for k in range(6):
        work.v[0, k] = 0.0
        work.f[0, k] = 0.0
    for i in range(1, n + 1):
        # v_i = X_i v_p + S_i qd_i,  f_i = I_i v_i
        joint_transform(model, q, i, work.E, work.r)
        link_velocity(model, work, qd, i)
        inertia_times(model.I, i, work.v, i, work.f, i)
    for i in range(n, 0, -1):
        # f_p += X_i' f_i + [ spin_i z qd_i ; 0 ]
        rotor_momentum_of_rate(model, i, qd[model.first[i] - 1], work.f)
        force_to_parent(work.E, work.r, work.f, i, model.parent[i])
    mass_moments(model, work)
    # n - c x f
    m, f = work.I_c[0, 0], work.f
    cf_x, cf_y, cf_z = cross(work.I_c[0, 1] / m, work.I_c[0, 2] / m, work.I_c[0, 3] / m, f[0, 3], f[0, 4], f[0, 5])
    h[0], h[1], h[2] = f[0, 0] - cf_x, f[0, 1] - cf_y, f[0, 2] - cf_z
    h[3], h[4], h[5] = f[0, 3], f[0, 4], f[0, 5]
