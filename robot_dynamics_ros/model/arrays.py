"""Constant arrays of a robot, which kernels read, and their workspace, which the caller owns.

Joint ``i`` (1..n) connects link ``i`` to link ``parent[i]`` < i; row 0 of every array is the base (regular numbering,
RBDA section 4.1.2). A joint has coordinates in q (nq) and velocities in qd (nv); qdd and tau have the length of qd. For
joints of one degree of freedom nq = nv = n.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from robot_dynamics_ros.jit.kinds import Array3, Array4, IntegerMatrix, Integers, Matrix, Vector

LINE = 64
"""Bytes of a line of the processor's cache."""


class ModelArrays(NamedTuple):
    """The arrays that kernels read. Velocity k (1..nv) is ``qd[k - 1]``; its row in an array is k."""

    parent: Integers  # (n + 1,) int64       number of the parent link; parent[0] = -1, never read
    first: Integers  # (n + 2,) int64        joint i has the velocities first[i] .. first[i + 1] - 1
    before: Integers  # (nv + 1,) int64      velocity before k: of its joint, else of the nearest ancestor; 0: none
    angle: Integers  # (n + 1,) int64        index of the joint's angle in q, -1 if it has none
    quaternion: Integers  # (n + 1,) int64   index of the first of x, y, z, w in q, -1 if it has none
    slide: Integers  # (n + 1,) int64        index of the joint's first slide in q
    slides: Integers  # (n + 1,) int64       number of slides (prismatic coordinates)
    E0: Array3  # (n + 1, 3, 3)            rotation parent -> link, E = E0 + Ec cos(q) + Es sin(q)
    Ec: Array3  # (n + 1, 3, 3)
    Es: Array3  # (n + 1, 3, 3)
    r0: Matrix  # (n + 1, 3) m             origin of the link in the parent's frame, r = r0 + sum of r1 q
    r1: Array3  # (n + 1, 3, 3) m/m, m/rad of each slide
    S: Matrix  # (nv + 1, 6)               motion subspace: spatial velocity of a unit of each velocity, link frame
    I: Matrix  # (n + 1, 10)               ten inertial parameters, link frame (see ``inertia``)
    rotor: Vector  # (nv + 1,) kg m^2, kg  rotor inertia, reflected to the joint
    spin: Vector  # (nv + 1,) kg m^2       angular momentum of the rotor on the parent link per joint velocity
    geared: Integers  # (n + 1,) int64       number of the joint's velocity if it has a spin (see ``rotors``), else 0
    stiffness: Vector  # (nv + 1,) N m/rad, N/m   of the joint's spring, 0 without one
    spring_rest: Vector  # (nv + 1,) rad, m  coordinate where the spring has no torque
    coordinate: Integers  # (nv + 1,) int64  index in q of the coordinate of a spring, else 0
    # loops: c closures with frames A and B, c_j couplings, and their m constraints, see ``closed_loops.constraints``
    loop_link: IntegerMatrix = np.zeros((0, 3), np.int64)  # (c, 3) link of A, of B, and their last common ancestor
    loop_R: Array4 = np.zeros((0, 2, 3, 3))  # (c, 2, 3, 3) rotation of A, of B -> its link
    loop_p: Array3 = np.zeros((0, 2, 3))  # (c, 2, 3) m   origin of A, of B in its link's frame
    constrained: IntegerMatrix = np.zeros((0, 2), np.int64)  # (m - c_j, 2) closure and component of a constraint
    coupled: IntegerMatrix = np.zeros((0, 6), np.int64)  # (c_j, 6) of both joints: velocity (0: none), index in q, link
    polynomial: Matrix = np.zeros((0, 5))  # (c_j, 5) coefficients of 1, q, q^2, q^3, q^4 of the other joint
    sprung: Integers = np.zeros(0, np.int64)  # (c_s,) closures with a spring or damper about A's z axis
    spring: Matrix = np.zeros((0, 3))  # (c_s, 3) stiffness N m/rad, damping N m s/rad, angle at rest rad
    loop_gain: Vector = np.zeros(1)  # (1,) 1/s   errors of loops decay with exp(-loop_gain t)
    loop_tolerance: Vector = np.zeros(1)  # (1,)  of dependent constraints, see ``multipliers``

    @property
    def constraints(self) -> int:
        """Number of constraints of all loops."""
        return len(self.constrained) + len(self.coupled)

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

    @property
    def has_springs(self) -> bool:
        """Whether a joint has a spring."""
        return bool(self.stiffness.any())

    @property
    def angles(self) -> tuple[int, ...]:
        """Index in q of each angle."""
        return tuple(int(place) for place in self.angle if place >= 0)

    def is_revolute_or_prismatic(self, i: int) -> bool:
        """Return whether joint ``i`` (1..n) has one velocity, a rotation or a translation."""
        rotates, translates = self.angle[i] >= 0, self.slides[i] > 0
        return self.first[i + 1] - self.first[i] == 1 and rotates != translates


LINKS, MOTIONS, NV, WIDE, TALL = 'n + 1', 'nv + 1', 'nv', '3 nv or more', 'nv or more'
CLOSURES, CONSTRAINTS, WIDE_CONSTRAINTS = 'c', 'm', 'm or more'
"""Sizes of the arrays of a workspace; the larger ones are multiples of 8 or 4."""


class Workspace(NamedTuple):
    """Scratch arrays of kernels with their shapes; each kernel's docstring lists the arrays that it writes."""

    # kinematics and recursive algorithms
    E: Annotated[np.ndarray, LINKS, 3, 3]  # rotation parent -> link
    r: Annotated[np.ndarray, LINKS, 3]  # m: origin of the link in the parent's frame
    w: Annotated[np.ndarray, LINKS, 3]  # rad/s: angular velocity, link frame
    v: Annotated[np.ndarray, LINKS, 6]  # rad/s, m/s: spatial velocity, link frame
    a: Annotated[np.ndarray, LINKS, 6]  # rad/s^2, m/s^2: acceleration of the frame (linear part classical), link frame
    B: Annotated[np.ndarray, LINKS, 3, 3]  # 1/s^2: alpha x + w x w x, link frame
    f: Annotated[np.ndarray, LINKS, 6]  # N m, N: force transmitted by the joint, link frame
    # mass matrix
    I_c: Annotated[np.ndarray, LINKS, 10]  # composite-rigid-body inertia, link frame
    # articulated bodies
    I_A: Annotated[np.ndarray, LINKS, 6, 6]  # articulated-body inertia, upper triangle, link frame; then I_a
    p_A: Annotated[np.ndarray, LINKS, 6]  # N m, N: articulated-body bias force, link frame; then p_a
    c: Annotated[np.ndarray, LINKS, 6]  # velocity-product acceleration, link frame
    U: Annotated[np.ndarray, MOTIONS, 6]  # I_A S
    d: Annotated[np.ndarray, MOTIONS]  # S' I_A S + rotor
    u: Annotated[np.ndarray, MOTIONS]  # N m, N: tau - S' p_A
    # factors and torques
    M: Annotated[np.ndarray, NV, NV]  # mass matrix, then its factor L; or the factor of its inverse
    h: Annotated[np.ndarray, NV]  # N m, N: torques at zero acceleration
    rest: Annotated[np.ndarray, NV]  # zeros: joints at rest
    still: Annotated[np.ndarray, 6]  # zeros: a base at rest
    net: Annotated[np.ndarray, NV]  # N m, N: friction; torques that joints transmit
    qdd: Annotated[np.ndarray, NV]  # rad/s^2, m/s^2: accelerations
    # poses
    T: Annotated[np.ndarray, LINKS, 4, 4]  # m: pose of the link in the base frame
    # momentum and derivatives
    b: Annotated[np.ndarray, LINKS, 3]  # kg m/s: twice the linear momentum of the link's subtree, link frame
    G: Annotated[np.ndarray, LINKS, 3, 3]  # kg m^2/s: angular part of B, see ``body_coriolis``
    Psi_d: Annotated[np.ndarray, MOTIONS, 6]  # change of velocities by a unit displacement, link frame
    Psi_dd: Annotated[np.ndarray, MOTIONS, 6]  # change of accelerations by a unit displacement
    S_d: Annotated[np.ndarray, MOTIONS, 6]  # change of accelerations by a unit velocity
    F_q: Annotated[np.ndarray, LINKS, 6]  # change of the transmitted force by a unit displacement
    F_qd: Annotated[np.ndarray, LINKS, 6]  # change of it by a unit velocity
    F_M: Annotated[np.ndarray, LINKS, 6]  # change of it by a unit acceleration
    C: Annotated[np.ndarray, LINKS, 3]  # B' S, a couple
    # external wrenches
    f_ext: Annotated[np.ndarray, LINKS, 6]  # N m, N: external wrench on the link, link frame
    D_f: Annotated[np.ndarray, NV, NV]  # N m/rad: derivative of the torques of external wrenches with respect to q
    # operational space
    J: Annotated[np.ndarray, 6, NV]  # Jacobian of a frame, or of the point at the base's origin
    K: Annotated[np.ndarray, NV, 6]  # L'^-1 J', the Jacobian by a factor of the mass matrix
    A: Annotated[np.ndarray, 6, 6]  # J M^-1 J', then the inverse of its factor
    Lambda: Annotated[np.ndarray, 6, 6]  # operational-space inertia
    Y: Annotated[np.ndarray, NV, WIDE]  # three matrices beside each other, see ``ltdl_solve_rows``
    # closed loops: c closures
    R_A: Annotated[np.ndarray, CLOSURES, 3, 3]  # axes of A of each loop closure, base axes
    z_B: Annotated[np.ndarray, CLOSURES, 3]  # z axis of B in the axes of A
    e_AB: Annotated[np.ndarray, CLOSURES, 4]  # quaternion x, y, z, w of B against A
    p_B: Annotated[np.ndarray, CLOSURES, 3]  # m: origin of B, base frame
    p_AB: Annotated[np.ndarray, CLOSURES, 3]  # m: origin of B in the frame A
    v_AB: Annotated[np.ndarray, CLOSURES, 6]  # rad/s, m/s: velocity of B against A, in the axes of A at the origin of B
    a_AB: Annotated[np.ndarray, CLOSURES, 6]  # rad/s^2, m/s^2: its time derivative
    # closed loops: m constraints
    residual: Annotated[np.ndarray, CONSTRAINTS]  # of each constraint
    residual_rate: Annotated[np.ndarray, CONSTRAINTS]  # its rate
    target: Annotated[np.ndarray, CONSTRAINTS]  # change of each constraint
    V: Annotated[np.ndarray, TALL, WIDE_CONSTRAINTS]  # a column for each constraint, see ``multipliers``
    V_share: Annotated[np.ndarray, CONSTRAINTS, WIDE_CONSTRAINTS]  # entry j: share of column j in those after it
    V_weight: Annotated[np.ndarray, CONSTRAINTS]  # weight of each column
    tau: Annotated[np.ndarray, NV]  # N m, N: joint torques of springs and closed loops
    scale: Annotated[np.ndarray, NV]  # D^-1/2
    step: Annotated[np.ndarray, NV]  # change of velocities or accelerations by the loops

    @classmethod
    def of(cls, model: ModelArrays, dtype: DTypeLike = float) -> 'Workspace':
        """Return a workspace for a model; ``dtype=complex`` serves complex-step derivatives."""
        shapes = cls.shapes(model.n, model.nv, len(model.loop_link), model.constraints)
        return cls(*(aligned_zeros(shape, dtype) for shape in shapes))

    @staticmethod
    def shapes(n: int, nv: int, closures: int, constraints: int) -> list[tuple[int, ...]]:
        """Return the shapes of the arrays for ``n`` joints with ``nv`` velocities."""
        sizes = {
            LINKS: n + 1,
            MOTIONS: nv + 1,
            NV: nv,
            WIDE: (3 * nv + 7) // 8 * 8,
            TALL: (nv + 3) // 4 * 4,
            CLOSURES: closures,
            CONSTRAINTS: constraints,
            WIDE_CONSTRAINTS: (constraints + 7) // 8 * 8,
        }
        return [tuple(sizes[size] if isinstance(size, str) else size for size in shape) for shape in SHAPES]


SHAPES = [hint.__metadata__ for hint in Workspace.__annotations__.values()]
"""Shapes of the arrays of a workspace, with names of sizes."""


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike = float) -> np.ndarray:
    """Return zeros that begin at a line of the cache.

    ``ltdl_solve_rows`` of 35 velocities needs 6.0 us then, 7.8 us where vectors cross lines (2026-11-22).
    """
    size = math.prod(shape)
    numbers = np.zeros(size + LINE, dtype)
    begin = -numbers.ctypes.data % LINE // numbers.itemsize
    return numbers[begin : begin + size].reshape(shape)
