"""Real node processes when something around them fails: which states get a torque, and how soon they recover.

``pytest -o log_cli=true --log-cli-level=INFO`` shows the figures.
"""

import logging
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from support.matrices import matrix
from support.nodes import graph as ros
from support.nodes.started_processes import cpu_time
from support.nodes.state_publisher import POSITION

import numpy as np
import pytest
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from robot_dynamics_interfaces.srv import GetMassMatrix
from robot_dynamics_ros import Robot

FIGURES = logging.getLogger(__name__)
NODE = 'gravity_compensation_node'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
Q = np.full(ROBOT.nv, POSITION)
TORQUE = ROBOT.gravity_torque(Q)
AGE = 3.0
"""age_limit of the nodes, s: a pause of the machine makes no state old."""
PATIENT = (
    *('-p', f'age_limit:={AGE}'),
    *('-p', 'qos_overrides./joint_states.subscription.depth:=1000'),
    *('-p', 'qos_overrides./gravity_torque.publisher.depth:=1000'),
)
END, START = 0.5, 3.0
"""Processor time with which a node ends after a signal, and with which it is there again after a start, s."""


@pytest.fixture
def graph(file_graph):
    """The graph with the node."""
    if NODE not in file_graph.processes._running:
        file_graph.processes.stop()
        file_graph.start(NODE, arguments=PATIENT)
    return file_graph


@contextmanager
def states(rates='100', **options):
    """Run a process that publishes states until its input is closed and as asked then; kill it in the end."""
    arguments = [part for name, value in options.items() for part in (f'--{name}', str(value))]
    command = [sys.executable, str(Path(ros.__file__).with_name('state_publisher.py')), rates, *NAMES, *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


class Arrivals:
    """Torques as they come."""

    def __init__(self, graph):
        self.messages = []
        self._graph = graph
        subscribe = graph.node.create_subscription
        self._subscription = subscribe(JointState, 'gravity_torque', self.messages.append, 1000)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._graph.node.destroy_subscription(self._subscription)

    @property
    def stamps(self):
        return [ros.nanoseconds(message.header.stamp) for message in self.messages]

    def more(self, count=20, timeout=ros.TIMEOUT):
        """Wait for more torques."""
        count += len(self.messages)
        self._graph.until(lambda: len(self.messages) >= count, f'{count} torques', timeout)

    def check(self):
        """See that all that came are right, and answer one state after the other."""
        for message in self.messages:
            np.testing.assert_allclose(message.effort, TORQUE, rtol=0, atol=1e-9)
        assert all(earlier < later for earlier, later in zip(self.stamps, self.stamps[1:], strict=False))


def unanswered(graph, sent, torques):
    """Return the stamps of states that have no torque, from the first that has one on."""
    stamps = [ros.nanoseconds(state.header.stamp) for state in sent]
    answered = set(torques.stamps)
    first = next((k for k, stamp in enumerate(stamps) if stamp in answered), len(stamps))
    return [stamp for stamp in stamps[first:] if stamp not in answered]


def assert_all_answered(graph, rates='100', meanwhile=lambda: None, at_least=50, **options):
    """Publish states, do ``meanwhile()`` all the time, and see every state answered."""
    with Arrivals(graph) as torques, states(rates, **options) as process:
        sent = graph.listen(JointState, 'joint_states')
        torques.more(1)
        graph.until(lambda: sent, 'states')
        process.stdin.close()

        def ended():
            meanwhile()
            return process.poll() is not None

        graph.until(ended, 'the end of the states', ros.START_TIMEOUT)
        assert process.returncode == 0
        graph.until(lambda: not unanswered(graph, sent, torques), 'an answer to every state')
        torques.check()
        assert len(torques.messages) >= at_least


def send(graph, stamp):
    graph.publish('joint_states', ros.joint_state(NAMES, stamp, Q))


def assert_answers(graph):
    """See states of now answered."""
    with Arrivals(graph) as torques:
        since = graph.now()
        graph.repeat_until(
            lambda: send(graph, graph.now()), lambda: torques.stamps and torques.stamps[-1] > since, 'an answer', 0.2
        )
        np.testing.assert_allclose(torques.messages[-1].effort, TORQUE, rtol=0, atol=1e-9)


def test_states_that_stop_end_the_torques(graph):
    with Arrivals(graph) as torques:
        with states() as process:
            torques.more()
            process.kill()
            killed = graph.now()
        graph.diagnostics(NODE, lambda status: 'no joint state for' in status.message)
        count = len(torques.messages)
        graph.diagnostics(NODE)
        assert len(torques.messages) == count
        assert torques.stamps[-1] < killed
        torques.check()


@pytest.mark.slow
def test_ten_times_as_many_states_for_a_while_get_torques(graph):
    assert_all_answered(graph, '100,1000,100', at_least=600)


def test_states_that_are_lost_on_the_way_cost_nothing_else(graph):
    assert_all_answered(graph, drop=0.3, seconds=2)


def test_pauses_of_the_input_cost_nothing_else(graph):
    assert_all_answered(graph, pause=0.05)


def silent(graph, stamp, reason):
    """See that a state is not answered, and why."""
    torques = graph.listen(JointState, 'gravity_torque')
    graph.silence(NODE, reason, lambda: send(graph, stamp()))
    assert torques == []


def test_a_clock_that_jumps_back_and_returns(graph):
    assert_answers(graph)
    silent(graph, lambda: graph.now() - 1000 * ros.SECOND, 'out of order')
    assert_answers(graph)


def test_a_clock_that_jumps_forward_and_returns(graph):
    assert_answers(graph)
    silent(graph, lambda: graph.now() + 1000 * ros.SECOND, 'future')
    assert_answers(graph)


def test_a_killed_node_is_there_again_soon(graph):
    with Arrivals(graph) as torques, states():
        torques.more()
        process = graph.forget(NODE)
        process.kill()
        process.wait()
        killed = graph.now()
        graph.processes.start(NODE, *PATIENT)
        graph.until(lambda: torques.stamps[-1] > killed, 'a torque for a later state', ros.START_TIMEOUT)
        used = cpu_time(graph.pid(NODE))
        FIGURES.info('first torque after %.2f s of processor time', used)
        assert used < START
        torques.more()
        torques.check()


def test_two_nodes_of_one_name_both_publish(graph, tmp_path):
    with Arrivals(graph) as torques, ros.ArmProcesses(tmp_path) as processes, states():
        processes.start(NODE, *PATIENT)
        graph.until(lambda: len(torques.stamps) >= len(set(torques.stamps)) + 20, 'two torques for a state')
        for message in torques.messages:
            np.testing.assert_allclose(message.effort, TORQUE, rtol=0, atol=1e-9)
        processes.stop()
        ended = graph.now()
        # what the one that has ended sent before may still arrive
        graph.until(lambda: sum(stamp > ended for stamp in torques.stamps) >= 20, 'torques of the other one')
        later = [stamp for stamp in torques.stamps if stamp > ended]
        assert len(set(later)) == len(later)


def test_a_storm_of_parameters_delays_no_torque(graph):
    client = graph.node.create_client(SetParameters, f'{NODE}/set_parameters')
    graph.until(client.service_is_ready, 'the service')
    storm = Storm(client, lambda k: SetParameters.Request(parameters=[model_findings(k)]))
    assert_all_answered(graph, meanwhile=storm.blow)
    assert len(storm.responses) > 50
    reasons = {response.results[0].reason for response in storm.responses if not response.results[0].successful}
    assert any('model_findings' in reason for reason in reasons), reasons


def model_findings(k: int):
    """Return a good value and a bad one by turns."""
    return Parameter('model_findings', value='ignore' if k % 2 else 'refuse').to_parameter_msg()


class Storm:
    """Requests of a service, some always under way."""

    UNDER_WAY = 4

    def __init__(self, client, request):
        self.responses = []
        self._client, self._request = client, request
        self._futures, self._sent = [], 0

    def blow(self):
        """Take the responses that are there, and ask anew."""
        self.responses += [future.result() for future in self._futures if future.done()]
        self._futures = [future for future in self._futures if not future.done()]
        while len(self._futures) < self.UNDER_WAY:
            self._futures.append(self._client.call_async(self._request(self._sent)))
            self._sent += 1


def test_with_a_flood_of_requests_in_one_process_every_state_gets_its_torque(alone):
    alone.processes.start('bringup', *PATIENT)
    for node in (NODE, 'dynamics_server'):
        alone.client.wait_until_active(node)
    client = alone.node.create_client(GetMassMatrix, 'dynamics_server/get_mass_matrix')
    alone.until(client.service_is_ready, 'the service')
    request = GetMassMatrix.Request(positions=Q.tolist() * 200)
    storm = Storm(client, lambda k: request)
    assert_all_answered(alone, meanwhile=storm.blow)
    assert len(storm.responses) > 10
    expected = np.broadcast_to(ROBOT.mass_matrix(Q), (200, ROBOT.nv, ROBOT.nv)).ravel()
    for response in storm.responses:
        np.testing.assert_allclose(response.mass_matrix, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize('number', matrix([signal.SIGINT, signal.SIGTERM], few=[signal.SIGTERM]))
def test_a_signal_ends_node_and_torques(alone, number):
    alone.start(NODE, arguments=PATIENT)
    used = time_to_end(alone, number)
    FIGURES.info('ends after the signal with %.2f s of processor time', used)
    assert used < END


def time_to_end(graph, number) -> float:
    """End a publishing node by a signal, see that its torques end, and return the processor time it used, s."""
    with Arrivals(graph) as torques, states():
        torques.more()
        process = graph.forget(NODE)
        before = cpu_time(process.pid)
        process.send_signal(number)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # what it has used is still known
        used = cpu_time(process.pid) - before
        assert process.wait() == 0
        ended = graph.now()
        # the states go on: what there is to come has come when some of them have been heard
        heard = graph.listen(JointState, 'joint_states')
        graph.until(lambda: len(heard) > 20, 'states')
        assert torques.stamps[-1] < ended
        torques.check()
    assert 'Traceback' not in graph.log(NODE)
    return used
