"""Poses of a frame as trajectories of the joints."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.trajectories.point_stream import LONGEST_GAP_NS
from robot_dynamics_ros.control.trajectories.pose_stream import PoseStream
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints
from robot_dynamics_ros.messages.target_pose import TargetPose

TOPIC = 'target_pose'
NONE = np.empty(0)
"""Velocities and accelerations of a point without."""


class Leading(NamedTuple):
    """What leads the arm.

    Position, velocity and acceleration (3, n), the stamp of the state to which they belong (ns; None: it is not known),
    and the lag of the stream in force (s), None for no stream.
    """

    reference: np.ndarray
    stamp: int | None = None
    lag: float | None = None


class TargetPoses:
    """Reads the messages of ``target_pose``. One thread calls ``points``, any thread ``begin_anew``."""

    def __init__(self, node, robot, leading: Callable[[], Leading | None]):
        """Read poses for ``robot`` on the clock of ``node``; ``leading()`` is what leads or holds the arm, or None."""
        # single states of a robot with mimic joints belong to one thread
        self._node, self._robot, self._leading = node, robot.with_gravity(robot.gravity), leading
        self._stream: PoseStream | None = None
        self._way = 0.0

    def renew(self, frame: str, speed: tuple[float, float], limits) -> None:
        """Read poses of a ``frame`` ('': the last link), with the ``speed`` and ``limits`` of a ``PoseStream``."""
        self._stream, self._way = PoseStream(self._robot, frame, speed, limits), 0.0

    def refuse(self) -> None:
        """Refuse poses: the control law takes none."""
        self._stream = None

    def begin_anew(self) -> None:
        """Know that the arm has been led otherwise, or was stopped."""
        if self._stream is not None:
            self._stream.begin_anew()

    def points(self, data: bytes) -> TrajectoryPoints:
        """Return the points of a message; DynamicsError says why there are none."""
        try:
            return self._points(TargetPose.read(self._robot, data))
        except DynamicsError as error:
            raise ArgumentError(f'{TOPIC}: {error}') from error

    def report(self) -> dict[str, str]:
        """Return the time of the way to the last pose, as a field of the diagnostics."""
        return {'way to the last target pose, s': f'{self._way:.2f}' if self._way else ''}

    def _points(self, target: TargetPose) -> TrajectoryPoints:
        if self._stream is None:
            raise ArgumentError('expected a trajectory: only control_law cartesian_impedance takes poses')
        now = self._node.get_clock().now().nanoseconds
        late = now - target.stamp if target.stamp else 0
        if abs(late) > LONGEST_GAP_NS:
            raise ArgumentError(
                f'its stamp is {abs(late) * 1e-9:.3f} s {"ahead" if late < 0 else "old"}; send it when it counts, with '
                f'a stamp of then or none'
            )
        leading = self._leading()
        if leading is None:
            raise ArgumentError('the arm is not held yet: no joint state has come since the activation')
        times, *columns = self._stream.points(target.pose, leading.reference, leading.lag)
        self._way = float(times[-1])
        # a way begins at the state to which the reference belongs, not at the stamp of the pose, which may be old
        stamp = (leading.stamp or now) if self._way else target.stamp
        rows = [[NONE] * len(times) if column is None else list(column) for column in columns]
        return TrajectoryPoints(stamp, list(self._robot.joint_names), times.tolist(), rows)
