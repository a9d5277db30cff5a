"""The stiffness of a frame is read from its bytes as rclpy reads them, in the stated axes alone."""

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message, serialize_message

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.target_stiffness import read_stiffness


def message(numbers=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), frame='tool') -> WrenchStamped:
    found = WrenchStamped()
    found.header.frame_id = frame
    for part, values in ((found.wrench.torque, numbers[:3]), (found.wrench.force, numbers[3:])):
        part.x, part.y, part.z = values
    return found


@pytest.mark.parametrize('frame', ['', 'tool'])
def test_torque_is_rotational_and_comes_first(frame):
    assert read_stiffness(serialize_message(message(frame=frame)), 'tool').tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_another_frame_and_numbers_that_are_none_are_refused_by_name():
    with pytest.raises(ArgumentError, match=r"^stiffness: expected it in the axes of 'base', got frame 'tool'"):
        read_stiffness(serialize_message(message()), 'base')
    for wrong in (np.nan, np.inf):
        with pytest.raises(ArgumentError, match=rf'^force\.z: {wrong} is not finite'):
            read_stiffness(serialize_message(message((1.0, 2.0, 3.0, 4.0, 5.0, wrong))), 'tool')


@pytest.mark.parametrize('seed', range(10))
def test_changed_bytes_are_refused_or_read_as_rclpy_reads_them(seed):
    random = np.random.default_rng(seed)
    for _ in range(50):
        data = bytearray(serialize_message(message()))
        for place in random.integers(4, len(data), random.integers(1, 4)):
            data[place] = random.integers(256)
        try:
            found = read_stiffness(bytes(data), 'tool')
        except ArgumentError:
            continue
        wrench = deserialize_message(bytes(data), WrenchStamped).wrench
        expected = [getattr(part, axis) for part in (wrench.torque, wrench.force) for axis in 'xyz']
        assert found.tolist() == expected


def test_bytes_of_something_else_are_refused():
    data = serialize_message(message())
    for wrong in (b'', data[:20], data[:-9], b'\0\0' + data[2:]):
        with pytest.raises(ArgumentError, match=r'^not a WrenchStamped'):
            read_stiffness(wrong, 'tool')
