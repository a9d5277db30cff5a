"""torque_controller adds a wrench at its frame on request, and names what it refuses."""

import time
from types import SimpleNamespace

from support.nodes import graph as ros
from support.nodes.feedforward import CONTROLLER as NODE
from support.nodes.feedforward import REST, ROBOT, at, command
from support.nodes.impedance import BASE, BENT, LINK, hold, run

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import serialize_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.control.laws.impedance.commanded_wrench import CommandedWrench
from robot_dynamics_ros.nodes.inputs.wrench_input import WrenchInput

STIFFNESS = [20.0, 30.0, 40.0, 300.0, 400.0, 500.0]
LIMITS = {'force_limit': 30.0, 'moment_limit': 3.0, 'wrench_ramp_time': 0.2}
WANTED = np.array([0.0, 2.0, 0.0, 10.0, 0.0, -20.0])
REFUSED = 'wrench refused last'


@pytest.fixture(scope='module')
def graph(file_graph):
    return run(file_graph, STIFFNESS, stiffness=[0.0] * 6, damping=[0.0] * 6, **LIMITS)


@pytest.fixture
def start(graph):
    """Hold the arm; the time of its first state."""
    return hold(graph)


def wrench(numbers, frame='', stamp=0) -> WrenchStamped:
    message = ros.stamped(WrenchStamped(), stamp)
    message.header.frame_id = frame
    for part, values in ((message.wrench.torque, numbers[:3]), (message.wrench.force, numbers[3:])):
        part.x, part.y, part.z = map(float, values)
    return message


class Arm:
    """The arm in states of now, which come while something is waited for."""

    def __init__(self, graph):
        self._graph = graph

    def torque(self):
        """Let one state come; its torque beyond that of gravity."""
        return command(self._graph, self._graph.now(), BENT) - ROBOT.gravity_torque(BENT)

    def until(self, expected, numbers=None, frame=''):
        """Send a wrench, if any, and states until the torque is as expected."""

        def is_reached():
            if numbers is not None:
                self._graph.publish('target_wrench', wrench(numbers, frame))
            return np.allclose(self.torque(), expected, rtol=0.0, atol=1e-6)

        self._graph.repeat_until(lambda: None, is_reached, f'torques of {expected}', 0.0)


@pytest.mark.parametrize('frame', [BASE, LINK])
def test_a_wrench_is_added_at_the_frame_and_ends_with_its_messages(graph, start, frame):
    arm, J = Arm(graph), ROBOT.jacobian(BENT, LINK)
    axes = ROBOT.link_pose(BENT, LINK)[:3, :3] if frame == LINK else np.eye(3)
    expected = J.T @ np.concatenate([axes @ part for part in np.split(WANTED, 2)])
    arm.until(expected, WANTED, frame)
    arm.until(REST)


def test_a_stop_ends_a_wrench_and_so_does_an_activation(graph, start):
    arm = Arm(graph)
    arm.until(ROBOT.jacobian(BENT, LINK).T @ WANTED, WANTED)
    graph.publish('joint_trajectory', JointTrajectory())
    arm.until(REST, WANTED)  # though its messages go on
    told = 'target_wrench: a stop has come; a wrench counts again after 0.25 s without any'
    graph.diagnostics(NODE, lambda status: status.fields[REFUSED] == told)
    time.sleep(0.3)
    arm.until(ROBOT.jacobian(BENT, LINK).T @ WANTED, WANTED)
    graph.reactivate(NODE)
    np.testing.assert_allclose(arm.torque(), REST, atol=1e-6)


def test_a_wrench_that_is_wrong_is_refused_by_name(graph, start):
    for message, reason in (
        (wrench([0.0, 0.0, 0.0, 31.0, 0.0, 0.0]), 'force: 31 N is above force_limit, 30 N'),
        (wrench([0.0, 4.0, 0.0, 0.0, 0.0, 0.0]), 'moment: 4 N m is above moment_limit, 3 N m'),
        (wrench([0.0, np.inf, 0.0, 0.0, 0.0, 0.0]), 'torque.y: inf is not finite'),
        (wrench(WANTED, 'camera'), f"wrench: expected it in the axes of {BASE!r} or {LINK!r}, got frame 'camera'"),
        (wrench(WANTED, stamp=at(start, -5.0)), 'its stamp is '),
    ):
        graph.publish('target_wrench', message)
        graph.diagnostics(NODE, lambda status, why=reason: status.fields[REFUSED].startswith(f'target_wrench: {why}'))
    np.testing.assert_allclose(Arm(graph).torque(), REST, atol=1e-6)


class Node:
    """As much of a node as the input needs, at the time ``now`` (ns) and ``steady`` (s)."""

    active, now, steady, said = True, 1_700_000_000_000_000_000, 5000.0, ''
    resources = SimpleNamespace(callback=lambda *_: None)
    destroy_subscription = None

    def create_subscription(self, kind, topic, callback, *_, **__):
        self.receive = callback

    def get_clock(self):
        return SimpleNamespace(ros_time_is_active=False)

    def refuse(self, reason):
        self.said = reason


def test_what_waited_in_a_busy_node_counts_for_what_is_left_of_its_time(monkeypatch):
    node = Node()
    monkeypatch.setattr(time, 'time_ns', lambda: node.now)
    monkeypatch.setattr(time, 'monotonic', lambda: node.steady)
    source = WrenchInput(node, BASE)

    def force(waited, later):
        """Of a message that waited for so many s, after so many s more."""
        commanded = CommandedWrench((3.0, 30.0), (1.0, 1.0), ramp_time=1e-6)
        source.renew(commanded, LINK)
        node.receive(serialize_message(wrench(WANTED)), {'received_timestamp': at(node.now, -waited)})
        commanded.elapse(1.0, node.steady + later)
        return commanded.now[0, 5]

    assert force(0.0, 0.24) == force(0.2, 0.04) == WANTED[5]
    assert source.report()['wrenches taken'] == '2' and source.report()['wrenches refused'] == '0'
    assert force(0.0, 0.26) == force(0.2, 0.06) == 0.0 and not node.said
    assert force(0.3, 0.0) == 0.0
    assert node.said == 'target_wrench: the node was busy for 0.300 s since it came'
    assert source.report()['wrenches refused'] == '1'
    # what came before a stop, and what goes on after it, although the node is activated again
    source.end()
    for later, waited, counts in ((0.0, 0.1, False), (0.2, 0.0, False), (0.4, 0.0, False), (0.66, 0.0, True)):
        node.steady = Node.steady + later
        assert bool(force(waited, 0.0) == WANTED[5]) is counts


def test_other_laws_take_none_and_neither_does_one_without_limits(graph):
    for parameters, reason in (
        ({'control_law': 'pd_gravity'}, 'only control_law cartesian_impedance adds one'),
        ({'force_limit': 0.0}, 'force: 22.36 N is above force_limit, 0 N'),
    ):
        with graph.parameters(NODE, **parameters):
            graph.publish('target_wrench', wrench(WANTED))
            graph.diagnostics(
                NODE, lambda status, why=reason: status.fields[REFUSED].startswith(f'target_wrench: {why}')
            )


def test_two_publishers_are_a_warning(graph, start):
    graph.publish('target_wrench', wrench(WANTED))
    second = rclpy.create_node('second_client', context=graph.node.context)
    try:
        second.create_publisher(WrenchStamped, 'target_wrench', 1)
        graph.tells(NODE, '2 publishers of target_wrench (/second_client, /test_client): the newest wrench counts')
    finally:
        second.destroy_node()
