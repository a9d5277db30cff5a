"""The actuator file: what it adds to a model, and the key that every refusal names."""

import numpy as np
import pytest

from robot_dynamics_ros.dynamics.errors import ModelError
from robot_dynamics_ros.dynamics.kinds import Joint
from robot_dynamics_ros.dynamics.model import Model
from robot_dynamics_ros.importers.actuators import torque_constants, with_actuators
from robot_dynamics_ros.importers.reading import MAX_BYTES

FIGURES = {
    'gear_ratio': {'a': 100, 'b': 50},
    'torque_constant': {'a': 8.5, 'b': 7},
    'rotor_inertia': {'b': 0.2, 'a': 1.5},
    'friction_offset': {'a': -0.3, 'b': 0.4},
    'friction_transition': {'a': 0.05, 'b': 0.02},
}


def model():
    joints = [
        Joint(
            name,
            name + '_link',
            parent,
            'revolute',
            np.array([0, 0, 1.0]),
            np.eye(3),
            np.zeros(3),
            np.ones(10),
        )
        for name, parent in (('a', 'base'), ('b', 'a_link'))
    ]
    return Model.of('two', 'base', joints)


def test_figures_go_to_the_joints_by_name():
    before = model()
    after = with_actuators(before, FIGURES)
    assert after.arrays.rotor.tolist() == [0, 1.5, 0.2]
    assert after.friction.offset.tolist() == [-0.3, 0.4]
    assert after.friction.transition.tolist() == [0.05, 0.02]
    assert before.arrays.rotor.tolist() == [0, 0, 0]
    assert not any(array.flags.writeable for array in (after.arrays.rotor, *after.friction))


def test_a_figure_that_is_left_out_stays_as_it_is():
    after = with_actuators(with_actuators(model(), FIGURES), {'friction_offset': {'a': 1, 'b': 2}})
    assert after.arrays.rotor.tolist() == [0, 1.5, 0.2]
    assert after.friction.offset.tolist() == [1, 2]


def test_a_file_and_a_mapping_say_the_same(tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text('rotor_inertia: {a: 1.5, b: 0.2}  # kg m^2\ntorque_constant: {a: 8.5, b: 7}\n', encoding='utf-8')
    assert with_actuators(model(), path).arrays.rotor.tolist() == [0, 1.5, 0.2]
    assert torque_constants(str(path)) == torque_constants(FIGURES) == {'a': 8.5, 'b': 7.0}


REFUSED = {
    'unknown figure': ('rotors: {a: 1, b: 1}', 'rotors: unknown; expected some of rotor_inertia,'),
    'unknown joint': ('rotor_inertia: {a: 1, b: 1, c: 1}', "rotor_inertia: no joint 'c' in two"),
    'too few': ('rotor_inertia: {a: 1}', "rotor_inertia: expected 2 joints, got 1: 'b' is missing"),
    'a list': ('rotor_inertia: [1, 2]', 'rotor_inertia: expected a table joint: number, got [1, 2]'),
    'not a number': (
        'rotor_inertia: {a: 1, b: two}',
        "rotor_inertia: b: expected a finite number >= 0, got 'two'",
    ),
    'a truth value': (
        'rotor_inertia: {a: 1, b: yes}',
        'rotor_inertia: b: expected a finite number >= 0, got True',
    ),
    'NaN': ('friction_offset: {a: .nan, b: 1}', 'friction_offset: a: expected a finite number, got nan'),
    'infinite': (
        'torque_constant: {a: .inf, b: 1}',
        'torque_constant: a: expected a finite number > 0, got inf',
    ),
    'beyond floats': (
        f'rotor_inertia: {{a: 1{"0" * 400}, b: 1}}',
        'rotor_inertia: a: expected a finite number >= 0',
    ),
    'beyond printing': (
        f'rotor_inertia: {{a: 0x{"f" * 5000}, b: 1}}',
        'rotor_inertia: a: expected a finite number >= 0, got int beyond printing',
    ),
    'negative': (
        'rotor_inertia: {a: 1, b: -0.05}',
        'rotor_inertia: b: expected a finite number >= 0, got -0.05',
    ),
    'zero transition': (
        'friction_transition: {a: 0, b: 1}',
        'friction_transition: a: expected a finite number > 0',
    ),
    'no table': ('- 1', 'expected tables rotor_inertia,'),
    'empty': ('', 'expected tables rotor_inertia,'),
    'not YAML': ('rotor_inertia: {a: 1', 'not YAML'),
    'an object': ('!!python/object/apply:os.getcwd []', 'not YAML'),
    'a date that is none': ('rotor_inertia: {a: 2020-13-45}', 'not YAML'),
    'deep': ('[' * 5000, 'not YAML'),
    'too long': (b'#' * (MAX_BYTES + 1), 'longer than'),
    'not UTF-8': (b'\xff\xfe\xe9', 'not UTF-8'),
}


@pytest.mark.parametrize(('content', 'culprit'), REFUSED.values(), ids=REFUSED.keys())
def test_refused_naming_file_and_key(tmp_path, content, culprit):
    path = tmp_path / 'arm.yaml'
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ModelError) as error:
        with_actuators(model(), path)
    assert str(error.value).startswith(f'{path}: ')
    assert culprit in str(error.value)


def test_a_mapping_is_checked_like_a_file():
    with pytest.raises(ModelError, match='actuators: rotor_inertia: a: expected'):
        with_actuators(model(), {'rotor_inertia': {'a': float('nan'), 'b': 1.0}})


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(ModelError, match=r'absent\.yaml: cannot be read'):
        with_actuators(model(), tmp_path / 'absent.yaml')
    with pytest.raises(ModelError, match='torque_constant: is missing'):
        torque_constants({'rotor_inertia': {'a': 1.0}})
