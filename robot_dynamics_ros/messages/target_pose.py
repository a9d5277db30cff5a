"""Conversion of PoseStamped messages to poses in the base link."""

import struct
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.messages.base_frame import check_base
from robot_dynamics_ros.messages.cdr import stamped_numbers
from robot_dynamics_ros.model.rotations import from_quaternion
from robot_dynamics_ros.robot import Robot

NUMBERS = struct.Struct('<7d')
"""Position (m) and quaternion, x, y and z first."""


class TargetPose(NamedTuple):
    """Contents of a PoseStamped: the stamp of the header (ns), and the pose (4, 4; m)."""

    stamp: int
    pose: np.ndarray

    @classmethod
    def read(cls, robot: Robot, data: bytes) -> 'TargetPose':
        """Return the contents of a serialised message.

        ArgumentError unless it is a PoseStamped in the base link of ``robot`` with finite numbers and a quaternion of
        length 1.
        """
        stamp, frame, numbers = stamped_numbers('PoseStamped', data, NUMBERS)
        check_base('pose', robot, frame)
        pose = np.eye(4)
        pose[:3, 3] = validation.finite('position', numbers[:3], (3,))
        quaternion = validation.finite('orientation', numbers[3:], (4,))
        validation.check_quaternions('orientation', quaternion, (0,))
        pose[:3, :3] = from_quaternion(*quaternion.tolist())
        return cls(stamp, pose)
