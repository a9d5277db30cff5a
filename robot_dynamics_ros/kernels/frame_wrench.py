"""An external wrench F (6; N m, N) on a frame, as one on its link; see ``kinematics`` for the frame.

The frame may be fixed to the base, link 0. F is a moment and a force, expressed in ``reference_frame``:

    0   'world': axes of the base, moment about the base's origin
    1   'local_world_aligned': axes of the base, moment about the frame's origin
    2   'local': axes of the frame, moment about its origin
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.poses import link_poses
from robot_dynamics_ros.kernels.spatial import cross, rotate_back
from robot_dynamics_ros.kernels.wrenches import changes, no_sums, sums_of_link


@kernel
def external_wrench(model, work, q, F, i, rotation, origin, reference_frame):
    """Write f_ext of ``work``: the wrench on link ``i`` in its frame, zeros for all other links, at q (nq, rad or m).

    Writes the arrays f_ext E r of ``work``, E and r between base and link. Reads ``model``. RBDA table 2.3.
    """
    for link in range(model.parent.shape[0]):
        for row in range(6):
            work.f_ext[link, row] = 0.0
    j = i
    while j > 0:
        joint_transform(model, q, j, work.E, work.r)
        j = model.parent[j]
    f = work.f_ext
    pose = link_in_base(model, work, i)
    f[i, 0], f[i, 1], f[i, 2], f[i, 3], f[i, 4], f[i, 5] = wrench_in_link(
        pose, rotation, origin, reference_frame, F[0], F[1], F[2], F[3], F[4], F[5]
    )


@kernel
def wrench_in_link(pose, rotation, origin, reference_frame, nx, ny, nz, fx, fy, fz):
    """Return a wrench on a frame as one about the origin of its link in the link's axes: six components (N m, N).

    ``pose`` is that of the link from ``link_in_base``. RBDA table 2.3, force vectors.
    """
    if reference_frame == 2:
        nx, ny, nz = times(rotation, nx, ny, nz)
        fx, fy, fz = times(rotation, fx, fy, fz)
    else:
        xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = pose
        if reference_frame == 0:
            # n - p x f
            pf_x, pf_y, pf_z = cross(px, py, pz, fx, fy, fz)
            nx, ny, nz = nx - pf_x, ny - pf_y, nz - pf_z
        # R' n, R' f
        nx, ny, nz = xx * nx + xy * ny + xz * nz, yx * nx + yy * ny + yz * nz, zx * nx + zy * ny + zz * nz
        fx, fy, fz = xx * fx + xy * fy + xz * fz, yx * fx + yy * fy + yz * fz, zx * fx + zy * fy + zz * fz
    if reference_frame != 0:
        # n + origin x f
        of_x, of_y, of_z = cross(origin[0], origin[1], origin[2], fx, fy, fz)
        nx, ny, nz = nx + of_x, ny + of_y, nz + of_z
    return nx, ny, nz, fx, fy, fz


@kernel
def link_in_base(model, work, i):
    """Return R' of link ``i`` row by row, base to link coordinates, and its origin p (m) in the base frame: 12 numbers.

    Reads ``model`` and the arrays E and r between base and link. RBDA eq. 2.28, composed from tip to base.
    """
    # R' = E_i E_p ... E_1 row by row;  p = r_1 + E_1' (r_2 + E_2' (...))
    xx, xy, xz, yx, yy, yz, zx, zy, zz = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    px, py, pz = 0.0, 0.0, 0.0
    j = i
    while j > 0:
        xx, xy, xz = rotate_back(work.E, j, xx, xy, xz)
        yx, yy, yz = rotate_back(work.E, j, yx, yy, yz)
        zx, zy, zz = rotate_back(work.E, j, zx, zy, zz)
        px, py, pz = rotate_back(work.E, j, px, py, pz)
        px, py, pz = px + work.r[j, 0], py + work.r[j, 1], pz + work.r[j, 2]
        j = model.parent[j]
    return xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz


@kernel
def times(R, x, y, z):
    """Return R (x, y, z) for a matrix R (3, 3)."""
    return (
        R[0, 0] * x + R[0, 1] * y + R[0, 2] * z,
        R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
        R[2, 0] * x + R[2, 1] * y + R[2, 2] * z,
    )


@kernel
def changes_of_wrench(model, work, q, F, i, origin, reference_frame):
    """Write D_f (nv, nv; N m/rad) = -J' dF/dq, with dF/dq the change of the wrench in the frame of link ``i``.

    Writes the arrays E r D_f T J F_q G of ``work``. Reads ``model``. For the equation see ``wrenches.changes`` (RBDA
    section 2.10).
    """
    link_poses(model, work, q, work.T)
    no_sums(model, work)
    sums_of_link(work, i, F[0], F[1], F[2], F[3], F[4], F[5], origin[0], origin[1], origin[2])
    changes(model, work, reference_frame)
