"""The controllers for ros2_control: parameters, plugins, dependencies; compiled where the headers are."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

from support.controllers.controllers_core import compiled, has_compilers, run
from support.nodes.graph import TREE

import pytest
import yaml

from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import definition, definitions_of

pytestmark = pytest.mark.ros

PACKAGE = TREE / 'robot_dynamics_controllers'
SOURCE = PACKAGE / 'src'
CONTROLLER = 'feedforward_effort_controller'
ENTRIES = yaml.safe_load((SOURCE / f'{CONTROLLER}_parameters.yaml').read_text(encoding='utf-8'))[CONTROLLER]
OTHER_WORDS = {'await_payload_gravity', 'compensation', 'torque_scale', 'on_deactivate', 'ramp_time'}
"""Parameters that nodes have, too, of which the controller's description says something else."""


def prefixes() -> list[Path]:
    """The prefixes of sourced ROS packages, else of installed distributions."""
    sourced = [Path(prefix) for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if prefix]
    return sourced + sorted(Path('/opt/ros').glob('*'))


def has(package: str) -> bool:
    return any((prefix / 'share' / package).is_dir() for prefix in prefixes())


def code() -> str:
    return '\n'.join(path.read_text(encoding='utf-8') for path in sorted(SOURCE.rglob('*.cpp')))


def test_parameters_that_nodes_have_too_are_the_same():
    nodes = {found.name: found for node in ('dynamics_server', 'feedforward_node') for found in definitions_of(node)}
    shared = {name: definition(name, fields) for name, fields in ENTRIES.items() if name in nodes}
    assert set(shared) > OTHER_WORDS
    for name, found in shared.items():
        twin = nodes[name]
        assert (found.type, found.default, found.bounds) == (twin.type, twin.default, twin.bounds), name
        assert set(found.choices) <= set(twin.choices), name
        assert ENTRIES[name].get('additional_constraints', '') == twin.unit, name
        if name not in OTHER_WORDS:
            assert found.description == twin.description, name


def test_every_parameter_is_used():
    assert set(re.findall(r'parameters_\.(\w+)', code())) == set(ENTRIES)


def test_the_keys_are_those_of_generate_parameter_library():
    for name, fields in ENTRIES.items():
        assert set(fields) <= {'type', 'default_value', 'description', 'additional_constraints', 'validation'}, name


def test_plugins_name_classes_that_are_exported():
    exported = re.findall(r'PLUGINLIB_EXPORT_CLASS\(\s*([\w:]+), ([\w:]+)\)', code())
    named = [
        (entry.get('type'), entry.get('base_class_type'))
        for path in sorted(PACKAGE.glob('*_plugins.xml'))
        for entry in ElementTree.parse(path).getroot()
    ]
    assert sorted(named) == sorted(exported) and len(named) == 2


def test_dependencies_are_those_that_are_looked_for():
    text = (PACKAGE / 'cmake' / 'controllers.cmake').read_text(encoding='utf-8')
    looked_for, for_tests = (it.split() for it in re.findall(r'foreach\(package ([^)]*)\)', text))
    looked_for += re.findall(r'find_package\((\w+) [\d.]+ REQUIRED\)', text)
    package = ElementTree.parse(PACKAGE / 'package.xml').getroot()
    assert [it.text for it in package.iter('depend')] == sorted([*looked_for, 'controller_interface'])
    assert [it.text for it in package.iter('test_depend')] == for_tests


def test_the_least_version_of_the_parameter_library_is_that_of_the_package():
    text = (PACKAGE / 'cmake' / 'controllers.cmake').read_text(encoding='utf-8')
    (version,) = re.findall(r'find_package\(generate_parameter_library ([\d.]+) REQUIRED\)', text)
    least = {
        it.text: it.get('version_gte') for it in ElementTree.parse(PACKAGE / 'package.xml').getroot().iter('depend')
    }
    assert least['generate_parameter_library'] == f'{version}.0'
    page = (TREE / 'doc' / 'how_to' / 'ros2_control.md').read_text(encoding='utf-8')
    assert f'generate_parameter_library {version}' in page


def test_the_distribution_is_seen_in_one_header_only():
    for path in filter(Path.is_file, sorted(SOURCE.rglob('*'))):
        if path.name != 'distributions.hpp':
            assert not re.search(
                r'get_optional|get_value\(|#if |is_void_v|_list\(', path.read_text(encoding='utf-8')
            ), path


def test_controllers_compile_and_run_in_a_ros_installation(tmp_path):
    if not has('controller_interface'):
        pytest.skip('no ROS installation with controller_interface here: the controllers are not compiled')
    if shutil.which('cmake') is None or not has('robot_dynamics_interfaces'):
        pytest.skip('cmake and robot_dynamics_interfaces are needed to compile the controllers')
    runs = has('controller_manager') and has('ament_cmake_ros')
    prefix = tmp_path / 'prefix'
    # where the installation consists of wheels, targets name folders of another machine
    wheels = TREE / 'scripts' / 'interfaces_on_wheels.cmake'
    options = [
        f'-DCMAKE_PREFIX_PATH={";".join(map(str, prefixes()))}',
        f'-DCMAKE_INSTALL_PREFIX={prefix}',
        f'-DCMAKE_PROJECT_INCLUDE={wheels}',
        '-DCMAKE_BUILD_TYPE=Debug',
        f'-DBUILD_TESTING={"ON" if runs else "OFF"}',
    ]
    # the manager finds the plugin where it is installed
    found = {'AMENT_PREFIX_PATH': [prefix, *prefixes()], 'LD_LIBRARY_PATH': [prefix / 'lib']}
    found = {
        name: os.pathsep.join([*map(str, paths), *filter(None, [os.environ.get(name, '')])])
        for name, paths in found.items()
    }
    for command in (
        ['cmake', '-S', PACKAGE, '-B', tmp_path / 'build', *options],
        ['cmake', '--build', tmp_path / 'build'],
        ['cmake', '--install', tmp_path / 'build'],
        *([['ctest', '--test-dir', tmp_path / 'build', '--output-on-failure']] if runs else []),
    ):
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=os.environ | found if runs else None
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert (prefix / 'lib' / 'librobot_dynamics_controllers.so').exists()


@pytest.mark.skipif(not has_compilers(), reason='no C and C++ compiler')
def test_nan_is_refused_and_parameters_that_are_not_used_yet_are_named():
    """With a stand-in for the part of rclcpp that the header uses."""
    standin = ('-I', PACKAGE / 'test' / 'standin')
    assert run(compiled('g++', 'parameter_check', 'parameter_check.cpp', *standin)).splitlines() == [
        "accepted ''",
        "refused 'number: expected numbers, got its value'",
        "accepted ''",
        "refused 'array: expected numbers, got its value'",
        "accepted ''",
        "accepted ''",
        "''",
        "'second'",
        "'first, second'",
    ]
