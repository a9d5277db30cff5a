"""The robot of all nodes, and the contents of messages as rclpy deserialises them."""

from typing import NamedTuple

from support import graph

import numpy as np
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from broken_messages.bytes import serialized, understood
from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.messages.cdr import LITTLE_ENDIAN

ROBOT = Robot.named('aubo_i5')
DESCRIPTION = named_urdf('aubo_i5').read_text(encoding='utf-8')
LARGEST_POSITION = 2.0**40
"""Positions from here on (rad) are rejected by every node."""
MODERATE = 2.0
"""Positions (rad) and other numbers up to this one are valid for every node."""


class Read(NamedTuple):
    """A joint state as rclpy reads it."""

    stamp: int
    q: np.ndarray | None  # of the robot's joints; None where one is missing, doubled, not finite or too large
    good: bool  # nothing at all is unusual


def read_state(data: bytes) -> Read | None:
    """Return what rclpy reads, None where it refuses, and where the other end of numbers comes first."""
    message = understood(data, JointState) if data[:2] == LITTLE_ENDIAN else None
    if message is None:
        return None
    names, stamp = message.name, graph.nanoseconds(message.header.stamp)
    complete = set(ROBOT.joint_names) <= set(names) and len(set(names)) == len(names) == len(message.position)
    q = np.array([message.position[names.index(name)] for name in ROBOT.joint_names]) if complete else None
    if q is None or not (np.abs(q) < LARGEST_POSITION).all():
        return Read(stamp, None, False)
    usual = all(
        len(values) in (0, len(names)) and np.isfinite(values).all() for values in (message.velocity, message.effort)
    )
    usual = usual and message.header.stamp.nanosec < graph.SECOND
    good = usual and bool((np.abs(q) <= MODERATE).all())
    return Read(stamp, q, good and serialized(message) == data)


def motion(start: int, q, qd, qdd) -> JointTrajectory:
    """Return a trajectory that starts with q, qd, qdd."""
    return graph.trajectory(ROBOT.joint_names, start, (0.0, q, qd, qdd), (2.0, q, 0.0 * q, 0.0 * q))
