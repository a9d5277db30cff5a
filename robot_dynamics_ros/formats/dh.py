"""Import of Denavit-Hartenberg tables.

The pose of frame i in frame i - 1 is Rz(theta) Tz(d) Tx(a) Rx(alpha) by a standard row (Siciliano et al. 2009, section
2.8.2; distal) and Rx(alpha) Tx(a) Rz(theta) Tz(d) by a modified row (Craig, Introduction to Robotics, section 3.4;
proximal). Joint i rotates about, or translates along, the z axis of theta and d. The frame of link i in the model has
its origin on the joint axis, after Rz(theta) Tz(d): frame i of a modified table. Frame i of a standard table is fixed
to the link at Tx(a) Rx(alpha).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.model import untrusted_values
from robot_dynamics_ros.model.audit import audit_inertial, audited
from robot_dynamics_ros.model.inertial_parameters import ten_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.model.linear_algebra import product
from robot_dynamics_ros.model.model import MOST_MOVING_LINKS, Finding, Frame, Model
from robot_dynamics_ros.model.rotations import about, exact

CONVENTIONS = ('standard', 'modified')
KINDS = ('revolute', 'prismatic')


@dataclass(frozen=True, eq=False)
class DHRow:
    """One row of a table: a joint, and the link that it moves.

    The position q is added as theta + sign q for a revolute joint, as d + sign q for a prismatic one. In a modified
    table a and alpha are those before the joint (a and alpha of i - 1). Limits of NaN are unknown.
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
    rows: Sequence[DHRow | Mapping[str, object]],
    convention: str = 'standard',
    name: str = 'dh',
    base_link: str = 'base_link',
    base: ArrayLike | None = None,
    tool: ArrayLike | None = None,
) -> Model:
    """Return the model of the chain of a DH table; its frames dh_0, dh_1, ... are the DH frames.

    Parameters
    ----------
    rows : list of DHRow or mapping
        One row for each joint, a mapping with some of the fields of ``DHRow``.
    convention : {'standard', 'modified'}
        Meaning of the rows.
    name : str
        Name of the robot.
    base_link : str
        Name of the base link.
    base : array_like, (4, 4), optional
        Pose of DH frame 0 in the base link, m. Default: identity.
    tool : array_like, (4, 4), optional
        Pose of the frame 'tool' in the last DH frame, m. Default: there is no such frame.

    Returns
    -------
    Model

    Raises
    ------
    ModelError
        For an invalid row; it names row and field.
    ArgumentError
        For another convention.
    """
    if convention not in CONVENTIONS:
        raise ArgumentError(
            f'convention: expected one of {", ".join(CONVENTIONS)}, got {untrusted_values.shown(convention)}'
        )
    if not isinstance(rows, list | tuple):
        raise ModelError(f'rows: expected a list of rows, got {untrusted_values.shown(rows)}')
    if len(rows) > MOST_MOVING_LINKS:
        raise ModelError(f'{len(rows)} joints that move: expected up to {MOST_MOVING_LINKS}')
    parent = untrusted_values.name('base_link', base_link)
    dh_frame = np.eye(4) if base is None else untrusted_values.pose('base', base)  # in the frame of the current link
    frames = {'dh_0': _frame(0, dh_frame)}
    joints: list[Joint] = []
    findings: list[Finding] = []
    for i, given in enumerate(rows, start=1):
        row = _checked(f'row {i}', given)
        link = row.link or f'link_{i}'
        along_x = _screw([1.0, 0.0, 0.0], row.alpha, row.a)
        along_z = _screw([0.0, 0.0, 1.0], row.theta, row.d)
        if convention == 'standard':
            pose, dh_frame = product(dh_frame, along_z), along_x
        else:
            pose, dh_frame = product(dh_frame, along_x, along_z), np.eye(4)
        frames[f'dh_{i}'] = _frame(i, dh_frame)
        about_com = np.asarray(row.inertia)
        findings += audit_inertial(link, row.mass, about_com)
        inertial = dh_frame if row.inertial_frame is None else product(dh_frame, row.inertial_frame)
        R, p = inertial[:3, :3], inertial[:3, 3]
        joint = Joint(
            name=row.joint or f'joint_{i}',
            link=link,
            parent=parent,
            kind=row.kind,
            axis=np.array([0.0, 0.0, float(row.sign)]),
            rotation=exact(pose[:3, :3]),
            origin=pose[:3, 3],
            inertia=ten_parameters(row.mass, product(R, row.com) + p, product(R, about_com, R.T)),
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
        frames['tool'] = _frame(len(joints), product(dh_frame, untrusted_values.pose('tool', tool)))
    model = Model.of(untrusted_values.name('name', name), base_link, joints, frames)
    return audited(model, findings)


def _checked(where: str, given: DHRow | Mapping) -> DHRow:
    """Return a row with every field validated and converted; ModelError naming the field."""
    written = vars(given) if isinstance(given, DHRow) else untrusted_values.table(where, given, _KEYS)
    row = DHRow(**written)
    frame = row.inertial_frame
    if untrusted_values.number(f'{where}: sign', row.sign) not in (1.0, -1.0):
        raise ModelError(f'{where}: sign: expected 1 or -1, got {untrusted_values.shown(row.sign)}')
    inertia = untrusted_values.array(f'{where}: inertia', row.inertia, (3, 3))
    if (inertia != inertia.T).any():
        raise ModelError(f'{where}: inertia: expected a symmetric matrix, got {untrusted_values.shown(row.inertia)}')
    return DHRow(
        **{field: untrusted_values.number(f'{where}: {field}', written.get(field, 0.0)) for field in _NUMBERS},
        **untrusted_values.limits(where, written),
        kind=untrusted_values.choice(f'{where}: kind', row.kind, KINDS),
        sign=row.sign,
        joint=None if row.joint is None else untrusted_values.name(f'{where}: joint', row.joint),
        link=None if row.link is None else untrusted_values.name(f'{where}: link', row.link),
        rotor=untrusted_values.number(f'{where}: rotor', row.rotor, least=0.0),
        com=untrusted_values.array(f'{where}: com', row.com, (3,)),
        inertia=inertia,
        inertial_frame=None if frame is None else untrusted_values.pose(f'{where}: inertial_frame', frame),
    )


def _screw(axis, angle: float, length: float) -> np.ndarray:
    """Return the pose (4, 4; m) rotated by ``angle`` about and translated by ``length`` along one axis (3)."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = about(axis, angle), length * np.asarray(axis)
    return pose


def _frame(link: int, pose: np.ndarray) -> Frame:
    """Return the frame at a pose (4, 4; m) in a link's frame."""
    return Frame(link, exact(pose[:3, :3]), pose[:3, 3])
