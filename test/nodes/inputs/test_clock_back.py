"""A simulated clock that goes back: ramps, the rate limit and on_stale continue, what was followed or held is dropped.

It goes back by more than the age limit: a state of before, still under way, is then refused as one from the future.
"""

import itertools

from support.matrices import matrix
from support.nodes import graph as ros
from support.nodes.feedforward import CONTROLLER, NAMES, REST, ROBOT, A, assert_command, at, between, controlled, turned
from support.nodes.feedforward import NODE as FEEDFORWARD

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Vector3, Vector3Stamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_interfaces.srv import SetGravity, SetPayload
from robot_dynamics_ros import Payload

SERVER, GRAVITY = 'dynamics_server', 'gravity_compensation_node'
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
HEAVY = Payload(5.0, (0.02, 0.0, 0.08))
BARE = ROBOT.gravity_torque(A)
LOADED = ROBOT.with_payload(HEAVY, 'ee_link').gravity_torque(A)
LAST = turned(A, 0, 1.5)
_TIMES = itertools.count(1)


@pytest.fixture(scope='module')
def started(file_graph):
    parameters = ('use_sim_time:=true', 'control_law:=pd_gravity', 'age_limit:=1.0', 'payload_gravity_ramp_time:=0.0')
    arguments = [part for parameter in parameters for part in ('-p', parameter)]
    file_graph.bring_up(SERVER, GRAVITY, CONTROLLER, FEEDFORWARD, arguments=arguments)
    return file_graph


@pytest.fixture
def start(started):
    """A time that no test has reached, ns."""
    return 100_000 * next(_TIMES) * ros.SECOND


@pytest.fixture
def graph(started, start):
    """The nodes at ``start`` by their clock, without payload and trajectory."""
    set_clock(started, start, SERVER, GRAVITY)
    set_payload(started, 0.0)
    started.reactivate(GRAVITY, CONTROLLER, FEEDFORWARD)
    started.follow('bringup', ros.trajectory(NAMES, 0), receivers=2)
    return started


def set_clock(graph, now, *nodes):
    """Set the clock and wait until ``nodes`` have diagnostics of then."""
    with graph.record(DiagnosticArray, '/diagnostics') as arrays, graph.repeating(lambda: graph.tick(now), 0.1):

        def reached():
            found = {array.status[0].name for array in arrays if ros.nanoseconds(array.header.stamp) == now}
            return found >= {f'/{node}' for node in nodes}

        graph.until(reached, f'diagnostics of the time {now}')


def set_payload(graph, mass, ramp_time=0.0):
    """Set a payload, and wait until the node has heard of it."""
    request = SetPayload.Request(mass=mass, com=HEAVY.com if mass else (0.0,) * 3, frame='ee_link', ramp_time=ramp_time)
    response = graph.client.call(SetPayload, f'{SERVER}/set_payload', request)
    assert response.success, response.message
    graph.be_heard(GRAVITY)


def set_gravity(graph):
    """Set gravity to what it is, and wait until the node has heard of it."""
    gravity = Vector3Stamped(vector=Vector3(**dict(zip('xyz', ROBOT.gravity.tolist(), strict=True))))
    response = graph.client.call(SetGravity, f'{SERVER}/set_gravity', SetGravity.Request(gravity=gravity))
    assert response.success, response.message
    graph.be_heard(GRAVITY)


def step(graph, now, position):
    """Let the clock be ``now`` and the arm be at a position then."""
    graph.tick(now)
    graph.send('joint_states', ros.joint_state(NAMES, now, position, REST))


def gravity_at(graph, now, position=A):
    """Return what gravity_compensation_node answers at ``now``."""
    torques = graph.listen(JointState, 'gravity_torque')

    def answered():
        return [torque for torque in torques if ros.nanoseconds(torque.header.stamp) == now]

    graph.repeat_until(lambda: step(graph, now, position), answered, f'a torque of {now}', 0.2)
    return answered()[0].effort


def command_at(graph, now, position):
    """Return what torque_controller answers first at ``now``; gravity_torque tells that a state was of then."""
    commands = graph.listen(Float64MultiArray, 'effort_commands')
    graph.repeat_until(lambda: step(graph, now, position), lambda: commands, f'a command of {now}', 0.2)
    first = np.array(commands[0].data)
    # no answer may be left over for the next one
    graph.client.spin_while_waiting(lambda: False, 0.3)
    return first


@pytest.mark.parametrize('meanwhile', matrix(['nothing else', 'gravity set', 'node configured anew'], ['gravity set']))
def test_a_payload_ramp_that_was_over_stays_over(graph, start, meanwhile):
    set_payload(graph, HEAVY.mass, 2.0)
    assert_command(gravity_at(graph, at(start, 10.0)), LOADED, 'the ramp of 2 s is over', 'gravity_torque')
    set_clock(graph, at(start, 10.0), SERVER)  # for a server that missed this time the ramp is not over
    set_clock(graph, at(start, 1.0), SERVER, GRAVITY)
    graph.be_heard(GRAVITY)
    if meanwhile == 'gravity set':
        set_gravity(graph)
    elif meanwhile == 'node configured anew':
        graph.restart(GRAVITY)
    reason = f'the clock went back to half of the ramp, {meanwhile} meanwhile: what was over stays over'
    assert_command(gravity_at(graph, at(start, 1.2)), LOADED, reason, 'gravity_torque')
    assert_command(gravity_at(graph, at(start, 1.5)), LOADED, reason, 'gravity_torque')


def test_a_payload_ramp_keeps_its_progress(graph, start):
    set_payload(graph, HEAVY.mass, 1000.0)
    for time, share in ((500.0, 0.5), (200.0, 0.5), (300.0, 0.6), (700.0, 1.0), (900.0, 1.0)):
        expected = BARE + share * (LOADED - BARE)
        reason = f'{share:g} of the ramp at {time:g} s, the clock went back from 500 s to 200 s'
        assert_command(gravity_at(graph, at(start, time)), expected, reason, 'gravity_torque')


def test_on_stale_stays_in_effect(graph, start):
    with graph.parameters(GRAVITY, on_stale='gravity_only', age_limit=0.3):
        gravity_at(graph, at(start, 10.0))
        torques = graph.listen(JointState, 'gravity_torque')
        set_clock(graph, at(start, 10.5), GRAVITY)
        graph.until(lambda: len(torques) > 20, 'torques without states')
        set_clock(graph, start, GRAVITY)

        def of_before():  # refused, but it has the node look at the clock
            graph.send('joint_states', ros.joint_state(NAMES, at(start, 10.0), A, REST))

        torques.clear()
        with graph.repeating(of_before, 0.1):
            came = graph.client.spin_while_waiting(lambda: len(torques) > 100, 8.0)
        count = len(torques)
    assert came, f'gravity_torque: expected one every 5 ms while states are missing, got {count}: the clock went back'
    for torque in torques:
        assert_command(torque.effort, BARE, 'held where the arm was seen last', 'gravity_torque')


def test_on_stale_keeps_the_progress_of_a_payload_ramp(graph, start):
    set_payload(graph, HEAVY.mass, 1000.0)
    with graph.parameters(GRAVITY, on_stale='gravity_only', age_limit=0.3):
        gravity_at(graph, at(start, 499.5))
        torques = graph.listen(JointState, 'gravity_torque')
        set_clock(graph, at(start, 500.0), GRAVITY)
        graph.until(lambda: len(torques) > 20, 'torques without states')
        for time, share in ((200.0, 0.5), (300.0, 0.6)):
            set_clock(graph, at(start, time), GRAVITY)
            torques.clear()
            graph.until(lambda: len(torques) > 20, 'torques without states')
            expected = BARE + share * (LOADED - BARE)
            reason = f'{share:g} of the ramp at {time:g} s, the clock went back from 500 s to 200 s'
            assert_command(torques[-1].effort, expected, reason, 'gravity_torque')


def test_the_rate_limit_continues_from_the_last_torque(graph, start):
    with graph.parameters(GRAVITY, rate_limit=[500.0]):
        reached = [gravity_at(graph, at(start, 0.9 * k)) for k in range(4)]
        assert_command(reached[-1], BARE, '500 N m/s for 2.7 s are enough', 'gravity_torque')
        found = gravity_at(graph, at(start, 1.0))
    assert_command(found, BARE, 'the clock went back by 1.7 s: the arm is at rest, so is its torque', 'gravity_torque')


def test_the_rate_limit_follows_the_simulated_time(graph, start):
    with graph.parameters(GRAVITY, rate_limit=[10.0]):
        for k in range(4):
            set_clock(graph, at(start, 0.5 * k), GRAVITY)
            expected = np.clip(BARE, -5.0 * k, 5.0 * k)
            reason = f'10 N m/s for {0.5 * k:g} s of simulated time, zero at first'
            assert_command(gravity_at(graph, at(start, 0.5 * k)), expected, reason, 'gravity_torque')


def follow_motion(graph, start):
    motion = ros.trajectory(NAMES, start, (0.0, A, REST, REST), (10.0, LAST, REST, REST))
    graph.follow('bringup', motion, receivers=2)


def desired_at(seconds):
    return between(seconds, 10.0, (A, REST, REST), (LAST, REST, REST))[:2]


def test_the_controller_drops_its_trajectory_and_holds(graph, start):
    follow_motion(graph, start)
    command_at(graph, start, A)
    for seconds in (0.9, 1.8, 2.7):
        position, rate = desired_at(seconds)
        found = command_at(graph, at(start, seconds), position)
        expected = controlled(position, position, REST, rate)
        assert_command(found, expected, 'on its trajectory')
    far = desired_at(8.0)[0]
    found = command_at(graph, at(start, 1.0), far)
    assert_command(found, ROBOT.gravity_torque(far), 'the clock went back: the trajectory is dropped, the arm held')


def test_the_controller_holds_again(graph, start):
    command_at(graph, at(start, 10.0), A)
    moved = turned(A, 0, 0.4)
    found = command_at(graph, at(start, 5.0), moved)
    assert_command(found, ROBOT.gravity_torque(moved), 'the clock went back: the arm, 0.4 rad away, is held there')


def test_feedforward_node_drops_its_trajectory(graph, start):
    follow_motion(graph, start)
    torques = graph.listen(JointState, 'feedforward_torque')

    def answered(now):
        return [torque for torque in torques if ros.nanoseconds(torque.header.stamp) == now]

    for seconds in (0.0, 0.9, 1.8, 2.7):
        now = at(start, seconds)
        graph.repeat_until(
            lambda now=now: step(graph, now, desired_at(2.7)[0]), lambda now=now: answered(now), f'{now}', 0.2
        )
    back = at(start, 1.0)
    set_clock(graph, back, FEEDFORWARD)
    command_at(graph, back, desired_at(8.0)[0])
    found = [np.round(torque.effort, 3) for torque in answered(back)]
    assert found == [], f'feedforward_torque: expected none after the clock went back, got {found[0]}'


def test_payload_state_of_the_server_is_as_it_was(graph, start):
    """Who joins after the clock went back hears of the payload in force."""
    set_payload(graph, HEAVY.mass, 2.0)
    set_clock(graph, at(start, 10.0), SERVER)
    set_clock(graph, at(start, 1.0), SERVER)
    with graph.record(PayloadState, 'payload_state', LATCHED) as messages:
        graph.until(lambda: messages, 'payload_state')
    assert (messages[-1].mass, messages[-1].ramp_time) == (HEAVY.mass, 0.0)
