"""The files of exported C: what they say, what is overwritten, and which requests are refused; nothing is compiled."""

import re

from support.robots.facade_robots import robot_of
from support.robots.small_robots import general, joint, link, robot

import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.algorithms.table import ALGORITHMS
from robot_dynamics_ros.errors import ArgumentError, ModelError, UnknownNameError


def aubo_i5() -> Robot:
    return Robot.named('aubo_i5')


def test_names_that_become_the_same_identifier_are_numbered(tmp_path):
    which = robot(
        link('base'), link('a b', 1.0), link('a_b', 1.0), link('a_b_2', 1.0),
        joint('1', 'base', 'a b'), joint('2', 'a b', 'a_b'), joint('3', 'a_b', 'a_b_2'),
    )  # fmt: skip
    programs = [('link_pose', name) for name in ('a b', 'a_b', 'a_b_2')]
    header, *_ = which.export_c(tmp_path, programs)
    functions = re.findall(r'Frame: (.+?);.*?bool (\w+)\(', header.read_text(), re.DOTALL)
    assert functions == [('a b', 'r_link_pose_a_b'), ('a_b', 'r_link_pose_a_b_2'), ('a_b_2', 'r_link_pose_a_b_2_2')]


def test_header_says_shapes_units_and_present_values(tmp_path):
    which = aubo_i5().with_gravity((0.0, 1.0, 2.0)).with_payload(Payload(3.0, (0.0, 0.0, 0.1)))
    header, source, _ = which.export_c(tmp_path / 'a' / 'b', ['inverse_dynamics', ('jacobian', 'ee_link', 'local')])
    text = header.read_text()
    assert (
        'const double q[6], const double qd[6], const double qdd[6], const aubo_i5_inputs *inputs, double result[6]);'
        in text
    )
    assert ' * q: Joint positions in rad (prismatic: m).\n' in text and ' * result (nv): N m (prismatic: N).\n' in text
    assert 'Frame: ee_link; reference frame: local.' in text.replace('\n * ', ' ')
    assert ' * q[5], qd[5]: wrist3_joint (revolute)\n' in text and 'AUBO_I5_NV = 6,' in text
    assert all('-Identifier: Apache-2.0\n' in path.read_text() for path in (tmp_path / 'a' / 'b').iterdir())
    numbers = re.search(r'aubo_i5_default_inputs = \{(.*?)\};', source.read_text(), re.DOTALL)[1]
    assert [float(number) for number in re.findall(r'[-\d.e]+', numbers)] == which.runtime_inputs.tolist()


def test_the_same_robot_gives_the_same_files_and_overwrites_them(tmp_path):
    first = {path: path.read_bytes() for path in aubo_i5().export_c(tmp_path)}
    assert [path.name for path in first] == ['aubo_i5_dynamics.h', 'aubo_i5_dynamics.c', 'CMakeLists.txt']
    aubo_i5().export_c(tmp_path, ['gravity_torque'])
    assert any(path.read_bytes() != text for path, text in first.items())
    assert {path: path.read_bytes() for path in Robot.named('aubo_i5').export_c(str(tmp_path))} == first


@pytest.mark.parametrize('name', ['aubo_i5_dynamics.h', 'aubo_i5_dynamics.c', 'CMakeLists.txt'])
def test_a_file_of_somebody_else_is_kept(name, tmp_path):
    (tmp_path / name).write_text('mine')
    with pytest.raises(ArgumentError, match=rf'^folder: .*{name} exists and is not of an export of aubo_i5_dynamics'):
        aubo_i5().export_c(tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ['mine']


def test_the_export_of_another_robot_is_kept(tmp_path):
    robot_of('tree').export_c(tmp_path, ['gravity_torque'])
    before = {path: path.read_text() for path in tmp_path.iterdir()}
    with pytest.raises(ArgumentError, match=r'CMakeLists\.txt exists'):
        aubo_i5().export_c(tmp_path)
    assert {path: path.read_text() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ('programs', 'error', 'said'),
    [
        ('inverse_dynamics', ArgumentError, r"^programs: expected a list of quantities, got 'inverse_dynamics'$"),
        ([], ArgumentError, r'^programs: expected a list'),
        (None, ArgumentError, r'^programs: expected a list'),
        (['rnea'], ArgumentError, r"^programs: expected names among inverse_dynamics, .* got 'rnea'$"),
        ([3], ArgumentError, 'got 3$'),
        (['link_pose'], ArgumentError, "or tuples .*, got 'link_pose'$"),
        ([('link_pose', 'ee_link', 'local')], ArgumentError, 'got .*local'),
        ([('jacobian',)], ArgumentError, 'got .*jacobian'),
        ([('mass_matrix', 'ee_link')], ArgumentError, 'got .*mass_matrix'),
        ([('jacobian', 'tool')], UnknownNameError, "no link 'tool'; there are .*ee_link"),
        ([('jacobian', 'ee_link', 'base')], ArgumentError, 'reference_frame: expected one of world, .*base'),
        (['mass_matrix', 'mass_matrix'], ArgumentError, "^programs: 'mass_matrix' occurs twice"),
        ([('jacobian', 'ee_link'), ('jacobian', 'ee_link', 'local_world_aligned')], ArgumentError, 'occurs twice'),
    ],
)
def test_programs_that_do_not_exist_are_refused(programs, error, said, tmp_path):
    with pytest.raises(error, match=said):
        aubo_i5().export_c(tmp_path / 'new', programs)
    assert not (tmp_path / 'new').exists()


def test_robots_without_code_are_refused_by_name(tmp_path):
    with pytest.raises(ModelError, match=r'^r: no joint moves'):
        robot(link('base')).export_c(tmp_path)
    massless = robot(
        link('base'), link('a'), link('b', 1.0, '0.1 0 0'), joint('idle', 'base', 'a'), joint('j', 'base', 'b')
    )
    with pytest.raises(ModelError, match=r"^r: joint 'idle' has no inertia to accelerate$"):
        massless.export_c(tmp_path, ['forward_dynamics'])
    with pytest.raises(ModelError, match=r'^Coriolis matrix: qd of r is not the time derivative of q$'):
        general('free').export_c(tmp_path, ['coriolis_matrix'])
    assert list(tmp_path.iterdir()) == []
    massless.export_c(tmp_path, ['inverse_dynamics'])


def test_every_quantity_is_described(tmp_path):
    programs = [name for name, algorithm in ALGORITHMS.items() if not algorithm.of_loops]
    header, *_ = robot_of('tree').export_c(tmp_path, programs)
    functions = re.findall(r'/\* (.+?)\n \*\n( \* q: .+?)\*/\nbool tree_(\w+)\(', header.read_text(), re.DOTALL)
    assert [name for *_, name in functions] == programs
    assert all(' * result (' in lines and len(what) > 20 for what, lines, _ in functions)
