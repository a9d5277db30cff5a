"""Model: constant arrays, names and limits of a robot; and the workspace of kernels, which the caller owns.

Joint ``i`` (1..n) connects link ``i`` to link ``parent[i]`` < i; row 0 of every array is the base (regular numbering,
RBDA section 4.1.2). A joint has coordinates in q (nq) and velocities in qd (nv); qdd and tau have the length of qd. For
joints of one degree of freedom nq = nv = n.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.errors import ModelError, UnknownNameError
from robot_dynamics_ros.model.joint_types import KINDS, Joint, axis_and_pitch, directions_of
from robot_dynamics_ros.model.loop_types import Loops

GRAVITY = (0.0, 0.0, -9.81)  # m/s^2, for a base frame whose z axis points up
LINE = 64
"""Bytes of a line of the processor's cache."""
MOST_MOVING_LINKS = 20_000
"""Of a model that is made by code; text has a lower limit (``formats.untrusted_text``).

A mass matrix then needs 3.2 GB. Of the workspace's matrices, 13 GB, only addresses are reserved until an algorithm
writes them: 10,000 links need 0.2 GB for inverse and forward dynamics.
"""


class ModelArrays(NamedTuple):
    """The arrays that kernels read. Velocity k (1..nv) is ``qd[k - 1]``; its row in an array is k."""

    parent: np.ndarray  # (n + 1,) int64       number of the parent link; parent[0] = -1, never read
    first: np.ndarray  # (n + 2,) int64        joint i has the velocities first[i] .. first[i + 1] - 1
    before: np.ndarray  # (nv + 1,) int64      velocity before k: of its joint, else of the nearest ancestor; 0: none
    angle: np.ndarray  # (n + 1,) int64        index of the joint's angle in q, -1 if it has none
    quaternion: np.ndarray  # (n + 1,) int64   index of the first of x, y, z, w in q, -1 if it has none
    slide: np.ndarray  # (n + 1,) int64        index of the joint's first slide in q
    slides: np.ndarray  # (n + 1,) int64       number of slides (prismatic coordinates)
    E0: np.ndarray  # (n + 1, 3, 3)            rotation parent -> link, E = E0 + Ec cos(q) + Es sin(q)
    Ec: np.ndarray  # (n + 1, 3, 3)
    Es: np.ndarray  # (n + 1, 3, 3)
    r0: np.ndarray  # (n + 1, 3) m             origin of the link in the parent's frame, r = r0 + sum of r1 q
    r1: np.ndarray  # (n + 1, 3, 3) m/m, m/rad of each slide
    S: np.ndarray  # (nv + 1, 6)               motion subspace: spatial velocity of a unit of each velocity, link frame
    I: np.ndarray  # (n + 1, 10)               ten inertial parameters, link frame (see ``inertia``)
    rotor: np.ndarray  # (nv + 1,) kg m^2, kg  rotor inertia, reflected to the joint
    spin: np.ndarray  # (nv + 1,) kg m^2       angular momentum of the rotor on the parent link per joint velocity
    geared: np.ndarray  # (n + 1,) int64       number of the joint's velocity if it has a spin (see ``rotors``), else 0
    # loops: c closures with frames A and B, c_j couplings, and their m rows; see ``kernels.loop_rows``
    loop_link: np.ndarray = np.zeros((0, 3), np.int64)  # (c, 3) link of A, of B, and their last common ancestor
    loop_R: np.ndarray = np.zeros((0, 2, 3, 3))  # (c, 2, 3, 3) rotation of A, of B -> its link
    loop_p: np.ndarray = np.zeros((0, 2, 3))  # (c, 2, 3) m   origin of A, of B in its link's frame
    row_loop: np.ndarray = np.zeros((0, 2), np.int64)  # (m - c_j, 2) closure and component of a row
    coupled: np.ndarray = np.zeros((0, 6), np.int64)  # (c_j, 6) velocity (0: none), index in q and link, of both joints
    polynomial: np.ndarray = np.zeros((0, 5))  # (c_j, 5) coefficients of 1, q, q^2, q^3, q^4 of the other joint
    sprung: np.ndarray = np.zeros(0, np.int64)  # (c_s,) closures with a spring or damper about A's z axis
    spring: np.ndarray = np.zeros((0, 3))  # (c_s, 3) stiffness N m/rad, damping N m s/rad, angle at rest rad
    loop_gain: np.ndarray = np.zeros(1)  # (1,) 1/s   errors of loops decay with exp(-loop_gain t)

    @property
    def rows(self) -> int:
        """Number of rows of all loops."""
        return len(self.row_loop) + len(self.coupled)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.parent) - 1

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        ends = [self.angle + 1, self.slide + self.slides, np.where(self.quaternion < 0, 0, self.quaternion + 4)]
        return int(np.max(ends))

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.S) - 1

    @property
    def depth(self) -> int:
        """Largest number of velocities between the base and a link."""
        depth = [0]
        for before in self.before[1:]:
            depth.append(depth[before] + 1)
        return max(depth)

    @property
    def quaternions(self) -> tuple[int, ...]:
        """Index in q of the first number of each quaternion."""
        return tuple(int(place) for place in self.quaternion if place >= 0)

    def is_revolute_or_prismatic(self, i: int) -> bool:
        """Return whether joint ``i`` (1..n) has one velocity, a rotation or a translation."""
        rotates, translates = self.angle[i] >= 0, self.slides[i] > 0
        return self.first[i + 1] - self.first[i] == 1 and rotates != translates


class Workspace(NamedTuple):
    """Scratch arrays of kernels; each kernel's docstring lists the arrays that it writes."""

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
    U: np.ndarray  # (nv + 1, 6)               I_A S
    d: np.ndarray  # (nv + 1,)                 S' I_A S + rotor
    u: np.ndarray  # (nv + 1,) N m, N          tau - S' p_A
    M: np.ndarray  # (nv, nv)                  mass matrix, then its factor L; or the factor of its inverse
    h: np.ndarray  # (nv,) N m, N              torques at zero acceleration
    rest: np.ndarray  # (nv,)                  zeros
    f_0: np.ndarray  # (n + 1, 6)              zeros: no external wrenches
    qdd: np.ndarray  # (nv,) rad/s^2, m/s^2    accelerations
    T: np.ndarray  # (n + 1, 4, 4) m           pose of the link in the base frame
    b: np.ndarray  # (n + 1, 3) kg m/s         twice the linear momentum of the link's subtree, link frame
    G: np.ndarray  # (n + 1, 3, 3) kg m^2/s    angular part of B, see ``momentum``
    Psi_d: np.ndarray  # (nv + 1, 6)           change of velocities by a unit displacement, link frame
    Psi_dd: np.ndarray  # (nv + 1, 6)          change of accelerations by a unit displacement
    S_d: np.ndarray  # (nv + 1, 6)             change of accelerations by a unit velocity
    F_q: np.ndarray  # (n + 1, 6)              change of the transmitted force by a unit displacement
    F_qd: np.ndarray  # (n + 1, 6)             change of it by a unit velocity
    F_M: np.ndarray  # (n + 1, 6)              change of it by a unit acceleration
    C: np.ndarray  # (n + 1, 3)                B' S, a couple
    f_ext: np.ndarray  # (n + 1, 6) N m, N     external wrench on the link, link frame
    J: np.ndarray  # (6, nv)                   Jacobian of a frame, or of the point at the base's origin
    K: np.ndarray  # (nv, 6)                   L'^-1 J', the Jacobian by a factor of the mass matrix
    A: np.ndarray  # (6, 6)                    J M^-1 J', then the inverse of its factor
    Lambda: np.ndarray  # (6, 6)               operational-space inertia
    Y: np.ndarray  # (nv, 3 nv or more)        three matrices beside each other, see ``ltdl_solve_rows``
    R_A: np.ndarray  # (c, 3, 3)               axes of A of each loop closure, base axes
    z_B: np.ndarray  # (c, 3)                  z axis of B in the axes of A
    e_AB: np.ndarray  # (c, 4)                 quaternion x, y, z, w of B against A
    p_B: np.ndarray  # (c, 3) m                origin of B, base frame
    p_AB: np.ndarray  # (c, 3) m               origin of B in the frame A
    v_AB: np.ndarray  # (c, 6) rad/s, m/s      velocity of B against A, in the axes of A at the origin of B
    a_AB: np.ndarray  # (c, 6) rad/s^2, m/s^2  its time derivative
    row_error: np.ndarray  # (m,)              error of each row of the loops
    row_rate: np.ndarray  # (m,)               its rate
    row_target: np.ndarray  # (m,)             what each row has to change by
    lam: np.ndarray  # (m,) N, N m             multipliers of the rows
    V: np.ndarray  # (nv, m or more each)      a column for each row of the loops, see ``loop_solution``
    V_row: np.ndarray  # (m, m or more)        row j: share of column j in those after it
    V_norm: np.ndarray  # (m,)                 weight of each column
    tau: np.ndarray  # (nv,) N m, N            joint torques of loops
    step: np.ndarray  # (nv,)                  change of velocities or accelerations by the loops

    @classmethod
    def of(cls, model: ModelArrays, dtype=float) -> 'Workspace':
        """Return a workspace for a model; ``dtype=complex`` serves complex-step derivatives."""
        shapes = cls.shapes(model.n, model.nv, len(model.loop_link), model.rows)
        return cls(*(aligned_zeros(shape, dtype) for shape in shapes))

    @staticmethod
    def shapes(n: int, nv: int, loops: int, rows: int) -> list[tuple[int, ...]]:
        """Return the shapes of the arrays for ``n`` joints with ``nv`` velocities, and loops with so many rows."""
        of_links = [(3, 3), (3,), (3,), (6,), (6,), (3, 3), (6,), (10,), (6, 6), (6,), (6,)]
        shapes = [(n + 1, *shape) for shape in of_links]
        shapes += [(nv + 1, 6), (nv + 1,), (nv + 1,), (nv, nv), (nv,), (nv,), (n + 1, 6), (nv,), (n + 1, 4, 4)]
        shapes += [(n + 1, 3), (n + 1, 3, 3), *3 * [(nv + 1, 6)], *3 * [(n + 1, 6)], (n + 1, 3)]
        shapes += [(n + 1, 6), (6, nv), (nv, 6), (6, 6), (6, 6), (nv, (3 * nv + 7) // 8 * 8)]
        shapes += [(loops, *shape) for shape in ((3, 3), (3,), (4,), (3,), (3,), (6,), (6,))] + 4 * [(rows,)]
        wide = (rows + 7) // 8 * 8
        return [*shapes, ((nv + 3) // 4 * 4, wide), (rows, wide), (rows,), (nv,), (nv,)]


def aligned_zeros(shape: tuple[int, ...], dtype=float) -> np.ndarray:
    """Return zeros that begin at a line of the cache.

    ``ltdl_solve_rows`` of 35 velocities needs 6.0 us then, 7.8 us where vectors cross lines (2026-11-22).
    """
    size = math.prod(shape)
    numbers = np.zeros(size + LINE, dtype)
    begin = -numbers.ctypes.data % LINE // numbers.itemsize
    return numbers[begin : begin + size].reshape(shape)


class JointLimits(NamedTuple):
    """Limits in joint order; NaN where the description states none."""

    lower: np.ndarray  # (nq,) rad, m      -inf for a continuous joint
    upper: np.ndarray  # (nq,) rad, m      inf for a continuous joint
    velocity: np.ndarray  # (nv,) rad/s, m/s
    effort: np.ndarray  # (nv,) N m, N


class Friction(NamedTuple):
    """Friction in joint order, (nv,) each; ``friction`` has the equation."""

    viscous: np.ndarray  # N m s/rad, N s/m
    coulomb: np.ndarray  # N m, N          without load-dependent and Stribeck friction
    offset: np.ndarray  # N m, N
    transition: np.ndarray  # rad/s, m/s   transition velocity of the smooth sign, > 0
    stribeck: np.ndarray  # N m, N         friction at zero velocity minus Coulomb friction
    stribeck_velocity: np.ndarray  # rad/s, m/s   velocity at which half of it remains, > 0
    load: np.ndarray  # N m/(N m), N/N     Coulomb friction per transmitted torque


class Actuators(NamedTuple):
    """Actuators in joint order, (nv,) each; NaN where unknown."""

    gear_ratio: np.ndarray  # rad/rad, rad/m   motor rotation per joint displacement, > 0
    torque_constant: np.ndarray  # N m/A, N/A  joint torque per motor current, > 0


class Frame(NamedTuple):
    """A named frame that is fixed to a moving link or the base, such as a link on a fixed joint."""

    link: int  # number of the moving link (0 = base)
    rotation: np.ndarray  # (3, 3)   frame -> link
    origin: np.ndarray  # (3,) m     link frame

    @property
    def pose(self) -> np.ndarray:
        """Homogeneous pose of the frame in the link's frame, (4, 4) m."""
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = self.rotation, self.origin
        return pose


class Finding(NamedTuple):
    """One finding of the model check: ``severity`` is 'error' (physically impossible) or 'warning'."""

    severity: str
    where: str
    message: str

    def __str__(self):
        """Return the finding as one line."""
        return f'{self.severity}: {self.where}: {self.message}'


@dataclass(frozen=True, eq=False)
class Model:
    """An immutable robot model: arrays with the names of joints and links, limits, friction, actuators and frames."""

    name: str
    joint_names: tuple[str, ...]
    joint_kinds: tuple[str, ...]  # of KINDS
    link_names: tuple[str, ...]  # base first, then the link that each joint moves
    arrays: ModelArrays
    limits: JointLimits
    friction: Friction
    actuators: Actuators
    frames: dict[str, Frame]
    findings: tuple[Finding, ...] = ()
    loops: Loops = field(default_factory=Loops)

    def __post_init__(self):
        """Freeze the arrays."""
        poses = (pose for closure in self.loops.closures for pose in (closure.pose_a, closure.pose_b))
        for array in (*self.arrays, *self.limits, *self.friction, *self.actuators, *poses):
            array.flags.writeable = False

    def __reduce__(self):
        """Pickle and copy through ``__post_init__``, since NumPy's copies are writable."""
        return Model, tuple(getattr(self, it.name) for it in fields(self))

    @classmethod
    def of(cls, name: str, base: str, joints, frames=None, findings=(), base_inertia=0.0) -> 'Model':
        """Return the model of ``joints`` (parents before children) on the link ``base``.

        ``frames`` are further frames by name, ``findings`` those of the importer. ``base_inertia`` (10, base frame) has
        an effect only when the base becomes a link of another robot. Raises ModelError for a joint before its parent, a
        name that occurs twice, and more than MOST_MOVING_LINKS joints.
        """
        if len(joints) > MOST_MOVING_LINKS:
            raise ModelError(f'{len(joints)} joints that move: expected up to {MOST_MOVING_LINKS}')
        rows, number, names = len(joints) + 1, {base: 0}, set()
        parent, first = np.full(rows, -1, np.int64), np.ones(rows + 1, np.int64)
        angle, quaternion = np.full((2, rows), -1, np.int64)
        slide, slides = np.zeros((2, rows), np.int64)
        before, coordinates = [0], 0
        E0, Ec, Es, r1 = np.zeros((4, rows, 3, 3))
        r0, inertia, S = np.zeros((rows, 3)), np.zeros((rows, 10)), [np.zeros(6)]
        inertia[0] = base_inertia
        for i, joint in enumerate(joints, start=1):
            if joint.link in number or joint.name in names:
                raise ModelError(f'joint {joint.name!r}: it or its link {joint.link!r} occurs twice')
            if joint.parent not in number:
                raise ModelError(f'joint {joint.name!r}: its parent link {joint.parent!r} is missing or comes later')
            if joint.kind not in KINDS:
                raise ModelError(f'joint {joint.name!r}: kind {joint.kind!r} is none of {", ".join(KINDS)}')
            kind, directions = KINDS[joint.kind], directions_of(joint)
            names.add(joint.name)
            number[joint.link], parent[i] = i, number[joint.parent]
            r0[i], inertia[i], to_link = joint.origin, joint.inertia, np.asarray(joint.rotation, float).T
            # indices in q
            angle[i] = coordinates + kind.angle if kind.angle >= 0 else -1
            quaternion[i] = coordinates + kind.quaternion if kind.quaternion >= 0 else -1
            slide[i], slides[i] = coordinates + kind.slide, len(kind.slides)
            coordinates += kind.coordinates
            # Rodrigues: J(q) = a a' + (1 - a a') cos(q) - (a x) sin(q), link <- link at q = 0
            axis = directions[0]
            along = np.outer(axis, axis) if kind.angle >= 0 else np.eye(3)
            E0[i], Ec[i] = along @ to_link, (np.eye(3) - along) @ to_link
            if kind.angle >= 0:
                Es[i] = -np.cross(np.eye(3), axis) @ to_link
            # a screw's slide is pitch times its angle
            scale = joint.pitch if joint.kind == 'helical' else 1.0
            for k, direction in enumerate(kind.slides):
                r1[i, k] = scale * to_link.T @ directions[direction]
            # velocities in qd
            motions = np.kron(np.eye(2), directions)[list(kind.velocities)]
            if joint.kind == 'helical':
                motions[0, 3:] = joint.pitch * axis
            previous = first[parent[i] + 1] - 1 if parent[i] else 0
            for motion in motions:
                before.append(previous)
                S.append(motion)
                previous = len(before) - 1
            first[i + 1] = len(before)
        arrays = ModelArrays(
            parent, first, np.array(before, np.int64), angle, quaternion, slide, slides,
            E0, Ec, Es, r0, r1, np.array(S), inertia, np.concatenate([[0.0], _of_velocities(joints, 'rotor')]),
            np.zeros(len(S)), np.zeros(rows, np.int64),
        )  # fmt: skip
        arrays = with_spin(arrays, joints, _of_velocities(joints, 'spin'))
        limits = JointLimits(
            _of_coordinates(joints, 'lower', -np.inf),
            _of_coordinates(joints, 'upper', np.inf),
            _of_velocities(joints, 'velocity'),
            _of_velocities(joints, 'effort'),
        )
        friction = Friction(*(_of_velocities(joints, field) for field in Friction._fields))
        actuators = Actuators(*(_of_velocities(joints, field) for field in Actuators._fields))
        link_frames = {link: Frame(i, np.eye(3), np.zeros(3)) for link, i in number.items()}
        for frame in frames or {}:
            if frame in number:
                raise ModelError(f'frame {frame!r}: a link has this name')
        return cls(
            name=name,
            joint_names=tuple(joint.name for joint in joints),
            joint_kinds=tuple(joint.kind for joint in joints),
            link_names=tuple(number),
            arrays=arrays,
            limits=limits,
            friction=friction,
            actuators=actuators,
            frames={**(frames or {}), **link_frames},
            findings=tuple(findings),
        )

    def frame(self, name: str) -> Frame:
        """Return the frame of this name; UnknownNameError lists the names that exist."""
        if not isinstance(name, str) or name not in self.frames:
            raise UnknownNameError(f'no link {name!r:.80}; there are {", ".join(self.frames)}')
        return self.frames[name]

    def joint_of_velocity(self, index: int) -> str:
        """Return the name of the joint of entry ``index`` (0..nv - 1) of qd."""
        return self.joint_names[int(np.searchsorted(self.arrays.first[1:], index + 1, 'right')) - 1]

    def torque_constant(self) -> np.ndarray:
        """Return the torque constants (nv,); ModelError naming a joint whose torque constant is unknown."""
        unknown = np.flatnonzero(np.isnan(self.actuators.torque_constant))
        if len(unknown):
            joint = self.joint_of_velocity(int(unknown[0]))
            raise ModelError(f'joint {joint!r}: no torque constant is known; set it by with_actuators')
        return self.actuators.torque_constant

    @property
    def joints(self) -> list[Joint]:
        """The joints for which ``Model.of`` returns this model, up to rounding."""
        arrays, joints, coordinate = self.arrays, [], 0
        for i, (name, kind) in enumerate(zip(self.joint_names, self.joint_kinds, strict=True), start=1):
            k = arrays.first[i]
            axis, pitch = axis_and_pitch(kind, arrays.S[k : arrays.first[i + 1]])
            joint = Joint(
                name=name,
                link=self.link_names[i],
                parent=self.link_names[arrays.parent[i]],
                kind=kind,
                axis=axis,
                rotation=(arrays.E0[i] + arrays.Ec[i]).T,
                origin=arrays.r0[i],
                inertia=arrays.I[i],
                rotor=float(arrays.rotor[k]),
                spin=float(arrays.spin[k]),
                pitch=pitch,
                lower=float(self.limits.lower[coordinate]),
                upper=float(self.limits.upper[coordinate]),
                velocity=float(self.limits.velocity[k - 1]),
                effort=float(self.limits.effort[k - 1]),
                **{field: float(column[k - 1]) for field, column in self.friction._asdict().items()},
                **{field: float(column[k - 1]) for field, column in self.actuators._asdict().items()},
            )
            joints.append(joint)
            coordinate += KINDS[kind].coordinates
        return joints


def with_spin(arrays: ModelArrays, joints: Sequence[Joint], spin) -> ModelArrays:
    """Return the arrays with these rotor spins (nv, kg m^2); ModelError for one on a joint that is not revolute."""
    spins = np.concatenate([[0.0], spin])
    geared = np.zeros(len(joints) + 1, np.int64)
    for i, joint in enumerate(joints, start=1):
        k = arrays.first[i]
        if spins[k] != 0.0:
            if joint.kind != 'revolute':
                raise ModelError(
                    f'joint {joint.name!r}: rotor spin is supported for revolute joints only, not {joint.kind} ones'
                )
            geared[i] = k
    return arrays._replace(spin=spins, geared=geared)


def _of_velocities(joints, field: str) -> np.ndarray:
    """Return one field of every joint as an array (nv,), the same for all velocities of a joint."""
    return np.array([getattr(joint, field) for joint in joints for _ in KINDS[joint.kind].velocities], float)


def _of_coordinates(joints, field: str, none: float) -> np.ndarray:
    """Return a limit of every joint as an array (nq,), ``none`` for joints of several coordinates."""
    counts = [(joint, KINDS[joint.kind].coordinates) for joint in joints]
    limits = [getattr(joint, field) if count == 1 else none for joint, count in counts for _ in range(count)]
    return np.array(limits, float)
