"""A velocity of a frame, or a wrench at it, is read from its bytes as rclpy reads them, in two axes alone."""

import numpy as np
import pytest
from geometry_msgs.msg import TwistStamped, WrenchStamped
from rclpy.serialization import deserialize_message, serialize_message

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages.spatial_vector import SpatialVector

MESSAGES = {'twist': (TwistStamped, 'angular', 'linear'), 'wrench': (WrenchStamped, 'torque', 'force')}
pytestmark = pytest.mark.parametrize('name', MESSAGES)


def parts_of(name, message):
    """Return rotation and translation of a message."""
    return [getattr(getattr(message, name), part) for part in MESSAGES[name][1:]]


def message(name, numbers=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), frame=''):
    found = MESSAGES[name][0]()
    found.header.frame_id, found.header.stamp.sec, found.header.stamp.nanosec = frame, 12, 34
    for part, values in zip(parts_of(name, found), (numbers[:3], numbers[3:]), strict=True):
        part.x, part.y, part.z = values
    return found


@pytest.mark.parametrize(('frame', 'is_local'), [('', False), ('base', False), ('tool', True)])
def test_rotation_comes_first_and_the_frame_is_that_of_the_axes(name, frame, is_local):
    found = SpatialVector.read(name, 'base', 'tool', serialize_message(message(name, frame=frame)))
    assert found.stamp == 12_000_000_034 and found.is_local == is_local
    assert found.vector.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_a_frame_that_is_the_base_has_the_same_axes(name):
    assert not SpatialVector.read(name, 'base', 'base', serialize_message(message(name, frame='base'))).is_local


def test_another_frame_and_numbers_that_are_none_are_refused_by_name(name):
    with pytest.raises(
        ArgumentError, match=rf"^{name}: expected it in the axes of 'base' or 'tool', got frame 'camera'"
    ):
        SpatialVector.read(name, 'base', 'tool', serialize_message(message(name, frame='camera')))
    for wrong in (np.nan, np.inf):
        with pytest.raises(ArgumentError, match=rf'^{MESSAGES[name][1]}\.z: {wrong} is not finite'):
            SpatialVector.read(name, 'base', 'tool', serialize_message(message(name, (1.0, 2.0, wrong, 4.0, 5.0, 6.0))))


@pytest.mark.parametrize('seed', range(10))
def test_changed_bytes_are_refused_or_read_as_rclpy_reads_them(name, seed):
    random = np.random.default_rng(seed)
    for _ in range(50):
        data = bytearray(serialize_message(message(name, frame='base')))
        for place in random.integers(4, len(data), random.integers(1, 4)):
            data[place] = random.integers(256)
        try:
            found = SpatialVector.read(name, 'base', 'tool', bytes(data))
        except ArgumentError:
            continue
        parts = parts_of(name, deserialize_message(bytes(data), MESSAGES[name][0]))
        expected = [getattr(part, axis) for part in parts for axis in 'xyz']
        assert found.vector.tolist() == expected


def test_bytes_of_something_else_are_refused(name):
    data = serialize_message(message(name))
    for wrong in (b'', data[:20], data[:-9], b'\0\0' + data[2:]):
        with pytest.raises(ArgumentError, match=f'^not a {MESSAGES[name][0].__name__}'):
            SpatialVector.read(name, 'base', 'tool', wrong)
