"""Editing of models: cut out a chain, lock joints, attach another robot.

Links that a fixed joint merged are one body, which is kept or dropped as a whole. Findings of the importer are kept,
those on a link or joint with it; the others are those of the new model. Loops are kept as ``loop_editing`` says.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError, alternatives
from robot_dynamics_ros.model import untrusted_values
from robot_dynamics_ros.model.audit import audit_model, audited
from robot_dynamics_ros.model.closed_loops.loop_editing import (
    coupled_positions,
    with_loops_of_both,
    with_loops_of_locked,
    with_loops_of_part,
)
from robot_dynamics_ros.model.configuration import is_no_quaternion, joint_pose
from robot_dynamics_ros.model.fixed_joints import fixed, merged
from robot_dynamics_ros.model.joint_types import KINDS, Joint
from robot_dynamics_ros.model.linear_algebra import cross, norm, product
from robot_dynamics_ros.model.model import Finding, Model

VERTICAL = 1e-9
"""Sine of the angle between an axis and gravity that counts as none."""
MOST_LISTED = 5  # names in a finding


def cut(
    model: Model, base_link: str | None = None, tip_link: str | None = None, masses: np.ndarray | None = None
) -> Model:
    """Return the chain from ``base_link`` to ``tip_link``, or the subtree of ``base_link`` if no tip is given.

    As in KDL, branches beside the chain and links beyond the tip are dropped with their mass; a finding says which mass
    moved with the chain, by the ``masses`` of links with payloads (n + 1, kg; default: those of the model). The frame
    of ``base_link`` becomes the base frame. Raises UnknownNameError, ArgumentError for
    a tip that is not in the subtree, and ModelError naming a loop between what is kept and what is dropped.
    """
    if base_link is None and tip_link is None:
        return model
    base_link = model.link_names[0] if base_link is None else base_link
    base = model.frame(base_link)
    kept = {i for i in range(len(model.link_names)) if base.link in _path_to_base(model, i)}
    if tip_link is not None:
        kept &= _path_to_base(model, model.frame(tip_link).link)
        if not kept:
            raise ArgumentError(f'tip_link: {tip_link!r} does not move on {base_link!r}')
    body = model.link_names[base.link]
    links = {model.link_names[i] for i in kept}
    parts = [part for part in _parts(model) if part.parent in links and (part.kind == 'fixed' or part.link in links)]
    base_inertia = model.arrays.I[base.link]
    if body == base_link:
        reduced = merged(model.name, base_link, parts, base_inertia)
    else:
        back = fixed(body, base_link, base.rotation.T, -product(base.rotation.T, base.origin), base_inertia)
        reduced = merged(model.name, base_link, [back, *(part for part in parts if part.link != base_link)])
    lost = _lost_mass(model, kept, base.link, model.arrays.I[:, 0] if masses is None else masses)
    return _audited(with_loops_of_part(model, reduced), [*lost, *_inherited(model)])


def _lost_mass(model: Model, kept: set[int], base: int, masses: np.ndarray) -> Iterator[Finding]:
    """Yield a finding on links with mass that are not kept, but move with a link that is; the base does not move."""
    carried = kept - {base}
    lost = [i for i, mass in enumerate(masses) if i not in kept and mass and carried & _path_to_base(model, i)]
    if lost:
        names = ', '.join(repr(model.link_names[i]) for i in lost[:MOST_LISTED])
        others = f' and {len(lost) - MOST_LISTED} others' if len(lost) > MOST_LISTED else ''
        message = (
            f'links {names}{others} move with the chain and are cut off, with {sum(masses[lost]):.4g} kg; '
            'lock their joints to keep their mass'
        )
        yield Finding('warning', f'robot {model.name!r}', message)


def chain(
    model: Model, before, base_link: str | None, tip_link: str | None, gravity, masses: np.ndarray | None = None
) -> tuple:
    """Return ``cut`` of a model, and ``gravity`` in its base frame; without one, ``before``, that of ``model``."""
    part = cut(model, base_link, tip_link, masses)
    return part, turned_gravity(model, part.link_names[0], before) if gravity is None else gravity


def turned_gravity(model: Model, base_link: str, gravity: np.ndarray) -> np.ndarray:
    """Return gravity (3, m/s^2) of a model's base frame in the frame of ``base_link``.

    Joints between both may slide, or turn about a vertical axis: gravity has the same direction at all their positions.
    Raises UnknownNameError, and ArgumentError naming a joint with which it would change.
    """
    frame, path = model.frame(base_link), []
    link = frame.link
    while link:
        path.append(link)
        link = int(model.arrays.parent[link])
    turned = np.asarray(gravity, float)
    for link in reversed(path):
        joint = model.joints[link - 1]
        turned = product(joint.rotation.T, turned)
        if _turns(joint, turned):
            raise ArgumentError(
                f'gravity: joint {joint.name!r} moves between the base {model.link_names[0]!r} and {base_link!r}, so '
                f'its direction there is unknown; state gravity in the frame of {base_link!r}, or lock the joint'
            )
    return product(frame.rotation.T, turned)


def _turns(joint: Joint, direction: np.ndarray) -> bool:
    """Return whether a joint turns the ``direction`` (3) of its link's frame."""
    kind, size = KINDS[joint.kind], norm(direction)
    if kind.quaternion >= 0:
        return size > 0.0
    return kind.angle >= 0 and norm(cross(np.asarray(joint.axis, float), direction)) > VERTICAL * size


def with_locked_joints(model: Model, positions: Mapping) -> Model:
    """Return the model with joints locked at positions (rad, m) and their links merged into the parent links.

    A position is a number, or the coordinates of a joint that has several. The links' names stay as frames. The rotor
    inertia and spin of a locked joint are dropped: they have an effect only when that joint moves. A joint that is
    coupled to a locked one is locked, too, where the coupling has it. Raises UnknownNameError, ArgumentError for an
    invalid position, and ModelError naming a loop that is open there or a coupling that does not determine the other
    joint.
    """
    if not isinstance(positions, Mapping):
        raise ArgumentError(f'positions: expected a mapping joint: position, got {untrusted_values.shown(positions)}')
    for joint in positions:
        if joint not in model.joint_names:
            raise UnknownNameError(f'no joint {joint!r}; {alternatives(joint, model.joint_names)}')
    joints = {joint.name: joint for joint in model.joints}
    fixed_joints = {name: _locked(joints[name], position) for name, position in positions.items()}
    for name, position in coupled_positions(model.loops.couplings, positions).items():
        fixed_joints[name] = _locked(joints[name], position)
    parts = [part if part.kind == 'fixed' else fixed_joints.get(part.name, part) for part in _parts(model)]
    locked = merged(model.name, model.link_names[0], parts, model.arrays.I[0])
    return _audited(with_loops_of_locked(model, locked), _inherited(model))


def with_attached(model: Model, other: Model, link: str, pose=None, prefix: str = '') -> Model:
    """Return the model with another robot's base fixed to ``link``, at ``pose`` (4, 4; m) in its frame.

    ``prefix`` is put before every name of the other robot, whose joints follow those of this one. The inertia of its
    base is added to the link, its loops to those of this one. Loops have the gain of this robot if it has some, else
    that of the other. Raises UnknownNameError, ArgumentError for an invalid pose or prefix, and ModelError for
    a name that both robots have.
    """
    model.frame(link)
    if not isinstance(prefix, str):
        raise ArgumentError(f'prefix: expected text, got {untrusted_values.shown(prefix)}')
    try:
        base_pose = np.eye(4) if pose is None else untrusted_values.pose('pose', pose)
    except ModelError as error:
        raise ArgumentError(str(error)) from None
    for what, names, others in (
        ('joint', model.joint_names, other.joint_names),
        ('link', model.frames, other.frames),
        ('loop', _loop_names(model), _loop_names(other)),
    ):
        for name in others:
            if prefix + name in names:
                raise ModelError(f'{what} {prefix + name!r}: both robots have this name; use a prefix')
    renamed = [
        replace(
            part,
            name=prefix + part.name,
            link=prefix + part.link,
            parent=prefix + part.parent,
            motor_coupling=tuple((prefix + joint, ratio) for joint, ratio in part.motor_coupling),
        )
        for part in _parts(other)
    ]
    other_base = prefix + other.link_names[0]
    mount = fixed(other_base, link, base_pose[:3, :3], base_pose[:3, 3], other.arrays.I[0])
    joined = merged(model.name, model.link_names[0], [*_parts(model), mount, *renamed], model.arrays.I[0])
    joined = with_loops_of_both(model, other, prefix, joined)
    return _audited(joined, (*_inherited(model), *_inherited(other, prefix)))


def _loop_names(model: Model) -> list[str]:
    """Return the names of a model's closures."""
    return [closure.name for closure in model.loops.closures]


def _parts(model: Model) -> list[Joint]:
    """Return the joints of a model, and its frames as links on fixed joints."""
    links = model.link_names
    frames = [
        fixed(name, links[frame.link], frame.rotation, frame.origin)
        for name, frame in model.frames.items()
        if name not in links
    ]
    return [*model.joints, *frames]


def _locked(joint: Joint, position) -> Joint:
    """Return the fixed joint at a position of ``joint``; ArgumentError unless it has the right finite numbers."""
    where, count = f'positions: {joint.name}', KINDS[joint.kind].coordinates
    try:
        q = np.array(
            [[untrusted_values.number(where, position)]]
            if count == 1
            else [untrusted_values.array(where, position, (count,))]
        )
    except ModelError as error:
        raise ArgumentError(str(error)) from None
    k = KINDS[joint.kind].quaternion
    if k >= 0 and is_no_quaternion(q[0, k : k + 4]):
        raise ArgumentError(f'{where}: its quaternion is not of length 1')
    rotation, origin = joint_pose(Model.of(joint.name, joint.parent, [joint]).arrays, q[0])
    return fixed(joint.link, joint.parent, rotation, origin, joint.inertia)


def _path_to_base(model: Model, link: int) -> set[int]:
    """Return the numbers of a link and of all its ancestors, the base included."""
    path = {link}
    while link > 0:
        link = int(model.arrays.parent[link])
        path.add(link)
    return path


def _inherited(model: Model, prefix: str = '') -> Iterator[Finding]:
    """Yield the findings of the source, with ``prefix`` before the names of links and joints."""
    renamed = dict(zip(_places(model), _places(model, prefix), strict=True))
    of_model = set(audit_model(model))
    for finding in model.findings:
        if finding not in of_model:
            yield finding._replace(where=renamed.get(finding.where, finding.where))


def _audited(model: Model, inherited: Iterable[Finding]) -> Model:
    """Return the model with its own findings and the inherited ones, but for those on links or joints it lacks."""
    places = set(_places(model))
    return audited(
        model, (it for it in inherited if it.where in places or not it.where.startswith(('link ', 'joint ')))
    )


def _places(model: Model, prefix: str = '') -> list[str]:
    """Return the links and joints of a model as findings name them, with ``prefix`` before their names."""
    links = [f'link {prefix + link!r}' for link in model.frames]
    return [*links, *(f'joint {prefix + joint!r}' for joint in model.joint_names)]
