"""Reads MJCF through MuJoCo's compiler. What ``Model`` cannot hold is refused or reported (``mjcf_elements``).

In MuJoCo a body is moved by its joints one after the other, in the body's own axes: a slide by axis (q - ref), a hinge
or ball about an axis or point at the joint's pos. A joint that is not a body's last, or whose pos is not the body's
origin, gets an intermediate link <body>/<joint>. A free joint has the world as its parent. Coordinates and velocities
are those of ``model.joint_types``, not always MuJoCo's: quaternions are x, y, z, w, and a free joint's velocity is
angular first, all in the link's axes. Equality constraints become closed loops, see ``mjcf_equality``.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.compiled_mjcf import joint_kind, mujoco_module, name_of, rotation_of
from robot_dynamics_ros.formats.mjcf_elements import check_elements, check_sizes, is_off, left_out, switched_off
from robot_dynamics_ros.formats.mjcf_equality import with_equalities
from robot_dynamics_ros.formats.untrusted_text import check_moving_links, check_root, parsed, plain_xml, read_xml
from robot_dynamics_ros.formats.urdf import Inertial
from robot_dynamics_ros.model import untrusted_values
from robot_dynamics_ros.model.audit import audit_inertial, audited
from robot_dynamics_ros.model.fixed_joints import fixed, merged
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.model import Finding, Model
from robot_dynamics_ros.model.rotations import about


def model_from_mjcf(source: str | Path, springs: bool = True) -> tuple[Model, np.ndarray]:
    """Return model and gravity (3, m/s^2) of an MJCF: a path, or the text itself if it contains '<'.

    Joints are in MuJoCo's order, with armature as rotor inertia, damping and frictionloss as viscous and Coulomb
    friction, stiffness and springref as spring unless ``springs`` is false, range, and symmetric force limits. Bodies
    are links or frames, a mocap body a frame of the base. Dropped with a finding are the range of a ball joint, a
    medium, and limits, springs, damping and friction of tendons. Actuators and contacts are ignored. MuJoCo opens files
    that an MJCF names, so text must not name any. Raises ModelError naming an unsupported element, and where MuJoCo is
    not installed.
    """
    plant = compiled_from_mjcf(source)
    with _named(source):
        return _model(plant, springs)


def compiled_from_mjcf(source: str | Path):
    """Return MuJoCo's model of an MJCF, a path or text as for ``model_from_mjcf``; ModelError."""
    is_text = isinstance(source, str) and '<' in source
    with _named(source):
        return _compiled(str(source), str(source) if is_text else read_xml(source), is_text)


def inertials_from_mjcf(source: str | Path) -> dict[str, Inertial]:
    """Return the inertials of its bodies; ModelError."""
    plant = compiled_from_mjcf(source)
    with _named(source):
        return {name_of('body', plant.body(i)): _inertial(plant, i) for i in range(1, plant.nbody)}


@contextmanager
def _named(source: str | Path) -> Iterator[None]:
    """Name the source in each ModelError."""
    try:
        yield
    except ModelError as error:
        is_text = isinstance(source, str) and '<' in source
        raise ModelError(f'{"robot description" if is_text else source}: {error}') from error


def _compiled(source: str, text: str, is_text: bool):
    """Return MuJoCo's model of the text, or of the file ``source``, which may name files relative to it."""
    mujoco, text = mujoco_module(), plain_xml(text)  # MuJoCo reads what was checked
    root = parsed(text)
    check_root(root, 'mujoco')
    check_sizes(root)
    if is_text:
        _refuse_files(root)
    try:
        return mujoco.MjModel.from_xml_string(text) if is_text else mujoco.MjModel.from_xml_path(source)
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        raise ModelError(f'MuJoCo does not load it: {" ".join(str(error).split())}') from error


def _refuse_files(root: Element) -> None:
    """Raise ModelError for the first element that names a file."""
    for element in root.iter():
        for attribute in element.attrib:
            if attribute.startswith('file'):
                raise ModelError(
                    f'<{element.tag}>: text must not name a {attribute}; pass the path of the MJCF instead'
                )


def _model(plant, springs: bool) -> tuple[Model, np.ndarray]:
    """Return model and gravity of MuJoCo's model, with or without the springs of its joints."""
    check_elements(plant)
    parts: list[Joint] = []
    findings = [*left_out(plant)]
    for i in range(1, plant.nbody):
        name, inertial = name_of('body', plant.body(i)), _inertial(plant, i)
        findings += audit_inertial(name, inertial.mass, inertial.inertia)
        findings += _dropped_limits(plant, i)
        parts += _parts(plant, i, name, ten_parameters(*inertial))
    zeros, off = switched_off(plant)
    findings += off
    parts = [replace(part, **zeros) for part in parts]
    if not springs:
        for joint in (part for part in parts if part.stiffness):
            findings.append(Finding('warning', f'joint {joint.name!r}', 'its spring is left out'))
        parts = [replace(part, stiffness=0.0) for part in parts]
    robot = untrusted_values.name('model', plant.names.split(b'\0')[0].decode() or 'mjcf')
    check_moving_links(joint.kind for joint in parts)
    model = with_equalities(merged(robot, name_of('body', plant.body(0)), parts), plant)
    gravity = np.zeros(3) if is_off(plant, 'mjDSBL_GRAVITY') else plant.opt.gravity.copy()
    return audited(model, [*findings, *model.findings]), gravity


def _inertial(plant, body: int) -> Inertial:
    """Return the inertial of a body."""
    R = rotation_of(plant.body_iquat[body])
    about_com = product(R, np.diag(plant.body_inertia[body]), R.T)
    return Inertial(float(plant.body_mass[body]), plant.body_ipos[body].copy(), about_com)


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
            stiffness=float(plant.jnt_stiffness[i]),
            rest=float(plant.qpos_spring[plant.jnt_qposadr[i]]),
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
