"""What launch files name exists: executables, files, parameters, arguments, nodes. With launch_ros one also runs."""

import ast
import os
import runpy
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import graph as ros
import pytest
import yaml
from lifecycle_msgs.msg import State

from robot_dynamics_ros.nodes.bringup import NODES

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = 'robot_dynamics_ros'
LAUNCH_FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
CONFIG = yaml.safe_load((ROOT / 'config' / 'nodes.yaml').read_text(encoding='utf-8'))
PARAMETERS = {name for table in CONFIG.values() for name in table['ros__parameters']} | {'use_sim_time'}


class Recorded:
    """Stands in for a class of launch: keeps what it was made with."""

    made: list = []  # noqa: RUF012

    def __init__(self, *arguments, **named):
        self.arguments, self.named = arguments, named
        self.made.append(self)

    def perform(self, context):
        return context[self.arguments[0]]


def stand_in(name, *classes):
    """A module of launch with classes that record."""
    module = ModuleType(name)
    for kind in classes:
        setattr(module, kind, type(kind, (Recorded,), {}))
    return module


@pytest.fixture
def described(monkeypatch):
    """Run a launch file against stand-ins; return all that it made, by the kind's name."""
    for module in (
        stand_in('launch', 'LaunchDescription'),
        stand_in('launch.actions', 'DeclareLaunchArgument', 'IncludeLaunchDescription', 'OpaqueFunction'),
        stand_in('launch.substitutions', 'LaunchConfiguration', 'PathJoinSubstitution'),
        stand_in('launch_ros', 'Unused'),
        stand_in('launch_ros.actions', 'Node'),
        stand_in('launch_ros.parameter_descriptions', 'ParameterValue'),
        stand_in('launch_ros.substitutions', 'FindPackageShare'),
    ):
        monkeypatch.setitem(sys.modules, module.__name__, module)

    def describe(path, **given):
        monkeypatch.setattr(Recorded, 'made', [])
        description = runpy.run_path(str(path))['generate_launch_description']()
        assert type(description).__name__ == 'LaunchDescription'
        kinds = [(type(item).__name__, item) for item in Recorded.made]
        defaults = {
            item.arguments[0]: item.named['default_value'] for kind, item in kinds if kind == 'DeclareLaunchArgument'
        }
        for function in [item.named['function'] for kind, item in kinds if kind == 'OpaqueFunction']:
            function({**defaults, **given})
        made: dict = {}
        for item in Recorded.made:
            made.setdefault(type(item).__name__, []).append(item)
        made['entities'] = description.arguments[0]
        return made

    return describe


def declared_arguments(made):
    return {argument.arguments[0]: argument.named for argument in made.get('DeclareLaunchArgument', [])}


def share_path(substitution):
    """The file of the source tree that a PathJoinSubstitution over the package's share folder means."""
    (parts,) = substitution.arguments
    share, *rest = parts
    assert type(share).__name__ == 'FindPackageShare'
    assert share.arguments == (PACKAGE,)
    return ROOT.joinpath(*rest)


def executables():
    """Console scripts by setup.py: a name before each '='."""
    tree = ast.parse((ROOT / 'setup.py').read_text(encoding='utf-8'))
    (names,) = [
        ast.literal_eval(item.value)
        for item in tree.body
        if isinstance(item, ast.Assign) and item.targets[0].id == 'NODES'
    ]
    return names


def test_there_are_launch_files():
    assert {path.name for path in LAUNCH_FILES} >= {'bringup.launch.py', 'demo.launch.py'}


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_launch_file_parses_and_describes_something(path, described):
    tree = ast.parse(path.read_text(encoding='utf-8'))
    assert ast.get_docstring(tree)
    made = described(path)
    assert any(kind in made for kind in ('Node', 'IncludeLaunchDescription'))


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_every_named_file_exists(path, described):
    substitutions = described(path).get('PathJoinSubstitution', [])
    assert substitutions
    assert [str(share_path(item)) for item in substitutions if not share_path(item).is_file()] == []


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_no_absolute_path(path):
    strings = [
        node.value for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))) if isinstance(node, ast.Constant)
    ]
    assert [text for text in strings if isinstance(text, str) and text.startswith(('/', '~')) and len(text) > 1] == []


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_every_node_is_an_executable_with_known_parameters(path, described):
    for node in described(path).get('Node', []):
        assert node.named['package'] == PACKAGE
        assert node.named['executable'] in executables()
        tables = [table for table in node.named['parameters'] if isinstance(table, dict)]
        assert {name for table in tables for name in table} <= PARAMETERS


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_every_configuration_is_a_declared_argument_and_each_is_used(path, described):
    made = described(path)
    used = {item.arguments[0] for item in made.get('LaunchConfiguration', [])}
    assert used == set(declared_arguments(made))
    assert all(len(argument['description']) > 5 for argument in declared_arguments(made).values())


def test_bringup_has_the_arguments_that_users_expect_and_hands_them_on(described):
    made = described(ROOT / 'launch' / 'bringup.launch.py')
    arguments = declared_arguments(made)
    assert {'namespace', 'use_sim_time', 'model', 'config', 'log_level'} <= set(arguments)
    (bringup,) = made['Node']
    flags = [item if isinstance(item, str) else item.arguments[0] for item in bringup.named['arguments']]
    assert flags == ['--nodes', 'nodes', '--ros-args', '--log-level', 'log_level']
    assert set(arguments['nodes']['default_value'].split()) <= set(NODES)
    assert arguments['nodes']['default_value'].split()


def test_a_fleet_is_a_process_for_each_arm_in_a_namespace_of_its_own(described):
    path = ROOT / 'launch' / 'bringup.launch.py'
    (single,) = described(path)['Node']
    assert single.named['namespace'].arguments == ('namespace',)
    namespaces = [node.named['namespace'] for node in described(path, fleet='10')['Node']]
    assert {given.arguments for given, *_ in namespaces} == {('namespace',)}
    assert [''.join(own) for _, *own in namespaces] == [f'/arm_{k}' for k in range(1, 11)]


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_an_include_sets_arguments_that_exist_to_nodes_that_exist(path, described):
    includes = described(path).get('IncludeLaunchDescription', [])
    for include in includes:
        given = dict(include.named['launch_arguments'])
        included = share_path(include.arguments[0])
        assert set(given) <= set(declared_arguments(described(included)))
        assert set(given['nodes'].split()) <= set(NODES)
    assert bool(includes) == (path.name == 'demo.launch.py')


def test_bringup_launch_runs(tmp_path):
    """Only where ROS 2's launch is installed; the wheels of the Python registry do not hold it."""
    pytest.importorskip('launch_ros', reason='launch_ros is not installed: it is no part of the rclpy wheels')
    command = shutil.which('ros2')
    assert command, 'launch_ros without ros2'
    node = 'gravity_compensation_node'
    environment = {**os.environ, 'ROS_LOG_DIR': str(tmp_path)}
    file = str(ROOT / 'launch' / 'bringup.launch.py')
    with ros.Graph(tmp_path) as graph:
        process = subprocess.Popen([command, 'launch', file, f'nodes:={node}'], env=environment)
        try:
            graph.until(lambda: graph.state_of(node) == State.PRIMARY_STATE_ACTIVE, 'an active node')
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(10.0) == 0
