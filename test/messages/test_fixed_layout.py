"""Messages of a fixed layout: what is written at the offsets is what rclpy reads."""

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message

from robot_dynamics_interfaces.msg import Contact
from robot_dynamics_ros.messages.fixed_layout import FixedLayout

STAMP = 1_795_000_000_123_456_789


@pytest.mark.parametrize('frame', ['', 'b', 'world', 'a longer frame'])
def test_a_wrench_is_read_as_it_was_written(frame):
    message = WrenchStamped()
    message.header.frame_id = frame
    layout = FixedLayout(message)
    views = [
        layout.view(part, axis, np.float64) for part in (message.wrench.force, message.wrench.torque) for axis in 'xyz'
    ]
    for k, view in enumerate(views):
        view[0] = k + 0.5
    layout.set_stamp(STAMP)
    found = deserialize_message(bytes(layout), WrenchStamped)
    assert (found.header.stamp.sec, found.header.stamp.nanosec) == divmod(STAMP, 1_000_000_000)
    force, torque = found.wrench.force, found.wrench.torque
    assert [force.x, force.y, force.z, torque.x, torque.y, torque.z] == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert found.header.frame_id == frame


@pytest.mark.parametrize('names', [['a'], ['a', 'élan', ''], ['joint_with_a_long_name'] * 7])
def test_numbers_of_all_kinds_are_found_beside_padding(names):
    rest = [0.0] * len(names)
    message = Contact(joint_names=names, external_torque=rest, threshold=rest)
    layout = FixedLayout(message)
    kinds = {'contact': np.bool_, 'calibrated': np.bool_, 'joint': np.uint32, 'ratio': np.float64}
    kinds |= {'external_torque': np.float64, 'threshold': np.float64}
    views = {field: layout.view(message, field, kind) for field, kind in kinds.items()}
    views['calibrated'][0], views['joint'][0], views['ratio'][0] = True, 3, -0.25
    views['external_torque'][:] = np.arange(len(names)) + 0.5
    views['threshold'][:] = np.inf
    found = deserialize_message(bytes(layout), Contact)
    assert (found.contact, found.calibrated, found.joint, found.ratio) == (False, True, 3, -0.25)
    assert list(found.joint_names) == names
    assert list(found.external_torque) == [k + 0.5 for k in range(len(names))]
    assert list(found.threshold) == [np.inf] * len(names)
