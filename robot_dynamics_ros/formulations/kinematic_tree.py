"""``KinematicTree``: what the formulations read of a robot, in the frames of its links.

Link i (1..n) moves with joint i relative to its parent link, 0 is the base. Row 0 of every array is the base.
"""

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.model.inertial_parameters import central_parameters
from robot_dynamics_ros.model.joint_types import Joint
from robot_dynamics_ros.robot import Robot

JOINT_TYPES = ('revolute', 'prismatic')
ZERO = 1e-15
"""Largest parameter that counts as 0, such as a cosine of a right angle."""


@dataclass(frozen=True, eq=False)
class KinematicTree:
    """Revolute and prismatic joints, rigid links and gravity of a robot; every array has a row for the base."""

    parent: tuple[int, ...]  # (n + 1)         number of the parent link; -1 for the base
    revolute: tuple[bool, ...]  # (n + 1)      else prismatic
    axis: np.ndarray  # (n + 1, 3)             unit vector along the joint's axis, link frame
    rotation: np.ndarray  # (n + 1, 3, 3)      link -> parent at q = 0
    origin: np.ndarray  # (n + 1, 3) m         link's origin in the parent's frame at q = 0
    mass: np.ndarray  # (n + 1,) kg
    com: np.ndarray  # (n + 1, 3) m            centre of mass, link frame
    inertia: np.ndarray  # (n + 1, 3, 3) kg m^2   about the centre of mass, axes of the link frame
    rotor: np.ndarray  # (n + 1,) kg m^2, kg   rotor inertia, reflected to the joint
    gravity: np.ndarray  # (3,) m/s^2          base frame
    names: tuple[str, ...]  # (n + 1)          of the joints; that of the base link in row 0

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.parent) - 1

    @classmethod
    def of(cls, robot: 'Robot | KinematicTree', formulation: str, serial: bool = True) -> 'KinematicTree':
        """Return the tree of ``robot``, payload included; a tree is returned as it is.

        ``serial``: the formulation needs a chain, where link i - 1 is the parent of link i. Raises ModelError, which
        names the joint that ``formulation`` can't represent.
        """
        if isinstance(robot, KinematicTree):
            for i in range(1, robot.n + 1):
                if serial and robot.parent[i] != i - 1:
                    raise ModelError(
                        f'{formulation}: a serial chain is expected, and joint {robot.names[i]!r} begins a branch; '
                        'Robot.chain returns one branch'
                    )
            return robot
        joints = robot.model.joints
        if robot.model.loops.constraint_names:
            raise ModelError(f'{formulation}: a tree of joints is expected, and {robot.name!r} has closed loops')
        if not joints:
            raise ModelError(f'{formulation}: robot {robot.name!r} has no joint that moves')
        numbers = {name: i for i, name in enumerate(robot.link_names)}
        parent = [numbers[joint.parent] for joint in joints]
        for i, joint in enumerate(joints):
            _check(joint, formulation)
            if serial and parent[i] != i:
                raise ModelError(
                    f'{formulation}: a serial chain is expected, and joint {joint.name!r} begins a branch at '
                    f'{joint.parent!r}; Robot.chain returns one branch'
                )
        bodies = [central_parameters(joint.inertia) for joint in joints]
        return cls(
            parent=(-1, *parent),
            revolute=(False, *(joint.kind == 'revolute' for joint in joints)),
            axis=_rows(np.zeros(3), [joint.axis for joint in joints]),
            rotation=_rows(np.eye(3), [joint.rotation for joint in joints]),
            origin=_rows(np.zeros(3), [joint.origin for joint in joints]),
            mass=_rows(0.0, [mass for mass, _, _ in bodies]),
            com=_rows(np.zeros(3), [com for _, com, _ in bodies]),
            inertia=_rows(np.zeros((3, 3)), [inertia for _, _, inertia in bodies]),
            rotor=_rows(0.0, [joint.rotor for joint in joints]),
            gravity=robot.gravity,
            names=(robot.link_names[0], *robot.joint_names),
        )

    def arguments(self, tip_wrench=None, **vectors) -> list[np.ndarray]:
        """Return joint vectors (n,) in their order, then the wrench on the last link (6,; zeros for None).

        Raises ArgumentError, which names a vector of wrong shape or with NaN or inf.
        """
        wrench = np.zeros(6) if tip_wrench is None else validation.finite('tip_wrench', tip_wrench, (6,))
        return [*(validation.finite(name, value, (self.n,)) for name, value in vectors.items()), wrench]

    def accelerated(self, i: int, inertia):
        """Return ``inertia`` (kg m^2, kg), which joint ``i`` accelerates; ModelError naming the joint for none."""
        if not inertia > 0.0:
            raise ModelError(f'forward dynamics: joint {self.names[i]!r} has no inertia to accelerate')
        return inertia

    def placement(self, i: int, q: float) -> tuple[np.ndarray, np.ndarray]:
        """Return rotation (3, 3; link -> parent) and origin (3, m; parent's frame) of link ``i`` at q_i (rad, m)."""
        if self.revolute[i]:
            return self.rotation[i] @ rotation_about(self.axis[i], q), self.origin[i]
        return self.rotation[i], self.origin[i] + self.rotation[i] @ self.axis[i] * q


def rotation_about(axis, angle: float) -> np.ndarray:
    """Return the rotation (3, 3) about a unit vector (3): 1 + sin(q) a x + (1 - cos(q)) a x a x (Rodrigues)."""
    a = skew(axis)
    return np.eye(3) + np.sin(angle) * a + (1.0 - np.cos(angle)) * a @ a


def skew(a) -> np.ndarray:
    """Return the matrix (3, 3) of a x."""
    x, y, z = a
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _check(joint: Joint, formulation: str) -> None:
    """Raise ModelError for a joint that no formulation represents."""
    if joint.kind not in JOINT_TYPES:
        raise ModelError(
            f'{formulation}: joint {joint.name!r} is {joint.kind}; expected {" or ".join(JOINT_TYPES)} joints'
        )
    if joint.spin != 0.0:
        raise ModelError(f'{formulation}: joint {joint.name!r} has a rotor spin, which no formulation has')
    if joint.stiffness != 0.0:
        raise ModelError(f'{formulation}: joint {joint.name!r} has a spring, which no formulation has')


def _rows(base, links) -> np.ndarray:
    """Return a row for the base and one for each link."""
    return np.array([base, *links], float)
