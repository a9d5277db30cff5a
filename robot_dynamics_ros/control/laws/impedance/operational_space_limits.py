"""Limits of operational-space control: longest stable sampling period, over the configurations of a robot.

What ``gain_limits`` says holds for the matrices of the joints that the law makes at q,

    D_q = 2 z w J' Lambda J + N' Kd N     and     K_q = w^2 J' Lambda J + N' Kp N.

M^-1 J' Lambda J is a projector where no direction is as heavy as the largest mass: the limit of the frame is then that
of 2 z w T < 2 and w T < 4 z at each position, and the posture's is its own.
"""

import numpy as np

from robot_dynamics_ros.control.arm.reachable_positions import within_reach
from robot_dynamics_ros.control.laws.gain_limits import LIMIT, inverses, lightest_configurations
from robot_dynamics_ros.control.laws.impedance.impedance_limits import largest_eigenvalues, largest_of_springs
from robot_dynamics_ros.control.laws.impedance.operational_space import OperationalSpace, OperationalSpaceControl
from robot_dynamics_ros.robot import Robot

BY_POSTURE = 1.01
"""Ratio of the largest eigenvalue to 2 z w from which on the posture makes it."""


class OperationalSpaceLimit:
    """Longest sampling period of operational-space control.

    Parameters
    ----------
    robot : Robot
        With joints of one degree of freedom; a payload only adds inertia, so it is judged without one.
    settings : OperationalSpace

    Attributes
    ----------
    period : float
        Periods (s) below this one are within the limit.

    Raises
    ------
    ArgumentError
        As ``OperationalSpaceControl``, and for a robot with a joint that has no inertia.
    """

    def __init__(self, robot: Robot, settings: OperationalSpace):
        self._frame = OperationalSpaceControl(robot, settings).frame
        self._robot, self._settings = robot, settings
        self._of_frame = 2.0 * settings.damping_ratio * settings.bandwidth
        q = lightest_configurations(robot, self._eigenvalues)
        stiffness, damping, _ = self._of_joints(q)
        self._in_all = float(self._eigenvalues(q).max())
        damping = damping + np.diag(robot.friction.viscous)
        self._spring = max(map(largest_of_springs, stiffness, damping))
        self.period = min(LIMIT / self._in_all, LIMIT / self._spring)

    def fault(self, period: float) -> str:
        """Return why the law is refused at a sampling ``period`` (s), '' if it is not."""
        if period < self.period:
            return ''
        if self._spring == np.inf:
            return 'damping: a stiffness of joints without damping is unstable at any rate; state both'
        rate, now = f'a rate above {1.0 / self.period:.4g} Hz', f'at {1.0 / period:.4g} Hz'
        if self._in_all < self._spring:
            return (
                f'damping_ratio: {now} half of stiffness times period is {0.5 * period * self._spring:.3g} of the '
                'damping, of the frame or of the posture, and sampled control may be unstable from 1 on; raise '
                f'damping_ratio or damping, lower bandwidth or stiffness, or use {rate}'
            )
        is_posture = self._in_all > BY_POSTURE * self._of_frame
        name = 'damping' if is_posture else 'bandwidth'
        return (
            f'{name}: {now} damping times period over inertia (largest eigenvalue of T M^-1 D) is '
            f'{period * self._in_all:.3g} for frame {self._frame!r}, of which 2 damping_ratio bandwidth is '
            f'{period * self._of_frame:.3g}; sampled control is unstable from {LIMIT:g} on; lower {name}, or use {rate}'
        )

    def _eigenvalues(self, q: np.ndarray) -> np.ndarray:
        """Return the largest eigenvalue of M^-1 D_q (count,), 1/s, at positions (count, n)."""
        _, damping, M_inverse = self._of_joints(q)
        return largest_eigenvalues(damping, M_inverse)

    def _of_joints(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return K_q, D_q and M^-1 (count, n, n) at positions (count, n)."""
        settings, w = self._settings, self._settings.bandwidth
        J, M_inverse = within_reach(self._robot).jacobian(q, self._frame), inverses(self._robot, q)
        transposed = np.swapaxes(J, 1, 2)
        inertia = settings.inertia(J, M_inverse)
        of_frame = transposed @ inertia @ J
        N = np.eye(self._robot.nv) - M_inverse @ of_frame
        posture = np.swapaxes(N, 1, 2)
        Kp, Kd = np.asarray(settings.posture_stiffness, float), np.asarray(settings.posture_damping, float)
        return w * w * of_frame + posture * Kp @ N, self._of_frame * of_frame + posture * Kd @ N, M_inverse
