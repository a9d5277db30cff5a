"""Rotation matrices from angles, and roll, pitch and yaw of a rotation matrix; the same bits on every processor."""

import math

import numpy as np

from robot_dynamics_ros.model.linear_algebra import product

SHORTEST_AXIS = 1e-9  # shorter vectors have no direction
ROTATION_ROUNDING = 1e-15  # cos(pi / 2) with pi in 16 digits is 1e-16
ORTHONORMAL = 1e-14
"""Of R R' - 1: a matrix with a smaller error is a rotation up to rounding, also after products with other rotations."""
PI = 0x3_243F6A88_85A308D3_13198A2E_03707344_A4093822_299F31D0_082EFA98_EC4E6C89
"""pi 2^256."""
ROOM = 256
"""Bound on the error of a series in units of its last bit: two for each of 30 terms, and one of the angle."""


def sine_and_cosine(angle: float) -> tuple[float, float]:
    """Return sin and cos of an angle (rad, up to 1e30), correctly rounded.

    Those of the C library differ between processors and versions in the last bit of some angles. Fixed-point numbers
    with 256 bits after the point: reduction to [-pi/4, pi/4], then Taylor's series, of 128 bits where they are enough.
    """
    if abs(angle) < 1e-9:
        return angle, 1.0
    numerator, denominator = angle.as_integer_ratio()
    x = (numerator << 256) // denominator
    quarters = (2 * x + PI // 2) // PI
    x -= quarters * PI // 2
    sums = _series(x >> 128, 128)
    low, high = ([(it + room) / (1 << 128) for it in sums] for room in (-ROOM, ROOM))
    cosine, sine = low if low == high else [it / (1 << 256) for it in _series(x, 256)]
    return ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[quarters % 4]


def _series(x: int, bits: int) -> list[int]:
    """Return cos and sin of a fixed-point angle with ``bits`` after the point, to ``ROOM`` units of the last bit."""
    square, sine, term, k = x * x >> bits, x, x, 1
    while abs(term) > 1:
        term = -(term * square >> bits) // ((k + 1) * (k + 2))
        sine += term
        k += 2
    return [math.isqrt((1 << 2 * bits) - sine * sine), sine]


def from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Return Rz(yaw) Ry(pitch) Rx(roll) (3, 3): rotations in rad about fixed axes x, then y, then z."""
    (sr, cr), (sp, cp), (sy, cy) = (sine_and_cosine(float(angle)) for angle in (roll, pitch, yaw))
    return exact(np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]))  # fmt: skip


def from_quaternion(x: float, y: float, z: float, w: float) -> np.ndarray:
    """Return the rotation (3, 3) of a quaternion other than zero, of any length."""
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return exact(np.array([
        [1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
        [s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)],
        [s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)],
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
    sine, cosine = sine_and_cosine(float(angle))
    return exact(np.eye(3) + sine * cross + (1.0 - cosine) * product(cross, cross))


def exact(rotation: np.ndarray) -> np.ndarray:
    """Return a rotation (3, 3) with entries that are 0, 1 or -1 up to rounding set to these.

    Specialised code omits operations with exact zeros, and most robots have quarter turns.
    """
    nearest = np.round(rotation)
    return np.where(abs(rotation - nearest) < ROTATION_ROUNDING, nearest, rotation)


def rotation_error(matrix: np.ndarray) -> float:
    """Return the largest entry of R R' - 1 of a matrix R (3, 3): 0 for a rotation or a reflection."""
    return float(np.abs(product(matrix, matrix.T) - np.eye(3)).max())


def nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    """Return the rotation (3, 3) nearest to a matrix (3, 3) that is one to about 1e-6; a rotation stays as it is.

    Newton's iteration for the orthogonal polar factor (Higham 1986): each of three steps squares the error.
    """
    steps = 3 if rotation_error(matrix) > ORTHONORMAL else 0
    for _ in range(steps):
        matrix = 0.5 * product(matrix, 3.0 * np.eye(3) - product(matrix.T, matrix))
    return exact(matrix)


def unit(vector) -> np.ndarray:
    """Return the unit vector (3,) along one (3,) of at least ``SHORTEST_AXIS``; a unit vector stays as it is."""
    length = math.hypot(*vector)
    return np.array(vector, float) / (1.0 if abs(length - 1.0) < ROTATION_ROUNDING else length)
