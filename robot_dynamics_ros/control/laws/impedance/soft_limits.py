"""Soft position limits: springs that push a joint back within a distance d of its position limit.

At an upper limit q_u, and likewise at a lower one,

    tau = -min(T, max(0, K (q - q_u + d) + D qd)),     K = T / d,     D = 2 sqrt(K m),     m = 1 / (M^-1)_kk

The torque grows to T at the limit and no further. It never pulls a joint towards its limit, so what a joint gets back
is at most what the spring took. The damping is critical for the inertia m that the joint has while the others are free;
by it a fast joint is braked before it has come so near, D / K earlier.

A joint that is within d when it is first held is not pushed: its spring begins d / 10 further, and follows it out. Such
a spring is not compressed while it moves, so it gives no energy. Its damping grows from 0 to D over these d / 10, else
noise of the measured velocities would push the joint out.
"""

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.robot import Robot

SLACK = 0.1
"""Share of d by which a spring begins further than a joint that is first held within d."""


@compiled(given='q qd out')
def push_back(
    lowest: Vector, uppermost: Vector, slack: Vector, lower: Vector, upper: Vector, K: Vector, T: Vector, push: Vector,
    M_inv: Matrix, q: Vector, qd: Vector, out: Vector,
) -> None:  # fmt: skip
    """Add push (n), the torque of the springs beyond lower and upper (n), to out (n); M_inv = M^-1 (n, n).

    These follow q by ``slack`` (n) to lowest and uppermost (n), the places of the springs; NaN: they are not known yet.
    """
    for k in range(out.shape[0]):
        if T[k] == 0.0:
            continue
        # q_l = min(lowest, max(q_l, q - d / 10)),  q_u = max(uppermost, min(q_u, q + d / 10))
        a, b = q[k] - slack[k], q[k] + slack[k]
        lower[k] = min(lowest[k], a if lower[k] != lower[k] else max(lower[k], a))
        upper[k] = max(uppermost[k], b if upper[k] != upper[k] else min(upper[k], b))
        # D = 2 sqrt(K m); of a spring that begins further, it grows with the position
        D = 2.0 * np.sqrt(K[k] / M_inv[k, k])
        e_l = 1.0 if lower[k] == lowest[k] else min(1.0, max(0.0, 1.0 + (lower[k] - q[k]) / slack[k]))
        e_u = 1.0 if upper[k] == uppermost[k] else min(1.0, max(0.0, 1.0 + (q[k] - upper[k]) / slack[k]))
        # tau = min(T, max(0, K (lower - q) - e D qd)) - min(T, max(0, K (q - upper) + e D qd))
        up = min(T[k], max(0.0, K[k] * (lower[k] - q[k]) - e_l * D * qd[k]))
        down = min(T[k], max(0.0, K[k] * (q[k] - upper[k]) + e_u * D * qd[k]))
        push[k] = up - down
        out[k] += push[k]


class SoftLimits:
    """Springs before the position limits of a robot's joints; the law that they belong to adds their torque.

    Parameters
    ----------
    robot : Robot
        With n joints of one degree of freedom. A joint without limits, or with contradictory ones, has no springs.
    distance : array_like, (n,) or (1,)
        d, of each joint or one for all, rad or m; 0: no springs.
    torque : array_like, (n,) or (1,)
        T likewise, N m or N.

    Attributes
    ----------
    lowest, uppermost : ndarray, (n,)
        Positions beyond which the springs push, rad or m; 0 where there are none.
    slack : ndarray, (n,)
        d / 10, rad or m.
    lower, upper : ndarray, (n,)
        Likewise now: further out for joints that were there when they were first held; NaN: they are not held yet.
    stiffness, torque : ndarray, (n,)
        K and T; 0 where there are no springs.
    push : ndarray, (n,)
        The torque that was added last, N m or N.

    Raises
    ------
    ArgumentError
        For a negative number, a wrong length, a distance without a torque, springs without a joint that has limits, and
        those of one joint that would meet.
    """

    def __init__(self, robot: Robot, distance: ArrayLike, torque: ArrayLike):
        n = robot.nv
        d = validation.of_each_joint('soft_limit_distance', distance, n, zero=True)
        T = validation.of_each_joint('soft_limit_torque', torque, n, zero=True)
        lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
        limited, wanted = np.isfinite(lower) & np.isfinite(upper) & (lower <= upper), d > 0.0
        for k in np.flatnonzero(wanted & limited):
            name = robot.joint_names[k]
            if not T[k]:
                raise ArgumentError(f'soft_limit_torque: expected a torque above 0 for joint {name!r}, got 0')
            if not 2.0 * d[k] < upper[k] - lower[k]:
                raise ArgumentError(
                    f'soft_limit_distance: {d[k]:g} from both limits of joint {name!r} leaves nothing of its range, '
                    f'{lower[k]:g} to {upper[k]:g} rad or m'
                )
        if wanted.any() and not (wanted & limited).any():
            raise ArgumentError(f'soft_limit_distance: {robot.name} has no position limits of these joints')
        has = wanted & limited
        self.lowest: np.ndarray = np.where(has, lower + d, 0.0)
        self.uppermost: np.ndarray = np.where(has, upper - d, 0.0)
        self.slack: np.ndarray = SLACK * d
        self.lower: np.ndarray = np.full(n, np.nan)
        self.upper: np.ndarray = np.full(n, np.nan)
        self.torque: np.ndarray = np.where(has, T, 0.0)
        self.stiffness: np.ndarray = np.divide(T, d, out=np.zeros(n), where=has)
        self.push: np.ndarray = np.zeros(n)

    def continue_from(self, before: 'SoftLimits') -> None:
        """Begin where the springs of the same arm ``before`` do, or at their places where these are further out."""
        self.lower[:], self.upper[:] = np.minimum(before.lower, self.lowest), np.maximum(before.upper, self.uppermost)

    def begin_anew(self) -> None:
        """Let the springs of joints begin where these are, when the next torque is computed."""
        self.lower.fill(np.nan)
        self.upper.fill(np.nan)

    def damping(self, M_inverse: np.ndarray) -> np.ndarray:
        """Return D (..., n), N m s/rad, for M^-1 (..., n, n)."""
        return 2.0 * np.sqrt(self.stiffness / np.diagonal(M_inverse, axis1=-2, axis2=-1))
