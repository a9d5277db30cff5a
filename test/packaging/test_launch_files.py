"""What launch files name exists: executables, files, parameters, arguments, nodes. With launch_ros one also runs."""

import ast
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType

from support.nodes import graph as ros

import numpy as np
import pytest
import yaml
from lifecycle_msgs.msg import State

from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.executables import bringup
from robot_dynamics_ros.nodes.process import server_process

pytestmark = pytest.mark.ros

ROOT = Path(__file__).resolve().parents[2]
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
        value = context[self.arguments[0]]
        return str(share_path(value)) if isinstance(value, Recorded) else value


class Context(dict):
    """Stands in for a LaunchContext: its launch configurations, and the arguments of the command line."""

    argv: list = []  # noqa: RUF012

    @property
    def launch_configurations(self):
        return self


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
        stand_in('launch.actions', 'DeclareLaunchArgument', 'LogInfo', 'OpaqueFunction'),
        stand_in('launch.substitutions', 'LaunchConfiguration', 'PathJoinSubstitution'),
        stand_in('launch_ros', 'Unused'),
        stand_in('launch_ros.actions', 'Node'),
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
            function(Context(defaults, **given))
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


def test_there_are_launch_files():
    assert {path.name for path in LAUNCH_FILES} >= {'aubo.launch.py', 'bringup.launch.py', 'demo.launch.py'}


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_launch_file_parses_and_describes_something(path, described):
    tree = ast.parse(path.read_text(encoding='utf-8'))
    assert ast.get_docstring(tree)
    made = described(path)
    assert made['Node']


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_every_named_file_exists(path, described):
    substitutions = described(path).get('PathJoinSubstitution', [])
    assert substitutions
    assert [str(share_path(item)) for item in substitutions if not share_path(item).is_file()] == []


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_no_absolute_path(path):
    tree = ast.parse(path.read_text(encoding='utf-8'))
    parts = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    strings = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in parts]
    assert [text for text in strings if isinstance(text, str) and text.startswith(('/', '~')) and len(text) > 1] == []


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_every_node_is_an_executable_with_known_parameters(path, described, executables):
    for node in described(path).get('Node', []):
        assert node.named['package'] == PACKAGE
        assert node.named['executable'] in executables
        tables = [table for table in node.named['parameters'] if isinstance(table, dict)]
        assert {name for table in tables for name in table} <= PARAMETERS


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
def test_every_configuration_is_a_declared_argument_and_each_is_used(path, described):
    made = described(path)
    used = {item.arguments[0] for item in made.get('LaunchConfiguration', [])}
    assert used == set(declared_arguments(made))
    assert all(len(argument['description']) > 5 for argument in declared_arguments(made).values())


BRINGUP = ROOT / 'launch' / 'bringup.launch.py'
OPTIONS = {
    **{
        name: ('value', 'value')
        for name in ('model', 'description_topic', 'loops', 'actuators', 'base_link', 'tip_link', 'preset', 'source')
    },
    'await_payload_gravity': ('false', False),
    'locked_joints': ('left: 0.02, right: measured', ['left: 0.02', 'right: measured']),
    'gravity': ('-9.81, 0, 0', [-9.81, 0.0, 0.0]),
    'effort_limit': ('150, .inf', [150.0, np.inf]),
}


def process(described, **given):
    """The one process that bringup.launch.py starts."""
    (node,) = described(BRINGUP, **given)['Node']
    return node.named


def test_bringup_without_arguments_leaves_everything_to_the_parameter_file(described):
    node = process(described)
    assert node['arguments'] == ['--ros-args', '--log-level', 'info']
    assert node['parameters'] == [str(ROOT / 'config' / 'nodes.yaml')]
    assert node['remappings'] == []
    assert node['namespace'] == ''


@pytest.mark.parametrize('name', OPTIONS)
def test_a_parameter_that_is_given_goes_to_the_process_as_its_option(described, name, monkeypatch):
    text, value = OPTIONS[name]
    node = process(described, **{name: text})
    assert node['arguments'] == [f'--{name.replace("_", "-")}={text}', '--ros-args', '--log-level', 'info']
    set_up = []
    monkeypatch.setattr(bringup, 'run', lambda *makers: set_up.extend(maker.keywords for maker in makers))
    monkeypatch.setattr(bringup, 'arguments', lambda: node['arguments'][:1])
    monkeypatch.setattr(server_process, 'running', nullcontext)
    bringup.main()
    assert set_up
    for options in set_up:
        overrides = {given.name: given.value for given in options['parameter_overrides']}
        assert overrides == {'await_payload_gravity': True, name: value}


@pytest.mark.parametrize(
    ('option', 'said'),
    [
        ('--await-payload-gravity=no', "await_payload_gravity: expected one of true, false, got 'no'"),
        ('--effort-limit=150 Nm', "effort_limit: expected numbers with commas between, got '150 Nm'"),
    ],
)
def test_an_option_that_is_not_of_its_type_is_refused(monkeypatch, capsys, option, said):
    monkeypatch.setattr(bringup, 'arguments', lambda: [option])
    with pytest.raises(SystemExit):
        bringup.main()
    assert said in capsys.readouterr().err


def test_nodes_namespace_log_level_and_simulated_time_are_handed_on(described):
    node = process(described, nodes='a b', namespace='left', log_level='warn', use_sim_time='True')
    assert node['arguments'] == ['--nodes=a b', '--ros-args', '--log-level', 'warn']
    assert node['namespace'] == 'left'
    assert node['parameters'][1:] == [{'use_sim_time': True}]
    assert process(described, use_sim_time='false')['parameters'][1:] == [{'use_sim_time': False}]
    assert [process(described, respawn=value)['respawn'] for value in ('True', 'false')] == [True, False]


def test_every_topic_can_be_remapped_and_what_belongs_to_it_goes_along(described):
    node = process(described, joint_states='/arm/states', effort_commands='/controller/commands')
    assert node['remappings'] == [('joint_states', '/arm/states'), ('effort_commands', '/controller/commands')]
    node = process(described, feedforward_torque='ff', gravity_torque_commands='/controller/commands')
    assert dict(node['remappings']) == {
        'feedforward_torque': 'ff',
        'feedforward_torque/info': 'ff/info',
        'gravity_torque/commands': '/controller/commands',
    }
    node = process(described, source='controller_state', controller_state='/jtc/controller_state')
    assert node['arguments'][0] == '--source=controller_state'
    assert node['remappings'] == [('controller_state', '/jtc/controller_state')]
    node = process(described, planned_trajectory='/plan', trajectory_with_effort='/jtc/joint_trajectory')
    assert dict(node['remappings']) == {
        'planned_trajectory': '/plan',
        'trajectory_with_effort': '/jtc/joint_trajectory',
    }


def test_a_fleet_is_a_process_for_each_arm_in_a_namespace_of_its_own(described):
    namespaces = [node.named['namespace'] for node in described(BRINGUP, fleet='10', namespace='hall')['Node']]
    assert namespaces == [f'hall/arm_{k}' for k in range(1, 11)]
    assert [node.named['namespace'] for node in described(BRINGUP, fleet='1')['Node']] == ['/arm_1']


@pytest.mark.parametrize(
    ('name', 'value', 'said'),
    [
        ('fleet', 'two', "fleet: expected the number of arms, 0 or more, got 'two'"),
        ('fleet', '-1', "fleet: expected the number of arms, 0 or more, got '-1'"),
        ('fleet', '', "fleet: expected the number of arms, 0 or more, got ''"),
        ('respawn', 'yes', "respawn: expected true or false, got 'yes'"),
        ('use_sim_time', 'yes', "use_sim_time: expected true or false, got 'yes'"),
        ('model', '/a/arm.xacro', "no file '/a/arm.xacro'; or use the URDF of robot_state_publisher"),
        ('xacro_args', 'name:=ur10e', "xacro_args: the model is no xacro file: ''"),
        ('config', 'nowhere.yaml', "config: no file 'nowhere.yaml'"),
    ],
)
def test_a_wrong_argument_is_reported_in_one_line(described, name, value, said):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        described(BRINGUP, **{name: value})
    assert '\n' not in str(caught.value)


XACRO = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="$(arg name)">
  <xacro:arg name="name" default="arm"/><link name="base"/><link name="tip"><inertial><mass value="2"/>
  <origin xyz="0.5 0 0"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 1 0"/></joint></robot>"""


def test_a_xacro_file_becomes_a_urdf_or_the_command_that_writes_it_is_named(described, tmp_path, monkeypatch):
    file = tmp_path / 'arm.urdf.xacro'
    file.write_text(XACRO)
    monkeypatch.setattr('tempfile.tempdir', str(tmp_path))
    given = {'model': str(file), 'xacro_args': 'name:=ur10e'}
    with monkeypatch.context() as without:
        without.setitem(sys.modules, 'xacro', None)
        command = f'xacro {shlex.quote(str(file))} name:=ur10e > {shlex.quote(str(file.with_suffix("")))}'
        with pytest.raises(ValueError, match=re.escape(command)):
            process(described, **given)
    pytest.importorskip('xacro', reason='the Python package xacro is not installed')
    option, _, path = process(described, **given)['arguments'][0].partition('=')
    assert option == '--model'
    assert Robot.from_urdf(path).name == 'ur10e'
    made = described(ROOT / 'launch' / 'demo.launch.py', **given)
    assert any('turn' in note.named['msg'] for note in made['LogInfo'])


COMMAND = ['/usr/bin/ros2', 'launch']


@pytest.mark.parametrize('path', LAUNCH_FILES, ids=lambda path: path.name)
@pytest.mark.parametrize('by_path', [False, True], ids=['package', 'path'])
def test_an_argument_that_a_launch_file_does_not_declare_is_refused(described, monkeypatch, path, by_path):
    named = [str(path)] if by_path else ['robot_dynamics_ros', path.name]
    monkeypatch.setattr(Context, 'argv', ['namspace:=left'])
    monkeypatch.setattr(sys, 'argv', [*COMMAND, *named, 'namspace:=left'])
    with pytest.raises(ValueError, match=r"^namspace: .* has no argument of this name; did you mean 'namespace'\?$"):
        described(path)
    monkeypatch.setattr(Context, 'argv', ['namespace:=left', 'colour:=red'])
    with pytest.raises(ValueError, match=r'^colour: .* has no argument of this name; --show-args lists them$'):
        described(path)
    monkeypatch.setattr(Context, 'argv', ['namespace:=left'])
    assert described(path)['Node']


def test_arguments_of_a_file_that_includes_a_launch_file_are_its_own(described, monkeypatch, tmp_path):
    including = tmp_path / BRINGUP.name  # many packages have a file of this name
    including.touch()
    arguments = ['colour:=red', 'modle:=arm.urdf']
    monkeypatch.setattr(Context, 'argv', arguments)
    for named in ([str(including)], ['my_robot', BRINGUP.name]):
        monkeypatch.setattr(sys, 'argv', [*COMMAND, *named, *arguments])
        made = described(BRINGUP, colour='red', modle='arm.urdf', ros_namespace='left')
        assert made['Node']
        (warning,) = made['LogInfo']
        assert warning.named['msg'] == ("modle: bringup.launch.py has no argument of this name; did you mean 'model'?")


def test_the_demo_moves_the_arm(described):
    made = described(ROOT / 'launch' / 'demo.launch.py')
    started = [node.named['executable'] for node in made['Node']]
    assert set(started) == {'simulated_arm', 'feedforward_node', 'torque_controller', 'robot_dynamics_demo_motion'}


def test_the_demo_moves_the_arm_of_a_description(described, tmp_path):
    file, folder = tmp_path / 'arm.urdf', tmp_path / 'output'
    file.write_text(Robot.named('aubo_i5').to_urdf())
    made = described(
        ROOT / 'launch' / 'demo.launch.py',
        model=str(file),
        tip_link='wrist1_Link',
        namespace='left',
        output=str(folder),
    )
    nodes = {node.named['executable']: node.named for node in made['Node']}
    assert {node['namespace'] for node in nodes.values()} == {'left'}
    assert {tuple(node['parameters']) for node in nodes.values()} == {(str(folder / 'parameters.yaml'),)}
    written = yaml.safe_load((folder / 'parameters.yaml').read_text())
    assert len(written['/**/torque_controller']['ros__parameters']['stiffness']) == 4
    motion = nodes['robot_dynamics_demo_motion']['arguments']
    assert motion == ['--motion', str(folder / 'motion.yaml'), '--ros-args', '--log-level', 'info']
    assert nodes['simulated_arm']['arguments'] == ['--ros-args', '--log-level', 'info']
    (*notes, last) = [item.named['msg'] for item in made['LogInfo']]
    assert any('rotor inertias that the description lacks' in note for note in notes)
    assert last == f'parameters: {folder / "parameters.yaml"}'


def test_the_demo_has_a_compliant_arm_which_nothing_moves(described, tmp_path):
    demo = ROOT / 'launch' / 'demo.launch.py'
    made = described(demo, compliant='true', namespace='left')
    started = {node.named['executable']: node.named for node in made['Node']}
    assert set(started) == {'simulated_arm', 'torque_controller'}
    assert [share_path(it).name for node in started.values() for it in node['parameters']] == ['compliant.yaml'] * 2
    assert {node['namespace'] for node in started.values()} == {'left'}
    file = tmp_path / 'arm.urdf'
    file.write_text(Robot.named('aubo_i5').to_urdf())
    made = described(demo, compliant='True', model=str(file), output=str(tmp_path / 'output'))
    started = {node.named['executable']: node.named['parameters'] for node in made['Node']}
    path = tmp_path / 'output' / 'parameters.yaml'
    assert started == {'simulated_arm': [str(path)], 'torque_controller': [str(path)]}
    written = yaml.safe_load(path.read_text())['/**/torque_controller']['ros__parameters']
    assert written['control_law'] == 'cartesian_impedance'
    assert made['LogInfo'][-1].named['msg'] == f'parameters: {path}'
    with pytest.raises(ValueError, match=r"^compliant: expected true or false, got 'yes'$"):
        described(demo, compliant='yes')


AUBO = ROOT / 'launch' / 'aubo.launch.py'


def test_an_aubo_arm_gets_its_state_its_prediction_and_the_checks_and_no_command(described):
    started = {node.named['executable']: node.named for node in described(AUBO, robot_ip='10.0.0.5')['Node']}
    assert set(started) == {'dynamics_server', 'aubo_node', 'gravity_compensation_node'}
    tables = {name: node['parameters'][1] for name, node in started.items()}
    assert {table['model'] for table in tables.values()} == {'aubo_i5'}
    assert tables['aubo_node']['robot_ip'] == '10.0.0.5'
    assert tables['dynamics_server']['effort'] == 'torque'
    assert tables['gravity_compensation_node']['preset'] == 'monitor_only'
    assert all(node['remappings'] == [] for node in started.values())
    # parameters of a launch file act on a named node alone where a parameter file names that node, too
    assert {name: node['name'] for name, node in started.items()} == {name: name for name in started}


def test_the_whole_torque_of_an_aubo_arm_is_predicted_where_a_controller_says_its_motion(described):
    topic = '/joint_trajectory_controller/controller_state'
    made = described(AUBO, controller_state=topic, joint_states='arm_states', config=str(ROOT / 'config' / 'demo.yaml'))
    started = {node.named['executable']: node.named for node in made['Node']}
    node = started['feedforward_node']
    assert node['parameters'][1] == {
        'model': 'aubo_i5', 'preset': 'monitor_only', 'source': 'controller_state', 'evaluate_at': 'measured'
    }  # fmt: skip
    assert all(
        each['remappings'] == [('joint_states', 'arm_states'), ('controller_state', topic)] for each in started.values()
    )
    assert 'robot_ip' not in started['aubo_node']['parameters'][1]  # that of the parameter file counts
    with pytest.raises(ValueError, match=r"^config: no file 'nowhere\.yaml'$"):
        described(AUBO, config='nowhere.yaml')


def test_bringup_launch_runs(tmp_path):
    """Only where ROS 2's launch is installed; the wheels of the Python registry do not hold it."""
    pytest.importorskip('launch_ros', reason='launch_ros is not installed: it is no part of the rclpy wheels')
    command = shutil.which('ros2')
    assert command, 'launch_ros without ros2'
    node = 'gravity_compensation_node'
    environment = {**os.environ, 'ROS_LOG_DIR': str(tmp_path)}
    file = str(ROOT / 'launch' / 'bringup.launch.py')
    with ros.Graph(tmp_path) as graph:
        process = subprocess.Popen([command, 'launch', file, f'nodes:={node}', 'model:=aubo_i5'], env=environment)
        try:
            graph.until(lambda: graph.state_of(node) == State.PRIMARY_STATE_ACTIVE, 'an active node')
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(10.0) == 0
