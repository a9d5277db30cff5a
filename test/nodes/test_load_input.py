"""When payload and gravity are in force: messages within a process, waiting for another process, late joiners."""

import re
import time

from support import graph as ros

import pytest
import rclpy
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Vector3, Vector3Stamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Header

from robot_dynamics_interfaces.msg import GravityState, Payload, PayloadState
from robot_dynamics_interfaces.srv import SetGravity, SetPayload
from robot_dynamics_ros.control.load import Load
from robot_dynamics_ros.control.ramp import SHORTEST
from robot_dynamics_ros.nodes import load_input
from robot_dynamics_ros.nodes.base_node import BaseNode
from robot_dynamics_ros.nodes.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.load_input import LoadInput
from robot_dynamics_ros.nodes.load_topics import KINDS, LoadTopics
from robot_dynamics_ros.nodes.qos import TRANSIENT_LOCAL

SECOND = 1_000_000_000
PAYLOAD = PayloadState(mass=2.0, frame='ee_link')
GRAVITY = GravityState(gravity=Vector3(y=9.81), before=Vector3(z=-9.81))


class Follower(BaseNode):
    """As much of a torque node as the load needs."""

    def __init__(self, name='follower', **options):
        super().__init__(name, **options)
        self.load_topics = LoadTopics(self)
        self.load, self.seen = None, []

    def make_task(self):
        self.load = LoadInput(self, lambda: self.seen.append(self.load.load))
        return super().make_task()

    def on_activate(self, state):
        self.load.begin()
        return super().on_activate(state)


class Process:
    """Nodes of one process: a context of their own and one thread."""

    def __init__(self):
        self.context = rclpy.Context()
        self.context.init(args=ros.AUBO_I5)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.nodes = []

    def node(self, kind, **options):
        node = kind(context=self.context, **options)
        node.get_logger().set_level(rclpy.logging.LoggingSeverity.FATAL)
        self.executor.add_node(node)
        self.nodes.append(node)
        return node

    def spin(self, seconds=0.1):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.01)

    def spin_until(self, condition, what):
        for _ in range(200):
            if condition():
                return
            self.spin()
        raise AssertionError(what)

    def end(self):
        for node in self.nodes:
            self.executor.remove_node(node)
            node.destroy_node()
        self.executor.shutdown()
        self.context.try_shutdown()


@pytest.fixture
def process():
    running = Process()
    yield running
    running.end()


@pytest.fixture
def other_process():
    """Nodes that reach those of ``process`` over DDS only."""
    running = Process()
    yield running
    running.end()


def set_payload(server, mass, **fields):
    response = SetPayload.Response()
    server.task.load.set_payload(SetPayload.Request(mass=mass, frame='ee_link', **fields), response)


def mass_of(follower):
    return follower.load.load.payload.mass


def test_nodes_of_one_process_have_the_load_before_set_payload_responds(process):
    server, follower = process.node(DynamicsServer), process.node(Follower)
    follower.start()
    assert follower.load.missing == 'waiting for payload_state'
    server.start()
    assert set(follower.load._applied) == set(KINDS) and follower.load.missing == ''
    set_payload(server, 2.0)
    request = SetGravity.Request(gravity=Vector3Stamped(vector=Vector3(x=9.81)), ramp_time=3.0)
    server.task.load.set_gravity(request, SetGravity.Response())
    assert follower.load.load.payload.after['ee_link'].mass == 2.0
    assert follower.load.load.gravity == server.task.load.load.gravity
    assert follower.seen[-1] is follower.load.load


def test_copies_that_come_over_dds_later_change_nothing(process):
    server, follower = process.node(DynamicsServer), process.node(Follower)
    follower.start()
    server.start()
    received = []
    witness = process.node(BaseNode, name='witness')
    witness.create_subscription(PayloadState, 'payload_state', received.append, TRANSIENT_LOCAL)
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


def test_without_a_server_it_waits_for_discovery_only(process, monkeypatch):
    follower = process.node(Follower)
    monkeypatch.setattr(load_input, 'DISCOVERY', 1e9)
    follower.start()
    process.spin(0.2)
    assert follower.load.missing == 'waiting for payload_state'
    monkeypatch.setattr(load_input, 'DISCOVERY', 0.5)
    process.spin_until(lambda: not follower.load.missing, 'it waits for nobody')
    assert follower.load._timer.is_canceled()
    # a server that comes later changes the load, and nothing else
    other = process.node(DynamicsServer)
    process.spin(0.3)
    assert follower.load.missing == ''
    other.start()
    set_payload(other, 2.0)
    assert mass_of(follower) == 2.0


def test_it_waits_for_a_server_of_another_process_that_is_not_active_yet(process, other_process, monkeypatch):
    server = other_process.node(DynamicsServer)
    follower = process.node(Follower)
    process.spin_until(lambda: follower.load_topics.has_publisher('gravity_state'), 'the server')
    follower.start()
    process.spin(load_input.DISCOVERY + 0.2)
    assert follower.load.missing == 'waiting for payload_state'
    monkeypatch.setattr(load_input, 'PATIENCE', 0.0)
    process.spin(0.1)
    assert follower.load.missing == (
        'payload_state has a publisher, but no message came within 0 s: activate dynamics_server'
    )
    monkeypatch.undo()
    server.start()
    set_payload(server, 2.0)
    process.spin_until(lambda: not follower.load.missing, 'it still waits')
    assert mass_of(follower) == 2.0


def test_only_one_topic_is_waited_for_where_the_other_has_no_publisher(process, other_process):
    publisher = other_process.node(BaseNode, name='hand').create_publisher(
        GravityState, 'gravity_state', TRANSIENT_LOCAL
    )
    follower = process.node(Follower)
    process.spin_until(lambda: follower.load_topics.has_publisher('gravity_state'), 'the publisher')
    follower.start()
    process.spin(load_input.DISCOVERY + 0.1)
    assert follower.load.missing == 'waiting for gravity_state'
    publisher.publish(GRAVITY)
    process.spin_until(lambda: not follower.load.missing, 'it still waits')
    assert list(follower.load.load.gravity.after) == [0.0, 9.81, 0.0]


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
    assert follower.load.missing == 'waiting for gravity_state'
    process.spin_until(lambda: not follower.load.missing, 'it still waits')
    assert mass_of(follower) == 3.0


def test_the_load_of_a_server_that_is_gone_is_not_used_by_a_new_configuration(process, other_process):
    server, follower = other_process.node(DynamicsServer), process.node(Follower)
    follower.start()
    server.start()
    set_payload(server, 2.0)
    process.spin_until(lambda: mass_of(follower) == 2.0, 'the payload')
    other_process.executor.remove_node(server)
    other_process.nodes.clear()
    server.destroy_node()
    process.spin_until(lambda: not follower.load_topics.has_publisher('payload_state'), 'it is still there')
    assert mass_of(follower) == 2.0  # the arm still carries it
    follower.trigger_deactivate()
    follower.trigger_cleanup()
    follower.start()
    assert mass_of(follower) == 0.0


def test_a_first_message_that_is_refused_is_a_reason_to_wait_and_logged(process):
    follower = process.node(Follower)
    publisher = process.node(BaseNode, name='hand').create_publisher(PayloadState, 'payload_state', TRANSIENT_LOCAL)
    publisher.publish(PayloadState(mass=2.0, frame='hook'))
    follower.start()
    process.spin_until(lambda: follower.load.refused, 'a refusal')
    process.spin(load_input.DISCOVERY)
    assert "'hook'" in follower.load.refused
    assert follower.load.missing == f'refused: {follower.load.refused}'
    publisher.publish(PAYLOAD)
    process.spin_until(lambda: not follower.load.missing, 'it still waits')
    publisher.publish(PayloadState(mass=-2.0, frame='ee_link'))
    process.spin_until(lambda: 'mass' in follower.load.refused, 'a refusal')
    assert (follower.load.missing, mass_of(follower)) == ('', 2.0)


def test_a_repeated_message_keeps_the_progress_of_a_clock_that_went_back(process):
    follower = process.node(Follower)
    publisher = process.node(BaseNode, name='hand').create_publisher(PayloadState, 'payload_state', TRANSIENT_LOCAL)
    follower.start()
    message = PayloadState(mass=2.0, frame='ee_link', ramp_time=4.0)
    message.stamp.sec = 100
    publisher.publish(message)
    process.spin_until(lambda: mass_of(follower) == 2.0, 'the payload')
    follower.load.clock_set_back(101 * SECOND, 3 * SECOND)
    assert follower.load.load.payload.share(3 * SECOND) == 0.25
    assert follower.seen[-1] is follower.load.load
    publisher.publish(message)
    process.spin(0.3)
    assert follower.load.load.payload.share(3 * SECOND) == 0.25


def test_a_ramp_that_begins_later_than_now_is_waited_for(process):
    """It is of another clock, or a late joiner hears it after the clock was set back."""
    follower = process.node(Follower, parameter_overrides=[Parameter('use_sim_time', value=True)])
    hand = process.node(BaseNode, name='hand')
    publisher, clock = hand.create_publisher(PayloadState, 'payload_state', TRANSIENT_LOCAL), hand.create_publisher(
        Clock, '/clock', 10
    )  # fmt: skip

    def pass_by(seconds):
        def reached():
            clock.publish(Clock(clock=Time(sec=seconds)))
            return follower.get_clock().now().nanoseconds == seconds * SECOND

        process.spin_until(reached, f'{seconds} s')

    pass_by(100)
    follower.start()
    message = PayloadState(mass=2.0, frame='ee_link', ramp_time=4.0)
    message.stamp.sec = 2000
    publisher.publish(message)
    process.spin_until(lambda: 'begins 1900.0 s later than now' in follower.load.missing, 'the reason')
    assert mass_of(follower) == 0.0
    pass_by(1998)
    process.spin(0.3)
    assert mass_of(follower) == 0.0
    pass_by(2000)
    process.spin_until(lambda: mass_of(follower) == 2.0, 'the payload, with its ramp')
    process.spin_until(lambda: 'begins' not in follower.load.missing, 'no reason any more')
    # without a ramp there is nothing to be early for
    message.stamp.sec, message.mass, message.ramp_time = 9000, 3.0, 0.0
    publisher.publish(message)
    process.spin_until(lambda: mass_of(follower) == 3.0, 'a payload that is there at once')


def test_a_message_that_comes_after_a_ramp_of_later_replaces_it(process):
    follower = process.node(Follower)
    publisher = process.node(BaseNode, name='hand').create_publisher(PayloadState, 'payload_state', TRANSIENT_LOCAL)
    follower.start()
    later = PayloadState(mass=3.0, frame='ee_link', ramp_time=4.0)
    start = follower.get_clock().now().nanoseconds + 2 * SECOND
    later.stamp.sec, later.stamp.nanosec = divmod(start, SECOND)
    for message, text in (PAYLOAD, ''), (later, 'later than now'):
        publisher.publish(message)
        process.spin_until(lambda: mass_of(follower) == 2.0 and text in follower.load.refused, message)  # noqa: B023
    publisher.publish(PAYLOAD)
    process.spin_until(lambda: follower.get_clock().now().nanoseconds > start, 'its time')
    assert mass_of(follower) == 2.0


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
    publisher = process.node(BaseNode, name='hand').create_publisher(type(message), topic, TRANSIENT_LOCAL)
    follower.start()
    publisher.publish(message)
    process.spin_until(lambda: follower.load.refused, 'a refusal')
    assert follower.load.load == Load.of(follower.robot)
    assert re.match(f'{topic}: {reason}', follower.load.refused)


def test_on_a_clock_that_goes_back_server_nodes_and_late_joiners_keep_the_progress_of_a_ramp(process, other_process):
    simulated = {'parameter_overrides': [Parameter('use_sim_time', value=True)]}
    server, follower = process.node(DynamicsServer, **simulated), process.node(Follower, **simulated)
    clock = process.node(BaseNode, name='clock').create_publisher(Clock, '/clock', 10)
    process.spin_until(lambda: clock.get_subscription_count() == 2, 'subscriptions of the clock')

    def at(seconds):
        clock.publish(Clock(clock=Time(sec=seconds)))
        for node in (server, follower):
            process.spin_until(lambda node=node: node.get_clock().now().nanoseconds == seconds * SECOND, 'the time')

    at(1000)
    follower.start()
    server.start()
    request = SetGravity.Request(gravity=Vector3Stamped(vector=Vector3(x=9.81)), ramp_time=1.0)
    server.task.load.set_gravity(request, SetGravity.Response())
    set_payload(server, 2.0, ramp_time=400.0)
    at(1100)
    at(50)
    for load in (server.task.load.load, follower.load.load):
        assert load.payload.share(50 * SECOND) == 0.25 and load.gravity.share(0) == 1.0
    moved = follower.load.load.payload.start
    process.spin_until(lambda: follower.load._applied['payload_state'].stamp.sec < 0, 'the state of the new time')
    late = other_process.node(Follower, name='late')
    late.start()
    other_process.spin_until(lambda: set(late.load._applied) == set(KINDS), 'its load')
    for load in (follower.load.load, late.load.load):
        assert (load.payload.start, load.payload.share(50 * SECOND)) == (moved, 0.25)
        assert load.gravity.share(0) == 1.0 and load.gravity.after == (9.81, 0.0, 0.0)


def test_a_server_publishes_no_ramp_of_a_clock_that_was_set_back_again_meanwhile(process, monkeypatch):
    server = process.node(DynamicsServer)
    server.start()
    back, published = [0], []

    def now():
        return time.monotonic_ns(), time.time_ns() - back[0]

    monkeypatch.setattr(server.clock_watch, '_now', now)
    monkeypatch.setattr(server.task.load, '_now', lambda: now()[1])
    for publisher in server._load_publishers.values():
        monkeypatch.setattr(publisher, 'publish', published.append)
    set_payload(server, 2.0, ramp_time=1000.0)
    back[0] += 300 * SECOND
    server.task._follow_clock()
    published.clear()
    back[0] += 300 * SECOND
    server.task._on_republish()
    starts = [message.stamp.sec for message in published if isinstance(message, PayloadState)]
    assert starts == [], f'a ramp that begins at {starts} s was published, now it is {now()[1] // SECOND} s'
    process.spin_until(lambda: published, 'payload and gravity, published again')
    (ramp,) = (message for message in published if isinstance(message, PayloadState))
    assert 0 <= now()[1] // SECOND - ramp.stamp.sec < 30


def test_a_server_that_starts_anew_or_a_second_one_makes_no_step_where_torques_are_computed(process):
    follower, server = process.node(Follower), process.node(DynamicsServer)
    follower.start()
    server.start()
    set_payload(server, 3.0, ramp_time=1e-9)
    held = follower.load.load.payload
    assert held.finished(follower.get_clock().now().nanoseconds)
    follower.load.in_use = True  # as the pipeline says at the first state
    before = follower.get_clock().now().nanoseconds
    second = process.node(DynamicsServer)
    second.start()
    ramp = follower.load.load.payload
    assert (mass_of(follower), ramp.before, ramp.duration) == (0.0, held.after, SHORTEST)
    assert before <= ramp.start <= follower.get_clock().now().nanoseconds
    gravity = follower.load.load.gravity
    assert gravity.finished(before) and gravity.after == (0.0, 0.0, -9.81)
    # a node that is activated begins with what is in force
    follower.trigger_deactivate()
    follower.trigger_activate()
    set_payload(second, 2.0, ramp_time=1e-9)
    assert mass_of(follower) == 2.0 and follower.load.load.payload.duration == 1


def test_two_servers_are_a_warning_with_their_number(process):
    follower = process.node(Follower)
    servers = [process.node(DynamicsServer) for _ in range(2)]
    for node in (follower, *servers):
        node.start()
    process.spin_until(lambda: len(follower.load.warnings()) == 2, 'the warnings')
    text = 'payload_state has 2 publishers, and the newest message counts: end all instances of dynamics_server but one'
    assert follower.load.warnings() == [text, text.replace('payload', 'gravity')]
    assert follower.load.report()['publishers of payload_state'] == '2'
    found = []
    process.nodes[0].create_subscription(DiagnosticArray, '/diagnostics', found.append, 10)
    process.spin_until(lambda: any('gravity_state has 2' in array.status[0].message for array in found), 'a warning')
    status = next(array.status[0] for array in found if 'gravity_state has 2' in array.status[0].message)
    assert (status.level, status.message) == (DiagnosticStatus.WARN, '; '.join(follower.load.warnings()))
    assert {'publishers of payload_state': '2', 'publishers of gravity_state': '2'}.items() <= {
        value.key: value.value for value in status.values
    }.items()
    process.executor.remove_node(servers[1])
    process.nodes.remove(servers[1])
    servers[1].destroy_node()
    process.spin_until(lambda: not follower.load.warnings(), 'no warning any more')
