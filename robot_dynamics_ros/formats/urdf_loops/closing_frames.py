"""Frames of elements that close a loop: poses of links at position 0, and frames whose z axis is a joint's axis."""

import numpy as np

from robot_dynamics_ros.model.linear_algebra import cross, product
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.model.rotations import unit

_ALONG = 0.9
"""An axis with a larger x component is along x, and another direction has to complete its frame."""


def homogeneous(rotation: np.ndarray, translation: np.ndarray) -> np.ndarray:
    """Return the pose (4, 4; m) of a rotation (3, 3) and a translation (3, m)."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, translation
    return pose


def inverse(pose: np.ndarray) -> np.ndarray:
    """Return the inverse of a pose (4, 4; m)."""
    rotation = pose[:3, :3].T
    return homogeneous(rotation, -product(rotation, pose[:3, 3]))


def poses_at_zero(model: Model) -> dict[str, np.ndarray]:
    """Return the poses (4, 4; m) of all links and frames in the base, with all joints at position 0."""
    links = [np.eye(4)]
    numbers = {name: i for i, name in enumerate(model.link_names)}
    for joint in model.joints:
        links.append(product(links[numbers[joint.parent]], homogeneous(joint.rotation, joint.origin)))
    return {name: product(links[frame.link], frame.pose) for name, frame in model.frames.items()}


def with_axis(pose: np.ndarray, axis) -> np.ndarray:
    """Return ``pose`` (4, 4; m) turned so that its z axis is ``axis`` (3,), which is expressed in ``pose``."""
    z = unit(np.asarray(axis, float))
    beside = 0 if abs(z[0]) < _ALONG else 1
    x = unit(np.eye(3)[beside] - z * z[beside])
    return product(pose, homogeneous(np.column_stack([x, cross(z, x), z]), np.zeros(3)))
