"""An error that nothing explains: the node says so and is silent, its process and services go on."""

import os

import graph as ros
import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.feedforward_node import FeedforwardNode
from robot_dynamics_ros.nodes.gravity_compensation_node import GravityCompensationNode

NAMES = list(Robot.named('aubo_i5').joint_names)


@pytest.fixture(params=[FeedforwardNode, GravityCompensationNode])
def node(request):
    """An active node whose messages this process hands over, its torques in ``sent``, its diagnostics in ``told``."""
    assert os.environ['ROS_DOMAIN_ID'] == str(ros.DOMAIN)
    rclpy.init()
    made = request.param(namespace='/crash')
    made.start()
    assert made.active
    made.sent, made.told = [], []
    made.publish = made.sent.append
    made._diagnostics.publish = lambda array: made.told.extend(array.status)
    yield made
    made.fall_silent()
    made.destroy_node()
    rclpy.try_shutdown()


def state(node) -> bytes:
    return serialize_message(ros.joint_state(NAMES, node.get_clock().now().nanoseconds, np.zeros(6), np.zeros(6)))


def broken(*arguments):
    raise RuntimeError('a wheel came off')


def test_an_error_on_the_hot_path_silences_the_node_until_it_is_activated_again(node):
    compute, node.compute = node.compute, broken
    node._on_state(state(node))
    assert node.silence == "internal error: RuntimeError('a wheel came off')"
    node.compute = lambda stamp: ''
    node._on_state(state(node))
    assert node.sent == []  # silent although it could go on
    node._publish_diagnostics()
    assert not node.active
    (status,) = node.told
    assert (status.level, status.message) == (DiagnosticStatus.ERROR, node.crash)
    node.trigger_activate()
    node._on_state(state(node))
    assert len(node.sent) == 1
    assert node.crash == ''
    node.compute = compute


@pytest.mark.parametrize('node', [FeedforwardNode], indirect=True)
def test_an_error_in_another_callback_silences_it_too(node):
    node.trajectory.receive = broken
    callback = node._trajectory_subscription.callback
    callback(JointTrajectory())
    assert 'a wheel came off' in node.crash
    node._publish_diagnostics()
    assert not node.active
