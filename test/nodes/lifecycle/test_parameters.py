"""Every declared parameter is described, bounded where a bound makes sense, documented with its default, and used."""

import ast
import math
import runpy
import subprocess
import sys
from collections import Counter

from support.matrices import crossed
from support.nodes import graph as ros

import pytest
import rclpy
import yaml
from rclpy.parameter import Parameter

from robot_dynamics_ros.control.guards.timeout_fallback import ON_DEACTIVATE, ON_STALE
from robot_dynamics_ros.control.laws.adaptation import ADAPTIVE
from robot_dynamics_ros.control.laws.impedance.cartesian_impedance import IMPEDANCE
from robot_dynamics_ros.control.laws.impedance.operational_space import OPERATIONAL_SPACE
from robot_dynamics_ros.control.laws.joint_space_control import LAWS
from robot_dynamics_ros.control.payload.payload_gravity import LONGEST
from robot_dynamics_ros.control.terms.compensation import TERMS
from robot_dynamics_ros.control.terms.compensation_policy import OWNERS, PRESETS
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.formats.library import share_folder
from robot_dynamics_ros.nodes.executables.bringup import NODES
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import (
    SOURCE,
    check_names,
    definitions,
    definitions_of,
    groups_by_node,
)

CONFIG = share_folder() / 'config' / 'nodes.yaml'
NAMESPACE = '/in_this_process'
BY_RCLPY = ('use_sim_time', 'start_type_description_service')
TYPES = {
    'bool': Parameter.Type.BOOL,
    'int': Parameter.Type.INTEGER,
    'double': Parameter.Type.DOUBLE,
    'string': Parameter.Type.STRING,
    'int_array': Parameter.Type.INTEGER_ARRAY,
    'double_array': Parameter.Type.DOUBLE_ARRAY,
    'string_array': Parameter.Type.STRING_ARRAY,
}
"""Of generate_parameter_library, as far as they are used."""
LAWS_OF_PARAMETERS = ros.TREE / 'robot_dynamics_ros' / 'control' / 'laws' / 'impedance' / 'stated_impedance.py'
SOURCES = [*sorted((ros.TREE / 'robot_dynamics_ros' / 'nodes').rglob('*.py')), LAWS_OF_PARAMETERS]


@pytest.fixture(scope='module', autouse=True)
def context():
    """What a node in this process needs."""
    rclpy.init(args=ros.AUBO_I5)
    yield
    rclpy.try_shutdown()


@pytest.fixture(scope='module')
def nodes(context):
    """One node of each class, in this process; in a namespace, for rclpy may keep a service of a destroyed node."""
    made = {name: node_class(namespace=NAMESPACE, use_global_arguments=False) for name, node_class in NODES.items()}
    yield made
    for node in made.values():
        node.destroy_node()


@pytest.fixture(scope='module')
def config():
    """The tables of config/nodes.yaml by node, the shared ones under ''."""
    tables = yaml.safe_load(CONFIG.read_text(encoding='utf-8'))
    return {name.removeprefix('/**').lstrip('/'): table['ros__parameters'] for name, table in tables.items()}


def declared(node):
    """The parameters that this package declares, name: Parameter."""
    own = node.get_parameters_by_prefix('')
    return {name: own[name] for name in own if name not in BY_RCLPY and not name.startswith('qos_overrides.')}


def documented(config, name, node):
    """The parameters of one node in the file: its own, and of the shared ones those that it has."""
    shared = {key: value for key, value in config[''].items() if key in declared(node)}
    return {**shared, **config.get(name, {})}


def test_a_parameter_of_several_nodes_is_in_the_file_once_so_that_a_line_for_all_nodes_changes_it(nodes, config):
    """A line for one node beats `-p preset:=franka`, which is for all nodes: it would be without effect."""
    holders = Counter(name for node in nodes.values() for name in declared(node))
    assert {name for name, count in holders.items() if count > 1} == set(config[''])


def test_every_node_is_in_the_file_that_has_parameters_of_its_own(nodes, config):
    shared = set(config[''])
    assert set(config) - {''} == {name for name, node in nodes.items() if set(declared(node)) - shared}


@pytest.mark.parametrize('name', NODES)
def test_every_parameter_has_a_description(nodes, name):
    node = nodes[name]
    assert declared(node)
    assert [parameter for parameter in declared(node) if len(node.describe_parameter(parameter).description) < 5] == []


@pytest.mark.parametrize('name', NODES)
def test_every_number_has_a_range_that_holds_its_default(nodes, name):
    node = nodes[name]
    numbers = {
        parameter: value.value
        for parameter, value in declared(node).items()
        if value.type_ in (Parameter.Type.DOUBLE, Parameter.Type.INTEGER)
    }
    assert numbers or name in ('gravity_compensation_node', 'dynamics_server')
    for parameter, default in numbers.items():
        descriptor = node.describe_parameter(parameter)
        (bounds,) = [*descriptor.floating_point_range, *descriptor.integer_range]
        assert math.isfinite(bounds.from_value), parameter
        assert math.isfinite(bounds.to_value), parameter
        assert bounds.from_value <= default <= bounds.to_value, parameter


@pytest.mark.parametrize('name', NODES)
def test_number_out_of_range_is_refused_when_set(nodes, name):
    node = nodes[name]
    for parameter, value in declared(node).items():
        if value.type_ == Parameter.Type.DOUBLE:
            (bounds,) = node.describe_parameter(parameter).floating_point_range
            (result,) = node.set_parameters([Parameter(parameter, value=bounds.to_value * 1.5 + 1.0)])
            assert not result.successful, parameter
            assert node.get_parameter(parameter).value == value.value
    (result,) = node.set_parameters([Parameter('gravity', value='down')])
    assert not result.successful


@pytest.mark.parametrize('name', NODES)
def test_file_holds_every_parameter_with_its_default_and_no_other(nodes, config, name):
    defaults = {parameter: value.value for parameter, value in declared(nodes[name]).items()}
    defaults = {key: list(value) if hasattr(value, 'tolist') else value for key, value in defaults.items()}
    assert documented(config, name, nodes[name]) == defaults


@pytest.mark.parametrize('name', NODES)
def test_file_can_be_loaded_and_changes_nothing(nodes, name):
    arguments = ['--ros-args', '--params-file', str(CONFIG)]
    node = NODES[name](cli_args=arguments, namespace=NAMESPACE, use_global_arguments=False)
    loaded = {parameter: value.value for parameter, value in declared(node).items()}
    node.destroy_node()
    assert loaded == {parameter: value.value for parameter, value in declared(nodes[name]).items()}


def test_every_line_of_a_parameter_in_the_file_has_a_comment():
    lines = [line for line in CONFIG.read_text(encoding='utf-8').splitlines() if line.startswith('    ')]
    assert lines
    assert [line for line in lines if '#' not in line] == []


WHEN = {
    **dict.fromkeys(('gravity_limit', 'payload_limit', 'payload_gravity_ramp_time'), 'now'),
    **dict.fromkeys(('calibration_time', 'threshold_margin'), 'now'),
    **dict.fromkeys(('payload_source', 'gravity_source', 'gravity_tolerance'), 'now'),
    **dict.fromkeys(
        ('control_law', 'stiffness', 'damping', 'bandwidth', 'state_rate', 'torque_delay'), 'at the next activation'
    ),
    **dict.fromkeys(('adaptation_payload_limit', 'adaptation_rate'), 'at the next activation'),
    **dict.fromkeys(('friction_adaptation_rate', 'adaptation_dead_zone'), 'at the next activation'),
    **dict.fromkeys(('impedance_frame', 'reference_frame', 'damping_ratio', 'largest_mass'), 'at the next activation'),
    **dict.fromkeys(('translational_stiffness', 'rotational_stiffness'), 'at the next activation'),
    **dict.fromkeys(('translational_damping', 'rotational_damping'), 'at the next activation'),
    'rest_friction_share': 'at the next activation',
    **dict.fromkeys(('translational_error_limit', 'rotational_error_limit'), 'at the next activation'),
    **dict.fromkeys(('translational_speed_limit', 'rotational_speed_limit'), 'at the next activation'),
    **dict.fromkeys(('force_limit', 'moment_limit', 'wrench_ramp_time'), 'at the next activation'),
    **dict.fromkeys(('soft_limit_distance', 'soft_limit_torque'), 'at the next activation'),
    **dict.fromkeys(('stiffness_ramp_time', 'stiffness_energy_limit'), 'at the next activation'),
    **dict.fromkeys(('autostart', 'description_topic'), 'at the next start of the process'),
}
"""All others act at the next configure."""


@pytest.mark.parametrize('name', NODES)
def test_the_result_of_setting_a_parameter_says_when_it_applies(nodes, name):
    node = nodes[name]
    for parameter, value in declared(node).items():
        result = node.set_parameters_atomically([value])
        assert result.successful, (parameter, result.reason)
        assert result.reason == f'{parameter} acts {WHEN.get(parameter, "at the next configure")}'
    was = node.get_parameters(['gravity_limit', 'model'])
    both = node.set_parameters_atomically([Parameter('gravity_limit', value=12.0), Parameter('model', value='aubo_i5')])
    node.set_parameters_atomically(was)
    assert both.reason == 'gravity_limit acts now; model acts at the next configure'
    refused = node.set_parameters_atomically([Parameter('model', value=3)])
    assert not refused.successful and 'acts' not in refused.reason


UNKNOWN = {
    'efort_limit': "parameter 'efort_limit': no node of this package has it; did you mean 'effort_limit'?",
    'payloadlimit': "parameter 'payloadlimit': no node of this package has it; did you mean 'payload_limit'?",
    'zzz': "parameter 'zzz': no node of this package has it",
}


@pytest.mark.parametrize(('name', 'unknown'), crossed(NODES, UNKNOWN))
def test_a_parameter_that_no_node_has_is_refused_by_name(name, unknown):
    node = NODES[name](namespace=NAMESPACE, parameter_overrides=[Parameter(unknown, value=1.0)])
    node.start()
    assert (node.robot, node.silence) == (None, f'not configured: {UNKNOWN[unknown]}')
    node.destroy_node()


def test_parameters_of_other_nodes_and_of_rclpy_are_not_refused():
    check_names(['stiffness', 'payload_file', 'qos_overrides./joint_states.subscription.depth', 'use_sim_time'])
    with pytest.raises(ArgumentError, match=r"^parameter 'efforts' \(and 1 more\): "):
        check_names(['stiffness', 'efforts', 'qos'])


@pytest.mark.parametrize('name', NODES)
def test_a_node_declares_what_the_definitions_say(nodes, name):
    found, node = definitions_of(name), nodes[name]
    assert {each.name for each in found} == set(declared(node))
    assert len(found) == len(declared(node))
    for each in found:
        descriptor = node.describe_parameter(each.name)
        assert descriptor.type == TYPES[each.type].value, each.name
        assert descriptor.description.startswith(each.description), each.name
        assert each.unit in descriptor.description and each.limits in (descriptor.additional_constraints, each.limits)


def test_the_definitions_are_in_the_schema():
    content = yaml.safe_load(SOURCE.read_text(encoding='utf-8'))
    groups, _ = content.pop('groups'), content.pop('options')
    assert set(groups) == set(NODES) and set().union(*groups.values()) == set(content)
    for entries in content.values():
        for name, fields in entries.items():
            assert {'type', 'default_value', 'description'} <= set(fields), name
            assert set(fields) <= {'type', 'default_value', 'description', 'validation', 'unit', 'acts'}, name
            for kind, value in fields.get('validation', {}).items():
                assert kind in ('bounds<>', 'one_of<>') or (kind.startswith('robot_dynamics_ros::') and value is None)


@pytest.mark.parametrize('name', NODES)
def test_every_check_that_the_definitions_name_is_bound_and_no_other(nodes, name):
    named = {each.check for each in definitions_of(name) if each.check}
    assert set(nodes[name].parameters._checks) == named | {'use_sim_time'}


def test_the_definitions_name_what_the_library_knows():
    found = {each.name: each for group in groups_by_node().values() for part in group for each in definitions(part)}
    assert found['on_stale'].choices == ON_STALE
    assert found['on_deactivate'].choices == ON_DEACTIVATE
    assert found['preset'].choices == ('', *PRESETS)
    assert found['gravity_owner'].choices == ('', *OWNERS)
    assert found['control_law'].choices == (*LAWS, ADAPTIVE, IMPEDANCE, OPERATIONAL_SPACE)
    assert all(term in found['compensation'].description for term in TERMS)
    assert found['payload_gravity_ramp_time'].bounds == (0.0, LONGEST)


def test_what_is_generated_from_the_definitions_is_current():
    files = runpy.run_path(str(ros.TREE / 'scripts' / 'programs' / 'generate.py'))['files']()
    tables = sorted((ros.TREE / 'doc' / 'parameters').glob('*.md'))
    layouts = (ros.TREE / 'config' / 'plotjuggler').glob('*.xml')
    pendulum = (ros.TREE / 'robot_dynamics_controllers' / 'test' / 'pendulum').glob('*')
    assert sorted(files) == sorted([CONFIG, *layouts, *tables, *pendulum])
    for path, text in files.items():
        assert path.read_text(encoding='utf-8') == text, f'{path.name}: run scripts/generate'


@pytest.mark.parametrize(
    ('name', 'reason'),
    [
        ('on_stale', "on_stale: expected one of silent, gravity_only, ramp_to_zero, got 'nonsense'"),
        ('on_deactivate', "on_deactivate: expected one of silent, ramp_to_zero, zero, got 'nonsense'"),
        ('gravity_owner', "gravity_owner: expected one of node, robot, got 'nonsense'"),
    ],
)
def test_what_is_none_of_the_choices_is_refused_for_a_configured_node_and_when_it_is_configured(name, reason):
    node = NODES['gravity_compensation_node'](namespace=NAMESPACE)
    node.trigger_configure()
    (result,) = node.set_parameters([Parameter(name, value='nonsense')])
    assert (result.successful, result.reason) == (False, reason)
    node.destroy_node()
    node = NODES['gravity_compensation_node'](
        namespace=NAMESPACE, parameter_overrides=[Parameter(name, value='nonsense')]
    )
    node.start()
    assert (node.robot, node.silence) == (None, f'not configured: {reason}')
    node.destroy_node()


@pytest.mark.parametrize('content', [None, 'a: [', '{]'])
def test_a_parameter_file_that_is_missing_or_broken_ends_the_process_with_a_line(tmp_path, content):
    path = tmp_path / 'params.yaml'
    if content:
        path.write_text(content)
    command = [
        sys.executable,
        '-m',
        'robot_dynamics_ros.nodes.executables.dynamics_server',
        '--ros-args',
        '--params-file',
        path,
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=ros.TREE)
    assert ended.returncode == 1
    assert 'Traceback' not in ended.stderr
    (line,) = [line for line in ended.stderr.splitlines() if line.startswith('not started: ')]
    assert str(path) in line


@pytest.mark.parametrize('value', ['abc', '1', '-5.0'])
def test_an_override_of_a_wrong_type_or_out_of_range_ends_the_process_with_a_line(value):
    command = [sys.executable, '-m', 'robot_dynamics_ros.nodes.executables.gravity_compensation_node', '--ros-args']
    command += ['-p', f'age_limit:={value}']
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=ros.TREE)
    assert ended.returncode == 1
    assert 'Traceback' not in ended.stderr
    (line,) = [line for line in ended.stderr.splitlines() if line.startswith('not started: ')]
    assert 'age_limit' in line and value in line


@pytest.mark.parametrize(
    ('name', 'value', 'reason'),
    [
        ('control_law', 'nonsense', 'control_law: expected one of'),
        ('stiffness', [1.0, 2.0], 'stiffness: expected 6 numbers'),
        ('damping', [-1.0] * 6, 'damping: expected 6 numbers'),
    ],
)
def test_a_law_or_gain_that_the_controller_could_not_use_is_refused(name, value, reason):
    node = NODES['torque_controller'](namespace=NAMESPACE)
    node.start()
    (result,) = node.set_parameters([Parameter(name, value=value)])
    assert not result.successful and result.reason.startswith(reason)
    node.fall_silent()
    node.destroy_node()


def test_gravity_above_its_limit_is_refused_when_it_is_set_and_when_the_node_is_configured():
    node = NODES['gravity_compensation_node'](namespace=NAMESPACE)
    node.start()
    (result,) = node.set_parameters([Parameter('gravity', value=[0.0, 0.0, -981.0])])
    reason = 'gravity: its magnitude of 981 m/s^2 is above the parameter gravity_limit, 12 m/s^2'
    assert (result.successful, result.reason) == (False, reason)
    node.trigger_deactivate()
    node.trigger_cleanup()
    (result,) = node.set_parameters([Parameter('gravity', value=[0.0, 0.0, -981.0])])
    assert result.successful
    node.start()
    assert node.silence == f'not configured: {reason}'
    node.set_parameters([Parameter('gravity_limit', value=1000.0)])
    node.start()
    assert node.active
    node.fall_silent()
    node.destroy_node()


def test_every_declared_parameter_is_read(nodes):
    read = set()
    for path in SOURCES:
        for call in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(call, ast.Call) and call.args:
                name, function = call.args[0], getattr(call.func, 'attr', getattr(call.func, 'id', ''))
                if function in ('value', 'get_parameter') and isinstance(name, ast.Constant):
                    read.add(name.value)
    known = set().union(*(declared(node) for node in nodes.values()))
    assert known - read == set()
    assert read - known == set()
