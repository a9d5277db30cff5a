"""The safety rules of a node that publishes torques, on a real process: limits, stale input, gravity, reset."""

import time

from support.nodes import graph as ros

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import Transition
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from robot_dynamics_ros import Robot
from robot_dynamics_ros.tools.processes import ProcessError

NODE = 'gravity_compensation_node'
ROBOT = Robot.named('aubo_i5')
NAMES = list(ROBOT.joint_names)
Q = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2])
GRAVITY = ROBOT.gravity_torque(Q)
STATE = serialize_message(ros.joint_state(NAMES, 0, Q))


@pytest.fixture(scope='module')
def graph(file_graph):
    file_graph.start(NODE, arguments=('-p', 'age_limit:=10.0'))
    return file_graph


def send(graph, stamp, position=Q, velocity=()):
    graph.publish('joint_states', ros.joint_state(NAMES, stamp, position, velocity))


def answer(graph, stamp):
    torques = graph.listen(JointState, 'gravity_torque')
    return np.array(graph.answer(lambda stamp: send(graph, stamp), torques, stamp).effort)


def ms(count):
    return round(1e6 * count)


def test_torque_rises_from_zero_as_fast_as_the_rate_limit_allows(graph):
    rate = np.array([500.0, 100.0, 100.0, 0.0, 10.0, 10.0])
    with graph.parameters(NODE, rate_limit=rate.tolist()):
        began = time.monotonic()
        last = answer(graph, graph.now())
        np.testing.assert_array_equal(last, np.where(rate, 0.0, GRAVITY))
        rises = 0
        while not np.allclose(last, GRAVITY, rtol=0, atol=1e-9):
            sent = time.monotonic()
            torque = answer(graph, graph.now())
            step, passed = torque - last, time.monotonic() - began
            # less time passes between two torques than from before the first state to after the second torque
            assert (np.abs(step) <= np.where(rate, rate, np.inf) * passed + 1e-9).all()
            assert (step * np.sign(GRAVITY) >= 0.0).all()
            last, began, rises = torque, sent, rises + 1
        fields = graph.diagnostics(NODE).fields
    assert int(fields['torques rate-limited']) >= min(rises, 1)
    assert f'{NAMES[1]}: faster than the rate limit' in fields['torques, reasons since reset']
    assert NAMES[3] not in fields['torques, reasons since reset']


def test_after_a_silence_longer_than_the_age_limit_it_continues_from_the_last_torque(graph):
    with graph.parameters(NODE, rate_limit=[100.0], age_limit=0.3):
        graph.repeat_until(
            lambda: answer(graph, graph.now()),
            lambda: np.allclose(answer(graph, graph.now()), GRAVITY, rtol=0, atol=1e-9),
            'the whole torque',
            0.1,
        )
        silent_since = graph.now()
        graph.until(lambda: graph.now() > silent_since + ms(700), 'a silence')
        np.testing.assert_allclose(answer(graph, graph.now()), GRAVITY, atol=1e-9)
        silent_since = graph.now()
        graph.until(lambda: graph.now() > silent_since + ms(700), 'a silence')
        # the other side: 30 N m at most for 0.7 s of silence, for the age limit is 0.3 s
        torques = graph.listen(JointState, 'gravity_torque')
        other = np.array(graph.answer(lambda stamp: send(graph, stamp, -Q), torques, graph.now()).effort)
        np.testing.assert_allclose(other, GRAVITY + np.clip(ROBOT.gravity_torque(-Q) - GRAVITY, -30.0, 30.0), atol=1e-9)


def test_stated_effort_limits_hold_and_reset_forgets_what_they_stopped(graph):
    stated = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
    with graph.parameters(NODE, effort_limit=stated):
        limit = np.where(stated, stated, ROBOT.limits.effort)
        np.testing.assert_allclose(answer(graph, graph.now()), np.clip(GRAVITY, -limit, limit), atol=1e-9)
        before = graph.diagnostics(NODE).fields
        response = graph.client.call(Trigger, f'{NODE}/reset', Trigger.Request())
        after = graph.diagnostics(NODE).fields
    assert f'{NAMES[1]}: beyond the effort limit' in before['torques, reasons since reset']
    assert int(before['torques saturated']) > 0
    assert response.success
    assert (after['torques, reasons since reset'], after['torques saturated']) == ('', '0')


def test_states_of_the_future_and_out_of_order_get_no_torque(graph):
    with graph.parameters(NODE, age_limit=1.0):
        start = graph.now()
        answer(graph, start)
        torques = graph.listen(JointState, 'gravity_torque')
        graph.silence(NODE, 'out of order', lambda: send(graph, start - 1))
        graph.silence(NODE, 'from the future', lambda: send(graph, graph.now() + ms(5000)))
        graph.silence(NODE, 'without a stamp', lambda: send(graph, 0))
        rejected = graph.diagnostics(NODE).fields['states rejected, reasons']
        assert torques == []
        answer(graph, graph.now())
    assert all(reason in rejected for reason in ('out of order: ', 'from the future: ', 'without a stamp: '))


def test_when_states_stop_gravity_is_held_where_on_stale_says_so(graph):
    with graph.parameters(NODE, on_stale='gravity_only', age_limit=0.3):
        torques = graph.listen(JointState, 'gravity_torque')
        stamp = graph.now()
        answer(graph, stamp)
        torques = graph.listen(JointState, 'gravity_torque')
        graph.until(lambda: len(torques) > 20, 'torques without states')
        assert graph.diagnostics(NODE).message == 'an input is missing: gravity only'
    for torque in torques:
        assert ros.nanoseconds(torque.header.stamp) == stamp
        np.testing.assert_allclose(torque.effort, GRAVITY, atol=1e-9)


def test_what_was_held_before_a_deactivation_is_forgotten(graph):
    with graph.parameters(NODE, on_stale='gravity_only', age_limit=0.3):
        answer(graph, graph.now())
        graph.client.change_state(NODE, Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_ACTIVATE)
        torques = graph.listen(JointState, 'gravity_torque')
        for _ in range(2):
            assert graph.diagnostics(NODE).message == 'no input yet'
        assert torques == []
        np.testing.assert_allclose(answer(graph, graph.now()), GRAVITY, atol=1e-9)


def test_when_states_stop_the_torque_goes_to_zero_where_on_stale_says_so(graph):
    with graph.parameters(NODE, on_stale='ramp_to_zero', ramp_time=0.2, age_limit=0.3):
        answer(graph, graph.now())
        torques = graph.listen(JointState, 'gravity_torque')
        graph.until(lambda: torques and not np.any(torques[-1].effort), 'a torque of zero')
        shares = np.array([torque.effort for torque in torques])[:, 1] / GRAVITY[1]
        graph.diagnostics(NODE)
        assert len(torques) == len(shares)  # zero was the last
        answer(graph, graph.now())
    assert (np.diff(shares) <= 0.0).all()
    assert 0.0 < shares[len(shares) // 2] < 1.0


def test_a_robot_that_compensates_gravity_itself_gets_none(graph):
    known = len(graph.log(NODE))
    for parameters in ({'gravity_owner': 'robot'}, {'preset': 'franka'}):
        with pytest.raises(ProcessError, match='transition 1 failed'), graph.parameters(NODE, **parameters):
            pass
    said = [line for line in graph.log(NODE)[known:].splitlines() if 'not configured' in line]
    assert len(said) == 2
    assert all('gravity would be compensated twice' in line for line in said)


def test_where_torques_are_only_watched_there_are_no_commands(graph):
    with graph.parameters(NODE, preset='monitor_only'):
        answer(graph, graph.now())
        assert graph.node.count_publishers('gravity_torque/commands') == 0


def test_two_publishers_of_states_are_reported_and_both_get_torques(graph):
    answer(graph, graph.now())
    other = graph.node.create_publisher(JointState, 'joint_states', 10)
    for _ in range(2):
        torques = graph.listen(JointState, 'gravity_torque')
        torque = graph.answer(lambda stamp: other.publish(ros.joint_state(NAMES, stamp, -Q)), torques, graph.now())
        np.testing.assert_allclose(torque.effort, ROBOT.gravity_torque(-Q), atol=1e-9)
        np.testing.assert_allclose(answer(graph, graph.now()), GRAVITY, atol=1e-9)
    assert graph.diagnostics(NODE, lambda status: status.fields['publishers of joint_states'] == '2')
    warned = graph.diagnostics(
        NODE,
        lambda status: '2 publishers of joint_states (/test_client, /test_client), 2 of them with' in status.message,
    )
    assert warned.level == DiagnosticStatus.WARN
    graph.node.destroy_publisher(other)


@pytest.mark.parametrize('data', [bytes(4), bytes(8), b'\0\1\0\0' + b'\xff' * 60, STATE[:40]], ids=len)
def test_what_is_no_joint_state_gets_no_torque_and_the_next_state_does(graph, data):
    answer(graph, graph.now())
    torques = graph.listen(JointState, 'gravity_torque')
    graph.silence(NODE, 'not a JointState', lambda: graph.publish('joint_states', data))
    assert torques == []
    np.testing.assert_allclose(answer(graph, graph.now()), GRAVITY, atol=1e-9)


def test_huge_positions_get_a_torque_while_it_is_finite_and_within_the_limits(graph):
    far = np.full(6, 1e11)
    with graph.parameters(NODE, age_limit=10.0, effort_limit=[1.0], position_limit_tolerance=1e6):
        graph.silence(NODE, 'is beyond its limits, -3.05433 to 3.05433', lambda: send(graph, graph.now(), far))
        far = np.full(6, 1e6)
        torques = graph.listen(JointState, 'gravity_torque')
        torque = graph.answer(lambda stamp: send(graph, stamp, far), torques, graph.now())
        np.testing.assert_allclose(torque.effort, np.clip(ROBOT.gravity_torque(far), -1.0, 1.0), atol=1e-9)
        torques.clear()
        graph.silence(NODE, 'is beyond its limits', lambda: send(graph, graph.now(), np.full(6, 1e300)))
        assert torques == []
        answer(graph, graph.now())


def test_a_parameter_of_no_type_ends_nothing(graph):
    wrong = Parameter(name='model', value=ParameterValue(type=99))
    request = SetParameters.Request(parameters=[wrong])
    assert graph.client.call(SetParameters, f'{NODE}/set_parameters', request).results == []
    assert 'set_parameters: request refused' in graph.log(NODE)
    answer(graph, graph.now())


@pytest.mark.parametrize(
    ('name', 'value', 'culprit'),
    [
        ('on_stale', 'loud', "got 'loud'"),
        ('preset', 'frank', "got 'frank'"),
        ('gravity_owner', 'nobody', "got 'nobody'"),
        ('effort_limit', [1.0, 2.0], 'effort_limit: expected one number >= 0 or 6'),
        ('rate_limit', [-1.0], 'rate_limit: expected one number >= 0 or 6'),
        ('gravity', [0.0, 1.0], 'gravity'),
        ('command_joints', ['elbow_of_nobody'], 'elbow_of_nobody'),
    ],
)
def test_a_value_that_the_node_could_not_use_is_refused_when_set(graph, name, value, culprit):
    with pytest.raises(ProcessError, match=culprit):
        graph.client.set_parameter(NODE, name, value)


@pytest.fixture(scope='module')
def follower(graph):
    """A node beside the other that carries the arm when states stop."""
    node = 'feedforward_node'
    graph.start(node, arguments=('-p', 'on_stale:=gravity_only', '-p', 'age_limit:=0.3', '-p', 'start_tolerance:=0.0'))
    return node


def followed(graph, node, position, velocity=()):
    """Have the arm rest at Q, wherever it is said to be, and return the torques that come from then on."""
    graph.follow(node, ros.trajectory(NAMES, graph.now(), (0.0, Q), (ros.DAY, Q)))
    torques = graph.listen(JointState, 'feedforward_torque')
    graph.repeat_until(lambda: send(graph, graph.now(), position, velocity), lambda: torques, 'a torque')
    return torques


def test_where_nothing_is_asked_for_nothing_is_sent_when_states_stop(graph, follower):
    torques = followed(graph, follower, Q)
    graph.follow(follower, ros.trajectory(NAMES, 0))
    graph.silence(follower, 'no trajectory', lambda: send(graph, graph.now()))
    torques.clear()
    # the node says so again and again, and sends nothing
    graph.diagnostics(follower, lambda status: 'no joint state for' in status.message)
    assert torques == []


def test_states_that_lack_something_are_none(graph, follower):
    with graph.parameters(follower, evaluate_at='measured'):
        torques = followed(graph, follower, Q, np.zeros(6))
        graph.silence(follower, 'an input is missing: gravity only', lambda: send(graph, graph.now()))
        np.testing.assert_allclose(torques[-1].effort, GRAVITY, atol=1e-9)
        # nothing but velocities is missing: the arm is carried where it goes
        expected = ROBOT.gravity_torque(2.0 * Q)

        def carried():
            return np.allclose(torques[-1].effort, expected, rtol=0, atol=1e-9)

        graph.repeat_until(lambda: send(graph, graph.now(), 2.0 * Q), carried, 'the torque there')
