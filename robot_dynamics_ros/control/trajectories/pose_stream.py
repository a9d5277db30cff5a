"""Poses of a link, one after the other, as points of the joints: where the joints go, and how long they take.

The position q of the joints is that at which the link has the pose, near the reference in force. A pose that the
reference almost reaches by itself is a point of a stream, at its time. The way to one that is further away takes

    T = 1.875 max(|v| / speed, |qd| / limit)

for the velocity v of the link and qd of the joints on a straight way of the joints in 1 s; 1.875 is the largest rate of
a motion of minimum jerk (Flash & Hogan 1985), as which it begins. Each later pose has the time of the way that is left,
until that is ``CAUGHT_UP``.

References
----------
Flash & Hogan 1985, The coordination of arm movements: an experimentally confirmed mathematical model, J. Neuroscience
5(7).
"""

import numpy as np

from robot_dynamics_ros.control.arm.inverse_kinematics import InverseKinematics
from robot_dynamics_ros.control.joints.continuous_joints import nearest, turns
from robot_dynamics_ros.robot import Robot

FAR = 0.25
"""s; a pose whose way, from where the reference will be, takes longer is no point of a stream."""
CAUGHT_UP = 0.1
"""Time of the way that is left at which a pose is one again, s."""
USUAL_LAG = 0.1
"""s by which a stream lags at its first points."""
STEEPEST = 1.875
"""Largest rate of 10 s^3 - 15 s^4 + 6 s^5."""
SHARES = np.linspace(0.0, 1.0, 16)[:, None]
"""Of a way, at which the velocity of the link is computed."""


class PoseStream:
    """Turns the poses of a link into points of the joints.

    An arm with more joints than the pose needs keeps the posture of the reference at the first of several poses, as far
    as they allow: so it does not creep through its null space.

    Parameters
    ----------
    robot : Robot
        With n joints of one degree of freedom, without closed loops.
    link : str
        One of ``frame_names``; '' for the last link.
    speed : tuple of two floats
        Largest speed of the link on the way to a pose far away, m/s and rad/s.

    Raises
    ------
    ArgumentError, ModelError, UnknownNameError
        As ``InverseKinematics``.
    """

    def __init__(self, robot: Robot, link: str, speed: tuple[float, float]):
        """Take the limits of the robot."""
        self._robot, self._inverse, self._speed = robot, InverseKinematics(robot, link), speed
        fastest = robot.limits.velocity
        self._turn, self._fastest = turns(robot), np.where(fastest > 0.0, fastest, np.inf)
        self._posture: np.ndarray | None = None
        self._is_far = False

    def begin_anew(self) -> None:
        """Take the posture from the next pose on: the arm has been led otherwise; any thread."""
        self._posture = None

    def point(self, pose, reference, velocity, lag: float | None = None) -> tuple[float, np.ndarray]:
        """Return in how many s the joints should be where the link has a pose, and their position (n; rad, m).

        Parameters
        ----------
        pose : array_like, (4, 4)
            Homogeneous transform from the link to the base, m.
        reference, velocity : ndarray, (n,)
            Position and velocity that lead the arm now, rad and rad/s, or m and m/s.
        lag : float, optional
            s by which the stream in force lags; None: there is none.

        Raises
        ------
        ArgumentError
            For a pose that is none, and one that is not reached.
        """
        posture = self._posture
        if posture is None:
            posture = self._posture = reference
            self._is_far = False
        q = self._inverse.position(pose, reference, posture)
        ahead = reference + velocity * (USUAL_LAG if lag is None else lag)
        left = self._time(reference, q)
        self._is_far = left > CAUGHT_UP if self._is_far else self._time(ahead, q) > FAR
        return (left if self._is_far else 0.0), q

    def _time(self, start, end) -> float:
        """Return the time of a straight way of the joints, s."""
        way = nearest(end - start, self._turn)
        J = self._robot.jacobian(start + SHARES * way, self._inverse.link)
        rotation, translation = np.abs(np.linalg.norm((J @ way).reshape(-1, 2, 3), axis=2)).max(axis=0)
        fastest, turning = self._speed
        return STEEPEST * float(max(translation / fastest, rotation / turning, (np.abs(way) / self._fastest).max()))
