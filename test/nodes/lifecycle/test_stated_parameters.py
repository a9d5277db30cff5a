"""Parameters that a file states for a node: which sections count, and what is refused by name."""

import re

import pytest

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.nodes.lifecycle.parameter_definitions import definitions_of
from robot_dynamics_ros.nodes.lifecycle.stated_parameters import StatedParameters

OTHERS = """
dynamics_server:
  ros__parameters:
    damping_ratio: 0.2
"""


def stated(folder, text: str) -> StatedParameters:
    path = folder / 'gains.yaml'
    path.write_text(text)
    return StatedParameters('torque_controller', path)


def section(name: str, **values) -> str:
    lines = ''.join(f'    {key}: {value}\n' for key, value in values.items())
    return f'{name}:\n  ros__parameters:\n{lines}'


@pytest.mark.parametrize(
    'name', ['/**', '/**/torque_controller', 'torque_controller', '/left/torque_controller', '/left/*']
)
def test_sections_of_the_node_count_in_any_namespace(name, tmp_path):
    found = stated(tmp_path, OTHERS + section(f'{name}', damping_ratio=0.9))
    assert found.value('damping_ratio') == 0.9 and found.is_stated('damping_ratio')


def test_a_section_of_its_own_name_comes_before_that_of_all_nodes(tmp_path):
    own, all_nodes = (
        section('/**/torque_controller', damping_ratio=0.9),
        section('/**', damping_ratio=0.8, state_rate=5.0),
    )
    for text in (own + all_nodes, all_nodes + own):
        found = stated(tmp_path, text)
        assert (found.value('damping_ratio'), found.value('state_rate')) == (0.9, 5.0)


def test_what_nobody_asks_for_is_known(tmp_path):
    found = stated(tmp_path, section('torque_controller', damping_ratio=0.9, state_rate=5.0))
    found.value('damping_ratio')
    assert found.unused == ['state_rate']


def test_sections_may_be_nested_by_namespace(tmp_path):
    text = 'left:\n' + ''.join(f'  {line}\n' for line in section('torque_controller', damping_ratio=0.9).splitlines())
    assert stated(tmp_path, text).value('damping_ratio') == 0.9


def test_what_is_not_stated_has_its_default(tmp_path):
    found = stated(tmp_path, section('torque_controller', damping_ratio=0.9))
    for definition in definitions_of('torque_controller'):
        if definition.name != 'damping_ratio':
            assert found.value(definition.name) == definition.default and not found.is_stated(definition.name)


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        (section('torque_controller', damping_ratio='high'), "damping_ratio: expected double, got 'high'"),
        (section('torque_controller', damping_ratio=1), 'damping_ratio: expected double, got 1'),
        (section('torque_controller', damping_ratio='true'), 'damping_ratio: expected double, got True'),
        (section('torque_controller', damping_ratio=11.0), 'damping_ratio: expected 0 to 10, got 11.0'),
        (section('torque_controller', damping_ratio='.nan'), 'damping_ratio: expected 0 to 10, got nan'),
        (section('torque_controller', stiffness=5.0), 'stiffness: expected double array, got 5.0'),
        (section('torque_controller', stiffness='[1.0, a]'), "stiffness: expected double array, got [1.0, 'a']"),
        (section('torque_controller', reference_frame='tool'), "reference_frame: expected one of .*, got 'tool'"),
        (section('torque_controller', stifness='[1.0]'), "parameter 'stifness': no node of this package has it; did"),
        (OTHERS, 'expected a section /**/torque_controller with ros__parameters'),
        (
            section('/left/torque_controller', damping_ratio=0.9) + section('/right/torque_controller', state_rate=1.0),
            'expected one section of torque_controller, got /left/torque_controller, /right/torque_controller',
        ),
        ('', 'expected a section'),
        ('[1, 2]', 'expected a section'),
        ('a: [', 'not a file of YAML: while parsing'),
    ],
)
def test_what_is_wrong_is_named_with_the_file(text, said, tmp_path):
    said = re.escape(said).replace(r'\.\*', '.*')
    with pytest.raises(ArgumentError, match=f'gains.yaml: .*{said}'):
        stated(tmp_path, text)
