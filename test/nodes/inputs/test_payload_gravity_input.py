"""When payload and gravity are in force: messages within a process, waiting for another process, late joiners."""

import re
import time

from support.nodes.payload_gravity_followers import PAYLOAD, Follower, mass_of, set_payload

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Vector3, Vector3Stamped
from std_msgs.msg import Header

from robot_dynamics_interfaces.msg import GravityState, Payload, PayloadState
from robot_dynamics_interfaces.srv import SetGravity
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity
from robot_dynamics_ros.control.payload.ramp import LATE_NS, SHORTEST_NS
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import KINDS
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.process.qos import TRANSIENT_LOCAL, WITH_LIVELINESS
from robot_dynamics_ros.nodes.tasks import held_values
from robot_dynamics_ros.nodes.tasks.held_values import HeldValues

GRAVITY = GravityState(gravity=Vector3(y=9.81), before=Vector3(z=-9.81))


def both(other_process, condition):
    """Return the condition, which lets another process go on, too."""

    def condition_of_both():
        other_process.spin(0.01)
        return condition()

    return condition_of_both


def test_nodes_of_one_process_have_the_load_before_set_payload_responds(process):
    server, follower = process.node(DynamicsServer), process.node(Follower)
    follower.start()
    assert follower.payload_gravity.missing == 'waiting for payload_state: activate dynamics_server'
    server.start()
    assert set(follower.payload_gravity._applied) == set(KINDS)
    set_payload(server, 2.0)
    request = SetGravity.Request(gravity=Vector3Stamped(vector=Vector3(x=9.81)), ramp_time=3.0)
    server.task.payload_gravity.set_gravity(request, SetGravity.Response())
    assert follower.payload_gravity.current.payload.after['ee_link'].mass == 2.0
    assert follower.payload_gravity.current.gravity == server.task.payload_gravity.current.gravity
    assert follower.seen[-1] is follower.payload_gravity.current


def test_a_node_that_is_destroyed_does_not_keep_the_server_from_answering(process):
    server, follower = process.node(DynamicsServer), process.node(Follower)
    follower.start()
    server.start()
    process.executor.remove_node(follower)
    follower.destroy_node()
    set_payload(server, 2.0)  # raised by the handle of the follower
    assert 'ee_link' not in follower.payload_gravity.current.payload.after
    assert server.task.payload_gravity.current.payload.after['ee_link'].mass == 2.0
    assert not follower.crash


def test_copies_that_come_over_dds_later_change_nothing(process):
    server, follower = process.node(DynamicsServer), process.node(Follower)
    follower.start()
    server.start()
    received = []
    witness = process.node(BaseNode, name='witness')
    witness.create_subscription(PayloadState, 'payload_state', received.append, WITH_LIVELINESS)
    process.spin_until(lambda: received, 'the first state')
    for mass in (1.0, 2.0, 3.0):
        set_payload(server, mass)
    changes = len(follower.seen)
    process.spin_until(lambda: received[-1].mass == 3.0, 'the copies')
    process.spin()
    assert (mass_of(follower), len(follower.seen)) == (3.0, changes)
    # one that was on its way when the next was handed over
    (subscription,) = [it for it in follower.subscriptions if it.topic_name == '/payload_state']
    subscription.callback(PayloadState(mass=2.0, frame='ee_link', before=received[-1].before, stamp=received[-1].stamp))
    assert mass_of(follower) == 2.0  # another server's
    subscription.callback(received[-1])
    assert mass_of(follower) == 2.0


def test_robots_of_one_process_keep_their_loads_apart(process):
    one = process.node(DynamicsServer, namespace='one')
    followers = [process.node(Follower, namespace=name) for name in ('one', 'two')]
    for node in (*followers, one):
        node.start()
    set_payload(one, 2.0)
    process.spin(0.3)
    assert [mass_of(follower) for follower in followers] == [2.0, 0.0]


def test_without_a_server_a_node_waits_and_says_what_to_do(process):
    follower = process.node(Follower)
    follower.start()
    process.spin(0.2)
    assert follower.payload_gravity.missing == (
        'waiting for payload_state: start dynamics_server, or set await_payload_gravity to false for an arm without one'
    )


@pytest.mark.parametrize('ramp_time', [0.5, 0.0])
def test_a_node_that_awaits_no_payload_begins_at_once_and_follows_a_later_server_by_a_ramp(process, ramp_time):
    follower = process.node(Follower, awaited=False)
    follower.start()
    assert follower.payload_gravity.missing == '' and mass_of(follower) == 0.0
    assert follower.payload_gravity._timer.is_canceled()
    follower.payload_gravity.in_use = True  # as the pipeline says at the first state
    publisher = process.node(BaseNode, name='hand').create_publisher(PayloadState, 'payload_state', WITH_LIVELINESS)
    publisher.publish(PayloadState(mass=2.0, frame='ee_link', ramp_time=ramp_time))  # it was over long ago
    process.spin_until(lambda: mass_of(follower) == 2.0, 'the payload')
    ramp = follower.payload_gravity.current.payload
    assert (follower.payload_gravity.missing, ramp.before, ramp.duration) == ('', {}, SHORTEST_NS)


def test_a_server_of_another_process_that_is_not_active_yet_is_waited_for(process, other_process):
    server = other_process.node(DynamicsServer)
    follower = process.node(Follower)
    follower.start()
    waiting = 'waiting for payload_state: activate dynamics_server'
    process.spin_until(lambda: follower.payload_gravity.missing == waiting, 'the reason')
    server.start()
    set_payload(server, 2.0)
    process.spin_until(both(other_process, lambda: not follower.payload_gravity.missing), 'it still waits')
    assert mass_of(follower) == 2.0


def deaf_server(process, monkeypatch):
    """Return an active server that hears what nodes hold once its process is spun, and not before."""
    server = process.node(DynamicsServer)
    with monkeypatch.context() as patch:
        patch.setattr(held_values.HeldValues, '_take', lambda *_: None)
        server.start()
    return server


JUST_STARTED = 'waiting for payload_state: dynamics_server has just started, and nodes may hold what was set before'


def test_what_a_server_assumes_is_used_once_it_is_settled(process):
    hand, follower = process.node(BaseNode, name='hand'), process.node(Follower)
    payload, gravity = (hand.create_publisher(kind, topic, WITH_LIVELINESS) for topic, kind in KINDS.items())
    follower.start()
    gravity.publish(GRAVITY)
    payload.publish(PayloadState(assumed=True))
    process.spin_until(lambda: follower.payload_gravity.missing == JUST_STARTED, 'the reason')
    process.spin(1.0)
    assert follower.payload_gravity.missing == JUST_STARTED
    changes = len(follower.seen)
    payload.publish(PayloadState(assumed=True, settled=True))
    process.spin_until(lambda: not follower.payload_gravity.missing, 'it still waits')
    assert len(follower.seen) == changes


def test_a_server_alone_settles_soon(process):
    server = process.node(DynamicsServer)
    server.start()
    states = []
    process.node(BaseNode, name='witness').create_subscription(
        PayloadState, 'payload_state', states.append, WITH_LIVELINESS
    )
    process.spin_until(lambda: states and states[-1].settled, 'that it is settled')
    assert states[-1].assumed and server.task.warnings() == []


def test_a_late_joiner_waits_while_a_server_is_too_busy_to_hear_what_nodes_hold(process, other_process, monkeypatch):
    """As long as one callback of the server goes on: it has taken 0.7 s."""
    holder, server = process.node(Follower), process.node(DynamicsServer)
    holder.start()
    server.start()
    set_payload(server, 3.0)
    process.executor.remove_node(server)
    process.nodes.remove(server)
    server.destroy_node()
    late = process.node(Follower, name='late')
    late.start()
    process.spin_until(lambda: 'start dynamics_server' in late.payload_gravity.missing, 'the reason')
    deaf_server(other_process, monkeypatch)
    process.spin_until(lambda: late.payload_gravity.missing == JUST_STARTED, 'the reason')
    process.spin(1.5)
    assert late.payload_gravity.missing == JUST_STARTED and mass_of(late) == 0.0

    process.spin_until(both(other_process, lambda: not late.payload_gravity.missing), 'it still waits')
    assert mass_of(late) == mass_of(holder) == 3.0


def test_a_node_that_says_nothing_is_waited_for_with_a_bound_and_a_reason(process, monkeypatch):
    """As a process that was killed is, which the graph has for 20 s."""
    monkeypatch.setattr(held_values, 'PATIENCE', 1.5)
    silent = process.node(BaseNode, name='silent')
    silent.create_publisher(PayloadState, 'payload_in_force', TRANSIENT_LOCAL)
    follower, server = process.node(Follower), process.node(DynamicsServer)
    follower.start()
    server.start()
    waiting = 'payload_state: assumed, and 1 nodes have not said what they hold'
    process.spin_until(lambda: waiting in server.task.warnings(), 'the reason')
    assert follower.payload_gravity.missing == JUST_STARTED
    process.spin_until(lambda: not follower.payload_gravity.missing, 'it still waits')
    assert server.task.warnings() == [
        'payload_state: assumed, while 1 nodes have not said within 1.5 s what they hold; set it'
    ]
    set_payload(server, 1.0)
    assert server.task.warnings() == []


def test_the_other_topic_is_waited_for_where_one_has_come(process):
    hand = process.node(BaseNode, name='hand')
    payload, gravity = (hand.create_publisher(kind, topic, WITH_LIVELINESS) for topic, kind in KINDS.items())
    follower = process.node(Follower)
    follower.start()
    payload.publish(PAYLOAD)
    waiting = 'waiting for gravity_state: activate dynamics_server'
    process.spin_until(lambda: follower.payload_gravity.missing == waiting, 'the reason')
    gravity.publish(GRAVITY)
    process.spin_until(lambda: not follower.payload_gravity.missing, 'it still waits')
    assert list(follower.payload_gravity.current.gravity.after) == [0.0, 9.81, 0.0]


def test_a_new_configuration_begins_with_the_load_in_force(process):
    server, follower = process.node(DynamicsServer), process.node(Follower)
    follower.start()
    server.start()
    set_payload(server, 2.0)
    follower.trigger_deactivate()
    follower.trigger_cleanup()
    set_payload(server, 3.0)
    seen = len(follower.seen)
    follower.start()
    assert (mass_of(follower), len(follower.seen)) == (3.0, seen)
    # what was said before the configuration must be heard anew: the server may have ended meanwhile
    assert follower.payload_gravity.missing.startswith('waiting for gravity_state')
    process.spin_until(lambda: not follower.payload_gravity.missing, 'it still waits')
    assert mass_of(follower) == 3.0


def test_a_server_that_ends_is_a_warning_and_a_new_configuration_waits_for_another_one(process, other_process):
    server, follower = other_process.node(DynamicsServer), process.node(Follower)
    follower.start()
    server.start()
    set_payload(server, 2.0)
    process.spin_until(lambda: mass_of(follower) == 2.0, 'the payload')
    process.spin_until(both(other_process, lambda: not follower.payload_gravity.missing), 'gravity, too')
    assert follower.payload_gravity.warnings() == []
    other_process.executor.remove_node(server)
    other_process.nodes.clear()
    server.destroy_node()
    process.spin_until(lambda: len(follower.payload_gravity.warnings()) == 1, 'a warning')
    process.spin_until(
        lambda: follower.payload_gravity.warnings()[0].startswith('no publisher of payload_state and'), ''
    )
    assert mass_of(follower) == 2.0  # the arm still carries it
    follower.trigger_deactivate()
    follower.trigger_activate()
    process.spin_until(lambda: not follower.payload_gravity.missing, 'it still waits')
    assert mass_of(follower) == 2.0
    follower.trigger_deactivate()
    follower.trigger_cleanup()
    follower.start()
    assert mass_of(follower) == 0.0 and follower.payload_gravity.missing.startswith('waiting for payload_state: start')


def test_the_warning_of_a_server_that_has_ended_names_topics_in_one_order_whichever_message_came_first(process):
    follower = process.node(Follower)
    follower.start()
    server = process.node(BaseNode, name='hand')
    gravity = server.create_publisher(GravityState, 'gravity_state', WITH_LIVELINESS)
    payload = server.create_publisher(PayloadState, 'payload_state', WITH_LIVELINESS)
    gravity.publish(GRAVITY)
    process.spin_until(lambda: list(follower.payload_gravity._applied) == ['gravity_state'], 'gravity')
    payload.publish(PAYLOAD)
    process.spin_until(lambda: mass_of(follower) == 2.0, 'the payload')
    for publisher in (gravity, payload):
        server.destroy_publisher(publisher)
    ended = 'no publisher of payload_state and gravity_state any more: dynamics_server has ended, its values stay'
    process.spin_until(lambda: follower.payload_gravity.warnings() == [ended], 'the warning')


def test_a_server_that_was_told_nothing_takes_no_payload_off_and_continues_what_nodes_hold(
    process, other_process, monkeypatch
):
    follower, server = process.node(Follower), process.node(DynamicsServer)
    follower.start()
    server.start()
    set_payload(server, 3.0)
    gravity = SetGravity.Request(gravity=Vector3Stamped(vector=Vector3(y=9.81)))
    server.task.payload_gravity.set_gravity(gravity, SetGravity.Response())
    process.executor.remove_node(server)
    process.nodes.remove(server)
    server.destroy_node()
    new = deaf_server(other_process, monkeypatch)
    changes = len(follower.seen)
    process.spin_until(lambda: follower.payload_gravity.report()['publishers of payload_state'] == '1', 'the server')
    process.spin_until(lambda: len(follower.payload_gravity._contradicted) == 2, 'what it assumes')
    assert (mass_of(follower), len(follower.seen)) == (3.0, changes)
    (warning, _) = follower.payload_gravity.warnings()
    assert warning.startswith('gravity_state: dynamics_server assumes another value since its start, the one that was')

    process.spin_until(both(other_process, lambda: not follower.payload_gravity.warnings()), 'it adopts both')
    found = new.task.payload_gravity.current
    assert found.ends_like(follower.payload_gravity.current)
    assert (found.payload.mass, found.gravity.after) == (3.0, (0.0, 9.81, 0.0))
    assert [text.partition(':')[0] for text in new.task.payload_gravity.warnings()] == list(KINDS)[::-1]
    late = process.node(Follower, name='late')
    late.start()
    process.spin_until(lambda: mass_of(late) == 3.0, 'the payload for a late joiner')
    set_payload(new, 0.0)
    process.spin_until(lambda: mass_of(follower) == mass_of(late) == 0.0, 'no payload, since that was said')
    assert [text.partition(':')[0] for text in new.task.payload_gravity.warnings()] == ['gravity_state']


def test_a_first_message_that_is_refused_is_a_reason_to_wait_and_logged(process):
    follower = process.node(Follower, awaited=False)
    publisher = process.node(BaseNode, name='hand').create_publisher(PayloadState, 'payload_state', WITH_LIVELINESS)
    publisher.publish(PayloadState(mass=2.0, frame='hook'))
    process.spin_until(lambda: list(follower.payload_gravity_topics.newest()), 'the message')
    follower.start()
    assert "'hook'" in follower.payload_gravity.rejected
    assert follower.payload_gravity.missing == f'refused: {follower.payload_gravity.rejected}'
    publisher.publish(PAYLOAD)
    process.spin_until(lambda: not follower.payload_gravity.missing, 'it still waits')
    publisher.publish(PayloadState(mass=-2.0, frame='ee_link'))
    process.spin_until(lambda: 'mass' in follower.payload_gravity.rejected, 'a refusal')
    assert (follower.payload_gravity.missing, mass_of(follower)) == ('', 2.0)
    (warning,) = follower.payload_gravity.warnings()
    assert warning.startswith('refused, the value before stays: payload_state: mass: expected')
    publisher.publish(PayloadState(mass=1.0, frame='ee_link'))
    process.spin_until(lambda: mass_of(follower) == 1.0, 'the next payload')
    assert follower.payload_gravity.warnings() == []


@pytest.mark.parametrize(
    ('message', 'reason'),
    [
        (PayloadState(frame='ee_link', before=[Payload(mass=1.0), Payload(mass=-1.0)]), r'before\[1\]: mass'),
        (PayloadState(frame='ee_link', before=[Payload(mass=1.0, frame='hook')]), r"before\[0\]: .*'hook'"),
        (GravityState(header=Header(frame_id='ee_link')), 'gravity: .*base link'),
        (GravityState(before=Vector3(x=float('nan'))), 'before'),
        (GravityState(ramp_time=4000.0), 'ramp_time: expected at most 3600 s'),
    ],
)
def test_every_field_of_a_message_is_validated(process, message, reason):
    follower = process.node(Follower)
    topic = 'gravity_state' if isinstance(message, GravityState) else 'payload_state'
    publisher = process.node(BaseNode, name='hand').create_publisher(type(message), topic, WITH_LIVELINESS)
    follower.start()
    publisher.publish(message)
    process.spin_until(lambda: follower.payload_gravity.rejected, 'a refusal')
    assert follower.payload_gravity.current == PayloadGravity.of(follower.robot)
    assert re.match(f'{topic}: {reason}', follower.payload_gravity.rejected)


def test_a_second_server_makes_no_step_where_torques_are_computed(process, monkeypatch):
    monkeypatch.setattr(HeldValues, 'look', lambda _: None)  # it has not heard yet what nodes hold
    follower, server = process.node(Follower), process.node(DynamicsServer)
    follower.start()
    server.start()
    set_payload(server, 3.0, ramp_time=1e-9)
    held = follower.payload_gravity.current.payload
    time.sleep(1.5e-9 * LATE_NS)  # what changed just now may still change at once
    before = follower.get_clock().now().nanoseconds
    assert held.finished(before - LATE_NS)
    follower.payload_gravity.in_use = True  # as the pipeline says at the first state
    second = process.node(DynamicsServer)
    second.start()
    assert follower.payload_gravity.current.payload is held
    set_payload(second, 1.0, ramp_time=1e-9)
    ramp = follower.payload_gravity.current.payload
    assert (mass_of(follower), ramp.before, ramp.duration) == (1.0, held.after, SHORTEST_NS)
    assert before <= ramp.start <= follower.get_clock().now().nanoseconds
    gravity = follower.payload_gravity.current.gravity
    assert gravity.finished(before) and gravity.after == (0.0, 0.0, -9.81)
    # a node that is activated begins with what is in force
    follower.trigger_deactivate()
    follower.trigger_activate()
    set_payload(second, 2.0, ramp_time=1e-9)
    assert mass_of(follower) == 2.0 and follower.payload_gravity.current.payload.duration == 1


def test_two_servers_are_a_warning_with_their_number(process):
    follower = process.node(Follower)
    servers = [process.node(DynamicsServer) for _ in range(2)]
    for node in (follower, *servers):
        node.start()
    process.spin_until(lambda: len(follower.payload_gravity.warnings()) == 2, 'the warnings')
    text = (
        '2 publishers of payload_state (/dynamics_server, /dynamics_server): the newest message counts; end all '
        'instances of dynamics_server but one'
    )
    assert follower.payload_gravity.warnings() == [text, text.replace('payload', 'gravity')]
    assert follower.payload_gravity.report()['publishers of payload_state'] == '2'
    found = []
    process.nodes[0].create_subscription(DiagnosticArray, '/diagnostics', found.append, 10)
    several = '2 publishers of gravity_state'
    process.spin_until(lambda: any(several in array.status[0].message for array in found), 'a warning')
    status = next(array.status[0] for array in found if several in array.status[0].message)
    assert (status.level, status.message) == (DiagnosticStatus.WARN, '; '.join(follower.payload_gravity.warnings()))
    assert {'publishers of payload_state': '2', 'publishers of gravity_state': '2'}.items() <= {
        value.key: value.value for value in status.values
    }.items()
    process.executor.remove_node(servers[1])
    process.nodes.remove(servers[1])
    servers[1].destroy_node()
    process.spin_until(lambda: not follower.payload_gravity.warnings(), 'no warning any more')
