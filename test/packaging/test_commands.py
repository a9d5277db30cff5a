"""Names of the commands: the full ones everywhere, the short ones for ros2 run."""

import sys
from importlib.metadata import EntryPoint, EntryPoints
from types import SimpleNamespace

import pytest

from robot_dynamics_ros import nodes
from robot_dynamics_ros.tools import compare, short_names

PACKAGE = 'robot_dynamics_ros'
SHORT = (f'{PACKAGE}.tools.short_names', 'main')
WARNING = (
    'compare: deprecated as a global command; call robot_dynamics_compare, or ros2 run robot_dynamics_ros compare\n'
)


def test_a_name_without_that_of_the_package_is_a_nodes_or_short(executables):
    short = {name for name, target in executables.items() if target == SHORT}
    assert {'bringup', 'check_model', 'compare', 'demo_motion', 'export_c', 'identify', 'propose_gains'} <= short
    assert 'replay' in short
    assert {f'robot_dynamics_{name}' for name in short} == {
        name for name in executables if name.startswith('robot_dynamics_')
    }
    for name in set(executables) - short:
        module, function = executables[name]
        assert (module.rpartition('.')[2], function) == (name.removeprefix('robot_dynamics_'), 'main')


def test_a_process_of_a_node_knows_its_name(executables):
    modules = {module for module, function in executables.values() if function == 'main'}
    assert set(nodes.EXECUTABLES) == {it.removeprefix(f'{nodes.__name__}.') for it in modules if '.nodes.' in it}


@pytest.mark.parametrize(
    ('path', 'printed'),
    [
        ('/usr/bin/compare', WARNING),
        ('compare', WARNING),
        ('/ws/install/robot_dynamics_ros/lib/robot_dynamics_ros/compare', ''),
    ],
)
def test_a_short_name_runs_its_command_and_warns_unless_ros2_run_calls_it(
    path, printed, executables, monkeypatch, capsys
):
    listed = EntryPoints(EntryPoint(name, ':'.join(target), 'console_scripts') for name, target in executables.items())
    monkeypatch.setattr(short_names, 'distribution', {PACKAGE: SimpleNamespace(entry_points=listed)}.__getitem__)
    monkeypatch.setattr(compare, 'main', lambda: 7)
    monkeypatch.setattr(sys, 'argv', [path])
    assert short_names.main() == 7
    assert capsys.readouterr() == ('', printed)


@pytest.mark.parametrize(
    ('words', 'known'),
    [
        (['/ws/lib/robot_dynamics_ros/bringup', '--nodes', 'aubo_node'], 'bringup'),
        (['/usr/bin/robot_dynamics_bringup'], 'bringup'),
        (['-m', 'robot_dynamics_ros.nodes.dynamics_server'], 'dynamics_server'),
        (['-um', 'robot_dynamics_ros.nodes.dynamics_server'], 'dynamics_server'),
        (['-mrobot_dynamics_ros.nodes.dynamics_server'], 'dynamics_server'),
        (['-m', 'robot_dynamics_ros.tools.demo'], ''),
        (['-m', 'pytest'], ''),
        (['/usr/bin/robot_dynamics_compare'], ''),
        (['/ws/lib/my_robot/bringup'], ''),  # another package's, which calls rclpy.init itself
        (['bringup'], ''),
    ],
)
def test_a_process_of_nodes_is_known_by_its_names(words, known, monkeypatch):
    monkeypatch.setattr(sys, 'orig_argv', ['python', *words])
    monkeypatch.setattr(sys, 'argv', ['-m'] if words[0].startswith('-') else words)
    assert nodes._executable() == known
