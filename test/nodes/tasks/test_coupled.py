"""feedforward_node and torque_controller with pd_feedforward as a pair: the arm is held, and nothing is added twice."""

import re
from contextlib import contextmanager

from support.matrices import matrix
from support.nodes import graph as ros
from support.nodes.feedforward import CONTROLLER, NAMES, REST, ROBOT, A, assert_command, at, controlled, rest_at
from support.nodes.feedforward import NODE as FEEDFORWARD

import numpy as np
import pytest
from lifecycle_msgs.msg import Transition
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.msg import Payload, TorqueInfo
from robot_dynamics_ros.messages.joint_trajectory import trajectory_of

GRAVITY = 'gravity_compensation_node'
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
Q = A + np.array([0.02, 0.03, -0.02, 0.05, -0.04, 0.05])
"""Where the arm is, still, while it should be at A."""
FEEDFORWARD_TORQUE = ROBOT.gravity_torque(A) + ROBOT.friction_torque(REST)
FOLLOWING = controlled(A, Q, added=FEEDFORWARD_TORQUE)
HELD = ROBOT.gravity_torque(Q)


@pytest.fixture(scope='module')
def started(file_graph):
    for node in (FEEDFORWARD, CONTROLLER, GRAVITY):
        file_graph.processes.start(node, '-p', 'age_limit:=2.0')
    for node in (FEEDFORWARD, CONTROLLER, GRAVITY):
        file_graph.client.wait_until_active(node)
    return file_graph


@pytest.fixture
def graph(started):
    """The pair without a trajectory, and states of now fifty times a second."""
    with started.repeating(lambda: started.send('joint_states', ros.joint_state(NAMES, started.now(), Q, REST)), 0.02):
        follow(started, JointTrajectory())
        yield started


def follow(graph, message):
    """Publish a trajectory and wait until both nodes have received it."""
    for node in (FEEDFORWARD, CONTROLLER):
        graph.follow(node, message)


def assert_commands(graph, expected, reason, count=50):
    """See ``count`` commands come, all of them the same, after such that were under way."""
    commands = graph.listen(Float64MultiArray, 'effort_commands')

    def settled():
        return commands and np.abs(np.array(commands[-1].data) - expected).max() < 1e-6

    graph.client.spin_while_waiting(settled, 5.0)
    began = len(commands)
    found = graph.client.spin_while_waiting(lambda: len(commands) >= began + count, 10.0)
    assert found, f'effort_commands: expected one for each state, got {len(commands)}: {reason}'
    for message in commands[began:]:
        assert_command(message.data, expected, reason)


def test_without_a_trajectory_the_arm_is_held(graph):
    assert_commands(graph, HELD, 'pd_feedforward holds the arm where it is, with gravity, where nothing is followed')


def test_a_trajectory_is_followed(graph):
    follow(graph, rest_at(graph.now()))
    assert_commands(graph, FOLLOWING, 'PD and the feedforward torque')


def test_in_mid_motion_an_empty_trajectory_has_the_arm_held(graph):
    follow(graph, rest_at(graph.now()))
    assert_commands(graph, FOLLOWING, 'PD and the feedforward torque', 20)
    follow(graph, JointTrajectory())
    assert_commands(graph, HELD, 'the arm is held with PD and gravity where it is')


def test_in_mid_motion_one_that_begins_later_changes_nothing_until_then(graph):
    follow(graph, rest_at(graph.now()))
    assert_commands(graph, FOLLOWING, 'PD and the feedforward torque', 20)
    commands = graph.listen(Float64MultiArray, 'effort_commands')
    start = graph.now() + 2 * ros.SECOND
    follow(graph, rest_at(start, A + 0.02))
    moved = controlled(A + 0.02, Q, added=ROBOT.gravity_torque(A + 0.02) + ROBOT.friction_torque(REST))
    assert_commands(graph, moved, 'the new trajectory, with its own feedforward torque')
    kinds = [
        min(range(2), key=lambda k: np.abs(np.array(message.data) - (FOLLOWING, moved)[k]).max())
        if min(np.abs(np.array(message.data) - known).max() for known in (FOLLOWING, moved)) <= 1e-6
        else 0.5
        for message in commands
    ]
    assert kinds == sorted(kinds) and kinds[0] == 0, 'neither a hold nor a torque of one trajectory along the other'
    assert 0 < kinds.count(0.5) < 25, 'a lead of less than half a second'


def test_a_trajectory_without_feedforward_torque_is_silence_after_the_age_limit_and_a_hold_before(started):
    started.client.change_state(FEEDFORWARD, Transition.TRANSITION_DEACTIVATE)
    try:
        started.reactivate(CONTROLLER)
        start = started.now() + ros.SECOND
        started.follow(CONTROLLER, rest_at(start))
        for stamp, state in ((at(start, -0.1), 'not begun'), (at(start, 0.03), 'begun for less than the age limit')):
            commands = started.listen(Float64MultiArray, 'effort_commands')

            def send(stamp=stamp):
                started.send('joint_states', ros.joint_state(NAMES, stamp, Q, REST))

            came = started.client.spin_while_waiting(lambda send=send, got=commands: send() or got, 5.0)
            assert came, f'effort_commands: expected the hold of the arm, got none: the trajectory has {state}'
            assert_command(commands[0].data, HELD, f'the arm is held: the trajectory has {state}')

        def late():
            started.send('joint_states', ros.joint_state(NAMES, at(start, 0.2), Q, REST))

        started.silence(CONTROLLER, 'no feedforward torque for this state', late)
        # what was held before may still have been under way
        commands = started.listen(Float64MultiArray, 'effort_commands')
        started.silence(CONTROLLER, 'no feedforward torque for this state', late)
        assert commands == [], 'effort_commands: expected none without feedforward torque, once following'
    finally:
        started.client.change_state(FEEDFORWARD, Transition.TRANSITION_ACTIVATE)


def info_of(graph, topic, condition=lambda info: True) -> TorqueInfo:
    """Return the info that a late joiner gets and that fulfils ``condition``."""
    with graph.record(TorqueInfo, f'{topic}/info', LATCHED) as infos:
        found = graph.client.spin_while_waiting(lambda: infos and condition(infos[-1]), 10.0)
        assert found, f'{topic}/info: expected a TorqueInfo for a late joiner, got {infos or "none"}'
        return infos[-1]


@pytest.mark.parametrize(
    ('topic', 'terms'),
    [('feedforward_torque', ['gravity', 'coriolis', 'inertia', 'friction']), ('gravity_torque', ['gravity'])],
)
def test_info_lists_the_terms_of_the_torque(graph, topic, terms):
    info = info_of(graph, topic)
    assert (info.header.frame_id, info.joint_names, info.gravity_owner) == ('base_link', NAMES, 'node')
    assert sorted(info.terms) == sorted(terms)
    np.testing.assert_array_equal(info.effort_limits, ROBOT.limits.effort)
    assert re.fullmatch('[0-9a-f]{16}', info.model_digest)
    assert (info.gravity.x, info.gravity.y, info.gravity.z) == tuple(ROBOT.gravity)
    assert info.payloads == []


def test_the_frame_of_a_torque_is_the_base_link(graph):
    follow(graph, rest_at(graph.now()))
    for topic in ('feedforward_torque', 'gravity_torque'):
        torques = graph.listen(JointState, topic)
        graph.until(lambda torques=torques: torques, topic)
        assert torques[0].header.frame_id == 'base_link', f'{topic}: frame_id {torques[0].header.frame_id!r}'


def assert_not_added(graph, node, topic, reason, held=HELD):
    """See the reason told, of which ``reason`` is a part, and no command but ``held``: that of the arm held."""
    commands = graph.listen(Float64MultiArray, topic)
    try:
        graph.tells(node, 'feedforward torque not added: ')
    except AssertionError as error:
        worst = max((np.abs(message.data).max() for message in commands[-10:]), default=0.0)
        told = f'{topic}: expected none, got {len(commands)}, up to {worst:.1f} N m'
        raise AssertionError(f'{told}: feedforward torque not added: {reason}') from error
    graph.tells(node, reason)
    others = [message.data for message in commands if np.abs(np.array(message.data) - held).max() > 1e-3]
    assert others == [], f'{topic}: expected {np.round(held, 3)} or none, got {np.round(others[0], 3)}: {reason}'


def test_a_robot_that_adds_gravity_itself_is_not_sent_it_once_more(graph):
    with graph.parameters(CONTROLLER, preset='franka'):
        follow(graph, rest_at(graph.now()))
        assert_not_added(graph, CONTROLLER, 'effort_commands', 'gravity', REST)
        follow(graph, JointTrajectory())
        assert_commands(graph, REST, 'franka adds gravity itself: nothing is left for a hold', 20)
        with graph.parameters(FEEDFORWARD, preset='franka'):
            follow(graph, rest_at(graph.now()))
            assert_commands(graph, controlled(A, Q, added=REST), 'both know that the robot adds gravity', 20)


# a producer of which the test says what it tells


@pytest.fixture(scope='module')
def checker(started):
    """A controller that adds what the test publishes, in a process of its own; it hears of the same trajectories."""
    names = ('joint_states', 'effort_commands', 'feedforward_torque', 'feedforward_torque/info')
    remaps = [part for name in names for part in ('-r', f'{name}:=fake/{name}')]
    arguments = ('-r', '__node:=checker', '-p', 'age_limit:=2.0', *remaps)
    started.processes.start('bringup', *arguments, '--', '--nodes', CONTROLLER)
    started.client.wait_until_active('checker')
    return started


MISFIT = {
    'no info': ({}, ''),
    'a joint less': ({'joint_names': NAMES[:5]}, ''),
    'gravity left to the robot': ({'gravity_owner': 'robot', 'terms': ['coriolis', 'inertia', 'friction']}, 'gravity'),
    'another model': ({'model_digest': '0123456789abcdef'}, 'model'),
    'another trajectory': ({'trajectory': 1}, 'another trajectory'),
    'no gravity': ({'terms': ['inertia']}, 'not gravity'),
    'another gravity': ({'gravity': (0.0, 0.0, 9.81)}, 'gravity'),
    'another payload': ({'payloads': 5.0}, 'payload'),
}


def with_info(graph, changed, followed, published=True):
    """Publish an info that is that of feedforward_node but for ``changed``, of torques along ``followed``."""
    info = info_of(graph, 'feedforward_torque', lambda info: 'gravity' in info.terms)
    info.trajectory = trajectory_of(NAMES, followed).digest
    info.trajectory_start = followed.header.stamp
    for field, value in changed.items():
        if field == 'gravity':
            info.gravity.x, info.gravity.y, info.gravity.z = value
        elif field == 'payloads':
            info.payloads = [Payload(mass=value, frame='ee_link')]
        else:
            setattr(info, field, value)
    graph.restart('checker')
    publisher = graph.node.create_publisher(TorqueInfo, 'fake/feedforward_torque/info', LATCHED)
    if published:
        publisher.publish(info)
    return publisher


@contextmanager
def stream(graph):
    """Send torques and states fifty times a second, from when the checker has answered one.

    A trajectory that comes before the first state, and begins before it, is dropped.
    """

    def send():
        stamp = graph.now()
        graph.send('fake/feedforward_torque', ros.joint_state(NAMES, stamp, A, REST, FEEDFORWARD_TORQUE))
        graph.send('fake/joint_states', ros.joint_state(NAMES, stamp, Q, REST))

    commands = graph.listen(Float64MultiArray, 'fake/effort_commands')
    with graph.repeating(send, 0.02):
        graph.until(lambda: commands, 'the torque of a hold')
        yield


def test_a_feedforward_torque_with_info_that_fits_is_added(checker):
    followed = rest_at(checker.now())
    publisher = with_info(checker, {}, followed)
    with stream(checker):
        checker.follow('bringup', followed)
        commands = checker.listen(Float64MultiArray, 'fake/effort_commands')
        checker.until(lambda: commands and np.abs(commands[-1].data - FOLLOWING).max() < 1e-6, 'the sum of both')
    checker.node.destroy_publisher(publisher)


@pytest.mark.parametrize('misfit', matrix(MISFIT, [*MISFIT][::3]))
def test_a_feedforward_torque_without_info_that_fits_is_not_added(checker, misfit):
    changed, reason = MISFIT[misfit]
    followed = rest_at(checker.now())
    publisher = with_info(checker, changed, followed, published=bool(changed))
    with stream(checker):
        checker.follow('bringup', followed)
        assert_not_added(checker, 'checker', 'fake/effort_commands', reason)
    checker.node.destroy_publisher(publisher)
