"""Adaptive control of an arm with an unknown payload: torques of the reference motion, and the adaptation to its error.

Slotine & Li 1987, On the adaptive control of robot manipulators, IJRR 6(3), with s = qd_r - qd, Lambda = Kp / Kd:

    qd_r = qd_d + Lambda e,   tau = M qdd_r + C(q, qd) qd_r + g + friction(qd_d) + Kd s,   Kd s = Kp e + Kd de

C is the Christoffel-consistent one (Mdot - 2 C is skew), as in ``Robot.coriolis_matrix``. No new kernel is needed:
Coriolis torques are quadratic in the velocities, c(q, qd) = C(q, qd) qd with C(q, a) b = C(q, b) a, so that

    C(q, qd) qd_r = (tau(q, qd + qd_r, 0) - tau(q, qd - qd_r, 0)) / 4

where gravity and springs cancel, and likewise for the regressor. Three calls of the regressor of a 6R arm take 1.2 us;
one of the tip link alone would need a kernel of its own and save less than the calls from Python take.
The tip link is the last one. Its parameters are those of the ``TipEstimate``, everything else is the robot's model.
"""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.continuous_joints import turns
from robot_dynamics_ros.control.joints.joint_friction import friction_adder
from robot_dynamics_ros.control.law import TORQUE, Law, MeasuredState, Result, WrappingLaw
from robot_dynamics_ros.control.laws.adaptation import Adaptation, tip_row
from robot_dynamics_ros.control.laws.joint_space_control import gains
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Array3, Matrix, Vector

LARGEST_ERROR = 0.05
"""Position error, rad (m), above which the adaptation does not get faster: an arm that is far from a trajectory, at its
start for instance, is not told from one with a large payload."""


@compiled(given='q qd q_d qd_d qdd_d')
def _reference(
    rate: Vector,
    turn: Vector,
    friction: Matrix,
    dead_zone: float,
    columns: Matrix,
    qdd_r: Vector,
    total: Vector,
    difference: Vector,
    s: Vector,
    error: Vector,
    q: Vector,
    qd: Vector,
    q_d: Vector,
    qd_d: Vector,
    qdd_d: Vector,
) -> None:
    """Write qdd_r, qd + qd_r, qd - qd_r, s and the error of the adaptation, (n) each, and the columns of friction.

    ``rate`` (n, 1/s) is Lambda, the rows of ``friction`` (7, n) are the fields of ``model.Friction``. The error is s
    beyond the dead zone, at most that of a position error of ``LARGEST_ERROR``; 0 for a joint whose reference is not
    faster than the transition velocity: its friction may be any up to the Coulomb one.
    """
    for i in range(s.shape[0]):
        slow = friction[3, i]
        columns[0, i], columns[1, i], columns[2, i] = qd_d[i], qd_d[i] / np.sqrt(qd_d[i] * qd_d[i] + slow * slow), 1.0
        e = q_d[i] - q[i]
        if turn[i] > 0.0:
            e -= turn[i] * np.floor(e / turn[i] + 0.5)
        qd_r = qd_d[i] + rate[i] * e
        qdd_r[i] = qdd_d[i] + rate[i] * (qd_d[i] - qd[i])
        total[i], difference[i], s[i] = qd[i] + qd_r, qd[i] - qd_r, qd_r - qd[i]
        largest = rate[i] * LARGEST_ERROR
        beyond = s[i] - min(max(s[i], -dead_zone), dead_zone)
        error[i] = 0.0 if abs(qd_d[i]) <= slow else min(max(beyond, -largest), largest)


@compiled(given='out')
def _combine(
    Kd: Vector, row: Vector, s: Vector, tau: Matrix, wide: Array3, Y: Matrix, parameters: Vector, out: Vector
) -> None:
    """Write Y (n, 10), the regressor of the tip link's reference motion, and out (n), the torque without friction.

    Reads of the three motions the torques ``tau`` (3, n), in which the tip link has the parameters ``row`` (10), and
    the regressors ``wide`` (3, n, 10 links).
    """
    first = wide.shape[2] - 10
    for i in range(out.shape[0]):
        out[i] = tau[0, i] + 0.25 * (tau[1, i] - tau[2, i]) + Kd[i] * s[i]
        for k in range(10):
            Y[i, k] = wide[0, i, first + k] + 0.25 * (wide[1, i, first + k] - wide[2, i, first + k])
            out[i] += Y[i, k] * (parameters[k] - row[k])


class AdaptiveControl:
    """The law of one robot, with one payload: the estimate stands for its tip link, payload included.

    Parameters
    ----------
    robot : Robot or DrivenRobot
    damping : array_like, (n,)
        Kd, N m s/rad (prismatic joints: N s/m).
    adaptation : Adaptation
        Of the same arm; its rate is Lambda.

    Attributes
    ----------
    regressor : ndarray, (n, 10)
        Y of the tip link for the last state.
    error : ndarray, (n,)
        To which the adaptation reacts, rad/s or m/s.
    columns : ndarray, (3, n)
        Of viscous and Coulomb friction and offset.
    """

    def __init__(self, robot, damping, adaptation: Adaptation):
        n, vector = robot.nv, np.zeros(robot.nv)
        robot.prepare('inverse_dynamics', 'torque_regressor')
        self._robot, self._adaptation, self._zeros = robot, adaptation, np.zeros(n)
        self._qdd_r, self._total, self._difference, s, self.error = np.zeros((5, n))
        tau, wide = np.zeros((3, n)), np.zeros((3, n, len(robot.model.arrays.I[1:].ravel())))
        self._tau, self._wide = tuple(tau), tuple(wide)
        self.regressor, self.columns = np.zeros((n, 10)), np.zeros((3, n))
        fixed = adaptation.rate, turns(robot), adaptation.friction, adaptation.settings.dead_zone
        written = self.columns, self._qdd_r, self._total, self._difference, s, self.error
        self._reference = bound(_reference, *fixed, *written, then=(vector,) * 5)
        parts = gains('damping', damping, n), tip_row(robot), s, tau, wide, self.regressor
        self._combine = bound(_combine, *parts, adaptation.estimate.parameters, then=(vector,))
        self._add_friction = friction_adder(robot, adaptation.terms, adaptation.friction)

    def torque(self, q, qd, desired, feedforward, out) -> None:
        """Write the torque (n, N m or N) at q and qd (n) for the ``desired`` q, qd and qdd (n each) into ``out``."""
        self.follow(q, qd, desired, out)
        self._adaptation.react_to(self.regressor, self.error, self.columns)

    def follow(self, q, qd, desired, out) -> None:
        """Write the torque as ``torque`` does; nothing is adapted to the error."""
        robot, zeros = self._robot, self._zeros
        self._reference(q, qd, *desired)
        motions = (zeros, self._qdd_r), (self._total, zeros), (self._difference, zeros)
        for motion, tau, wide in zip(motions, self._tau, self._wide, strict=True):
            robot.inverse_dynamics(q, *motion, out=tau)
            robot.torque_regressor(q, *motion, out=wide)
        self._combine(out)
        self._add_friction(q, desired[1], out, out)


class AdaptiveHold:
    """The law with a reference at rest: gravity torque of the estimate and offset of friction balance the arm together.

    Nothing is adapted meanwhile.
    """

    def __init__(self, robot, damping, adaptation: Adaptation):
        """Make the law of ``AdaptiveControl``, with the same arguments."""
        self._law, self._rest = AdaptiveControl(robot, damping, adaptation), np.zeros(robot.nv)

    def torque(self, q, qd, q_hold, out) -> None:
        """Write the torque (n, N m or N) that holds ``q_hold`` (n) at q and qd (n) into ``out``."""
        self._law.follow(q, qd, (q_hold, self._rest, self._rest), out)


class AdaptiveLaw(WrappingLaw):
    """A control law whose ``AdaptiveControl`` and ``AdaptiveHold`` share an ``Adaptation``, which it lets adapt."""

    def __init__(self, law: Law, adaptation: Adaptation):
        """Wrap ``law``."""
        super().__init__(law)
        self._adaptation = adaptation

    def stop_following(self) -> None:
        """Drop the desired motion, the hold position and the last state."""
        super().stop_following()
        self._adaptation.drop()

    def set_back(self, now: int) -> None:
        """Drop a motion, a hold position and a state from before the clock was set back to ``now`` (ns)."""
        super().set_back(now)
        self._adaptation.drop(continues=True)

    def torque(self, state: MeasuredState, out: np.ndarray) -> Result:
        """Write the torque (n, N m) for ``state`` into ``out``, or return why there is none."""
        self._adaptation.begin(state)
        result = self._law.torque(state, out)
        if result is TORQUE:
            self._adaptation.computed[:] = out
        return result
