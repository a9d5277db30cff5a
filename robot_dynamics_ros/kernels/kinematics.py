"""Forward and differential kinematics: pose, velocity, acceleration and Jacobian of a frame.

A frame is fixed to link ``i`` at ``rotation`` (3, 3; frame to link) and ``origin`` (3, m, link frame). Its velocity,
its acceleration or a column of its Jacobian is (angular, linear), expressed in the reference frame ``reference_frame``:

    0   'world': axes of the base, velocity of the point that coincides with the base's origin
    1   'local_world_aligned': axes of the base, velocity of the frame's origin
    2   'local': axes of the frame, velocity of its origin

Accelerations are the time derivatives of these velocities: classical for 1, spatial for 0 and 2 (RBDA section 2.11).
"""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.motion import base_at_rest, link_motion, link_velocity
from robot_dynamics_ros.kernels.poses import joints_to_link, link_before, poses_to_link
from robot_dynamics_ros.kernels.spatial import cross, rotate, rotate_back


@kernel
def frame_pose(model, work, q, i, rotation, origin, pose):
    """Write pose (4, 4; m), the homogeneous pose of a frame in the base frame, at q (nq, rad or m).

    Writes all of ``pose`` and the arrays E r of ``work``. Reads ``model``. RBDA eq. 2.28, composed from tip to base.
    """
    for column in range(3):
        pose[0, column], pose[1, column], pose[2, column] = (
            rotation[0, column],
            rotation[1, column],
            rotation[2, column],
        )
        pose[3, column] = 0.0
    pose[0, 3], pose[1, 3], pose[2, 3], pose[3, 3] = origin[0], origin[1], origin[2], 1.0
    j = i
    while j > 0:
        # pose = [E_j' r_j; 0 1] pose
        joint_transform(model, q, j, work.E, work.r)
        for column in range(4):
            pose[0, column], pose[1, column], pose[2, column] = rotate_back(
                work.E, j, pose[0, column], pose[1, column], pose[2, column]
            )
        for row in range(3):
            pose[row, 3] += work.r[j, row]
        j = model.parent[j]


@kernel
def frame_velocity(model, work, q, qd, i, rotation, origin, reference_frame, v):
    """Write v (6; rad/s, m/s), the velocity of a frame at q (nq, rad or m), qd (nv, per s).

    Writes ``v`` and the arrays E r v T of ``work``. Reads ``model``. RBDA eq. 4.10, link by link.
    """
    poses_to_link(model, work, q, i)
    wx, wy, wz, vx, vy, vz = point_velocity(model, work, qd, i, origin)
    v[0], v[1], v[2], v[3], v[4], v[5] = to_reference_frame(
        work.T, i, rotation, origin, reference_frame, wx, wy, wz, vx, vy, vz
    )


@kernel
def frame_acceleration(model, work, q, qd, qdd, i, rotation, origin, reference_frame, a):
    """Write a (6; rad/s^2, m/s^2), the acceleration of a frame for the motion q, qd, qdd; gravity is not included.

    Writes ``a`` and the arrays E r w v a B T rest still of ``work``. Reads ``model``, q (nq, rad or m), qd, qdd (nv
    each, per s, s^2). RBDA eq. 2.48, link by link; classical, see ``spatial``.
    """
    poses_to_link(model, work, q, i)
    base_at_rest(work)
    for k in range(joints_to_link(model, i) - 1, -1, -1):
        link_motion(model, work, q, qd, qdd, link_before(model, i, k))
    # a = R (a_i + B_i origin)
    x, y, z = origin[0], origin[1], origin[2]
    B = work.B
    alpha_x, alpha_y, alpha_z = rotate(work.T, i, work.a[i, 0], work.a[i, 1], work.a[i, 2])
    ax, ay, az = rotate(
        work.T,
        i,
        work.a[i, 3] + B[i, 0, 0] * x + B[i, 0, 1] * y + B[i, 0, 2] * z,
        work.a[i, 4] + B[i, 1, 0] * x + B[i, 1, 1] * y + B[i, 1, 2] * z,
        work.a[i, 5] + B[i, 2, 0] * x + B[i, 2, 1] * y + B[i, 2, 2] * z,
    )
    wx, wy, wz, vx, vy, vz = point_velocity(model, work, qd, i, origin)
    if reference_frame != 1:
        # (v + p x w)' = a + v x w + p x alpha,  (R' v)' = R' (a + v x w)
        vw_x, vw_y, vw_z = cross(vx, vy, vz, wx, wy, wz)
        ax, ay, az = ax + vw_x, ay + vw_y, az + vw_z
    a[0], a[1], a[2], a[3], a[4], a[5] = to_reference_frame(
        work.T, i, rotation, origin, reference_frame, alpha_x, alpha_y, alpha_z, ax, ay, az
    )


@kernel
def jacobian(model, work, q, i, rotation, origin, reference_frame, J):
    """Write J (6, nv), with J qd the velocity of a frame at q (nq, rad or m).

    Writes all of ``J`` and the arrays E r T of ``work``. Reads ``model``. Siciliano et al. 2009, section 3.1.
    """
    poses_to_link(model, work, q, i)
    jacobian_of_poses(model, work, i, rotation, origin, reference_frame, J)


@kernel
def jacobian_of_poses(model, work, i, rotation, origin, reference_frame, J):
    """Write J (6, nv) as ``jacobian`` does, from the array T of ``work`` between base and link.

    Reads ``model``. Siciliano et al. 2009, section 3.1.
    """
    for row in range(6):
        for k in range(J.shape[1]):
            J[row, k] = 0.0
    x, y, z = point_position(work.T, i, origin)
    j = i
    while j > 0:
        for k in range(model.first[j], model.first[j + 1]):
            # the angular part R S_w, the linear part R S_v + R S_w x (point - origin of link j)
            wx, wy, wz = rotate(work.T, j, model.S[k, 0], model.S[k, 1], model.S[k, 2])
            vx, vy, vz = rotate(work.T, j, model.S[k, 3], model.S[k, 4], model.S[k, 5])
            wd_x, wd_y, wd_z = cross(wx, wy, wz, x - work.T[j, 0, 3], y - work.T[j, 1, 3], z - work.T[j, 2, 3])
            vx, vy, vz = vx + wd_x, vy + wd_y, vz + wd_z
            J[0, k - 1], J[1, k - 1], J[2, k - 1], J[3, k - 1], J[4, k - 1], J[5, k - 1] = to_reference_frame(
                work.T, i, rotation, origin, reference_frame, wx, wy, wz, vx, vy, vz
            )
        j = model.parent[j]


@kernel
def point_position(T, i, origin):
    """Return T_i origin, a point of link ``i`` (3, m) in the base frame; ``T`` has the poses of the links."""
    x, y, z = rotate(T, i, origin[0], origin[1], origin[2])
    return x + T[i, 0, 3], y + T[i, 1, 3], z + T[i, 2, 3]


@kernel
def point_velocity(model, work, qd, i, origin):
    """Return the velocity of a point of link ``i`` at qd (nv, per s), in the axes of the base: six components.

    Writes the array v of ``work`` for the links from the base to ``i``; reads their poses T and transforms.
    RBDA eq. 4.10, link by link.
    """
    for k in range(6):
        work.v[0, k] = 0.0
    for k in range(joints_to_link(model, i) - 1, -1, -1):
        link_velocity(model, work, qd, link_before(model, i, k))
    # v = R (v_i + w_i x origin)
    wx, wy, wz = work.v[i, 0], work.v[i, 1], work.v[i, 2]
    wo_x, wo_y, wo_z = cross(wx, wy, wz, origin[0], origin[1], origin[2])
    vx, vy, vz = rotate(work.T, i, work.v[i, 3] + wo_x, work.v[i, 4] + wo_y, work.v[i, 5] + wo_z)
    wx, wy, wz = rotate(work.T, i, wx, wy, wz)
    return wx, wy, wz, vx, vy, vz


@kernel
def to_reference_frame(T, i, rotation, origin, reference_frame, wx, wy, wz, vx, vy, vz):
    """Return (w, v), six components in the axes of the base at the frame's origin, in ``reference_frame``."""
    if reference_frame == 0:
        # (w, v + p x w)
        x, y, z = point_position(T, i, origin)
        pw_x, pw_y, pw_z = cross(x, y, z, wx, wy, wz)
        vx, vy, vz = vx + pw_x, vy + pw_y, vz + pw_z
    if reference_frame == 2:
        # (R' w, R' v), R = R_i rotation
        wx, wy, wz = into_frame(T, i, rotation, wx, wy, wz)
        vx, vy, vz = into_frame(T, i, rotation, vx, vy, vz)
    return wx, wy, wz, vx, vy, vz


@kernel
def into_frame(T, i, rotation, x, y, z):
    """Return rotation' R_i' (x, y, z): base coordinates to coordinates of a frame."""
    x, y, z = rotate_back(T, i, x, y, z)
    return (
        rotation[0, 0] * x + rotation[1, 0] * y + rotation[2, 0] * z,
        rotation[0, 1] * x + rotation[1, 1] * y + rotation[2, 1] * z,
        rotation[0, 2] * x + rotation[1, 2] * y + rotation[2, 2] * z,
    )
