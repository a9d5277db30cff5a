"""Joint types, and the joint record that all importers create."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.model.linear_algebra import cross, dot, norm

LARGEST_ANGLE = 2.0**40
"""Bound on angles of joints in q, 1.1e12 rad. Doubles are 1e-4 rad apart there, and sines are off by 1e-10."""


class Kind(NamedTuple):
    """Coordinates and velocities of a joint type. Indices count the joint's own coordinates; -1: none.

    Directions are 0 along the axis, 1 and 2 perpendicular to it; the link's x, y, z for a joint with a quaternion. A
    velocity is a rotation about a direction (0, 1, 2) or a translation along it (3, 4, 5).
    """

    coordinates: int
    angle: int
    quaternion: int
    slide: int
    slides: tuple[int, ...]
    velocities: tuple[int, ...]


KINDS = {
    'revolute': Kind(1, angle=0, quaternion=-1, slide=0, slides=(), velocities=(0,)),
    'prismatic': Kind(1, angle=-1, quaternion=-1, slide=0, slides=(0,), velocities=(3,)),
    # a screw: translates by its pitch per radian
    'helical': Kind(1, angle=0, quaternion=-1, slide=0, slides=(0,), velocities=(0,)),
    'cylindrical': Kind(2, angle=0, quaternion=-1, slide=1, slides=(0,), velocities=(0, 3)),
    # x and y in the parent's frame, angle; velocities along x and y in the link's frame
    'planar': Kind(3, angle=2, quaternion=-1, slide=0, slides=(1, 2), velocities=(4, 5, 0)),
    'spherical': Kind(4, angle=-1, quaternion=0, slide=0, slides=(), velocities=(0, 1, 2)),
    # position in the parent's frame, quaternion; angular and linear velocity in the link's frame
    'free': Kind(7, angle=-1, quaternion=3, slide=0, slides=(0, 1, 2), velocities=(0, 1, 2, 3, 4, 5)),
}
"""RBDA table 4.1; the coordinates of a quaternion are x, y, z, w."""


@dataclass(frozen=True)
class Joint:
    """A joint and the link that it moves; ``Model.of`` converts joints to arrays."""

    name: str
    link: str
    parent: str  # name of the parent link
    kind: str  # one of KINDS
    axis: np.ndarray  # (3,) unit vector, link frame
    rotation: np.ndarray  # (3, 3)   link -> parent at q = 0
    origin: np.ndarray  # (3,) m     link's origin in the parent's frame at q = 0
    inertia: np.ndarray  # (10,)     ten parameters, link frame
    rotor: float = 0.0  # kg m^2, kg   rotor inertia, reflected to the joint
    spin: float = 0.0  # kg m^2        angular momentum of the rotor on the parent link per joint velocity
    pitch: float = 0.0  # m/rad        of a helical joint
    # limits, friction and actuator as in JointLimits, Friction and Actuators
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.nan
    effort: float = np.nan
    viscous: float = 0.0
    coulomb: float = 0.0
    offset: float = 0.0
    transition: float = 0.01
    stribeck: float = 0.0
    stribeck_velocity: float = 0.1
    load: float = 0.0
    quadratic: float = 0.0
    stiffness: float = 0.0  # N m/rad, N/m  of a spring of a revolute or prismatic joint: stiffness (rest - q)
    rest: float = 0.0  # rad, m
    gear_ratio: float = np.nan
    torque_constant: float = np.nan
    # other joints that turn this joint's motor, and its turns per turn of theirs, in those that this joint needs
    motor_coupling: tuple[tuple[str, float], ...] = ()
    # of a joint of several coordinates: fields above, by name, that are not the same for all velocities (coordinates)
    of_each: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


def directions_of(joint: Joint) -> np.ndarray:
    """Return the directions of a joint as rows (3, 3): its axis and two perpendicular ones, or the link's axes."""
    if KINDS[joint.kind].quaternion >= 0:
        return np.eye(3)
    axis = np.asarray(joint.axis, float)
    # x, or y where x is nearly parallel to the axis, without its part along the axis
    nearest = np.eye(3)[0 if abs(axis[0]) < 0.9 else 1]
    perpendicular = nearest - dot(nearest, axis) * axis
    perpendicular /= norm(perpendicular)
    return np.array([axis, perpendicular, cross(axis, perpendicular)])


def axis_of(kind: str, S) -> np.ndarray:
    """Return a joint's axis (3; z where it has none) from its rows of S (d, 6)."""
    velocities = KINDS[kind].velocities
    if kind == 'prismatic':
        return S[0, 3:]
    if KINDS[kind].quaternion >= 0:
        return np.array([0.0, 0.0, 1.0])
    return S[velocities.index(0), :3]
