"""Rotation matrices from angles, and roll, pitch and yaw of a rotation matrix."""

import math

import numpy as np

SHORTEST_AXIS = 1e-9  # shorter vectors have no direction
ROTATION_ROUNDING = 1e-15  # cos(pi / 2) with pi in 16 digits is 1e-16


def from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return Rz(yaw) Ry(pitch) Rx(roll) (3, 3): rotations in rad about fixed axes x, then y, then z."""
    sr, cr, sp, cp, sy, cy = (f(angle) for angle in (roll, pitch, yaw) for f in (math.sin, math.cos))
    return exact(np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]))  # fmt: skip


def to_rpy(rotation: np.ndarray) -> tuple[float, float, float]:
    """Return roll, pitch and yaw (rad) with ``from_rpy(roll, pitch, yaw)`` = ``rotation`` (3, 3), up to rounding.

    At a pitch of a quarter turn one of roll and yaw is arbitrary. The roll is therefore computed from Rz(-yaw) R, which
    is exact for any yaw.
    """
    R = rotation
    yaw = math.atan2(R[1, 0], R[0, 0])
    s, c = math.sin(yaw), math.cos(yaw)
    pitch = math.atan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = math.atan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return roll, pitch, yaw


def about(axis, angle: float) -> np.ndarray:
    """Return the rotation (3, 3) by ``angle`` (rad) about the unit vector ``axis`` (3): Rodrigues' formula."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return exact(np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * cross @ cross)


def exact(rotation: np.ndarray) -> np.ndarray:
    """Return a rotation (3, 3) with entries that are 0, 1 or -1 up to rounding set to these.

    Specialised code omits operations with exact zeros, and most robots have quarter turns.
    """
    nearest = np.round(rotation)
    return np.where(abs(rotation - nearest) < ROTATION_ROUNDING, nearest, rotation)
