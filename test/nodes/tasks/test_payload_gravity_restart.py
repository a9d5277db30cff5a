"""A server that is killed and restarted, late joiners in mid-ramp, and what a server refuses: real processes."""

import re

from support.nodes import graph as ros

import numpy as np
import pytest
from geometry_msgs.msg import Vector3, Vector3Stamped
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.msg import GravityState, PayloadState
from robot_dynamics_interfaces.srv import GetInverseDynamics, SetGravity, SetPayload
from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.nodes.process.qos import TRANSIENT_LOCAL

SERVER, NODE = 'dynamics_server', 'gravity_compensation_node'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
Q = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2])
LIGHT, HEAVY = 1.0, 4.0
RAMP_TIME = 60.0


def laden(mass, gravity=tuple(ROBOT.gravity)):
    robot = ROBOT.with_gravity(gravity)
    return robot.with_payload(Payload(mass, (0.0, 0.0, 0.05)), 'ee_link').gravity_torque(Q)


def start_server(graph, *arguments):
    graph.start(SERVER, arguments=arguments)


def kill_server(graph):
    process = graph.forget(SERVER)
    process.kill()
    process.wait()


def set_payload(graph, mass, ramp_time=0.0):
    request = SetPayload.Request(mass=mass, com=(0.0, 0.0, 0.05), frame='ee_link', ramp_time=ramp_time)
    return graph.client.call(SetPayload, f'{SERVER}/set_payload', request)


def set_gravity(graph, x, y, z):
    gravity = Vector3Stamped(vector=Vector3(x=x, y=y, z=z))
    return graph.client.call(SetGravity, f'{SERVER}/set_gravity', SetGravity.Request(gravity=gravity))


def state(graph, kind, topic):
    """Return the newest message of a topic, as a late joiner receives it."""
    received = []
    subscription = graph.node.create_subscription(kind, topic, received.append, TRANSIENT_LOCAL)
    graph.until(lambda: received, topic)
    graph.node.destroy_subscription(subscription)
    return received[-1]


def torque_at(graph, stamp):
    torques = graph.listen(JointState, 'gravity_torque')

    def send(stamp):
        graph.publish('joint_states', ros.joint_state(NAMES, stamp, Q))

    return np.array(graph.answer(send, torques, stamp).effort)


def test_a_server_that_restarts_in_mid_ramp_continues_it_as_late_joiners_do(graph, tmp_path):
    arguments = ('-p', f'payload_file:={tmp_path / "payload.yaml"}', '-p', 'payload_gravity_ramp_time:=0.0')
    start_server(graph, *arguments)
    assert set_payload(graph, LIGHT).success
    assert set_payload(graph, HEAVY, RAMP_TIME).success
    told = state(graph, PayloadState, 'payload_state')
    assert ([body.mass for body in told.before], told.mass, told.ramp_time) == (
        [LIGHT],
        HEAVY,
        pytest.approx(RAMP_TIME),
    )
    kill_server(graph)
    start_server(graph, *arguments)
    assert state(graph, PayloadState, 'payload_state') == told
    began = ros.nanoseconds(told.stamp)
    before = (graph.now() - began) / (RAMP_TIME * ros.SECOND)
    rest = [0.0] * 6
    request = GetInverseDynamics.Request(positions=Q.tolist(), velocities=rest, accelerations=rest)
    found = graph.client.call(GetInverseDynamics, f'{SERVER}/get_inverse_dynamics', request).gravity
    after = (graph.now() - began) / (RAMP_TIME * ros.SECOND)
    way = laden(HEAVY) - laden(LIGHT)
    share = (np.array(found) - laden(LIGHT)) @ way / (way @ way)
    assert 0.0 < before <= share <= min(after, 1.0)
    graph.start(NODE, arguments=('-p', f'age_limit:={ros.DAY}'))
    graph.diagnostics(NODE, lambda status: status.fields['payload, kg'] == '4')
    sent = graph.now()
    found = torque_at(graph, sent)
    shares = [min((time - began) / (RAMP_TIME * ros.SECOND), 1.0) for time in (sent, graph.now())]
    ends = [laden(LIGHT) + share * way for share in shares]
    assert np.all(np.min(ends, axis=0) - 1e-9 <= found) and np.all(found <= np.max(ends, axis=0) + 1e-9)


def test_a_server_that_was_killed_and_restarts_without_a_file_continues_what_nodes_hold(graph):
    start_server(graph, '-p', 'payload_gravity_ramp_time:=0.0')
    graph.start(NODE, arguments=('-p', f'age_limit:={ros.DAY}'))
    assert set_payload(graph, HEAVY).success and set_gravity(graph, 9.0, 0.0, 0.0).success
    graph.diagnostics(NODE, lambda status: status.fields['payload, kg'] == '4')
    wanted = laden(HEAVY, (9.0, 0.0, 0.0))
    graph.repeat_until(lambda: None, lambda: np.allclose(torque_at(graph, graph.now()), wanted), 'both', 0.0)
    kill_server(graph)
    graph.tells(NODE, 'any more: dynamics_server has ended')
    # the graph has the killed process for 20 s: it is its liveliness that says so
    assert graph.node.count_publishers('payload_state') == 1
    np.testing.assert_allclose(torque_at(graph, graph.now()), wanted, rtol=0, atol=1e-9)
    start_server(graph)
    assert 'payload_state: 0 kg (assumed), and gravity_state: 0, 0, -9.81 m/s^2 (of the parameters)' in graph.log(
        SERVER
    )
    graph.tells(SERVER, 'payload_state: nothing was set since the start, and the value is that which nodes hold')
    payload, gravity = state(graph, PayloadState, 'payload_state'), state(graph, GravityState, 'gravity_state')
    assert (payload.mass, payload.frame, payload.assumed) == (HEAVY, 'ee_link', False)
    assert (gravity.gravity, gravity.assumed) == (Vector3(x=9.0), False)
    graph.diagnostics(NODE, lambda status: 'assumes' not in status.message)
    np.testing.assert_allclose(torque_at(graph, graph.now()), wanted, rtol=0, atol=1e-9)


def test_what_the_arm_cannot_hold_and_excessive_gravity_are_refused_and_limits_apply_at_once(graph):
    start_server(graph)
    began = state(graph, PayloadState, 'payload_state')
    response = set_payload(graph, 200.0)
    assert not response.success
    assert re.search("joint '.*' would need .* N m .*; its effort limit is (133|13.5); ", response.message)
    assert set_payload(graph, 5.0).success
    told = state(graph, PayloadState, 'payload_state')
    assert (told.mass, told.ramp_time) == (5.0, 0.5) and told != began  # the default ramp
    refused = set_gravity(graph, 0.0, 0.0, -981.0)
    assert (refused.success, refused.message) == (
        False,
        'gravity: its magnitude of 981 m/s^2 is above the parameter gravity_limit, 12 m/s^2',
    )
    assert set_gravity(graph, 0.0, -9.81, 0.0).success
    assert state(graph, GravityState, 'gravity_state').ramp_time == 0.5
    request = SetParameters.Request(
        parameters=[
            Parameter('payload_limit', value=250.0).to_parameter_msg(),
            Parameter('gravity', value=[0.0, 9.81, 0.0]).to_parameter_msg(),
        ]
    )
    results = graph.client.call(SetParameters, f'{SERVER}/set_parameters', request).results
    assert [(result.successful, result.reason) for result in results] == [
        (True, 'payload_limit acts now'),
        (True, 'gravity acts at the next configure'),
    ]
    assert set_payload(graph, 200.0).success
