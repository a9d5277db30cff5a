"""<origin> and <axis> of a URDF, and the version of URDF, which decides what they may hold."""

import math
import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import numbers, only_child
from robot_dynamics_ros.model.rotations import SHORTEST_AXIS, from_quaternion, from_rpy

Version = tuple[int, int]
FIRST: Version = (1, 0)
WITH_QUATERNIONS: Version = (1, 1)
NEWEST: Version = (1, 2)
"""Has a capsule among the shapes."""
LENGTH_TOLERANCE = 0.01
"""Of a quaternion: numbers that were printed with two decimals."""


def version_of(robot: Element) -> Version:
    """Return the version of a <robot> element, 1.0 where it states none; ModelError for anything but numbers."""
    text = robot.get('version')
    if text is None:
        return FIRST
    if not re.fullmatch(r'[0-9]{1,3}\.[0-9]{1,3}', text):
        raise ModelError(f'<robot version="{text[:80]}">: expected a version such as 1.0')
    major, minor = map(int, text.split('.'))
    return major, minor


def origin_of(owner: str, element: Element, version: Version, tag: str = 'origin') -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (3, 3) and translation (3, m) of an element's <origin> or ``tag``; identity where it has none."""
    return pose_of(owner, only_child(owner, element, tag), version)


def pose_of(owner: str, origin: Element | None, version: Version) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (3, 3) and translation (3, m) that the attributes of an element state; identity for None.

    From URDF 1.1 on the rotation may be a quaternion x, y, z, w in place of roll, pitch and yaw.
    """
    translation = np.array(numbers(owner, origin, 'xyz', [0.0, 0.0, 0.0]))
    if origin is None or version < WITH_QUATERNIONS or 'quat_xyzw' not in origin.attrib:
        return from_rpy(*numbers(owner, origin, 'rpy', [0.0, 0.0, 0.0])), translation
    if 'rpy' in origin.attrib:
        raise ModelError(f'{owner}: <{origin.tag}>: expected rpy or quat_xyzw, got both')
    quaternion = numbers(owner, origin, 'quat_xyzw', [0.0, 0.0, 0.0, 1.0])
    text = origin.get('quat_xyzw', '')[:80]
    return rotation_of(f'{owner}: <{origin.tag} quat_xyzw="{text}">', quaternion), translation


def rotation_of(where: str, quaternion: Sequence[float]) -> np.ndarray:
    """Return the rotation (3, 3) of a quaternion x, y, z, w; ModelError unless its length is 1."""
    if abs(math.hypot(*quaternion) - 1.0) > LENGTH_TOLERANCE:
        raise ModelError(f'{where}: expected a quaternion of length 1')
    return from_quaternion(*quaternion)


def direction_of(owner: str, axis: Element | None) -> list[float]:
    """Return the vector (3,) that an <axis> or the like has as xyz; default: along x. ModelError for zero."""
    vector = numbers(owner, axis, 'xyz', [1.0, 0.0, 0.0])
    if axis is not None and math.hypot(*vector) < SHORTEST_AXIS:
        shown = ' '.join(f'{part:g}' for part in vector)
        raise ModelError(f'{owner}: <{axis.tag} xyz="{shown}">: the axis has no direction')
    return vector
