"""Import of SDFormat 1.4 to 1.12; elements that a model cannot represent are rejected by name, never ignored.

One model is read that moves, with the models in it: that of the file, or of its <world>. Files that it includes are not
opened. A joint with the parent ``world`` makes the world the base; else the base is the link that no joint moves, as in
a URDF. ModelError is the only exception, whatever the input.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.joint_order import MOST_LISTED, depth_first
from robot_dynamics_ros.formats.sdf.couplings import closure_of, gearbox, mimic_of, tree_and_closing, unused_of_closing
from robot_dynamics_ros.formats.sdf.frames import WORLD, ModelFrames
from robot_dynamics_ros.formats.sdf.joints import GEARBOX, ReadJoint, held_at_zero, joints_of, read_joint
from robot_dynamics_ros.formats.sdf.unread import unread, unread_of_world
from robot_dynamics_ros.formats.sdf.values import flag, number, numbers, pose_of, truth, version_of
from robot_dynamics_ros.formats.untrusted_text import check_moving_links, check_root, only_child, parsed, read_xml, word
from robot_dynamics_ros.formats.urdf import Inertial, coupled, independence
from robot_dynamics_ros.formats.urdf_origin import Version
from robot_dynamics_ros.model.audit import audit_inertial, audited
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.model.closed_loops.loops import with_loops
from robot_dynamics_ros.model.fixed_joints import fixed, merged
from robot_dynamics_ros.model.inertial_parameters import symmetric, ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.model import GRAVITY, Finding, Model

Result = TypeVar('Result')

OF_A_WORLD = [0.0, 0.0, -9.8]
"""m/s^2: gravity of a <world> that states none."""


FLATTEN = 'files that it includes are not opened: write all into one, gz sdf -p FILE > whole.sdf'
"""What to do with a file that includes others."""


def model_from_sdf(source: str | Path, couple_mimics: bool = False) -> tuple[Model, np.ndarray]:
    """Return model and gravity (3, m/s^2, base frame) of SDFormat: ``source`` is a path, or text that contains '<'.

    Joints are ordered depth first, children in document order. Springs, friction and limits of joints are read. Joints
    that mimic others are independent joints, with a finding on each, unless ``couple_mimics``; gearboxes are couplings,
    and joints that give a link a second way to the base close loops. Gravity is that of the <world>, else (0, 0, -9.81)
    there. Raises ModelError for anything but one tree of supported joints.
    """
    return _read(source, lambda sdf: _model(sdf, couple_mimics))


def frames_from_sdf(source: str | Path) -> ModelFrames:
    """Return links, joints and frames of the model that ``model_from_sdf`` reads; ModelError."""
    return _read(source, lambda sdf: _stated(sdf)[2])


def inertials_from_sdf(source: str | Path) -> dict[str, Inertial]:
    """Return the inertials of its links as written; ModelError."""
    return _read(source, lambda sdf: _inertials(_stated(sdf)[2]))


def _read(source: str | Path, then: Callable[[Element], Result]) -> Result:
    """Return what ``then`` makes of the <sdf> element of a source; a ModelError names the source."""
    is_text = isinstance(source, str) and '<' in source
    try:
        sdf = parsed(str(source) if is_text else read_xml(source))
        check_root(sdf, 'sdf')
        return then(sdf)
    except ModelError as error:
        raise ModelError(f'{"robot description" if is_text else source}: {error}') from error


def _stated(sdf: Element) -> tuple[Element, Element | None, ModelFrames]:
    """Return the <model> that moves, the <world> that it is in, and its frames."""
    version = version_of(sdf)
    element, world = _moving_model(sdf)
    word('model', element, 'name')
    _refuse_includes(element)
    return element, world, ModelFrames(element, version)


def _model(sdf: Element, couple_mimics: bool) -> tuple[Model, np.ndarray]:
    """Return model and gravity of an <sdf> element."""
    element, world, frames = _stated(sdf)
    name, links = word('model', element, 'name'), _inertials(frames)
    gearboxes = [it for it, (joint, _) in frames.joints.items() if joint.get('type') == GEARBOX]
    read = [read_joint(frames, it) for it in frames.joints if it not in gearboxes]
    tree, closing = tree_and_closing(read)
    parts = [part for joint in tree for part in joints_of(frames, joint, ten_parameters(*links[joint.child]))]
    base, joints = depth_first(_bodies(frames, tree, parts), parts)
    check_moving_links(joint.kind for joint in joints)
    model = merged(
        name, base, [*joints, *_further_frames(frames)], ten_parameters(*links[base]) if base != WORLD else None
    )
    findings = [
        finding for link, (mass, _, inertia) in links.items() for finding in audit_inertial(link, mass, inertia)
    ]
    findings += unread(element, frames, {link: it.mass for link, it in links.items()})
    if world is not None:
        findings += unread_of_world(world, element)
    model, of_loops = _with_loops(model, frames, tree, closing, gearboxes, couple_mimics)
    findings += [*of_loops, *held_at_zero(joints), *_free(base)]
    stated = list(GRAVITY) if world is None else _gravity_of(world)
    gravity = product(frames.pose(base)[:3, :3].T, np.array(stated)) + 0.0
    return audited(model, findings), gravity


def _moving_model(sdf: Element) -> tuple[Element, Element | None]:
    """Return the one <model> that is not static, and the <world> that it is in; ModelError where it is not one."""
    worlds = sdf.findall('world')
    if len(worlds) > 1:
        raise ModelError(f'it has {len(worlds)} worlds: expected one')
    of_worlds = [(model, world) for world in worlds for model in world.findall('model')]
    found: list[tuple[Element, Element | None]] = [*((model, None) for model in sdf.findall('model')), *of_worlds]
    moving = [it for it in found if not flag(f'model {it[0].get("name")!r:.80}', it[0], 'static')]
    if len(moving) == 1:
        return moving[0]
    names = [f'{model.get("name", "")!r:.80}' for model, _ in (moving or found)[:MOST_LISTED]]
    got = f'got {", ".join(names)}' if moving else f'{", ".join(names) or "it has none"}' + ' is static' * bool(names)
    includes = f'; {FLATTEN}' if not moving and sdf.find('world/include') is not None else ''
    raise ModelError(f'expected one <model> that moves, {got}{includes}')


def _refuse_includes(model: Element) -> None:
    """Raise ModelError for a <model> that includes another one."""
    for element in model.iter():
        if element.tag == 'include':
            uri = (element.findtext('uri') or '').strip()
            raise ModelError(f'<include> {uri:.80}: {FLATTEN}')


def _gravity_of(world: Element) -> list[float]:
    """Return the gravity (3, m/s^2) of a <world>; before version 1.6 it is stated in <physics>."""
    owner = f'world {world.get("name", "")!r:.80}'
    for place in (world, world.find('physics')):
        if place is not None and place.find('gravity') is not None:
            return numbers(owner, place, 'gravity', OF_A_WORLD)
    return OF_A_WORLD


def _inertials(frames: ModelFrames) -> dict[str, Inertial]:
    """Return the inertial of each link."""
    return {link: _inertial(f'link {link!r}', it, frames.version) for link, it in frames.links.items()}


def _inertial(owner: str, link: Element, version: Version) -> Inertial:
    """Return the inertial of a <link>: 1 kg and 1 kg m^2 where it states none."""
    element = only_child(owner, link, 'inertial')
    if element is not None and truth(f'{owner}: <inertial auto>', element.get('auto', 'false')):
        raise ModelError(f'{owner}: <inertial auto="true">: inertias are not computed from shapes; state them')
    pose, relative_to = (np.eye(4), '') if element is None else pose_of(owner, element, version)
    if relative_to:
        raise ModelError(f'{owner}: <inertial><pose>: it is relative to the link, not to {relative_to[:80]!r}')
    inertia = None if element is None else only_child(owner, element, 'inertia')
    entries = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    defaults = (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    stated = [number(owner, inertia, *entry) for entry in zip(entries, defaults, strict=True)]
    R = pose[:3, :3]
    return Inertial(number(owner, element, 'mass', 1.0), pose[:3, 3], product(R, symmetric(stated), R.T))


def _bodies(frames: ModelFrames, tree: list[ReadJoint], parts: list[Joint]) -> list[str]:
    """Return the links of the joints ``parts``: the world where it is a parent, and links that joints add."""
    parents = [WORLD] if any(joint.parent == WORLD for joint in tree) else []
    return list(dict.fromkeys([*parents, *frames.links, *(part.link for part in parts)]))


def _further_frames(frames: ModelFrames) -> Iterable[Joint]:
    """Return each <frame> as a fixed joint on the link that it moves with; one in the world is none of the robot."""
    for name in frames.explicit:
        link = frames.link_of(name, f'frame {name!r}')
        if link != WORLD:
            pose = frames.pose(name, link)
            yield fixed(name, link, pose[:3, :3], pose[:3, 3])


def _with_loops(
    model: Model,
    frames: ModelFrames,
    tree: list[ReadJoint],
    closing: list[ReadJoint],
    gearboxes: list[str],
    couple_mimics: bool,
) -> tuple[Model, list[Finding]]:
    """Return the model with closures and couplings, and findings on what ties no joints together."""
    findings = [*unused_of_closing(closing)]
    couplings: list[Coupling] = []
    between = {frozenset((joint.parent, joint.child)): joint for joint in tree}
    for name in gearboxes:
        found = gearbox(frames, name, between)
        if isinstance(found, str):
            findings.append(Finding('warning', f'joint {name!r}', found))
        else:
            couplings.append(found)
    mimics = [it for it in (mimic_of(frames, joint) for joint in tree) if it is not None]
    if couple_mimics:
        of_mimics, independent = coupled(model, mimics)
        couplings += of_mimics
    else:
        independent = [independence(it.joint, it.other) for it in mimics]
    closures = [closure_of(frames, joint) for joint in closing]
    return with_loops(model, [*closures, *couplings]), [*findings, *independent]


def _free(base: str) -> Iterable[Finding]:
    """Yield a finding on a model that no joint holds in the world."""
    if base != WORLD:
        message = 'no joint holds it in the world, where Gazebo lets it fall; here it is the base, as in a URDF'
        yield Finding('warning', f'link {base!r}', message)
