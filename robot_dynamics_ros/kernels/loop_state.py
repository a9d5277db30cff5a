"""Poses and velocities of all links, and of the frames of loop closures against each other."""

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.joints import joint_transform
from robot_dynamics_ros.kernels.loop_motion import relative_poses, relative_velocities
from robot_dynamics_ros.kernels.motion import link_velocity
from robot_dynamics_ros.kernels.poses import link_poses, pose_of_link


@kernel
def loop_poses(model, work, q):
    """Write the rows E r T R_A z_B e_AB p_B p_AB of ``work`` at q (nq, rad or m). RBDA eq. 2.28."""
    link_poses(model, work, q, work.T)
    relative_poses(model, work)


@kernel
def loop_state(model, work, q, qd):
    """Write the rows E r T v R_A z_B e_AB p_B p_AB v_AB of ``work`` at q (nq, rad or m), qd (nv, per s).

    Reads ``model``. Featherstone & Orin 2000, eq. 3.
    """
    for i in range(1, model.parent.shape[0]):
        joint_transform(model, q, i, work.E, work.r)
    loop_state_of_transforms(model, work, qd)


@kernel
def loop_state_of_transforms(model, work, qd):
    """Write the rows T v R_A z_B e_AB p_B p_AB v_AB of ``work`` at qd (nv, per s) from E and r.

    Reads ``model``. Featherstone & Orin 2000, eq. 3.
    """
    # T_0 = 1, v_0 = 0
    for row in range(4):
        for column in range(4):
            work.T[0, row, column] = 1.0 if row == column else 0.0
    for k in range(6):
        work.v[0, k] = 0.0
    for i in range(1, model.parent.shape[0]):
        pose_of_link(model, work, i, work.T)
        link_velocity(model, work, qd, i)
    relative_poses(model, work)
    relative_velocities(model, work)
