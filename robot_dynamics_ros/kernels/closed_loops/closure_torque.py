"""Torques about the z axis of A between the links of a loop closure: springs, dampers and motors of closing joints."""

import numpy as np

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.closed_loops.relative_motion import loop_poses, loop_state
from robot_dynamics_ros.kernels.joint_springs import against_spring
from robot_dynamics_ros.kernels.spatial import rotate, rotate_back


@kernel
def closure_torque(model, work, q, torques, tau):
    """Write tau (nv, N m or N) = tau_a of torques (c, N m), one for each closure, that act on B at q (nq, rad or m).

    Writes ``tau`` and the arrays E r T R_A z_B e_AB p_B p_AB of ``work``; reads ``model``.
    Featherstone & Orin 2000, eq. 19.
    """
    loop_poses(model, work, q)
    for k in range(tau.shape[0]):
        tau[k] = 0.0
    for c in range(model.loop_link.shape[0]):
        add_closure_torque(model, work, c, torques[c], tau)


@kernel
def spring_torque(model, work, q, qd, tau):
    """Write tau (nv, N m or N) of the springs of joints and of the springs and dampers of closures.

    They are tau_s of ``joint_springs`` plus tau_a, at q (nq, rad or m), qd (nv, per s). Writes ``tau`` and, for springs
    of closures, the arrays E r w T v R_A z_B e_AB p_B p_AB v_AB of ``work``; reads ``model``.
    Featherstone & Orin 2000, eq. 19.
    """
    for k in range(tau.shape[0]):
        tau[k] = -against_spring(model, q, k + 1)
    if model.sprung.shape[0] > 0:
        loop_state(model, work, q, qd)
        add_closure_torques(model, work, tau)


@kernel
def add_closure_torques(model, work, tau):
    """Write tau (nv, N m or N) += tau_a of the springs and dampers of closures. Featherstone & Orin 2000, eq. 19.

    Reads ``model`` and the arrays E r T R_A e_AB v_AB of ``work``.
    """
    for k in range(model.sprung.shape[0]):
        c = model.sprung[k]
        angle = angle_about_z(work, c)
        torque = model.spring[k, 0] * (model.spring[k, 2] - angle) - model.spring[k, 1] * work.v_AB[c, 2]
        add_closure_torque(model, work, c, torque, tau)


@kernel
def add_closure_torque(model, work, c, torque, tau):
    """Write tau (nv, N m or N) += the joint torques of ``torque`` (N m) on B about z of A, and its reaction on A.

    Reads ``model`` and the arrays E T R_A of ``work``. Featherstone & Orin 2000, eq. 19.
    """
    for side in range(2):
        j = model.loop_link[c, side]
        stop = model.loop_link[c, 2]
        sign = 2.0 * side - 1.0
        nx, ny, nz = rotate(work.R_A, c, 0.0, 0.0, sign * torque)
        nx, ny, nz = rotate_back(work.T, j, nx, ny, nz)
        while j != stop:
            for k in range(model.first[j], model.first[j + 1]):
                tau[k - 1] += model.S[k, 0] * nx + model.S[k, 1] * ny + model.S[k, 2] * nz
            # a couple is the same at every point
            nx, ny, nz = rotate_back(work.E, j, nx, ny, nz)
            j = model.parent[j]


@kernel
def angle_about_z(work, c):
    """Return the angle of B against A about the z axis of A (rad, -pi to pi), for parallel z axes. RBDA section 8.2."""
    # tan(angle / 4) = z / (w + sqrt(z^2 + w^2)) of the quaternion
    z, w = work.e_AB[c, 2], work.e_AB[c, 3]
    t = z / (w + np.sqrt(z * z + w * w))
    # tan(angle / 8), tan(angle / 16)
    t /= 1.0 + np.sqrt(1.0 + t * t)
    t /= 1.0 + np.sqrt(1.0 + t * t)
    # arctan t = t - t^3 / 3 + t^5 / 5 - ..., t < 0.2
    tt, sum_of_terms, divisor = t * t, 0.0, 23.0
    for _ in range(12):
        sum_of_terms = 1.0 / divisor - tt * sum_of_terms
        divisor -= 2.0
    return 16.0 * t * sum_of_terms
