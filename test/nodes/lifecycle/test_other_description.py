"""Another description of the robot while nodes run: what was set stays, torques go on, or the reason is said.

Server and torque nodes are in one process; each state is passed to the pipeline directly.
"""

import re
from pathlib import Path

from support import graph as ros

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Vector3, Vector3Stamped
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from std_msgs.msg import Float64MultiArray, String

from robot_dynamics_interfaces.srv import SetGravity, SetPayload
from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.nodes.executables.dynamics_server import DynamicsServer
from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.process.qos import TRANSIENT_LOCAL

URDF = Path(named_urdf('aubo_i5')).read_text()
COMMENTED = URDF.replace('</robot>', '<!-- published again --></robot>')
STRONGER = URDF.replace('effort="133', 'effort="139')
RENAMED = STRONGER.replace('ee_link', 'tool_flange')
ROBOT = Robot.named('aubo_i5')
Q = np.array([0.4, -0.7, 0.9, -0.3, 0.5, 0.2])
HELD, WALL, UPRIGHT = 3.0, (0.0, 9.81, 0.0), (0.0, 0.0, -9.81)
OTHER_BASE = STRONGER.replace(f'"{ROBOT.link_names[0]}"', '"pedestal"')


def torque_of(node):
    """Return what a node publishes for a state of now, None for nothing."""
    pipeline = node.task.pipeline
    before = pipeline.counts.published
    state = ros.joint_state(ROBOT.joint_names, node.get_clock().now().nanoseconds, Q, 0.0 * Q)
    pipeline.on_state(serialize_message(state))
    return pipeline.limiter.last.copy() if pipeline.counts.published > before else None


def torque(mass=HELD, gravity=WALL):
    robot = ROBOT.with_gravity(gravity)
    return (robot.with_payload(Payload(mass, (0.0, 0.0, 0.0)), 'ee_link') if mass else robot).gravity_torque(Q)


class Described:
    """A server and a torque node that are described on a topic; 3 kg are held on a wall."""

    def __init__(self, process, **parameters):
        shared = {'description_topic': 'robot_description', 'model': '', 'age_limit': ros.DAY}

        def node(kind, **own):
            overrides = [Parameter(name, value=value) for name, value in {**shared, **own}.items()]
            return process.node(kind, parameter_overrides=overrides)

        self.process, self.server = process, node(DynamicsServer)
        self.node = node(GravityCompensationNode, await_payload_gravity=True, **parameters)
        self.hand = process.node(BaseNode, name='hand')
        self.text = self.hand.create_publisher(String, 'robot_description', TRANSIENT_LOCAL)
        self.say(URDF)
        for it in (self.server, self.node):
            process.spin_until(lambda it=it: it.active, f'{it.get_name()}: {it.silence}')
        self.set(HELD, WALL)
        torque_of(self.node)  # from which the rate limit counts
        assert torque_of(self.node) == pytest.approx(torque())

    def set(self, mass, gravity, frame='ee_link'):
        service = self.server.task.payload_gravity
        request = SetPayload.Request(mass=mass, frame=frame, ramp_time=1e-9)
        service.set_payload(request, SetPayload.Response())
        vector = Vector3Stamped(vector=Vector3(**dict(zip('xyz', gravity, strict=True))))
        service.set_gravity(SetGravity.Request(gravity=vector, ramp_time=1e-9), SetGravity.Response())

    def say(self, text, *nodes):
        """Publish a description, or tell these nodes of it, one after the other."""
        if not nodes:
            self.text.publish(String(data=text))
        for node in nodes:
            node.description.on_message(String(data=text))

    def diagnosed(self, node):
        """Return level and message of a node's diagnostics."""
        found = []
        publish, node.diagnostics.publisher.publish = node.diagnostics.publisher.publish, found.append
        node.diagnostics.publish()
        node.diagnostics.publisher.publish = publish
        return found[0].status[0].level, found[0].status[0].message


@pytest.fixture
def described(process):
    return Described(process)


def test_the_same_robot_described_again_changes_nothing(described):
    tasks = [node.task for node in (described.server, described.node)]
    described.say(COMMENTED, described.server, described.node)
    assert [node.task for node in (described.server, described.node)] == tasks
    assert torque_of(described.node) == pytest.approx(torque())
    assert described.server.task.payload_gravity.current.payload.mass == HELD


@pytest.mark.parametrize('server_first', [True, False])
def test_payload_and_gravity_that_were_set_stay_with_another_robot(described, server_first):
    nodes = [described.server, described.node][:: 1 if server_first else -1]
    tasks = [node.task for node in nodes]
    described.say(STRONGER, *nodes)
    assert all(node.task is not task for node, task in zip(nodes, tasks, strict=True))
    assert described.node.robot.limits.effort[1] == pytest.approx(139.0)
    assert torque_of(described.node) == pytest.approx(torque())
    found = described.server.task.payload_gravity.current
    assert (found.payload.mass, found.gravity.after) == (HELD, WALL)
    assert described.diagnosed(described.node) == (DiagnosticStatus.OK, 'publishing')
    described.set(1.0, UPRIGHT)
    wanted = pytest.approx(torque(1.0, UPRIGHT))
    described.process.spin_until(lambda: torque_of(described.node) == wanted, 'what is set later')


@pytest.mark.parametrize('server_first', [True, False])
@pytest.mark.parametrize(
    ('text', 'reason', 'frame'),
    [
        (RENAMED, "payload_state: what was set does not fit .* set it again: .*'ee_link'", 'tool_flange'),
        (OTHER_BASE, "gravity_state: what was set does not fit .* set it again: .*base link 'pedestal'", 'ee_link'),
    ],
    ids=['frame', 'base'],
)
def test_where_they_do_not_fit_no_torque_leaves_until_they_are_set_again(described, server_first, text, reason, frame):
    nodes = [described.server, described.node][:: 1 if server_first else -1]
    described.say(text, *nodes)
    for node in nodes:
        level, message = described.diagnosed(node)
        assert (level, bool(re.search(reason, message))) == (DiagnosticStatus.WARN, True), message
    assert torque_of(described.node) is None
    assert re.match(f'refused: {reason}', described.node.silence)
    with pytest.raises(ArgumentError, match=reason):  # a service that computes
        described.server.task.payload_gravity.robot  # noqa: B018
    described.say(COMMENTED, *nodes)  # where they fit
    assert torque_of(described.node) == pytest.approx(torque())
    assert described.server.task.payload_gravity.robot.payloads['ee_link'].mass == HELD
    described.say(text, *nodes)
    assert torque_of(described.node) is None
    described.set(HELD, WALL, frame)
    assert torque_of(described.node) == pytest.approx(torque())
    assert [described.diagnosed(node)[0] for node in nodes] == [DiagnosticStatus.OK] * 2


@pytest.mark.parametrize(
    'text', [URDF[: len(URDF) // 2], 'no URDF', STRONGER.replace('"139"', '"0"')], ids=['half', 'text', 'no limit']
)
def test_what_is_refused_leaves_nodes_alone(described, text):
    task = described.node.task
    described.say(text, described.node)
    level, message = described.diagnosed(described.node)
    assert level == DiagnosticStatus.WARN and message.startswith('robot description refused, the robot before stays: ')
    assert described.node.task is task
    assert torque_of(described.node) == pytest.approx(torque())
    described.say(COMMENTED, described.node)
    assert described.diagnosed(described.node) == (DiagnosticStatus.OK, 'publishing')


def test_torques_continue_from_the_last_one_without_a_command_to_zero(process):
    described = Described(process, rate_limit=[1e9], on_deactivate='zero')
    commands = []
    process.nodes[0].create_subscription(Float64MultiArray, 'gravity_torque/commands', commands.append, 10)
    process.spin_until(lambda: described.node.count_subscribers('gravity_torque/commands'), 'the subscription')
    described.node.set_parameters([Parameter('rate_limit', value=[1e-6])])  # acts with the next robot
    described.say(STRONGER, described.server, described.node)
    assert torque_of(described.node) == pytest.approx(torque(), abs=1e-3)
    process.spin_until(lambda: commands, 'a command')
    process.spin(0.1)
    assert all(np.any(message.data) for message in commands)
    described.node.task._command_ramp = None  # at this rate limit it would not end


def test_an_inactive_node_stays_inactive_and_ends_up_with_the_other_robot(described):
    described.node.trigger_deactivate()
    described.say(STRONGER, described.node)
    assert not described.node.active and described.node.robot.limits.effort[1] == pytest.approx(139.0)
    described.node.trigger_activate()
    assert torque_of(described.node) == pytest.approx(torque())
