"""URDF to model: one small robot for each rule, and the culprit in the text of each refusal."""

from itertools import pairwise
from pathlib import Path

from support.code.robots_code import loop_of
from support.robots import any_description
from support.rounding import bound
from support.unhurried import examples

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_dynamics_ros.errors import ModelError
from robot_dynamics_ros.formats.untrusted_text import MAX_BYTES, MAX_DEPTH
from robot_dynamics_ros.formats.urdf import model_from_urdf
from robot_dynamics_ros.kernels.poses import link_poses
from robot_dynamics_ros.kernels.rnea import rnea
from robot_dynamics_ros.model.arrays import Workspace
from robot_dynamics_ros.model.inertial_parameters import central_parameters

pytestmark = [pytest.mark.plain, pytest.mark.quick]

INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="2"/>'
    '<inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.003" izz="0.04"/></inertial>'
)
ORIGIN = '<origin xyz="0.1 0 0.5" rpy="0.3 0.2 0.1"/>'
LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'


def link(name, inside=INERTIAL):
    return f'<link name="{name}">{inside}</link>'


def joint(name, parent, child, kind='revolute', inside=LIMIT, origin=ORIGIN):
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{origin}{inside}</joint>'


def robot(*elements):
    return f'<robot name="r">{"".join(elements)}</robot>'


def one_joint(inside=LIMIT, kind='revolute', inertial=INERTIAL, origin=''):
    return robot(link('base', ''), link('arm', inertial), joint('elbow', 'base', 'arm', kind, inside, origin))


def torques(model, seed, held=()):
    """Return torques (5, n) at random motions of the joints that are not ``held`` at rest, with the poses."""
    rng = np.random.default_rng(seed)
    free = [i for i, name in enumerate(model.joint_names) if name not in held]
    q, qd, qdd = np.zeros((3, 5, len(model.joint_names)))
    for array in (q, qd, qdd):
        array[:, free] = rng.uniform(-2, 2, (5, len(free)))
    work, tau, T = Workspace.of(model.arrays), np.empty_like(q), np.empty((5, q.shape[1] + 1, 4, 4))
    gravity = np.array([1.0, 2.0, -9.0])
    loop_of(rnea)(model.arrays, work, q, qd, qdd, gravity, np.zeros((1, q.shape[1] + 1, 6)), tau)
    loop_of(link_poses)(model.arrays, work, q, T)
    return tau[:, free], T


def test_a_path_and_its_text_yield_the_same_model(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(one_joint(), encoding='utf-8')
    for source in (path, str(path), one_joint(), '\n  ' + one_joint()):
        model = model_from_urdf(source)
        assert (model.name, model.joint_names, model.link_names) == ('r', ('elbow',), ('base', 'arm'))


def test_a_byte_order_mark_is_no_hindrance(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(one_joint(), encoding='utf-8-sig')
    assert model_from_urdf(path).joint_names == ('elbow',)


@pytest.mark.parametrize(
    ('kind', 'column', 'lower', 'upper'),
    [('revolute', 0, -1, 2), ('continuous', 0, -np.inf, np.inf), ('prismatic', 3, -1, 2)],
)
def test_moving_joint_types(kind, column, lower, upper):
    model = model_from_urdf(one_joint(LIMIT + '<axis xyz="0 3 4"/>', kind))
    expected = np.zeros(6)
    expected[column : column + 3] = 0, 0.6, 0.8  # normalised
    assert model.arrays.S[1] == pytest.approx(expected, abs=1e-15)
    assert (model.limits.lower[0], model.limits.upper[0]) == (lower, upper)
    assert (model.limits.velocity[0], model.limits.effort[0]) == (3, 4)


@pytest.mark.parametrize(('kind', 'ours', 'nq'), [('floating', 'free', 7), ('planar', 'planar', 3)])
def test_joint_types_of_several_degrees_of_freedom(kind, ours, nq):
    model = model_from_urdf(one_joint('<axis xyz="0 0 2"/>', kind))
    assert model.joint_kinds == (ours,)
    assert model.limits.lower.tolist() == [-np.inf] * nq and model.limits.upper.tolist() == [np.inf] * nq
    assert not [finding for finding in model.findings if finding.where == "joint 'elbow'"]


def test_the_default_axis_is_x():
    assert model_from_urdf(one_joint()).arrays.S[1].tolist() == [1, 0, 0, 0, 0, 0]


def test_a_mimic_joint_is_a_joint_of_its_own_and_a_finding_says_so():
    mimic = '<mimic joint="shoulder" multiplier="-1" offset="0.1"/>'
    plain, model = model_from_urdf(one_joint()), model_from_urdf(one_joint(LIMIT + mimic))
    assert all(map(np.array_equal, plain.arrays, model.arrays))
    (finding,) = set(model.findings) - set(plain.findings)
    assert str(finding).startswith("warning: joint 'elbow': it mimics 'shoulder'; here it is a joint of its own")
    assert not [it for it in model_from_urdf(one_joint(mimic, 'fixed')).findings if 'mimics' in str(it)]


def test_dynamics_are_viscous_and_coulomb_friction():
    model = model_from_urdf(one_joint(LIMIT + '<dynamics damping="0.7" friction="0.2"/>'))
    assert (model.friction.viscous[0], model.friction.coulomb[0], model.friction.offset[0]) == (0.7, 0.2, 0)
    assert model_from_urdf(one_joint()).friction.viscous[0] == 0


@pytest.mark.parametrize(
    ('dynamics', 'friction'),
    [
        ('', (0.0, 0.0)),
        ('<dynamics/>', (0.0, 0.0)),
        ('<dynamics damping="0.5"/>', (0.5, 0.0)),
        ('<dynamics friction="0.25"/>', (0.0, 0.25)),
    ],
)
def test_friction_that_is_not_stated_is_none(dynamics, friction):
    joint = f'<joint name="j" type="continuous"><parent link="a"/><child link="b"/>{dynamics}</joint>'
    (read,) = model_from_urdf(f'<robot name="r"><link name="a"/><link name="b"/>{joint}</robot>').joints
    assert (read.viscous, read.coulomb) == friction


@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_limits_beyond_all_positions_are_none(kind):
    limits = model_from_urdf(
        one_joint('<limit lower="-1.7976931348623157e+308" upper="1e16" effort="9"/>', kind)
    ).limits
    assert (limits.lower[0], limits.upper[0], limits.effort[0]) == (-np.inf, np.inf, 9.0)


@pytest.mark.parametrize('limit', ['', '<limit/>', '<limit lower="0" upper="0" velocity="0" effort="0"/>'])
def test_limits_that_are_missing_or_zero_are_unknown(limit):
    limits = model_from_urdf(one_joint(limit)).limits
    assert np.isnan([limits.lower, limits.upper, limits.velocity, limits.effort]).all()


def test_one_limit_alone_leaves_the_other_at_zero_as_urdf_defines():
    limits = model_from_urdf(one_joint('<limit upper="1.5" effort="1e308"/>')).limits
    assert (limits.lower[0], limits.upper[0], limits.effort[0]) == (0, 1.5, 1e308)


@pytest.mark.rounding
def test_the_inertial_origin_turns_the_inertia():
    mass, com, inertia = central_parameters(model_from_urdf(one_joint()).arrays.I[1])
    # the same three rotations, written out one by one
    (sr, sp, sy), (cr, cp, cy) = np.sin([0.4, -0.5, 0.6]), np.cos([0.4, -0.5, 0.6])
    R = (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )
    written = np.array([[0.02, 0.001, -0.002], [0.001, 0.03, 0.003], [-0.002, 0.003, 0.04]])
    assert (mass, *com) == pytest.approx((2, 0.1, 0.2, 0.3))
    assert inertia == pytest.approx(R @ written @ R.T, rel=0, abs=bound(20, 3, scale=np.abs(written).max()))


def test_quarter_turns_leave_exact_zeros_and_ones():
    eighth, quarter = ('<origin rpy="0 0 0.7853981633974483"/>', '<origin rpy="1.5707963267948966 0 0"/>')
    box = '<mass value="2"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/>'
    model = model_from_urdf(
        robot(
            link('base', ''),
            link('plate', ''),
            link('arm', f'<inertial>{quarter}{box}</inertial>'),
            joint('mount', 'base', 'plate', 'fixed', '', eighth),
            joint('elbow', 'plate', 'arm', origin=eighth),
        )
    )
    # two eighths make a quarter about z; the axis is x
    assert (model.arrays.E0[1] + model.arrays.Ec[1]).tolist() == [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]
    assert model.arrays.I[1].tolist() == [2, 0, 0, 0, 0.02, 0, 0, 0.04, 0, 0.03]


def test_joints_are_ordered_depth_first_in_document_order():
    model = model_from_urdf(
        robot(
            *(link(name) for name in ('d', 'base', 'c', 'b', 'a')),
            joint('ba', 'base', 'a'),
            joint('bd', 'base', 'd'),
            joint('cb', 'c', 'b'),
            joint('ac', 'a', 'c', 'prismatic'),
            joint('da', 'a', 'e'),
            link('e'),
        )
    )
    assert model.joint_names == ('ba', 'ac', 'cb', 'da', 'bd')
    assert model.link_names == ('base', 'a', 'c', 'b', 'e', 'd')
    assert model.arrays.parent.tolist() == [-1, 0, 1, 2, 1, 0]


@pytest.mark.rounding
def test_links_on_fixed_joints_are_merged_as_if_their_joints_were_held():
    def arm(kind):
        return model_from_urdf(
            robot(
                *(link(name) for name in ('world', 'base', 'upper', 'box', 'lid', 'fore')),
                joint('mount', 'world', 'base', kind),
                joint('shoulder', 'base', 'upper', inside='<axis xyz="0 1 1"/>'),
                joint('bolt', 'upper', 'box', kind),
                joint('glue', 'box', 'lid', kind),
                joint('elbow', 'lid', 'fore', 'prismatic', '<axis xyz="1 2 3"/>'),
            )
        )

    merged, held = arm('fixed'), arm('revolute')
    assert merged.joint_names == ('shoulder', 'elbow')
    assert merged.link_names == ('world', 'upper', 'fore')
    (tau, T), (tau_held, T_held) = torques(merged, 1), torques(held, 1, ('mount', 'bolt', 'glue'))
    assert tau == pytest.approx(tau_held, abs=1e-12)
    for name in ('world', 'base', 'upper', 'box', 'lid', 'fore'):
        frame = merged.frames[name]
        local = np.eye(4)
        local[:3, :3], local[:3, 3] = frame.rotation, frame.origin
        expected = T_held[:, held.link_names.index(name)]
        assert T[:, frame.link] @ local == pytest.approx(expected, rel=0, abs=bound(20, 4)), name


def test_what_simulators_add_is_left_alone():
    extras = '<gazebo><plugin filename="x"/></gazebo><transmission><joint name="elbow"/></transmission>'
    assert model_from_urdf(one_joint().replace('</robot>', extras + '</robot>')).joint_names == ('elbow',)


def two_links(*joints, names=('base', 'arm')):
    return robot(*(link(name) for name in names), *joints)


GOOD = joint('elbow', 'base', 'arm')
ENTITIES = '<!DOCTYPE r [<!ENTITY a "1"><!ENTITY b "&a;&a;">]>'
REFUSED = {
    # text that is no XML, or more than plain XML
    'not XML': ('<robot', 'not well-formed'),
    'entity': (ENTITIES + one_joint().replace('"2"', '"&b;"'), 'refused'),
    'external entity': (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="&x;"/>',
        'refused',
    ),
    'document type': ('<!DOCTYPE robot SYSTEM "x.dtd"><robot name="r"/>', 'refused'),
    'too long': ('<robot name="r">' + ' ' * MAX_BYTES + '</robot>', f'longer than {MAX_BYTES}'),
    'too deep': ('<robot name="r">' + '<a>' * MAX_DEPTH + '</a>' * MAX_DEPTH + '</robot>', 'deeper'),
    'lone surrogate': ('<robot name="\ud800"/>', 'not UTF-8'),
    'zero byte': ('<robot name="\0"/>', 'not well-formed'),
    # xacro left in the text
    'xacro tag': (
        '<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arm/></robot>',
        'run xacro first',
    ),
    'xacro prefix': ('<robot name="r"><xacro:arm/></robot>', '<xacro:arm> is xacro, not URDF: run xacro first'),
    'xacro expression': (one_joint().replace('"2"', '"${m}"'), '<mass value="${m}">: this is xacro'),
    # structure
    'no robot': ('<sdf version="1.6"/>', '<sdf>: expected <robot>'),
    'robot without a name': (one_joint().replace(' name="r"', ''), "<robot>: attribute 'name'"),
    'no link': ('<robot name="r"/>', 'no <link>'),
    'empty link name': (robot(link('base'), link('')), "link number 2: <link>: attribute 'name'"),
    'blank joint name': (two_links(GOOD.replace('elbow', ' ')), "joint number 1: <joint>: attribute 'name'"),
    'duplicate link': (two_links(GOOD, names=('base', 'arm', 'arm')), "link 'arm': the name occurs twice"),
    'duplicate joint': (two_links(GOOD, GOOD), "joint 'elbow': the name occurs twice"),
    'no parent': (two_links(GOOD.replace('<parent link="base"/>', '')), "joint 'elbow': <parent> is missing"),
    'no child': (two_links(GOOD.replace('<child link="arm"/>', '')), "joint 'elbow': <child> is missing"),
    'empty child': (two_links(joint('elbow', 'base', '')), "joint 'elbow': <child>: attribute 'link'"),
    'unknown parent': (
        two_links(joint('elbow', 'bse', 'arm')),
        "joint 'elbow': its parent link 'bse' does not exist",
    ),
    'unknown child': (
        two_links(joint('elbow', 'base', 'am')),
        "joint 'elbow': its child link 'am' does not exist",
    ),
    'two parents': (
        two_links(GOOD, joint('knee', 'base', 'arm')),
        "link 'arm': it has two parents, by joints 'elbow' and 'knee'",
    ),
    'several roots': (
        two_links(GOOD, names=('base', 'arm', 'stray')),
        "links 'base', 'stray' have no parent joint",
    ),
    'cycle': (two_links(GOOD, joint('back', 'arm', 'base')), "links 'base', 'arm' are unreachable"),
    'link on itself': (two_links(joint('elbow', 'arm', 'arm')), "links 'arm' are unreachable"),
    'cycle beside the tree': (
        two_links(GOOD, joint('x', 'c', 'd'), joint('y', 'd', 'c'), names=('base', 'arm', 'c', 'd')),
        "links 'c', 'd' are unreachable",
    ),
    'two origins': (one_joint('<origin/><origin/>'), "joint 'elbow': <origin> occurs 2 times"),
    # joints that can't be represented
    'no type': (one_joint().replace(' type="revolute"', ''), "joint 'elbow': <joint>: attribute 'type'"),
    'spherical': (one_joint(kind='spherical'), "joint 'elbow': type 'spherical' is not supported"),
    'unknown type': (one_joint(kind='screw'), "joint 'elbow': type 'screw' is not supported"),
    'mimics nothing': (one_joint(LIMIT + '<mimic/>'), "joint 'elbow': <mimic>: attribute 'joint'"),
    'mimics two': (one_joint('<mimic joint="a"/><mimic joint="b"/>'), "joint 'elbow': <mimic> occurs 2 times"),
    # inertials
    'overflow': (
        one_joint(inertial=INERTIAL.replace('0.1', '1e200')),
        'link \'arm\': <origin xyz="1e200 0.2 0.3">: beyond 1e+30',
    ),
    'no mass': (
        one_joint(inertial=INERTIAL.replace('<mass value="2"/>', '')),
        "link 'arm': <inertial> lacks <mass>",
    ),
    'no mass value': (
        one_joint(inertial=INERTIAL.replace('value="2"', '')),
        "link 'arm': <mass>: attribute 'value'",
    ),
    'no inertia': (one_joint(inertial='<inertial><mass value="2"/></inertial>'), 'lacks <inertia>'),
    'part of an inertia': (
        one_joint(inertial=INERTIAL.replace('iyz="0.003"', '')),
        "<inertia>: attribute 'iyz'",
    ),
}


@pytest.mark.parametrize(('text', 'culprit'), REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_culprit_in_the_text(text, culprit):
    with pytest.raises(ModelError) as error:
        model_from_urdf(text, 'my robot')
    assert str(error.value).startswith('my robot: ')
    assert culprit in str(error.value)


@pytest.mark.parametrize(
    ('inside', 'complaint'),
    [
        ('<axis xyz="0 0 0"/>', 'the axis has no direction'),
        ('<axis xyz="0 1e-200 0"/>', 'the axis has no direction'),
        ('<axis xyz="0 1"/>', 'expected 3 finite numbers'),
        ('<axis xyz="0 1 z"/>', 'expected 3 finite numbers'),
        ('<origin xyz=""/>', 'expected 3 finite numbers'),
        ('<origin rpy="0 0 1e31"/>', 'beyond 1e+30'),
        ('<limit effort="1e400"/>', 'expected a finite number'),
        ('<limit lower="nan"/>', 'expected a finite number'),
        ('<limit velocity="-inf"/>', 'expected a finite number'),
        ('<dynamics damping="1_0"/>', 'expected a finite number'),
        ('<dynamics friction="0x1"/>', 'expected a finite number'),
    ],
)
def test_a_bad_number_is_refused_with_joint_element_and_attribute(inside, complaint):
    with pytest.raises(ModelError) as error:
        model_from_urdf(one_joint(inside))
    assert str(error.value) == f"robot description: joint 'elbow': {inside[:-2]}>: {complaint}"


def test_files_that_cannot_be_read_are_named(tmp_path):
    (tmp_path / 'latin.urdf').write_bytes(one_joint().replace('elbow', 'ell\xe9').encode('latin-1'))
    (tmp_path / 'long.urdf').write_bytes(b' ' * (MAX_BYTES + 1))
    culprits = {
        'missing': 'cannot be read',
        '.': 'cannot be read',
        'latin.urdf': 'UTF-8',
        'long.urdf': 'longer',
    }
    for name, culprit in culprits.items():
        with pytest.raises(ModelError) as error:
            model_from_urdf(tmp_path / name)
        assert str(tmp_path / name) in str(error.value)
        assert culprit in str(error.value)
    for source in ('a\0b', None, 7):
        with pytest.raises(ModelError, match='cannot be read'):
            model_from_urdf(source)


@pytest.mark.compiled
def test_a_chain_longer_than_the_recursion_limit_is_no_problem():
    names = [f'l{i}' for i in range(1500)]
    joints = (joint(f'j{a}', a, b, 'revolute' if a == 'l0' else 'fixed') for a, b in pairwise(names))
    model = model_from_urdf(robot(*map(link, names), *joints))
    assert model.arrays.I[1, 0] == 2 * 1499


FUZZ = examples(200)
SEED = Path(__file__).parents[2].joinpath('urdf', 'aubo_i5.urdf').read_text(encoding='utf-8')
SCRAPS = ['', ' ', '"', '<', '>', '/>', '</joint>', '<link name="x"/>', '<inertial/>', '<axis xyz="0 0 0"/>',
          '0', '-1', 'nan', '1e29', '1e400', 'fixed', 'floating', 'base_link', 'wrist1_Link', 'é', '\ud800',
          '\0', '&a;', '${x}']  # fmt: skip


@FUZZ
@given(edits=st.lists(st.tuples(st.integers(0, len(SEED)), st.integers(0, 40), st.sampled_from(SCRAPS))))
def test_mutilated_text_raises_nothing_but_model_error(edits):
    any_description.check(model_from_urdf, any_description.edited(SEED, edits))


WORDS = ['', ' ', '0', '-1', '1e-320', '1e29', '1e308', '1e400', 'nan', '0x10', '0 0 0', '1e30 1e30 1e30',
         'base_link', 'wrist1_Link', 'fixed', 'prismatic', 'continuous', 'planar']  # fmt: skip
QUOTED = [i for i, character in enumerate(SEED) if character == '"']
VALUES = list(zip(QUOTED[::2], QUOTED[1::2], strict=True))


@FUZZ
@given(edits=st.dictionaries(st.integers(0, len(VALUES) - 1), st.sampled_from(WORDS), min_size=1, max_size=4))
def test_replaced_values_raise_nothing_but_model_error(edits):
    text = SEED
    for number in sorted(edits, reverse=True):
        start, end = VALUES[number]
        text = text[: start + 1] + edits[number] + text[end:]
    any_description.check(model_from_urdf, text)
