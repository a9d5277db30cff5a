"""Inverse kinematics: the position of the joints near another one at which a link has a pose.

Levenberg-Marquardt steps, damped by the error that is left (Sugihara 2011), so that they stay short at a singular
position and converge quadratically elsewhere:

    dq = J' (J J' + (e'e / 2 + ``LEAST``) 1)^-1 e

e is the rotation and the translation to the pose, J the Jacobian of the joints without those at a limit that would
leave it. An arm with more joints than the pose needs also goes to a posture, by motions that do not move the link. So
the same poses are the same positions, however often they come:

    dq = dq + (1 - J' (J J' + (e'e / 2 + ``LEAST``) 1)^-1 J) (q_posture - q)

References
----------
Sugihara 2011, Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method, IEEE Trans. Robotics 27(5).
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.joints.continuous_joints import nearest, turns
from robot_dynamics_ros.control.joints.position_limits import PositionLimits
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.model.closed_loops.loops import check_tree
from robot_dynamics_ros.robot import Robot

STEPS, POSTURE_STEPS = 100, 30
"""Most steps to a pose, and those that also go to the posture: at a singular position they may not settle."""
CLOSE = 1e-10
"""Error of a pose at which it is reached, rad and m."""
LEAST = 1e-12
"""Damping that stays at the pose, with lengths in m."""
FARTHEST = 0.5
"""Longest step of a joint, rad or m."""
SINGULAR = 1e-3
"""Ratio of the smallest and the largest singular value of J at a singular position."""
SETTLED = 1e-7
"""Step of the posture, rad or m, below which it is reached."""


class InverseKinematics:
    """Positions of the joints for poses of a link, within the position limits.

    Parameters
    ----------
    robot : Robot
        With n joints of one degree of freedom, without closed loops.
    link : str
        One of ``frame_names``; '' for ``end_link``.

    Raises
    ------
    ArgumentError
        For another joint.
    ModelError
        For closed loops.
    UnknownNameError
        For an unknown link.
    """

    def __init__(self, robot: Robot, link: str = ''):
        """Take the limits of the robot."""
        check_tree(robot.model, 'inverse kinematics')
        if robot.nq != robot.nv:
            raise ArgumentError('robot: expected joints of one degree of freedom')
        self.link: str = link or robot.end_link
        robot.link_pose(robot.neutral(), self.link)
        self._robot, self._turn, limits = robot, turns(robot), PositionLimits(robot, 0.0)
        self._lower, self._upper = limits.lower, limits.upper

    def position(
        self, pose: ArrayLike, start: ArrayLike, posture: ArrayLike | None = None, rows: slice = slice(0, 6)
    ) -> np.ndarray:
        """Return the position (n; rad, m) near ``start`` at which the link has a pose.

        Parameters
        ----------
        pose : array_like, (4, 4)
            Homogeneous transform from the link to the base, m.
        start : array_like, (n,)
            Where the steps begin, rad or m.
        posture : array_like, (n,), optional
            Of the positions with this pose that can be reached from ``start``, the one nearest to this one is returned;
            None: to ``start``.
        rows : slice
            Numbers of the error that have to be 0, rotation about x, y and z of the base first: ``slice(3, 6)`` for the
            origin of the link alone.

        Raises
        ------
        ArgumentError
            For a pose that is none, a wrong length, and where the steps end elsewhere: how far from the pose, and with
            which joints at their limits.
        """
        robot, link, n = self._robot, self.link, self._robot.nv
        T_d = validation.pose('pose', pose)
        q = np.clip(validation.finite('start', start, (n,)), self._lower, self._upper)
        q_posture = q if posture is None else validation.finite('posture', posture, (n,))
        for k in range(STEPS):
            e, J = pose_error(robot.link_pose(q, link), T_d)[rows], robot.jacobian(q, link)[rows]
            share = float(n > len(e) and k < POSTURE_STEPS)
            dq, within = self._step(q, e, J, share * nearest(q_posture - q, self._turn))
            if np.abs(e).max() < CLOSE and within < SETTLED:
                return q
            q = np.clip(q + dq, self._lower, self._upper)
        raise ArgumentError(self._not_reached(q, pose_error(robot.link_pose(q, link), T_d)))

    def _step(self, q, e, J, to_posture) -> tuple[np.ndarray, float]:
        """Return dq (n), with which no joint leaves its limits, and the largest number of its part in the posture."""
        free = np.ones(len(q), bool)
        while True:
            # dq = J' (J J' + (e'e / 2 + LEAST) 1)^-1 (e - J x) + x
            J_f, x = J[:, free], to_posture[free]
            damped = J_f @ J_f.T + (0.5 * (e @ e) + LEAST) * np.eye(len(e))
            to_pose, moved = (J_f.T @ np.linalg.solve(damped, np.column_stack([e, J_f @ x]))).T
            dq, within = np.zeros(len(q)), x - moved
            dq[free] = to_pose + within
            stuck = free & (((q <= self._lower) & (dq < 0.0)) | ((q >= self._upper) & (dq > 0.0)))
            if not stuck.any():
                return dq * (FARTHEST / max(float(np.abs(dq).max()), FARTHEST)), float(np.abs(within).max(initial=0.0))
            free &= ~stuck

    def _not_reached(self, q, e) -> str:
        at_limit = [
            repr(name)
            for name, value, lower, upper in zip(self._robot.joint_names, q, self._lower, self._upper, strict=True)
            if value in (lower, upper)
        ]
        limits = f', with {", ".join(at_limit)} at a position limit' if at_limit else ''
        angle, distance = 2.0 * math.asin(min(1.0, 0.5 * math.hypot(*e[:3]))), math.hypot(*e[3:])
        values = np.linalg.svd(self._robot.jacobian(q, self.link), compute_uv=False)
        singular = '; the arm is singular there, as a stretched one is: a trajectory of its joints leads away from it'
        return (
            f'{self.link!r} does not reach the pose: the nearest position that was found is {distance:.3g} m and '
            f'{angle:.3g} rad away{limits}{singular if values[-1] < SINGULAR * values[0] else ""}'
        )


def pose_error(T, T_d) -> np.ndarray:
    """Return e (6; rad, m), rotation and translation from pose T to T_d (4, 4), in the axes of the base.

    The rotation is 2 sin(t / 2) a for the axis a and the angle t <= pi between the attitudes. At half a turn both ways
    are as short, and it is one of them.
    """
    R_e = T_d[:3, :3] @ T[:3, :3].T
    trace = R_e[0, 0] + R_e[1, 1] + R_e[2, 2]
    # (R_e - R_e')^v = 2 sin t a
    twice = np.array([R_e[2, 1] - R_e[1, 2], R_e[0, 2] - R_e[2, 0], R_e[1, 0] - R_e[0, 1]])
    if trace > 0.0:
        # 1 + tr R_e = 4 cos(t / 2)^2
        e_r = twice / np.sqrt(1.0 + trace)
    else:
        # R_e + R_e' + (1 - tr R_e) 1 = e_r e_r'
        squares = R_e + R_e.T + (1.0 - trace) * np.eye(3)
        k = np.argmax(np.diag(squares))
        e_r = squares[k] / np.sqrt(squares[k, k])
        e_r = -e_r if e_r @ twice < 0.0 else e_r
    return np.concatenate([e_r, T_d[:3, 3] - T[:3, 3]])
