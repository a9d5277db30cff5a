"""One model in, another out: a part of it cut out, joints locked, another robot attached.

Bodies stay whole: what a fixed joint merged is one body, and it stays or goes as one. Findings on a link's inertial
are kept where the link is; the rest of the audit is of the new model.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError
from robot_dynamics_ros.jit.batch_loop import batch_loop
from robot_dynamics_ros.kernels.kinematics import link_poses
from robot_dynamics_ros.model import checked
from robot_dynamics_ros.model.audit import audit_model
from robot_dynamics_ros.model.configuration import is_no_quaternion
from robot_dynamics_ros.model.fixed_joints import fixed, merged
from robot_dynamics_ros.model.joint_types import KINDS, Joint
from robot_dynamics_ros.model.model import Finding, Model, Workspace


def cut(model: Model, base_link: str | None = None, tip_link: str | None = None) -> Model:
    """Return what moves on ``base_link``: the chain to ``tip_link``, or all of it where no tip is given.

    As in KDL only the chain is left: branches beside it and what is beyond the tip are dropped with their mass. The
    frame of ``base_link`` becomes the base frame. Raises UnknownNameError, and ArgumentError for a tip that does not
    move on the base.
    """
    if base_link is None and tip_link is None:
        return model
    base_link = model.link_names[0] if base_link is None else base_link
    base = model.frame(base_link)
    kept = {i for i in range(len(model.link_names)) if base.link in _carriers(model, i)}
    if tip_link is not None:
        kept &= _carriers(model, model.frame(tip_link).link)
        if not kept:
            raise ArgumentError(f'tip_link: {tip_link!r} does not move on {base_link!r}')
    carrier = model.link_names[base.link]
    links = {model.link_names[i] for i in kept}
    parts = [part for part in _parts(model) if part.parent in links and (part.kind == 'fixed' or part.link in links)]
    base_inertia = model.arrays.I[base.link]
    if carrier == base_link:
        reduced = merged(model.name, base_link, parts, base_inertia)
    else:
        back = fixed(carrier, base_link, base.rotation.T, -base.rotation.T @ base.origin, base_inertia)
        reduced = merged(model.name, base_link, [back, *(part for part in parts if part.link != base_link)])
    return _audited(reduced, _inherited(model))


def with_locked_joints(model: Model, positions: Mapping) -> Model:
    """Return the model with joints held at positions (rad, m), each link merged into the one that carries it.

    A position is a number, or the coordinates of a joint that has several.

    The links' names go on as frames. The rotor inertia and spin of a held joint go: they belong to that joint's own
    motion, and the motor's mass is in the links. Raises UnknownNameError, and ArgumentError for what is no position.
    """
    if not isinstance(positions, Mapping):
        raise ArgumentError(f'positions: expected a mapping joint: position, got {checked.shown(positions)}')
    for joint in positions:
        if joint not in model.joint_names:
            raise UnknownNameError(f'no joint {joint!r}; there are {", ".join(model.joint_names)}')
    parts = [
        _held(part, positions[part.name]) if part.kind != 'fixed' and part.name in positions else part
        for part in _parts(model)
    ]
    return _audited(merged(model.name, model.link_names[0], parts, model.arrays.I[0]), _inherited(model))


def with_attached(model: Model, other: Model, link: str, pose=None, prefix: str = '') -> Model:
    """Return the model with another robot's base fixed to ``link``, at ``pose`` (4, 4) in its frame.

    ``prefix`` comes before every name of the other robot, whose joints follow those of this one; its base counts to
    the link. Raises UnknownNameError, ArgumentError for what is no pose or prefix, and ModelError for a name that
    both have.
    """
    model.frame(link)
    if not isinstance(prefix, str):
        raise ArgumentError(f'prefix: expected text, got {checked.shown(prefix)}')
    try:
        place = np.eye(4) if pose is None else checked.pose('pose', pose)
    except ModelError as error:
        raise ArgumentError(str(error)) from None
    for what, names, others in (
        ('joint', model.joint_names, other.joint_names),
        ('link', model.frames, other.frames),
    ):
        for name in others:
            if prefix + name in names:
                raise ModelError(f'{what} {prefix + name!r}: both robots have this name; a prefix keeps them apart')
    renamed = [
        replace(part, name=prefix + part.name, link=prefix + part.link, parent=prefix + part.parent)
        for part in _parts(other)
    ]
    other_base = prefix + other.link_names[0]
    foot = fixed(other_base, link, place[:3, :3], place[:3, 3], other.arrays.I[0])
    joined = merged(model.name, model.link_names[0], [*_parts(model), foot, *renamed], model.arrays.I[0])
    return _audited(joined, (*_inherited(model), *_inherited(other, prefix)))


def _parts(model: Model) -> list[Joint]:
    """Return the joints of a model, and its frames as links on fixed joints."""
    links = model.link_names
    frames = [
        fixed(name, links[frame.link], frame.rotation, frame.origin)
        for name, frame in model.frames.items()
        if name not in links
    ]
    return [*model.joints, *frames]


def _held(joint: Joint, position) -> Joint:
    """Return the fixed joint that a joint is at a position; ArgumentError unless that is finite numbers that fit."""
    where, count = f'positions: {joint.name}', KINDS[joint.kind].coordinates
    try:
        q = np.array([[checked.number(where, position)]] if count == 1 else [checked.array(where, position, (count,))])
    except ModelError as error:
        raise ArgumentError(str(error)) from None
    turn = KINDS[joint.kind].quaternion
    if turn >= 0 and is_no_quaternion(q[0, turn : turn + 4]):
        raise ArgumentError(f'{where}: its quaternion is not of length 1')
    alone = Model.of(joint.name, joint.parent, [joint]).arrays
    pose = np.empty((1, 2, 4, 4))
    batch_loop(link_poses)(alone, Workspace.of(alone), q, pose)
    return fixed(joint.link, joint.parent, pose[0, 1, :3, :3], pose[0, 1, :3, 3], joint.inertia)


def _carriers(model: Model, link: int) -> set[int]:
    """Return the numbers of a link and of all that carry it, the base included."""
    carriers = {link}
    while link > 0:
        link = int(model.arrays.parent[link])
        carriers.add(link)
    return carriers


def _inherited(model: Model, prefix: str = '') -> Iterator[Finding]:
    """Yield the findings on links as they were written, under the links' new names."""
    places = {f'link {link!r}': f'link {prefix + link!r}' for link in model.frames}
    of_the_whole = set(audit_model(model))
    for finding in model.findings:
        if finding.where in places and finding not in of_the_whole:
            yield finding._replace(where=places[finding.where])


def _audited(model: Model, inherited) -> Model:
    """Return the model with those inherited findings whose link it has, and with its own."""
    places = {f'link {link!r}' for link in model.frames}
    kept = (finding for finding in inherited if finding.where in places)
    return replace(model, findings=(*kept, *audit_model(model)))
