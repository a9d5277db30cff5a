"""How the nodes are built: one base class, and files and classes that can be read at once."""

import ast

from support.nodes import graph as ros

import pytest
from rclpy.lifecycle import LifecycleNode

from robot_dynamics_ros.nodes.executables.bringup import NODES
from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode

FOLDER = ros.TREE / 'robot_dynamics_ros' / 'nodes'
FILES = sorted(FOLDER.rglob('*.py'))


def lines_of(path) -> int:
    return len(path.read_text(encoding='utf-8').splitlines())


def test_a_node_is_a_base_node_and_that_a_lifecycle_node():
    assert BaseNode.__bases__ == (LifecycleNode,)
    assert {kind.__bases__ for kind in NODES.values()} == {(BaseNode,)}


@pytest.mark.parametrize('name', NODES)
def test_the_file_of_a_node_only_says_what_it_is_made_of(name):
    assert lines_of(FOLDER / 'executables' / f'{name}.py') < 100


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_files_and_classes_are_short(path):
    assert lines_of(path) <= 400
    for node in ast.parse(path.read_text(encoding='utf-8')).body:
        if isinstance(node, ast.ClassDef):
            assert node.end_lineno - node.lineno < 250, node.name
