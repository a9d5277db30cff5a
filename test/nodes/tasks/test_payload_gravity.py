"""Payload and gravity of dynamics_server in the torques of the other nodes."""

import itertools
import re

from support.nodes import graph as ros
from support.nodes.feedforward import NAMES, RATE_A, REST, ROBOT, A, B

import numpy as np
import pytest
from geometry_msgs.msg import Vector3, Vector3Stamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header

from robot_dynamics_interfaces.msg import GravityState, PayloadState
from robot_dynamics_interfaces.srv import SetGravity, SetPayload
from robot_dynamics_ros import Payload
from robot_dynamics_ros.nodes.process.qos import TRANSIENT_LOCAL, WITH_LIVELINESS

SERVER, FEEDFORWARD, GRAVITY, CONTROLLER = NODES = (
    *('dynamics_server', 'feedforward_node'),
    *('gravity_compensation_node', 'torque_controller'),
)
BODY = {'mass': 2.5, 'com': (0.02, -0.03, 0.1), 'inertia': [0.04, 0.05, 0.03, 0.01, 0.002, -0.01]}
PAYLOAD = Payload(2.5, BODY['com'], np.array([[0.04, 0.01, 0.002], [0.01, 0.05, -0.01], [0.002, -0.01, 0.03]]))
FOLLOWERS = FEEDFORWARD, GRAVITY, CONTROLLER
LOADED = ROBOT.with_payload(PAYLOAD, 'ee_link')
BANDWIDTH = 10.0
STIFFNESS, DAMPING = np.array([300.0, 400.0, 300.0, 60.0, 60.0, 60.0]), np.array([30.0, 40.0, 30.0, 4.0, 4.0, 4.0])


@pytest.fixture(scope='module')
def started(file_graph):
    settings = {
        'age_limit': ros.DAY,
        'start_tolerance': 0.0,
        'payload_gravity_ramp_time': 0.0,
        'control_law': 'computed_torque',
        'bandwidth': BANDWIDTH,
    }
    parameters = [part for name, value in settings.items() for part in ('-p', f'{name}:={value}')]
    file_graph.bring_up(*NODES, arguments=parameters)
    return file_graph


@pytest.fixture
def graph(started):
    """The nodes with a bare robot, and no trajectory to follow."""
    set_payload(started, mass=0.0)
    set_gravity(started, *ROBOT.gravity)
    started.follow('bringup', ros.trajectory(NAMES, 0), receivers=2)
    assert_torques(started, ROBOT)
    return started


def set_payload(graph, **fields):
    """Set a payload and return when the server says to have done so, ns."""
    told = graph.listen(PayloadState, 'payload_state')
    response = graph.client.call(SetPayload, f'{SERVER}/set_payload', SetPayload.Request(**fields))
    assert response.success, response.message
    graph.until(lambda: told, 'payload_state')
    graph.be_heard(*FOLLOWERS)
    return ros.nanoseconds(told[-1].stamp)


def set_gravity(graph, x, y, z):
    gravity = Vector3Stamped(vector=Vector3(x=float(x), y=float(y), z=float(z)))
    response = graph.client.call(SetGravity, f'{SERVER}/set_gravity', SetGravity.Request(gravity=gravity))
    assert response.success, response.message
    graph.be_heard(*FOLLOWERS)


def later(graph):
    """Return a time that no test has used: no state is out of order."""
    later.last = max(later.last, graph.now()) + ros.SECOND
    return later.last


later.last = 0


def answers(graph, stamp, q=A, qd=RATE_A):
    """Return what the nodes that need no trajectory make of a state, by topic."""
    topics = {'gravity_torque': JointState, 'effort_commands': Float64MultiArray}
    heard = {topic: graph.listen(kind, topic) for topic, kind in topics.items()}
    graph.repeat_until(lambda: send(graph, stamp, q, qd), lambda: all(heard.values()), 'torques')
    torque, command = (heard[topic][-1] for topic in topics)
    assert ros.nanoseconds(torque.header.stamp) == stamp
    return {'gravity_torque': np.array(torque.effort), 'effort_commands': np.array(command.data)}


def send(graph, stamp, q, qd):
    graph.publish('joint_states', ros.joint_state(NAMES, stamp, q, qd))


def expected(robot, q=A, qd=RATE_A):
    """Return what they should make of it: the controller holds the arm at ``A``."""
    gravity = robot.gravity_torque(q)
    return {'gravity_torque': gravity, 'effort_commands': STIFFNESS * (A - q) - DAMPING * qd + gravity}


def near(found, wanted):
    return all(np.all(np.abs(found[topic] - wanted[topic]) < 1e-9) for topic in wanted)


def assert_torques(graph, robot):
    """See that the torques are, soon, those of ``robot``: it takes a moment until a message has come."""
    graph.repeat_until(lambda: None, lambda: near(answers(graph, later(graph)), expected(robot)), 'torques', 0.0)


def test_torques_are_those_of_what_is_carried(graph):
    wanted, bare = expected(LOADED), expected(ROBOT)
    assert all(np.abs(wanted[topic] - bare[topic]).max() > 1.0 for topic in wanted)
    set_payload(graph, **BODY, frame='ee_link')
    assert_torques(graph, LOADED)
    for node in FOLLOWERS:
        assert graph.diagnostics(node).fields['payload, kg'] == '2.5'
    set_payload(graph, **BODY, frame='foreArm_Link')
    assert_torques(graph, ROBOT.with_payload(PAYLOAD, 'foreArm_Link'))
    set_payload(graph, mass=0.0)
    assert_torques(graph, ROBOT)


def test_along_a_ramp_the_time_at_which_a_state_comes_decides_what_is_carried(graph):
    graph.reactivate(GRAVITY, CONTROLLER)  # another test may have gone further ahead
    start, ramp_time = set_payload(graph, **BODY, frame='ee_link', ramp_time=3.0), 3.0 * ros.SECOND
    bare, loaded = expected(ROBOT), expected(LOADED)
    for ahead in (-3000, -2000, 2000):  # of stamps, s
        before = graph.now()
        found = answers(graph, before + ahead * ros.SECOND)
        shares = [min((time - start) / ramp_time, 1.0) for time in (before, graph.now())]
        for key in bare:
            ends = [bare[key] + share * (loaded[key] - bare[key]) for share in shares]
            assert np.all(np.min(ends, axis=0) - 1e-9 <= found[key]), (ahead, shares, key)
            assert np.all(found[key] <= np.max(ends, axis=0) + 1e-9), (ahead, shares, key)
    later.last = graph.now() + 3000 * ros.SECOND


def test_a_trajectory_is_followed_with_what_is_carried(graph):
    start = later(graph)
    motion = ros.trajectory(NAMES, start, (0.0, A, REST, REST), (2000.0, B, REST, REST))
    graph.follow('bringup', motion, receivers=2)
    assert_feedforward(graph, start, 1.0, ROBOT)
    set_payload(graph, **BODY, frame='ee_link')
    for t in (100.0, 1500.0, 3700.0):
        # no trajectory goes on after so long a time: what is left of it, from half a second before
        begin = t - 0.5
        first = quintic(begin, 2000.0) if begin < 2000.0 else (B, REST, REST)
        rest = (0.0, *first), (max(1.0, 2000.0 - begin), B, REST, REST)
        motion = ros.trajectory(NAMES, start + round(begin * ros.SECOND), *rest)
        graph.follow('bringup', motion, receivers=2)
        assert_feedforward(graph, start, t, LOADED)
    later.last = start + 4000 * ros.SECOND


def assert_feedforward(graph, start, t, robot):
    """See that the feedforward torque ``t`` s after ``start`` is, soon, that of the motion."""
    torques = graph.listen(JointState, 'feedforward_torque')
    stamps = itertools.count(start + round(t * ros.SECOND))
    motion = quintic(t, 2000.0) if t < 2000.0 else (B, REST, REST)
    wanted = robot.inverse_dynamics(*motion) + robot.friction_torque(motion[1])

    def is_wanted():
        found = graph.answer(lambda stamp: send(graph, stamp, motion[0], RATE_A), torques, next(stamps)).effort
        return np.all(np.abs(found - wanted) < 1e-9)

    # a payload that came late, to a busy process, is blended in
    graph.repeat_until(lambda: None, is_wanted, f'a feedforward torque of {wanted}', 0.0)


def quintic(t, duration):
    """Return q, qd, qdd at ``t`` s of the polynomial from rest at A to rest at B."""
    s, way = t / duration, B - A
    q = A + way * (10 * s**3 - 15 * s**4 + 6 * s**5)
    qd = way * (30 * s**2 - 60 * s**3 + 30 * s**4) / duration
    return q, qd, way * (60 * s - 180 * s**2 + 120 * s**3) / duration**2


def test_gravity_is_used_in_the_torques_and_sent_to_late_joiners(graph):
    set_payload(graph, **BODY, frame='ee_link')
    set_gravity(graph, 3.0, -2.0, 9.0)
    tilted = LOADED.with_gravity((3.0, -2.0, 9.0))
    assert_torques(graph, tilted)
    assert graph.diagnostics(FEEDFORWARD).fields['gravity, m/s^2'] == '3 -2 9'
    told = []
    graph.node.create_subscription(GravityState, 'gravity_state', told.append, TRANSIENT_LOCAL)
    graph.until(lambda: told, 'the last gravity_state for who joins later')
    assert (told[-1].gravity, told[-1].header.frame_id) == (Vector3(x=3.0, y=-2.0, z=9.0), ROBOT.link_names[0])
    for node in (GRAVITY, CONTROLLER):
        graph.restart(node)
    assert_torques(graph, tilted)


def payload_state(**fields):
    return PayloadState(**{'frame': 'ee_link', 'mass': 1.0, **fields})


def gravity_state(frame='', **parts):
    return GravityState(header=Header(frame_id=frame), gravity=Vector3(**parts))


REFUSED = {
    'a mass below 0': (payload_state(mass=-1.0), 'payload_state: mass'),
    'no number of a centre': (payload_state(com=(0.0, np.nan, 0.0)), 'payload_state: com'),
    'no frame of this robot': (payload_state(frame='hook'), "payload_state: .*'hook'"),
    'a ramp without end': (payload_state(ramp_time=1e300), 'payload_state: ramp_time: expected at most 3600 s'),
    'no number of a gravity': (gravity_state(z=np.inf), 'gravity_state: gravity'),
    'gravity in another frame': (gravity_state('ee_link'), "gravity_state: gravity: .*'ee_link'"),
}


@pytest.mark.parametrize(('message', 'reason'), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_carried_is_refused_and_changes_nothing(graph, message, reason):
    set_payload(graph, **BODY, frame='ee_link')
    assert_torques(graph, LOADED)
    publisher = graph.node.create_publisher(type(message), reason.split(':')[0], WITH_LIVELINESS)
    said = len(graph.log('bringup'))
    graph.until(lambda: graph.log('bringup')[said:].count(' refused: ') >= 3 or publisher.publish(message), 'refusals')
    graph.node.destroy_publisher(publisher)
    fields = graph.diagnostics(GRAVITY).fields
    assert re.match(reason, fields['payload or gravity message rejected'])
    assert fields['payload, kg'] == '2.5'
    assert near(answers(graph, later(graph)), expected(LOADED))


def test_gravity_of_another_owner_is_not_held_when_states_stop(started, tmp_path):
    with ros.ArmProcesses(tmp_path) as processes:
        processes.start(FEEDFORWARD, '-p', 'gravity_owner:=robot', '-p', 'on_stale:=gravity_only')
        log = tmp_path / f'{FEEDFORWARD}.log'
        started.until(lambda: 'not configured' in log.read_text(), 'a reason', ros.START_TIMEOUT)
        assert 'not configured: on_stale gravity_only: gravity is not among the terms' in log.read_text()
