"""Another description of the robot while nodes run: what was set stays, torques go on, or the reason is said.

Server and torque nodes are in one process; each state is passed to the pipeline directly.
"""

import re

from support.nodes.described_nodes import HELD, ROBOT, STRONGER, UPRIGHT, URDF, WALL, Described, torque, torque_of

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.errors import ArgumentError

COMMENTED = URDF.replace('</robot>', '<!-- published again --></robot>')
RENAMED = STRONGER.replace('ee_link', 'tool_flange')
OTHER_BASE = STRONGER.replace(f'"{ROBOT.link_names[0]}"', '"pedestal"')


def carrying(process, **parameters):
    """Return nodes that hold 3 kg on a wall."""
    described = Described(process, **parameters)
    described.set(HELD, WALL)
    torque_of(described.node)  # from which the rate limit counts
    assert torque_of(described.node) == pytest.approx(torque())
    return described


@pytest.fixture
def described(process):
    return carrying(process)


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
    described = carrying(process, rate_limit=[1e9], on_deactivate='zero')
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
