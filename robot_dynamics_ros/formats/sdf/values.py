"""Values of SDFormat: the texts of elements, <pose>, and the version, which decides what some of them mean."""

import math
import re
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import numbers_of_text, only_child
from robot_dynamics_ros.formats.urdf_loops.closing_frames import homogeneous
from robot_dynamics_ros.formats.urdf_origin import Version, rotation_of
from robot_dynamics_ros.model.rotations import from_rpy
from robot_dynamics_ros.model.untrusted_values import MAX_NAME, is_name

OLDEST: Version = (1, 4)
AXES_IN_JOINT: Version = (1, 5)
"""Before, an axis is expressed in the frame of the model."""
RELATIVE_POSES: Version = (1, 7)
"""Before, the attribute relative_to was called frame, and expressed_in an element use_parent_model_frame."""
NEWEST: Version = (1, 12)
_FLAGS = {'1': True, 'true': True, '0': False, 'false': False}
_UNLIMITED = {'inf': math.inf, '+inf': math.inf, '-inf': -math.inf, 'infinity': math.inf, '-infinity': -math.inf}


def version_of(sdf: Element) -> Version:
    """Return the version of an <sdf> element; ModelError for one before 1.4."""
    text = sdf.get('version', '')
    if not re.fullmatch(r'[0-9]{1,3}\.[0-9]{1,3}(\.[0-9]{1,3})?', text):
        raise ModelError(f'<sdf version="{text[:80]}">: expected a version such as 1.7')
    major, minor, *_ = map(int, text.split('.'))
    if (major, minor) < OLDEST:
        raise ModelError(
            f'<sdf version="{text}">: versions before {OLDEST[0]}.{OLDEST[1]} are not read; '
            'convert it: gz sdf -p old.sdf > new.sdf'
        )
    return major, minor


def number(owner: str, element: Element | None, tag: str, default: float) -> float:
    """Return the number in the child ``tag`` of an element, ``default`` where there is none; ModelError."""
    return numbers(owner, element, tag, [default])[0]


def numbers(owner: str, element: Element | None, tag: str, default: list[float]) -> list[float]:
    """Return as many numbers as ``default`` has of the child ``tag`` of an element, as ``number`` does."""
    return numbers_of_text(owner, None if element is None else only_child(owner, element, tag), default)


def limit(owner: str, element: Element | None, tag: str, default: float) -> float:
    """Return a number that may be infinite, as ``number`` does."""
    child = None if element is None else only_child(owner, element, tag)
    text = '' if child is None else (child.text or '').strip().lower()
    return _UNLIMITED[text] if text in _UNLIMITED else numbers_of_text(owner, child, [default], math.inf)[0]


def flag(owner: str, element: Element | None, tag: str) -> bool:
    """Return whether the child ``tag`` of an element says true; ModelError for neither true nor false."""
    child = None if element is None else only_child(owner, element, tag)
    return False if child is None else truth(f'{owner}: <{tag}>', child.text)


def truth(where: str, text: str | None) -> bool:
    """Return whether a text says true; ModelError for neither true nor false."""
    word = (text or '').strip().lower()
    if word not in _FLAGS:
        raise ModelError(f'{where}: expected true or false, got {word[:80]!r}')
    return _FLAGS[word]


def name_in(owner: str, element: Element, tag: str) -> str:
    """Return the name in the child ``tag`` of an element; ModelError where it is missing, or no name."""
    child = only_child(owner, element, tag)
    text = '' if child is None else (child.text or '').strip()
    if not text:
        raise ModelError(f'{owner}: <{tag}> is missing')
    if not is_name(text):
        raise ModelError(f'{owner}: <{tag}>: expected up to {MAX_NAME} printable characters, got {text[:80]!r}')
    return text


def pose_of(owner: str, element: Element, version: Version) -> tuple[np.ndarray, str]:
    """Return the <pose> (4, 4; m) of an element, and the name of the frame that it is relative to, '' for none."""
    stated = only_child(owner, element, 'pose')
    if stated is None:
        return np.eye(4), ''
    where, frame = f'{owner}: <pose>', stated.get('frame', '')
    if frame and version >= RELATIVE_POSES:
        raise ModelError(f'{where}: its attribute frame is called relative_to since version 1.7')
    form, in_degrees = stated.get('rotation_format', 'euler_rpy'), truth(where, stated.get('degrees', 'false'))
    if form not in ('euler_rpy', 'quat_xyzw'):
        raise ModelError(f'{where}: rotation_format {form[:80]!r}: expected euler_rpy or quat_xyzw')
    if form == 'quat_xyzw':
        if in_degrees:
            raise ModelError(f'{where}: a quaternion is not in degrees')
        values = numbers_of_text(owner, stated, [0.0] * 6 + [1.0])
        rotation = rotation_of(where, values[3:])
    else:
        values = numbers_of_text(owner, stated, [0.0] * 6)
        rotation = from_rpy(*(map(math.radians, values[3:]) if in_degrees else values[3:]))
    return homogeneous(rotation, np.array(values[:3])), stated.get('relative_to', '') or frame
