"""Joint-space control laws: joint torques from measured and desired positions and velocities."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.algorithms.torque_presets import TERMS
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.continuous_joints import turns
from robot_dynamics_ros.control.joints.joint_friction import friction_adder
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Vector
from robot_dynamics_ros.kernels.joint_feedback import joint_feedback
from robot_dynamics_ros.robot import Robot

LAWS = ('pd', 'pd_gravity', 'pd_feedforward', 'computed_torque')
QUANTITIES = {'pd_gravity': 'gravity_torque', 'computed_torque': 'inverse_dynamics'}
"""The quantity of the robot that a law computes."""


@compiled(given='q qd q_desired qd_desired term out')
def _feedback(
    Kp: Vector,
    Kd: Vector,
    turn: Vector,
    q: Vector,
    qd: Vector,
    q_desired: Vector,
    qd_desired: Vector,
    term: Vector,
    out: Vector,
) -> None:
    """Write out = Kp (q_desired - q) + Kd (qd_desired - qd) + term, (n) each; the first modulo turn (0: none)."""
    joint_feedback(Kp, Kd, turn, q, qd, q_desired, qd_desired, term, out)


class JointSpaceControl:
    """Joint-space control law of one robot: tau = law(q, qd, q_d, qd_d, qdd_d).

    One of ``LAWS``::

        pd               tau = Kp e + Kd de
        pd_gravity       tau = Kp e + Kd de + g(q)
        pd_feedforward   tau = Kp e + Kd de + tau_ff
        computed_torque  tau = M(q) (qdd_d + w^2 e + 2 w de) + h(q, qd) + friction(qd_d)

    with e = q_d - q (modulo a turn for continuous joints), de = qd_d - qd, and a feedforward torque tau_ff that the
    caller passes.

    Parameters
    ----------
    robot : Robot
    law : str
        One of ``LAWS``.
    stiffness : array_like, (n,)
        Kp, N m/rad (prismatic joints: N/m), at least 0.
    damping : array_like, (n,)
        Kd, N m s/rad (prismatic joints: N s/m), at least 0.
    bandwidth : float
        w of computed_torque, rad/s, above 0.
    terms : sequence of str
        Gravity and friction are compensated only if they are among these terms; the robot may compensate them itself.

    Raises
    ------
    ArgumentError
        For an unknown law, for pd_gravity without gravity among ``terms``, for a wrong length or a negative gain.

    References
    ----------
    Featherstone & Orin 2000, section 2; Siciliano et al. 2009, section 8.5.
    """

    def __init__(
        self,
        robot: Robot,
        law: str,
        stiffness: ArrayLike,
        damping: ArrayLike,
        bandwidth: float,
        terms: Sequence[str] = TERMS,
    ):
        if law == 'pd_gravity' and 'gravity' not in terms:
            raise ArgumentError(
                'control law pd_gravity: gravity would be added twice, the robot adds it itself; choose pd'
            )
        self.law: str = validation.choice('control law', law, LAWS)
        self._robot = robot if 'gravity' in terms else robot.with_gravity((0.0, 0.0, 0.0))
        self._feedback = _feedback_with(robot, stiffness, damping)
        if not np.isfinite(bandwidth) or bandwidth <= 0:
            raise ArgumentError(f'bandwidth: expected a positive number of rad/s, got {bandwidth}')
        n = robot.nv
        self._acceleration = _feedback_with(robot, np.full(n, bandwidth**2), np.full(n, 2.0 * bandwidth))
        if law in QUANTITIES:
            self._robot.prepare(QUANTITIES[law])
        self._add_friction = friction_adder(robot, terms)
        self._term = np.zeros(n)

    def torque(
        self, q: np.ndarray, qd: np.ndarray, desired: Sequence[np.ndarray], feedforward: np.ndarray, out: np.ndarray
    ) -> None:
        """Compute the torque.

        Parameters
        ----------
        q, qd : ndarray, (n,)
            Measured positions (rad, m) and velocities (rad/s, m/s).
        desired : sequence of three ndarray, (n,)
            q_d, qd_d and qdd_d in rad, rad/s and rad/s^2 (prismatic joints: m, m/s and m/s^2).
        feedforward : ndarray, (n,)
            tau_ff, N m (prismatic joints: N); only pd_feedforward uses it.
        out : ndarray, (n,)
            Receives the torque, N m (prismatic joints: N).
        """
        q_desired, qd_desired, qdd_desired = desired
        if self.law == 'computed_torque':
            # tau = M (qdd_d + w^2 e + 2 w de) + h + friction
            self._acceleration(q, qd, q_desired, qd_desired, qdd_desired, self._term)
            self._robot.inverse_dynamics(q, qd, self._term, out=out)
            self._add_friction(q, qd_desired, out, out)
            return
        # tau = Kp e + Kd de + term
        if self.law == 'pd_gravity':
            self._robot.gravity_torque(q, out=self._term)
        term = feedforward if self.law == 'pd_feedforward' else self._term
        self._feedback(q, qd, q_desired, qd_desired, term, out)


class Hold:
    """Control law that holds a position: tau = Kp (q_hold - q) - Kd qd + g(q).

    Parameters
    ----------
    robot : Robot
    stiffness : array_like, (n,)
        Kp, N m/rad (prismatic joints: N/m), at least 0.
    damping : array_like, (n,)
        Kd, N m s/rad (prismatic joints: N s/m), at least 0.
    terms : sequence of str
        g(q) is zero unless 'gravity' is among them.

    Raises
    ------
    ArgumentError
        For a wrong length or a negative gain.
    """

    def __init__(self, robot: Robot, stiffness: ArrayLike, damping: ArrayLike, terms: Sequence[str] = TERMS):
        self._robot = robot if 'gravity' in terms else robot.with_gravity((0.0, 0.0, 0.0))
        self._feedback = _feedback_with(robot, stiffness, damping)
        self._robot.prepare('gravity_torque')
        self._still, self._gravity = np.zeros(robot.nv), np.zeros(robot.nv)

    def torque(self, q: np.ndarray, qd: np.ndarray, q_hold: np.ndarray, out: np.ndarray) -> None:
        """Compute the torque.

        Parameters
        ----------
        q, qd : ndarray, (n,)
            Measured positions (rad, m) and velocities (rad/s, m/s).
        q_hold : ndarray, (n,)
            The position to hold, rad or m.
        out : ndarray, (n,)
            Receives the torque, N m (prismatic joints: N).
        """
        self._robot.gravity_torque(q, out=self._gravity)
        # tau = Kp (q_hold - q) - Kd qd + g
        self._feedback(q, qd, q_hold, self._still, self._gravity, out)


def _feedback_with(robot: Robot, stiffness, damping):
    """Return ``_feedback`` with bound gains (n each) and turns, as a function of its remaining arguments."""
    Kp, Kd = gains('stiffness', stiffness, robot.nv), gains('damping', damping, robot.nv)
    return bound(_feedback, Kp, Kd, turns(robot), then=(np.zeros(robot.nv),) * 6)


def gains(name: str, values, joints: int) -> np.ndarray:
    """Return gains as an array (n,); raise ArgumentError for a wrong length or a negative or infinite gain."""
    array = np.array(values, float)
    if array.shape != (joints,) or not np.isfinite(array).all() or (array < 0).any():
        raise ArgumentError(f'{name}: expected {joints} numbers >= 0, got {values!r:.80}')
    return array
