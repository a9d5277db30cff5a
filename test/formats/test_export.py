"""Models written as URDF and as YAML are read back the same, with their names; what YAML refuses."""

import dataclasses
import pickle
from functools import cache
from xml.etree import ElementTree

from support.code.model_bits import MJCF
from support.matrices import matrix
from support.robots import any_description
from support.robots import random_trees as trees
from support.robots.facade_robots import ACTUATORS, TREE
from support.unhurried import examples

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.library import named_model
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.formats.urdf_export import urdf_of
from robot_dynamics_ros.formats.yaml_files.actuators import with_actuators
from robot_dynamics_ros.formats.yaml_files.model_yaml import model_from_yaml, yaml_of
from robot_dynamics_ros.model.joint_types import KINDS, Joint
from robot_dynamics_ros.model.model import Frame, Model
from robot_dynamics_ros.model.replaced_parameters import with_friction, with_limits
from robot_dynamics_ros.model.rotations import from_rpy, to_rpy

pytestmark = pytest.mark.plain

ROUNDING = 1e-14  # of the largest magnitude in the quantity


@cache
def random_model(seed, chain=None, general=0.0) -> Model:
    """Return a random tree with limits, friction and frames on some of its links."""
    rng = np.random.default_rng(seed)
    joints = []
    for joint in trees.random_joints(seed, chain=chain, general=general):
        offset, viscous, coulomb, transition, velocity, effort, *further = rng.uniform(0.01, 5.0, 13)
        lower, upper = sorted(rng.uniform(-3.0, 3.0, 2))
        if KINDS[joint.kind].coordinates > 1:
            lower, upper = -np.inf, np.inf
        elif rng.random() < 0.3:
            lower, upper = (-np.inf, np.inf) if joint.kind == 'revolute' else (np.nan, np.nan)
        figures = {'viscous': viscous, 'coulomb': coulomb, 'offset': offset, 'transition': transition,
                   'lower': lower, 'upper': upper, 'velocity': velocity,
                   **dict(zip(('stribeck', 'stribeck_velocity', 'load', 'quadratic', 'gear_ratio',
                               'torque_constant'),
                              further, strict=False))}  # fmt: skip
        if joint.kind == 'revolute':
            figures['spin'] = further[-1] - 2.5
        joints.append(dataclasses.replace(joint, effort=effort if rng.random() < 0.5 else np.nan, **figures))
    frames = {
        f'frame {i}': Frame(int(i), Rotation.from_quat(rng.normal(size=4)).as_matrix(), rng.uniform(-1.0, 1.0, 3))
        for i in rng.integers(0, len(joints) + 1, 3)
    }
    base = trees.random_body(rng) if rng.random() < 0.5 else np.zeros(10)
    return Model.of('random', trees.BASE, joints, frames, base_inertia=base)


def with_numbers_of_each(model: Model) -> Model:
    """Return a model with friction and velocity limits of each velocity of its joints."""
    numbers = np.random.default_rng(1).uniform(0.1, 2.0, (3, model.arrays.nv))
    model = with_friction(model, dict(zip(('viscous', 'stribeck_velocity'), numbers, strict=False)))
    return with_limits(model, {'velocity': numbers[2]})


MODELS = {name: named_model(name) for name in ('aubo_i5', 'aubo_i5_lecture')}
MODELS['tree'] = with_actuators(model_from_urdf(TREE), ACTUATORS)
MODELS |= {f'random {seed}': random_model(seed) for seed in range(4000, 4012)}
GENERAL = {f'general {seed}': with_numbers_of_each(random_model(seed, general=0.6)) for seed in range(4020, 4024)}
MODELS['nothing moves'] = Model.of('still', 'rock', [], {'top': Frame(0, np.eye(3), np.ones(3))})
MODEL = pytest.mark.parametrize('model', MODELS.values(), ids=MODELS.keys())


def test_every_kind_of_joint_is_written():
    models = [*MODELS.values(), *GENERAL.values()]
    assert {kind for model in models for kind in model.joint_kinds} == set(KINDS)


# beyond what a URDF holds
LOST = (
    'rotor',
    'spin',
    'geared',
    'offset',
    'transition',
    'stribeck',
    'stribeck_velocity',
    'load',
    'quadratic',
    'gear_ratio',
    'torque_constant',
)


def assert_same(actual, expected, what):
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=ROUNDING * scale, err_msg=what)


def assert_same_model(actual: Model, expected: Model, row, lost=()):
    """Compare all of two models; joint i of ``expected`` is joint row[i] of ``actual``."""
    assert actual.name == expected.name
    assert [actual.joint_names[i] for i in row] == list(expected.joint_names)
    links = [0, *(i + 1 for i in row)]
    assert [actual.link_names[i] for i in links] == list(expected.link_names)
    assert [links.index(p) for p in actual.arrays.parent[links][1:]] == expected.arrays.parent[1:].tolist()
    assert_same(actual.arrays.I[0], expected.arrays.I[0], 'base')
    fields = {field.name for field in dataclasses.fields(Joint)} - {'name', 'link', 'parent', 'kind', 'of_each', *lost}
    joints = actual.joints
    for i, joint in zip(row, expected.joints, strict=True):
        assert actual.joint_kinds[i] == joint.kind and joints[i].of_each == joint.of_each
        for field in fields:
            assert_same(np.asarray(getattr(joints[i], field)), np.asarray(getattr(joint, field)), field)
    if row == list(range(len(row))):
        for part in ('arrays', 'limits', 'friction', 'actuators'):
            for field in set(getattr(actual, part)._fields) - set(lost):
                assert_same(getattr(getattr(actual, part), field), getattr(getattr(expected, part), field), field)
    assert set(actual.frames) == set(expected.frames)
    for name, (link, rotation, origin) in expected.frames.items():
        assert actual.frames[name].link == links[link], name
        assert_same(actual.frames[name].rotation, rotation, name)
        assert_same(actual.frames[name].origin, origin, name)


@pytest.mark.compiled
@pytest.mark.parametrize('name', matrix([*MODELS, *GENERAL], [*[*MODELS][:5], 'nothing moves', *GENERAL]))
def test_yaml_brings_back_the_whole_model(name):
    model, gravity = (MODELS | GENERAL)[name], (1.0, -2.5, 9.0)
    back, its_gravity = model_from_yaml(yaml_of(model, gravity))
    assert_same_model(back, model, list(range(len(model.joint_names))))
    assert its_gravity.tolist() == list(gravity)
    assert not_the_same_bits(back, model) == []


def not_the_same_bits(actual: Model, expected: Model) -> list[str]:
    """Return the arrays of a model that differ in a bit from those of another one."""
    parts = ('arrays', 'limits', 'friction', 'actuators')
    pairs = {
        f'{part}.{field}': (getattr(getattr(actual, part), field), getattr(getattr(expected, part), field))
        for part in parts
        for field in getattr(expected, part)._fields
    }
    return [name for name, (one, other) in pairs.items() if one.tobytes() != other.tobytes()]


def identified(seed: int) -> Robot:
    """Return the AUBO-i5 with other inertial parameters, as an identification finds them."""
    robot, random = Robot.named('aubo_i5'), np.random.default_rng(seed)
    return robot.with_inertial_parameters(robot.inertial_parameters * random.uniform(0.8, 1.2, 60))


PINNED = np.block([[from_rpy(0.3, -1.2, 2.1), np.ones((3, 1))], [np.zeros(3), 1.0]])
TRAVELLERS = {
    **{f'identified {seed}': lambda seed=seed: identified(seed) for seed in range(3)},
    'DH': lambda: Robot.from_dh([{'a': 0.5, 'alpha': 0.3, 'mass': 2.0, 'com': (-0.25, 0.1, 0.0)}] * 3, base=PINNED),
    'payload': lambda: Robot.named('aubo_i5').with_payload(Payload.sphere(0.7, 0.1, (0.1, 0.3, 0.2)), 'foreArm_Link'),
    'locked': lambda: Robot.named('aubo_i5').with_locked_joints({'foreArm_joint': 0.7, 'wrist1_joint': 0.4}),
    'chain': lambda: Robot.named('aubo_i5').chain('foreArm_Link', gravity=(1.0, 2.0, 3.0)),
    'consistent': lambda: Robot.from_urdf(TREE.replace('iyy="0.03"', 'iyy="0.12"')).with_consistent_inertias(),
    'MJCF': lambda: Robot.from_mjcf(MJCF),
}


@pytest.mark.parametrize('make', TRAVELLERS.values(), ids=TRAVELLERS)
def test_a_robot_keeps_its_digest_through_yaml_and_pickle(make):
    robot = make()
    for back in (Robot.from_yaml(robot.to_yaml()), pickle.loads(pickle.dumps(robot))):
        assert back.digest == robot.digest and not_the_same_bits(back.model, robot.model) == []
    if not robot.loops.all:  # as two nodes that cut the same part out of it
        one, other = (it.chain(it.link_names[1], gravity=it.gravity).digest for it in (back, robot))
        assert one == other


@pytest.mark.compiled
@MODEL
def test_urdf_brings_back_all_that_it_can_hold(model):
    back = model_from_urdf(urdf_of(model))
    row = [back.joint_names.index(name) for name in model.joint_names]
    assert_same_model(back, model, row, lost=LOST)
    assert not back.arrays.rotor.any() and not back.arrays.spin.any() and np.isnan(back.actuators).all()


@pytest.mark.parametrize('kind', ['planar', 'free'])
def test_urdf_brings_back_planar_and_floating_joints(kind):
    joint = dataclasses.replace(trees.random_joints(1, count=1)[0], kind=kind, lower=-np.inf, upper=np.inf)
    if kind == 'free':
        joint = dataclasses.replace(joint, axis=np.array([0.0, 0.0, 1.0]))
    model = Model.of('r', trees.BASE, [joint])
    assert_same_model(model_from_urdf(urdf_of(model)), model, [0], lost=('rotor',))


@pytest.mark.parametrize('kind', ['helical', 'cylindrical', 'spherical'])
def test_a_joint_that_a_urdf_cannot_hold_is_refused_by_name(kind):
    joint = dataclasses.replace(trees.random_joints(1, count=1)[0], kind=kind)
    with pytest.raises(ModelError, match=f"^joint 'joint_1': a URDF cannot hold a {kind} joint$"):
        urdf_of(Model.of('r', trees.BASE, [joint]))


def test_some_trees_come_back_from_a_urdf_in_another_order():
    """Else the order of joints would be untested: a URDF is read depth first."""
    models = [model for name, model in MODELS.items() if name.startswith('random')]
    same = [model_from_urdf(urdf_of(model)).joint_names == model.joint_names for model in models]
    assert 3 < sum(same) < len(same) - 3


NAMES = [
    'a<b>&"c\'',
    'yes',
    '1',
    '~',
    'é ü 机',
    '  x  y ',
    '../../etc',
    'a"b\\n',
    '&amp;',
    '# no',
    '{a: b}',
]


@pytest.mark.parametrize('name', NAMES)
def test_names_survive_urdf_and_yaml(name):
    joint = trees.random_joints(1, count=1)[0]
    joint = dataclasses.replace(joint, name=name, link='l' + name, parent='b' + name)
    frames = {'f' + name: Frame(1, np.eye(3), np.zeros(3)), name: Frame(0, np.eye(3), np.zeros(3))}
    model = Model.of('r' + name, 'b' + name, [joint], frames)
    for back in (model_from_urdf(urdf_of(model)), model_from_yaml(yaml_of(model))[0]):
        assert (back.name, back.joint_names, back.link_names) == (model.name, model.joint_names, model.link_names)
        assert set(back.frames) == set(model.frames)


def named(name) -> Model:
    return Model.of('r', name, [])


@pytest.mark.parametrize('name', ['', ' ', 'a\0', '\x1b', '\ud800', '\uffff', 'a${b}', '$(x)'])
def test_a_name_that_a_urdf_cannot_hold_is_refused(name):
    with pytest.raises(ModelError, match='a URDF cannot hold this name') as error:
        urdf_of(named(name))
    assert repr(name) in str(error.value)


def test_the_name_of_a_mount_is_no_joints_name():
    joint = dataclasses.replace(trees.random_joints(1, count=1, prismatic=0.0)[0], name='tool_mount')
    model = Model.of('r', trees.BASE, [joint], {'tool': Frame(1, np.eye(3), np.ones(3))})
    assert_same_model(model_from_urdf(urdf_of(model)), model, [0], lost=('rotor',))


def test_infinite_limits_of_what_is_no_continuous_joint_are_the_largest_float():
    joint = dataclasses.replace(trees.random_joints(2, count=1, prismatic=1.0)[0], lower=-np.inf, upper=1.0)
    text = urdf_of(Model.of('r', trees.BASE, [joint]))
    assert 'lower="-1.7976931348623157e+308"' in text
    back = model_from_urdf(text)
    assert (back.limits.lower[0], back.limits.upper[0]) == (-np.inf, 1.0)


def test_urdfdom_finds_the_limits_that_it_needs():
    """It refuses revolute and prismatic joints without <limit>, and a <limit> without effort or velocity."""
    joints = [
        dataclasses.replace(joint, parent=trees.BASE, lower=np.nan, upper=np.nan, velocity=np.nan, effort=np.nan)
        for joint in trees.random_joints(5, count=6, prismatic=0.5)
    ]
    joints[0] = dataclasses.replace(joints[0], kind='revolute', lower=-np.inf, upper=np.inf)
    joints[1] = dataclasses.replace(joints[0], name='second', link='other', effort=7.0)
    model = Model.of('r', trees.BASE, joints)
    root = ElementTree.fromstring(urdf_of(model))
    for element in root.findall('joint'):
        limit = element.find('limit')
        if limit is not None:
            assert {'effort', 'velocity'} <= set(limit.attrib)
        else:
            assert element.get('type') == 'continuous'
    back = model_from_urdf(urdf_of(model)).limits
    for one, other in zip(back, model.limits, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize('effort', [1e300, 1e31])
def test_efforts_beyond_all_forces_come_back_from_yaml(effort):
    joint = dataclasses.replace(trees.random_joints(2, count=1)[0], effort=effort)
    assert model_from_yaml(yaml_of(Model.of('r', trees.BASE, [joint])))[0].limits.effort[0] == effort


ANGLES = [0.0, np.pi / 2, -np.pi / 2, np.pi, np.pi / 2 - 1e-9, -np.pi / 2 + 1e-13, 0.3, -2.5]


@pytest.mark.parametrize('pitch', ANGLES)
def test_angles_of_a_rotation_bring_it_back_at_quarter_turns_too(pitch):
    for roll in ANGLES:
        for yaw in ANGLES:
            R = from_rpy(roll, pitch, yaw)
            assert from_rpy(*to_rpy(R)) == pytest.approx(R, rel=0, abs=30.0 * np.finfo(float).eps)


def test_the_robots_own_way_there_and_back(tmp_path):
    robot = Robot.named('aubo_i5').with_gravity((0.0, 0.0, 9.81))
    q, qd, qdd = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 6))
    path = tmp_path / 'arm.yaml'
    path.write_text(robot.to_yaml(), encoding='utf-8')
    expected = robot.inverse_dynamics(q, qd, qdd)
    for back in (Robot.from_yaml(path), Robot.from_yaml(str(path)), Robot.from_yaml(robot.to_yaml())):
        assert back.gravity.tolist() == [0.0, 0.0, 9.81]
        assert back.inverse_dynamics(q, qd, qdd) == pytest.approx(expected, rel=1e-12)
        assert back.friction_torque(qd) == pytest.approx(robot.friction_torque(qd), rel=1e-15)
    rigid = Robot.from_urdf(robot.to_urdf()).with_gravity(robot.gravity)
    rotors = robot.rotor_inertia * qdd
    assert rigid.inverse_dynamics(q, qd, qdd) + rotors == pytest.approx(expected, rel=1e-12)
    # one finding, the base's mass, which comes back as well
    assert [str(finding) for finding in back.findings] == [str(finding) for finding in robot.findings]


def content() -> dict:
    """Return what the YAML of a small robot holds."""
    return yaml.safe_load(yaml_of(model_from_urdf(TREE)))


def test_what_may_be_left_out_is_the_default():
    joint = {'name': 'j', 'link': 'l', 'parent': 'b', 'kind': 'prismatic', 'axis': [0, 0, 2]}
    model, gravity = model_from_yaml(yaml.safe_dump({'robot': 'r', 'base': {'link': 'b'}, 'joints': [joint]}))
    (back,) = model.joints
    wanted = Joint('j', 'l', 'b', 'prismatic', np.array([0, 0, 1.0]), np.eye(3), np.zeros(3), np.zeros(10),
                   lower=np.nan, upper=np.nan)  # fmt: skip
    for field in dataclasses.fields(Joint):
        may_be_nan = field.name in 'lower upper velocity effort gear_ratio torque_constant'
        assert np.array_equal(getattr(back, field.name), getattr(wanted, field.name), may_be_nan), field.name
    assert gravity.tolist() == [0, 0, -9.81]


def test_findings_name_the_link_whose_inertial_is_wrong():
    written = content()
    written['joints'][1]['inertial']['inertia_about_origin'][0] = -1.0
    model, _ = model_from_yaml(yaml.safe_dump(written))
    assert ('error', "link 'sledge'") in [(finding.severity, finding.where) for finding in model.findings]


JOINT = "joint 'm_slide': "
REFUSED = {  # path to a value in the YAML, the value (None: the key goes), the culprit
    'no robot': (('robot',), None, 'the file: robot: is missing'),
    'unknown key': (('links',), [], "the file: 'links': unknown; expected some of robot,"),
    'name': (('robot',), 7, 'robot: expected a name, got 7'),
    'gravity': (('gravity',), [0, 0], 'gravity: expected finite numbers of shape (3,)'),
    'base': (('base',), 'ground', "base: expected a table, got 'ground'"),
    'joints': (('joints',), {}, 'joints: expected a list, got {}'),
    'a joint': (('joints', 1), 'm_slide', "joint number 2: expected a table, got 'm_slide'"),
    'no name': (('joints', 1, 'name'), None, 'joint number 2: name: is missing'),
    'blank name': (('joints', 1, 'name'), ' ', "joint number 2: name: expected a name, got ' '"),
    'name twice': (('joints', 1, 'name'), 'z_turn', "joint 'z_turn': duplicate joint or link name"),
    'parent': (('joints', 1, 'parent'), 'nowhere', JOINT + "its parent link 'nowhere' is missing or comes later"),
    'kind': (('joints', 1, 'kind'), 'fixed', JOINT + 'kind: expected one of revolute, prismatic'),
    'axis': (('joints', 1, 'axis'), [0, 0, 0], JOINT + 'axis: the axis has no direction'),
    'rotation': (('joints', 1, 'rotation'), [[1, 0, 0] for _ in range(3)], JOINT + 'rotation: expected a rotation'),
    'mirror': (('joints', 1, 'rotation'), [[1, 0, 0], [0, 1, 0], [0, 0, -1]], JOINT + 'rotation: expected a rotation'),
    'origin': (('joints', 1, 'origin'), [0, 'x', 0], JOINT + 'origin: expected finite numbers'),
    'NaN': (('joints', 1, 'origin'), [0, float('nan'), 0], JOINT + 'origin: expected finite numbers'),
    'truth': (('joints', 1, 'rotor_inertia'), True, JOINT + 'rotor_inertia: expected a finite number'),
    'negative': (('joints', 1, 'rotor_inertia'), -1, JOINT + 'rotor_inertia: expected at least 0, got -1'),
    'mass': (('joints', 1, 'inertial', 'mass'), None, JOINT + 'inertial: mass: is missing'),
    'inertia': (
        ('joints', 1, 'inertial'),
        {'mass': 1, 'com': [0, 0, 0], 'inertia': [1, 2, 3]},
        JOINT + 'inertial: inertia: expected finite numbers of shape (6,)',
    ),
    'first moment': (
        ('joints', 1, 'inertial', 'first_moment'), [1, 2], JOINT + 'inertial: first_moment: expected finite numbers'
    ),
    'both centres': (('joints', 1, 'inertial', 'com'), [1, 2, 3], JOINT + "inertial: 'com': unknown; expected some of"),
    'no centre': (('joints', 1, 'inertial', 'first_moment'), None, JOINT + "inertial: 'inertia_about_origin': unknown"),
    'limit': (('joints', 1, 'limits', 'effort'), 'high', JOINT + "limits: effort: expected a number"),
    'one limit': (('joints', 1, 'limits', 'lower'), None, JOINT + 'limits: lower and upper: expected both'),
    'transition': (('joints', 1, 'friction', 'transition'), 0, JOINT + 'friction: transition: expected more than 0'),
    'friction': (('joints', 1, 'friction', 'sticky'), 1, JOINT + "friction: 'sticky': unknown"),
    'stribeck': (
        ('joints', 1, 'friction', 'stribeck_velocity'), 0, JOINT + 'friction: stribeck_velocity: expected more than 0'
    ),
    'gear': (('joints', 1, 'actuators'), {'gear_ratio': 0}, JOINT + 'actuators: gear_ratio: expected more than 0'),
    'motor': (('joints', 1, 'actuators'), {'torque_constant': -1}, JOINT + 'actuators: torque_constant: expected more'),
    'motors': (('joints', 1, 'actuators'), {'volts': 1}, JOINT + "actuators: 'volts': unknown; expected some of gear_"),
    'spin': (('joints', 1, 'rotor_spin'), 'fast', JOINT + "rotor_spin: expected a finite number"),
    'spin of a slide': (('joints', 1, 'rotor_spin'), 0.1, JOINT + 'rotor spin is supported for revolute joints only'),
    'frame link': (('frames', 'tool', 'link'), 'nowhere', "frame 'tool': no link 'nowhere'"),
    'frame name': (('frames', 'boom'), {'link': 'boom'}, "frame 'boom': a link has this name"),
    'frame number': (('frames', 3), {'link': 'boom'}, 'frames: expected a name, got 3'),
}  # fmt: skip


@pytest.mark.parametrize(('path', 'value', 'culprit'), REFUSED.values(), ids=REFUSED.keys())
def test_yaml_is_refused_with_joint_and_key(path, value, culprit):
    written = content()
    *way, key = path
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


TEXTS = {
    'nothing': ('\n', 'the file: expected a table, got None'),
    'not YAML': ('{\n', 'not YAML'),
    'an object': ('!!python/object/apply:os.getcwd []\n', 'not YAML'),
    'deep': ('\n' + '[' * 5000, 'nested deeper than 64'),
}


@pytest.mark.parametrize(('text', 'culprit'), TEXTS.values(), ids=TEXTS.keys())
def test_yaml_text_is_refused(text, culprit):
    with pytest.raises(ModelError) as error:
        model_from_yaml(text)
    assert culprit in str(error.value)


def test_files_that_cannot_be_read_are_named(tmp_path):
    for source in (tmp_path / 'absent.yaml', 'absent.yaml', None, 7):
        with pytest.raises(ModelError) as error:
            model_from_yaml(source)
        assert str(error.value).startswith(f'{source}: cannot be read')


SEED = yaml_of(model_from_urdf(TREE))
SCRAPS = ['', ' ', '\n', ':', '- ', '[', '{', '}', ']', '&a ', '*a', '!!x ', '"', '0', '-1', '.nan', '.inf', '1e400',
          'null', 'yes', '2020-13-45', 'boom', 'prismatic', 'é', '\ud800', '\0', '<<: ', '? ', '1' * 400]  # fmt: skip


@examples(20)
@given(edits=st.lists(st.tuples(st.integers(0, len(SEED)), st.integers(0, 12), st.sampled_from(SCRAPS)), max_size=4))
def test_mutilated_yaml_raises_nothing_but_model_error(edits):
    any_description.check(model_from_yaml, any_description.edited(SEED, edits) + '\n')


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just(10**400)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=6,
)
KEYS = st.one_of(
    st.tuples(st.sampled_from(['robot', 'gravity', 'base', 'joints', 'frames'])),
    st.tuples(st.just('joints'), st.integers(0, 2), st.sampled_from(sorted(content()['joints'][1]))),
    st.tuples(st.just('joints'), st.just(1), st.just('inertial'), st.sampled_from(['mass', 'com', 'inertia'])),
    st.tuples(st.just('frames'), st.just('tool'), st.sampled_from(['link', 'rotation', 'origin'])),
)


@pytest.mark.compiled
@examples(30)
@given(path=KEYS, value=VALUES)
def test_any_value_is_a_model_or_a_model_error(path, value):
    written = content()
    place = written
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    any_description.check(model_from_yaml, yaml.safe_dump(written))
