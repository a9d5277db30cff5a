"""Denavit-Hartenberg tables in, model out.

Standard rows (Siciliano et al. 2009, section 2.8.2; distal) place frame i on frame i - 1 by
Rz(theta) Tz(d) Tx(a) Rx(alpha), modified rows (Craig, Introduction to Robotics, section 3.4; proximal) by
Rx(alpha) Tx(a) Rz(theta) Tz(d). Either way joint i turns about, or slides along, the z that theta and d belong to.
A link of the model has its origin on its joint's axis: it is the frame after Rz(theta) Tz(d). That is frame i of a
modified table; frame i of a standard one sits on the link at Tx(a) Rx(alpha).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.model import checked
from robot_dynamics_ros.model.audit import audit_inertial, audit_model
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.model import Finding, Frame, Model
from robot_dynamics_ros.model.rotations import about, exact

CONVENTIONS = ('standard', 'modified')
KINDS = ('revolute', 'prismatic')


@dataclass(frozen=True, eq=False)
class DHRow:
    """One row of a table: a joint, and the link that it moves.

    The position q enters as theta + sign q where the joint is revolute, as d + sign q where it is prismatic. In a
    modified table a and alpha are those before the joint (a and alpha of i - 1). Limits left out are unknown.
    """

    a: float = 0.0  # m     along x
    alpha: float = 0.0  # rad   about x
    d: float = 0.0  # m     along z
    theta: float = 0.0  # rad   about z
    kind: str = 'revolute'  # or 'prismatic'
    sign: int = 1  # or -1
    joint: str | None = None  # name; None: joint_1, joint_2, ...
    link: str | None = None  # name; None: link_1, link_2, ...
    mass: float = 0.0  # kg
    com: ArrayLike = (0.0, 0.0, 0.0)  # m, in the inertial frame
    inertia: ArrayLike = ((0.0, 0.0, 0.0),) * 3  # (3, 3) kg m^2, about the centre, in the inertial frame's axes
    inertial_frame: ArrayLike | None = None  # (4, 4) pose in DH frame i; None: DH frame i itself
    lower: float = math.nan  # rad, m
    upper: float = math.nan  # rad, m
    velocity: float = math.nan  # rad/s, m/s
    effort: float = math.nan  # N m, N
    rotor: float = 0.0  # kg m^2, kg   reflected to the joint
    viscous: float = 0.0  # N m s/rad, N s/m
    coulomb: float = 0.0  # N m, N


_KEYS = tuple(field.name for field in fields(DHRow))
_NUMBERS = ('a', 'alpha', 'd', 'theta', 'mass', 'viscous', 'coulomb')


def model_from_dh(
    rows: Sequence[DHRow | Mapping],
    convention: str = 'standard',
    name: str = 'dh',
    base_link: str = 'base_link',
    base: ArrayLike | None = None,
    tool: ArrayLike | None = None,
) -> Model:
    """Return the chain of a DH table; each row is a DHRow or a mapping with some of its fields.

    ``base`` (4, 4) is the pose of DH frame 0 in the base link, ``tool`` that of the frame 'tool' in the last DH
    frame; left out, they are the identity, and there is no frame 'tool'. The DH frames are the frames dh_0, dh_1, ...
    Raises ModelError naming row and field, and ArgumentError for another convention.
    """
    if convention not in CONVENTIONS:
        raise ArgumentError(f'convention: expected one of {", ".join(CONVENTIONS)}, got {checked.shown(convention)}')
    if not isinstance(rows, list | tuple):
        raise ModelError(f'rows: expected a list of rows, got {checked.shown(rows)}')
    parent = checked.name('base_link', base_link)
    dh_frame = np.eye(4) if base is None else checked.pose('base', base)  # in the link before the next joint
    frames = {'dh_0': _frame(0, dh_frame)}
    joints: list[Joint] = []
    findings: list[Finding] = []
    for i, given in enumerate(rows, start=1):
        row = _checked(f'row {i}', given)
        link = row.link or f'link_{i}'
        along_x = _screw([1.0, 0.0, 0.0], row.alpha, row.a)
        along_z = _screw([0.0, 0.0, 1.0], row.theta, row.d)
        if convention == 'standard':
            rest, dh_frame = dh_frame @ along_z, along_x
        else:
            rest, dh_frame = dh_frame @ along_x @ along_z, np.eye(4)
        frames[f'dh_{i}'] = _frame(i, dh_frame)
        about_com = np.asarray(row.inertia)
        findings += audit_inertial(link, row.mass, about_com)
        inertial = dh_frame if row.inertial_frame is None else dh_frame @ np.asarray(row.inertial_frame)
        turn, origin = inertial[:3, :3], inertial[:3, 3]
        joint = Joint(
            name=row.joint or f'joint_{i}',
            link=link,
            parent=parent,
            kind=row.kind,
            axis=np.array([0.0, 0.0, float(row.sign)]),
            rotation=exact(rest[:3, :3]),
            origin=rest[:3, 3],
            inertia=ten_parameters(row.mass, turn @ np.asarray(row.com) + origin, turn @ about_com @ turn.T),
            rotor=row.rotor,
            lower=row.lower,
            upper=row.upper,
            velocity=row.velocity,
            effort=row.effort,
            viscous=row.viscous,
            coulomb=row.coulomb,
        )
        joints.append(joint)
        parent = link
    if tool is not None:
        frames['tool'] = _frame(len(joints), dh_frame @ checked.pose('tool', tool))
    model = Model.of(checked.name('name', name), base_link, joints, frames)
    return replace(model, findings=(*findings, *audit_model(model)))


def _checked(where: str, given: DHRow | Mapping) -> DHRow:
    """Return a row with every field checked and made an array or number; ModelError naming the field."""
    written = vars(given) if isinstance(given, DHRow) else checked.table(where, given, _KEYS)
    row = DHRow(**written)
    frame = row.inertial_frame
    if checked.number(f'{where}: sign', row.sign) not in (1.0, -1.0):
        raise ModelError(f'{where}: sign: expected 1 or -1, got {checked.shown(row.sign)}')
    inertia = checked.array(f'{where}: inertia', row.inertia, (3, 3))
    if (inertia != inertia.T).any():
        raise ModelError(f'{where}: inertia: expected a symmetric matrix, got {checked.shown(row.inertia)}')
    return DHRow(
        **{field: checked.number(f'{where}: {field}', written.get(field, 0.0)) for field in _NUMBERS},
        **checked.limits(where, written),
        kind=checked.choice(f'{where}: kind', row.kind, KINDS),
        sign=row.sign,
        joint=None if row.joint is None else checked.name(f'{where}: joint', row.joint),
        link=None if row.link is None else checked.name(f'{where}: link', row.link),
        rotor=checked.number(f'{where}: rotor', row.rotor, least=0.0),
        com=checked.array(f'{where}: com', row.com, (3,)),
        inertia=inertia,
        inertial_frame=None if frame is None else checked.pose(f'{where}: inertial_frame', frame),
    )


def _screw(axis, angle: float, length: float) -> np.ndarray:
    """Return the pose (4, 4) turned by ``angle`` about and moved by ``length`` along one axis (3)."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = about(axis, angle), length * np.asarray(axis)
    return pose


def _frame(link: int, pose: np.ndarray) -> Frame:
    """Return the frame with this pose (4, 4) in a link's frame."""
    return Frame(link, exact(pose[:3, :3]), pose[:3, 3])
