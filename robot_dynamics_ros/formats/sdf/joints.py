"""Joints of SDFormat: type, frame, axis, limits, friction, spring and rotor of each.

The frame of a joint need not be at the origin of its child. There, the joint of a model moves a link <child>/<joint>
without mass, to which the child is fixed.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.sdf.frames import MODEL, WORLD, ModelFrames
from robot_dynamics_ros.formats.sdf.values import AXES_IN_JOINT, RELATIVE_POSES, flag, limit, name_in, number, numbers
from robot_dynamics_ros.formats.untrusted_text import only_child, word
from robot_dynamics_ros.model.fixed_joints import fixed
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE, Joint
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.model.rotations import SHORTEST_AXIS, unit

KINDS = {
    'revolute': 'revolute',
    'continuous': 'revolute',
    'prismatic': 'prismatic',
    'screw': 'helical',
    'ball': 'spherical',
    'fixed': 'fixed',
}
GEARBOX = 'gearbox'
ROTOR_INERTIA, GEAR_RATIO = 'drake:rotor_inertia', 'drake:gear_ratio'
WITH_AXIS = ('revolute', 'prismatic', 'helical')


class ReadJoint(NamedTuple):
    """A joint that is not a gearbox, in the frame of its child."""

    name: str
    kind: str
    parent: str  # link, or 'world'
    child: str
    element: Element
    origin: np.ndarray  # (3,) m   of its frame
    axis: np.ndarray  # (3,)       unit vector, zeros where it has none

    @property
    def owner(self) -> str:
        """Name in messages."""
        return f'joint {self.name!r}'


def read_joint(frames: ModelFrames, name: str) -> ReadJoint:
    """Return a joint; ModelError for a type that a model cannot represent, and for wrong links and axes."""
    element, scope = frames.joints[name]
    owner, stated = f'joint {name!r}', word(f'joint {name!r}', element, 'type')
    if stated not in KINDS:
        raise ModelError(f'{owner}: type {stated!r} is not supported (only {", ".join(KINDS)}, {GEARBOX})')
    parent, child = (
        frames.link_of(frames.full_name(scope, name_in(owner, element, side)), owner) for side in ('parent', 'child')
    )
    if child == WORLD:
        raise ModelError(f'{owner}: its child is the world')
    if parent == child:
        raise ModelError(f'{owner}: its parent and its child are the same link, {child!r}')
    pose, axis = frames.pose(name, child), np.zeros(3)
    if KINDS[stated] in WITH_AXIS:
        axis = axis_in(frames, name, 'axis', child)
    return ReadJoint(name, KINDS[stated], parent, child, element, pose[:3, 3], axis)


def axis_in(frames: ModelFrames, name: str, tag: str, base: str) -> np.ndarray:
    """Return the unit vector (3,) of the <axis> or <axis2> of a joint in a frame, at position 0."""
    element, scope = frames.joints[name]
    frame, owner, axis = name, f'joint {name!r}', only_child(f'joint {name!r}', element, tag)
    if axis is None:
        raise ModelError(f'{owner}: <{tag}> is missing')
    xyz = only_child(owner, axis, 'xyz')
    vector = np.array(numbers(owner, axis, 'xyz', [0.0, 0.0, 1.0]))
    if math.hypot(*vector) < SHORTEST_AXIS:
        raise ModelError(f'{owner}: <{tag}><xyz>: the axis has no direction')
    stated, of_model = '' if xyz is None else xyz.get('expressed_in', ''), flag(owner, axis, 'use_parent_model_frame')
    if of_model and frames.version >= RELATIVE_POSES:
        raise ModelError(
            f"{owner}: <use_parent_model_frame> is read before version 1.7; later it is <xyz expressed_in='{MODEL}'>"
        )
    if stated:
        frame = frames.full_name(scope, stated)
    elif of_model or frames.version < AXES_IN_JOINT:
        frame = scope + MODEL
    return unit(product(frames.pose(frame, base, owner)[:3, :3], vector))


def joints_of(frames: ModelFrames, read: ReadJoint, inertia: np.ndarray) -> Iterator[Joint]:
    """Yield the joint of a model that moves the child with its inertia (10,), and the child's where it is fixed to it.

    Raises ModelError for wrong numbers.
    """
    pose = frames.pose(read.child, read.parent)
    rotation, origin = pose[:3, :3], pose[:3, 3]
    if read.kind == 'fixed':
        yield fixed(read.child, read.parent, rotation, origin, inertia)
        return
    offset = read.origin if read.kind != 'prismatic' else np.zeros(3)
    link = f'{read.child}/{read.name}' if offset.any() else read.child
    axis = read.axis if read.kind in WITH_AXIS else np.array([0.0, 0.0, 1.0])
    moving = Joint(
        read.name,
        link,
        read.parent,
        read.kind,
        axis,
        rotation,
        origin + product(rotation, offset),
        np.zeros(10) if offset.any() else inertia,
    )
    yield replace(moving, **_numbers(read))
    if offset.any():
        yield fixed(read.child, link, np.eye(3), -offset, inertia)


def held_at_zero(joints: list[Joint]) -> Iterator[Finding]:
    """Yield findings on joints whose limits leave no motion, which old versions have for fixed joints."""
    for joint in joints:
        if joint.kind != 'fixed' and joint.lower == joint.upper:
            message = f'its limits hold it at {joint.lower:g}: lock it, if it is meant as a fixed joint'
            yield Finding('warning', f'joint {joint.name!r}', message)


def _numbers(read: ReadJoint) -> dict[str, Any]:
    """Return limits, friction, spring, rotor and pitch of a joint that moves, by the fields of ``Joint``."""
    owner, found = read.owner, _rotor(read)
    if read.kind not in WITH_AXIS:
        return found
    axis = only_child(owner, read.element, 'axis')
    limits, dynamics = (None if axis is None else only_child(owner, axis, tag) for tag in ('limit', 'dynamics'))
    lower, upper = (limit(owner, limits, tag, end) for tag, end in (('lower', -math.inf), ('upper', math.inf)))
    # exporters write 1e16 for "no limit"
    lower, upper = (math.copysign(math.inf, it) if abs(it) > LARGEST_ANGLE else it for it in (lower, upper))
    if read.element.get('type') == 'continuous':
        lower, upper = -math.inf, math.inf
    found |= {'lower': lower, 'upper': upper}
    for field in ('velocity', 'effort'):
        largest = limit(owner, limits, field, math.inf)
        found[field] = largest if 0.0 < largest < math.inf else math.nan
    of_dynamics = {
        'viscous': 'damping', 'coulomb': 'friction', 'stiffness': 'spring_stiffness', 'rest': 'spring_reference'
    }  # fmt: skip
    found |= {field: number(owner, dynamics, tag, 0.0) for field, tag in of_dynamics.items()}
    return found | _pitch(read)


def _pitch(read: ReadJoint) -> dict[str, float]:
    """Return the pitch of a screw, m/rad; it is stated in m/turn, or, with the opposite sign, in rad/m."""
    if read.kind != 'helical':
        return {}
    if read.element.find('screw_thread_pitch') is None and read.element.find('thread_pitch') is not None:
        threads = number(read.owner, read.element, 'thread_pitch', 1.0)
        if threads == 0.0:
            raise ModelError(f'{read.owner}: <thread_pitch>: expected another number than 0')
        return {'pitch': -1.0 / threads}
    return {'pitch': number(read.owner, read.element, 'screw_thread_pitch', 1.0) / (2.0 * math.pi)}


def _rotor(read: ReadJoint) -> dict[str, Any]:
    """Return the rotor inertia that Drake reads, reflected to the joint, and the gear ratio."""
    J, N = number(read.owner, read.element, ROTOR_INERTIA, 0.0), number(read.owner, read.element, GEAR_RATIO, 1.0)
    if J < 0.0:
        raise ModelError(f'{read.owner}: <{ROTOR_INERTIA}> {J:g}: expected at least 0')
    if N == 0.0:
        raise ModelError(f'{read.owner}: <{GEAR_RATIO}> 0: expected another number')
    if read.element.find(ROTOR_INERTIA) is None and read.element.find(GEAR_RATIO) is None:
        return {}
    return {'rotor': N * N * J, 'gear_ratio': abs(N) if read.element.find(GEAR_RATIO) is not None else math.nan}
