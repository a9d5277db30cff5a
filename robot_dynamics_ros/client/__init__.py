"""A Python client of torque_controller: leads its arm from a notebook, or beside other nodes of rclpy."""

from robot_dynamics_ros.client.arm import Arm
from robot_dynamics_ros.client.errors import ClientError, EndedError, RefusedError, UnavailableError
from robot_dynamics_ros.client.values import ArmState, FrameStiffness, Reached

__all__ = [
    'Arm',
    'ArmState',
    'ClientError',
    'EndedError',
    'FrameStiffness',
    'Reached',
    'RefusedError',
    'UnavailableError',
]
