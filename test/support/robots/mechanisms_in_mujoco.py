"""Mechanisms in MuJoCo, the outside source: models of their MJCF, and data at a state of ours."""

from functools import cache

from support.robots.mechanism_mjcf import mjcf_of
from support.robots.mechanisms import MECHANISMS
from support.twins.naive import places

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation


@cache
def plant_of(name):
    return mujoco.MjModel.from_xml_string(mjcf_of(MECHANISMS[name]))


def data_of(plant, joints, q, qd, tau):
    """Return MuJoCo's data at a state of these joints, and T (nv, nv) with qvel = T qd."""
    data, T = mujoco.MjData(plant), np.zeros((plant.nv, plant.nv))
    for joint, (of_q, of_v) in zip(joints, places(joints), strict=True):
        number = mujoco.mj_name2id(plant, mujoco.mjtObj.mjOBJ_JOINT, joint.name)
        at, v = plant.jnt_qposadr[number], plant.jnt_dofadr[number]
        own, width = q[of_q], of_v.stop - of_v.start
        T[v : v + width, of_v] = np.eye(width)
        if joint.kind == 'free':
            R = Rotation.from_quat(own[3:]).as_matrix()
            T[v : v + 6, of_v] = np.block([[np.zeros((3, 3)), R], [np.eye(3), np.zeros((3, 3))]])
            data.qpos[at : at + 7] = [*own[:3], own[6], *own[3:6]]
        elif joint.kind == 'spherical':
            data.qpos[at : at + 4] = [own[3], *own[:3]]
        else:
            data.qpos[at] = own[0]
    data.qvel, data.qfrc_applied = T @ qd, T @ tau
    mujoco.mj_forward(plant, data)
    return data, T
