"""Rigid-body dynamics for real-time control: a Python library, and ROS 2 nodes on top of it."""

from robot_dynamics_ros.payload import Payload
from robot_dynamics_ros.robot import Robot

__all__ = ['Payload', 'Robot']
