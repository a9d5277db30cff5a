"""Impedance limits: longest stable sampling period of a Cartesian impedance, over the configurations of a robot.

What ``gain_limits`` says holds for the matrices of the joints that the impedance makes at q,

    D_q = J' D J + N' Kd N     and     K_q = J' K J + N' Kp N:

the largest eigenvalue of T M^-1 D_q has to be below 2, and T / 2 x' K_q x below x' D_q x for every x, where viscous
friction of the joints counts as D_q. The dampers of soft limits are added to D_q, and those as which a commanded wrench
acts; with the first condition the springs of soft limits fulfil the second one. There springs count as stiff as they
are at rest; where they are stiffer there, neither D_0 nor viscous friction counts beside the damping ratio.

The limit of a stiffness K holds for each softer one, where z >= 1/2: D_q is less then, so the first condition stays.
With it the frequencies w of the vibrations have T 2 z w < 2, and the second one, T w < 4 z, follows. With springs that
are m times as stiff at rest it is m T w < 4 z, and a softer stiffness has lower frequencies.
"""

import numpy as np

from robot_dynamics_ros.control.arm.reachable_positions import within_reach
from robot_dynamics_ros.control.laws.gain_limits import LIMIT, inverses, lightest_configurations
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import (
    NO_MASS,
    SLACK,
    SOFTEST,
    CartesianImpedance,
    Impedance,
)
from robot_dynamics_ros.control.laws.impedance.rest_friction import stiffest
from robot_dynamics_ros.control.laws.impedance.stiffness import matrix_of, root_of
from robot_dynamics_ros.robot import Robot

LEAST_RATIO = 0.5
"""Of damping, from which on the limit of a stiffness is that of each softer one."""
LEAST_SHARE = 0.05
"""Of the largest eigenvalue, from which on a message names what damps."""
FREE = 1e-9
"""Share of the largest damping below which a direction of the joints has none."""


class ImpedanceLimit:
    """Longest sampling period of a Cartesian impedance.

    Parameters
    ----------
    robot : Robot
        With joints of one degree of freedom; a payload only adds inertia, so it is judged without one.
    impedance : Impedance

    Attributes
    ----------
    period : float
        Periods (s) below this one are within the limit; ``inf`` without stiffness and damping, 0 for a stiffness
        without damping.

    Raises
    ------
    ArgumentError
        As ``CartesianImpedance``, and for a robot with a joint that has no inertia.
    """

    def __init__(self, robot: Robot, impedance: Impedance):
        law = CartesianImpedance(robot, impedance)
        self._robot, self._frame, self._reference_frame = robot, law.frame, law.reference_frame
        self._K, self._D_0 = matrix_of('stiffness', impedance.stiffness), matrix_of('damping', impedance.damping)
        self._G, self._ratio = root_of(self._K), impedance.damping_ratio
        self._Kp, self._Kd = np.array(impedance.posture_stiffness, float), np.array(impedance.posture_damping, float)
        self._soft_limits, self._wrench = impedance.soft_limits, impedance.wrench
        self._at_rest = stiffest(impedance.rest_friction)
        q = lightest_configurations(robot, self._eigenvalues)
        stiffness, damping, M_inverse = self._of_joints(q)
        of_all = self._eigenvalues(q)
        self._in_all, self._worst = float(of_all.max()), q[int(np.argmax(of_all))]
        if impedance.rest_friction and self._ratio:
            J = self._jacobian(q)
            damping = damping - np.swapaxes(J, 1, 2) @ self._D_0 @ J
        else:
            damping = damping + np.diag(robot.friction.viscous)
        of_springs = np.array([*map(largest_of_springs, stiffness, damping)])
        k, self._spring = int(np.argmax(of_springs)), self._at_rest * float(of_springs.max())
        self._is_posture = self._by_posture(q[k], stiffness[k], damping[k], M_inverse[k])
        self.period = min(LIMIT / each if each else np.inf for each in (self._in_all, self._spring))

    def fault(self, period: float) -> str:
        """Return why the impedance is refused at a sampling ``period`` (s), '' if it is not."""
        if period < self.period:
            return ''
        if self._spring == np.inf:
            if self._is_posture:
                return 'damping: a stiffness of joints without damping is unstable at any rate; state both'
            return (
                'damping_ratio: a stiffness without damping in its direction is unstable at any rate; choose 0.7, or '
                'state translational_damping and rotational_damping'
            )
        rate = f'a rate above {1.0 / self.period:.4g} Hz'
        if self._in_all >= self._spring:
            shares = self._shares()
            said = ', '.join(f'{share:.0%} of it by {name}' for name, share in shares if share >= LEAST_SHARE)
            return (
                f'{shares[0][0]}: at {1.0 / period:.4g} Hz damping times period over inertia (largest eigenvalue of '
                f'T M^-1 D) is {period * self._in_all:.3g} for frame {self._frame!r}, {said}; sampled control is '
                f'unstable from {LIMIT:g} on; lower {shares[0][0]}, or use {rate}'
            )
        if self._is_posture:
            return (
                f'damping: at {1.0 / period:.4g} Hz half of the stiffness of joints times period is '
                f'{0.5 * period * self._spring:.3g} of their damping, and sampled control may be unstable from 1 on; '
                f'raise damping, lower stiffness, or use {rate}'
            )
        at_rest = f' (stiffness {self._at_rest:g} times for rest_friction_share)' if self._at_rest > 1.0 else ''
        lower = 'lower rest_friction_share or the stiffness' if at_rest else 'lower the stiffness'
        return (
            f'damping_ratio: at {1.0 / period:.4g} Hz half of stiffness times period{at_rest} is '
            f'{0.5 * period * self._spring:.3g} of the damping for frame {self._frame!r}, and sampled control may be '
            f'unstable from 1 on; raise the damping ratio, {lower}, or use {rate}'
        )

    def _by_posture(self, q: np.ndarray, stiffness: np.ndarray, damping: np.ndarray, M_inverse: np.ndarray) -> bool:
        """Return whether most of the stiffness is that of the posture where the damping is the least of it.

        Matrices (n, n) are those at q (n).
        """
        J = self._jacobian(q)
        (N,) = self._projectors(J[None], M_inverse[None])
        values, vectors = np.linalg.eigh(damping)
        if not values[-1] > 0.0:
            return not self._K.any()
        W = vectors / np.sqrt(np.maximum(values, FREE * values[-1]))
        x = W @ np.linalg.eigh(W.T @ stiffness @ W)[1][:, -1]
        return bool(2.0 * x @ (N.T * self._Kp @ N) @ x > x @ stiffness @ x)

    def _shares(self) -> list[tuple[str, float]]:
        """Return the parameters that damp where the eigenvalue is largest, and their shares of it, largest first."""
        _, (D_q,), (M_inverse,) = self._of_joints(self._worst[None])
        J = self._jacobian(self._worst)
        (N,) = self._projectors(J[None], M_inverse[None])
        rotation, translation = np.split(J, 2)
        parts = {
            'translational_damping': translation.T @ self._D_0[3:, 3:] @ translation,
            'rotational_damping': rotation.T @ self._D_0[:3, :3] @ rotation,
            'damping': N.T * self._Kd @ N,
        }
        parts['translational_stiffness, rotational_stiffness, damping_ratio'] = D_q - sum(parts.values())
        if self._wrench is not None:
            J = within_reach(self._robot).jacobian(self._worst, self._frame)
            parts['force_limit, moment_limit'] = J.T * self._wrench.damping @ J
        if self._soft_limits is not None:
            parts['soft_limit_torque'] = np.diag(self._soft_limits.damping(M_inverse))
        C = np.linalg.cholesky(M_inverse)
        x = C @ np.linalg.eigh(C.T @ sum(parts.values()) @ C)[1][:, -1]
        found = {name: float(x @ part @ x) for name, part in parts.items()}
        return sorted(((name, part / sum(found.values())) for name, part in found.items()), key=lambda it: -it[1])

    def _eigenvalues(self, q: np.ndarray) -> np.ndarray:
        """Return the largest eigenvalue of M^-1 D_q (count,), 1/s, with all dampers, at positions (count, n)."""
        _, damping, M_inverse = self._of_joints(q)
        if self._wrench is not None:
            J = within_reach(self._robot).jacobian(q, self._frame)
            damping = damping + np.swapaxes(J, 1, 2) * self._wrench.damping @ J
        if self._soft_limits is not None:
            damping = damping + self._soft_limits.damping(M_inverse)[:, None] * np.eye(self._robot.nv)
        return largest_eigenvalues(damping, M_inverse)

    def _of_joints(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return K_q, D_q and M^-1 (count, n, n) at positions (count, n)."""
        J, M_inverse = self._jacobian(q), inverses(self._robot, q)
        transposed = np.swapaxes(J, 1, 2)
        B = J @ M_inverse
        A = B @ transposed
        # D = 2 z G (G' A G)^(-1/2) G' + D_0
        values, vectors = np.linalg.eigh(self._G.T @ A @ self._G)
        softest = np.maximum(SOFTEST * values[:, -1:], np.finfo(float).tiny)
        W = self._G @ vectors / np.sqrt(np.sqrt(np.maximum(values, softest)))[:, None]
        D = 2.0 * self._ratio * W @ np.swapaxes(W, 1, 2) + self._D_0
        N = self._projectors(J, M_inverse)
        posture = np.swapaxes(N, 1, 2)
        return transposed @ self._K @ J + posture * self._Kp @ N, transposed @ D @ J + posture * self._Kd @ N, M_inverse

    def _jacobian(self, q: np.ndarray) -> np.ndarray:
        """Return the Jacobian (..., 6, n) of the frame of the impedance at positions (..., n), within reach or not."""
        return within_reach(self._robot).jacobian(q, self._frame, self._reference_frame)

    def _projectors(self, J: np.ndarray, M_inverse: np.ndarray) -> np.ndarray:
        """Return N (count, n, n) of the law for J (count, 6, n) and M^-1 (count, n, n)."""
        B = J @ M_inverse
        A = B @ np.swapaxes(J, 1, 2)
        diagonal = np.diagonal(A, axis1=1, axis2=2)
        # N = 1 - M^-1 J' (S + S H S) J
        H = (SLACK * diagonal + NO_MASS * diagonal.sum(axis=1, keepdims=True))[:, None] * np.eye(6)
        S = np.linalg.inv(A + H)
        return np.eye(self._robot.nv) - np.swapaxes(B, 1, 2) @ (S + S @ H @ S) @ J


def largest_stiffness(robot: Robot, stiffness, period: float, frame: str = '', ratio: float = 0.7) -> np.ndarray:
    """Return the multiple of a stiffness that is at the limit of a sampling period; the limit falls with its root.

    Parameters
    ----------
    robot : Robot
        As of ``ImpedanceLimit``; friction of its joints does not count.
    stiffness : array_like, (6,)
        K, rotation first, N m/rad and N/m.
    period : float
        T, s; with a delay the one that counts (``sampling_limit.counted_period``).
    frame : str, optional
        That has the stiffness; '': ``end_link``.
    ratio : float, optional
        Damping ratio.

    Returns
    -------
    ndarray, (6,)
        Below this the limit accepts it, without a posture.

    Raises
    ------
    ArgumentError
        As ``ImpedanceLimit``.
    """
    still, stiffness = np.zeros(robot.nv), np.asarray(stiffness, float)
    impedance = Impedance(stiffness, still, still, ratio, frame=frame)
    return (ImpedanceLimit(robot.with_friction(viscous=0.0), impedance).period / period) ** 2 * stiffness


def largest_eigenvalues(damping: np.ndarray, M_inverse: np.ndarray) -> np.ndarray:
    """Return the largest eigenvalue of M^-1 D (count,) for matrices (count, n, n), by a symmetric one."""
    C = np.linalg.cholesky(M_inverse)
    return np.linalg.eigvalsh(np.swapaxes(C, 1, 2) @ damping @ C)[:, -1]


def largest_of_springs(stiffness: np.ndarray, damping: np.ndarray) -> float:
    """Return the largest x' K x / x' D x, 1/s, for matrices (n, n); inf for a spring without damping."""
    values, vectors = np.linalg.eigh(damping)
    damped = values > FREE * values[-1]
    free = vectors[:, ~damped]
    if np.abs(free.T @ stiffness @ free).max(initial=0.0) > FREE * np.abs(stiffness).max(initial=0.0):
        return np.inf
    W = vectors[:, damped] / np.sqrt(values[damped])
    return float(np.linalg.eigvalsh(W.T @ stiffness @ W)[-1]) if damped.any() else 0.0
