"""No torque before payload and gravity in force are known: which nodes publish or wait.

Each test has a namespace of its own, so that no node hears of another test's payload.
"""

import re
from pathlib import Path

from support.nodes import graph as ros
from support.nodes.feedforward import NAMES, REST, ROBOT, A, assert_command

import numpy as np
import pytest
from geometry_msgs.msg import Vector3, Vector3Stamped
from lifecycle_msgs.msg import Transition
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_interfaces.srv import SetGravity, SetPayload
from robot_dynamics_ros import Payload
from robot_dynamics_ros.formats.library import named_urdf

SERVER, GRAVITY = 'dynamics_server', 'gravity_compensation_node'
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
PATIENT = (
    *('-p', f'age_limit:={ros.DAY}', '-p', 'payload_gravity_ramp_time:=0.0'),
    *('-p', 'await_payload_gravity:=true'),  # the default
)
LIGHT = Payload(1.0, (0.0, 0.01, 0.05))
HEAVY = Payload(5.0, (0.02, 0.0, 0.08))
CEILING = (0.0, 0.0, 9.81)
RAMP_TIME = 30.0
COUNT = 30
"""Torques that are looked at after a start: those of 626f7f2 were wrong for up to 171 at 500 states a second."""


@pytest.fixture
def graph(alone):
    return alone


def in_namespace(name):
    return (*PATIENT, '-r', f'__ns:=/{name}')


def streaming(graph, name):
    """Publish states of now, at A, 200 times a second."""
    return graph.repeating(lambda: graph.send(f'{name}/joint_states', ros.joint_state(NAMES, graph.now(), A)), 0.005)


def torque_at(graph, name, stamp, position=A):
    """Return what gravity_compensation_node answers to a state of ``stamp``."""
    torques = graph.listen(JointState, f'{name}/gravity_torque')

    def send(stamp):
        graph.publish(f'{name}/joint_states', ros.joint_state(NAMES, stamp, position))

    return graph.answer(send, torques, stamp).effort


def set_payload(graph, name, payload, ramp_time=0.0):
    J = payload.inertia
    request = SetPayload.Request(mass=payload.mass, com=payload.com, frame='ee_link', ramp_time=ramp_time)
    request.inertia = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    response = graph.client.call(SetPayload, f'{name}/{SERVER}/set_payload', request)
    assert response.success, response.message


def set_gravity(graph, name, gravity, ramp_time=0.0):
    vector = Vector3Stamped(vector=Vector3(**dict(zip('xyz', gravity, strict=True))))
    request = SetGravity.Request(gravity=vector, ramp_time=ramp_time)
    response = graph.client.call(SetGravity, f'{name}/{SERVER}/set_gravity', request)
    assert response.success, response.message


def payload_state(graph, name, condition=lambda message: True):
    """Return the payload_state that a late joiner gets and that fulfils ``condition``."""
    with graph.record(PayloadState, f'{name}/payload_state', LATCHED) as messages:
        graph.until(lambda: messages and condition(messages[-1]), f'{name}/payload_state for a late joiner')
        return messages[-1]


def loaded(payload, gravity=tuple(ROBOT.gravity)):
    robot = ROBOT.with_gravity(gravity)
    return robot.with_payload(payload, 'ee_link') if payload else robot


def assert_all(torques, expected, reason):
    wrong = [k for k, torque in enumerate(torques) if np.abs(np.array(torque.effort) - expected).max() > 1e-6]
    if wrong:
        first = np.round(torques[wrong[0]].effort, 2)
        raise AssertionError(
            f'gravity_torque: {len(wrong)} of {len(torques)} torques wrong, first {first}, '
            f'expected {np.round(expected, 2)} N m from the first one on: {reason}'
        )


def test_a_bringup_with_a_payload_file_begins_with_the_payload(graph, tmp_path):
    arguments = (*in_namespace('file'), '-p', f'payload_file:={tmp_path / "payload.yaml"}')
    graph.processes.start(SERVER, *arguments, '-r', '__node:=writer')
    graph.client.wait_until_active('file/writer')
    request = SetPayload.Request(mass=HEAVY.mass, com=HEAVY.com, frame='ee_link')
    assert graph.client.call(SetPayload, 'file/writer/set_payload', request).success
    graph.end(SERVER)
    expected = loaded(HEAVY).gravity_torque(A)
    assert np.abs(expected - ROBOT.gravity_torque(A)).max() > 10.0
    with streaming(graph, 'file'), graph.record(JointState, 'file/gravity_torque') as torques:
        graph.processes.start('bringup', *arguments)
        graph.until(lambda: len(torques) >= COUNT, 'torques', ros.START_TIMEOUT)
        graph.end('bringup')
        assert_all(torques, expected, f'the payload_file holds {HEAVY.mass} kg')


def test_a_node_that_starts_beside_a_server_begins_with_its_gravity(graph):
    graph.processes.start(SERVER, *in_namespace('ceiling'))
    graph.client.wait_until_active(f'ceiling/{SERVER}')
    set_gravity(graph, 'ceiling', CEILING)
    expected = loaded(None, CEILING).gravity_torque(A)
    with streaming(graph, 'ceiling'), graph.record(JointState, 'ceiling/gravity_torque') as torques:
        for _ in range(2):
            torques.clear()
            graph.processes.start(GRAVITY, *in_namespace('ceiling'))
            graph.until(lambda: len(torques) >= COUNT, 'torques', ros.START_TIMEOUT)
            graph.end(GRAVITY)
            assert_all(torques, expected, 'the server of this graph hangs from the ceiling')


def test_a_node_that_gets_another_description_begins_with_the_gravity_in_force(graph):
    graph.processes.start(SERVER, *in_namespace('described'))
    graph.client.wait_until_active(f'described/{SERVER}')
    set_gravity(graph, 'described', CEILING)
    text = Path(named_urdf('aubo_i5')).read_text()
    describe = graph.node.create_publisher(String, 'described/robot_description', LATCHED)
    graph.processes.start(GRAVITY, *in_namespace('described'), '-p', 'description_topic:=robot_description')
    with streaming(graph, 'described'), graph.record(JointState, 'described/gravity_torque') as torques:
        for limit in (30.0, 31.0, 32.0):  # which clamps joint 2, and so tells one description from another

            def answered(limit=limit):
                return sum(abs(abs(torque.effort[1]) - limit) < 1e-6 for torque in torques) >= COUNT

            describe.publish(String(data=re.sub(r'effort="133[.0]*"', f'effort="{limit}"', text)))
            graph.until(answered, f'torques with an effort limit of {limit} N m', ros.START_TIMEOUT)
        sign = np.sign(loaded(None, CEILING).gravity_torque(A)[1])
        wrong = [torque.effort[1] for torque in torques if np.sign(torque.effort[1]) != sign]
    graph.node.destroy_publisher(describe)
    assert wrong == [], f'gravity_torque: {len(wrong)} of {len(torques)} of the wrong sign after a new description'


def test_beside_a_server_that_is_not_active_there_is_no_torque_but_a_reason(graph):
    graph.processes.start(SERVER, *in_namespace('waiting'), '-p', 'autostart:=false')
    graph.state_of(f'waiting/{SERVER}')
    wanted, publishers = {'payload_state': 1, 'gravity_state': 1}, {}

    def discovered():
        publishers.update({topic: graph.node.count_publishers(f'waiting/{topic}') for topic in wanted})
        return publishers == wanted

    graph.client.spin_while_waiting(discovered, ros.TIMEOUT)
    graph.client.change_state(f'waiting/{SERVER}', Transition.TRANSITION_CONFIGURE)
    graph.processes.start(GRAVITY, *in_namespace('waiting'))
    with streaming(graph, 'waiting'), graph.record(JointState, 'waiting/gravity_torque') as torques:
        graph.client.wait_until_active(f'waiting/{GRAVITY}')
        for _ in range(2):
            graph.diagnostics(f'waiting/{GRAVITY}')
        assert torques == [], (
            f'gravity_torque: expected none before the first payload_state, got {len(torques)}, '
            f'the first {np.round(torques[0].effort, 2)}'
        )
        graph.tells(f'waiting/{GRAVITY}', 'waiting for payload_state: activate dynamics_server')
        assert torques == [], f'gravity_torque: expected none before the first payload_state, got {len(torques)}'
        graph.client.change_state(f'waiting/{SERVER}', Transition.TRANSITION_ACTIVATE)
        graph.until(lambda: torques, 'a torque once the server is active')
    assert_all(torques, ROBOT.gravity_torque(A), 'the server has no payload')
    assert publishers == wanted, f'publishers of an unconfigured {SERVER}: expected {wanted}, got {publishers}'


def test_a_late_joiner_follows_ramps_of_gravity_and_payload_that_are_under_way(graph):
    for node in (SERVER, GRAVITY):
        graph.processes.start(node, *in_namespace('pair'))
    for node in (SERVER, GRAVITY):
        graph.client.wait_until_active(f'pair/{node}')
    began = graph.now()
    set_gravity(graph, 'pair', CEILING, ramp_time=RAMP_TIME)
    assert_on_the_way(graph, loaded(None), loaded(None, CEILING), (began, graph.now()))
    set_gravity(graph, 'pair', tuple(ROBOT.gravity))
    set_payload(graph, 'pair', LIGHT)
    began = graph.now()
    set_payload(graph, 'pair', HEAVY, ramp_time=RAMP_TIME)
    started = ros.nanoseconds(payload_state(graph, 'pair', lambda message: message.mass == 5.0).stamp)
    assert began <= started <= graph.now()
    assert_on_the_way(graph, loaded(LIGHT), loaded(HEAVY), (started, started))


def assert_on_the_way(graph, one, other, started):
    """See that a late joiner computes the torque of ``one`` robot on its way to another, begun between two times."""
    graph.restart(f'pair/{GRAVITY}')
    graph.tells(f'pair/{GRAVITY}', 'no input yet')  # it has both
    before = graph.now()
    found = np.array(torque_at(graph, 'pair', before))
    shares = [
        min((now - start) / (RAMP_TIME * ros.SECOND), 1.0)
        for now, start in ((before, started[1]), (graph.now(), started[0]))
    ]
    ends = [one.gravity_torque(A) + share * (other.gravity_torque(A) - one.gravity_torque(A)) for share in shares]
    assert np.all(np.min(ends, axis=0) - 1e-6 <= found), (shares, found)
    assert np.all(found <= np.max(ends, axis=0) + 1e-6), (shares, found)


def test_without_a_server_a_node_says_what_it_waits_for_or_publishes_at_once_where_that_is_stated(graph):
    graph.processes.start(GRAVITY, *in_namespace('alone'))
    graph.client.wait_until_active(f'alone/{GRAVITY}')
    graph.tells(f'alone/{GRAVITY}', 'or set await_payload_gravity to false for an arm without one')
    graph.restart(f'alone/{GRAVITY}', await_payload_gravity=False)
    found = torque_at(graph, 'alone', graph.now(), REST + 0.5)
    assert_command(found, ROBOT.gravity_torque(REST + 0.5), 'nobody publishes a payload', 'gravity_torque')
