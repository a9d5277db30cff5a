"""The command export_c: its arguments, its files, and one line where it refuses."""

import sys

from support.robots.cut_four_bar import cut_four_bar
from support.robots.gripper import FINGER, arm_with_gripper
from support.robots.mechanisms import MECHANISMS, PALLETIZER_ACTUATED

import pytest

from robot_dynamics_ros.formats.library import named_urdf
from robot_dynamics_ros.tools import export_c


@pytest.fixture
def command(monkeypatch):
    """Return a function that runs the command with arguments."""

    def call(*arguments):
        monkeypatch.setattr(sys, 'argv', ['robot_dynamics_export_c', *map(str, arguments)])
        export_c.main()

    return call


def functions(folder, robot='aubo_i5'):
    text = (folder / f'{robot}_dynamics.h').read_text()
    return [line[len(f'bool {robot}_') : -1] for line in text.splitlines() if line.startswith('bool ')]


def test_a_robot_of_the_package_or_of_a_file(command, tmp_path, capsys):
    command('aubo_i5', tmp_path / 'named')
    printed = capsys.readouterr().out.splitlines()
    assert sorted(printed) == sorted(str(path) for path in (tmp_path / 'named').iterdir())
    assert functions(tmp_path / 'named') == list(export_c.PROGRAMS)
    command(
        named_urdf('aubo_i5'),
        tmp_path / 'file',
        '--actuators',
        named_urdf('aubo_i5').parents[1] / 'config/aubo_i5.yaml',
    )
    for path in (tmp_path / 'named').iterdir():
        assert (tmp_path / 'file' / path.name).read_text() == path.read_text()


def test_the_loops_of_a_file_are_exported(command, tmp_path):
    urdf, file = tmp_path / 'bar.urdf', tmp_path / 'loops.yaml'
    urdf.write_text(cut_four_bar())
    file.write_text('loops: {closures: [{name: pin, link_a: coupler_link, link_b: rocker_link}]}')
    command(urdf, tmp_path / 'bar', '--loops', file, '--program', 'loop_errors')
    assert functions(tmp_path / 'bar', 'bar') == ['loop_errors']
    with pytest.raises(SystemExit, match=r'no\.yaml: cannot be read'):
        command(urdf, tmp_path / 'bar', '--loops', tmp_path / 'no.yaml')


def test_programs_and_a_part_of_the_robot(command, tmp_path):
    programs = ['mass_matrix', 'link_pose:ee_link', 'jacobian:ee_link:local']
    given = [word for program in programs for word in ('--program', program)]
    part = '--base-link', 'upperArm_Link', '--tip-link', 'wrist3_Link', '--gravity', '1.5', '0', '-9'
    command('aubo_i5', tmp_path, *given, *part)
    assert '{1.5, 0.0, -9.0}' in (tmp_path / 'aubo_i5_dynamics.c').read_text()
    assert functions(tmp_path) == ['mass_matrix', 'link_pose_ee_link', 'jacobian_ee_link_local']
    assert 'AUBO_I5_NV = 4,' in (tmp_path / 'aubo_i5_dynamics.h').read_text()


def test_a_locked_leader_locks_its_followers(command, tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(arm_with_gripper(), encoding='utf-8')
    command(path, tmp_path, '--program', 'gravity_torque', '--lock', f'{FINGER}:0.02')
    assert 'AUBO_I5_NV = 6,' in (tmp_path / 'aubo_i5_dynamics.h').read_text()


@pytest.mark.parametrize(
    ('text', 'program'),
    [
        ('mass_matrix', 'mass_matrix'),
        ('jacobian:tool0', ('jacobian', 'tool0')),
        ('jacobian:a:b:world', ('jacobian', 'a:b', 'world')),
        ('jacobian:a:b', ('jacobian', 'a:b')),
        ('jacobian:local', ('jacobian', 'local')),
    ],
)
def test_a_program_names_link_and_reference_frame(text, program):
    assert export_c.program(text) == program


def test_driven_joints_of_a_mechanism(command, tmp_path, capsys):
    mechanism, robot = MECHANISMS['palletizer'], MECHANISMS['palletizer'].robot
    near = dict(zip(robot.joint_names, map(float, mechanism.q), strict=True))
    path = tmp_path / 'palletizer.yaml'
    path.write_text(robot.with_loops(mechanism.loops, actuated=PALLETIZER_ACTUATED, near=near).to_yaml())
    command(path, tmp_path / 'new', '--driven')
    assert len(capsys.readouterr().out.splitlines()) == 3
    header = (tmp_path / 'new' / 'palletizer_dynamics.h').read_text()
    assert 'PALLETIZER_DRIVEN = 4' in header and 'bool palletizer_driven_inverse_dynamics(' in header
    assert 'bool palletizer_measure(const double y[4], double time, palletizer_memory *memory);' in header


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (
            ['aubo_i5', 'new', '--program', 'mass'],
            "robot_dynamics_export_c: programs: expected names among .*, got 'mass'",
        ),
        (['aubo_i5', 'new', '--program', 'mass_matrx'], "robot_dynamics_export_c: .*; did you mean 'mass_matrix'"),
        (['aubo_i6', 'new'], "robot_dynamics_export_c: .*'aubo_i6' is not part of the package"),
        (['missing.urdf', 'new'], 'robot_dynamics_export_c: .*missing.urdf'),
        (['aubo_i5', 'new', '--driven'], 'robot_dynamics_export_c: --driven: no joint of aubo_i5 follows another'),
        (['aubo_i5', 'file'], 'robot_dynamics_export_c: .*file'),
    ],
)
def test_one_line_says_what_is_wrong(command, arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'file').write_text('')
    with pytest.raises(SystemExit, match=said) as refused:
        command(*arguments)
    assert '\n' not in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ['file']
