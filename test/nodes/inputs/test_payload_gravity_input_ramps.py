"""Ramps of payload and gravity where a node receives them late, early or twice, and where the clock goes back."""

import time
from itertools import pairwise

from support.nodes.messages import joint_state
from support.nodes.payload_gravity_followers import PAYLOAD, SECOND, Follower, mass_of, set_payload

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Vector3, Vector3Stamped
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock

from robot_dynamics_interfaces.msg import PayloadState
from robot_dynamics_interfaces.srv import SetGravity
from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import KINDS
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.process.qos import WITH_LIVELINESS

ROBOT = Robot.named('aubo_i5')
Q = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2])


def test_a_repeated_message_keeps_the_progress_of_a_clock_that_went_back(process):
    follower = process.node(Follower)
    publisher = process.node(BaseNode, name='hand').create_publisher(PayloadState, 'payload_state', WITH_LIVELINESS)
    follower.start()
    message = PayloadState(mass=2.0, frame='ee_link', ramp_time=4.0)
    message.stamp.sec = 100
    publisher.publish(message)
    process.spin_until(lambda: mass_of(follower) == 2.0, 'the payload')
    follower.payload_gravity.clock_set_back(101 * SECOND, 3 * SECOND)
    assert follower.payload_gravity.current.payload.share(3 * SECOND) == 0.25
    assert follower.seen[-1] is follower.payload_gravity.current
    publisher.publish(message)
    process.spin(0.3)
    assert follower.payload_gravity.current.payload.share(3 * SECOND) == 0.25


def test_a_ramp_that_begins_later_than_now_is_waited_for(process):
    """It is of another clock, or a late joiner hears it after the clock was set back."""
    follower = process.node(Follower, parameter_overrides=[Parameter('use_sim_time', value=True)])
    hand = process.node(BaseNode, name='hand')
    publisher, clock = hand.create_publisher(PayloadState, 'payload_state', WITH_LIVELINESS), hand.create_publisher(
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
    process.spin_until(lambda: 'begins 1900.0 s later than now' in follower.payload_gravity.missing, 'the reason')
    assert mass_of(follower) == 0.0
    pass_by(1998)
    process.spin(0.3)
    assert mass_of(follower) == 0.0
    pass_by(2000)
    process.spin_until(lambda: mass_of(follower) == 2.0, 'the payload, with its ramp')
    process.spin_until(lambda: 'begins' not in follower.payload_gravity.missing, 'no reason any more')
    # without a ramp there is nothing to be early for
    message.stamp.sec, message.mass, message.ramp_time = 9000, 3.0, 0.0
    publisher.publish(message)
    process.spin_until(lambda: mass_of(follower) == 3.0, 'a payload that is there at once')


def test_a_message_that_comes_after_a_ramp_of_later_replaces_it(process):
    follower = process.node(Follower)
    publisher = process.node(BaseNode, name='hand').create_publisher(PayloadState, 'payload_state', WITH_LIVELINESS)
    follower.start()
    later = PayloadState(mass=3.0, frame='ee_link', ramp_time=4.0)
    start = follower.get_clock().now().nanoseconds + 2 * SECOND
    later.stamp.sec, later.stamp.nanosec = divmod(start, SECOND)
    for message, text in (PAYLOAD, ''), (later, 'later than now'):
        publisher.publish(message)
        process.spin_until(lambda: mass_of(follower) == 2.0 and text in follower.payload_gravity.rejected, message)  # noqa: B023
    publisher.publish(PAYLOAD)
    process.spin_until(lambda: follower.get_clock().now().nanoseconds > start, 'its time')
    assert mass_of(follower) == 2.0


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
    server.task.payload_gravity.set_gravity(request, SetGravity.Response())
    set_payload(server, 2.0, ramp_time=400.0)
    at(1100)
    at(50)
    for holder in server.task.payload_gravity, follower.payload_gravity:
        # the clock shows the time before the thread that set it has told who follows it
        process.spin_until(lambda h=holder: h.current.payload.share(50 * SECOND) == 0.25, 'the ramp of the new time')
        assert holder.current.gravity.share(0) == 1.0
    moved = follower.payload_gravity.current.payload.start
    applied = follower.payload_gravity._applied
    process.spin_until(lambda: applied['payload_state'].stamp.sec < 0, 'the state of the new time')
    late = other_process.node(Follower, name='late')
    late.start()
    other_process.spin_until(lambda: set(late.payload_gravity._applied) == set(KINDS), 'payload and gravity')
    for now in (follower.payload_gravity.current, late.payload_gravity.current):
        assert (now.payload.start, now.payload.share(50 * SECOND)) == (moved, 0.25)
        assert now.gravity.share(0) == 1.0 and now.gravity.after == (9.81, 0.0, 0.0)


def test_a_server_publishes_no_ramp_of_a_clock_that_was_set_back_again_meanwhile(process, monkeypatch):
    server = process.node(DynamicsServer)
    server.start()
    back, published = [0], []

    def now():
        return time.monotonic_ns(), time.time_ns() - back[0]

    monkeypatch.setattr(server.clock_watch, '_now', now)
    monkeypatch.setattr(server.task.payload_gravity, '_now', lambda: now()[1])
    for publisher in server._payload_gravity_publishers.values():
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
    (starts,) = {message.stamp.sec for message in published if isinstance(message, PayloadState)}
    assert 0 <= now()[1] // SECOND - starts < 30


@pytest.mark.parametrize('lag', [0.1, 0.3])
def test_a_payload_that_changes_in_mid_ramp_makes_no_step_however_old_stamps_are(process, lag):
    server = process.node(DynamicsServer)
    overrides = [Parameter('age_limit', value=1.0)]
    node = process.node(GravityCompensationNode, parameter_overrides=overrides)
    server.start()
    node.start()
    of_a_kilogram = np.abs(
        ROBOT.with_payload(Payload(1.0, (0.0, 0.0, 0.0)), 'ee_link').gravity_torque(Q) - ROBOT.gravity_torque(Q)
    )

    def torque():
        """Return the torque for a state of now, whose stamp lags, between two times (s)."""
        began, stamp = time.monotonic(), node.get_clock().now().nanoseconds - round(lag * SECOND)
        node.task.pipeline.on_state(serialize_message(joint_state(ROBOT.joint_names, stamp, Q)))
        return began, node.task.pipeline.limiter.last.copy(), time.monotonic()

    found = []
    for mass in (4.0, 0.0, 4.0):  # in 2 s each, which is cut short
        set_payload(server, mass, ramp_time=2.0)
        for _ in range(10):
            found.append(torque())
            time.sleep(0.02)
    assert node.task.pipeline.counts.published == len(found)
    assert np.any(found[-1][1] != found[0][1])
    for (began, before, _), (_, after, ended) in pairwise(found):
        assert np.all(np.abs(after - before) <= 2.0 * of_a_kilogram * (ended - began) + 1e-9)
