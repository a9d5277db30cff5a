"""simulated_arm as a process: brakes, gravity, commands that count and commands that don't."""

import itertools
import time

from support.matrices import matrix
from support.nodes import graph as ros

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from robot_dynamics_ros import Robot
from robot_dynamics_ros.tools.processes import ProcessError

NODE = 'simulated_arm'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
_NUMBERS = itertools.count(1)
START = np.array([0.3, -0.6, 0.4, 0.2, 0.5, -0.1])


@pytest.fixture
def graph(file_graph):
    """The graph with the node."""
    if NODE not in file_graph.processes._running:
        values = ', '.join(map(str, START))
        file_graph.start(
            NODE, arguments=('-p', f'start:=[{values}]', '-p', 'command_timeout:=0.5', '-p', 'rate:=250.0')
        )
    return file_graph


@pytest.fixture
def states(graph):
    """The states since the arm was put back to its start, with no command of an earlier test still under way."""
    # commands keep their order, and the log tells of a wrong one
    wrong = [float(next(_NUMBERS))]
    command_until(graph, wrong, lambda: f'got {wrong}' in graph.log(NODE), f'{wrong} in the log')
    assert graph.client.call(Trigger, f'{NODE}/reset', Trigger.Request()).success
    messages = graph.listen(JointState, 'joint_states')
    graph.until(lambda: messages and list(messages[-1].position) == list(START), 'the start position')
    messages.clear()
    return messages


def stamps(states):
    return np.array([ros.nanoseconds(state.header.stamp) for state in states]) * 1e-9


def command(graph, torque):
    graph.publish('effort_commands', Float64MultiArray(data=list(torque)))


def command_until(graph, torque, condition, what):
    """Send a torque 50 times a second until ``condition()`` holds."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() < began + ros.TIMEOUT, what
        command(graph, torque)
        graph.client.spin_while_waiting(condition, 0.02)


def brakes(graph):
    return graph.diagnostics(NODE).fields['brakes']


def test_state_has_all_joints_at_the_rate(graph, states):
    graph.until(lambda: len(states) > 1 and stamps(states)[-1] > stamps(states)[0] + 1.0, 'a second of the arm')
    now = graph.now() / ros.SECOND
    state = states[-1]
    assert state.name == NAMES
    assert [len(values) for values in (state.position, state.velocity, state.effort)] == [6, 6, 6]
    times = stamps(states)
    assert (np.diff(times) >= 0).all()
    # 250 Hz; a busy machine misses some timers, and the arm's time must not run ahead
    assert 20 < len(times) / (times[-1] - times[0]) < 255
    assert times[-1] < now


def test_brakes_hold_before_the_first_command(graph, states):
    graph.until(lambda: len(states) > 100, 'states')
    assert all(list(state.position) == list(START) for state in states)
    assert not any(any(state.velocity) for state in states)
    assert brakes(graph) == 'closed'


def test_without_torque_the_arm_falls_and_after_the_timeout_the_brakes_catch_it(graph, states):
    def swung():
        return states and abs(states[-1].position[1] - START[1]) > 0.1

    command_until(graph, np.zeros(6), swung, 'the arm does not fall')
    # the shoulder moves the way that gravity pulls: against the torque that would hold it
    assert np.sign(states[-1].position[1] - START[1]) == -np.sign(ROBOT.gravity_torque(START)[1])
    graph.until(lambda: not any(states[-1].velocity), 'closed brakes')
    caught = list(states[-1].position)
    states.clear()
    graph.until(lambda: len(states) > 100, 'states')
    assert all(list(state.position) == caught for state in states)
    assert brakes(graph) == 'closed'


def test_time_stands_still_without_commands_until_the_brakes_close(graph, states):
    command(graph, ROBOT.gravity_torque(START))
    graph.until(lambda: states and any(states[-1].effort), 'the command')
    command_until(graph, np.zeros(6), lambda: states and any(states[-1].velocity), 'no motion')
    graph.until(lambda: not any(states[-1].velocity), 'closed brakes')
    moving = stamps([state for state in states if any(state.velocity)])
    # the controller is still told where the arm is, but the arm waits for it; a busy machine leaves out many states
    assert sum(moving == moving[-1]) > 3
    closed = stamps(states)[-1]
    graph.until(lambda: stamps(states)[-1] > closed + 0.1, 'time to go on behind closed brakes')


def test_reset_engages_the_brakes_of_the_arm(graph, states):
    command_until(graph, np.zeros(6), lambda: states and any(states[-1].velocity), 'no motion')
    response = graph.client.call(Trigger, f'{NODE}/reset', Trigger.Request())
    assert response.success
    assert 'brakes' in response.message
    graph.until(lambda: list(states[-1].position) == list(START), 'the start position')
    states.clear()
    graph.until(lambda: len(states) > 50, 'states')
    assert all(list(state.position) == list(START) for state in states)
    assert not any(any(state.effort) for state in states)


@pytest.mark.parametrize(('offset', 'tolerance'), [(0.0, 5e-3), (1.0, 1e-6)])
def test_gravity_torque_of_the_model_holds_the_error_free_plant(graph, states, offset, tolerance):
    # without the constant part of friction the plant's Coulomb friction carries it, and creeps a little
    torque = ROBOT.gravity_torque(START) + offset * ROBOT.friction.offset

    def held():
        return [state for state in states if any(state.effort)]

    def was_held():
        times = stamps(held())
        return len(times) and times[-1] - times[0] > 1.0

    command_until(graph, torque, was_held, 'a second of the arm')
    held = held()
    assert max(np.abs(np.array(state.position) - START).max() for state in held) < tolerance
    np.testing.assert_allclose(held[-1].effort, torque, rtol=0, atol=1e-12)


def test_motion_is_that_of_forward_dynamics(graph, states):
    # from rest, one large torque: the first tenth of a degree of motion agrees with the model's acceleration
    torque = ROBOT.gravity_torque(START) + np.array([60.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def moved():
        return states and abs(states[-1].velocity[0]) > 0.3

    command_until(graph, torque, moved, 'no motion')
    moving = [state for state in states if abs(state.velocity[0]) > 0.05]
    times, velocity = stamps(moving), np.array([state.velocity[0] for state in moving])
    at_speed = np.zeros(6)
    at_speed[0] = velocity.mean()
    friction = ROBOT.friction_torque(at_speed)
    friction[1:] = 0.0
    expected = ROBOT.forward_dynamics(START, at_speed, torque - friction)[0]
    assert np.polyfit(times, velocity, 1)[0] == pytest.approx(expected, rel=0.1)


WRONG_COMMANDS = {
    'short': [1.0] * 5,
    'long': [1.0] * 7,
    'none': [],
    'NaN': [1.0, 1.0, np.nan, 1.0, 1.0, 1.0],
    'infinite': [1.0, 1.0, 1.0, 1.0, 1.0, np.inf],
}


@pytest.mark.parametrize('wrong', matrix(WRONG_COMMANDS, [*WRONG_COMMANDS][::2]))
def test_wrong_command_is_refused_and_opens_no_brakes(graph, states, wrong):
    known = len(graph.log(NODE))
    # repeated: the log tells of it once a second
    command_until(
        graph, WRONG_COMMANDS[wrong], lambda: 'command refused' in graph.log(NODE)[known:], 'nothing in the log'
    )
    assert brakes(graph) == 'closed'
    assert states
    assert all(list(state.position) == list(START) and not any(state.effort) for state in states)


def test_wrong_command_does_not_keep_the_brakes_open(graph, states):
    command_until(graph, np.zeros(6), lambda: states and any(states[-1].velocity), 'no motion')
    command_until(graph, [np.nan] * 6, lambda: not any(states[-1].velocity), 'the brakes stay open')
    assert brakes(graph) == 'closed'


def test_a_deactivated_arm_is_silent_and_an_activated_one_continues(graph, states):
    graph.until(lambda: states, 'states')
    graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE)
    graph.diagnostics(NODE, lambda status: status.message == 'not active')
    states.clear()
    graph.diagnostics(NODE, lambda status: status.message == 'not active')
    assert states == []
    graph.client.change_state(NODE, Transition.TRANSITION_ACTIVATE)
    graph.until(lambda: states, 'states')
    assert list(states[-1].position) == list(START)


def test_one_start_number_serves_all_joints_and_a_wrong_count_is_refused(graph):
    with graph.parameters(NODE, start=[0.25]):
        states = graph.listen(JointState, 'joint_states')
        graph.until(lambda: states and list(states[-1].position) == [0.25] * 6, 'the start position')
        assert list(states[-1].position) == [0.25] * 6
    with pytest.raises(ProcessError, match='transition 1 failed'), graph.parameters(NODE, start=[0.1, 0.2]):
        pass
    assert 'start: expected shape (6,), got (2,)' in graph.log(NODE)


def test_the_time_of_the_arm_advances_at_a_low_rate_too(graph):
    with graph.parameters(NODE, rate=20.0):
        states = graph.listen(JointState, 'joint_states')
        began = graph.now()
        graph.until(lambda: [s for s in states if ros.nanoseconds(s.header.stamp) > began], 'a state')
        states.clear()
        graph.until(lambda: len(states) > 20, 'states')
        times = stamps(states)
    # a busy machine may lose some, but not what one period of the output takes
    assert (times[-1] - times[0]) / (len(times) - 1) > 0.04
