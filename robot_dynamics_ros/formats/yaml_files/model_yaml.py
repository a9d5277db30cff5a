"""Import and export of a model as YAML, without loss: also the parameters that a URDF has no element for.

Example::

    robot: lift
    gravity: [0.0, 0.0, -9.81]               # m/s^2, base frame; optional
    base: {link: floor}                      # and optionally inertial, as below
    joints:                                  # in the order of joint vectors, parents first
    - name: column
      link: carriage
      parent: floor
      kind: prismatic                        # see model.joint_types; a helical joint has a pitch, m/rad
      axis: [0.0, 0.0, 1.0]                  # link frame
      rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]   # link -> parent at q = 0; default: identity
      origin: [0.0, 0.0, 0.5]                # m, parent's frame; default: 0
      inertial: {mass: 2.0, com: [0.0, 0.0, 0.1], inertia: [0.1, 0.0, 0.0, 0.1, 0.0, 0.1]}
      rotor_inertia: 0.3                     # kg m^2 or kg, reflected to the joint; optional, as all below
      rotor_spin: 0.0                        # kg m^2, rotor inertia about the rotor axis times gear ratio (see rotors)
      actuators: {gear_ratio: 120.0, torque_constant: 9.0}   # rad per rad (m) of the joint; N m/A (N/A) at the joint
      limits: {lower: 0.0, upper: 1.0, velocity: 0.5, effort: 100.0}
      friction: {viscous: 1.0, coulomb: 2.0, offset: 0.1, transition: 0.01}   # see model.Friction
      spring: {stiffness: 500.0, rest: 0.2}  # N/m or N m/rad, and the coordinate where it has no torque
      of_each: {}                            # of a joint of several coordinates, such as {viscous: [1.0, 1.0, 0.1]}
    - {name: hinge, link: arm, parent: carriage, kind: revolute, axis: [0.0, 1.0, 0.0]}
    frames:                                  # fixed to a link
      tool: {link: arm, origin: [0.5, 0.0, 0.0]}
    loops:                                   # see model.closed_loops.loop_types
      gain: 20.0                             # 1/s
      tolerance: 1.0e-5                      # of dependent constraints
      closures:
      - name: rail
        link_a: floor
        pose_a: [[1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.5], [0.0, 0.0, 0.0, 1.0]]
        link_b: tool
        kind: planar_point
      couplings:
      - {joint: hinge, other: column, polynomial: [0.0, 2.0]}

An inertial is mass (kg), centre (m) and inertia xx, xy, xz, yy, yz, zz about the centre (kg m^2), link frame. In place
of the last two it may have ``first_moment`` m c (kg m) and ``inertia_about_origin`` of the link's frame (kg m^2). These
are written, since they are the numbers of the model: what is read back has the same digest.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from robot_dynamics_ros.errors import ModelError, alternatives
from robot_dynamics_ros.formats.untrusted_text import check_moving_links, read_text
from robot_dynamics_ros.formats.yaml_files.actuators import COUPLING, ratios_of
from robot_dynamics_ros.formats.yaml_files.loops_yaml import loops_written, with_loops_read
from robot_dynamics_ros.model import untrusted_values
from robot_dynamics_ros.model.audit import audit_inertial, audited
from robot_dynamics_ros.model.inertial_parameters import central_parameters, symmetric, ten_parameters
from robot_dynamics_ros.model.joint_types import KINDS, Joint
from robot_dynamics_ros.model.model import GRAVITY, Actuators, Finding, Frame, Friction, JointLimits, Model

POSITIVE = ('transition', 'stribeck_velocity', *Actuators._fields)
SPRING = ('stiffness', 'rest')
OF_EACH = 'of_each'
_POSE = ('rotation', 'origin')
_CENTRAL = ('mass', 'com', 'inertia')
_ABOUT_ORIGIN = ('mass', 'first_moment', 'inertia_about_origin')
_NEEDED = ('name', 'link', 'parent', 'kind', 'axis')
_OPTIONAL = (
    *_POSE,
    'pitch',
    'inertial',
    'rotor_inertia',
    'rotor_spin',
    'actuators',
    'limits',
    'friction',
    'spring',
    COUPLING,
    OF_EACH,
)


def model_from_yaml(source: str | Path) -> tuple[Model, np.ndarray]:
    """Return model and gravity (3, m/s^2) of YAML: a path, or the text itself if it has more than one line.

    Raises ModelError naming joint or loop and key. ``Model.findings`` has the findings of the model check.
    """
    from robot_dynamics_ros.formats.yaml_files.untrusted_yaml import parsed_yaml  # noqa: PLC0415  (slow to import)

    is_text = isinstance(source, str) and '\n' in source
    try:
        return _model(parsed_yaml(str(source) if is_text else read_text(source)))
    except ModelError as error:
        raise ModelError(f'{"robot description" if is_text else source}: {error}') from error


def yaml_of(model: Model, gravity=GRAVITY) -> str:
    """Return the YAML of a model under ``gravity`` (3, m/s^2) as text.

    Raises ModelError naming a joint with known and unknown limits of its velocities.
    """
    base = {'link': model.link_names[0], **_inertial_written(model.arrays.I[0])}
    frames = {
        name: {'link': model.link_names[frame.link], **_pose_written(frame.rotation, frame.origin)}
        for name, frame in model.frames.items()
        if name not in model.link_names
    }
    content = {
        'robot': model.name,
        'gravity': _plain(gravity),
        'base': base,
        'joints': [_joint_written(joint) for joint in model.joints],
        'frames': frames,
        **loops_written(model.loops),
    }
    import yaml  # noqa: PLC0415  (slow to import)

    # numbers on one line, tables on several
    return yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=math.inf)


def _model(content) -> tuple[Model, np.ndarray]:
    """Return model and gravity (3, m/s^2) of the parsed YAML."""
    known = ('robot', 'gravity', 'base', 'joints', 'frames', 'loops')
    content = untrusted_values.table('the file', content, known, needed=('robot', 'base', 'joints'))
    name = untrusted_values.name('robot', content['robot'])
    gravity = untrusted_values.array('gravity', content.get('gravity', GRAVITY), (3,))
    base = untrusted_values.table('base', content['base'], ('link', 'inertial'), needed=('link',))
    base_link = untrusted_values.name('base: link', base['link'])
    findings: list[Finding] = []
    base_inertia = _inertia(f'link {base_link!r}', base, base_link, findings)
    if not isinstance(content['joints'], list):
        raise ModelError(f'joints: expected a list, got {untrusted_values.shown(content["joints"])}')
    joints = [_joint(f'joint number {i}', row, findings) for i, row in enumerate(content['joints'], start=1)]
    check_moving_links(joint.kind for joint in joints)
    number = {link: i for i, link in enumerate([base_link, *(joint.link for joint in joints)])}
    frames = {}
    for frame, row in untrusted_values.table('frames', content.get('frames', {})).items():
        where = f'frame {untrusted_values.name("frames", frame)!r}'
        link = untrusted_values.name(
            f'{where}: link', untrusted_values.table(where, row, ('link', *_POSE), ('link',))['link']
        )
        if link not in number:
            raise ModelError(f'{where}: no link {link!r}; {alternatives(link, number)}')
        frames[frame] = Frame(number[link], *_pose(where, row))
    model = Model.of(name, base_link, joints, frames, base_inertia=base_inertia)
    model = with_loops_read(model, content.get('loops', {}))
    return audited(model, findings), gravity


def _joint(where: str, row, findings: list[Finding]) -> Joint:
    """Return the joint of one row; append findings on its inertial to ``findings``."""
    untrusted_values.table(where, row, (*_NEEDED, *_OPTIONAL), _NEEDED)
    name = untrusted_values.name(f'{where}: name', row['name'])
    where = f'joint {name!r}'
    link = untrusted_values.name(f'{where}: link', row['link'])
    rotation, origin = _pose(where, row)
    limits = untrusted_values.table(f'{where}: limits', row.get('limits', {}), JointLimits._fields)
    return Joint(
        name=name,
        link=link,
        parent=untrusted_values.name(f'{where}: parent', row['parent']),
        kind=untrusted_values.choice(f'{where}: kind', row['kind'], tuple(KINDS)),
        axis=untrusted_values.direction(f'{where}: axis', row['axis']),
        pitch=untrusted_values.number(f'{where}: pitch', row.get('pitch', 0.0)),
        rotation=rotation,
        origin=origin,
        inertia=_inertia(where, row, link, findings),
        rotor=untrusted_values.number(f'{where}: rotor_inertia', row.get('rotor_inertia', 0.0), least=0.0),
        spin=untrusted_values.number(f'{where}: rotor_spin', row.get('rotor_spin', 0.0)),
        **_numbers(f'{where}: actuators', row.get('actuators', {}), Actuators._fields),
        **untrusted_values.limits(f'{where}: limits', limits),
        **_numbers(f'{where}: friction', row.get('friction', {}), Friction._fields),
        **_numbers(f'{where}: spring', row.get('spring', {}), SPRING),
        motor_coupling=tuple(ratios_of(f'{where}: {COUPLING}', row.get(COUPLING, {})).items()),
        of_each=_of_each(f'{where}: {OF_EACH}', row['kind'], row.get(OF_EACH, {})),
    )


def _of_each(where: str, kind: str, given) -> dict[str, tuple[float, ...]]:
    """Return ``Joint.of_each`` of a table, for a joint of several coordinates."""
    known = ('rotor', *JointLimits._fields, *Friction._fields, *Actuators._fields)
    found = {}
    for field, value in untrusted_values.table(where, given, known).items():
        count = KINDS[kind].coordinates if field in ('lower', 'upper') else len(KINDS[kind].velocities)
        numbers = untrusted_values.array(f'{where}: {field}', value, (count,))
        for number in numbers[: len(numbers) if field in POSITIVE else 0]:
            untrusted_values.number(f'{where}: {field}', float(number), above=0.0)
        found[field] = tuple(numbers.tolist())
    return found


def _numbers(where: str, given, fields: tuple[str, ...]) -> dict[str, float]:
    """Return the numbers of a table whose keys are among ``fields``; those in POSITIVE have to be greater than 0."""
    table = untrusted_values.table(where, given, fields)
    least = {field: 0.0 if field in POSITIVE else -math.inf for field in table}
    return {
        field: untrusted_values.number(f'{where}: {field}', value, above=least[field]) for field, value in table.items()
    }


def _inertia(where: str, row: Mapping, link: str, findings: list[Finding]) -> np.ndarray:
    """Return the ten parameters (10,) of a row's inertial, zeros where it has none; append to ``findings``."""
    where = f'{where}: inertial'
    if 'inertial' not in row:
        return np.zeros(10)
    inertial = untrusted_values.table(where, row['inertial'])
    keys = _ABOUT_ORIGIN if 'first_moment' in inertial else _CENTRAL
    untrusted_values.table(where, inertial, keys, keys)
    mass = untrusted_values.number(f'{where}: mass', inertial['mass'])
    vector, matrix = (
        untrusted_values.array(f'{where}: {key}', inertial[key], shape)
        for key, shape in zip(keys[1:], ((3,), (6,)), strict=True)
    )
    ten = ten_parameters(mass, vector, symmetric(matrix)) if keys is _CENTRAL else np.array([mass, *vector, *matrix])
    findings += audit_inertial(link, mass, symmetric(matrix) if keys is _CENTRAL else central_parameters(ten)[2])
    return ten


def _pose(where: str, row: Mapping) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation (3, 3) and origin (3, m) of a row; the identity where it has none."""
    rotation = untrusted_values.rotation(f'{where}: rotation', row.get('rotation', np.eye(3)))
    return rotation, untrusted_values.array(f'{where}: origin', row.get('origin', np.zeros(3)), (3,))


def _joint_written(joint: Joint) -> dict:
    """Return the row of a joint; ModelError for one with known and unknown limits of its velocities."""
    for field, numbers in joint.of_each.items():
        if not np.isfinite(numbers).all():
            raise ModelError(f'joint {joint.name!r}: a YAML file holds a known {field} of each, got {list(numbers)}')
    limits = {field: _plain(getattr(joint, field)) for field in JointLimits._fields}
    actuators = {field: _plain(getattr(joint, field)) for field in Actuators._fields}
    return {
        'name': joint.name,
        'link': joint.link,
        'parent': joint.parent,
        'kind': joint.kind,
        'axis': _plain(joint.axis),
        **({'pitch': joint.pitch} if joint.kind == 'helical' else {}),
        **_pose_written(joint.rotation, joint.origin),
        **_inertial_written(joint.inertia),
        'rotor_inertia': joint.rotor,
        'rotor_spin': joint.spin,
        'actuators': {field: value for field, value in actuators.items() if not math.isnan(value)},
        'limits': {field: value for field, value in limits.items() if not math.isnan(value)},
        'friction': {field: _plain(getattr(joint, field)) for field in Friction._fields},
        **({'spring': {field: getattr(joint, field) for field in SPRING}} if joint.stiffness else {}),
        **({COUPLING: dict(joint.motor_coupling)} if joint.motor_coupling else {}),
        **({OF_EACH: {field: list(numbers) for field, numbers in joint.of_each.items()}} if joint.of_each else {}),
    }


def _inertial_written(inertia: np.ndarray) -> dict:
    """Return the entry 'inertial' of ten parameters (10,), nothing if all are zero."""
    if not inertia.any():
        return {}
    mass, *numbers = _plain(inertia)
    return {'inertial': dict(zip(_ABOUT_ORIGIN, (mass, numbers[:3], numbers[3:]), strict=True))}


def _pose_written(rotation: np.ndarray, origin: np.ndarray) -> dict:
    """Return the entries 'rotation' and 'origin'."""
    return {'rotation': _plain(rotation), 'origin': _plain(origin)}


def _plain(numbers):
    """Return numbers as floats or lists of floats, as YAML needs them."""
    return np.asarray(numbers, float).tolist()
