"""Laws of a torque node follow payload and gravity, whichever thread changes them."""

from support import graph as ros

import numpy as np
import pytest
import rclpy

from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_ros.control.payload_blending import GravityTorque
from robot_dynamics_ros.messages.stamps import set_nanoseconds
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode

SECOND = 1_000_000_000


@pytest.fixture
def arm():
    """The ControlledArm of a configured node."""
    context = rclpy.Context()
    context.init(args=ros.AUBO_I5)
    node = GravityCompensationNode(context=context)
    node.get_logger().set_level(rclpy.logging.LoggingSeverity.FATAL)
    node.trigger_configure()
    yield node.task.arm
    node.destroy_node()
    context.try_shutdown()


def test_a_law_follows_a_clock_that_was_set_back_while_the_law_was_made(arm):
    now = arm.payload_gravity._node.get_clock().now().nanoseconds
    message = PayloadState(mass=2.0, frame='ee_link', ramp_time=1.0)
    set_nanoseconds(message.stamp, now)
    arm.payload_gravity._receive('payload_state', message)
    after = now - 300 * SECOND
    times = iter([(now + 2 * SECOND, after)])

    def make(robot):
        for before, then in times:  # once
            arm.payload_gravity.clock_set_back(before, then)
        return GravityTorque(robot)

    blender = arm.blended(make)
    assert arm.payload_gravity.current.payload.finished(after)
    q = np.full(arm.robot.nv, 0.5)
    found, expected = np.zeros((2, arm.robot.nv))
    blender.torque(after, q, out=found)
    arm.gravity.torque(after, q, out=expected)
    assert np.abs(expected - arm.robot.gravity_torque(q)).max() > 1.0
    np.testing.assert_array_equal(found, expected)
