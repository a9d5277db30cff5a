"""Processes by a simulated clock: one that has not begun, goes, pauses, and jumps back, and their end."""

import signal

from support.matrices import matrix
from support.nodes import graph as ros
from support.nodes.feedforward import NODE, assert_torque, at, quintic, send

import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

BEGIN = 1000 * ros.SECOND
"""When the trajectory starts, ns of the simulated time."""
PERIOD = 10_000_000
"""Of the states, ns."""


@pytest.fixture
def graph(tmp_path):
    with ros.Graph(tmp_path) as running:
        running.start(NODE, arguments=('-p', 'use_sim_time:=true', '-p', 'start_tolerance:=0.0'))
        yield running


def tick(graph, now):
    """Set the simulated clock; nobody knows when it arrives."""
    message = Clock()
    message.clock.sec, message.clock.nanosec = divmod(now, ros.SECOND)
    graph.publish('/clock', message)


def says(graph, text, meanwhile=lambda: None):
    """Wait until the diagnostics of the node give a reason for silence; return their stamp, ns."""
    told = graph.listen(ros.DiagnosticArray, '/diagnostics')
    found = []

    def look():
        meanwhile()
        found.extend(m for m in told if m.status[0].name == f'/{NODE}' and text in m.status[0].message)
        return found

    graph.until(look, text)
    return ros.nanoseconds(found[-1].header.stamp)


def answer(graph, stamp, position):
    """Let the clock go on to ``stamp`` with a state of then, and return its answer."""
    torques = graph.listen(JointState, 'feedforward_torque')

    def step(stamp):
        tick(graph, stamp)
        send(graph, stamp, position)

    return graph.answer(step, torques, stamp)


def run(graph, motion, first, count):
    """See ``count`` states from ``first`` (s of the trajectory) on answered by the torque of the motion there."""
    for k in range(count):
        stamp = at(BEGIN, first) + k * PERIOD
        expected = motion((stamp - BEGIN) / ros.SECOND)
        assert_torque(answer(graph, stamp, expected[0]), *expected)


def silent(graph, reason, meanwhile):
    """See that nothing is answered, and why; return the time at which that was said, ns."""
    torques = graph.listen(JointState, 'feedforward_torque')
    said = says(graph, reason, meanwhile)
    assert torques == []
    return said


def test_a_clock_that_begins_goes_pauses_and_jumps_back(graph):
    message, motion = quintic(BEGIN)
    graph.follow(NODE, message)
    # no clock yet: the time is 0
    assert silent(graph, 'from the future', lambda: send(graph, BEGIN)) == 0

    run(graph, motion, first=0.9, count=20)

    # it pauses, for longer than a state may be old: a state that is repeated then is answered as before
    paused = at(BEGIN, 0.9) + 19 * PERIOD
    assert says(graph, 'no joint state for') == paused
    for _ in range(3):
        torques = graph.listen(JointState, 'feedforward_torque')
        send(graph, paused)
        graph.until(lambda torques=torques: torques, 'an answer')
        assert_torque(torques[0], *motion((paused - BEGIN) / ros.SECOND))
    run(graph, motion, first=1.1, count=5)

    # it jumps back within the motion: what is left of the time before is of the future
    back = at(BEGIN, 0.05)

    def jump():
        tick(graph, back)
        send(graph, paused)

    assert silent(graph, 'from the future', jump) == back
    # what was followed before is not followed any more
    assert silent(graph, 'trajectory dropped: the clock was set back', lambda: send(graph, back)) == back
    graph.follow(NODE, message)
    run(graph, motion, first=0.05, count=20)

    # it jumps back to before the motion
    def rewind():
        tick(graph, BEGIN - ros.SECOND)
        send(graph, BEGIN - ros.SECOND)

    assert silent(graph, 'the clock was set back', rewind) == BEGIN - ros.SECOND
    graph.follow(NODE, message)
    # the reason stays until another one is due
    assert silent(graph, 'the clock was set back', lambda: send(graph, BEGIN - ros.SECOND)) == BEGIN - ros.SECOND
    run(graph, motion, first=0.0, count=5)


@pytest.mark.parametrize('number', matrix([signal.SIGINT, signal.SIGTERM], [signal.SIGTERM]))
def test_bringup_ends_well_while_the_clock_goes_on(tmp_path, number):
    """A thread that still takes the times of a node would abort the process."""
    with ros.Graph(tmp_path) as graph, graph.repeating(lambda: graph.tick(graph.now()), 0.005):
        graph.bring_up('gravity_compensation_node', 'dynamics_server', arguments=('-p', 'use_sim_time:=true'))
        assert graph.end('bringup', number) == 0, graph.log('bringup')
