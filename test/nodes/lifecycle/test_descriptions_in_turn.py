"""Descriptions of the robot that follow each other closely."""

from support.described_nodes import STRONGER, Described

import pytest
from diagnostic_msgs.msg import DiagnosticStatus

RENAMED = STRONGER.replace('ee_link', 'tool_flange')
ANOTHER = 'another robot description: the node is configured again'


@pytest.fixture
def described(process):
    described = Described(process)
    described.hold()
    return described


def test_each_description_is_on_the_diagnostics_at_once_and_does_not_delay_the_next_status(described):
    for node in (described.server, described.node):
        timer = node.diagnostics.timer
        ((level, message),) = described.statuses(node, lambda node=node: described.say(STRONGER, node))
        assert level == DiagnosticStatus.WARN and message.endswith(ANOTHER)
        assert node.diagnostics.timer is timer and not timer.is_canceled()
        assert described.statuses(node, lambda node=node: described.say(STRONGER, node)) == []  # the same one


def test_the_status_names_the_new_robot(described):
    found = []
    described.node.diagnostics.publisher.publish = found.append
    described.say(RENAMED, described.node)
    (digest,) = (value.value for value in found[0].status[0].values if value.key == 'model digest')
    assert digest == described.node.robot.digest
