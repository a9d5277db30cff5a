"""A server that is killed and restarted, late joiners in mid-ramp, and what a server refuses: real processes."""

import re

from support import graph as ros

import numpy as np
from geometry_msgs.msg import Vector3, Vector3Stamped
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.msg import GravityState, PayloadState
from robot_dynamics_interfaces.srv import GetInverseDynamics, SetGravity, SetPayload
from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.nodes.qos import TRANSIENT_LOCAL

SERVER, NODE = 'dynamics_server', 'gravity_compensation_node'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
Q = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2])
LIGHT, HEAVY = 1.0, 4.0
RAMP_TIME = 600.0


def laden(mass):
    return ROBOT.with_payload(Payload(mass, (0.0, 0.0, 0.05)), 'ee_link').gravity_torque(Q)


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
    arguments = ('-p', f'payload_file:={tmp_path / "payload.yaml"}', '-p', 'load_ramp_time:=0.0')
    start_server(graph, *arguments)
    assert set_payload(graph, LIGHT).success
    assert set_payload(graph, HEAVY, RAMP_TIME).success
    told = state(graph, PayloadState, 'payload_state')
    assert ([body.mass for body in told.before], told.mass, told.ramp_time) == ([LIGHT], HEAVY, RAMP_TIME)
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
    assert 0.0 < before <= share <= after < 0.5
    graph.start(NODE, arguments=('-p', f'age_limit:={ros.DAY}'))
    graph.diagnostics(NODE, lambda status: status.fields['payload, kg'] == '4')
    for part in (0.3, 0.9, 1.2):
        wanted = laden(LIGHT) + min(part, 1.0) * (laden(HEAVY) - laden(LIGHT))
        stamp = began + round(part * RAMP_TIME * ros.SECOND)
        np.testing.assert_allclose(torque_at(graph, stamp), wanted, rtol=0, atol=1e-9)


def test_a_server_that_restarts_without_a_file_publishes_its_empty_payload_and_its_gravity(graph):
    start_server(graph, '-p', 'load_ramp_time:=0.0')
    graph.start(NODE, arguments=('-p', f'age_limit:={ros.DAY}'))
    assert set_payload(graph, HEAVY).success and set_gravity(graph, 9.0, 0.0, 0.0).success
    graph.diagnostics(NODE, lambda status: status.fields['payload, kg'] == '4')
    kill_server(graph)
    start_server(graph)
    payload, gravity = state(graph, PayloadState, 'payload_state'), state(graph, GravityState, 'gravity_state')
    assert (payload.mass, payload.frame, list(payload.before)) == (0.0, ROBOT.link_names[-1], [])
    assert gravity.gravity == gravity.before == Vector3(z=-9.81)
    said = 'payload_state: 0 kg (nothing is kept from an earlier start), and gravity_state: 0, 0, -9.81 m/s^2'
    graph.until(lambda: said in graph.log(SERVER), 'the log line')
    graph.diagnostics(NODE, lambda status: status.fields['payload, kg'] == '0')
    np.testing.assert_allclose(torque_at(graph, graph.now()), ROBOT.gravity_torque(Q), rtol=0, atol=1e-9)


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
