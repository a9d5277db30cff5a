"""Commands after ``pip install`` alone: what needs no ROS 2 runs, what needs it says so in one line."""

import json
import os
import subprocess
import sys
from importlib import import_module

from support.project import pip_alone
from support.project.project_files import ROOT

import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.nodes.executables import EXECUTABLES

MJCF = """<mujoco model="arm"><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody><body name="upper">
  <joint name="shoulder" axis="0 1 0" range="-1 1" actuatorfrcrange="-90 90" armature="0.1"/>
  <inertial pos="0.2 0 0" mass="2" diaginertia="0.01 0.02 0.02"/>
  <body name="fore" pos="0.4 0 0">
    <joint name="elbow" axis="0 1 0" range="-1 1" actuatorfrcrange="-40 40" armature="0.1"/>
    <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.02"/></body>
</body></worldbody></mujoco>"""
DESCRIPTIONS = ('name', 'urdf', 'xml', 'mjcf', 'yaml', 'yml')


@pytest.fixture(scope='module')
def described(tmp_path_factory):
    """One robot in each format; a name is that of a robot of the package."""
    folder = tmp_path_factory.mktemp('descriptions')
    folder.joinpath('arm.xml').write_text(MJCF)
    robot = Robot.from_mjcf(folder / 'arm.xml')
    texts = {'mjcf': MJCF, 'urdf': robot.to_urdf(), 'yaml': robot.to_yaml(), 'yml': robot.to_yaml()}
    for suffix, text in texts.items():
        folder.joinpath(f'arm.{suffix}').write_text(text)
    return {'name': 'aubo_i5', **{suffix: str(folder / f'arm.{suffix}') for suffix in ('xml', *texts)}}


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Call a command in an environment without ROS 2; return its status, what it prints and what it says at the end."""

    def call(command, *arguments):
        with pip_alone.pip_alone():
            monkeypatch.setattr(sys, 'argv', [f'robot_dynamics_{command}', *map(str, arguments)])
            monkeypatch.chdir(tmp_path)
            try:
                import_module(f'robot_dynamics_ros.tools.{command}').main()
            except SystemExit as ended:
                status, said = (1, ended.code) if isinstance(ended.code, str) else (ended.code or 0, '')
            else:
                status, said = 0, ''
        printed = capsys.readouterr()
        return status, printed.out, f'{said}{printed.err}'

    return call


def test_what_ros_installs_is_hidden():
    with pip_alone.pip_alone():
        for name in ('rclpy', 'std_msgs', 'robot_dynamics_interfaces', 'pinocchio'):
            with pytest.raises(ModuleNotFoundError):
                import_module(name)
        assert import_module('mujoco') and import_module('robot_dynamics_ros.tools.check_model')


@pytest.mark.parametrize('form', DESCRIPTIONS)
def test_every_command_reads_every_description(form, run, described, tmp_path):
    robot, nowhere = described[form], tmp_path / 'nowhere.csv'
    last = Robot.from_description(robot).joint_names[-1]
    for command, arguments in (
        ('check_model', [robot]),
        ('propose_gains', [robot, '--rate', 500]),
        ('export_c', [robot, tmp_path / 'c']),
        ('export_controller', [robot, tmp_path / 'controller', '--lock', f'{last}:0']),
    ):  # fmt: skip
        status, _, said = run(command, *arguments)
        assert (status, said) == (0, ''), command
    # these go on to their log or their motion
    for command, arguments, reason in (
        ('identify', [robot, nowhere], 'nowhere.csv: cannot be read: '),
        ('compare', [robot, '--payload', -1], '--payload: expected positive masses'),
    ):
        status, _, said = run(command, *arguments)
        assert status == 1 and said.startswith(f'robot_dynamics_{command}: ') and reason in said


def test_a_file_where_a_folder_is_written_is_named(run, tmp_path):
    (tmp_path / 'file').touch()
    for command, arguments in (
        ('export_c', ['aubo_i5', 'file']),
        ('export_controller', ['aubo_i5', 'file/below']),
        ('compare', ['--output', 'file']),
    ):
        status, _, said = run(command, *arguments)
        assert status == 1 and said.startswith(f'robot_dynamics_{command}: ')
        assert f'{tmp_path / "file"} is a file; expected a folder' in said


@pytest.mark.parametrize(
    ('command', 'arguments'), [('replay', ['aubo_i5', 'log.csv']), ('demo', []), ('demo_motion', [])]
)
def test_a_command_that_needs_ros_says_so(command, arguments, run):
    status, printed, said = run(command, *arguments)
    assert (status, printed) == (1, '')
    assert 'this needs rclpy, a package of a ROS 2 workspace' in said and '\n' not in said.rstrip()


def test_without_an_optional_package_a_command_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, 'plotly', None)
    assert run('compare')[2] == 'robot_dynamics_compare: this needs plotly, which is not installed: pip install plotly'
    monkeypatch.setitem(sys.modules, 'matplotlib', None)
    text = 'this needs matplotlib, plotly, which are not installed: pip install matplotlib plotly'
    assert run('compare')[2] == f'robot_dynamics_compare: {text}'


STARTS = """
import json, sys
from importlib import import_module
executables, said = json.loads(sys.argv[1]), {}
for command, name in executables.items():
    sys.argv = [f'/venv/bin/{command}']
    sys.modules.pop('robot_dynamics_ros.nodes.executables', None)
    try:
        import_module(f'robot_dynamics_ros.nodes.executables.{name}')
    except SystemExit as ended:
        said[command] = ended.code
print(json.dumps(said))
"""


def test_each_node_says_that_it_needs_ros(tmp_path):
    program = tmp_path / 'starts.py'
    program.write_text(STARTS)
    commands = {'robot_dynamics_bringup' if name == 'bringup' else name: name for name in EXECUTABLES}
    words = pip_alone.command(program, json.dumps(commands))
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    reason = 'this needs rclpy, a package of a ROS 2 workspace, which pip does not install'
    told = json.loads(done.stdout)
    assert [name for name in commands if not told.get(name, '').startswith(f'{name}: {reason}')] == []
