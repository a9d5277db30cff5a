"""Payload and gravity of a node whose robot is described otherwise: what was in force goes on, without another wait."""

from pathlib import Path
from types import SimpleNamespace

from support.nodes.payload_gravity_followers import Follower, mass_of

import pytest
from geometry_msgs.msg import Vector3

from robot_dynamics_interfaces.msg import GravityState, PayloadState
from robot_dynamics_ros import Robot
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.nodes.inputs.payload_gravity_input import PayloadGravityInput
from robot_dynamics_ros.nodes.inputs.payload_gravity_topics import KINDS
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.process.qos import WITH_LIVELINESS

WALL = 0.0, 9.81, 0.0
JUST_STARTED = 'waiting for payload_state: dynamics_server has just started, and nodes may hold what was set before'


class Server(BaseNode):
    """Publishes what a test says, as a dynamics_server would."""

    def __init__(self, **options):
        super().__init__('hand', **options)
        self.on = {topic: self.create_publisher(kind, topic, WITH_LIVELINESS) for topic, kind in KINDS.items()}

    def assume(self, settled):
        """Publish no payload, and gravity on a wall, which nobody has set."""
        x, y, z = WALL
        vector = Vector3(x=x, y=y, z=z)
        self.on['payload_state'].publish(PayloadState(assumed=True, settled=settled))
        self.on['gravity_state'].publish(GravityState(gravity=vector, before=vector, assumed=True, settled=settled))


@pytest.fixture
def server(process):
    return process.node(Server)


@pytest.fixture
def follower(process, server):
    """A node that holds an arm with what the server assumes."""
    follower = process.node(Follower)
    follower.start()
    server.assume(settled=True)
    process.spin_until(lambda: not follower.payload_gravity.missing, 'payload and gravity')
    follower.payload_gravity.in_use = True  # as the pipeline says at the first state
    return follower


def gravity(payload_gravity):
    return payload_gravity.current.gravity.after, payload_gravity.current.gravity.duration


def test_a_node_in_use_waits_for_nothing_that_a_server_assumes_and_has_not_settled(process, server, follower):
    server.assume(settled=False)
    newest = follower.payload_gravity_topics._newest
    process.spin_until(lambda: not any(message.settled for message in newest.values()), 'both messages')
    described = PayloadGravityInput(follower, awaited=True)
    described.begin(in_use=True)
    assert (described.missing, described.in_use) == ('', True)
    described.begin()
    assert (described.missing, described.in_use) == (JUST_STARTED, False)


def test_the_gravity_in_force_goes_on_without_a_ramp_from_that_of_the_node(follower):
    described = PayloadGravityInput(follower, awaited=True)
    assert gravity(described) == gravity(follower.payload_gravity) == (WALL, 0)


def test_it_goes_on_where_the_server_has_ended(process, server, follower):
    for publisher in server.on.values():
        server.destroy_publisher(publisher)
    process.spin_until(follower.payload_gravity.warnings, 'that the server has ended')
    described = PayloadGravityInput(follower, awaited=True)
    described.begin(in_use=True)
    assert described.missing == '' and gravity(described) == (WALL, 0)
    assert 'dynamics_server has ended' in described.warnings()[0]


def test_what_was_set_and_does_not_fit_is_waited_for_also_by_a_node_in_use(process, server, follower):
    server.on['payload_state'].publish(PayloadState(mass=2.0, frame='ee_link'))
    process.spin_until(lambda: mass_of(follower) == 2.0, 'the payload')
    follower.robot = Robot.from_urdf(Path(named_urdf('aubo_i5')).read_text().replace('ee_link', 'tool_flange'))
    described = PayloadGravityInput(follower, awaited=True)
    described.begin(in_use=True)
    assert described.missing.startswith('refused: payload_state: what was set does not fit')
    assert not described.in_use  # what is set next begins at once


def event(count, change):
    return SimpleNamespace(alive_count=count, alive_count_change=change)


@pytest.mark.parametrize('count', [0, -1], ids=['known', 'dead before the subscription'])
def test_a_server_that_was_killed_before_its_first_message_has_to_be_started(process, server, count):
    """The graph has its publishers for up to 20 s."""
    follower = process.node(Follower)
    follower.start()
    waiting = 'waiting for payload_state: activate dynamics_server'
    process.spin_until(lambda: follower.payload_gravity.missing == waiting, 'the reason')
    topics = follower.payload_gravity_topics
    topics._on_liveliness('payload_state')(event(count, -1))
    follower.payload_gravity.look()
    assert follower.payload_gravity.missing.startswith('waiting for payload_state: start dynamics_server')
    assert len(topics.publishers('payload_state')) == 1
    follower.trigger_deactivate()
    follower.trigger_cleanup()
    follower.start()
    assert follower.payload_gravity.missing.startswith('waiting for payload_state: start dynamics_server')
    topics._on_liveliness('payload_state')(event(count + 1, 1))
    follower.payload_gravity.look()
    assert follower.payload_gravity.missing == waiting


def test_no_payload_is_none_in_whatever_frame(process, server, follower):
    server.on['payload_state'].publish(PayloadState(mass=2.0, frame='ee_link'))
    process.spin_until(lambda: mass_of(follower) == 2.0, 'the payload')
    server.on['payload_state'].publish(PayloadState(mass=0.0, frame='tool_flange'))
    process.spin_until(lambda: mass_of(follower) == 0.0, 'no payload')
    assert follower.payload_gravity.rejected == ''
