"""What a robot is to the kernels: a frozen model of arrays, and the workspace that a caller lends them.

Joint ``i`` (1..n) moves link ``i`` on link ``parent[i]`` < i; row 0 of every array is the base (regular numbering,
RBDA section 4.1.2). Joint vectors (q, qd, tau, ...) have n entries, entry i - 1 for joint i.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.dynamics.errors import ModelError


class ModelArrays(NamedTuple):
    """The arrays that kernels read."""

    parent: np.ndarray  # (n + 1,) int64       number of the parent link; parent[0] = -1, never read
    E0: np.ndarray  # (n + 1, 3, 3)            rotation parent -> link, E = E0 + Ec cos(q) + Es sin(q)
    Ec: np.ndarray  # (n + 1, 3, 3)
    Es: np.ndarray  # (n + 1, 3, 3)
    r0: np.ndarray  # (n + 1, 3) m             origin of the link in the parent's frame, r = r0 + r1 q
    r1: np.ndarray  # (n + 1, 3) m/m
    S: np.ndarray  # (n + 1, 6)                joint axis as a motion vector, link frame
    I: np.ndarray  # (n + 1, 10)               ten inertial parameters, link frame (see ``inertia``)
    rotor: np.ndarray  # (n + 1,) kg m^2, kg   rotor inertia, reflected to the joint


class Workspace(NamedTuple):
    """The scratch that kernels write; each kernel's docstring says which rows it leaves behind."""

    E: np.ndarray  # (n + 1, 3, 3)             rotation parent -> link
    r: np.ndarray  # (n + 1, 3) m              origin of the link in the parent's frame
    w: np.ndarray  # (n + 1, 3) rad/s          angular velocity, link frame
    v: np.ndarray  # (n + 1, 6) rad/s, m/s     spatial velocity, link frame
    a: np.ndarray  # (n + 1, 6) rad/s^2, m/s^2 acceleration of the frame (linear part classical), link frame
    B: np.ndarray  # (n + 1, 3, 3) 1/s^2       alpha x + w x w x, link frame
    f: np.ndarray  # (n + 1, 6) N m, N         force transmitted by the joint, link frame
    I_c: np.ndarray  # (n + 1, 10)             composite-rigid-body inertia, link frame
    I_A: np.ndarray  # (n + 1, 6, 6)           articulated-body inertia, upper triangle, link frame; then I_a
    p_A: np.ndarray  # (n + 1, 6) N m, N       articulated-body bias force, link frame; then p_a
    c: np.ndarray  # (n + 1, 6)                velocity-product acceleration, link frame
    U: np.ndarray  # (n + 1, 6)                I_A S
    d: np.ndarray  # (n + 1,)                  S' I_A S + rotor
    u: np.ndarray  # (n + 1,) N m, N           tau - S' p_A
    M: np.ndarray  # (n, n)                    mass matrix, then its factor L
    h: np.ndarray  # (n,) N m, N               torques at zero acceleration
    rest: np.ndarray  # (n,)                   zeros

    @classmethod
    def of(cls, joints: int, dtype=float) -> 'Workspace':
        """Return a workspace for a model of so many joints; ``dtype=complex`` serves complex-step derivatives."""
        rows = joints + 1
        shapes = [(3, 3), (3,), (3,), (6,), (6,), (3, 3), (6,), (10,), (6, 6), (6,), (6,), (6,), (), ()]
        of_links = [np.zeros((rows, *shape), dtype) for shape in shapes]
        of_joints = [np.zeros(shape, dtype) for shape in ((joints, joints), (joints,), (joints,))]
        return cls(*of_links, *of_joints)


class JointLimits(NamedTuple):
    """Limits in joint order, (n,) each; NaN where the description states none."""

    lower: np.ndarray  # rad, m      -inf where the joint turns without end
    upper: np.ndarray  # rad, m      +inf likewise
    velocity: np.ndarray  # rad/s, m/s
    effort: np.ndarray  # N m, N


class Friction(NamedTuple):
    """Friction in joint order, (n,) each: viscous qd + coulomb sign(qd) + offset (see ``friction``)."""

    viscous: np.ndarray  # N m s/rad, N s/m
    coulomb: np.ndarray  # N m, N
    offset: np.ndarray  # N m, N
    transition: np.ndarray  # rad/s, m/s   velocity over which the sign is smooth, > 0


class Frame(NamedTuple):
    """A named frame that is fixed to a link; links that a fixed joint merged into another live on as frames."""

    link: int  # number of the moving link (0 = base)
    rotation: np.ndarray  # (3, 3)   frame -> link
    origin: np.ndarray  # (3,) m     link frame


class Finding(NamedTuple):
    """One line of the audit: ``severity`` is 'error' (physically impossible) or 'warning'."""

    severity: str
    where: str
    message: str

    def __str__(self):
        """Return the finding as one line."""
        return f'{self.severity}: {self.where}: {self.message}'


@dataclass(frozen=True)
class Joint:
    """One joint and the link it moves, as every importer states it; ``Model.of`` makes arrays of them."""

    name: str
    link: str
    parent: str  # name of the parent link
    kind: str  # 'revolute' or 'prismatic'
    axis: np.ndarray  # (3,) unit vector, link frame
    rotation: np.ndarray  # (3, 3)   link -> parent at q = 0
    origin: np.ndarray  # (3,) m     link's origin in the parent's frame at q = 0
    inertia: np.ndarray  # (10,)     ten parameters, link frame
    rotor: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.nan
    effort: float = np.nan
    viscous: float = 0.0
    coulomb: float = 0.0
    offset: float = 0.0
    transition: float = 0.01


@dataclass(frozen=True, eq=False)
class Model:
    """A robot: names beside the arrays. Nothing in it ever changes; ``dataclasses.replace`` makes another."""

    name: str
    joint_names: tuple[str, ...]
    link_names: tuple[str, ...]  # base first, then the link that each joint moves
    arrays: ModelArrays
    limits: JointLimits
    friction: Friction
    frames: dict[str, Frame]
    findings: tuple[Finding, ...] = ()

    def __post_init__(self):
        """Freeze the arrays."""
        for array in (*self.arrays, *self.limits, *self.friction):
            array.flags.writeable = False

    def __reduce__(self):
        """Pickle and copy by way of ``__post_init__``: NumPy's copies are writable."""
        return Model, tuple(getattr(self, field.name) for field in fields(self))

    @classmethod
    def of(cls, name: str, base: str, joints, frames=None, findings=(), base_inertia=0.0) -> 'Model':
        """Return the model of ``joints`` (parents before children) on the link ``base``.

        ``frames`` names further frames, ``findings`` is what the importer's audit has to say. ``base_inertia`` (10,
        base frame) moves nothing here: it counts where the base becomes part of another robot.
        Raises ModelError for a joint before its parent or a name that occurs twice.
        """
        rows = len(joints) + 1
        number = {base: 0}
        parent = np.full(rows, -1, np.int64)
        E0, Ec, Es = np.zeros((3, rows, 3, 3))
        r0, r1 = np.zeros((2, rows, 3))
        S, inertia, rotor = np.zeros((rows, 6)), np.zeros((rows, 10)), np.zeros(rows)
        inertia[0] = base_inertia
        for i, joint in enumerate(joints, start=1):
            if joint.link in number or joint.name in [other.name for other in joints[: i - 1]]:
                raise ModelError(f'joint {joint.name!r}: it or its link {joint.link!r} occurs twice')
            if joint.parent not in number:
                raise ModelError(f'joint {joint.name!r}: its parent link {joint.parent!r} comes after it or nowhere')
            number[joint.link], parent[i] = i, number[joint.parent]
            axis, to_link = np.asarray(joint.axis, float), np.asarray(joint.rotation, float).T
            r0[i], inertia[i], rotor[i] = joint.origin, joint.inertia, joint.rotor
            if joint.kind == 'revolute':
                # Rodrigues: J(q) = a a' + (1 - a a') cos(q) - (a x) sin(q), link <- joint at rest
                along = np.outer(axis, axis)
                E0[i], Ec[i] = along @ to_link, (np.eye(3) - along) @ to_link
                Es[i] = -np.cross(np.eye(3), axis) @ to_link
                S[i, :3] = axis
            elif joint.kind == 'prismatic':
                E0[i], r1[i] = to_link, to_link.T @ axis
                S[i, 3:] = axis
            else:
                raise ModelError(f'joint {joint.name!r}: kind {joint.kind!r} is neither revolute nor prismatic')
        arrays = ModelArrays(parent, E0, Ec, Es, r0, r1, S, inertia, rotor)
        limits = JointLimits(*(_column(joints, field) for field in JointLimits._fields))
        friction = Friction(*(_column(joints, field) for field in Friction._fields))
        link_frames = {link: Frame(i, np.eye(3), np.zeros(3)) for link, i in number.items()}
        for frame in frames or {}:
            if frame in number:
                raise ModelError(f'frame {frame!r}: a link has this name')
        return cls(
            name=name,
            joint_names=tuple(joint.name for joint in joints),
            link_names=tuple(number),
            arrays=arrays,
            limits=limits,
            friction=friction,
            frames={**(frames or {}), **link_frames},
            findings=tuple(findings),
        )

    @property
    def joints(self) -> list[Joint]:
        """The joints that ``Model.of`` makes this model of, up to rounding."""
        arrays = self.arrays
        joints = []
        for i, name in enumerate(self.joint_names, start=1):
            kind, axis = ('revolute', arrays.S[i, :3]) if arrays.S[i, :3].any() else ('prismatic', arrays.S[i, 3:])
            joint = Joint(
                name=name,
                link=self.link_names[i],
                parent=self.link_names[arrays.parent[i]],
                kind=kind,
                axis=axis,
                rotation=(arrays.E0[i] + arrays.Ec[i]).T,
                origin=arrays.r0[i],
                inertia=arrays.I[i],
                rotor=float(arrays.rotor[i]),
                **{field: float(column[i - 1]) for field, column in self.limits._asdict().items()},
                **{field: float(column[i - 1]) for field, column in self.friction._asdict().items()},
            )
            joints.append(joint)
        return joints


def _column(joints, field: str) -> np.ndarray:
    """Return one field of every joint as an array (n,)."""
    return np.array([getattr(joint, field) for joint in joints], float)
