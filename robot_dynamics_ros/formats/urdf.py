"""Import of URDF; elements that a model cannot represent are rejected by name, never ignored.

Links and joints are read one by one, joints are ordered depth first, and links on fixed joints are merged into their
parents. ModelError is the only exception, whatever the input.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import starmap
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.joint_order import depth_first
from robot_dynamics_ros.formats.untrusted_text import (
    check_moving_links,
    check_root,
    number,
    numbers,
    only_child,
    parsed,
    read_xml,
    word,
)
from robot_dynamics_ros.formats.urdf_loops.actuated_joints import actuated_in
from robot_dynamics_ros.formats.urdf_loops.mimic_joints import mimics_of
from robot_dynamics_ros.formats.urdf_loops.stated_closures import closures_of, cut_ends
from robot_dynamics_ros.formats.urdf_origin import Version, direction_of, origin_of, version_of
from robot_dynamics_ros.formats.urdf_transmissions import motors_of
from robot_dynamics_ros.formats.urdf_unread import unread
from robot_dynamics_ros.formats.xacro import is_xacro
from robot_dynamics_ros.formats.yaml_files.loops_yaml import with_loops_file
from robot_dynamics_ros.model.audit import audit_inertial, audited
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.model.closed_loops.loops import checked_coupling, with_loops
from robot_dynamics_ros.model.fixed_joints import merged
from robot_dynamics_ros.model.inertial_parameters import symmetric, ten_parameters
from robot_dynamics_ros.model.joint_types import KINDS as JOINT_KINDS
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE, Joint
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.model import Finding, Model
from robot_dynamics_ros.model.rotations import unit

KINDS = {
    'revolute': 'revolute',
    'continuous': 'revolute',
    'prismatic': 'prismatic',
    'planar': 'planar',
    'floating': 'free',
    'fixed': 'fixed',
}


class Inertial(NamedTuple):
    """Inertial of one link as written, in the link's frame."""

    mass: float  # kg
    com: np.ndarray  # (3,) m
    inertia: np.ndarray  # (3, 3) kg m^2, about the centre


def model_from_urdf(
    source: str | Path,
    source_name: str | None = None,
    couple_mimics: bool = False,
    loops_file: str | Path | None = None,
) -> Model:
    """Return the model of a URDF: ``source`` is a path, or the text itself if it contains '<'.

    Joints are ordered depth first, children in document order. ``source_name`` names the source in errors; default: the
    path. ``Model.findings`` has the findings of the model check and those on what is not read. Joints that mimic
    others are independent joints, with a finding on each; with ``couple_mimics`` each has a coupling with the joint
    that it mimics, unless no such joint moves. Loops are those that elements of ``urdf_loops`` close, and those of
    ``loops_file`` (``loops_yaml``). Raises ModelError for anything but one tree of supported joints.
    """
    return _interpreted(lambda robot: _model(robot, couple_mimics, loops_file), source, source_name)


def inertials_from_urdf(source: str | Path) -> dict[str, Inertial]:
    """Return the inertials of all links of a URDF by link name, zero where a link has none.

    The source is that of ``model_from_urdf``; joints are not read. Raises ModelError.
    """
    return _interpreted(_inertials, source)


def joints_without_motor(source: str | Path) -> list[str]:
    """Return the moving joints of a URDF that neither a motor nor another joint drives; none if it names no motor.

    Motors are those of <transmission> and of command interfaces. The source is that of ``model_from_urdf``. Raises
    ModelError.
    """
    return _interpreted(_without_motor, source)


def _interpreted(interpret, source: str | Path, source_name: str | None = None):
    """Return the result of ``interpret`` for the root element; its ModelError names the source."""
    is_text = isinstance(source, str) and '<' in source
    if is_xacro(str(source)):
        raise ModelError(f'{source}: expected a URDF, got a xacro file; Robot.from_description reads it')
    try:
        robot = parsed(str(source) if is_text else read_xml(source))
        check_root(robot, 'robot')
        return interpret(robot)
    except ModelError as error:
        name = source_name or ('robot description' if is_text else source)
        raise ModelError(f'{name}: {error}') from error


def _inertials(robot: Element) -> dict[str, Inertial]:
    """Return the inertial of each <link> of a <robot> element."""
    version = version_of(robot)
    return {link: _inertial(f'link {link!r}', element, version) for link, element in _named(robot, 'link')}


def _without_motor(robot: Element) -> list[str]:
    """Return the joints of ``joints_without_motor``."""
    moving = [name for name, joint in _named(robot, 'joint') if joint.get('type') != 'fixed']
    driven = set(actuated_in(robot, moving))
    mimics = mimics_of(robot, moving)[0]
    return [joint for joint in moving if driven and joint not in driven and joint not in mimics]


def _model(robot: Element, couple_mimics: bool, loops_file: str | Path | None) -> Model:
    """Return the model of a <robot> element."""
    name, version = word('robot', robot, 'name'), version_of(robot)
    links = _inertials(robot)
    elements = dict(_named(robot, 'joint'))
    read = [_joint(joint, element, links, version) for joint, element in elements.items()]
    motors, findings = motors_of(robot, {joint.name: joint.kind for joint in read if joint.kind != 'fixed'})
    read = [replace(it, **motors[it.name]._asdict()) if it.name in motors else it for it in read]
    base, joints = depth_first(list(links), read)
    check_moving_links(joint.kind for joint in joints)
    for link, (mass, _, inertia) in links.items():
        findings += audit_inertial(link, mass, inertia)
    findings += unread(robot, version, {link: it.mass for link, it in links.items()})
    model = merged(name, base, joints, ten_parameters(*links[base]))
    moving = [joint.name for joint in joints if joint.kind != 'fixed']
    mimics, of_mimics = mimics_of(robot, moving)
    closures, of_closures = closures_of(robot, version, model)
    couplings: list[Coupling] = []
    if couple_mimics:
        couplings, independent = coupled(model, starmap(_coupling, mimics.items()))
    else:
        independent = [independence(joint, mimic.get('joint')) for joint, mimic in mimics.items()]
    model = with_loops(model, [*closures, *couplings])
    if loops_file is not None:
        model = with_loops_file(model, loops_file, mimics)
    findings += [*of_mimics, *of_closures, *cut_ends(model), *independent]
    return audited(_with_actuated(model, robot, mimics), findings)


def _with_actuated(model: Model, robot: Element, mimics: Collection[str]) -> Model:
    """Return a model with closures, with the joints that have a motor unless its loops name some; no ``mimics``."""
    own = model.loops
    if not own.closures or own.actuated:
        return model
    kinds = zip(model.joint_names, model.joint_kinds, strict=True)
    known = [joint for joint, kind in kinds if joint not in mimics and JOINT_KINDS[kind].coordinates == 1]
    return with_loops(model, own.all, own.gain, own.tolerance, actuated_in(robot, known), own.near)


def _named(robot: Element, tag: str) -> Iterable[tuple[str, Element]]:
    """Return name and element of each element with this tag; ModelError where a name occurs twice."""
    found: dict[str, Element] = {}
    for element in robot.findall(tag):
        name = word(f'{tag} number {len(found) + 1}', element, 'name')
        if name in found:
            raise ModelError(f'{tag} {name!r}: the name occurs twice')
        found[name] = element
    return found.items()


def _inertial(owner: str, link: Element, version: Version) -> Inertial:
    """Return the inertial of a <link>, zeros where it has none."""
    element = only_child(owner, link, 'inertial')
    if element is None:
        return Inertial(0.0, np.zeros(3), np.zeros((3, 3)))
    mass, inertia = only_child(owner, element, 'mass'), only_child(owner, element, 'inertia')
    if mass is None or inertia is None:
        raise ModelError(f'{owner}: <inertial> lacks {"<mass>" if mass is None else "<inertia>"}')
    rotation, com = origin_of(owner, element, version)
    entries = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    about_com = product(rotation, symmetric(number(owner, inertia, entry) for entry in entries), rotation.T)
    return Inertial(number(owner, mass, 'value'), com, about_com)


def _joint(name: str, element: Element, links: dict[str, Inertial], version: Version) -> Joint:
    """Return the joint of a <joint> element, fixed or not; ModelError for a type that a model cannot represent."""
    owner = f'joint {name!r}'
    kind = word(owner, element, 'type')
    if kind not in KINDS:
        raise ModelError(f'{owner}: type {kind!r} is not supported (only {", ".join(KINDS)})')
    ends = []
    for role in ('parent', 'child'):
        end = only_child(owner, element, role)
        if end is None:
            raise ModelError(f'{owner}: <{role}> is missing')
        link = word(owner, end, 'link')
        if link not in links:
            raise ModelError(f'{owner}: its {role} link {link!r} does not exist')
        ends.append(link)
    parent, child = ends
    pose = origin_of(owner, element, version)
    joint = Joint(name, child, parent, 'fixed', np.zeros(3), *pose, ten_parameters(*links[child]))
    return joint if kind == 'fixed' else _moving(owner, joint, kind, element)


def _coupling(joint: str, mimic: Element) -> Coupling:
    """Return the coupling of a joint with a <mimic>: q = multiplier q_other + offset."""
    where = f'joint {joint!r}'
    multiplier, offset = numbers(where, mimic, 'multiplier', [1.0]), numbers(where, mimic, 'offset', [0.0])
    return Coupling(joint, word(where, mimic, 'joint'), (*offset, *multiplier))


def coupled(model: Model, mimics: Iterable[Coupling]) -> tuple[list[Coupling], list[Finding]]:
    """Return the couplings of joints that mimic others, and findings on those that can follow no other joint."""
    couplings, findings = [], []
    for coupling in mimics:
        try:
            couplings.append(checked_coupling(model, coupling))
        except ModelError as error:
            findings.append(independence(coupling.joint, coupling.other, f' ({error})'))
    return couplings, findings


def independence(joint: str, other: str | None, why: str = '') -> Finding:
    """Return the finding on a joint that mimics another in the description alone."""
    message = f'it mimics {other!r}; here it is a joint of its own, with its own torque{why}'
    return Finding('warning', f'joint {joint!r}', message)


def _moving(owner: str, joint: Joint, kind: str, element: Element) -> Joint:
    """Return a fixed joint with the URDF type, axis, limits and friction of a joint that moves."""
    axis = direction_of(owner, only_child(owner, element, 'axis'))
    limit = only_child(owner, element, 'limit')
    lower, upper, velocity, effort = (
        numbers(owner, limit, attribute, [0.0], largest=math.inf)[0]
        for attribute in ('lower', 'upper', 'velocity', 'effort')
    )
    # exporters write the largest float for "no limit"
    lower, upper = (math.copysign(math.inf, it) if abs(it) > LARGEST_ANGLE else it for it in (lower, upper))
    if kind in ('continuous', 'planar', 'floating'):
        lower, upper = -math.inf, math.inf
    elif lower == upper == 0.0:
        lower, upper = math.nan, math.nan  # placeholder of exporters and default of URDF: unknown
    dynamics = only_child(owner, element, 'dynamics')
    return replace(
        joint,
        kind=KINDS[kind],
        axis=unit(axis),
        lower=lower,
        upper=upper,
        velocity=velocity if velocity > 0.0 else math.nan,
        effort=effort if effort > 0.0 else math.nan,
        viscous=numbers(owner, dynamics, 'damping', [0.0])[0],
        coulomb=numbers(owner, dynamics, 'friction', [0.0])[0],
    )
