"""Proposal of a Cartesian impedance: a stiffness that a hand feels to yield, and that sampling allows by a margin.

The stiffness is ``SOFT``, or less where a quarter of the largest stable one is less. Damping that lets an axis become
free has a time constant, D_0 = ``TIME_CONSTANT`` K. A posture has K_p = m w^2 and K_d = 2 m w with the largest M_ii(q)
of each joint as m. Both are halved, the damping first, until the limit of sampling leaves a margin.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.algorithms.sampling_limit import counted_period
from robot_dynamics_ros.control.laws.gain_limits import propose_gains
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import IMPEDANCE, Impedance
from robot_dynamics_ros.control.laws.impedance.impedance_limits import ImpedanceLimit
from robot_dynamics_ros.robot import Robot

EQUALLY_STIFF = 1.0, 1.0, 1.0, 25.0, 25.0, 25.0
"""Stiffness of rotation and translation (N m/rad, N/m) whose multiple is proposed: equal at 0.2 m."""
SOFT = 800.0
"""N/m: 8 N move the tool by 1 cm, and 80 N by the 0.1 m from which on its spring pulls no more strongly."""
SHARE = 0.25
"""Of the largest stable stiffness: what the arm touches, delays and damping need the rest."""
TIME_CONSTANT = 0.075
"""Damping over stiffness of translation, s."""
DAMPING_RATIO = 0.7
MARGINS = 1.75, 1.5
"""Longest stable period over the one that counts, with the damping and with the posture, too.

The stiffness alone leaves 2 at ``SHARE``.
"""


class ProposedImpedance(NamedTuple):
    """A Cartesian impedance in numbers of three digits, and what sampling allows.

    ``stiffness`` and ``damping`` (6, rotation first; N m/rad and N/m, N m s/rad and N s/m) are those of the frame,
    ``posture_stiffness`` (n, N m/rad) and ``posture_damping`` (n, N m s/rad) those of the joints, zero where the frame
    holds all of them. ``largest`` (6) is the stiffness at the limit of sampling without posture and damping.
    """

    stiffness: np.ndarray
    damping: np.ndarray
    posture_stiffness: np.ndarray
    posture_damping: np.ndarray
    largest: np.ndarray

    def parameters(self, frame: str, rate: float, delay: float = 0.0) -> dict:
        """Return the parameters of torque_controller for this impedance of a ``frame``.

        ``rate`` (Hz) is that of joint_states, ``delay`` (s) as for the proposal.
        """
        return {
            'control_law': IMPEDANCE,
            'impedance_frame': frame,
            'translational_stiffness': self.stiffness[3:].tolist(),
            'rotational_stiffness': self.stiffness[:3].tolist(),
            'translational_damping': self.damping[3:].tolist(),
            'stiffness': self.posture_stiffness.tolist(),
            'damping': self.posture_damping.tolist(),
            'state_rate': rate,
            **({'torque_delay': delay} if delay else {}),
        }


def propose_impedance(robot: Robot, frame: str, rate: float, bandwidth: float, delay: float = 0.0) -> ProposedImpedance:
    """Propose stiffness, damping and posture of a frame for a rate of joint states.

    Parameters
    ----------
    robot : Robot
        With n joints of one degree of freedom.
    frame : str
        Link or frame that has the stiffness.
    rate : float
        Of joint_states, Hz.
    bandwidth : float
        Of the posture, rad/s.
    delay : float, optional
        Time from a joint state to when its torque acts, s.

    Returns
    -------
    ProposedImpedance

    Raises
    ------
    DynamicsError
        As ``propose_gains``, and for a frame that the robot lacks.
    """
    inertia = propose_gains(robot, rate, bandwidth, delay).inertia
    T, still = counted_period(1.0 / rate, delay), np.zeros(robot.nv)
    stiffness = np.array(EQUALLY_STIFF)
    unit = Impedance(stiffness, still, still, DAMPING_RATIO, frame=frame)
    # the limit falls with the root of the stiffness
    largest = (ImpedanceLimit(robot, unit).period / T) ** 2 * stiffness
    K = _rounded(stiffness * min(SHARE * largest[-1], SOFT) / stiffness[-1])

    def limit(damping, posture) -> float:
        return ImpedanceLimit(robot, Impedance(K, posture[0], posture[1], DAMPING_RATIO, damping, frame)).period

    damping, posture = _rounded(np.concatenate([np.zeros(3), TIME_CONSTANT * K[3:]])), np.zeros((2, robot.nv))
    while limit(damping, posture) < MARGINS[0] * T:
        damping = _rounded(0.5 * damping)
    if robot.nv > len(K) or not robot.jacobian(robot.neutral(), frame).any(axis=0).all():
        posture = _rounded(np.array([inertia * bandwidth**2, 2.0 * inertia * bandwidth]))
    while limit(damping, posture) < MARGINS[1] * T:
        posture = _rounded(0.5 * posture)
    return ProposedImpedance(K, damping, posture[0], posture[1], largest)


def _rounded(values: np.ndarray) -> np.ndarray:
    """Return numbers with three digits, as a parameter file has them."""
    return np.array([float(f'{value:.3g}') for value in values.flat]).reshape(values.shape)
