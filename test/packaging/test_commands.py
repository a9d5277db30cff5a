"""Names of the commands: those of nodes are their own, others begin with the package's."""

import sys

import pytest

from robot_dynamics_ros.nodes.executables import EXECUTABLES, _executable

PACKAGE = 'robot_dynamics_ros'


def test_a_name_without_that_of_the_package_is_a_nodes(executables):
    nodes_alone = {name for name in executables if not name.startswith(f'{PACKAGE.removesuffix("ros")}')}
    assert nodes_alone == set(EXECUTABLES) - {'bringup'}
    for name, (module, function) in executables.items():
        assert (module.rpartition('.')[2], function) == (name.removeprefix('robot_dynamics_'), 'main')


def test_a_process_of_a_node_knows_its_name(executables):
    modules = {module for module, function in executables.values() if function == 'main'}
    assert set(EXECUTABLES) == {it.removeprefix(f'{PACKAGE}.nodes.executables.') for it in modules if '.nodes.' in it}


@pytest.mark.parametrize(
    ('words', 'known'),
    [
        (['/ws/lib/robot_dynamics_ros/robot_dynamics_bringup', '--nodes', 'aubo_node'], 'bringup'),
        (['/ws/lib/robot_dynamics_ros/dynamics_server'], 'dynamics_server'),
        (['/usr/bin/robot_dynamics_bringup'], 'bringup'),
        (['-m', 'robot_dynamics_ros.nodes.executables.dynamics_server'], 'dynamics_server'),
        (['-um', 'robot_dynamics_ros.nodes.executables.dynamics_server'], 'dynamics_server'),
        (['-mrobot_dynamics_ros.nodes.executables.dynamics_server'], 'dynamics_server'),
        (['-m', 'robot_dynamics_ros.tools.demo'], ''),
        (['-m', 'pytest'], ''),
        (['/usr/bin/robot_dynamics_compare'], ''),
        (['/ws/lib/my_robot/dynamics_server'], ''),  # another package's, which calls rclpy.init itself
        (['dynamics_server'], ''),
    ],
)
def test_a_process_of_nodes_is_known_by_its_names(words, known, monkeypatch):
    monkeypatch.setattr(sys, 'orig_argv', ['python', *words])
    monkeypatch.setattr(sys, 'argv', ['-m'] if words[0].startswith('-') else words)
    assert _executable() == known
