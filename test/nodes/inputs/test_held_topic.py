"""Who does not listen where the torque_controller says that it holds the arm."""

import pytest
from std_msgs.msg import Header

from robot_dynamics_ros.nodes.inputs.held_topic import QOS, TOPIC, HeldPublisher
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.process.publishers import publishers_of

TORQUE = 'feedforward_torque'


@pytest.fixture
def told(process):
    """What torque_controller publishes, and a node with torques."""
    controller, other = process.node(BaseNode, name='controller'), process.node(BaseNode, name='feedforward_node')
    other.create_publisher(Header, TORQUE, 1)
    return HeldPublisher(controller), controller, other


def test_a_node_whose_torque_is_used_and_that_does_not_listen_is_named(process, told):
    held, controller, other = told
    process.spin_until(lambda: publishers_of(controller, TORQUE), 'the publisher')
    assert held.warnings(publishers_of(controller, TORQUE)) == []  # it may be about to
    (warning,) = held.warnings(publishers_of(controller, TORQUE))
    assert warning.startswith(f'{TOPIC}: /feedforward_node does not listen, and may move the arm')
    other.create_subscription(Header, 'elsewhere/held', print, QOS)  # remapped alone
    assert held.warnings(publishers_of(controller, TORQUE)) == [warning]


def test_one_that_listens_is_not(process, told):
    held, controller, other = told
    other.create_subscription(Header, TOPIC, print, QOS)
    process.spin_until(lambda: publishers_of(controller, TORQUE), 'the publisher')
    assert held.warnings(publishers_of(controller, TORQUE)) == held.warnings(publishers_of(controller, TORQUE)) == []


def test_without_torques_nobody_has_to_listen(told):
    held, *_ = told
    assert held.warnings([]) == held.warnings([]) == []
