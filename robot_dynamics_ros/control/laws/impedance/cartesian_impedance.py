"""Cartesian impedance: springs and dampers between a frame of the arm and where its joints' desired positions put it.

    tau = J' (K e + D J de + w) + N' (Kp e_q + Kd N de) + term,     e_q = q_d - q,  de = qd_d - qd

e is the rotation and the translation from the frame to the desired one, as ``pose_error`` says.

D gives each direction in which the arm vibrates freely the same damping ratio z (double diagonalisation). With K = G G'
and A = J M^-1 J', the eigenvalues of G' A G are the squares of the frequencies, and

    D = 2 z G (G' A G)^(-1/2) G' + D_0

With a share of the joints' friction K e is (1 + a) K e, as ``rest_friction`` says.

Directions without stiffness are free: an arm that is held may be guided along them, as ``held_pose`` says.

N = 1 - M^-1 J' A^-1 J are the velocities that do not move the frame, where Kp and Kd of the joints act: the posture
neither pushes the frame nor slows it. With H = ``SLACK`` diag(A) + ``NO_MASS`` tr(A) and S = (A + H)^-1, S + S H S
stands for A^-1 there: where the frame can't move in some direction, the posture acts in that direction, too.

References
----------
Albu-Schäffer, Ott, Frese & Hirzinger 2003, Cartesian impedance control of redundant robots: recent results with the
DLR-light-weight-arms, ICRA (D by double diagonalisation, N); Khatib 1987, eq. 36.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.torque_presets import TERMS
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.continuous_joints import turns
from robot_dynamics_ros.control.joints.joint_friction import friction_adder
from robot_dynamics_ros.control.laws.impedance.commanded_wrench import CommandedWrench, add_wrench
from robot_dynamics_ros.control.laws.impedance.frame_and_posture import add_posture, mobility
from robot_dynamics_ros.control.laws.impedance.held_pose import HeldPose
from robot_dynamics_ros.control.laws.impedance.pose_error import pose_error
from robot_dynamics_ros.control.laws.impedance.rest_friction import friction_at_rest, stiffer_at_rest
from robot_dynamics_ros.control.laws.impedance.soft_limits import SoftLimits, push_back
from robot_dynamics_ros.control.laws.impedance.stiffness import Stiffness, follow, matrix_of
from robot_dynamics_ros.control.laws.impedance.symmetric_eigenvalues import diagonalise
from robot_dynamics_ros.control.laws.joint_space_control import gains
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled, declaration_of
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.kernels.operational_space import invert
from robot_dynamics_ros.robot import Robot

IMPEDANCE = 'cartesian_impedance'
"""Name of the law."""
REFERENCE_FRAMES = ('local_world_aligned', 'local')
"""Whose axes a stiffness has: those of the base, or those of the frame."""
SLACK, NO_MASS = 1e-4, 1e-9
"""Shares of diag(A) and of tr A that are added to A for the null space."""
LEAP = 1.0
"""Largest distance of joints from where they are with the frame at its place, rad or m: nobody knows it beyond."""
SOFTEST = 1e-10
"""Smallest eigenvalue of G' A G that counts, as a share of the largest one: below it damping grows no more."""


@kernel
def _damping(G, A, ratio, v, S, V, y, F):
    """Write F (6) = 2 z G (G' A G)^(-1/2) G' v (6), z = ``ratio``; S, V (6, 6) and y (6) are scratch."""
    # S = G' A G
    for row in range(6):
        for column in range(6):
            V[row, column] = 0.0
            for k in range(6):
                V[row, column] += A[row, k] * G[k, column]
    for row in range(6):
        for column in range(row + 1):
            S[row, column] = 0.0
            for k in range(6):
                S[row, column] += G[k, row] * V[k, column]
            S[column, row] = S[row, column]
    # S = V s V'
    diagonalise(S, V)
    largest = 0.0
    for k in range(6):
        F[k] = 0.0
        largest = max(largest, S[k, k])
    if largest == 0.0:
        return
    # y = G' v,  F = 2 z G V s^(-1/2) V' y
    for k in range(6):
        y[k] = 0.0
        for row in range(6):
            y[k] += G[row, k] * v[row]
    for k in range(6):
        x = 0.0
        for row in range(6):
            x += V[row, k] * y[row]
        x *= 2.0 * ratio / np.sqrt(max(S[k, k], SOFTEST * largest))
        for row in range(6):
            g = 0.0
            for column in range(6):
                g += G[row, column] * V[column, k]
            F[row] += g * x


@compiled(given='q qd q_desired qd_desired term out')
def impedance_torque(
    K: Matrix, G: Matrix, K_d: Vector, rate: Vector, tank: Vector, taken: Vector, elapsed: Vector,
    D_0: Matrix, Kp: Vector, Kd: Vector, turn: Vector, farthest: Vector,
    ratio: float, local: bool, share: float, friction: Matrix,
    w: Matrix, largest: Vector, fastest: Vector, free: Vector, T: Matrix, T_d: Matrix, J: Matrix, M_inv: Matrix,
    B: Matrix, A: Matrix, S: Matrix, V: Matrix, e: Vector, v: Vector, y: Vector, F: Vector, away: Vector,
    de: Vector, tau_0: Vector, u: Vector, nothing: Vector, joints: Vector,
    q: Vector, qd: Vector, q_desired: Vector, qd_desired: Vector, term: Vector, out: Vector,
) -> None:  # fmt: skip
    """Write out (n) = J' (K e + D J de + w + b) + N' (Kp e_q + Kd N de) + term (n); see the module.

    K follows K_d (6) as ``follow`` says, for the time ``elapsed`` (1; s), which is 0 afterwards. The wrench w (2, 6) is
    added to K e + D J de as ``add_wrench`` says; K is stiffer at rest as ``stiffer_at_rest`` says, for a ``share`` c of
    ``friction`` (2, n). e is at most ``farthest`` (2; rad, m) along each axis. joints (n) becomes q + M^-1 J' A^-1 e,
    where the joints are with the frame at T_d, nearly; ``LEAP`` away at most.
    Reads the poses T and T_d (4, 4) of the frame and of the desired one, J (6, n) and M_inv = M^-1 (n, n). J, K and D_0
    (6, 6) are in the frame's axes where ``local``. B (6, n), A, S, V (6, 6), e, v, y, F, away (6), de, tau_0, u (n)
    are scratch; ``nothing`` (n) are zeros.
    """
    n = out.shape[0]
    pose_error(T, T_d, local, S, e)
    if elapsed[0] > 0.0:
        follow(K, G, K_d, rate, tank, taken, elapsed[0], farthest, e)
    for row in range(6):
        away[row] = e[row]
        limit = farthest[0] if row < 3 else farthest[1]
        e[row] = min(max(e[row], -limit), limit)
    # v = J de,  B = J M^-1,  A = B J'
    for k in range(n):
        de[k] = qd_desired[k] - qd[k]
    mobility(J, M_inv, de, v, B, A)
    # F = D v
    _damping(G, A, ratio, v, S, V, y, F)
    for row in range(6):
        for column in range(6):
            F[row] += D_0[row, column] * v[column]
    power, moves = 0.0, False
    for k in range(n):
        moves |= qd_desired[k] != 0.0
    for row in range(6):
        power += F[row] * v[row]
        y[row] = 0.0
        for column in range(6):
            y[row] += K[row, column] * e[column]
    # a reference that moves makes the dampers work on an arm that stands
    if not moves:
        tank[0] = min(tank[1], tank[0] + power * elapsed[0])
    elapsed[0] = 0.0
    # F = D v + (1 + a) K e,  u = J' K e
    a = 0.0
    if share > 0.0:
        for k in range(n):
            u[k] = 0.0
            for row in range(6):
                u[k] += J[row, k] * y[row]
        a = stiffer_at_rest(share, friction, u, qd_desired)
    for row in range(6):
        F[row] += (1.0 + a) * y[row]
    # F += w + b
    for row in range(6):
        y[row] = 0.0
        for k in range(n):
            y[row] += J[row, k] * qd[k]
    add_wrench(w, largest, fastest, free, T, local, y, F)
    # S = (A + H)^-1,  V = S + S H S
    trace = A[0, 0] + A[1, 1] + A[2, 2] + A[3, 3] + A[4, 4] + A[5, 5]
    for row in range(6):
        y[row] = SLACK * A[row, row] + NO_MASS * trace
        A[row, row] += y[row]
    invert(A, S)
    for row in range(6):
        for column in range(6):
            V[row, column] = S[row, column]
    for k in range(6):
        for row in range(6):
            for column in range(6):
                V[row, column] += S[row, k] * y[k] * S[k, column]
    # y = A^-1 v,  q + B' A^-1 e
    for k in range(n):
        u[k] = 0.0
    for row in range(6):
        y[row], x = 0.0, 0.0
        for column in range(6):
            y[row] += V[row, column] * v[column]
            x += V[row, column] * away[column]
        for k in range(n):
            u[k] += B[row, k] * x
    farthest_joint = LEAP
    for k in range(n):
        farthest_joint = max(farthest_joint, abs(u[k]))
    for k in range(n):
        joints[k] = q[k] + LEAP / farthest_joint * u[k]
    # tau = J' F + N' (Kp e_q + Kd N de) + term
    add_posture(J, B, V, y, F, Kp, Kd, turn, q, q_desired, nothing, term, de, v, tau_0, out)


class Impedance(NamedTuple):
    """Springs and dampers of a frame, and those of the joints in its null space.

    Attributes
    ----------
    stiffness : array_like, (6,) or (6, 6)
        K, rotation first: N m/rad and N/m; a matrix is symmetric and positive semidefinite, and so is D_0.
    posture_stiffness, posture_damping : array_like, (n,)
        Kp and Kd, N m/rad and N m s/rad (prismatic joints: N/m, N s/m), at least 0.
    damping_ratio : float
        z, at least 0.
    damping : array_like, (6,) or (6, 6)
        D_0, which is added: N m s/rad and N s/m. In directions without stiffness there is no other damping.
    frame : str
        One of ``frame_names``; '' for ``end_link``.
    reference_frame : str
        'local_world_aligned': the axes of K and D_0 are those of the base; 'local': those of the frame.
    farthest : tuple of two floats
        Rotation (rad) and distance (m) along each axis beyond which e grows no more; inf: no limit.
    soft_limits : SoftLimits, optional
        Springs before the position limits, which laws of the impedance share.
    wrench : CommandedWrench, optional
        A wrench at the frame, which they share.
    rest_friction : float
        c, the share of the joints' Coulomb friction for which the springs are stiffer at rest, 0 to 0.9.
    """

    stiffness: ArrayLike
    posture_stiffness: ArrayLike
    posture_damping: ArrayLike
    damping_ratio: float = 0.7
    damping: ArrayLike = (0.0,) * 6
    frame: str = ''
    reference_frame: str = 'local_world_aligned'
    farthest: tuple[float, float] = (np.inf, np.inf)
    soft_limits: SoftLimits | None = None
    wrench: CommandedWrench | None = None
    rest_friction: float = 0.0


class CartesianImpedance:
    """The law of the module: ``torque`` follows a motion, ``hold`` holds a position.

    ``torque`` adds M(q) qdd_d + h(q, qd) + friction(qd_d), so that the motion without contact is that of the springs
    and dampers alone; ``hold`` adds g(q).

    Parameters
    ----------
    robot : Robot
        With n joints of one degree of freedom.
    impedance : Impedance
    terms : sequence of str
        Gravity and friction are compensated only if they are among these terms; the robot may compensate them itself.
    stiffness : Stiffness, optional
        The stiffness that laws share, in place of that of ``impedance``.
    held : HeldPose, optional
        The pose of the frame that they share while they hold the arm.

    Attributes
    ----------
    numbers, springs, held : dict
        What is bound of ``impedance_torque``, ``soft_limits.push_back`` and ``held_pose.hold_frame``, by the names of
        their parameters.

    Raises
    ------
    ArgumentError
        For a matrix that is not symmetric or not positive semidefinite, a negative number and a wrong length; and as
        ``friction_at_rest``.
    UnknownNameError
        For an unknown frame.
    """

    def __init__(
        self,
        robot: Robot,
        impedance: Impedance,
        terms: Sequence[str] = TERMS,
        stiffness: Stiffness | None = None,
        held: HeldPose | None = None,
    ):
        n = robot.nv
        self.frame: str = impedance.frame or robot.end_link
        self.reference_frame: str = validation.choice('reference_frame', impedance.reference_frame, REFERENCE_FRAMES)
        self._robot = robot if 'gravity' in terms else robot.with_gravity((0.0, 0.0, 0.0))
        own = stiffness or Stiffness(impedance.stiffness)
        K = own.K, own.G, own.wanted, own.rate, own.tank, own.taken, own.elapsed
        is_local = self.reference_frame == 'local'
        self._held = held or HeldPose(own, n, is_local)
        D_0 = matrix_of('damping', impedance.damping)
        Kp, Kd = (
            gains('posture_stiffness', impedance.posture_stiffness, n),
            gains('posture_damping', impedance.posture_damping, n),
        )
        ratio = validation.not_negative('damping_ratio', impedance.damping_ratio, (), '')
        farthest = np.array(impedance.farthest, float)
        if farthest.shape != (2,) or not (farthest > 0.0).all():
            raise ArgumentError(f'farthest: expected two positive numbers, got {impedance.farthest!r:.80}')
        wrench = impedance.wrench or CommandedWrench((0.0, 0.0), (1.0, 1.0))
        start = robot.neutral()
        self._T, self._T_d = (np.array(robot.link_pose(start, self.frame)) for _ in range(2))
        self._J = np.array(robot.jacobian(start, self.frame, self.reference_frame))
        self._M_inv = np.zeros((n, n))
        robot.prepare('mass_matrix_inverse', 'inverse_dynamics', 'gravity_torque')
        six, square = np.zeros((5, 6)), np.zeros((3, 6, 6))
        fixed = (
            *(*K, D_0, Kp, Kd, turns(robot), farthest, float(ratio), is_local),
            *(float(impedance.rest_friction), friction_at_rest(robot, impedance.rest_friction, terms)),
            *(wrench.now, wrench.largest, wrench.fastest, wrench.free, self._T, self._T_d, self._J, self._M_inv),
            *(np.zeros((6, n)), *square, *six, *np.zeros((4, n)), self._held.joints),
        )
        soft = impedance.soft_limits or SoftLimits(robot, [0.0], [0.0])
        places = soft.lowest, soft.uppermost, soft.slack, soft.lower, soft.upper
        springs = *places, soft.stiffness, soft.torque, soft.push, self._M_inv
        self.numbers: dict[str, np.ndarray | float | bool] = dict(
            zip(declaration_of(impedance_torque).fixed, fixed, strict=True)
        )
        self.held: dict[str, np.ndarray | float | bool] = self._held.numbers
        self.springs: dict[str, np.ndarray | float | bool] = dict(
            zip(declaration_of(push_back).fixed, springs, strict=True)
        )
        self._impedance = bound(impedance_torque, *fixed, then=(np.zeros(n),) * 6)
        self._push_back = bound(push_back, *springs, then=(np.zeros(n),) * 3)
        self._add_friction = friction_adder(robot, terms)
        self._term, self._still = np.zeros(n), np.zeros(n)

    def torque(
        self, q: np.ndarray, qd: np.ndarray, desired: Sequence[np.ndarray], feedforward: np.ndarray, out: np.ndarray
    ) -> None:
        """Compute the torque that follows a motion; arguments are those of ``JointSpaceControl.torque``."""
        q_desired, qd_desired, qdd_desired = desired
        # term = M qdd_d + h + friction
        self._robot.inverse_dynamics(q, qd, qdd_desired, out=self._term)
        self._add_friction(q, qd_desired, self._term, self._term)
        self._held.forget()
        self._write_poses(q, q_desired)
        self._add(q, qd, q_desired, qd_desired, out)

    def hold(self, q: np.ndarray, qd: np.ndarray, q_hold: np.ndarray, out: np.ndarray) -> None:
        """Compute the torque that holds ``q_hold`` (n, rad or m); other arguments as of ``torque``."""
        self._robot.gravity_torque(q, out=self._term)
        self._write_poses(q, q_hold)
        self._held.write(q_hold, self._T, self._T_d)
        self._add(q, qd, q_hold, self._still, out)

    def _write_poses(self, q, q_desired) -> None:
        """Write the poses of the frame and of the desired one."""
        self._robot.link_pose(q, self.frame, out=self._T)
        self._robot.link_pose(q_desired, self.frame, out=self._T_d)

    def _add(self, q, qd, q_desired, qd_desired, out) -> None:
        """Write the impedance, ``_term`` and the springs before the position limits into ``out``."""
        self._robot.jacobian(q, self.frame, self.reference_frame, out=self._J)
        self._robot.mass_matrix_inverse(q, out=self._M_inv)
        self._impedance(q, qd, q_desired, qd_desired, self._term, out)
        self._push_back(q, qd, out)


class CartesianHold:
    """The law that holds a position: ``torque`` is ``CartesianImpedance.hold``."""

    def __init__(self, *arguments, **more):
        """Make a ``CartesianImpedance`` of these arguments."""
        self._law = CartesianImpedance(*arguments, **more)

    def torque(self, q, qd, q_hold, out) -> None:
        """Write the torque (n, N m or N) that holds ``q_hold`` (n, rad or m) at q and qd (n) into ``out``."""
        self._law.hold(q, qd, q_hold, out)


def check_posture(robot: Robot, frame: str, stiffness, damping) -> None:
    """Raise ArgumentError naming joints that neither move ``frame`` nor have a stiffness and a damping (n)."""
    moves = robot.jacobian(robot.neutral(), frame or robot.end_link).any(axis=0)
    held = np.minimum(stiffness, damping) > 0.0
    loose = ', '.join(repr(name) for name, is_held in zip(robot.joint_names, moves | held, strict=True) if not is_held)
    if loose:
        raise ArgumentError(
            f'impedance_frame: {frame!r} is not moved by {loose}, which nothing would hold; state stiffness '
            'and damping of these joints'
        )
