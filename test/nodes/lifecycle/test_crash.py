"""Unexpected errors: the node reports them and stops publishing, its process and services continue."""

import os
import subprocess
import sys
import time
from pathlib import Path

from support.nodes import graph as ros
from support.nodes.failing_node import LIMIT

import numpy as np
import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import State, Transition
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robot_dynamics_interfaces.srv import GetMassMatrix
from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.laws.gravity_law import GravityLaw
from robot_dynamics_ros.nodes.executables.feedforward_node import FeedforwardNode
from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode

FAILING = 'gravity_compensation_node'
NAMES = list(Robot.named('aubo_i5').joint_names)


@pytest.fixture(params=[FeedforwardNode, GravityCompensationNode])
def node(request):
    """An active node whose messages this process hands over, its torques in ``sent``, its diagnostics in ``told``."""
    assert os.environ['ROS_DOMAIN_ID'] == str(ros.DOMAIN)
    rclpy.init(args=ros.AUBO_I5)
    made = request.param(namespace='/crash')
    made.start()
    assert made.active
    made.sent, made.told = [], []
    made.task.pipeline._publish = lambda stamp, torque, answered: made.sent.append(torque.copy())
    made.task.arm.payload_gravity.missing = ''  # nobody spins this node until payload and gravity are known
    made.diagnostics.publisher.publish = lambda array: made.told.extend(array.status)
    yield made
    made.fall_silent()
    made.destroy_node()
    rclpy.try_shutdown()


def spin_until_inactive(node):
    for _ in range(100):
        if not node.active:
            return
        rclpy.spin_once(node, timeout_sec=0.1)
    raise AssertionError('expected the node to be deactivated, it is still active')


def state(node) -> bytes:
    return serialize_message(ros.joint_state(NAMES, node.get_clock().now().nanoseconds, np.zeros(6), np.zeros(6)))


class Broken(GravityLaw):
    """A law that fails."""

    def __init__(self):
        """Need nothing."""

    def torque(self, state, out):
        raise RuntimeError('a wheel came off')


def broken(*arguments):
    raise RuntimeError('a wheel came off')


def test_an_error_on_the_hot_path_silences_the_node_until_it_is_activated_again(node):
    law, node.task.pipeline.law = node.task.pipeline.law, Broken()
    node.task.pipeline.on_state(state(node))
    assert node.silence == "internal error: RuntimeError('a wheel came off')"
    node.task.pipeline.law = law
    node.task.pipeline.on_state(state(node))
    assert node.sent == []  # silent although it could go on
    node.diagnostics.timer.cancel()  # the node does not wait for it
    spin_until_inactive(node)
    node.diagnostics.publish()
    (status,) = node.told
    assert (status.level, status.message) == (DiagnosticStatus.ERROR, node.crash)
    node.trigger_activate()
    node.task.arm.payload_gravity.missing = ''
    node.task.pipeline.law = GravityLaw(node.task.arm.gravity)
    node.task.pipeline.on_state(state(node))
    assert len(node.sent) == 1
    assert node.crash == ''


def test_a_node_activated_before_the_executor_handles_the_error_stays_active(node):
    node.task.pipeline.law = Broken()
    node.task.pipeline.on_state(state(node))
    node.trigger_deactivate()
    node.trigger_activate()
    for _ in range(10):
        rclpy.spin_once(node, timeout_sec=0.05)
    assert node.active and node.crash == ''


@pytest.mark.parametrize('node', [FeedforwardNode], indirect=True)
def test_an_error_in_another_callback_silences_it_too(node):
    node.task.trajectory._receive = broken
    info = {'source_timestamp': 0, 'received_timestamp': 0}
    node.task.trajectory._queue.on_message(serialize_message(ros.trajectory(NAMES, 0, (0.0, np.zeros(6)))), info)
    deadline = time.monotonic() + ros.TIMEOUT
    while not node.crash:  # in a thread of its own
        assert time.monotonic() < deadline
        time.sleep(0.001)
    assert 'a wheel came off' in node.crash
    node.diagnostics.timer.cancel()
    spin_until_inactive(node)


def test_an_error_in_a_transition_leaves_it_unconfigured_and_ready_to_begin_again(node):
    node.trigger_deactivate()
    node.task._hot_path.start = broken
    assert node.trigger_activate() == TransitionCallbackReturn.ERROR
    assert (node.active, node.robot) == (False, None)
    assert node.silence == 'not configured: internal error in a transition from inactive'
    assert node.count_subscribers('/crash/joint_states') == 0
    node.start()
    assert node.active
    assert node.count_subscribers('/crash/joint_states') == 1


@pytest.fixture
def graph(tmp_path):
    """A process with a node that fails and a server."""
    with ros.Graph(tmp_path) as running, (tmp_path / 'failing_node.log').open('wb') as log:
        script = Path(ros.__file__).with_name('failing_node.py')
        running.processes._running['failing_node'] = subprocess.Popen(
            [sys.executable, str(script), *ros.AUBO_I5, '-p', 'age_limit:=10.0'],
            env={**os.environ, 'PYTHONPATH': str(ros.TREE)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        for node in (FAILING, 'dynamics_server'):
            running.client.wait_until_active(node)
        yield running


def test_a_process_survives_the_failure_of_one_of_its_nodes(graph):
    def send(stamp, first=0.0):
        graph.publish('joint_states', ros.joint_state(NAMES, stamp, [first, *[0.0] * 5]))

    def answer():
        torques = graph.listen(JointState, 'gravity_torque')
        return graph.answer(send, torques, graph.now())

    answer()
    send(graph.now(), LIMIT + 0.1)
    told = graph.diagnostics(FAILING, lambda status: status.level == DiagnosticStatus.ERROR)
    assert told.message == "internal error: RuntimeError('a wheel came off')"
    assert graph.state_of(FAILING) == State.PRIMARY_STATE_INACTIVE
    torques = graph.listen(JointState, 'gravity_torque')
    request = GetMassMatrix.Request(positions=[0.0] * 6)
    for _ in range(5):
        send(graph.now())
        assert graph.client.call(GetMassMatrix, 'dynamics_server/get_mass_matrix', request).success
    assert graph.client.call(Trigger, f'{FAILING}/reset', Trigger.Request()).success
    assert graph.diagnostics(FAILING).level == DiagnosticStatus.ERROR
    assert torques == []
    graph.client.change_state(FAILING, Transition.TRANSITION_ACTIVATE)
    answer()
    assert graph.diagnostics(FAILING).level == DiagnosticStatus.OK
