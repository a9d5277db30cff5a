"""A robot described on a topic: the node waits for it, switches to another one, and goes on without a good one."""

from support.nodes import graph as ros
from support.robots.small_robots import pendulum

import numpy as np
import pytest
from lifecycle_msgs.msg import State, Transition
from rclpy.duration import Duration
from rclpy.logging import LoggingSeverity
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.nodes.executables.bringup import NODES

NODE = 'gravity_compensation_node'
ARGUMENTS = ('-p', 'description_topic:=robot_description', '-p', 'age_limit:=10.0')


@pytest.fixture
def graph(alone):
    return alone


@pytest.fixture
def waiting(file_graph):
    """The graph with the node, which may have the robot of an earlier test or none."""
    if NODE not in file_graph.processes._running:
        file_graph.start(NODE, arguments=ARGUMENTS, active=False)
    return file_graph


@pytest.fixture
def describe(file_graph):
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = file_graph.node.create_publisher(String, 'robot_description', latched)

    def describe(text):
        publisher.publish(String(data=text))
        assert publisher.wait_for_all_acked(Duration(seconds=ros.TIMEOUT))

    yield describe
    file_graph.node.destroy_publisher(publisher)


def carried(graph, mass):
    """Wait until the torque is that of a mass."""
    torques = graph.listen(JointState, 'gravity_torque')

    def send():
        graph.publish('joint_states', ros.joint_state(['swing'], graph.now(), [0.0]))

    def answered():
        return torques and np.isclose(torques[-1].effort[0], mass * 9.81 * 0.5)

    graph.repeat_until(send, answered, f'the torque of {mass} kg', 0.1, ros.START_TIMEOUT)


def test_the_node_waits_for_the_description_and_switches_to_another_one(graph, describe):
    graph.start(NODE, arguments=ARGUMENTS, active=False)
    assert graph.state_of(NODE) == State.PRIMARY_STATE_UNCONFIGURED
    waiting = "waiting for a robot description on topic 'robot_description'"
    (line,) = [line for line in graph.log(NODE).splitlines() if waiting in line]
    assert line.startswith('[INFO]')
    assert '[ERROR]' not in graph.log(NODE)
    describe(pendulum(2.0))
    carried(graph, 2.0)
    describe(pendulum(3.0))
    graph.until(lambda: 'another robot description' in graph.log(NODE), 'the take-over in the log')
    carried(graph, 3.0)
    known = len(graph.log(NODE))
    describe(pendulum(3.0))  # the same again is no news
    assert graph.state_of(NODE) == State.PRIMARY_STATE_ACTIVE  # answered after what was there before the request
    carried(graph, 3.0)
    assert 'another robot description' not in graph.log(NODE)[known:]


@pytest.mark.parametrize(
    ('text', 'reason'),
    [
        (pendulum(-3.0), "link 'arm'"),
        (pendulum(2.5, effort=0.0), "joint 'swing': no effort limit is known"),
        ('no URDF', 'expected the text of a URDF'),
        ('', "topic 'robot_description': expected the text of a URDF, got ''"),
        (str(named_urdf('aubo_i5')), 'expected the text of a URDF'),
    ],
    ids=['impossible', 'refused by the node', 'text', 'nothing', 'path'],
)
def test_a_description_that_is_refused_changes_nothing_and_is_a_warning_until_the_next(waiting, describe, text, reason):
    describe(pendulum(2.0))
    carried(waiting, 2.0)
    describe(text)
    for part in ('robot description refused, the robot before stays: ', reason):
        waiting.tells(NODE, part)
    assert waiting.state_of(NODE) == State.PRIMARY_STATE_ACTIVE
    carried(waiting, 2.0)
    describe(pendulum(2.0))  # the one in force
    waiting.diagnostics(NODE, lambda status: 'refused' not in status.message)
    describe(text)
    waiting.tells(NODE, 'robot description refused')
    describe(pendulum(4.0))
    carried(waiting, 4.0)
    assert 'internal error' not in waiting.log(NODE)
    waiting.diagnostics(NODE, lambda status: 'refused' not in status.message)


def test_an_inactive_node_stays_inactive(graph, describe):
    graph.start(NODE, arguments=('-p', 'description_topic:=robot_description', '-p', 'autostart:=false'), active=False)
    describe(pendulum(2.0))
    graph.until(lambda: graph.node.count_subscribers('robot_description'), 'a subscriber')
    assert graph.state_of(NODE) == State.PRIMARY_STATE_UNCONFIGURED


@pytest.mark.parametrize('how', ['deactivated', 'cleaned up'])
def test_a_node_taken_out_of_service_stays_out_whatever_descriptions_come(graph, describe, how):
    graph.start(NODE, arguments=ARGUMENTS, active=False)
    describe(pendulum(2.0))
    carried(graph, 2.0)
    torques = graph.listen(JointState, 'gravity_torque')
    graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
    torques.clear()
    if how == 'cleaned up':
        graph.client.change_state(NODE, Transition.TRANSITION_CLEANUP)
    describe(pendulum(-3.0))
    if how == 'deactivated':
        graph.until(lambda: "link 'arm'" in graph.log(NODE), 'the reason in the log')
    expected = State.PRIMARY_STATE_INACTIVE if how == 'deactivated' else State.PRIMARY_STATE_UNCONFIGURED
    assert graph.state_of(NODE) == expected
    known = len(graph.log(NODE))
    describe(pendulum(4.0))
    if how == 'deactivated':
        graph.until(lambda: 'another robot description' in graph.log(NODE)[known:], 'the change in the log')
    graph.client.spin_while_waiting(lambda: False, 0.5)
    assert torques == [] and graph.state_of(NODE) == expected


@pytest.mark.parametrize('name', sorted(NODES))
def test_no_node_has_a_default_robot(file_graph, name):
    node = NODES[name](namespace='without_a_robot', use_global_arguments=False)
    node.get_logger().set_level(LoggingSeverity.FATAL)
    try:
        node.trigger_configure()
        said = node.silence
    finally:
        node.destroy_node()
    assert said.startswith('not configured: no robot: set the parameter model')
    assert 'robot_description' in said
    assert 'description_topic' in said
