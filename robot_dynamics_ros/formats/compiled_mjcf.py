"""Elements of a model that MuJoCo has compiled from MJCF: their names, types and rotations."""

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model import untrusted_values
from robot_dynamics_ros.model.rotations import exact

_KINDS = {'mjJNT_FREE': 'free', 'mjJNT_BALL': 'spherical', 'mjJNT_SLIDE': 'prismatic', 'mjJNT_HINGE': 'revolute'}


def mujoco_module():
    """Return MuJoCo's module; ModelError where it is not installed."""
    try:
        import mujoco  # noqa: PLC0415  (slow to import, needed here only)
    except ImportError as error:
        raise ModelError('reading MJCF needs MuJoCo, which is not installed: pip install mujoco') from error
    return mujoco


def name_of(element: str, view) -> str:
    """Return the name of a body or joint; <kind>_<number> where it has none."""
    return untrusted_values.name(element, view.name or f'{element}_{view.id}')


def called(element: str, view) -> str:
    """Return kind and name of an element for an error message."""
    return f'{element} {name_of(element, view)!r}'


def joint_kind(plant, joint: int) -> str:
    """Return the joint type, one of ``model.joint_types.KINDS``."""
    return _KINDS[mujoco_module().mjtJoint(int(plant.jnt_type[joint])).name]


def rotation_of(quat: np.ndarray) -> np.ndarray:
    """Return the rotation (3, 3) of MuJoCo's quaternion w, x, y, z."""
    R = np.empty(9)
    mujoco_module().mju_quat2Mat(R, quat)
    return exact(R.reshape(3, 3))
