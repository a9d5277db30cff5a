"""Poses of a link, one after the other, as trajectories of the joints: a point of a stream, or a way at a stated speed.

The position q of the joints is that at which the link has the pose, near the reference in force. A pose that the
reference almost reaches by itself is a point of a stream. To another one leads a quintic from the reference, its
velocity and acceleration to rest at q. It takes

    T = 1.875 max(|v| / speed, |qd| / limit)

for the velocity v of the link and qd of the joints on a straight way of the joints in 1 s; 1.875 is the largest rate of
a motion of minimum jerk (Flash & Hogan 1985), which a way from rest is. The quintic takes longer where the link or a
joint would be faster, or a joint would accelerate more, than allowed and than at its beginning. Each later pose has a
new way, until T is ``CAUGHT_UP``.

References
----------
Flash & Hogan 1985, The coordination of arm movements: an experimentally confirmed mathematical model, J. Neuroscience
5(7); Yoshikawa 1985, Manipulability of robotic mechanisms, Int. J. Robotics Research 4(2).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.control.arm.inverse_kinematics import InverseKinematics
from robot_dynamics_ros.control.joints.continuous_joints import nearest, turns
from robot_dynamics_ros.control.trajectories.lead import Limits
from robot_dynamics_ros.control.trajectories.point_stream import LONGEST_GAP_NS
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import sampled
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

FAR = 0.25
"""s; a pose whose way, from where the reference will be, takes longer is no point of a stream."""
CAUGHT_UP = 0.1
"""s; likewise for the first pose, and for those after one that was none."""
STEEPEST = 1.875
"""Largest rate of 10 s^3 - 15 s^4 + 6 s^5."""
SAMPLES = 24
"""Of a way, at which its velocities and accelerations are looked at."""
SHARES = np.linspace(0.0, 1.0, SAMPLES)[:, None]
BEYOND, LEAST = 2.0, 0.3
"""Times the way to rest, on which an arm that follows a stream keeps this share of its manipulability."""
FAST, MUCH = 0.5, 3.0
"""Share of its velocity limit up to which a joint may be faster, so many times, than the motion of the link needs."""
SHORTEST = 0.01
"""Lever of a link about a joint at least, m."""
ROUNDING, LONGER, TRIES = 1.01, 1.15, 16
"""Times a limit that is none yet exceeded, by which a way that is too fast is made longer, and how often."""


class PosePoints(NamedTuple):
    """Points of a trajectory: times (m, s), positions, velocities and accelerations (m, n), the last two None or known.

    One point without velocities, at 0 s, belongs to a stream; two are a way.
    """

    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray | None = None
    accelerations: np.ndarray | None = None


class PoseStream:
    """Turns the poses of a link into points of the joints.

    An arm with more joints than the pose needs keeps the posture of the reference at the first of several poses, as far
    as they allow: so it does not creep through its null space.

    Parameters
    ----------
    robot : Robot
        With n joints of one degree of freedom, without closed loops.
    link : str
        One of ``frame_names``; '' for ``end_link``.
    speed : tuple of two floats
        Largest speed of the link on a way, m/s and rad/s.
    limits : Limits
        Velocity and acceleration limits of the joints, (n) each; inf: none.

    Raises
    ------
    ArgumentError, ModelError, UnknownNameError
        As ``InverseKinematics``.
    """

    def __init__(self, robot: Robot, link: str, speed: tuple[float, float], limits: Limits):
        """Take the limits of the robot."""
        self._robot, self._inverse, self._speed = robot, InverseKinematics(robot, link), speed
        self._turn, (self._fastest, self._steepest) = turns(robot), limits
        self._posture: np.ndarray | None = None
        self._is_far = True
        self._before: tuple[int, np.ndarray] | None = None  # when the last pose of a stream counted, and where it is
        self._refused = 0  # when the last pose counted, where it was refused, ns

    def begin_anew(self) -> None:
        """Take the posture from the next pose on: the arm has been led otherwise; any thread."""
        self._posture = self._before = None
        self._refused = 0

    def points(
        self, pose: ArrayLike, reference: np.ndarray, lag: float | None = None, time: int | None = None
    ) -> PosePoints:
        """Return where the joints go for a pose, and when.

        Parameters
        ----------
        pose : array_like, (4, 4)
            Homogeneous transform from the link to the base, m.
        reference : ndarray, (3, n)
            Position, velocity and acceleration that lead the arm now, rad or m and their derivatives in s.
        lag : float, optional
            s by which the stream in force lags; None: there is none.
        time : int, optional
            When the pose is reached, ns; None: not known, and it is not checked that the arm can come to rest there.

        Raises
        ------
        ArgumentError
            For a matrix that is no pose, a pose that is not reached, and one where the arm could not come to rest.
        """
        try:
            found = self._points(pose, reference, lag, time)
        except ArgumentError:
            if time is not None:  # stamps may come out of order, and clocks may go back
                self._refused = max(time, self._refused) if self._follows_refusal(time) else time
            raise
        self._refused = 0
        return found

    def _points(self, pose, reference: np.ndarray, lag: float | None, time: int | None) -> PosePoints:
        posture = self._posture
        if posture is None:
            posture = self._posture = reference[0].copy()
        q = self._inverse.position(pose, reference[0], posture)
        begun = self._is_far or lag is None
        ahead = reference[0] if begun else reference[0] + reference[1] * lag
        is_far = self._least_time(ahead, q) > (CAUGHT_UP if begun else FAR)
        if lag is not None:
            self._check_joints(reference)
        if not is_far:
            self._is_far = False
            if time is not None:
                self._check_rest(reference[0], q, time)
            return PosePoints(np.zeros(1), q[None])
        if time is not None and self._follows_refusal(time):
            raise ArgumentError(
                f'poses before it were refused, and it is too far away to go on with them; wait for '
                f'{LONGEST_GAP_NS * 1e-9:g} s to send one that is far away, or come nearer'
            )
        self._is_far, self._before = True, None
        end = np.zeros_like(reference)
        end[0] = reference[0] + nearest(q - reference[0], self._turn)
        return self._way(reference, end)

    def _check_joints(self, reference: np.ndarray) -> None:
        """Raise ArgumentError where a stream moves a joint fast and the link slowly, as near a singular position."""
        q, qd, _ = reference
        share = np.abs(qd) / self._fastest
        if share.max() <= FAST:
            return
        J = self._robot.jacobian(q, self._inverse.link)
        levers = np.linalg.norm(J[3:], axis=0)
        turns, r = J[:3].any(axis=0), max(levers.max(), SHORTEST)
        # what a joint needs for the motion of the link at the end of the longest lever
        rotation, translation = (np.linalg.norm(part) for part in np.split(J @ qd, 2))
        usual = (rotation + translation / r) * np.where(turns, 1.0, r)
        if (np.abs(qd) > MUCH * usual)[share > FAST].any():
            share = share.max()
            raise ArgumentError(
                f'{self._inverse.link!r} is led too fast near a singular position: a joint has {share:.0%} of its '
                'velocity limit; lead the link there more slowly, or by one pose far away'
            )

    def _follows_refusal(self, time: int) -> bool:
        """Return whether a pose that counts at ``time`` (ns) goes on with one that was refused."""
        return abs(time - self._refused) <= LONGEST_GAP_NS

    def _check_rest(self, start: np.ndarray, q: np.ndarray, time: int) -> None:
        """Raise ArgumentError where the arm, led from ``start`` to q at ``time``, would stop near a singular position.

        Its joints would pass through that position and lead the link off its line.
        """
        before, self._before = self._before, (time, q)
        if before is None or not 0 < time - before[0] <= LONGEST_GAP_NS:
            return
        qd = nearest(q - before[1], self._turn) / ((time - before[0]) * 1e-9)
        qd /= max(1.0, (np.abs(qd) / self._fastest).max())  # messages may come in bursts
        # at a constant deceleration, that of the joint which comes to rest last: q + qd T / 2
        way = 0.5 * qd * (np.abs(qd) / self._steepest).max()
        J = self._robot.jacobian(np.concatenate([start[None], q + BEYOND * SHARES * way]), self._inverse.link)
        transposed = np.swapaxes(J, 1, 2)
        w = np.linalg.det(J @ transposed if len(q) >= 6 else transposed @ J)
        if w.min() < LEAST**2 * w[:2].max():
            self._before = time, before[1]
            raise ArgumentError(
                f'{self._inverse.link!r} is led towards a singular position too fast: the joints could not come to '
                'rest before it; lead it there more slowly, or by one pose far away'
            )

    def _least_time(self, start, end) -> float:
        """Return the time of a straight way of the joints from rest to rest, s."""
        way = nearest(end - start, self._turn)
        return STEEPEST * self._excess(start + SHARES * way, np.broadcast_to(way, (len(SHARES), len(way))))

    def _way(self, start, end) -> PosePoints:
        """Return the quintic from the state ``start`` to ``end`` (3, n)."""
        allowed, least = ROUNDING * max(1.0, self._excess(*start[:, None])), np.inf
        found = PosePoints(np.zeros(1), end[:1])
        # with an acceleration at its beginning a longer way may be a faster one
        for acceleration in (start[2], np.zeros_like(start[2])):
            states, time = np.stack([[*start[:2], acceleration], end], axis=1), self._least_time(start[0], end[0])
            for _ in range(TRIES):
                motion = sampled(Trajectory([0.0, time], *states), time / SAMPLES)
                excess = self._excess(motion.q, motion.qd, motion.qdd)
                if excess < least:
                    least, found = excess, PosePoints(np.array([0.0, time]), *states)
                if least <= allowed:
                    return found
                time *= LONGER
        return found

    def _excess(self, q, qd, qdd=0.0) -> float:
        """Return the largest share of a limit that a motion (m, n) needs."""
        twist = self._robot.jacobian(q, self._inverse.link) @ qd[..., None]
        rotation, translation = np.linalg.norm(twist.reshape(-1, 2, 3), axis=2).max(axis=0)
        fastest, turning = self._speed
        of_joints = np.abs(qd) / self._fastest, np.abs(qdd) / self._steepest
        return float(max(translation / fastest, rotation / turning, *map(np.max, of_joints)))
