"""Closed loops in YAML: written and read without loss; what is refused, with loop and field."""

import textwrap
from dataclasses import fields

from support.robots import any_description
from support.robots import random_trees as trees
from support.robots.loops_of_trees import closures_at, couplings_of
from support.unhurried import examples

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from robot_dynamics_ros import Coupling, LoopClosure, Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.yaml_files import model_yaml
from robot_dynamics_ros.formats.yaml_files.model_yaml import model_from_yaml, yaml_of
from robot_dynamics_ros.model.closed_loops.loops import with_loops
from robot_dynamics_ros.model.model import Frame, Model


def random_model(seed) -> Model:
    """Return a random tree with joints of all kinds, frames, and loops of all kinds."""
    joints = trees.random_joints(seed, count=8, general=0.3 * (seed % 2))
    frames = {'tool': Frame(3, np.eye(3), np.ones(3)), 'wall': Frame(0, np.eye(3), -np.ones(3))}
    model = Model.of('random', trees.BASE, joints, frames)
    q = trees.random_state(joints, seed).q
    return with_loops(model, [*closures_at(model, q, seed), *couplings_of(model, seed)], seed / 7, tolerance=1e-6)


@pytest.mark.parametrize('seed', range(4))
def test_yaml_brings_back_all_loops(seed):
    model = random_model(seed)
    back = model_from_yaml(yaml_of(model))[0]
    assert len(back.loops.closures) == len(model.loops.closures) == 4
    for closure, expected in zip(back.loops.closures, model.loops.closures, strict=True):
        for field in fields(LoopClosure):
            actual, wanted = getattr(closure, field.name), getattr(expected, field.name)
            if field.name.startswith('pose'):
                assert np.array_equal(actual, wanted)
            else:
                assert actual == wanted and type(actual) is type(wanted)
    assert back.loops.couplings == model.loops.couplings and model.loops.couplings
    assert back.loops.gain == model.loops.gain == seed / 7
    assert back.loops.tolerance == model.loops.tolerance == 1e-6
    for name, actual, wanted in zip(model.arrays._fields, back.arrays, model.arrays, strict=True):
        assert np.array_equal(actual, wanted), name


def test_a_model_without_loops_has_no_section():
    model = Model.of('r', trees.BASE, trees.random_joints(1, count=2))
    assert 'loops' not in yaml_of(model)
    assert model_from_yaml(yaml_of(with_loops(model, [], gain=3.0)))[0].loops.gain == 3.0


def test_what_may_be_left_out_is_the_default():
    model = Model.of('r', trees.BASE, trees.random_joints(1, count=2, general=0.0))
    written = yaml.safe_load(yaml_of(model))
    written['loops'] = {
        'closures': [{'name': 'pin', 'link_b': 'link_2'}],
        'couplings': [{'joint': 'joint_1', 'polynomial': [1]}],
    }
    loops = model_from_yaml(yaml.safe_dump(written))[0].loops
    (pin,), (held,) = loops.closures, loops.couplings
    assert (pin.link_a, pin.link_b, pin.kind, pin.stiffness, loops.gain) == (trees.BASE, 'link_2', 'point', 0.0, 20.0)
    assert pin.pose_a.tolist() == pin.pose_b.tolist() == np.eye(4).tolist()
    assert held == Coupling('joint_1', None, (1.0,))


def test_the_example_in_the_documentation_is_a_model():
    example = model_yaml.__doc__.partition('Example::')[2].partition('\nAn inertial')[0]
    robot = Robot.from_yaml(textwrap.dedent(example))
    assert (robot.joint_names, robot.limits.upper[0]) == (('column', 'hinge'), 1.0)
    assert [it.name for it in robot.loops.closures] == ['rail'] and len(robot.loops.couplings) == 1
    assert robot.rotor_inertia.tolist() == [0.3, 0.0] and robot.frame_names[0] == 'tool'


def content() -> dict:
    """Return the YAML of a small robot with a closure and a coupling."""
    model = Model.of('r', trees.BASE, trees.random_joints(3, count=3, chain=1.0, prismatic=0.0))
    loops = [LoopClosure('pin', None, np.eye(4), 'link_3', kind='revolute'), Coupling('joint_1', 'joint_2', (0.0, 1.0))]
    return yaml.safe_load(yaml_of(with_loops(model, loops)))


PIN, COUPLING = "loop 'pin': ", "coupling of joint 'joint_1': "
REFUSED = {  # path to a value in the section, the value (None: the key goes), the culprit
    'section': ((), [], 'loops: expected a table, got []'),
    'tolerance': (('tolerance',), 'wide', "loops: tolerance: expected a finite number up to 1e+30, got 'wide'"),
    'key': (('loop',), 1, "loops: 'loop': unknown; expected some of gain, tolerance, actuated, near"),
    'gain': (('gain',), -1, 'loops: gain: expected at least 0, got -1'),
    'actuated': (('actuated',), 'joint_1', "loops: actuated: expected a list, got 'joint_1'"),
    'actuated joint': (('actuated',), ['joint_9'], "loops: actuated: no joint 'joint_9'"),
    'near': (('near',), ['joint_1'], "loops: near: expected a table, got ['joint_1']"),
    'near of a joint': (('near',), {'joint_1': 'far'}, "near: joint 'joint_1': expected a finite number"),
    'list': (('closures',), {}, 'loops: closures: expected a list, got {}'),
    'closure': (('closures', 0), 'pin', "closure number 1: expected a table, got 'pin'"),
    'no name': (('closures', 0, 'name'), None, 'closure number 1: name: is missing'),
    'name': (('closures', 0, 'name'), 7, 'closure number 1: name: expected a name, got 7'),
    'field': (('closures', 0, 'color'), 1, "closure number 1: 'color': unknown; expected some of name, link_a"),
    'link': (('closures', 0, 'link_b'), 'nowhere', PIN + "link_b: no link 'nowhere'"),
    'link that is a list': (('closures', 0, 'link_a'), [1], PIN + 'link_a: expected a name'),
    'one body': (('closures', 0, 'link_b'), 'base', PIN + "'base' and 'base' are one rigid body"),
    'kind': (('closures', 0, 'kind'), 'glue', PIN + "kind: expected one of point, weld, revolute, planar_point"),
    'pose': (('closures', 0, 'pose_a'), [1], PIN + 'pose_a: expected finite numbers of shape (4, 4)'),
    'no pose': (('closures', 0, 'pose_b', 0, 0), 2.0, PIN + 'pose_b: expected a rotation matrix'),
    'stiffness': (('closures', 0, 'stiffness'), 'high', PIN + 'stiffness: expected a finite number'),
    'damping': (('closures', 0, 'damping'), -1, PIN + 'damping: expected at least 0'),
    'rest': (('closures', 0, 'rest'), 4.0, PIN + 'rest: expected an angle'),
    'coupling': (('couplings', 0), [], 'coupling number 1: expected a table'),
    'joint': (('couplings', 0, 'joint'), ['j'], 'coupling number 1: joint: expected a name'),
    'unknown joint': (('couplings', 0, 'other'), 'x', COUPLING + "no joint 'x'; there are joint_1"),
    'itself': (('couplings', 0, 'other'), 'joint_1', COUPLING + 'it is coupled to itself'),
    'no polynomial': (('couplings', 0, 'polynomial'), None, 'coupling number 1: polynomial: is missing'),
    'polynomial': (('couplings', 0, 'polynomial'), [1.0] * 6, COUPLING + 'polynomial: expected a list of 1 to 5'),
    'nested': (('couplings', 0, 'polynomial'), [[1.0], 2.0], COUPLING + 'polynomial: expected finite numbers'),
    'NaN': (('couplings', 0, 'polynomial'), [float('nan')], COUPLING + 'polynomial: expected finite numbers'),
}  # fmt: skip


@pytest.mark.parametrize(('path', 'value', 'culprit'), REFUSED.values(), ids=REFUSED)
def test_refused_with_loop_and_field(path, value, culprit):
    written = content()
    *way, key = ('loops', *path)
    place = written
    for step in way:
        place = place[step]
    if value is None:
        del place[key]
    else:
        place[key] = value
    with pytest.raises(ModelError) as error:
        model_from_yaml(yaml.safe_dump(written))
    assert str(error.value).startswith('robot description: ' + culprit)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just(10**400)),
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=6,
)
KEYS = st.one_of(
    st.just(()),
    st.tuples(st.sampled_from(['gain', 'closures', 'couplings'])),
    st.tuples(st.just('closures'), st.just(0), st.sampled_from([field.name for field in fields(LoopClosure)])),
    st.tuples(st.just('couplings'), st.just(0), st.sampled_from([field.name for field in fields(Coupling)])),
)


@examples(25)
@given(path=KEYS, value=VALUES)
def test_any_value_is_a_model_or_a_model_error(path, value):
    written = content()
    *way, key = ('loops', *path)
    place = written
    for step in way:
        place = place[step]
    place[key] = value
    any_description.check(model_from_yaml, yaml.safe_dump(written))


def test_actuated_joints_come_back_in_the_order_of_the_model():
    model = Model.of('r', trees.BASE, trees.random_joints(1, count=4, general=0.0))
    first, second, *_ = model.joint_names
    back = model_from_yaml(yaml_of(with_loops(model, [], actuated=[second, first], near={second: 0.5})))[0]
    assert back.loops.actuated == (first, second) and back.loops.near == {second: 0.5}


def test_a_joint_that_is_actuated_twice_is_refused():
    model = Model.of('r', trees.BASE, trees.random_joints(1, count=2, general=0.0))
    with pytest.raises(ModelError, match='twice'):
        with_loops(model, [], actuated=[model.joint_names[0]] * 2)
