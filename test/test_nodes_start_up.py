"""A node at its start: kernels are compiled once and kept; what it can't have it does without, and says so."""

import graph as ros
import numpy as np
import pytest
from lifecycle_msgs.msg import State, Transition
from sensor_msgs.msg import JointState

from robot_dynamics_ros import Robot

NODE = 'gravity_compensation_node'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
Q = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2])


@pytest.fixture
def graph(tmp_path):
    with ros.Graph(tmp_path) as running:
        yield running


def assert_answers(graph):
    torques = graph.listen(JointState, 'gravity_torque')

    def send():
        graph.publish('joint_states', ros.joint_state(NAMES, graph.now(), Q))

    graph.repeat_until(send, lambda: torques, 'an answer')
    np.testing.assert_allclose(torques[0].effort, ROBOT.gravity_torque(Q), rtol=0, atol=1e-9)


def test_kernels_are_compiled_at_the_first_start_and_kept(graph, tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    graph.start(NODE)
    assert 'gravity torque: compiled in' in graph.log(NODE)
    assert_answers(graph)
    first = graph.pid(NODE)
    graph.processes.stop()
    graph.start(NODE)
    assert graph.pid(NODE) != first
    assert 'compiled in' not in graph.log(NODE)
    assert_answers(graph)


def test_a_home_that_can_not_be_written_is_told_and_done_without(graph, tmp_path, monkeypatch):
    (tmp_path / 'cache').touch()  # a file where a folder should be: refused to root too
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    graph.start(NODE)
    assert 'compiled code is kept for this process only' in graph.log(NODE)
    assert_answers(graph)


def test_where_a_manager_is_to_start_it_it_waits(graph):
    graph.start(NODE, arguments=('-p', 'autostart:=false'), active=False)
    assert graph.state_of(NODE) == State.PRIMARY_STATE_UNCONFIGURED
    graph.client.change_state(NODE, Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
    assert_answers(graph)


def test_more_joints_than_the_setting_are_answered_by_generic_kernels(graph):
    graph.start(NODE, arguments=('-p', 'most_joints:=5'))
    assert '6 joints, generic kernels' in graph.log(NODE)
    assert_answers(graph)
    assert graph.diagnostics(NODE).fields['kernels'] == 'generic'


def test_cores_that_are_not_there_are_told_and_done_without(graph):
    graph.start(NODE, arguments=('-p', 'cores:=[4000]'))
    graph.until(lambda: 'cores [4000]: ' in graph.log(NODE), 'the warning')
    assert_answers(graph)


def test_memory_is_locked_or_that_is_refused(graph):
    graph.start(NODE, arguments=('-p', 'lock_memory:=true'))
    assert_answers(graph)
    with open(f'/proc/{graph.pid(NODE)}/status') as status:
        (locked,) = [int(line.split()[1]) for line in status if line.startswith('VmLck')]
    assert locked > 0 or 'lock_memory: ' in graph.log(NODE)
