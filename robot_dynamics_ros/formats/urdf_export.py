"""Export of a model as URDF, which ``urdf.model_from_urdf`` reads back as the same model, as far as URDF allows."""

import math
import re
import sys
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.closed_loops.loop_types import Coupling
from robot_dynamics_ros.model.inertial_parameters import central_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Model
from robot_dynamics_ros.model.rotations import to_rpy

TYPES = {'revolute': 'revolute', 'prismatic': 'prismatic', 'planar': 'planar', 'free': 'floating'}
# XML 1.0, section 2.2: no other character is allowed, not even escaped.
_CHARACTERS = '[\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]+'


def urdf_of(model: Model) -> str:
    """Return the URDF of a model as text.

    It contains names, tree, inertials, limits, viscous and Coulomb friction, and couplings as <mimic>. Each further
    frame is a link on a fixed joint <frame>_mount. Rotors, gears, torque constants, further friction terms, the gain of
    loops and an order of joints other than depth first are lost. An infinite position limit of a prismatic joint, or of
    a joint limited on the other side, is written as the largest float, an unknown limit as 0: urdfdom refuses revolute
    and prismatic joints without limits. Raises ModelError for a helical, cylindrical or spherical joint, a joint with a
    spring or with different limits or friction of its velocities, a closure, a coupling that is a constant or of a
    degree above one, and a name that XML or xacro does not allow.
    """
    robot = Element('robot', name=_name(model.name))
    base, *links = model.link_names
    joints = model.joints
    _add_link(robot, base, model.arrays.I[0])
    for joint in joints:
        _add_link(robot, joint.link, joint.inertia)
    for name, frame in model.frames.items():
        if name not in (base, *links):
            _add_link(robot, name, np.zeros(10))
            mount = f'{name}_mount'
            while mount in model.joint_names:
                mount += '_'
            _add_joint(robot, mount, 'fixed', model.link_names[frame.link], name, frame.rotation, frame.origin)
    couplings = {coupling.joint: coupling for coupling in model.loops.couplings}
    for closure in model.loops.closures:
        raise ModelError(f'loop {closure.name!r}: a URDF cannot hold a closure')
    for joint in joints:
        if joint.stiffness:
            raise ModelError(f'joint {joint.name!r}: a URDF cannot hold a spring')
        for field in ('viscous', 'coulomb', 'velocity', 'effort'):
            if field in joint.of_each:
                raise ModelError(
                    f'joint {joint.name!r}: a URDF has one {field} a joint, got {list(joint.of_each[field])}'
                )
        element = _add_moving(robot, joint)
        if joint.name in couplings:
            _add_mimic(element, couplings[joint.name])
    indent(robot)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(robot, encoding='unicode') + '\n'


def _add_link(robot: Element, name: str, inertia: np.ndarray) -> None:
    """Add a link with ten inertial parameters (10,), without <inertial> where all are zero."""
    link = SubElement(robot, 'link', name=_name(name))
    if inertia.any():
        mass, com, about_com = central_parameters(inertia)
        inertial = SubElement(link, 'inertial')
        SubElement(inertial, 'origin', xyz=_numbers(*com))
        SubElement(inertial, 'mass', value=_numbers(mass))
        entries = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
        values = map(_numbers, about_com[np.triu_indices(3)])
        SubElement(inertial, 'inertia', dict(zip(entries, values, strict=True)))


def _add_moving(robot: Element, joint: Joint) -> Element:
    """Add and return a moving joint with its limits, 0 where they are unknown, and its friction."""
    endless = joint.kind == 'revolute' and (joint.lower, joint.upper) == (-math.inf, math.inf)
    if joint.kind not in TYPES:
        raise ModelError(f'joint {joint.name!r}: a URDF cannot hold a {joint.kind} joint')
    kind = 'continuous' if endless else TYPES[joint.kind]
    element = _add_joint(robot, joint.name, kind, joint.parent, joint.link, joint.rotation, joint.origin)
    SubElement(element, 'axis', xyz=_numbers(*joint.axis))
    needs_limits = kind in ('revolute', 'prismatic')
    fields = ('lower', 'upper', 'velocity', 'effort') if needs_limits else ('velocity', 'effort')
    limits = {field: getattr(joint, field) for field in fields}
    if needs_limits or not all(map(math.isnan, limits.values())):
        known = {field: _numbers(0.0 if math.isnan(limit) else limit) for field, limit in limits.items()}
        SubElement(element, 'limit', known)
    SubElement(element, 'dynamics', damping=_numbers(joint.viscous), friction=_numbers(joint.coulomb))
    return element


def _add_mimic(joint: Element, coupling: Coupling) -> None:
    """Add a coupling to its joint."""
    offset, slope, *higher = (*coupling.polynomial, 0.0)
    if coupling.other is None or any(higher):
        what = 'constant' if coupling.other is None else 'polynomial of a degree above one'
        raise ModelError(f'coupling of joint {coupling.joint!r}: a URDF cannot hold a {what}')
    SubElement(joint, 'mimic', joint=_name(coupling.other), multiplier=_numbers(slope), offset=_numbers(offset))


def _add_joint(robot: Element, name: str, kind: str, parent: str, child: str, rotation, origin) -> Element:
    """Add and return a joint of ``kind``, with rotation (3, 3) and origin (3, m) of the child in the parent."""
    joint = SubElement(robot, 'joint', name=_name(name), type=kind)
    SubElement(joint, 'parent', link=_name(parent))
    SubElement(joint, 'child', link=_name(child))
    SubElement(joint, 'origin', xyz=_numbers(*origin), rpy=_numbers(*to_rpy(rotation)))
    return joint


def _name(name: str) -> str:
    """Return a name; ModelError if reading it back would fail or change it."""
    if not re.fullmatch(_CHARACTERS, name) or name.isspace() or '${' in name or '$(' in name:
        raise ModelError(f'{name!r}: a URDF cannot hold this name')
    return name


def _numbers(*values: float) -> str:
    """Return numbers with enough digits to read back the same floats."""
    largest = sys.float_info.max
    return ' '.join(repr(min(max(float(value), -largest), largest)) for value in values)
