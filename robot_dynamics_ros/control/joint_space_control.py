"""Joint-space control laws: torque from where the joints are and where they should be."""

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.compensation import TERMS, add_friction, frictionless
from robot_dynamics_ros.control.continuous_joints import turns
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.decorators import bound, entry
from robot_dynamics_ros.robot import Robot

LAWS = ('pd', 'pd_gravity', 'pd_feedforward', 'computed_torque')


@entry
def _feedback(Kp, Kd, turn, q, qd, q_desired, qd_desired, term, out):
    """Write out = Kp (q_desired - q) + Kd (qd_desired - qd) + term, (n) each; q_desired - q modulo turn, 0: none."""
    for i in range(out.shape[0]):
        e = q_desired[i] - q[i]
        if turn[i] > 0.0:
            e -= turn[i] * np.floor(e / turn[i] + 0.5)
        out[i] = Kp[i] * e + Kd[i] * (qd_desired[i] - qd[i]) + term[i]


class JointSpaceControl:
    """One of ``LAWS`` for one robot.

    pd               tau = Kp e + Kd de
    pd_gravity       tau = Kp e + Kd de + g(q)
    pd_feedforward   tau = Kp e + Kd de + feedforward torque from outside
    computed_torque  tau = M(q) (qdd_d + w^2 e + 2 w de) + h(q, qd) + friction(qd_d), w the bandwidth

    with e = q_d - q (of continuous joints modulo a turn) and de = qd_d - qd (Featherstone & Orin 2000, section 1;
    Siciliano et al. 2009, section 8.5).
    """

    def __init__(self, robot: Robot, law: str, stiffness, damping, bandwidth: float, terms=TERMS):
        """Choose the law; stiffness Kp (n, N m/rad), damping Kd (n, N m s/rad), bandwidth w (rad/s).

        Of gravity and friction only what is among ``terms`` is compensated: a robot may do the rest itself. Raises
        ArgumentError for an unknown law, one that needs what it may not compensate, a wrong length or a negative gain.
        """
        if law == 'pd_gravity' and 'gravity' not in terms:
            raise ArgumentError('control law pd_gravity: gravity would be added twice, the robot adds it itself')
        self.law = validation.choice('control law', law, LAWS)
        self._robot = robot if 'gravity' in terms else robot.with_gravity((0.0, 0.0, 0.0))
        self._feedback = _feedback_with(robot, stiffness, damping)
        if not np.isfinite(bandwidth) or bandwidth <= 0:
            raise ArgumentError(f'bandwidth: expected a positive number of rad/s, got {bandwidth}')
        n = robot.nv
        self._acceleration = _feedback_with(robot, np.full(n, bandwidth**2), np.full(n, 2.0 * bandwidth))
        self._friction = np.array(robot.friction if 'friction' in terms else frictionless(robot.friction))
        self._term = np.zeros(n)

    def torque(self, q, qd, desired, feedforward, out) -> None:
        """Write the torque (n, N m) into ``out``.

        q, qd (n each) are measured; ``desired`` is (q_d, qd_d, qdd_d), (n) each; ``feedforward`` (n, N m) counts in
        pd_feedforward only.
        """
        q_desired, qd_desired, qdd_desired = desired
        if self.law == 'computed_torque':
            # tau = M (qdd_d + w^2 e + 2 w de) + h + friction
            self._acceleration(q, qd, q_desired, qd_desired, qdd_desired, self._term)
            self._robot.inverse_dynamics(q, qd, self._term, out=out)
            add_friction(self._friction, qd_desired, out, out)
            return
        # tau = Kp e + Kd de + term
        if self.law == 'pd_gravity':
            self._robot.gravity_torque(q, out=self._term)
        term = feedforward if self.law == 'pd_feedforward' else self._term
        self._feedback(q, qd, q_desired, qd_desired, term, out)


class Hold:
    """The torque that holds a position: tau = Kp (q_hold - q) - Kd qd + g(q), g unless the robot adds it itself."""

    def __init__(self, robot: Robot, stiffness, damping, terms=TERMS):
        """Hold ``robot`` with stiffness Kp (n, N m/rad) and damping Kd (n, N m s/rad); ArgumentError as above."""
        self._robot = robot if 'gravity' in terms else robot.with_gravity((0.0, 0.0, 0.0))
        self._feedback = _feedback_with(robot, stiffness, damping)
        self._still, self._gravity = np.zeros(robot.nv), np.zeros(robot.nv)

    def torque(self, q, qd, q_hold, out) -> None:
        """Write the torque (n, N m) at q, qd (n each, measured) into ``out``."""
        self._robot.gravity_torque(q, out=self._gravity)
        # tau = Kp (q_hold - q) - Kd qd + g
        self._feedback(q, qd, q_hold, self._still, self._gravity, out)


def _feedback_with(robot: Robot, stiffness, damping):
    """Return ``_feedback`` with these gains (n each) and the turns of ``robot``, as a function of the other arrays."""
    vector = np.zeros(robot.nv)
    gain = gains('stiffness', stiffness, robot.nv), gains('damping', damping, robot.nv)
    return bound(_feedback, *gain, turns(robot), then=(vector,) * 6)


def gains(name: str, values, joints: int) -> np.ndarray:
    """Return gains as an array (n,); ArgumentError naming what is wrong."""
    array = np.array(values, float)
    if array.shape != (joints,) or not np.isfinite(array).all() or (array < 0).any():
        raise ArgumentError(f'{name}: expected {joints} numbers >= 0, got {values!r:.80}')
    return array
