"""Conversion of JointTrajectory messages to trajectories, and of points of a motion to a message.

rclpy deserialises a message in one call that no other thread of the process interrupts: 0.1 s for 10,000 points. Nodes
read the serialised message instead, point by point.
"""

import struct
from typing import NamedTuple

import numpy as np
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros.control.joints.joint_order import permutation
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import sampled
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.cdr import COUNT, FRAME, aligned, reading, stamp_of, text_at
from robot_dynamics_ros.messages.stamps import nanoseconds, set_nanoseconds

FIELDS = ('positions', 'velocities', 'accelerations', 'effort')
DURATION = struct.Struct('<iI')


class TrajectoryPoints(NamedTuple):
    """Contents of a JointTrajectory."""

    stamp: int
    """Of the header, ns."""
    joint_names: list[str]
    times: list[float]
    """Time of each point from the start, s."""
    columns: list[list[np.ndarray]]
    """For positions, velocities and accelerations the values of each point, in its joint order, or none."""

    @classmethod
    def of(cls, message: JointTrajectory) -> 'TrajectoryPoints':
        """Return the contents of a message."""
        columns = [[np.asarray(getattr(point, field)) for point in message.points] for field in FIELDS[:3]]
        times = [nanoseconds(point.time_from_start) * 1e-9 for point in message.points]
        return cls(nanoseconds(message.header.stamp), list(message.joint_names), times, columns)

    @classmethod
    def read(cls, data: bytes) -> 'TrajectoryPoints':
        """Return the contents of a serialised message; ArgumentError unless it is a JointTrajectory."""
        with reading('JointTrajectory', data):
            _, place = text_at(data, FRAME)
            names, place = _texts(data, place)
            times, columns = _points(data, place)
            return cls(stamp_of(data), names, times, columns)


def point_count(data: bytes) -> int:
    """Return the number of points that a serialised message states; ArgumentError unless it is a JointTrajectory."""
    with reading('JointTrajectory', data):
        _, place = text_at(data, FRAME)
        _, place = _texts(data, place)
        return COUNT.unpack_from(data, place)[0]


def trajectory_of(joint_names, message: JointTrajectory | TrajectoryPoints, ignored=()) -> Trajectory:
    """Return the trajectory of a JointTrajectory, with the joint order of ``joint_names``.

    The message may have ``ignored`` joints. Raises DynamicsError naming the wrong joint or point.
    """
    points = message if isinstance(message, TrajectoryPoints) else TrajectoryPoints.of(message)
    places = permutation(joint_names, points.joint_names, ignored)
    count = len(points.joint_names)
    columns = [_column(field, rows, count, places) for field, rows in zip(FIELDS, points.columns, strict=False)]
    return Trajectory(points.times, *columns)


def trajectory_message(joint_names, times, positions, velocities, accelerations) -> JointTrajectory:
    """Return a message without a stamp, in SI units: times (m,), positions, velocities and accelerations (m, n)."""
    message = JointTrajectory(joint_names=list(joint_names))
    for time, *rows in zip(times, positions, velocities, accelerations, strict=True):
        q, qd, qdd = (row.tolist() for row in rows)
        point = JointTrajectoryPoint(positions=q, velocities=qd, accelerations=qdd)
        set_nanoseconds(point.time_from_start, round(time * 1e9))
        message.points.append(point)
    return message


def resampled(points: TrajectoryPoints, period: float) -> TrajectoryPoints:
    """Return the same motion with further points, at most ``period`` s apart, all with velocities and accelerations.

    Velocities and accelerations that the last point does not state are 0 there: a controller holds the arm after it.
    Raises DynamicsError naming the wrong point, or the period.
    """
    motion = sampled(trajectory_of(points.joint_names, points), period)
    columns = [values[motion.last] for values in (motion.q, motion.qd, motion.qdd)]
    for column, stated in zip(columns[1:], points.columns[1:], strict=True):
        column[-1] = stated[-1] if len(stated[-1]) else 0.0
    return points._replace(times=motion.times[motion.last].tolist(), columns=[list(column) for column in columns])


def serialized(data: bytes, points: TrajectoryPoints, effort) -> bytes:
    """Return a serialised JointTrajectory with other points.

    Parameters
    ----------
    data : bytes
        A message that ``TrajectoryPoints.read`` accepts; its header and its joint names are copied.
    points : TrajectoryPoints
        The m points.
    effort : sequence of m sequences
        Effort of each point, (N,) in the message's joint order, N m or N, or none.

    Returns
    -------
    bytes
        Little-endian CDR, version 1.
    """
    _, place = text_at(data, FRAME)
    _, place = _texts(data, place)
    memory = bytearray(data[:place])
    memory += COUNT.pack(len(points.times))
    for time, *lists in zip(points.times, *points.columns, effort, strict=True):
        for given in lists:
            values = () if np.isnan(given).any() else given  # a row of NaN means that the point has none
            memory += COUNT.pack(len(values))
            if len(values):
                memory += bytes(aligned(len(memory), 8) - len(memory))
                memory += np.asarray(values, '<f8').tobytes()
        memory += DURATION.pack(*divmod(round(time * 1e9), 1_000_000_000))
    return bytes(memory)


def _column(field: str, rows, count: int, places) -> np.ndarray:
    """Return one field of all points (m, n) in the robot's joint order, with a row of NaN if a point has none."""
    column = np.full((len(rows), len(places)), np.nan)
    for k, values in enumerate(rows):
        if len(values) == count:
            column[k] = values[places]
        elif len(values) or field == 'positions':
            raise ArgumentError(f'trajectory point {k}: expected {count} {field}, got {len(values)}')
    return column


def _points(data: bytes, place: int) -> tuple[list[float], list[list[np.ndarray]]]:
    """Return times and columns of the points that begin at ``place``."""
    times: list[float] = []
    columns: list[list[np.ndarray]] = [[], [], []]
    memory = np.frombuffer(data, np.uint8)
    (points,) = COUNT.unpack_from(data, place)
    place += COUNT.size
    for _ in range(points):
        for k in range(len(FIELDS)):
            (count,) = COUNT.unpack_from(data, place)
            place += COUNT.size
            first = aligned(place, 8) if count else place
            place = first + 8 * count
            if place > len(data):
                raise ValueError(f'point {len(times)} has {count} {FIELDS[k]}, more than the message')
            if k < len(columns):
                columns[k].append(memory[first:place].view('<f8'))
        seconds, nanosec = DURATION.unpack_from(data, place)
        place += DURATION.size
        times.append((seconds * 1_000_000_000 + nanosec) * 1e-9)
    return times, columns


def _texts(data: bytes, place: int) -> tuple[list[str], int]:
    """Return the strings of a sequence at ``place``, and the place after it."""
    (count,) = COUNT.unpack_from(data, place)
    place += COUNT.size
    texts = []
    for _ in range(count):
        text, place = text_at(data, place)
        texts.append(text)
    return texts, place
