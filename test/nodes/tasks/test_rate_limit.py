"""The rate limit bounds the step over the time that has really passed, and continues from the last torque sent."""

import time

from support.nodes import graph as ros
from support.nodes.feedforward import NAMES, REST, ROBOT, A, assert_command, at

import numpy as np
import pytest
from sensor_msgs.msg import JointState

NODE = 'gravity_compensation_node'
BARE = ROBOT.gravity_torque(A)
JOINT = int(np.argmax(np.abs(BARE)))
"""The joint of which most torque is asked, 47.7 N m."""


@pytest.fixture(scope='module')
def started(file_graph):
    file_graph.start(NODE, arguments=('-p', 'age_limit:=4.0', '-p', 'rate_limit:=[400.0]'))
    return file_graph


@pytest.fixture
def graph(started):
    """The node configured anew: no torque has been sent yet."""
    started.restart(NODE)
    return started


class Answer:
    """The first torque for a state of ``stamp``, when that was sent first, and when the torque was there."""

    def __init__(self, graph, stamp):
        torques = graph.listen(JointState, 'gravity_torque')
        self.sent = time.monotonic()
        message = graph.answer(lambda stamp: send(graph, stamp), torques, stamp)
        self.received = time.monotonic()
        self.effort = np.array(message.effort)

    @property
    def torque(self):
        """Of the joint that is looked at, N m."""
        return self.effort[JOINT]


def send(graph, stamp):
    graph.publish('joint_states', ros.joint_state(NAMES, stamp, A, REST))


def risen(graph):
    """Bring the torque from zero up to what is asked, with states of 3 s ago; return the last answered one's stamp."""
    torques = graph.listen(JointState, 'gravity_torque')

    def full():
        return torques and np.abs(torques[-1].effort - BARE).max() < 1e-9

    graph.repeat_until(lambda: send(graph, graph.now() - 3 * ros.SECOND), full, f'{BARE[JOINT]:.1f} N m', 0.01)
    return ros.nanoseconds(torques[-1].header.stamp)


def test_the_first_torque_after_configuring_is_zero(graph):
    found = Answer(graph, graph.now()).effort
    assert_command(found, REST, 'nothing was sent before: the torque rises from zero', 'gravity_torque')


def test_a_gap_of_the_states_does_not_set_the_torque_to_zero(graph):
    found = Answer(graph, at(risen(graph), 5.0)).effort
    reason = 'a gap of 5 s, longer than the age limit: the torque goes on from the last one sent'
    assert_command(found, BARE, reason, 'gravity_torque')


def test_lost_states_at_100_hz_do_not_set_the_torque_to_zero(graph):
    """With the age limit learnt from stamps 10 ms apart: four periods are a gap."""
    with graph.parameters(NODE, age_limit=0.0):
        with graph.repeating(lambda: graph.send('joint_states', ros.joint_state(NAMES, graph.now(), A, REST))):
            torques = graph.listen(JointState, 'gravity_torque')
            graph.until(lambda: torques and np.abs(torques[-1].effort - BARE).max() < 1e-9, 'the torque asked for')
        graph.client.spin_while_waiting(lambda: False, 0.3)
        torques.clear()
        graph.repeat_until(lambda: send(graph, graph.now()), lambda: torques, 'a torque after a gap', 0.04)
    reason = 'states lost for 0.3 s at 100 Hz: the torque goes on from the last one sent'
    assert_command(torques[0].effort, BARE, reason, 'gravity_torque')


def test_activation_does_not_set_the_torque_to_zero(graph):
    # the way up from zero would take 2.4 s
    with graph.parameters(NODE, rate_limit=[20.0]):
        last = risen(graph)
        graph.reactivate(NODE)
        found = Answer(graph, at(last, 1.0)).effort
    reason = 'deactivated and activated: a controller holds the last torque sent, the next one goes on from there'
    assert_command(found, BARE, reason, 'gravity_torque')


def assert_rise(first, last, rate, case):
    """Compare the rise from one torque to a later one with what the time between them allows."""
    most = min(BARE[JOINT], first.torque + rate * (last.received - first.sent))
    least = min(BARE[JOINT], first.torque + rate * (last.sent - first.received))
    assert least - 1e-6 <= last.torque <= most + 1e-6, (
        f'gravity_torque: expected {least:.3f} to {most:.3f} N m at joint {JOINT + 1}, got {last.torque:.3f}: '
        f'{rate:g} N m/s, {last.sent - first.received:.3f} to {last.received - first.sent:.3f} s really passed; {case}'
    )


def test_a_step_is_bounded_by_the_time_that_has_passed_and_not_by_the_stamps(graph):
    with graph.parameters(NODE, rate_limit=[20.0], age_limit=100.0):
        start = graph.now() - 2 * ros.SECOND
        first = Answer(graph, start)
        last = Answer(graph, at(start, 3.5))
    assert_rise(first, last, 20.0, 'the stamps are 3.5 s apart')


def test_a_burst_rises_by_the_time_that_has_passed_and_not_by_the_stamps(graph):
    with graph.parameters(NODE, rate_limit=[20.0], age_limit=100.0):
        start = graph.now() - 2 * ros.SECOND
        first = Answer(graph, start)
        for k in range(1, 11):
            due = time.monotonic() + 0.1
            graph.client.spin_while_waiting(lambda due=due: time.monotonic() > due, 1.0)
            last = Answer(graph, start + k * 1_000_000)
    assert_rise(first, last, 20.0, 'eleven states, of which the stamps are 1 ms apart')


def test_a_step_after_a_gap_is_bounded_by_the_age_limit(graph):
    with graph.parameters(NODE, rate_limit=[20.0], age_limit=0.5):
        torques = graph.listen(JointState, 'gravity_torque')
        graph.repeat_until(lambda: send(graph, graph.now()), lambda: torques, 'a torque', 0.2)
        first = torques[0].effort[JOINT]
        due = time.monotonic() + 1.5
        graph.client.spin_while_waiting(lambda: time.monotonic() > due, 5.0)
        before = torques[-1].effort[JOINT]
        torques.clear()
        graph.repeat_until(lambda: send(graph, graph.now()), lambda: torques, 'a torque after the gap', 0.2)
        step = torques[0].effort[JOINT] - before
    assert first == 0.0
    assert 0.0 < step <= 20.0 * 0.5 + 1e-6, (
        f'gravity_torque: expected a step of up to 10 N m at joint {JOINT + 1}, 20 N m/s over the age limit of 0.5 s '
        f'after a gap of 1.5 s, got {step:.3f}'
    )
