"""Poses and velocities of a frame as trajectories of the joints."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped

from robot_dynamics_ros.control.trajectories.point_stream import LONGEST_GAP_NS
from robot_dynamics_ros.control.trajectories.pose_stream import PoseStream
from robot_dynamics_ros.control.trajectories.twisted_pose import TwistedPose
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints
from robot_dynamics_ros.messages.spatial_vector import SpatialVector
from robot_dynamics_ros.messages.stamps import check_age
from robot_dynamics_ros.messages.target_pose import TargetPose

POSE, TWIST = 'target_pose', 'target_twist'
TOPICS = {POSE: PoseStamped, TWIST: TwistStamped}
NONE = np.empty(0)
"""Velocities and accelerations of a point without."""


class Leading(NamedTuple):
    """What leads the arm.

    Position, velocity and acceleration (3, n), the measured position (n), when the last state came (ns), the stamp of
    the state to which they belong (ns; None: it is not known), and the lag of the stream in force (s), None for none.
    """

    reference: np.ndarray
    measured: np.ndarray
    newest: int
    stamp: int | None = None
    lag: float | None = None


class TargetPoses:
    """Reads the messages of ``TOPICS``. One thread calls ``points``, any thread ``begin_anew``."""

    def __init__(self, node, robot, leading: Callable[[], Leading | None]):
        """Read poses for ``robot`` on the clock of ``node``; ``leading()`` is what leads or holds the arm, or None."""
        # single states of a robot with mimic joints belong to one thread
        self._node, self._robot, self._leading = node, robot.with_gravity(robot.gravity), leading
        self._frame, self._way = '', 0.0
        self._followed: tuple[PoseStream, TwistedPose] | None = None  # None: the control law takes no poses

    def renew(self, frame: str, speed: tuple[float, float], limits, farthest: tuple[float, float]) -> None:
        """Read poses of a ``frame`` ('': ``end_link``), with the ``speed`` and ``limits`` of a ``PoseStream``.

        ``farthest`` is that of ``TwistedPose``.
        """
        self._frame, self._way = frame or self._robot.end_link, 0.0
        self._followed = PoseStream(self._robot, frame, speed, limits), TwistedPose(speed, farthest)

    def refuse(self) -> None:
        """Refuse poses: the control law takes none."""
        self._followed = None

    def begin_anew(self) -> None:
        """Know that the arm has been led otherwise, or was stopped."""
        for each in self._followed or ():
            each.begin_anew()

    def points(self, topic: str, data: bytes) -> TrajectoryPoints:
        """Return the points of a message; DynamicsError says why there are none."""
        try:
            return self._of_pose(data) if topic == POSE else self._of_twist(data)
        except DynamicsError as error:
            raise ArgumentError(f'{topic}: {error}') from error

    def report(self) -> dict[str, str]:
        """Return the time of the way to the last pose, as a field of the diagnostics."""
        return {'way to the last target pose, s': f'{self._way:.2f}' if self._way else ''}

    def _of_pose(self, data: bytes) -> TrajectoryPoints:
        stream, twisted = self._taken()
        target = TargetPose.read(self._robot, data)
        twisted.begin_anew()
        now = self._now(target.stamp)
        return self._to(stream, target.pose, target.stamp, now, self._led(now))

    def _of_twist(self, data: bytes) -> TrajectoryPoints:
        stream, twisted = self._taken()
        target = SpatialVector.read('twist', self._robot.link_names[0], self._frame, data)
        now = self._now(target.stamp)
        leading = self._led(now)
        reference, measured = (self._robot.link_pose(q, self._frame) for q in (leading.reference[0], leading.measured))
        pose = twisted.moved(target.vector, target.is_local, target.stamp or now, reference, measured)
        found = self._to(stream, pose, target.stamp, now, leading)
        twisted.keep(pose)
        return found

    def _taken(self) -> tuple[PoseStream, TwistedPose]:
        if self._followed is None:
            raise ArgumentError(
                'expected a trajectory: only control_law cartesian_impedance and operational_space lead a frame'
            )
        return self._followed

    def _now(self, stamp: int) -> int:
        """Return the time, ns; ArgumentError for a message whose ``stamp`` (ns, 0: none) is of another one."""
        now = self._node.get_clock().now().nanoseconds
        check_age(stamp, now, LONGEST_GAP_NS)
        return now

    def _led(self, now: int) -> Leading:
        leading = self._leading()
        if leading is None:
            raise ArgumentError(
                'the arm is not held yet: no torque was computed since the activation; see why on /diagnostics'
            )
        silence = now - leading.newest
        if silence > LONGEST_GAP_NS:
            raise ArgumentError(f'no joint state has come for {silence * 1e-9:.3f} s')
        return leading

    def _to(self, stream: PoseStream, pose: np.ndarray, sent: int, now: int, leading: Leading) -> TrajectoryPoints:
        """Return the points to a ``pose`` (4, 4) that was ``sent`` then (ns; 0: it is not known)."""
        times, *columns = stream.points(pose, leading.reference, leading.lag, sent or now)
        self._way = float(times[-1])
        # a way begins at the state to which the reference belongs, not at the stamp of the message, which may be old
        stamp = (leading.stamp or now) if self._way else sent
        rows = [[NONE] * len(times) if column is None else list(column) for column in columns]
        return TrajectoryPoints(stamp, list(self._robot.joint_names), times.tolist(), rows)
