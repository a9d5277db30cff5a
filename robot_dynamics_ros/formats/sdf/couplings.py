"""What ties joints of SDFormat together: joints that close a loop, gearboxes, and joints that mimic others."""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.sdf.frames import ModelFrames
from robot_dynamics_ros.formats.sdf.joints import WITH_AXIS, ReadJoint, axis_in
from robot_dynamics_ros.formats.sdf.values import flag, name_in, number
from robot_dynamics_ros.formats.untrusted_text import numbers, only_child, word
from robot_dynamics_ros.formats.urdf_loops.closing_frames import homogeneous, with_axis
from robot_dynamics_ros.formats.urdf_loops.gazebo_joints import closing_forces, unused_on_axis
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling, LoopClosure
from robot_dynamics_ros.model.linear_algebra import dot, product
from robot_dynamics_ros.model.model import Finding

CLOSING = {'revolute': 'revolute', 'spherical': 'point', 'fixed': 'weld'}
"""Kinds of closures by kinds of joints."""
PARALLEL = 1e-6
"""Largest difference from 1 of the cosine between a gear's axis and that of its joint, printed with six decimals."""
DRAKE_MIMIC = 'drake:mimic'


def tree_and_closing(joints: list[ReadJoint]) -> tuple[list[ReadJoint], list[ReadJoint]]:
    """Return the joints of a tree, and those that close loops: each that would give a link a second way to the base.

    The first joint of a link counts, unless Simbody's must_be_loop_joint says that it closes a loop.
    """
    below: dict[str, str] = {}  # of links with a joint of the tree: a link nearer to the base
    tree, closing = [], []
    for joint in joints:
        physics = only_child(joint.owner, joint.element, 'physics')
        simbody = None if physics is None else only_child(joint.owner, physics, 'simbody')
        cut = flag(joint.owner, simbody, 'must_be_loop_joint')
        if cut or joint.child in below or _base_of(joint.parent, below) == joint.child:
            closing.append(joint)
        else:
            below[joint.child] = joint.parent
            tree.append(joint)
    return tree, closing


def _base_of(link: str, below: dict[str, str]) -> str:
    """Return the link that a link moves on and that has no joint yet; ``below`` gets shorter ways to it."""
    passed = []
    while link in below:
        passed.append(link)
        link = below[link]
    below |= dict.fromkeys(passed, link)
    return link


def closure_of(frames: ModelFrames, joint: ReadJoint) -> LoopClosure:
    """Return the closure of a joint that closes a loop; ModelError for a type that closes none."""
    if joint.kind not in CLOSING:
        raise ModelError(
            f'{joint.owner}: it closes a loop, and its type is {joint.element.get("type")!r}: only revolute, '
            'continuous, ball and fixed joints close one here'
        )
    in_child = homogeneous(np.eye(3), joint.origin)
    more: dict[str, float] = {}
    if joint.kind == 'revolute':
        in_child = with_axis(in_child, joint.axis)
        more = closing_forces(joint.owner, only_child(joint.owner, joint.element, 'axis'))
    in_parent = product(frames.pose(joint.child, joint.parent), in_child)
    return LoopClosure(joint.name, joint.parent, in_parent, joint.child, in_child, CLOSING[joint.kind], **more)


def unused_of_closing(joints: list[ReadJoint]) -> Iterator[Finding]:
    """Yield findings on limits and friction of joints that close loops."""
    for joint in joints:
        for message in unused_on_axis(only_child(joint.owner, joint.element, 'axis')):
            yield Finding('warning', f'loop {joint.name!r}', message)


class _Gear(NamedTuple):
    """A joint of the tree between a gear and the body that carries the gears."""

    joint: str
    sign: float  # of its coordinate, in the direction of the gear's axis


Between = Mapping[frozenset[str], ReadJoint]
"""Joints of the tree by the two links that each connects."""


def gearbox(frames: ModelFrames, name: str, between: Between) -> Coupling | str:
    """Return the coupling of a gearbox: theta_2 = -ratio theta_1, or why there is none.

    The angles are those of its parent and its child against the reference body, about its axes.
    """
    element, scope = frames.joints[name]
    owner = f'joint {name!r}'
    ratio = number(owner, element, 'gearbox_ratio', 1.0)
    reference = frames.link_of(frames.full_name(scope, name_in(owner, element, 'gearbox_reference_body')), owner)
    gears = []
    second = 'axis' if element.find('axis2') is None else 'axis2'
    for side, tag in (('parent', 'axis'), ('child', second)):
        link = frames.link_of(frames.full_name(scope, name_in(owner, element, side)), owner)
        gear = _gear(frames, axis_in(frames, name, tag, link), link, reference, between)
        if gear is None:
            return (
                f'its gears are not coupled: no revolute joint about its <{tag}> is between {side} {link!r} and '
                f'{reference!r}; state the coupling in a loops file'
            )
        gears.append(gear)
    first, other = gears
    return Coupling(other.joint, first.joint, (0.0, -ratio * first.sign * other.sign))


def _gear(frames: ModelFrames, axis: np.ndarray, link: str, reference: str, between: Between) -> _Gear | None:
    """Return the joint between a gear and the reference body about an axis (3,), which is expressed in the gear."""
    joint = between.get(frozenset((link, reference)))
    if joint is None or joint.kind != 'revolute':
        return None
    cosine = dot(product(frames.pose(joint.child, link)[:3, :3], joint.axis), axis)
    if abs(abs(cosine) - 1.0) > PARALLEL:
        return None
    return _Gear(joint.name, math.copysign(1.0, cosine) * (1.0 if joint.child == link else -1.0))


def mimic_of(frames: ModelFrames, joint: ReadJoint) -> Coupling | None:
    """Return the coupling of a joint that mimics another: q = multiplier (q_other - reference) + offset."""
    owner, scope = joint.owner, frames.joints[joint.name].scope
    of_drake = only_child(owner, joint.element, DRAKE_MIMIC)
    if of_drake is not None:
        (multiplier,), (offset,) = (
            numbers(owner, of_drake, 'multiplier', [1.0]),
            numbers(owner, of_drake, 'offset', [0.0]),
        )
        return Coupling(joint.name, scope + word(owner, of_drake, 'joint'), (offset, multiplier))
    axis = only_child(owner, joint.element, 'axis') if joint.kind in WITH_AXIS else None
    mimic = None if axis is None else only_child(owner, axis, 'mimic')
    if mimic is None:
        return None
    if mimic.get('axis', 'axis') != 'axis':
        raise ModelError(f'{owner}: <mimic axis={mimic.get("axis", "")[:80]!r}>: the joint that it mimics has one axis')
    values = {'multiplier': 1.0, 'offset': 0.0, 'reference': 0.0}
    read = {tag: number(owner, mimic, tag, default) for tag, default in values.items()}
    offset = read['offset'] - read['multiplier'] * read['reference']
    return Coupling(joint.name, scope + word(owner, mimic, 'joint'), (offset, read['multiplier']))
