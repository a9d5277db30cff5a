"""Accelerations of a mechanism at rest from what MuJoCo computes: mass matrix, forces and constraint Jacobian."""

from pathlib import Path

import mujoco
import numpy as np

from robot_dynamics_ros import Robot

COORDINATES = {'revolute': 1, 'prismatic': 1, 'spherical': 4, 'free': 7}
VELOCITIES = {'revolute': 1, 'prismatic': 1, 'spherical': 3, 'free': 6}


def accelerations(path: Path, robot: Robot, q, tau) -> tuple[np.ndarray, np.ndarray]:
    """Return accelerations of the hinges and slides at rest at q under the torques tau, and their indices in tau.

    M qdd - J' lambda = tau - c and J qdd = 0 (Featherstone & Orin 2000, eq. 20), all matrices by MuJoCo.
    """
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = mujoco.MjData(model)
    ours, theirs, coordinate, velocity = [], [], 0, 0
    for name, kind in zip(robot.joint_names, robot.model.joint_kinds, strict=True):
        joint = model.joint(name)
        position = np.array(q[coordinate : coordinate + COORDINATES[kind]])
        if kind in ('spherical', 'free'):  # quaternions x, y, z, w; MuJoCo's are w, x, y, z
            position[-4:] = np.roll(position[-4:], 1)
        else:
            ours.append(velocity)
            theirs.append(joint.dofadr[0])
        data.qpos[joint.qposadr[0] : joint.qposadr[0] + len(position)] = position
        coordinate, velocity = coordinate + COORDINATES[kind], velocity + VELOCITIES[kind]
    data.qfrc_applied[theirs] = np.asarray(tau)[ours]
    mujoco.mj_forward(model, data)
    M = np.empty((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    J = data.efc_J.reshape(-1, model.nv)[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
    system = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    forces = np.concatenate([data.qfrc_applied - data.qfrc_bias, np.zeros(len(J))])
    return np.linalg.lstsq(system, forces, rcond=1e-12)[0][theirs], np.array(ours)
