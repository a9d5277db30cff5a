"""Messages of a client, made of arrays."""

import numpy as np
from geometry_msgs.msg import PoseStamped, TwistStamped, Vector3, WrenchStamped
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.client.values import FrameStiffness
from robot_dynamics_ros.messages.joint_trajectory import trajectory_message


def pose_message(pose: np.ndarray) -> PoseStamped:
    """Return a pose (4, 4) of a frame in the base link, m."""
    message = PoseStamped()
    place, attitude = message.pose.position, message.pose.orientation
    place.x, place.y, place.z = pose[:3, 3].tolist()
    attitude.x, attitude.y, attitude.z, attitude.w = quaternion(pose[:3, :3]).tolist()
    return message


def twist_message(linear: np.ndarray, angular: np.ndarray, frame: str) -> TwistStamped:
    """Return a velocity (3,), m/s, and an angular one (3,), rad/s, in the axes of ``frame``."""
    message = TwistStamped()
    message.header.frame_id = frame
    message.twist.linear, message.twist.angular = _vector(linear), _vector(angular)
    return message


def stiffness_message(stiffness: FrameStiffness) -> WrenchStamped:
    """Return a stiffness as a message in the axes that the node has."""
    return wrench_message(stiffness.translational, stiffness.rotational, '')


def wrench_message(force: np.ndarray, torque: np.ndarray, frame: str) -> WrenchStamped:
    """Return a force (3,), N, and a moment (3,), N m, in the axes of ``frame``."""
    message = WrenchStamped()
    message.header.frame_id = frame
    message.wrench.force, message.wrench.torque = _vector(force), _vector(torque)
    return message


def point_message(joint_names, positions: np.ndarray, duration: float) -> JointTrajectory:
    """Return a trajectory to rest at ``positions`` (n; rad, m) after ``duration`` s."""
    rest = np.zeros((1, len(positions)))
    return trajectory_message(joint_names, [duration], positions[None], rest, rest)


def quaternion(rotation: np.ndarray) -> np.ndarray:
    """Return the quaternion (4,), x, y, z and w, of a rotation (3, 3), with w >= 0.

    4 q q' follows from the matrix; its row with the largest diagonal entry, normalised, is the most accurate (Shepperd
    1978, Quaternion from rotation matrix, J. Guidance and Control 1(3)).
    """
    R, trace = rotation, np.trace(rotation)
    products = np.empty((4, 4))
    products[:3, :3] = R + R.T + (1.0 - trace) * np.eye(3)
    products[3, :3] = products[:3, 3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    products[3, 3] = 1.0 + trace
    row = products[np.argmax(np.diagonal(products))]
    return np.copysign(1.0, row[3]) * row / np.linalg.norm(row)


def _vector(values: np.ndarray) -> Vector3:
    x, y, z = values.tolist()
    return Vector3(x=x, y=y, z=z)
