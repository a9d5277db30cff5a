"""Poses of a frame as trajectories of one point."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.trajectories.pose_stream import PoseStream
from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.messages.joint_trajectory import TrajectoryPoints
from robot_dynamics_ros.messages.target_pose import TargetPose

TOPIC = 'target_pose'
NONE = np.empty(0)
"""Velocities and accelerations of a point without."""


class Leading(NamedTuple):
    """What leads the arm: position and velocity (n), and the lag of the stream in force (s), None for no stream."""

    position: np.ndarray
    velocity: np.ndarray
    lag: float | None


class TargetPoses:
    """Reads the messages of ``target_pose``. One thread calls ``points``, any thread ``begin_anew``."""

    def __init__(self, robot, leading: Callable[[], Leading | None]):
        """Read poses for ``robot``; ``leading()`` is what leads or holds the arm, None: nothing does."""
        # single states of a robot with mimic joints belong to one thread
        self._robot, self._leading = robot.with_gravity(robot.gravity), leading
        self._stream: PoseStream | None = None

    def renew(self, frame: str, speed: tuple[float, float]) -> None:
        """Read poses of a ``frame`` ('': the last link), with the ``speed`` of a ``PoseStream``."""
        self._stream = PoseStream(self._robot, frame, speed)

    def refuse(self) -> None:
        """Refuse poses: the control law takes none."""
        self._stream = None

    def begin_anew(self) -> None:
        """Know that the arm has been led otherwise, or was stopped."""
        if self._stream is not None:
            self._stream.begin_anew()

    def points(self, data: bytes) -> TrajectoryPoints:
        """Return the point of a message; DynamicsError says why there is none."""
        try:
            return self._points(TargetPose.read(self._robot, data))
        except DynamicsError as error:
            raise ArgumentError(f'{TOPIC}: {error}') from error

    def _points(self, target: TargetPose) -> TrajectoryPoints:
        if self._stream is None:
            raise ArgumentError('expected a trajectory: only control_law cartesian_impedance takes poses')
        leading = self._leading()
        if leading is None:
            raise ArgumentError('the arm is not held yet: no joint state has come since the activation')
        time, q = self._stream.point(target.pose, *leading)
        return TrajectoryPoints(target.stamp, list(self._robot.joint_names), [time], [[q], [NONE], [NONE]])
