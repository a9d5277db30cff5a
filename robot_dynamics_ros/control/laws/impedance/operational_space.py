"""Operational-space control: the error of a frame has the same bandwidth and damping ratio in every direction.

    tau = J' Lambda (w^2 e + 2 z w J de) + N' (Kp e_q + Kd N de) + term,     e_q = q_d - q,  de = qd_d - qd

    Lambda = (J M^-1 J')^-1,     N = 1 - M^-1 J' Lambda J

e is the rotation and the translation from the frame to the desired one, as ``pose_error`` says. With the accelerations
of the desired motion in ``term``, the error x in each direction obeys x'' + 2 z w x' + w^2 x = 0 at any position, where
nothing touches the arm.

Lambda is the inertia that the frame has. Towards a singular position it grows without bound in some direction. With
x = (L omega, v), where L = ``LENGTH`` makes rotations distances, and the eigenvectors v_k and eigenvalues a_k of
J M^-1 J' in these (1/kg),

    Lambda = sum of v_k v_k' / max(a_k, 1 / m)

so that a direction whose mass is above m is pushed as if its mass were m, and the posture acts there, too.

Lambda may be that of the arm without its payload: a payload that the arm does not carry, as one that was dropped, then
makes no gain higher than the one that was judged, and one that it carries lets the error vanish more slowly.

References
----------
Khatib 1987, eq. 29, 36.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.torque_presets import TERMS
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.arm.reachable_positions import within_reach
from robot_dynamics_ros.control.joints.continuous_joints import turns
from robot_dynamics_ros.control.joints.joint_friction import friction_adder
from robot_dynamics_ros.control.laws.impedance.frame_and_posture import add_posture, mobility
from robot_dynamics_ros.control.laws.impedance.pose_error import pose_error
from robot_dynamics_ros.control.laws.impedance.symmetric_eigenvalues import diagonalise
from robot_dynamics_ros.control.laws.joint_space_control import gains
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled, declaration_of
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.summary.low_discrepancy import low_discrepancy

OPERATIONAL_SPACE = 'operational_space'
"""Name of the law."""
LENGTH = 0.2
"""L, m."""
SAMPLES = 64
"""Positions (rad or m) at which the directions are counted in which a frame moves."""


@compiled(given='q qd q_desired qd_desired term out')
def operational_space_torque(
    stiffness: float, damping: float, least: float, farthest: Vector, light: Vector, Kp: Vector, Kd: Vector,
    turn: Vector, T: Matrix, T_d: Matrix, J: Matrix, M_inv: Matrix, B: Matrix, A: Matrix, S: Matrix, V: Matrix,
    e: Vector, v: Vector, y: Vector, F: Vector, de: Vector, tau_0: Vector, nothing: Vector,
    q: Vector, qd: Vector, q_desired: Vector, qd_desired: Vector, term: Vector, out: Vector,
) -> None:  # fmt: skip
    """Write out (n) of the module, for w^2, 2 z w and 1 / m; light (1): how many of a_k are above 1 / m.

    e is at most ``farthest`` (2; rad, m) along each axis. Reads the poses T and T_d (4, 4) of the frame and of the
    desired one, J (6, n) and M_inv = M^-1 (n, n). B (6, n), A, S, V (6, 6), e, v, y, F (6), de, tau_0 (n) are scratch;
    ``nothing`` (n) are zeros.
    """
    n = out.shape[0]
    pose_error(T, T_d, False, S, e)
    for row in range(6):
        limit = farthest[0] if row < 3 else farthest[1]
        e[row] = min(max(e[row], -limit), limit)
    # v = J de,  B = J M^-1,  A = B J' of (L omega, v)
    for k in range(n):
        de[k] = qd_desired[k] - qd[k]
    mobility(J, M_inv, de, v, B, A)
    for row in range(6):
        for column in range(6):
            A[row, column] *= (LENGTH if row < 3 else 1.0) * (LENGTH if column < 3 else 1.0)
    # S = Lambda
    diagonalise(A, V)
    light[0] = 0.0
    for row in range(6):
        light[0] += 1.0 if A[row, row] > least else 0.0
        for column in range(6):
            S[row, column] = 0.0
            for k in range(6):
                S[row, column] += V[row, k] * V[column, k] / max(A[k, k], least)
            S[row, column] *= (LENGTH if row < 3 else 1.0) * (LENGTH if column < 3 else 1.0)
    # y = Lambda v,  F = Lambda (w^2 e) + 2 z w y
    for row in range(6):
        y[row], F[row] = 0.0, 0.0
        for column in range(6):
            y[row] += S[row, column] * v[column]
            F[row] += S[row, column] * e[column]
    for row in range(6):
        F[row] = stiffness * F[row] + damping * y[row]
    # tau = J' F + N' (Kp e_q + Kd N de) + term
    add_posture(J, B, S, y, F, Kp, Kd, turn, q, q_desired, nothing, term, de, v, tau_0, out)


class OperationalSpace(NamedTuple):
    """What a frame is led by, and the joints in its null space.

    Attributes
    ----------
    bandwidth : float
        w, rad/s, above 0.
    posture_stiffness, posture_damping : array_like, (n,)
        Kp and Kd, N m/rad and N m s/rad (prismatic joints: N/m, N s/m), at least 0.
    damping_ratio : float
        z, above 0.
    frame : str
        One of ``frame_names``; '' for ``end_link``.
    farthest : tuple of two floats
        Rotation (rad) and distance (m) along each axis beyond which e grows no more; inf: no limit.
    largest_mass : float
        m, kg, above 0.
    """

    bandwidth: float
    posture_stiffness: ArrayLike
    posture_damping: ArrayLike
    damping_ratio: float = 1.0
    frame: str = ''
    farthest: tuple[float, float] = (np.inf, np.inf)
    largest_mass: float = 100.0

    def inertia(self, J: np.ndarray, M_inverse: np.ndarray) -> np.ndarray:
        """Return Lambda (..., 6, 6) for J (..., 6, n) and M^-1 (..., n, n)."""
        lengths = np.repeat([LENGTH, 1.0], 3)
        scaled = lengths[:, None] * J
        a, V = np.linalg.eigh(scaled @ M_inverse @ np.swapaxes(scaled, -1, -2))
        W = lengths[:, None] * V / np.sqrt(np.maximum(a, 1.0 / self.largest_mass))[..., None, :]
        return W @ np.swapaxes(W, -1, -2)


class OperationalSpaceControl:
    """The law of the module: ``torque`` follows a motion, ``hold`` holds a position.

    ``torque`` adds M(q) qdd_d + h(q, qd) + friction(qd_d), ``hold`` adds g(q).

    Parameters
    ----------
    robot : Robot
        With n joints of one degree of freedom.
    settings : OperationalSpace
    terms : sequence of str
        Gravity and friction are compensated only if they are among these terms; the robot may compensate them itself.
    light : ndarray, (1,), optional
        In how many directions the frame is lighter than the largest mass; each torque writes it.
    unloaded : Robot, optional
        The same arm without its payload, whose M counts in Lambda. Default: ``robot``.

    Attributes
    ----------
    frame : str
        The frame.
    numbers : dict
        What is bound of ``operational_space_torque``, by the names of its parameters.

    Raises
    ------
    ArgumentError
        For a number that is not positive, a negative gain and a wrong length.
    UnknownNameError
        For an unknown frame.
    """

    def __init__(
        self,
        robot: Robot,
        settings: OperationalSpace,
        terms: Sequence[str] = TERMS,
        light: np.ndarray | None = None,
        unloaded: Robot | None = None,
    ):
        n = robot.nv
        self.frame: str = settings.frame or robot.end_link
        self._robot = robot if 'gravity' in terms else robot.with_gravity((0.0, 0.0, 0.0))
        self._unloaded = unloaded or robot
        w, z, m = (
            validation.positive(name, getattr(settings, name))
            for name in ('bandwidth', 'damping_ratio', 'largest_mass')
        )
        Kp, Kd = (gains(name, getattr(settings, name), n) for name in ('posture_stiffness', 'posture_damping'))
        farthest = np.array(settings.farthest, float)
        if farthest.shape != (2,) or not (farthest > 0.0).all():
            raise ArgumentError(f'farthest: expected two positive numbers, got {settings.farthest!r:.80}')
        start, light = robot.neutral(), np.zeros(1) if light is None else light
        self._T, self._T_d = (np.array(robot.link_pose(start, self.frame)) for _ in range(2))
        self._J, self._M_inv = np.array(robot.jacobian(start, self.frame)), np.zeros((n, n))
        robot.prepare('inverse_dynamics', 'gravity_torque')
        self._unloaded.prepare('mass_matrix_inverse')
        fixed = (
            *(float(w * w), float(2.0 * z * w), float(1.0 / m), farthest, light, Kp, Kd, turns(robot)),
            *(self._T, self._T_d, self._J, self._M_inv, np.zeros((6, n)), *np.zeros((3, 6, 6)), *np.zeros((4, 6))),
            *np.zeros((3, n)),
        )
        self.numbers: dict[str, np.ndarray | float | bool] = dict(
            zip(declaration_of(operational_space_torque).fixed, fixed, strict=True)
        )
        self._law = bound(operational_space_torque, *fixed, then=(np.zeros(n),) * 6)
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
        self._add(q, qd, q_desired, qd_desired, out)

    def hold(self, q: np.ndarray, qd: np.ndarray, q_hold: np.ndarray, out: np.ndarray) -> None:
        """Compute the torque that holds ``q_hold`` (n, rad or m); other arguments as of ``torque``."""
        self._robot.gravity_torque(q, out=self._term)
        self._add(q, qd, q_hold, self._still, out)

    def _add(self, q, qd, q_desired, qd_desired, out) -> None:
        """Write the law's torque and ``_term`` into ``out``."""
        self._robot.link_pose(q, self.frame, out=self._T)
        self._robot.link_pose(q_desired, self.frame, out=self._T_d)
        self._robot.jacobian(q, self.frame, out=self._J)
        self._unloaded.mass_matrix_inverse(q, out=self._M_inv)
        self._law(q, qd, q_desired, qd_desired, self._term, out)


class OperationalSpaceHold:
    """The law that holds a position: ``torque`` is ``OperationalSpaceControl.hold``."""

    def __init__(self, *arguments):
        """Make an ``OperationalSpaceControl`` of these arguments."""
        self._law = OperationalSpaceControl(*arguments)

    def torque(self, q, qd, q_hold, out) -> None:
        """Write the torque (n, N m or N) that holds ``q_hold`` (n, rad or m) at q and qd (n) into ``out``."""
        self._law.hold(q, qd, q_hold, out)


class SingularDirections:
    """Whether a frame has fewer directions than elsewhere in which it is lighter than the largest mass.

    Attributes
    ----------
    light : ndarray, (1,)
        How many there are now; the law writes it.
    all : int
        How many there are elsewhere.
    """

    def __init__(self, robot: Robot, settings: OperationalSpace):
        """Count those that the frame has somewhere."""
        frame = settings.frame or robot.end_link
        q = low_discrepancy(SAMPLES, robot.nv)
        self.all = int(np.linalg.matrix_rank(within_reach(robot).jacobian(q, frame)).max())
        self._frame, self._mass, self.light = frame, settings.largest_mass, np.full(1, np.inf)

    def warning(self) -> str:
        """Return that the frame is near a singular position, '' if it is not."""
        if self.light[0] >= self.all:
            return ''
        return (
            f'{self._frame!r} is heavier than largest_mass ({self._mass:.7g} kg) in {self.all - int(self.light[0])} '
            'directions, as near a singular position: its error vanishes more slowly there'
        )
