"""States of our robots in MuJoCo, whose coordinates and velocities of free and ball joints differ."""

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation


def move(plant, data, q, qd, qdd):
    """Put MuJoCo's robot into a state of ours and return T (nv, nv): its velocity is T qd.

    A free joint's velocities there are the linear one in the world's axes, then the angular one in the body's.
    """
    T, drift = np.eye(plant.nv), np.zeros(plant.nv)
    data.qpos[:] = q
    for joint, kind in enumerate(plant.jnt_type):
        at, k = plant.jnt_qposadr[joint], plant.jnt_dofadr[joint]
        if kind == mujoco.mjtJoint.mjJNT_BALL:
            data.qpos[at : at + 4] = np.roll(q[at : at + 4], 1)
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            data.qpos[at + 3 : at + 7] = np.roll(q[at + 3 : at + 7], 1)
            R = Rotation.from_quat(q[at + 3 : at + 7]).as_matrix()
            T[k : k + 6, k : k + 6] = np.block([[np.zeros((3, 3)), R], [np.eye(3), np.zeros((3, 3))]])
            drift[k : k + 3] = R @ np.cross(qd[k : k + 3], qd[k + 3 : k + 6])  # (R v)' = R (v' + w x v)
    data.qvel[:], data.qacc[:] = T @ qd, T @ qdd + drift
    return T


def mass_matrix_and_gravity(plant, joint_names, q, gravity) -> tuple[np.ndarray, np.ndarray]:
    """Return mass matrix (n, n) and gravity torques (n) of MuJoCo at q (n), in the order of ``joint_names``."""
    plant.opt.gravity[:] = gravity
    joints, data = [plant.joint(name) for name in joint_names], mujoco.MjData(plant)
    v = np.array([it.dofadr[0] for it in joints])
    data.qpos[[it.qposadr[0] for it in joints]] = q
    mujoco.mj_forward(plant, data)
    inverse = np.empty((plant.nv, plant.nv))
    mujoco.mj_solveM(plant, data, inverse, np.eye(plant.nv))
    return np.linalg.inv(inverse)[np.ix_(v, v)], data.qfrc_bias[v]
