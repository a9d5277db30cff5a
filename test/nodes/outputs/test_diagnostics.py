"""The messages of the nodes on /diagnostics are those that doc/concepts/diagnostics.md lists."""

import re
import time
from pathlib import Path

from support.nodes import graph as ros

import pytest
from diagnostic_msgs.msg import DiagnosticStatus
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.executables.bringup import NODES
from robot_dynamics_ros.nodes.executables.gravity_compensation_node import GravityCompensationNode
from robot_dynamics_ros.nodes.executables.torque_controller import TorqueController
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import groups_by_node
from robot_dynamics_ros.nodes.tasks import state_loop
from robot_dynamics_ros.nodes.tasks.torque_pipeline import MOST_REASONS, NO_INPUT, Counts

DOCUMENT = Path(__file__).parents[3].joinpath('doc', 'concepts', 'diagnostics.md').read_text(encoding='utf-8')
SOURCES = [
    path.read_text(encoding='utf-8')
    for folder in ('nodes', 'control', 'aubo')
    for path in (ros.TREE / 'robot_dynamics_ros' / folder).rglob('*.py')
]
GROUPS = {
    'all': set(NODES),
    'torque nodes': {name for name, groups in groups_by_node().items() if 'torque_nodes' in groups},
    **{name: {name} for name in NODES},
}


def rows(heading: str) -> list[list[str]]:
    """The cells of each row of the table whose first column is ``heading``."""
    (table,) = [part for part in DOCUMENT.split('\n\n') if part.startswith(f'| {heading} |')]
    lines = [[cell.strip() for cell in re.split(r'(?<!\\)\|', line)[1:-1]] for line in table.splitlines()]
    assert {len(cells) for cells in lines} == {len(lines[0])}
    return lines[2:]


def told(heading: str, node: str) -> list[str]:
    """The names in the first column of the rows that are of ``node``."""
    return [cells[0] for cells in rows(heading) if node in set().union(*(GROUPS[of] for of in cells[1].split(', ')))]


@pytest.fixture(scope='module')
def graph(file_graph):
    """All nodes in one process, under a clock that does not go, which aubo_node refuses: they speak all the same.

    The controller's law is the one with the most fields.
    """
    simulated = ('use_sim_time:=true', 'aubo_node:use_sim_time:=false')
    law = ('control_law:=adaptive', 'adaptation_payload_limit:=5.0', 'friction_adaptation_rate:=10.0')
    given = (*simulated, *(f'torque_controller:{value}' for value in law))
    file_graph.bring_up(*NODES, arguments=tuple(part for value in given for part in ('-p', value)))
    return file_graph


@pytest.mark.parametrize('node', NODES)
def test_the_fields_of_a_node_are_those_of_the_document(graph, node):
    messages = graph.listen(ros.DiagnosticArray, '/diagnostics')
    found = []
    graph.until(
        lambda: found.extend(s for m in messages for s in m.status if s.name == f'/{node}') or found, 'diagnostics'
    )
    assert sorted(value.key for value in found[0].values) == sorted(name.strip('`') for name in told('field', node))
    assert found[0].hardware_id == 'aubo_i5'
    known = [
        re.escape(name).replace(r'\ \.\.\.', '.*').replace(r'\.\.\.\ ', '.*').replace('`', '')
        for name in told('message', node)
    ]
    assert any(re.fullmatch(pattern, found[0].message) for pattern in ('publishing', *known))


def test_every_message_of_the_document_is_one_of_a_node():
    for cells in rows('message'):
        assert any(re.findall('`(.+?)`', cells[0])[0] in source for source in SOURCES), cells[0]


def test_the_levels_are_all_there_are():
    assert [cells[0] for cells in rows('level')] == ['OK', 'WARN', 'ERROR']


def test_the_model_is_hashed_once(graph, monkeypatch):
    digest, asked, said = Robot.digest.fget, [], []
    monkeypatch.setattr(Robot, 'digest', property(lambda robot: asked.append(robot) or digest(robot)))
    node = GravityCompensationNode(namespace='/in_this_process')
    node.start()
    node.diagnostics.publisher.publish = said.append
    for _ in range(3):
        node.diagnostics.publish()
    node.fall_silent()
    node.destroy_node()
    assert len(said) == 3 and len(asked) == 1
    assert {'model digest': digest(Robot.named('aubo_i5'))}.items() <= ros.Status(*said[-1].status).fields.items()


@pytest.mark.parametrize(
    ('kind', 'topic'),
    [(TorqueController, 'effort_commands'), (GravityCompensationNode, 'gravity_torque/commands')],
)
def test_a_second_source_of_the_arms_commands_is_a_warning(graph, kind, topic):
    node = kind(namespace='/commanded')
    node.start()
    told = []
    node.diagnostics.publisher.publish = lambda array: told.append((array.status[0].level, array.status[0].message))

    def warned():
        node.diagnostics.publish()
        return (
            told[-1][0] == DiagnosticStatus.WARN and f'2 publishers of /commanded/{topic} (/commanded/' in told[-1][1]
        )

    assert not warned()
    publisher = graph.node.create_publisher(Float64MultiArray, f'/commanded/{topic}', 1)
    graph.until(warned, 'a warning')
    graph.node.destroy_publisher(publisher)
    node.fall_silent()
    node.destroy_node()


def test_a_publisher_of_joint_states_from_which_none_comes_is_told(graph, monkeypatch):
    node = GravityCompensationNode(namespace='/unheard')
    node.start()
    told = []
    node.diagnostics.publisher.publish = lambda array: told.append(array.status[0].message)

    def published(condition):
        deadline = time.monotonic() + ros.TIMEOUT
        while not condition() and time.monotonic() < deadline:
            time.sleep(0.01)
            node.diagnostics.publish()
        assert condition(), told[-1]

    node.diagnostics.publish()
    monkeypatch.setattr(state_loop, 'UNHEARD', 0.0)
    node.diagnostics.publish()
    assert set(told) == {NO_INPUT}, 'nobody publishes'
    publisher = graph.node.create_publisher(JointState, '/unheard/joint_states', 1)
    published(lambda: 'has a publisher, but no message came' in told[-1])
    graph.node.destroy_publisher(publisher)
    published(lambda: told[-1] == NO_INPUT)
    node.fall_silent()
    node.destroy_node()


def test_the_number_of_reasons_is_bounded_whatever_the_names():
    counts = Counts()
    for k in range(3 * MOST_REASONS):
        counts.reject(f'joint_{k} is missing')
    reasons = counts.rejected_reasons()
    assert sum(reasons.values()) == 3 * MOST_REASONS
    assert reasons['others'] == 2 * MOST_REASONS
    assert len(reasons) == MOST_REASONS + 1
    counts.reset()
    assert counts.rejected_reasons() == {}


def test_reasons_are_copied_for_who_reads_them():
    counts = Counts()
    counts.reject('first')
    copied = counts.rejected_reasons()
    counts.reject('second')
    assert list(copied) == ['first']
