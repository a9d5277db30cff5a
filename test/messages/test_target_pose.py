"""Poses are read from their bytes as rclpy reads them, in the base link alone."""

from support.robots.small_robots import AUBO

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from rclpy.serialization import deserialize_message, serialize_message
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.target_pose import TargetPose

BASE = AUBO.link_names[0]


def message(position=(0.1, -0.2, 0.3), quaternion=(0.0, 0.0, 0.0, 1.0), frame='') -> PoseStamped:
    found = PoseStamped()
    found.header.frame_id, found.header.stamp.sec, found.header.stamp.nanosec = frame, 12, 34
    place, attitude = found.pose.position, found.pose.orientation
    place.x, place.y, place.z = position
    attitude.x, attitude.y, attitude.z, attitude.w = quaternion
    return found


@pytest.mark.parametrize('frame', ['', BASE])
def test_a_pose_is_that_of_its_numbers(frame):
    for seed in range(5):
        rotation = Rotation.from_rotvec(np.random.default_rng(seed).uniform(-1.5, 1.5, 3))
        position = np.random.default_rng(seed).uniform(-1.0, 1.0, 3)
        found = TargetPose.read(AUBO, serialize_message(message(position, rotation.as_quat(), frame)))
        assert found.stamp == 12_000_000_034 and found.pose[:3, 3].tolist() == position.tolist()
        np.testing.assert_allclose(found.pose[:3, :3], rotation.as_matrix(), rtol=0.0, atol=1e-14)
        assert found.pose[3].tolist() == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ('changed', 'reason'),
    [
        ({'frame': 'camera'}, f"^pose: expected it in the base link '{BASE}', got frame 'camera'"),
        ({'position': (0.0, np.nan, 0.0)}, r'^position\[1\]: nan is not finite'),
        ({'quaternion': (0.0, 0.0, 0.0, np.inf)}, r'^orientation\[3\]: inf is not finite'),
        ({'quaternion': (0.0, 0.0, 0.0, 0.0)}, r'^orientation\[0:4\]: expected a quaternion of length 1, got one of 0'),
        ({'quaternion': (0.0, 0.0, 1.0, 1.0)}, r'^orientation\[0:4\]: expected a quaternion of length 1'),
    ],
)
def test_a_pose_that_is_none_is_refused_by_name(changed, reason):
    with pytest.raises(ArgumentError, match=reason):
        TargetPose.read(AUBO, serialize_message(message(**changed)))


@pytest.mark.parametrize('seed', range(30))
def test_changed_bytes_are_refused_or_read_as_rclpy_reads_them(seed):
    random = np.random.default_rng(seed)
    for _ in range(50):
        data = bytearray(serialize_message(message(frame=BASE)))
        for place in random.integers(4, len(data), random.integers(1, 4)):
            data[place] = random.integers(256)
        try:
            found = TargetPose.read(AUBO, bytes(data))
        except ArgumentError:
            continue
        place = deserialize_message(bytes(data), PoseStamped).pose.position
        assert found.pose[:3, 3].tolist() == [place.x, place.y, place.z]


def test_bytes_of_something_else_are_refused():
    data = serialize_message(message(frame=BASE))
    for wrong in (b'', data[:20], data[:-9], b'\0\0' + data[2:]):
        with pytest.raises(ArgumentError, match=r'^not a PoseStamped'):
            TargetPose.read(AUBO, wrong)
