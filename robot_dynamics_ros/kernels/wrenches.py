"""External wrenches, given in one of three reference frames, as wrenches in the frames of the links.

``wrenches`` has for each link, the base first, a moment (3, N m) and a force (3, N), and in its form (9 (n + 1)) the
point of the link (3, m, link frame) that the moment is about. In the form (6 (n + 1)) the points are the origins of the
links. ``reference_frame`` is the reference frame, as in ``kinematics``:

    0   'world': axes of the base, moment about the base's origin; the point is not read
    1   'local_world_aligned': axes of the base, moment about the point
    2   'local': axes of the link, moment about the point
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.poses import link_poses
from robot_dynamics_ros.kernels.spatial import cross, rotate, rotate_back


@kernel
def wrenches_on_links(model, work, q, wrenches, reference_frame):
    """Write f_ext (n + 1, 6; N m, N), the wrenches in the frames of the links, at q (nq, rad or m).

    Writes the arrays f_ext E r T of ``work``, the latter three unless ``reference_frame`` is 2. Reads ``model``. RBDA
    table 2.3, force vectors.
    """
    size = 6
    if wrenches.shape[0] == 9 * model.parent.shape[0]:
        size = 9
    if reference_frame != 2:
        link_poses(model, work, q, work.T)
    for i in range(model.parent.shape[0]):
        nx, ny, nz, fx, fy, fz = wrench_about_point(work.T, i, wrenches, size * i, reference_frame)
        if reference_frame != 2:
            # R_i' n, R_i' f
            nx, ny, nz = rotate_back(work.T, i, nx, ny, nz)
            fx, fy, fz = rotate_back(work.T, i, fx, fy, fz)
        if reference_frame != 0 and size == 9:
            # n + point x f, about the link's origin
            k = size * i
            pf_x, pf_y, pf_z = cross(wrenches[k + 6], wrenches[k + 7], wrenches[k + 8], fx, fy, fz)
            nx, ny, nz = nx + pf_x, ny + pf_y, nz + pf_z
        work.f_ext[i, 0], work.f_ext[i, 1], work.f_ext[i, 2] = nx, ny, nz
        work.f_ext[i, 3], work.f_ext[i, 4], work.f_ext[i, 5] = fx, fy, fz


@kernel
def wrench_about_point(T, i, wrenches, k, reference_frame):
    """Return the wrench at index ``k``, on link ``i`` (6; N m, N); its moment is about the link's origin in frame 0."""
    nx, ny, nz = wrenches[k], wrenches[k + 1], wrenches[k + 2]
    fx, fy, fz = wrenches[k + 3], wrenches[k + 4], wrenches[k + 5]
    if reference_frame == 0:
        # n - p_i x f
        pf_x, pf_y, pf_z = cross(T[i, 0, 3], T[i, 1, 3], T[i, 2, 3], fx, fy, fz)
        nx, ny, nz = nx - pf_x, ny - pf_y, nz - pf_z
    return nx, ny, nz, fx, fy, fz


@kernel
def changes_of_wrenches(model, work, wrenches, reference_frame):
    """Write D_f (nv, nv; N m/rad) = -J' dF/dq, with dF/dq the change of the wrenches F in the frames of the links.

    Writes the arrays D_f J F_q G of ``work``; reads ``model`` and T. See ``changes`` (RBDA section 2.10).
    """
    size = 6
    if wrenches.shape[0] == 9 * model.parent.shape[0]:
        size = 9
    px, py, pz = 0.0, 0.0, 0.0
    for i in range(1, model.parent.shape[0]):
        k = size * i
        if size == 9:
            px, py, pz = wrenches[k + 6], wrenches[k + 7], wrenches[k + 8]
        nx, ny, nz = wrenches[k], wrenches[k + 1], wrenches[k + 2]
        sums_of_link(work, i, nx, ny, nz, wrenches[k + 3], wrenches[k + 4], wrenches[k + 5], px, py, pz)
    changes(model, work, reference_frame)


@kernel
def changes(model, work, reference_frame):
    """Write D_f (nv, nv; N m/rad) = -J' dF/dq from the wrench F_q and the matrix G of each single link.

    The wrenches are constant in ``reference_frame``, which is 0 or 1; entry k, m is that of torque k and a
    displacement by velocity m. Writes the arrays D_f J F_q G of ``work``; reads ``model`` and T.

    With (w, v) the column of the Jacobian at the base's origin, and with (n, f) the wrenches on the links that both
    joints move, in the axes of the base:

        frame 0, n about the base's origin:  w_k . (w_m x n + v_m x f) + v_k . (w_m x f)
        frame 1, n about the points:         w_k . (w_m x n + P w_m) + v_k . (w_m x f),  P = sum of (p . f) 1 - f p'

    From S' F and dS_k/dq_m = S_m x S_k (RBDA section 2.10; Featherstone & Orin 2000, eq. 8).
    """
    D = work.D_f
    for k in range(D.shape[0]):
        for m in range(D.shape[0]):
            D[k, m] = 0.0
    columns_at_base(model, work)
    for i in range(model.parent.shape[0] - 1, 0, -1):
        p = model.parent[i]
        j = i
        while j > 0:
            for k in range(model.first[i], model.first[i + 1]):
                for m in range(model.first[j], model.first[j + 1]):
                    D[k - 1, m - 1] += change_of_wrench(work.J, work.F_q, work.G, i, k - 1, m - 1, reference_frame)
                    if j < i:
                        D[m - 1, k - 1] += change_of_wrench(work.J, work.F_q, work.G, i, m - 1, k - 1, reference_frame)
            j = model.parent[j]
        if p > 0:
            # sums over the subtree
            for row in range(6):
                work.F_q[p, row] += work.F_q[i, row]
            for row in range(3):
                for column in range(3):
                    work.G[p, row, column] += work.G[i, row, column]


@kernel
def columns_at_base(model, work):
    """Write the array J of ``work``: column k has the motion (6) of velocity k at the base's origin, in its axes.

    Reads ``model`` and T. RBDA eq. 4.7.
    """
    T, J = work.T, work.J
    for i in range(1, model.parent.shape[0]):
        for k in range(model.first[i], model.first[i + 1]):
            # (R S_w, R S_v + p x R S_w)
            wx, wy, wz = rotate(T, i, model.S[k, 0], model.S[k, 1], model.S[k, 2])
            vx, vy, vz = rotate(T, i, model.S[k, 3], model.S[k, 4], model.S[k, 5])
            pw_x, pw_y, pw_z = cross(T[i, 0, 3], T[i, 1, 3], T[i, 2, 3], wx, wy, wz)
            J[0, k - 1], J[1, k - 1], J[2, k - 1] = wx, wy, wz
            J[3, k - 1], J[4, k - 1], J[5, k - 1] = vx + pw_x, vy + pw_y, vz + pw_z


@kernel
def no_sums(model, work):
    """Write zeros to the arrays F_q and G of ``work`` of all links: no wrenches. RBDA section 2.10."""
    for i in range(model.parent.shape[0]):
        for row in range(6):
            work.F_q[i, row] = 0.0
        for row in range(3):
            for column in range(3):
                work.G[i, row, column] = 0.0


@kernel
def sums_of_link(work, i, nx, ny, nz, fx, fy, fz, x, y, z):
    """Write the rows ``i`` of F_q, the wrench (n, f) as given, and G, the matrix P of ``changes``.

    The wrench is about the point (x, y, z) of the link, in the link's frame. Reads T. RBDA section 2.10.
    """
    T, P, F = work.T, work.G, work.F_q
    F[i, 0], F[i, 1], F[i, 2], F[i, 3], F[i, 4], F[i, 5] = nx, ny, nz, fx, fy, fz
    # p = p_i + R_i point
    px, py, pz = rotate(T, i, x, y, z)
    px, py, pz = px + T[i, 0, 3], py + T[i, 1, 3], pz + T[i, 2, 3]
    # P = (p . f) 1 - f p'
    P[i, 0, 0], P[i, 0, 1], P[i, 0, 2] = py * fy + pz * fz, -(fx * py), -(fx * pz)
    P[i, 1, 0], P[i, 1, 1], P[i, 1, 2] = -(fy * px), px * fx + pz * fz, -(fy * pz)
    P[i, 2, 0], P[i, 2, 1], P[i, 2, 2] = -(fz * px), -(fz * py), px * fx + py * fy


@kernel
def change_of_wrench(J, F, P, i, k, m, reference_frame):
    """Return the entry of ``changes`` for columns ``k`` and ``m`` of J and the sums of link ``i``."""
    wx, wy, wz = J[0, m], J[1, m], J[2, m]
    nx, ny, nz = cross(wx, wy, wz, F[i, 0], F[i, 1], F[i, 2])
    fx, fy, fz = cross(wx, wy, wz, F[i, 3], F[i, 4], F[i, 5])
    if reference_frame == 0:
        # w x n + v x f
        vf_x, vf_y, vf_z = cross(J[3, m], J[4, m], J[5, m], F[i, 3], F[i, 4], F[i, 5])
        nx, ny, nz = nx + vf_x, ny + vf_y, nz + vf_z
    else:
        # w x n + P w
        nx += P[i, 0, 0] * wx + P[i, 0, 1] * wy + P[i, 0, 2] * wz
        ny += P[i, 1, 0] * wx + P[i, 1, 1] * wy + P[i, 1, 2] * wz
        nz += P[i, 2, 0] * wx + P[i, 2, 1] * wy + P[i, 2, 2] * wz
    return J[0, k] * nx + J[1, k] * ny + J[2, k] * nz + J[3, k] * fx + J[4, k] * fy + J[5, k] * fz
