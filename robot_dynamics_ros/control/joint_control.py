"""Joint-space control laws: torque from where the joints are and where they should be."""

import numpy as np

from robot_dynamics_ros import arguments
from robot_dynamics_ros.control.compensation import TERMS, add_friction, frictionless
from robot_dynamics_ros.dynamics.errors import ArgumentError
from robot_dynamics_ros.dynamics.jit import entry
from robot_dynamics_ros.robot import Robot

LAWS = ('pd', 'pd_gravity', 'pd_feedforward', 'computed_torque')


@entry
def _feedback(Kp, Kd, q, qd, q_desired, qd_desired, term, out):
    """Write out = Kp (q_desired - q) + Kd (qd_desired - qd) + term, (n) each."""
    for i in range(out.shape[0]):
        out[i] = Kp[i] * (q_desired[i] - q[i]) + Kd[i] * (qd_desired[i] - qd[i]) + term[i]


class JointControl:
    """One of ``LAWS`` for one robot.

    pd               tau = Kp e + Kd de
    pd_gravity       tau = Kp e + Kd de + g(q)
    pd_feedforward   tau = Kp e + Kd de + feedforward torque from outside
    computed_torque  tau = M(q) (qdd_d + w^2 e + 2 w de) + h(q, qd) + friction(qd_d), w the bandwidth

    with e = q_d - q and de = qd_d - qd (Featherstone & Orin 2000, section 1; Siciliano et al. 2009, section 8.5).
    """

    def __init__(self, robot: Robot, law: str, stiffness, damping, bandwidth: float, terms=TERMS):
        """Choose the law; stiffness Kp (n, N m/rad), damping Kd (n, N m s/rad), bandwidth w (rad/s).

        Of gravity and friction only what is among ``terms`` is compensated: a robot may do the rest itself. Raises
        ArgumentError for an unknown law, one that needs what it may not compensate, a wrong length or a negative gain.
        """
        if law == 'pd_gravity' and 'gravity' not in terms:
            raise ArgumentError('control law pd_gravity: gravity would be added twice, the robot adds it itself')
        self.law = arguments.choice('control law', law, LAWS)
        self._robot = robot if 'gravity' in terms else robot.with_gravity((0.0, 0.0, 0.0))
        self._stiffness = self._gains('stiffness', stiffness)
        self._damping = self._gains('damping', damping)
        if not np.isfinite(bandwidth) or bandwidth <= 0:
            raise ArgumentError(f'bandwidth: expected a positive number of rad/s, got {bandwidth}')
        self._of_bandwidth = np.full(robot.nv, bandwidth**2), np.full(robot.nv, 2.0 * bandwidth)
        self._friction = np.array(robot.friction if 'friction' in terms else frictionless(robot.friction))
        self._term = np.zeros(robot.nv)

    def torque(self, q, qd, desired, feedforward, out) -> None:
        """Write the torque (n, N m) into ``out``.

        q, qd (n each) are measured; ``desired`` is (q_d, qd_d, qdd_d), (n) each; ``feedforward`` (n, N m) counts in
        pd_feedforward only.
        """
        q_desired, qd_desired, qdd_desired = desired
        if self.law == 'computed_torque':
            # tau = M (qdd_d + w^2 e + 2 w de) + h + friction
            _feedback(*self._of_bandwidth, q, qd, q_desired, qd_desired, qdd_desired, self._term)
            self._robot.inverse_dynamics(q, qd, self._term, out=out)
            add_friction(self._friction, qd_desired, out, out)
            return
        # tau = Kp e + Kd de + term
        if self.law == 'pd_gravity':
            self._robot.gravity_torque(q, out=self._term)
        term = feedforward if self.law == 'pd_feedforward' else self._term
        _feedback(self._stiffness, self._damping, q, qd, q_desired, qd_desired, term, out)

    def _gains(self, name: str, values) -> np.ndarray:
        """Return gains as an array (n,)."""
        gains = np.array(values, float)
        if gains.shape != (self._robot.nv,) or not np.isfinite(gains).all() or (gains < 0).any():
            raise ArgumentError(f'{name}: expected {self._robot.nv} numbers >= 0, got {values!r:.80}')
        return gains
