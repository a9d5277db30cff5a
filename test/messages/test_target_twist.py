"""The velocity of a frame is read from its bytes as rclpy reads them, in the axes of base or frame alone."""

import numpy as np
import pytest
from geometry_msgs.msg import TwistStamped
from rclpy.serialization import deserialize_message, serialize_message

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.target_twist import TargetTwist


def message(numbers=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), frame='') -> TwistStamped:
    found = TwistStamped()
    found.header.frame_id, found.header.stamp.sec, found.header.stamp.nanosec = frame, 12, 34
    for part, values in ((found.twist.angular, numbers[:3]), (found.twist.linear, numbers[3:])):
        part.x, part.y, part.z = values
    return found


@pytest.mark.parametrize(('frame', 'is_local'), [('', False), ('base', False), ('tool', True)])
def test_angular_comes_first_and_the_frame_is_that_of_the_axes(frame, is_local):
    found = TargetTwist.read('base', 'tool', serialize_message(message(frame=frame)))
    assert found.stamp == 12_000_000_034 and found.is_local == is_local
    assert found.twist.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_a_frame_that_is_the_base_has_the_same_axes():
    assert not TargetTwist.read('base', 'base', serialize_message(message(frame='base'))).is_local


def test_another_frame_and_numbers_that_are_none_are_refused_by_name():
    with pytest.raises(ArgumentError, match=r"^twist: expected it in the axes of 'base' or 'tool', got frame 'camera'"):
        TargetTwist.read('base', 'tool', serialize_message(message(frame='camera')))
    for wrong in (np.nan, np.inf):
        with pytest.raises(ArgumentError, match=rf'^twist\[[0-5]\]: {wrong} is not finite'):
            TargetTwist.read('base', 'tool', serialize_message(message((1.0, 2.0, wrong, 4.0, 5.0, 6.0))))


@pytest.mark.parametrize('seed', range(10))
def test_changed_bytes_are_refused_or_read_as_rclpy_reads_them(seed):
    random = np.random.default_rng(seed)
    for _ in range(50):
        data = bytearray(serialize_message(message(frame='base')))
        for place in random.integers(4, len(data), random.integers(1, 4)):
            data[place] = random.integers(256)
        try:
            found = TargetTwist.read('base', 'tool', bytes(data))
        except ArgumentError:
            continue
        twist = deserialize_message(bytes(data), TwistStamped).twist
        expected = [getattr(part, axis) for part in (twist.angular, twist.linear) for axis in 'xyz']
        assert found.twist.tolist() == expected


def test_bytes_of_something_else_are_refused():
    data = serialize_message(message())
    for wrong in (b'', data[:20], data[:-9], b'\0\0' + data[2:]):
        with pytest.raises(ArgumentError, match=r'^not a TwistStamped'):
            TargetTwist.read('base', 'tool', wrong)
