"""Import of MJCF, compiled by MuJoCo; elements that a model cannot represent are rejected by name, never ignored.

In MuJoCo a body is moved by its joints one after the other, in the body's own axes: a slide by axis (q - ref), a hinge
or ball about an axis or point at the joint's pos. A joint that is not a body's last, or whose pos is not the body's
origin, gets an intermediate link <body>/<joint>. A free joint has the world as its parent. Coordinates and velocities
are those of ``model.joint_types``, not always MuJoCo's: quaternions are x, y, z, w, and a free joint's velocity is
angular first, all in the link's axes. Equality constraints become closed loops, see ``mjcf_equality``.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.compiled_mjcf import called, joint_kind, mujoco_module, name_of, rotation_of
from robot_dynamics_ros.formats.mjcf_equality import with_equalities
from robot_dynamics_ros.formats.untrusted_text import MAX_ELEMENTS, check_moving_links, parsed, read_text
from robot_dynamics_ros.model import checked
from robot_dynamics_ros.model.audit import audit_inertial, audited
from robot_dynamics_ros.model.fixed_joints import fixed, merged
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Finding, Model
from robot_dynamics_ros.model.products import product
from robot_dynamics_ros.model.rotations import about

# Fields of MjModel that must be zero, since a model cannot represent them: element, meaning.
_UNSUPPORTED = {
    'jnt_stiffness': ('joint', 'a spring'),
    'jnt_stiffnesspoly': ('joint', 'a spring'),
    'dof_dampingpoly': ('joint', 'a damping that is not linear'),
    'body_gravcomp': ('body', 'gravity compensation'),
    'tendon_stiffness': ('tendon', 'a spring'),
    'tendon_stiffnesspoly': ('tendon', 'a spring'),
    'tendon_damping': ('tendon', 'damping'),
    'tendon_dampingpoly': ('tendon', 'damping'),
    'tendon_frictionloss': ('tendon', 'friction'),
    'tendon_armature': ('tendon', 'rotor inertia'),
    'tendon_limited': ('tendon', 'a limit'),
    'actuator_armature': ('actuator', 'a rotor inertia of its own'),
    'actuator_damping': ('actuator', 'a damping of its own'),
    'actuator_dampingpoly': ('actuator', 'a damping of its own'),
}
_CELLS = {'texture': ('width', 'height'), 'hfield': ('nrow', 'ncol')}
# Attributes that multiply what MuJoCo allocates for an element, which it does not limit.
_COUNTED = {'replicate': ('count',), 'composite': ('count',), 'flexcomp': ('count',), **_CELLS}
CELLS_OF_AN_ELEMENT = 1000  # cells that need about as much memory as an element
# MuJoCo applies these along the axes of the world, a model would along the link's.
_UNSUPPORTED_ON_FREE = {'dof_armature': 'rotor inertia', 'dof_frictionloss': 'dry friction'}


def model_from_mjcf(source: str | Path) -> tuple[Model, np.ndarray]:
    """Return model and gravity (3, m/s^2) of an MJCF: a path, or the text itself if it contains '<'.

    Joints are in MuJoCo's order, with armature as rotor inertia, damping and frictionloss as viscous and Coulomb
    friction, range, and symmetric force limits. Bodies are links or frames, a mocap body a frame of the base. The range
    of a ball joint is dropped with a finding. Actuators and contacts are ignored. MuJoCo opens files that an MJCF
    names, so text must not name any. Raises ModelError naming an unsupported element, and where MuJoCo is not
    installed.
    """
    is_text = isinstance(source, str) and '<' in source
    try:
        return _model(_compiled(str(source), str(source) if is_text else read_text(source), is_text))
    except ModelError as error:
        raise ModelError(f'{"robot description" if is_text else source}: {error}') from error


def _compiled(source: str, text: str, is_text: bool):
    """Return MuJoCo's model of the text, or of the file ``source``, which may name files relative to it."""
    mujoco = mujoco_module()
    root = parsed(text)
    if root.tag != 'mujoco':
        raise ModelError(f'<{root.tag}>: expected <mujoco>')
    if _size(root) > MAX_ELEMENTS:
        raise ModelError(f'its counts and sizes make more than {MAX_ELEMENTS} elements')
    if is_text:
        _refuse_files(root)
    try:
        return mujoco.MjModel.from_xml_string(text) if is_text else mujoco.MjModel.from_xml_path(source)
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise ModelError(f'MuJoCo does not load it: {" ".join(str(error).split())}') from error


def _size(element: Element) -> float:
    """Return about how many elements MuJoCo creates for one: itself and its children, times its counts."""
    within = 1.0 + sum(map(_size, element))
    attributes = element.attrib if element.tag == 'size' else _COUNTED.get(element.tag, ())
    counts = (float(part) for key in attributes for part in element.get(key, '').split() if part.isdecimal())
    cells = CELLS_OF_AN_ELEMENT if element.tag in _CELLS else 1
    return within * max(1.0, math.prod(counts) / cells)


def _refuse_files(root: Element) -> None:
    """Raise ModelError for the first element that names a file."""
    for element in root.iter():
        for attribute in element.attrib:
            if attribute.startswith('file'):
                raise ModelError(
                    f'<{element.tag}>: text must not name a {attribute}; pass the path of the MJCF instead'
                )


def _model(plant) -> tuple[Model, np.ndarray]:
    """Return model and gravity of MuJoCo's model."""
    _refuse(plant)
    parts: list[Joint] = []
    findings: list[Finding] = []
    for i in range(1, plant.nbody):
        name, mass, R = name_of('body', plant.body(i)), float(plant.body_mass[i]), rotation_of(plant.body_iquat[i])
        about_com = product(R, np.diag(plant.body_inertia[i]), R.T)
        findings += audit_inertial(name, mass, about_com)
        findings += _dropped_limits(plant, i)
        parts += _parts(plant, i, name, ten_parameters(mass, plant.body_ipos[i], about_com))
    robot = checked.name('model', plant.names.split(b'\0')[0].decode() or 'mjcf')
    check_moving_links(joint.kind for joint in parts)
    model = with_equalities(merged(robot, name_of('body', plant.body(0)), parts), plant)
    off = plant.opt.disableflags & int(mujoco_module().mjtDisableBit.mjDSBL_GRAVITY)
    return audited(model, [*findings, *model.findings]), np.zeros(3) if off else plant.opt.gravity.copy()


def _refuse(plant) -> None:
    """Raise ModelError for the first element of MuJoCo's model that affects the dynamics and is not supported."""
    for field, (element, what) in _UNSUPPORTED.items():
        # an older MuJoCo lacks some of the fields
        for i, value in enumerate(getattr(plant, field, ())):
            if np.any(value):
                number = plant.dof_jntid[i] if field.startswith('dof_') else i
                raise ModelError(f'{called(element, getattr(plant, element)(number))}: {what} is not supported')
    for i in range(plant.njnt):
        for field, what in _UNSUPPORTED_ON_FREE.items():
            if joint_kind(plant, i) == 'free' and getattr(plant, field)[plant.jnt_dofadr[i]]:
                raise ModelError(f'{called("joint", plant.joint(i))}: {what} of a free joint is not supported')
    for what, present in (
        ('a deformable body (flex)', plant.nflex),
        ('a plugin', plant.nplugin),
        ('a medium (density, viscosity)', plant.opt.density or plant.opt.viscosity),
    ):
        if present:
            raise ModelError(f'{what} is not supported')


def _parts(plant, number: int, body: str, inertia: np.ndarray) -> Iterator[Joint]:
    """Yield the joints of a body, and a fixed joint if the body is not the link of its last joint."""
    parent = name_of('body', plant.body(int(plant.body_parentid[number])))
    # pose of the body in the link of the previous joint, at the reference position
    rotation, origin = rotation_of(plant.body_quat[number]), plant.body_pos[number].copy()
    first, count = int(plant.body_jntadr[number]), int(plant.body_jntnum[number])
    for i in range(first, first + count):
        name, kind, dof = name_of('joint', plant.joint(i)), joint_kind(plant, i), plant.jnt_dofadr[i]
        anchor = plant.jnt_pos[i] if kind in ('revolute', 'spherical') else np.zeros(3)
        is_body = i == first + count - 1 and not anchor.any()
        low, high = plant.jnt_range[i] if plant.jnt_limited[i] else (-math.inf, math.inf)
        link = body if is_body else f'{body}/{name}'
        at_zero = _at_zero(plant, i, kind, rotation, origin + product(rotation, anchor))
        yield Joint(
            name=name,
            link=link,
            parent=parent,
            kind=kind,
            axis=plant.jnt_axis[i].copy(),
            rotation=at_zero[0],
            origin=at_zero[1],
            inertia=inertia if is_body else np.zeros(10),
            rotor=float(plant.dof_armature[dof]),
            lower=float(low),
            upper=float(high),
            effort=_effort(plant, i) if kind in ('revolute', 'prismatic') else math.nan,
            viscous=float(plant.dof_damping[dof]),
            coulomb=float(plant.dof_frictionloss[dof]),
        )
        if is_body:
            return
        parent, rotation, origin = link, np.eye(3), -anchor
    yield fixed(body, parent, rotation, origin, inertia)


def _at_zero(plant, joint: int, kind: str, rotation: np.ndarray, origin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (3, 3) and origin (3, m) of a joint's link at zero coordinates, from those at MuJoCo's qpos0."""
    axis, ref = plant.jnt_axis[joint], plant.qpos0[plant.jnt_qposadr[joint]]
    if kind == 'revolute':
        return product(rotation, about(axis, -ref)), origin
    if kind == 'prismatic':
        return rotation, origin - ref * product(rotation, axis)
    # the coordinates of a free body are its pose
    return (np.eye(3), np.zeros(3)) if kind == 'free' else (rotation, origin)


def _dropped_limits(plant, body: int) -> Iterator[Finding]:
    """Yield findings on the ranges of a body's ball joints, which a model cannot represent."""
    first = int(plant.body_jntadr[body])
    for i in range(first, first + int(plant.body_jntnum[body])):
        if plant.jnt_limited[i] and joint_kind(plant, i) == 'spherical':
            message = f'its range of {plant.jnt_range[i, 1]:g} rad is ignored: a ball joint has no limits here'
            yield Finding('warning', f'joint {name_of("joint", plant.joint(i))!r}', message)


def _effort(plant, joint: int) -> float:
    """Return the symmetric force limit (N m, N) of a joint and its actuator; NaN where there is none."""
    ranges = [plant.jnt_actfrcrange[joint]] if plant.jnt_actfrclimited[joint] else []
    transmission = plant.actuator_trntype == int(mujoco_module().mjtTrn.mjTRN_JOINT)
    actuators = np.flatnonzero(transmission & (plant.actuator_trnid[:, 0] == joint))
    if len(actuators) == 1 and plant.actuator_forcelimited[actuators[0]]:
        ranges.append(plant.actuator_gear[actuators[0], 0] * plant.actuator_forcerange[actuators[0]])
    known = [abs(float(high)) for low, high in ranges if low == -high]
    return min(known, default=math.nan)
