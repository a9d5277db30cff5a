"""Model: arrays with the names, limits, friction, actuators, frames and loops of a robot."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.errors import ModelError, UnknownNameError, alternatives
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.closed_loops.loop_types import Loops
from robot_dynamics_ros.model.joint_types import KINDS, Joint, axis_of, directions_of
from robot_dynamics_ros.model.linear_algebra import cross, product
from robot_dynamics_ros.model.regrouping import regrouped

GRAVITY = (0.0, 0.0, -9.81)  # m/s^2, for a base frame whose z axis points up
MOST_MOVING_LINKS = 20_000
"""Of a model that is made by code; text has a lower limit (``formats.untrusted_text``).

A mass matrix then needs 3.2 GB. Of the workspace's matrices, 13 GB, only addresses are reserved until an algorithm
writes them: 10,000 links need 0.2 GB for inverse and forward dynamics.
"""


WITH_SPRING = ('revolute', 'prismatic', 'helical')
"""Joint types that can have a spring: those of one coordinate."""


class JointLimits(NamedTuple):
    """Limits in joint order; NaN where the description states none."""

    lower: np.ndarray  # (nq,) rad, m      -inf for a continuous joint
    upper: np.ndarray  # (nq,) rad, m      inf for a continuous joint
    velocity: np.ndarray  # (nv,) rad/s, m/s
    effort: np.ndarray  # (nv,) N m, N


class Friction(NamedTuple):
    """Friction in joint order, (nv,) each; ``friction`` has the equation."""

    viscous: Vector  # N m s/rad, N s/m
    coulomb: Vector  # N m, N          without load-dependent and Stribeck friction
    offset: Vector  # N m, N
    transition: Vector  # rad/s, m/s   transition velocity of the smooth sign, > 0
    stribeck: Vector  # N m, N         friction at zero velocity minus Coulomb friction
    stribeck_velocity: Vector  # rad/s, m/s   velocity at which half of it remains, > 0
    load: Vector  # N m/(N m), N/N     Coulomb friction per transmitted torque
    quadratic: Vector  # N m s^2/rad^2, N s^2/m^2   of the velocity's square


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
    affects: str = ''  # what an error makes wrong, one of audit.AFFECTED; '' for none of them

    def __str__(self) -> str:
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
    rotations: np.ndarray  # (joints, 3, 3)   link -> parent at q = 0; ``arrays`` have products of them
    pitches: np.ndarray  # (joints,) m/rad    of helical joints, likewise
    limits: JointLimits
    friction: Friction
    actuators: Actuators
    frames: dict[str, Frame]
    findings: tuple[Finding, ...] = ()
    loops: Loops = field(default_factory=Loops)
    motor_coupling: tuple[tuple[int, int, float], ...] = ()  # velocities of motor and other joint, ratio

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        poses = (pose for closure in self.loops.closures for pose in (closure.pose_a, closure.pose_b))
        numbers = (self.rotations, self.pitches, *self.limits, *self.friction, *self.actuators)
        for array in (*self.arrays, *numbers, *poses):
            array.flags.writeable = False

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Pickle and copy through ``__post_init__``, since NumPy's copies are writable."""
        return Model, tuple(getattr(self, it.name) for it in fields(self))

    @classmethod
    def of(
        cls,
        name: str,
        base: str,
        joints: Sequence[Joint],
        frames: Mapping[str, Frame] | None = None,
        findings: Iterable[Finding] = (),
        base_inertia: ArrayLike = 0.0,
    ) -> 'Model':
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
                raise ModelError(f'joint {joint.name!r}: duplicate joint or link name, link {joint.link!r}')
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
            E0[i], Ec[i] = product(along, to_link), product(np.eye(3) - along, to_link)
            if kind.angle >= 0:
                Es[i] = 0.0 - np.array([cross(axis, column) for column in to_link.T]).T  # no negative zeros
            # a screw's slide is pitch times its angle
            scale = joint.pitch if joint.kind == 'helical' else 1.0
            for k, direction in enumerate(kind.slides):
                r1[i, k] = scale * product(to_link.T, directions[direction])
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
            np.zeros(len(S)), np.zeros(rows, np.int64), *_springs(joints),
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
            rotations=np.array([joint.rotation for joint in joints], float).reshape(-1, 3, 3),
            pitches=np.array([joint.pitch if joint.kind == 'helical' else 0.0 for joint in joints]),
            limits=limits,
            friction=friction,
            actuators=actuators,
            frames={**(frames or {}), **link_frames},
            findings=tuple(findings),
            motor_coupling=_motor_coupling(joints),
        )

    def frame(self, name: str) -> Frame:
        """Return the frame of this name; UnknownNameError lists the names that exist."""
        if not isinstance(name, str) or name not in self.frames:
            raise UnknownNameError(f'no link {name!r:.80}; {alternatives(name, self.frames)}')
        return self.frames[name]

    def joint_of_velocity(self, index: int) -> str:
        """Return the name of the joint of entry ``index`` (0..nv - 1) of qd."""
        return self.joint_names[int(np.searchsorted(self.arrays.first[1:], index + 1, 'right')) - 1]

    def motor_velocities(self) -> np.ndarray:
        """Return the matrix W of motor velocities W qd, (nv, nv), in units of the joint; (0, 0) if no motor is coupled.

        Torques of motors count at the joints by its transpose, W' tau.
        """
        W = np.eye(self.arrays.nv if self.motor_coupling else 0)
        for motor, joint, ratio in self.motor_coupling:
            W[motor, joint] = ratio
        return W

    @cached_property
    def regrouped(self) -> ModelArrays:
        """``arrays`` with regrouped inertial parameters, for all robots of this model."""
        return regrouped(self.arrays)

    def joint_of_coordinate(self, index: int) -> str:
        """Return the name of the joint of entry ``index`` (0..nq - 1) of q."""
        ends = np.cumsum([KINDS[kind].coordinates for kind in self.joint_kinds])
        return self.joint_names[int(np.searchsorted(ends, index, 'right'))]

    def torque_constant(self) -> np.ndarray:
        """Return the torque constants (nv,); ModelError naming a joint whose torque constant is unknown."""
        unknown = np.flatnonzero(np.isnan(self.actuators.torque_constant))
        if len(unknown):
            joint = self.joint_of_velocity(int(unknown[0]))
            raise ModelError(f'joint {joint!r}: no torque constant is known; set it by with_actuators')
        return self.actuators.torque_constant

    @property
    def joints(self) -> list[Joint]:
        """The joints for which ``Model.of`` returns this model, to the bit."""
        arrays, joints, coordinate = self.arrays, [], 0
        coupled: dict[int, list[tuple[str, float]]] = {}
        for motor, other, ratio in self.motor_coupling:
            coupled.setdefault(motor, []).append((self.joint_of_velocity(other), ratio))
        for i, (name, kind) in enumerate(zip(self.joint_names, self.joint_kinds, strict=True), start=1):
            k = arrays.first[i]
            joint = Joint(
                name=name,
                link=self.link_names[i],
                parent=self.link_names[arrays.parent[i]],
                kind=kind,
                axis=axis_of(kind, arrays.S[k : arrays.first[i + 1]]),
                rotation=self.rotations[i - 1],
                origin=arrays.r0[i],
                inertia=arrays.I[i],
                rotor=float(arrays.rotor[k]),
                spin=float(arrays.spin[k]),
                pitch=float(self.pitches[i - 1]),
                stiffness=float(arrays.stiffness[k]),
                rest=float(arrays.spring_rest[k]),
                lower=float(self.limits.lower[coordinate]),
                upper=float(self.limits.upper[coordinate]),
                velocity=float(self.limits.velocity[k - 1]),
                effort=float(self.limits.effort[k - 1]),
                **{field: float(column[k - 1]) for field, column in self.friction._asdict().items()},
                **{field: float(column[k - 1]) for field, column in self.actuators._asdict().items()},
                motor_coupling=tuple(coupled.get(int(k) - 1, ())),
                of_each=self._of_each(i, coordinate) if KINDS[kind].coordinates > 1 else {},
            )
            joints.append(joint)
            coordinate += KINDS[kind].coordinates
        return joints

    def _of_each(self, i: int, coordinate: int) -> dict[str, tuple[float, ...]]:
        """Return ``Joint.of_each`` of joint i (1..n), whose first coordinate has this index."""
        velocities = slice(self.arrays.first[i] - 1, self.arrays.first[i + 1] - 1)
        coordinates = slice(coordinate, coordinate + KINDS[self.joint_kinds[i - 1]].coordinates)
        columns = {'rotor': self.arrays.rotor[1:], **self.friction._asdict(), **self.actuators._asdict()}
        found = {name: column[velocities] for name, column in columns.items()}
        for name, column in self.limits._asdict().items():
            found[name] = column[coordinates if name in ('lower', 'upper') else velocities]
        return {
            name: tuple(column.tolist())
            for name, column in found.items()
            if not np.array_equal(column, np.full_like(column, column[0]), equal_nan=True)
        }


def with_spin(arrays: ModelArrays, joints: Sequence[Joint], spin: np.ndarray) -> ModelArrays:
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


def _springs(joints) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return stiffness, rest and coordinate of ``ModelArrays``; ModelError for a joint that can have no spring."""
    stiffness, rest = (np.concatenate([[0.0], _of_velocities(joints, field)]) for field in ('stiffness', 'rest'))
    coordinate, q, k = np.zeros(len(stiffness), np.int64), 0, 1
    for joint in joints:
        if joint.stiffness != 0.0:
            if joint.kind not in WITH_SPRING:
                expected = ' and '.join(WITH_SPRING)
                raise ModelError(f'joint {joint.name!r}: springs are supported for {expected} joints only')
            coordinate[k] = q
        q, k = q + KINDS[joint.kind].coordinates, k + len(KINDS[joint.kind].velocities)
    return stiffness, np.where(stiffness == 0.0, 0.0, rest), coordinate


def _motor_coupling(joints: Sequence[Joint]) -> tuple[tuple[int, int, float], ...]:
    """Return ``Model.motor_coupling``; a joint that the model does not have, as one that is locked, turns no motor."""
    first, velocity = {}, 0
    for joint in joints:
        first[joint.name] = velocity
        velocity += len(KINDS[joint.kind].velocities)
    found = (
        (first[joint.name], first[other], float(ratio))
        for joint in joints
        for other, ratio in joint.motor_coupling
        if other in first
    )
    return tuple(sorted(found))


def _of_velocities(joints, field: str) -> np.ndarray:
    """Return one field of every joint as an array (nv,)."""
    counts = [(joint, len(KINDS[joint.kind].velocities)) for joint in joints]
    numbers = [joint.of_each.get(field, (getattr(joint, field),) * count) for joint, count in counts]
    return np.array([it for of_joint in numbers for it in of_joint], float)


def _of_coordinates(joints, field: str, none: float) -> np.ndarray:
    """Return a limit of every joint as an array (nq,), ``none`` for joints of several coordinates."""
    counts = [(joint, KINDS[joint.kind].coordinates) for joint in joints]
    limits = [
        joint.of_each.get(field, (getattr(joint, field) if count == 1 else none,) * count) for joint, count in counts
    ]
    return np.array([it for of_joint in limits for it in of_joint], float)
