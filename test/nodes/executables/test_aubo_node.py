"""aubo_node beside dynamics_server, in one process, and an emulated controller with an arm that carries a payload."""

import time

from support.aubo.aubo_controller import PAYLOAD, TEMPERATURES, Arm, AuboController
from support.aubo.aubo_measurement import Received, figures
from support.nodes import graph as ros

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import Transition
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.msg import ControllerInfo, JointTemperatures, PayloadState
from robot_dynamics_interfaces.srv import SetPayload
from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.nodes.executables.aubo_node import AuboNode
from robot_dynamics_ros.nodes.tasks.aubo_states import SteadyToRos

NODE, SERVER = 'aubo_node', 'dynamics_server'
TIMEOUT = 4.0
"""s, longer than a busy machine delays a sample by: none may be lost."""
NAMES = list(Robot.named('aubo_i5').joint_names)


@pytest.fixture(scope='module')
def controller():
    with AuboController(Arm()) as running:
        yield running


@pytest.fixture(scope='module')
def graph(file_graph, controller):
    given = {'rtde_port': controller.rtde_port, 'rpc_port': controller.rpc_port, 'controller_timeout': TIMEOUT}
    words = [word for name, value in given.items() for word in ('-p', f'{name}:={value}')]
    file_graph.bring_up(NODE, SERVER, arguments=words)
    return file_graph


@pytest.fixture
def states(graph):
    """States since now, of a node that is publishing."""
    messages = graph.listen(JointState, 'joint_states')
    graph.until(lambda: len(messages) > 3, 'states')
    return messages


def test_every_sample_is_published_with_the_measured_torque_and_the_time_when_it_was_taken(graph, controller):
    received = []

    def on_state(message):
        received.append((Received.of(message), message))

    subscription = graph.node.create_subscription(JointState, 'joint_states', on_state, 1000)
    graph.until(lambda: len(received) >= 300, 'states')
    graph.node.destroy_subscription(subscription)
    found = figures(list(controller.sent), [state for state, _ in received])
    assert (found.lost, found.sent) == (0, len(received))
    # a bound for a busy machine; scripts/aubo_soak has those of an idle one
    assert abs(np.median(found.stamp_error)) < 20.0
    message = received[-1][1]
    assert list(message.name) == NAMES
    assert message.header.frame_id == 'base_link'
    arm = controller.arm
    (row,) = np.flatnonzero((arm.q == message.position).all(1))
    np.testing.assert_array_equal(message.velocity, arm.qd[row])
    np.testing.assert_array_equal(message.effort, arm.torque[row])


def test_temperatures_and_what_the_efforts_are(graph):
    info = graph.hear_latched(ControllerInfo, f'{NODE}/info')[-1]
    assert (list(info.joint_names), info.effort_source, list(info.torque_constants)) == (NAMES, 'joint_torque', [])
    assert list(info.missing) == []
    temperatures = graph.listen(JointTemperatures, 'joint_temperatures')
    graph.until(lambda: temperatures, 'temperatures')
    assert (list(temperatures[0].joint_names), list(temperatures[0].temperatures)) == (NAMES, TEMPERATURES)
    assert abs(ros.nanoseconds(temperatures[0].header.stamp) - graph.now()) < 60 * ros.SECOND


def test_a_payload_that_only_the_controller_has_is_a_warning_until_the_server_follows(graph, controller):
    said = 'the payload set on the controller has 1.5 kg, that of the nodes 0 kg'
    also = 'the gravity torque of the controller differs'
    status = graph.diagnostics(NODE, lambda status: said in status.message and also in status.message)
    assert status.level == DiagnosticStatus.WARN
    status = graph.diagnostics(NODE)
    assert status.fields['controller'] == 'aubo_i5H, software 0.31.0-emulated'
    assert (status.fields['controller payload, kg'], status.fields['payload, kg']) == ('1.5', '0')
    request = SetPayload.Request(mass=PAYLOAD.mass, com=PAYLOAD.com, frame='foreArm_Link')
    assert graph.client.call(SetPayload, f'{SERVER}/set_payload', request).success
    elsewhere = "the payload of the nodes is on 'foreArm_Link', which is not fixed to 'wrist3_Link'"
    graph.diagnostics(NODE, lambda status: elsewhere in status.message)
    graph.client.set_parameter(NODE, 'payload_source', 'controller')
    status = graph.diagnostics(NODE, lambda status: status.level == DiagnosticStatus.OK)
    assert status.message == 'publishing'
    set_there = graph.hear_latched(PayloadState, 'payload_state')[-1]
    assert (set_there.mass, list(set_there.com), set_there.frame) == (1.5, list(PAYLOAD.com), 'wrist3_Link')

    def close(status):
        parts = np.array(status.fields['gravity torque difference, N m'].split(), float)
        return parts.size and np.abs(parts).max() <= 0.01

    graph.diagnostics(NODE, close)  # the torque of the controller is that of the model, up to two printed decimals
    graph.client.set_parameter(NODE, 'payload_source', 'dynamics_server')
    assert not any('.set' in method for method in controller.asked)


def test_a_request_that_was_refused_is_made_again_and_an_inertia_alone_is_followed(graph, controller, monkeypatch):
    graph.client.set_parameter(SERVER, 'payload_limit', 1.0)
    monkeypatch.setattr(controller, 'payload', Payload(1.2, (0.0, 0.0, 0.05), 0.01 * np.eye(3)))
    graph.client.set_parameter(NODE, 'payload_source', 'controller')
    graph.diagnostics(NODE, lambda status: '1.2 kg is above the parameter payload_limit, 1 kg' in status.message)
    graph.client.set_parameter(SERVER, 'payload_limit', 0.0)
    graph.diagnostics(NODE, lambda status: status.fields['payload, kg'] == '1.2' and 'follow' not in status.message)
    monkeypatch.setattr(controller, 'payload', Payload(1.2, (0.0, 0.0, 0.05), 0.02 * np.eye(3)))
    states = graph.listen(PayloadState, 'payload_state')
    graph.until(lambda: states and states[-1].inertia[0] == 0.02, 'the inertia')
    graph.client.set_parameter(NODE, 'payload_source', 'dynamics_server')
    monkeypatch.undo()
    graph.diagnostics(NODE, lambda status: 'follow' not in status.message)


def test_another_publisher_of_joint_states_is_a_warning(graph):
    other = graph.node.create_publisher(JointState, 'joint_states', 1)
    named = '2 publishers of joint_states (/aubo_node, /test_client): where two have'
    graph.diagnostics(NODE, lambda status: named in status.message)
    graph.node.destroy_publisher(other)
    graph.diagnostics(NODE, lambda status: 'publishers of joint_states' not in status.message)


def test_gravity_of_another_mounting_is_a_warning_until_the_server_follows(graph, controller, monkeypatch):
    monkeypatch.setattr(controller, 'gravity', [0.0, 0.0, 9.81])
    graph.diagnostics(NODE, lambda status: '0 0 9.81 m/s^2, that of the nodes 0 0 -9.81' in status.message)
    graph.diagnostics(NODE, lambda status: 'mounting pose' in status.message)
    graph.client.set_parameter(NODE, 'gravity_source', 'controller')
    refused = (
        'dynamics_server/set_gravity does not follow the controller: the mounting pose set on the controller means'
    )
    status = graph.diagnostics(NODE, lambda status: refused in status.message)
    assert status.fields['gravity, m/s^2'] == '0 0 -9.81'
    monkeypatch.setattr(controller, 'mounting', [0.0, 0.0, 1.0, np.pi, 0.0, 0.0])
    graph.diagnostics(
        NODE, lambda status: status.fields['gravity, m/s^2'] == '0 0 9.81' and 'mounting' not in status.message
    )
    monkeypatch.undo()
    graph.diagnostics(NODE, lambda status: status.fields['gravity, m/s^2'] == '0 0 -9.81')
    graph.client.set_parameter(NODE, 'gravity_source', 'dynamics_server')


def test_modes_are_on_the_diagnostics(graph, controller, monkeypatch):
    monkeypatch.setattr(controller, 'safety_mode', 'ProtectiveStop')
    monkeypatch.setattr(controller, 'robot_mode', 'Idle')
    monkeypatch.setattr(controller, 'simulated', True)
    graph.diagnostics(NODE, lambda status: 'safety mode ProtectiveStop' in status.message)
    status = graph.diagnostics(NODE, lambda status: 'the controller simulates its arm' in status.message)
    assert status.level == DiagnosticStatus.WARN
    assert (status.fields['robot mode'], status.fields['safety mode']) == ('Idle', 'ProtectiveStop')


def test_a_refused_question_is_said_and_the_states_go_on(graph, controller, states, monkeypatch):
    monkeypatch.setattr(controller, 'refuses', 'RobotConfig.getPayload')
    said = 'settings of the controller: rob1.RobotConfig.getPayload: refused by the controller: not logged in'
    graph.diagnostics(NODE, lambda status: said in status.message and status.fields['controller payload, kg'] == '')
    count = len(states)
    graph.until(lambda: len(states) > count, 'more states')


@pytest.mark.parametrize(
    ('fault', 'said'), [('silent', f'no valid sample for {TIMEOUT:g} s'), ('nan', "'foreArm_joint' is not finite")]
)
def test_without_valid_samples_there_are_no_states(graph, controller, states, monkeypatch, fault, said):
    monkeypatch.setattr(controller, 'fault', fault)
    # fields and message are read one after the other
    status = graph.diagnostics(NODE, lambda status: said in status.message and status.fields['safety mode'] == '')
    assert status.level == DiagnosticStatus.WARN
    states.clear()
    graph.diagnostics(NODE, lambda status: said in status.message)
    assert not states
    monkeypatch.undo()
    graph.until(lambda: states, 'states again')


def test_a_controller_that_restarts(graph, controller, states):
    connections = int(graph.diagnostics(NODE).fields['connections'])
    controller.stop()
    graph.diagnostics(NODE, lambda status: 'no connection to 127.0.0.1:' in status.message)
    states.clear()
    controller.start()
    graph.until(lambda: states, 'states again')
    graph.diagnostics(NODE, lambda status: int(status.fields['connections']) > connections)
    assert min(Received.of(state).stamp for state in states) >= controller.booted - ros.SECOND


def test_an_inactive_node_publishes_nothing_and_another_activation_begins_again(graph, states):
    graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
    graph.diagnostics(NODE, lambda status: status.message == 'not active')
    states.clear()  # what was published before has come
    graph.diagnostics(NODE, lambda status: status.message == 'not active')
    assert not states
    graph.client.change_state(NODE, Transition.TRANSITION_ACTIVATE)
    graph.until(lambda: states, 'states again')


@pytest.mark.parametrize(
    ('name', 'value', 'said'),
    [
        ('robot_ip', ' ', "robot_ip: expected the address of the arm's controller"),
        ('payload_frame', 'nowhere', "'nowhere'"),
        ('use_sim_time', True, 'use_sim_time: expected false, a real arm has no simulated time'),
    ],
)
def test_a_wrong_parameter_is_named_and_the_node_is_not_configured(process, name, value, said):
    node = process.node(AuboNode, parameter_overrides=[Parameter(name, value=value)])
    node.start()
    assert said in node.silence
    assert node.silence.startswith('not configured: ')


class Clocks:
    """A ROS clock that is ahead of the steady one, and reading it may take long."""

    def __init__(self, ahead: int):
        self.ahead, self.pause = ahead, 0.0

    def now(self):
        self.nanoseconds = time.monotonic_ns() + self.ahead
        time.sleep(self.pause)
        return self


def test_steady_times_become_ros_times_and_only_a_clock_that_was_set_changes_that():
    clocks = Clocks(10**18)
    steady_to_ros = SteadyToRos(clocks)
    first = steady_to_ros.ros(0)
    assert abs(first - 10**18) < 10**9
    clocks.pause = 0.05  # the thread is interrupted between the two clocks
    assert steady_to_ros.ros(0) == first
    clocks.pause, clocks.ahead = 0.0, 2 * 10**18
    deadline = time.monotonic() + ros.TIMEOUT
    while steady_to_ros.ros(0) == first:  # a look may be interrupted
        assert time.monotonic() < deadline
    assert abs(steady_to_ros.ros(0) - 2 * 10**18) < 10**9
