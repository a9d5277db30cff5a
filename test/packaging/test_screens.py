"""Layouts of PlotJuggler, RViz and Foxglove and the groups of diagnostic_aggregator: each topic and field exists.

The programs themselves are in no registry that this runs from; ``test_security_policy.py`` compares the types of the
topics with running nodes.
"""

import json
import re
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

from support.nodes import topics

import pytest
import yaml

from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.executables.bringup import NODES
from robot_dynamics_ros.tools.demonstration.plotjuggler_layout import plotjuggler_layout

CONFIG = Path(__file__).resolve().parents[2] / 'config'
ARM = Robot.named('aubo_i5')


def fields(topic: str) -> dict[str, str]:
    """Types of a topic's fields by name."""
    package, _, name = topics.TYPES[topic].split('/')
    return getattr(import_module(f'{package}.msg'), name).get_fields_and_field_types()


def check_path(path: str) -> None:
    """Assert that /topic.field[index] exists, the longest topic first."""
    topic, field, index = re.fullmatch(r'/([a-z_/]+)(?:\.(\w+)(\[\d+\])?)?', path).groups()
    assert topic in topics.TYPES, path
    if field:
        assert field in fields(topic), path
        assert bool(index) == fields(topic)[field].startswith('sequence'), path


def check_series(series: str, joint_names) -> None:
    """Assert that PlotJuggler has a series: of JointState by joint, of arrays by index."""
    topic, joint, field = re.fullmatch(r'/(\w+)(?:/(\w+))?/(\w+)(?:\[\d+\])?', series).groups()
    kind = topics.TYPES[topic]
    if kind.endswith('JointState'):
        assert joint in joint_names and field in ('position', 'velocity', 'effort'), series
    else:
        assert kind.endswith('Float64MultiArray') and joint is None and field == 'data', series
        assert int(series.rpartition('[')[2][:-1]) < len(joint_names), series


@pytest.mark.parametrize('path', sorted((CONFIG / 'plotjuggler').iterdir()), ids=lambda path: path.name)
def test_every_series_of_a_plotjuggler_layout_exists(path):
    root = ElementTree.parse(path).getroot()
    found = [curve.get('name') for curve in root.iter('curve')]
    assert len(found) == len(set(found)) >= 4 * ARM.nv
    for series in found:
        check_series(series, ARM.joint_names)
    for splitter in root.iter('DockSplitter'):
        assert int(splitter.get('count')) == len(splitter) == len(splitter.get('sizes').split(';'))
        assert sum(map(float, splitter.get('sizes').split(';'))) == pytest.approx(1.0, abs=1e-4)


def test_a_plotjuggler_layout_has_the_names_of_any_arm():
    names = ['left "arm" <1>', 'b & c']
    root = ElementTree.fromstring(plotjuggler_layout(names))
    found = {curve.get('name') for curve in root.iter('curve')}
    assert {f'/joint_states/{name}/effort' for name in names} <= found
    assert {f'/feedforward_torque/{name}/effort' for name in names} <= found
    assert {series for series in found if 'commands' in series} == {
        '/effort_commands/data[0]',
        '/effort_commands/data[1]',
    }


def topics_of_rviz(node, key=''):
    """The topics in an RViz configuration with the keys that hold them."""
    if isinstance(node, list):
        for part in node:
            yield from topics_of_rviz(part)
    elif isinstance(node, dict):
        for name, part in node.items():
            if name == 'Value' and isinstance(part, str) and part.startswith('/'):
                yield key, part
            elif name == 'Robot Description':
                yield name, part
            else:
                yield from topics_of_rviz(part, name)


def test_every_topic_of_the_rviz_configuration_exists():
    content = yaml.safe_load((CONFIG / 'rviz' / 'arm.rviz').read_text(encoding='utf-8'))
    displays = content['Visualization Manager']['Displays']
    expected = {'Description Topic': 'String', 'Robot Description': 'String', 'Topic': 'JointState'}
    found = list(topics_of_rviz(displays))
    for key, topic in found:
        assert topics.TYPES[topic.removeprefix('/')].endswith(f'/{expected[key]}'), topic
    efforts = [display['Topic']['Value'] for display in displays if display['Class'].endswith('/Effort')]
    assert efforts == ['/joint_states', '/feedforward_torque', '/gravity_torque', '/external_torque']
    assert all(display['Class'].startswith('rviz_default_plugins/') for display in displays)
    assert content['Visualization Manager']['Global Options']['Fixed Frame'] in ARM.frame_names


def test_every_path_and_panel_of_the_foxglove_layout_exists():
    content = json.loads((CONFIG / 'foxglove' / 'arm.json').read_text(encoding='utf-8'))
    panels = content['configById']
    paths = [path['value'] for panel in panels.values() for path in panel.get('paths', [])]
    paths += [panel[key] for panel in panels.values() for key in ('topicToRender', 'topicPath') if key in panel]
    paths += [topic for panel in panels.values() for topic in panel.get('topics', {})]
    assert len(paths) > 30
    for path in paths:
        check_path(path)
    shown = []

    def visit(part):
        if isinstance(part, str):
            shown.append(part)
        else:
            visit(part['first'])
            visit(part['second'])

    visit(content['layout'])
    assert sorted(shown) == sorted(panels)


def test_every_node_is_in_one_group_of_the_aggregator():
    content = yaml.safe_load((CONFIG / 'diagnostic_aggregator' / 'analyzers.yaml').read_text(encoding='utf-8'))
    parameters = content['analyzers']['ros__parameters']
    groups = [group for group in parameters.values() if isinstance(group, dict)]
    assert {group['type'] for group in groups} == {'diagnostic_aggregator/GenericAnalyzer'}
    assert len({group['path'] for group in groups}) == len(groups)
    for node in NODES:
        name = f'/left/{node}'
        assert [group['path'] for group in groups if any(text in name for text in group['contains'])] != []
        assert sum(any(text in name for text in group['contains']) for group in groups) == 1, node
    listed = {text for group in groups for text in group['contains']}
    assert listed == set(NODES)
