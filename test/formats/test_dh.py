"""DH tables against slow 4 x 4 products of the textbooks, the AUBO-i5 of the package, and what they refuse."""

from pathlib import Path

from support.robots import any_description
from support.rounding import bound
from support.unhurried import examples

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from robot_dynamics_ros import Robot
from robot_dynamics_ros.errors import ArgumentError, ModelError
from robot_dynamics_ros.formats.dh import DHRow, model_from_dh
from robot_dynamics_ros.formats.library import named_model

pytestmark = pytest.mark.plain

FACTS = yaml.safe_load((Path(__file__).parents[1] / 'data' / 'aubo_i5_facts.yaml').read_text(encoding='utf-8'))
GEOMETRY = FACTS['geometry']
JOINTS, LINKS = FACTS['joint_names'], FACTS['link_names']
TABLES = {  # name in the facts: convention
    'mdh_aubo': 'modified',
    'lecture_table_4_4_corrected': 'standard',
    'lecture_code_folder_mdh': 'modified',
}


def states(seed=0, count=20, joints=6):
    return np.random.default_rng(seed).uniform(-3.0, 3.0, (3, count, joints))


def pose(rpy=(0, 0, 0), xyz=(0, 0, 0)):
    """Return the homogeneous matrix of a URDF's origin, one elementary turn after the other."""
    roll, pitch, yaw = rpy
    T = turn('z', yaw) @ turn('y', pitch) @ turn('x', roll)
    T[:3, 3] = xyz
    return T


def turn(axis, angle):
    """Return the homogeneous turn about one of the axes."""
    i, j = {'x': (1, 2), 'y': (2, 0), 'z': (0, 1)}[axis]
    T = np.eye(4)
    T[i, i] = T[j, j] = np.cos(angle)
    T[i, j], T[j, i] = -np.sin(angle), np.sin(angle)
    return T


def standard_matrix(a, alpha, d, theta):
    """Return A of Siciliano et al. 2009, eq. 2.52."""
    (st_, sa), (ct, ca) = np.sin([theta, alpha]), np.cos([theta, alpha])
    return np.array([
        [ct, -st_ * ca, st_ * sa, a * ct],
        [st_, ct * ca, -ct * sa, a * st_],
        [0, sa, ca, d],
        [0, 0, 0, 1],
    ])  # fmt: skip


def modified_matrix(a, alpha, d, theta):
    """Return T of Craig, Introduction to Robotics, eq. 3.6."""
    (st_, sa), (ct, ca) = np.sin([theta, alpha]), np.cos([theta, alpha])
    return np.array([
        [ct, -st_, 0, a],
        [st_ * ca, ct * ca, -sa, -sa * d],
        [st_ * sa, ct * sa, ca, ca * d],
        [0, 0, 0, 1],
    ])  # fmt: skip


def textbook_frames(rows, matrix, q, base):
    """Return the pose of every DH frame, 0 first."""
    T = [base]
    for row, q_i in zip(rows, q, strict=True):
        variable = 'theta' if row['kind'] == 'revolute' else 'd'
        moved = {**row, variable: row[variable] + row['sign'] * q_i}
        T.append(T[-1] @ matrix(*(moved[field] for field in ('a', 'alpha', 'd', 'theta'))))
    return T


def rows_of(table):
    """Return the rows of one of the facts' tables, which are stated column by column."""
    before = '_im1' if 'a_im1' in table else ''
    signs = table.get('joint_sign', [1] * 6)
    columns = zip(table['a' + before], table['alpha' + before], table['d'], table['theta_offset'], signs, strict=True)
    return [
        {'a': a, 'alpha': alpha, 'd': d, 'theta': theta, 'sign': sign, 'joint': joint}
        for (a, alpha, d, theta, sign), joint in zip(columns, JOINTS, strict=True)
    ]


def ends_of(table):
    """Return base and tool poses as ``from_dh`` takes them."""
    return {end: pose(**table[end]) for end in ('base', 'tool') if end in table}


def tip(robot, table, q):
    return robot.link_pose(q, 'tool' if 'tool' in table else 'dh_6')


@pytest.mark.rounding
@pytest.mark.parametrize('name', TABLES)
def test_every_table_of_the_facts_puts_the_tip_where_the_urdf_has_it(name):
    table, arm, q = GEOMETRY[name], Robot.named('aubo_i5'), states()[0]
    robot = Robot(model_from_dh(rows_of(table), TABLES[name], **ends_of(table)))
    assert robot.joint_names == arm.joint_names
    assert abs(tip(robot, table, q) - arm.link_pose(q, 'wrist3_Link')).max() < bound(10, 6)


def axis_line(robot, q, i):
    """Return the line that joint i turns about at q: direction, and moment about the base's origin."""
    T = robot.link_pose(q, robot.link_names[i + 1])
    direction = T[:3, :3] @ robot._model.arrays.S[i + 1, :3]
    return np.concatenate([direction, np.cross(T[:3, 3], direction)])


@pytest.mark.rounding
@pytest.mark.parametrize('urdf', ['aubo_i5', 'aubo_i5_lecture'])
@pytest.mark.parametrize('name', TABLES)
def test_every_joint_turns_about_the_urdfs_axis(name, urdf):
    table, arm = GEOMETRY[name], Robot.named(urdf)
    robot = Robot(model_from_dh(rows_of(table), TABLES[name], **ends_of(table)))
    for q in states(1, 5)[0]:
        for i in range(6):
            assert axis_line(robot, q, i) == pytest.approx(axis_line(arm, q, i), rel=0, abs=bound(10, 6)), (name, i)


@pytest.mark.rounding
def test_the_makers_table_has_the_urdfs_links():
    arm, q = Robot.named('aubo_i5'), states()[0]
    robot = Robot(model_from_dh(rows_of(GEOMETRY['mdh_aubo']), 'modified'))
    for i, link in enumerate(LINKS[1:], start=1):
        for name in (f'link_{i}', f'dh_{i}'):
            assert abs(robot.link_pose(q, name) - arm.link_pose(q, link)).max() < bound(10, 6), name


NEGATIVE_LENGTHS, ALL_POSITIVE = {'a': [0.0, -0.408, -0.376, 0.0, 0.0, 0.0]}, {'joint_sign': [1] * 6}


@pytest.mark.parametrize(
    'lost',
    [NEGATIVE_LENGTHS, ALL_POSITIVE, {**NEGATIVE_LENGTHS, **ALL_POSITIVE}],
    ids=['lengths', 'joint 3', 'as printed'],
)
def test_with_a_sign_lost_the_tip_is_elsewhere(lost):
    table, q = {**GEOMETRY['lecture_table_4_4_corrected'], **lost}, states()[0]
    robot = Robot(model_from_dh(rows_of(table), 'standard', **ends_of(table)))
    apart = tip(robot, table, q) - Robot.named('aubo_i5').link_pose(q, 'wrist3_Link')
    assert np.median(np.linalg.norm(apart[:, :3, 3], axis=1)) > 0.2  # m


@pytest.mark.compiled
@pytest.mark.parametrize('urdf', ['aubo_i5', 'aubo_i5_lecture'])
@pytest.mark.parametrize('name', TABLES)
def test_with_the_urdfs_inertials_the_dynamics_are_the_urdfs(name, urdf):
    """The inertials are stated in the URDF's link frames, wherever the table has its own."""
    table, model = GEOMETRY[name], named_model(urdf)
    arm, bare = Robot(model), Robot(model_from_dh(rows_of(table), TABLES[name], **ends_of(table)))
    rows = rows_of(table)
    for i, (row, joint) in enumerate(zip(rows, model.joints, strict=True), start=1):
        mass, h, J = joint.inertia[0], joint.inertia[1:4], np.zeros((3, 3))
        J[np.triu_indices(3)] = joint.inertia[4:]
        com = h / mass
        J = J + np.triu(J, 1).T - mass * (com @ com * np.eye(3) - np.outer(com, com))
        in_dh_frame = np.linalg.inv(bare.link_pose(np.zeros(6), f'dh_{i}')) @ arm.link_pose(np.zeros(6), joint.link)
        row.update(mass=mass, com=com, inertia=(J + J.T) / 2, rotor=joint.rotor, inertial_frame=in_dh_frame)
        row.update(viscous=joint.viscous, coulomb=joint.coulomb)
    robot = Robot(model_from_dh(rows, TABLES[name], **ends_of(table)))
    q, qd, qdd = states(2)
    assert robot.inverse_dynamics(q, qd, qdd) == pytest.approx(arm.inverse_dynamics(q, qd, qdd), rel=1e-11, abs=1e-11)
    assert robot.mass_matrix(q) == pytest.approx(arm.mass_matrix(q), rel=1e-12, abs=1e-12)
    assert robot.friction.viscous.tolist() == arm.friction.viscous.tolist()


def random_rows(seed, count=7):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        a, d = rng.uniform(-0.5, 0.5, 2)
        alpha, theta = rng.uniform(-3.0, 3.0, 2)
        kind, sign = str(rng.choice(['revolute', 'prismatic'])), int(rng.choice([-1, 1]))
        com, mass = rng.uniform(-0.2, 0.2, 3), rng.uniform(0.5, 5.0)
        about_com = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        about_com = about_com @ np.diag(mass * rng.uniform(0.01, 0.015, 3)) @ about_com.T
        rows.append({'a': a, 'alpha': alpha, 'd': d, 'theta': theta, 'kind': kind, 'sign': sign,
                     'mass': mass, 'com': com, 'inertia': (about_com + about_com.T) / 2})  # fmt: skip
    return rows


CONVENTION = pytest.mark.parametrize(
    ('convention', 'matrix'), [('standard', standard_matrix), ('modified', modified_matrix)]
)


@pytest.mark.rounding
@CONVENTION
@pytest.mark.parametrize('seed', range(5))
def test_dh_frames_are_those_of_the_textbook(convention, matrix, seed):
    rows, base, tool = random_rows(seed), pose((0.3, -0.4, 0.5), (1, 2, 3)), pose((0.1, 0.2, -0.7), (0.1, 0, 0.2))
    robot = Robot(model_from_dh([DHRow(**row) for row in rows], convention, base=base, tool=tool))
    for q in states(seed, 4, len(rows))[0]:
        expected = textbook_frames(rows, matrix, q, base)
        largest = bound(10, 4 * len(rows), scale=np.abs(expected).max())
        for i, T in enumerate(expected):
            assert np.abs(robot.link_pose(q, f'dh_{i}') - T).max() < largest, i
        assert np.abs(robot.link_pose(q, 'tool') - expected[-1] @ tool).max() < largest


@CONVENTION
def test_inertials_are_in_the_dh_frames(convention, matrix):
    """Kinetic energy of the textbook's frames, by differences of their poses."""
    rows, step = random_rows(11), 1e-5
    robot = Robot(model_from_dh(rows, convention))
    q, qd, _ = states(3, 1, len(rows))[:, 0]
    here, ahead, behind = (textbook_frames(rows, matrix, q + s * qd, np.eye(4)) for s in (0.0, step, -step))
    energy = 0.0
    for i, row in enumerate(rows, start=1):
        rate = (ahead[i] - behind[i]) / (2 * step)
        spin = here[i][:3, :3].T @ rate[:3, :3]
        w, v = np.array([spin[2, 1], spin[0, 2], spin[1, 0]]), (rate @ [*row['com'], 1.0])[:3]
        energy += 0.5 * row['mass'] * v @ v + 0.5 * w @ row['inertia'] @ w
    assert robot.kinetic_energy(q, qd) == pytest.approx(energy, rel=1e-7)


def test_names_limits_and_findings_of_a_row():
    row = DHRow(joint='lift', link='carriage', kind='prismatic', lower=-1.0, upper=2.0, velocity=0.0, effort=5.0)
    robot = Robot.from_dh([row], name='stand', base_link='floor', tool=np.eye(4))
    assert (robot.name, robot.joint_names, robot.link_names) == ('stand', ('lift',), ('floor', 'carriage'))
    assert sorted(robot.frame_names) == ['carriage', 'dh_0', 'dh_1', 'floor', 'tool']
    assert (robot.limits.lower[0], robot.limits.upper[0], robot.limits.effort[0]) == (-1.0, 2.0, 5.0)
    assert np.isnan(robot.limits.velocity[0])
    np.testing.assert_array_equal(robot.link_pose([0.5], 'dh_1')[:3], np.c_[np.eye(3), [0.0, 0.0, 0.5]])
    found = [(finding.severity, finding.where) for finding in robot.findings]
    assert found == [('error', "robot 'stand'"), ('warning', "joint 'lift'")]  # no mass, no velocity limit
    heavy = model_from_dh([{'mass': 1.0, 'inertia': np.diag([0.1, 0.1, 0.3])}])
    assert any('triangle' in str(finding) for finding in heavy.findings)


UPPER, ONES = np.triu(np.ones((3, 3))), np.ones((4, 4))
REFUSED = {
    'no table': ('rows: expected a list', lambda: model_from_dh('abc')),
    'no row': ('row 2: expected a table, got 7', lambda: model_from_dh([{}, 7])),
    'unknown field': ("row 1: 'alfa': unknown; expected some of a, alpha,", lambda: model_from_dh([{'alfa': 1.0}])),
    'a key that is no text': ('row 1: 1: unknown', lambda: model_from_dh([{1: 2}])),
    'NaN': ('row 2: d: expected a finite number', lambda: model_from_dh([{}, {'d': np.nan}])),
    'text': ("row 1: a: expected a finite number up to 1e+30, got '1'", lambda: model_from_dh([{'a': '1'}])),
    'a truth value': ('row 1: theta: expected', lambda: model_from_dh([{'theta': True}])),
    'beyond floats': ('row 1: mass: expected', lambda: model_from_dh([{'mass': 10**400}])),
    'limit beyond floats': ('row 1: lower: expected', lambda: model_from_dh([{'lower': 10**400, 'upper': 1.0}])),
    'beyond printing': ('row 1: d: expected a finite', lambda: model_from_dh([{'d': 10**5000}])),
    'kind': ('row 1: kind: expected one of revolute, prismatic', lambda: model_from_dh([{'kind': 'fixed'}])),
    'sign': ('row 1: sign: expected 1 or -1, got 2', lambda: model_from_dh([DHRow(sign=2)])),
    'name': ('row 1: joint: expected a name', lambda: model_from_dh([{'joint': ' '}])),
    'link twice': ("'arm'", lambda: model_from_dh([{'link': 'arm'}, {'link': 'arm'}])),
    'link like a frame': ("frame 'dh_1': a link", lambda: model_from_dh([{'link': 'dh_1'}])),
    'centre': ('row 1: com: expected finite numbers of shape (3,)', lambda: model_from_dh([{'com': [1, 2]}])),
    'lopsided': ('row 1: inertia: expected a symmetric', lambda: model_from_dh([{'inertia': UPPER}])),
    'no pose': ('row 1: inertial_frame: expected a rotation', lambda: model_from_dh([{'inertial_frame': ONES}])),
    'mirror': ('base: expected a rotation', lambda: model_from_dh([], base=np.diag([1.0, 1.0, -1.0, 1.0]))),
    'last row': ('tool: expected the last row', lambda: model_from_dh([], tool=np.diag([1.0, 1.0, 1.0, 2.0]))),
    'one limit': ('row 1: lower and upper: expected both', lambda: model_from_dh([{'upper': 1.0}])),
    'rotor': ('row 1: rotor: expected at least 0, got -1', lambda: model_from_dh([{'rotor': -1.0}])),
}  # fmt: skip


@pytest.mark.parametrize(('culprit', 'call'), REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_row_and_field(culprit, call):
    with pytest.raises(ModelError) as error:
        call()
    assert culprit in str(error.value)


@pytest.mark.parametrize('convention', ['craig', None, ['standard']])
def test_another_convention_is_refused(convention):
    with pytest.raises(ArgumentError, match='convention: expected one of standard, modified'):
        model_from_dh([], convention)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3),
    st.sampled_from(['revolute', 'prismatic', 10**400, 1e29, np.eye(3), np.eye(4), [[0.0] * 3] * 3]),
    st.lists(st.floats(), max_size=4),
)  # fmt: skip
KEYS = st.sampled_from([*DHRow.__dataclass_fields__, 'alfa'])


@pytest.mark.compiled
@examples(150)
@given(
    rows=st.lists(st.dictionaries(KEYS, VALUES, max_size=4), max_size=3),
    convention=st.sampled_from(['standard', 'modified']),
)
def test_any_row_is_a_model_or_a_model_error(rows, convention):
    any_description.check(model_from_dh, rows, convention)


def test_default_names_of_dh_rows():
    model = model_from_dh([{}, {'kind': 'prismatic'}])
    assert (model.name, model.link_names) == ('dh', ('base_link', 'link_1', 'link_2'))
    assert model.joint_names == ('joint_1', 'joint_2')


@pytest.mark.parametrize('argument', ['base_link', 'name'])
def test_a_name_that_is_none_is_refused(argument):
    with pytest.raises(ModelError, match=f'^{argument}: expected a name, got 3 '):
        model_from_dh([{}], **{argument: 3})
