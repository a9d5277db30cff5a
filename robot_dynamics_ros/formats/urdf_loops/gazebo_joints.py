"""Joints of SDFormat in a <gazebo> element, which close the loops of a URDF that is cut to a tree.

Gazebo turns a URDF into SDFormat and adds to it what a <gazebo> without reference holds. A <pose> there is that of the
joint in its child, or in the frame of ``relative_to``; its position is 0 where all joints of the URDF are at 0, so a
loop that is stated in this way is closed there. An axis is expressed in the joint's frame, unless ``expressed_in`` or
``use_parent_model_frame`` name the model. Without either, Gazebo up to 10 took that of the model (SDFormat 1.4 in
place of 1.7).

References: Open Robotics, "Model a 4-bar linkage in SDFormat and URDF" (tutorial kinematic_loop of Gazebo), and
"SDFormat extensions to URDF (the <gazebo> tag)"; SDFormat 1.11, element <joint>; parser_urdf.cc of sdformat 6 and 9.
"""

import math
from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError, alternatives
from robot_dynamics_ros.formats.untrusted_text import numbers_of_text, only_child
from robot_dynamics_ros.formats.urdf_loops.closing_frames import homogeneous, inverse, with_axis
from robot_dynamics_ros.model.closed_loops.loop_types import LoopClosure
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.rotations import SHORTEST_AXIS, from_rpy, unit

KINDS = {'fixed': 'weld', 'revolute': 'revolute', 'continuous': 'revolute', 'ball': 'point'}
"""Kinds of closures by types of joints."""
_MODEL = '__model__'
_READ = frozenset({'pose', 'parent', 'child', 'axis', 'physics', 'sensor'})
"""The last two change no torque."""
SAME_AXIS = 1e-6
"""Largest difference of two directions that are printed with six decimals."""


def closure_of_gazebo(
    name: str, element: Element, poses: Mapping[str, np.ndarray], base: str
) -> Iterator[LoopClosure | str]:
    """Yield the closure of a <joint>, and in words what of it is not used, or why there is no closure.

    ``poses`` (4, 4; m) are those of all links and frames at position 0, ``base`` is the root link. Raises ModelError
    for anything but numbers where numbers belong.
    """
    where, kind = f'loop {name!r}', element.get('type', '')
    if kind not in KINDS:
        yield f'its type is {kind!r:.80}, and the loop stays open: only {", ".join(KINDS)} joints close one here'
        return
    ends = [(element.findtext(side) or '').strip() for side in ('parent', 'child')]
    parent, child = (base if end == 'world' and end not in poses else end for end in ends)
    for side, link in (('parent', parent), ('child', child)):
        if link not in poses:
            yield f'the loop stays open: its {side} {link!r:.80} is no link; {alternatives(link, poses)}'
            return
    placed = _pose(where, element, poses, base, child)
    if isinstance(placed, str):
        yield placed
        return
    more: dict[str, float] = {}
    if KINDS[kind] == 'revolute':
        axis = only_child(where, element, 'axis')
        direction = _direction(where, axis, placed)
        if isinstance(direction, str):
            yield direction
            return
        yield from _on_axis(axis, direction, placed)
        yield from unused_on_axis(axis)
        more = closing_forces(where, axis)
        placed = with_axis(placed, direction)
    for child_element in element:
        if child_element.tag not in _READ:
            yield f'<{child_element.tag:.80}> is not read'
    in_parent, in_child = (product(inverse(poses[link]), placed) for link in (parent, child))
    yield LoopClosure(name, parent, in_parent, child, in_child, KINDS[kind], **more)


def _pose(where: str, element: Element, poses: Mapping[str, np.ndarray], base: str, child: str) -> np.ndarray | str:
    """Return the pose (4, 4; m) of a joint in the base at position 0, or why it has none."""
    stated = only_child(where, element, 'pose')
    unread = [it for it in ({} if stated is None else stated.attrib) if it not in ('relative_to', 'frame')]
    if unread:
        return f'the loop stays open: <pose {unread[0]:.80}> is not read'
    attributes = {} if stated is None else stated.attrib
    relative = attributes.get('relative_to') or attributes.get('frame') or child
    relative = base if relative == _MODEL else relative
    if relative not in poses:
        return f'the loop stays open: its <pose> is relative to {relative!r:.80}, which is no link'
    x, y, z, roll, pitch, yaw = numbers_of_text(where, stated, [0.0] * 6)
    return product(poses[relative], homogeneous(from_rpy(roll, pitch, yaw), np.array([x, y, z])))


def _direction(where: str, axis: Element | None, placed: np.ndarray) -> np.ndarray | str:
    """Return the direction (3,) of an <axis> in the frame of the joint, which is at ``placed``, or why it has none."""
    xyz = None if axis is None else only_child(where, axis, 'xyz')
    direction = np.array(numbers_of_text(where, xyz, [0.0, 0.0, 1.0]))
    if math.hypot(*direction) < SHORTEST_AXIS:
        raise ModelError(f'{where}: <xyz>: the axis has no direction')
    stated = _expressed_in(axis)
    if stated == _MODEL:
        return unit(product(placed[:3, :3].T, direction))
    if stated:
        return f'the loop stays open: its axis is expressed in {stated!r:.80}; only the joint and {_MODEL} are read'
    return unit(direction)


def _expressed_in(axis: Element | None) -> str | None:
    """Return the frame of an <axis>: '' for the joint's, None where it is not stated."""
    xyz = None if axis is None else axis.find('xyz')
    if axis is None or xyz is None:
        return None
    if 'expressed_in' in xyz.attrib:
        return xyz.get('expressed_in', '')
    flag = axis.findtext('use_parent_model_frame')
    return None if flag is None else (_MODEL if flag.strip().lower() in ('1', 'true') else '')


def _on_axis(axis: Element | None, direction: np.ndarray, placed: np.ndarray) -> Iterator[str]:
    """Yield what of an <axis> is ambiguous."""
    if _expressed_in(axis) is None and np.abs(product(placed[:3, :3], direction) - direction).max() > SAME_AXIS:
        yield (
            'its axis is expressed in the frame of the joint, as in Gazebo 11 and later; Gazebo 10 and before took '
            "that of the model: state <xyz expressed_in='__model__'> if that is meant"
        )


def unused_on_axis(axis: Element | None) -> Iterator[str]:
    """Yield limits and friction of an <axis> in words, which a joint that closes a loop has not."""
    for name, what in (('limit/lower', 'limits'), ('limit/upper', 'limits'), ('dynamics/friction', 'friction')):
        text = '' if axis is None else axis.findtext(name) or ''
        if _matters(text, without=0.0 if what == 'friction' else math.inf):
            yield f'its <{name.rpartition("/")[2]}> {text.strip():.40} is not used: a closing joint has no {what} here'


def _matters(text: str, without: float) -> bool:
    """Return whether a text is a number that is neither ``without`` nor beyond all positions."""
    try:
        value = abs(float(text))
    except ValueError:
        return False
    return value != without and value < LARGEST_ANGLE


def closing_forces(where: str, axis: Element | None) -> dict[str, float]:
    """Return stiffness, damping and rest of a closure from the <dynamics> of an <axis>."""
    dynamics = None if axis is None else only_child(where, axis, 'dynamics')
    names = {'stiffness': 'spring_stiffness', 'damping': 'damping', 'rest': 'spring_reference'}
    if dynamics is None:
        return {}
    return {field: numbers_of_text(where, only_child(where, dynamics, tag), [0.0])[0] for field, tag in names.items()}
