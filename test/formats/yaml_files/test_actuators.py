"""The actuator file: what it adds to a model, and the key that every refusal names."""

import dataclasses

from support.unhurried import examples

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import MAX_BYTES, MAX_DEPTH
from robot_dynamics_ros.formats.yaml_files import untrusted_yaml
from robot_dynamics_ros.formats.yaml_files.actuators import with_actuators
from robot_dynamics_ros.formats.yaml_files.untrusted_yaml import MAX_SCALAR, MAX_YAML_BYTES, parsed_yaml
from robot_dynamics_ros.model.joint_types import KINDS, Joint
from robot_dynamics_ros.model.model import Model

pytestmark = pytest.mark.plain

FIGURES = {
    'gear_ratio': {'a': 100, 'b': 50},
    'torque_constant': {'a': 8.5, 'b': 7},
    'rotor_inertia': {'b': 0.2, 'a': 1.5},
    'friction_offset': {'a': -0.3, 'b': 0.4},
    'friction_transition': {'a': 0.05, 'b': 0.02},
    'friction_stribeck': {'a': 0.6, 'b': 0.0},
    'friction_stribeck_velocity': {'a': 0.3, 'b': 0.1},
    'friction_load': {'a': 0.0, 'b': 0.07},
    'friction_quadratic': {'a': 0.9, 'b': 0.0},
}


def model(kind='revolute'):
    joints = [
        Joint(
            name,
            name + '_link',
            parent,
            kind,
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
    assert after.friction.stribeck.tolist() == [0.6, 0.0]
    assert after.friction.stribeck_velocity.tolist() == [0.3, 0.1]
    assert after.friction.load.tolist() == [0.0, 0.07]
    assert after.friction.quadratic.tolist() == [0.9, 0.0]
    assert after.actuators.gear_ratio.tolist() == [100.0, 50.0]
    assert after.actuators.torque_constant.tolist() == [8.5, 7.0]
    assert np.isnan(before.actuators).all() and not np.array([before.friction.stribeck, before.friction.load]).any()
    assert not after.arrays.spin.any() and not after.arrays.geared.any()
    assert before.arrays.rotor.tolist() == [0, 0, 0]
    assert not any(array.flags.writeable for array in (*after.arrays, *after.friction, *after.actuators))


def test_a_figure_that_is_left_out_stays_as_it_is():
    after = with_actuators(with_actuators(model(), FIGURES), {'friction_offset': {'a': 1, 'b': 2}})
    assert after.arrays.rotor.tolist() == [0, 1.5, 0.2]
    assert after.friction.offset.tolist() == [1, 2]
    assert after.actuators.gear_ratio.tolist() == [100.0, 50.0]


def test_the_motors_own_inertia_is_reflected_by_the_square_of_the_gear_ratio():
    motors = {'gear_ratio': FIGURES['gear_ratio'], 'motor_inertia': {'a': 2e-4, 'b': 0.0}}
    for kind in ('revolute', 'prismatic'):
        assert with_actuators(model(kind), motors).arrays.rotor == pytest.approx([0.0, 100**2 * 2e-4, 0.0], rel=1e-15)
    # the gear ratio may be known already
    geared = with_actuators(model(), {'gear_ratio': FIGURES['gear_ratio']})
    after = with_actuators(geared, {'motor_inertia': {'a': 2e-4, 'b': 1e-3}})
    assert after.arrays.rotor == pytest.approx([0.0, 2.0, 2.5], rel=1e-15)
    free = with_actuators(model(), {'motor_inertia': {'a': 0, 'b': 0}})
    assert free.arrays.rotor.tolist() == [0.0, 0.0, 0.0]


def test_a_rotor_with_a_direction_has_its_inertia_times_gear_ratio_as_spin():
    turning = {'rotor_direction': {'a': -1, 'b': 1}}
    motors = {'gear_ratio': FIGURES['gear_ratio'], 'motor_inertia': {'a': 2e-4, 'b': 1e-3}}
    after = with_actuators(model(), {**motors, **turning})
    assert after.arrays.spin == pytest.approx([0.0, -100 * 2e-4, 50 * 1e-3], rel=1e-15)
    assert after.arrays.geared.tolist() == [0, 1, 2]
    reflected = with_actuators(model(), {**FIGURES, **turning})
    assert reflected.arrays.spin == pytest.approx([0.0, -1.5 / 100, 0.2 / 50], rel=1e-15)
    # it goes with rotor and gear; a file that names neither changes nothing
    other = with_actuators(reflected, {'rotor_inertia': {'a': 3, 'b': 0}})
    assert other.arrays.spin == pytest.approx([0.0, -3.0 / 100, 0.0], rel=1e-15)
    assert other.arrays.geared.tolist() == [0, 1, 0]
    other = with_actuators(reflected, {'gear_ratio': {'a': 50, 'b': 50}})
    assert other.arrays.spin == pytest.approx([0.0, -1.5 / 50, 0.2 / 50], rel=1e-15)
    other = with_actuators(reflected, {'torque_constant': FIGURES['torque_constant']})
    assert (other.arrays.spin == reflected.arrays.spin).all()
    still = with_actuators(reflected, {'rotor_direction': {'a': 0, 'b': 1}})
    assert still.arrays.spin[1:].tolist() == [0.0, 0.2 / 50] and still.arrays.geared.tolist() == [0, 0, 2]


@pytest.mark.parametrize('kind', sorted(set(KINDS) - {'revolute'}))
def test_a_direction_is_refused_for_a_joint_that_is_not_revolute(kind):
    turning = {'gear_ratio': {'a': 9, 'b': 9}, 'rotor_direction': {'a': 0, 'b': 1}}
    with pytest.raises(ModelError, match=f'^actuators: rotor_direction: b: expected 0 for a {kind} joint$'):
        with_actuators(model(kind), turning)
    spinning = [dataclasses.replace(joint, spin=0.1) for joint in model(kind).joints]
    with pytest.raises(
        ModelError, match=f"^joint 'a': rotor spin is supported for revolute joints only, not {kind} ones$"
    ):
        Model.of('two', 'base', spinning)


def test_a_file_and_a_mapping_are_equivalent(tmp_path):
    path = tmp_path / 'arm.yaml'
    path.write_text('rotor_inertia: {a: 1.5, b: 0.2}  # kg m^2\ntorque_constant: {a: 8.5, b: 7}\n', encoding='utf-8')
    assert with_actuators(model(), path).arrays.rotor.tolist() == [0, 1.5, 0.2]
    assert with_actuators(model(), str(path)).actuators.torque_constant.tolist() == [8.5, 7.0]


REFUSED = {
    'unknown figure': ('rotors: {a: 1, b: 1}', "'rotors': unknown; expected some of rotor_inertia,"),
    'unknown joint': ('rotor_inertia: {a: 1, b: 1, c: 1}', "rotor_inertia: no joint 'c' in two"),
    'too few': ('rotor_inertia: {a: 1}', "rotor_inertia: expected 2 joints, got 1: 'b' is missing"),
    'a list': ('rotor_inertia: [1, 2]', 'rotor_inertia: expected a table, got [1, 2]'),
    'not a number': (
        'rotor_inertia: {a: 1, b: two}',
        "rotor_inertia: b: expected a finite number up to 1e+30, got 'two'",
    ),
    'a truth value': (
        'rotor_inertia: {a: 1, b: yes}',
        'rotor_inertia: b: expected a finite number up to 1e+30, got True',
    ),
    'NaN': ('friction_offset: {a: .nan, b: 1}', 'friction_offset: a: expected a finite number up to 1e+30, got nan'),
    'infinite': (
        'torque_constant: {a: .inf, b: 1}',
        'torque_constant: a: expected a finite number up to 1e+30, got inf',
    ),
    'beyond floats': (
        f'rotor_inertia: {{a: 1{"0" * 400}, b: 1}}',
        'rotor_inertia: a: expected a finite number up to 1e+30',
    ),
    'beyond printing': (
        f'rotor_inertia: {{a: 0x{"f" * 5000}, b: 1}}',
        'rotor_inertia: a: expected a finite number up to 1e+30, got int beyond printing',
    ),
    'negative': (
        'rotor_inertia: {a: 1, b: -0.05}',
        'rotor_inertia: b: expected at least 0, got -0.05',
    ),
    'zero transition': (
        'friction_transition: {a: 0, b: 1}',
        'friction_transition: a: expected more than 0',
    ),
    'zero gear ratio': ('gear_ratio: {a: 1, b: 0}', 'gear_ratio: b: expected more than 0, got 0'),
    'zero torque constant': (
        'torque_constant: {a: 0, b: 1}',
        'torque_constant: a: expected more than 0, got 0',
    ),
    'negative motor inertia': (
        'gear_ratio: {a: 9, b: 9}\nmotor_inertia: {a: 1, b: -1}',
        'motor_inertia: b: expected at least 0, got -1',
    ),
    'both inertias': (
        'rotor_inertia: {a: 1, b: 1}\nmotor_inertia: {a: 1, b: 1}',
        'motor_inertia: expected this or rotor_inertia, got both',
    ),
    'inertia without gear': ('motor_inertia: {a: 0, b: 1}', 'motor_inertia: b: its gear_ratio is missing'),
    'direction without gear': (
        'rotor_inertia: {a: 1, b: 1}\nrotor_direction: {a: 0, b: 1}',
        'rotor_direction: b: its gear_ratio is missing',
    ),
    'half a direction': ('rotor_direction: {a: 0.5, b: 0}', 'rotor_direction: a: expected 1, -1 or 0, got 0.5'),
    'too large for the products of a model': (
        'gear_ratio: {a: 9, b: 1.0e+200}\nmotor_inertia: {a: 1, b: 1}',
        'gear_ratio: b: expected a finite number up to 1e+30, got 1e+200',
    ),
    'spin beyond floats': (
        'gear_ratio: {a: 9, b: 1.0e-300}\nrotor_inertia: {a: 1, b: 1.0e+30}\nrotor_direction: {a: 1, b: 1}',
        'rotor_direction: b: with its gear_ratio of 1e-300 it overflows',
    ),
    'negative stribeck': ('friction_stribeck: {a: -1, b: 1}', 'friction_stribeck: a: expected at least 0'),
    'zero stribeck velocity': (
        'friction_stribeck_velocity: {a: 1, b: 0}',
        'friction_stribeck_velocity: b: expected more than 0, got 0',
    ),
    'negative load': ('friction_load: {a: 1, b: -0.1}', 'friction_load: b: expected at least 0, got -0.1'),
    'no table': ('- 1', 'expected a table, got [1]'),
    'empty': ('', 'expected a table, got None'),
    'not YAML': ('rotor_inertia: {a: 1', 'not YAML'),
    'an object': ('!!python/object/apply:os.getcwd []', 'not YAML'),
    'a date that is none': ('rotor_inertia: {a: 2020-13-45}', 'not YAML'),
    'deep': ('[' * 5000, 'nested deeper than 64'),
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


def test_limits_of_a_file_are_the_largest_that_are_read(tmp_path, monkeypatch):
    path, content = tmp_path / 'arm.yaml', b'rotor_inertia: {a: 1, b: 1}\n'
    path.write_bytes(content + b'#' * (MAX_YAML_BYTES - len(content)))
    assert with_actuators(model(), path)
    longest = 'a' * MAX_SCALAR
    assert parsed_yaml(longest) == longest
    with pytest.raises(ModelError, match=f'line 1: a value of more than {MAX_SCALAR} characters'):
        parsed_yaml(longest + 'a')
    deep = '[' * MAX_DEPTH + ']' * MAX_DEPTH
    assert parsed_yaml(deep) and parsed_yaml(f'[{", ".join([deep[1:-1]] * 2)}]')  # depth, not their number
    monkeypatch.setattr(untrusted_yaml, 'MAX_VALUES', 500)
    many = '[' + '1,' * 499 + ']'
    assert len(parsed_yaml(many)) == 499
    with pytest.raises(ModelError, match='more than 500 values'):
        parsed_yaml('[1,' + many[1:])


def test_a_mapping_is_checked_like_a_file():
    with pytest.raises(ModelError, match='actuators: rotor_inertia: a: expected'):
        with_actuators(model(), {'rotor_inertia': {'a': float('nan'), 'b': 1.0}})


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(ModelError, match=r'absent\.yaml: cannot be read'):
        with_actuators(model(), tmp_path / 'absent.yaml')


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just(10**400), st.lists(st.floats())
)
NUMBERS = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e300, 50.0]), ANYTHING)


@pytest.mark.compiled
@given(
    tables=st.dictionaries(
        st.sampled_from([*FIGURES, 'motor_inertia', 'rotor_direction', 'else']),
        st.one_of(st.fixed_dictionaries({'a': NUMBERS, 'b': NUMBERS}), ANYTHING),
    )
)
@examples(150)
def test_any_file_yields_finite_values_or_is_refused(tables):
    try:
        after = with_actuators(model(), tables)
    except ModelError as error:
        starts = tuple(f'actuators: {key}: ' for table in tables for key in (table, repr(table)))
        assert str(error).startswith(starts)
        return
    assert np.isfinite(after.arrays.rotor).all() and (after.arrays.rotor >= 0.0).all()
    assert (
        np.isfinite(after.arrays.spin).all() and ((after.arrays.spin[1:] != 0.0) == (after.arrays.geared[1:] > 0)).all()
    )
    assert np.isfinite(after.friction).all()
    assert ((np.array(after.actuators) > 0.0) | np.isnan(after.actuators)).all()
