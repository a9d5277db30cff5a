"""The last torque of a node, so that no controller holds an old one, and torques for monitoring only."""

import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from support.matrices import matrix
from support.nodes import graph as ros
from support.nodes.failing_node import LIMIT
from support.nodes.feedforward import CONTROLLER, NAMES, REST, ROBOT, A, assert_command, turned

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

GRAVITY = 'gravity_compensation_node'
BARE = ROBOT.gravity_torque(A)
JOINT = int(np.argmax(np.abs(BARE)))
"""The joint of which most torque is asked, 47.7 N m."""
RAMP = 0.4
QUIET, LOOKS = 0.3, 6
"""Nothing more comes where nothing came for so many s, and as often as this process has looked."""
VALUES, NUMBERS = ('silent', 'zero', 'ramp_to_zero'), (signal.SIGINT, signal.SIGTERM)
ALTERNATING = signal.SIGTERM, signal.SIGTERM, signal.SIGINT
"""The signal of each value that a test which is not slow sends."""
SETTINGS = ('-p', 'age_limit:=5.0', '-p', f'ramp_time:={RAMP}')


@pytest.fixture
def graph(alone):
    return alone


class Sent:
    """What a node has sent, as arrays (n): ``named`` on gravity_torque, ``commands`` on the topic of commands."""

    def __init__(self, graph, named, commands):
        self._graph, self._named, self._commands = graph, named, commands

    @property
    def named(self):
        return [np.array(message.effort) for message in self._named]

    @property
    def commands(self):
        return [np.array(message.data) for message in self._commands]

    def clear(self):
        self._named.clear()
        self._commands.clear()

    def answered(self, position=A):
        """Have a state answered, and nothing more that is under way."""

        sent = [0]

        def state():
            sent[:] = [self._graph.now()]
            self._graph.send('joint_states', ros.joint_state(NAMES, *sent, position, REST))

        expected = ROBOT.gravity_torque(position)

        def reached():
            return self._commands and np.abs(self.commands[-1] - expected).max() < 1e-9

        self._graph.repeat_until(state, reached, 'the torque of a state', 0.05)

        def last():
            return self._named and ros.nanoseconds(self._named[-1].header.stamp) == sent[0]

        self._graph.repeat_until(state, last, 'the torque of the last state')
        self.settle()

    def settle(self):
        """Wait until nothing has come for a while in which this process has looked again and again."""
        count = -1
        while count != len(self._commands):
            count, looks, until = len(self._commands), iter(range(LOOKS)), time.monotonic() + QUIET
            self._graph.client.spin_while_waiting(
                lambda looks=looks, until=until: next(looks, None) is None and time.monotonic() > until, ros.TIMEOUT
            )


@pytest.fixture
def sent(graph):
    with (
        graph.record(JointState, 'gravity_torque') as named,
        graph.record(Float64MultiArray, 'gravity_torque/commands') as commands,
    ):
        yield Sent(graph, named, commands)


def check_end(commands, value, when, topic='gravity_torque/commands'):
    """Compare the torques that came at the end of publishing with what ``on_deactivate`` asks for."""
    told = f'on_deactivate: {value}, {when}'
    if value == 'silent':
        assert commands == [], f'{topic}: expected none, got {len(commands)}: {told}'
        return
    assert commands, f'{topic}: expected a last torque of zero, got none, so {BARE[JOINT]:.1f} N m is held: {told}'
    assert_command(commands[-1], REST, f'the last torque is zero: {told}', topic)
    if value == 'zero':
        assert len(commands) == 1, f'{topic}: expected one torque of zero, got {len(commands)}: {told}'
        return
    shares = np.array(commands) @ BARE / (BARE @ BARE)
    np.testing.assert_allclose(np.array(commands), shares[:, None] * BARE, rtol=0, atol=1e-9)
    assert (np.diff(shares) <= 1e-12).all() and 0.0 < shares[len(shares) // 2] < 1.0, (
        f'{topic}: expected the torque to fall to zero over {RAMP} s, got shares {np.round(shares, 2)}: {told}'
    )


@pytest.mark.parametrize(
    ('value', 'number'), matrix(itertools.product(VALUES, NUMBERS), few=zip(VALUES, ALTERNATING, strict=True))
)
def test_at_deactivation_and_at_the_end_of_the_process(graph, sent, value, number):
    graph.start(GRAVITY, arguments=(*SETTINGS, '-p', f'on_deactivate:={value}'))
    sent.answered()
    sent.clear()
    graph.client.change_state(GRAVITY, Transition.TRANSITION_DEACTIVATE)
    sent.settle()
    check_end(sent.commands, value, 'deactivated')
    assert sent.named == [], (
        f'gravity_torque: expected none, got {len(sent.named)}: it would be added to another torque'
    )
    graph.client.change_state(GRAVITY, Transition.TRANSITION_ACTIVATE)
    sent.answered()
    sent.clear()
    status = graph.end(GRAVITY, number)
    sent.settle()
    check_end(sent.commands, value, number.name)
    assert status in (0, -number)
    assert 'Traceback' not in graph.log(GRAVITY)


def test_the_way_to_zero_passes_the_rate_limit_and_nothing_is_sent_where_nothing_was(graph, sent):
    rate, age = 100.0, 0.1
    limits = ('-p', f'age_limit:={age}', '-p', f'rate_limit:=[{rate}]', '-p', f'ramp_time:={RAMP}')
    graph.start(GRAVITY, arguments=(*limits, '-p', 'autostart:=false'), active=False)
    for value in ('zero', 'ramp_to_zero'):
        graph.restart(GRAVITY, on_deactivate=value)
        sent.answered()
        sent.clear()
        graph.client.change_state(GRAVITY, Transition.TRANSITION_DEACTIVATE)
        graph.until(lambda: sent.commands and not sent.commands[-1].any(), 'a torque of zero')
        told = f'on_deactivate: {value}, {rate:g} N m/s from {BARE[JOINT]:.1f} N m, over {age:g} s at most at a time'
        fall = -np.diff([BARE[JOINT], *np.array(sent.commands)[:, JOINT]])
        assert fall.min() > -1e-9 and fall.max() <= rate * age + 1e-6, (
            f'gravity_torque/commands: expected steps of 0 to {rate * age:g} N m at joint {JOINT + 1}, '
            f'got {np.round(fall, 2)}: {told}'
        )
        sent.settle()
        sent.clear()
        graph.client.change_state(GRAVITY, Transition.TRANSITION_ACTIVATE, Transition.TRANSITION_DEACTIVATE)
        sent.settle()
        assert (sent.named, sent.commands) == ([], []), f'expected no torque: none was sent since activation, {told}'


def test_the_rate_limit_follows_a_simulated_clock_to_the_end(graph, sent):
    began, start = time.monotonic(), 1000 * ros.SECOND

    def now():
        return start + round((time.monotonic() - began) * ros.SECOND)

    limits = ('-p', 'use_sim_time:=true', '-p', 'age_limit:=1.0', '-p', 'rate_limit:=[100.0]')
    graph.start(GRAVITY, arguments=(*limits, '-p', 'on_deactivate:=zero'))
    with graph.repeating(lambda: graph.tick(now()), 0.005):

        def state():
            graph.send('joint_states', ros.joint_state(NAMES, now(), A, REST))

        def reached():
            return sent.commands and np.abs(sent.commands[-1] - BARE).max() < 1e-9

        for how in ('deactivated', 'SIGTERM'):
            graph.repeat_until(state, reached, 'the torque of a state', 0.02)
            if how == 'deactivated':
                graph.client.change_state(GRAVITY, Transition.TRANSITION_DEACTIVATE)
            else:
                graph.end(GRAVITY, signal.SIGTERM)
            sent.settle()
            reason = f'on_deactivate: zero, {how}: the simulated clock goes on, 100 N m/s need half a second'
            assert_command(sent.commands[-1], REST, reason, 'gravity_torque/commands')
            if how == 'deactivated':
                graph.client.change_state(GRAVITY, Transition.TRANSITION_ACTIVATE)


def test_torque_controller_at_deactivation(graph):
    graph.start(CONTROLLER, arguments=(*SETTINGS, '-p', 'control_law:=pd_gravity', '-p', 'on_deactivate:=zero'))
    commands = graph.listen(Float64MultiArray, 'effort_commands')

    def state():
        graph.send('joint_states', ros.joint_state(NAMES, graph.now(), A, REST))

    graph.repeat_until(state, lambda: commands, 'a command', 0.1)
    graph.client.change_state(CONTROLLER, Transition.TRANSITION_DEACTIVATE)
    zero = graph.client.spin_while_waiting(lambda: not np.any(commands[-1].data), ros.TIMEOUT)
    last = np.round(commands[-1].data, 2)
    assert zero, f'effort_commands: expected a last torque of zero, got {last}: on_deactivate: zero'


def test_at_the_end_of_a_process_the_torques_of_its_nodes_go_to_zero_at_the_same_time(graph):
    ramp = ('-p', 'ramp_time:=1.5', '-p', 'on_deactivate:=ramp_to_zero', '-p', 'control_law:=pd_gravity')
    graph.bring_up(GRAVITY, CONTROLLER, arguments=('--ros-args', '-p', 'age_limit:=5.0', *ramp))
    received = {'gravity_torque/commands': [], 'effort_commands': []}
    for topic, found in received.items():

        def receive(message, found=found):
            found.append((time.monotonic(), abs(message.data[JOINT])))

        graph.node.create_subscription(Float64MultiArray, topic, receive, 1000)

    def state():
        graph.send('joint_states', ros.joint_state(NAMES, graph.now(), A, REST))

    graph.repeat_until(state, lambda: all(received.values()), 'torques of both nodes', 0.05)
    graph.end('bringup', signal.SIGINT)
    graph.client.spin_while_waiting(lambda: all(found[-1][1] == 0.0 for found in received.values()), ros.TIMEOUT)
    ramps = [[when for when, torque in found if torque < 0.99 * found[0][1]] for found in received.values()]
    assert all(len(ramp) > 5 for ramp in ramps) and all(found[-1][1] == 0.0 for found in received.values())
    (first, last), (other_first, other_last) = ((ramp[0], ramp[-1]) for ramp in ramps)
    assert first < other_last and other_first < last, 'the ramp of one node waits for that of the other'


def test_an_internal_error_publishes_the_torque_on_deactivate(graph, sent):
    log = graph.folder / 'failing_node.log'
    arguments = [sys.executable, str(Path(ros.__file__).with_name('failing_node.py')), *ros.AUBO_I5, *SETTINGS]
    with log.open('wb') as output:
        graph.processes._running['failing_node'] = subprocess.Popen(
            [*arguments, '-p', 'on_deactivate:=zero'],
            env={**os.environ, 'PYTHONPATH': str(ros.TREE)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    graph.client.wait_until_active(GRAVITY)
    sent.answered()
    sent.clear()
    graph.send('joint_states', ros.joint_state(NAMES, graph.now(), turned(A, 0, LIMIT), REST))
    graph.tells(GRAVITY, 'internal error')
    sent.settle()
    check_end(sent.commands, 'zero', 'internal error')


# an arm that takes no torque


def test_a_torque_that_is_only_monitored_is_not_limited_and_the_limit_is_reported(graph):
    settings = ('-p', 'preset:=monitor_only', '-p', 'effort_limit:=[10.0]', '-p', 'rate_limit:=[1.0]')
    graph.start(GRAVITY, arguments=(*SETTINGS, *settings))
    torques = graph.listen(JointState, 'gravity_torque')

    def state():
        graph.send('joint_states', ros.joint_state(NAMES, graph.now(), A, REST))

    graph.repeat_until(state, lambda: torques, 'a torque', 0.1)
    reason = 'monitor_only: neither the effort limit of 10 N m nor the rate limit of 1 N m/s changes it'
    assert_command(torques[0].effort, BARE, reason, 'gravity_torque')
    fields = graph.diagnostics(GRAVITY).fields
    assert int(fields['torques saturated']) > 0, fields
    assert f'{NAMES[JOINT]}: beyond the effort limit' in fields['torques, reasons since reset'], fields
