"""Poses and velocities of all links, and of the frames of loop closures against each other."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.loop_motion import relative_poses, relative_velocities
from robot_dynamics_ros.kernels.motion import link_angular_velocity
from robot_dynamics_ros.kernels.poses import base_pose, link_poses, pose_of_link
from robot_dynamics_ros.kernels.spatial import cross, rotate


@kernel
def loop_poses(model, work, q):
    """Write the rows E r T R_A z_B e_AB p_B p_AB of ``work`` at q (nq, rad or m). RBDA eq. 2.28."""
    link_poses(model, work, q, work.T)
    relative_poses(model, work)


@kernel
def loop_state(model, work, q, qd):
    """Write the rows E r w T v R_A z_B e_AB p_B p_AB v_AB of ``work`` at q (nq, rad or m), qd (nv, per s).

    Reads ``model``. Featherstone & Orin 2000, eq. 3.
    """
    for k in range(3):
        work.w[0, k] = 0.0
    for i in range(1, model.parent.shape[0]):
        joint_transform(model, q, i, work.E, work.r)
        link_angular_velocity(model, work, qd, i)
    loop_state_of_transforms(model, work, qd)


@kernel
def loop_state_of_transforms(model, work, qd):
    """Write the rows T v R_A z_B e_AB p_B p_AB v_AB of ``work`` at qd (nv, per s) from E, r and w.

    Reads ``model``. Featherstone & Orin 2000, eq. 3.
    """
    # T_0 = 1, v_0 = 0
    base_pose(work.T)
    for k in range(6):
        work.v[0, k] = 0.0
    for i in range(1, model.parent.shape[0]):
        pose_of_link(model, work, i, work.T)
        velocity_of_link(model, work, qd, i)
    relative_poses(model, work)
    relative_velocities(model, work)


@kernel
def velocity_of_link(model, work, qd, i):
    """Write v[i] = X_i v_p + S_i qd_i of ``work``, its angular part w[i]; reads the rows E r w.

    Featherstone & Orin 2000, eq. 3.
    """
    p, v, w = model.parent[i], work.v, work.w
    for row in range(3):
        v[i, row] = w[i, row]
    # E_i (v_p + w_p x r_i)
    wr_x, wr_y, wr_z = cross(w[p, 0], w[p, 1], w[p, 2], work.r[i, 0], work.r[i, 1], work.r[i, 2])
    v[i, 3], v[i, 4], v[i, 5] = rotate(work.E, i, v[p, 3] + wr_x, v[p, 4] + wr_y, v[p, 5] + wr_z)
    for k in range(model.first[i], model.first[i + 1]):
        for row in range(3, 6):
            v[i, row] += model.S[k, row] * qd[k - 1]
