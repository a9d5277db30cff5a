"""The command replay: its arguments and what it refuses. test_demo.py plays a measured log by the same function."""

import sys
from unittest.mock import MagicMock

from support.logs.logs import COLUMNS, bag, good_messages, state, table, written

import numpy as np
import pytest
import yaml

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.arm.described_arm import locked_positions
from robot_dynamics_ros.errors import DynamicsError
from robot_dynamics_ros.identification import Log
from robot_dynamics_ros.tools import log_player, replay, robot_options

pytestmark = pytest.mark.ros

LOG = 'measured.csv'
KINDS = [('q', 'rad'), ('qd', 'rad_s'), ('qdd', 'rad_s2'), ('i', 'mA')]


@pytest.fixture
def played(monkeypatch):
    """The arguments of each replay, which is not run."""
    calls = []
    monkeypatch.setattr(replay, 'replay', lambda *arguments: calls.append(arguments))
    return calls


def six_joints(path):
    """A log of a robot with six joints that moves all of them alike."""
    header = ['t_s', *(f'{symbol}{k}_{unit}' for symbol, unit in KINDS for k in range(1, 7))]
    rows = [[values[0], *(value for value in values[1::2] for _ in range(6))] for values in table().tolist()]
    return written(path, header, rows)


def test_log_and_robot_reach_the_node(played, tmp_path):
    log = six_joints(tmp_path / LOG)
    replay.main(['aubo_i5', str(log), '--gravity', '0', '9.81', '0', '--output', str(tmp_path / 'out')])
    ((read, title, joint_names, parameters, output),) = played
    assert read.q.shape == (30, 6) and title == LOG and joint_names[0] == 'shoulder_joint'
    assert parameters == {'model': 'aubo_i5', 'gravity': [0.0, 9.81, 0.0]}
    assert output == tmp_path / 'out' and output.is_dir()


def test_a_part_of_a_robot_and_its_actuators_reach_the_node():
    words = ['arm.urdf', 'bag', '--actuators', 'rotors.yaml', '--base-link', 'left', '--tip-link', 'flange']
    words += ['--loops', 'loops.yaml']
    assert replay.node_parameters(replay.parser().parse_args(words), 'arm.urdf', {'finger': 0.02}) == {
        'model': 'arm.urdf',
        'locked_joints': ['finger: 0.02'],
        'loops': 'loops.yaml',
        'actuators': 'rotors.yaml',
        'base_link': 'left',
        'tip_link': 'flange',
    }


def test_a_xacro_file_is_expanded_once_and_joints_are_locked(played, tmp_path, monkeypatch):
    text, expanded = Robot.named('aubo_i5').to_urdf(), []

    def found(*arguments):
        expanded.append(arguments)
        return text

    monkeypatch.setattr(robot_options, 'found_description', found)
    names = Robot.named('aubo_i5').joint_names
    messages = [(t, state(t, [t] * 5, [1.0] * 5, [t] * 5, names[:5])) for t in 1.0 + 0.01 * np.arange(200)]
    folder, lock = bag(tmp_path / 'bag', messages), f'{names[5]}:0.25'
    replay.main(['arm.xacro', str(folder), '--lock', lock, '--output', str(tmp_path / 'out')])
    ((log, _, joint_names, parameters, _),) = played
    assert len(expanded) == 1 and joint_names == names[:5] and log.q.shape[1] == 5
    assert parameters == {'robot_description': text, 'locked_joints': [f'{names[5]}: 0.25']}
    assert locked_positions(parameters['locked_joints']) == {names[5]: 0.25}


@pytest.mark.parametrize('given', ['aubo/joint_states', '/aubo/joint_states'])
def test_a_bag_with_another_topic_is_replayed(played, tmp_path, given):
    names = Robot.named('aubo_i5').joint_names
    messages = [(t, state(t, [t] * 6, [1.0] * 6, [5.0 * t] * 6, names)) for t in 1.0 + 0.01 * np.arange(200)]
    folder = bag(tmp_path / 'driver', messages, topic='/aubo/joint_states')
    words = ['aubo_i5', str(folder), '--output', str(tmp_path / 'out')]
    with pytest.raises(SystemExit, match='messages on /joint_states, got 0'):
        replay.main(words)
    assert not played
    replay.main([*words, '--topic', given])
    ((read, *_),) = played
    # the low-pass cuts half a second at either end
    start = read.tau[0, 0] / 5.0
    np.testing.assert_allclose(read.tau, 5.0 * (read.t[:, None] + start) * np.ones(6), rtol=0, atol=1e-9)
    np.testing.assert_allclose(read.t, 0.01 * np.arange(len(read)), rtol=0, atol=1e-9)
    assert 90 < len(read) < 100 and 1.5 < start < 1.6


def test_what_is_implausible_about_a_log_is_printed(played, tmp_path, capsys):
    times, names = 0.01 * np.arange(300), Robot.named('aubo_i5').joint_names
    messages = [(t, state(1.0 + t, [np.sin(t)] * 6, [np.degrees(np.cos(t))] * 6, [t] * 6, names)) for t in times]
    replay.main(['aubo_i5', str(bag(tmp_path / 'bag', messages)), '--output', str(tmp_path / 'out')])
    assert len(played) == 1
    text = 'error: log: velocities are 57.3 times the derivative of the positions: the velocity is in degrees'
    assert text in capsys.readouterr().out


def test_a_wrong_log_or_robot_is_refused_before_a_node_starts(played, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / 'two_joints.csv', COLUMNS, table().tolist())
    bag(tmp_path / 'other', good_messages())
    six_joints(tmp_path / LOG)
    for words, reason in (
        (['aubo_i5', 'nowhere.csv'], 'nowhere.csv: cannot be read: No such file or directory'),
        (['aubo_i5', 'two_joints.csv'], "two_joints.csv, line 1: column 'q3_rad' of joint 'foreArm_joint' is missing"),
        (['aubo_i5', 'other'], "other, message 1: joint 'shoulder_joint' is missing"),
        (['aubo_i6', LOG], "robot 'aubo_i6' is not part of the package"),
        (['aubo_i5', LOG, '--output', LOG], LOG),
    ):
        with pytest.raises(SystemExit) as ended:
            replay.main(words)
        assert ended.value.code.startswith('robot_dynamics_replay: ') and reason in ended.value.code
    assert not played and not (tmp_path / 'replay_output').exists()


def test_the_node_has_topics_and_parameters_of_its_own_and_lost_samples_are_an_error(monkeypatch, tmp_path, capsys):
    said = {}

    class Peer(MagicMock):
        def __enter__(self):
            return self

        def start(self, *words):
            said['node'] = words

    def client(name, processes, words):
        said['client'] = words
        return Peer()

    time, torque = np.arange(3.0), np.array([[1.0], [2.0], [4.0]])
    comparison = log_player.Comparison(time[1:], torque[1:], torque[1:], lost=1)
    monkeypatch.setattr(log_player, 'Processes', Peer)
    monkeypatch.setattr(log_player, 'Client', client)
    monkeypatch.setattr(log_player, 'Player', lambda *_: MagicMock(play=lambda _: comparison))
    log = Log(time, torque, torque, torque, torque)
    with pytest.raises(DynamicsError, match='no torque for 1 of 3 samples'):
        replay.replay(log, LOG, ['a'], {'model': 'my "arm".urdf', 'gravity': [0.0, 0.0, 9.81]}, tmp_path)
    namespace = said['client'][-1]
    assert said['client'] == ['--ros-args', '-r', namespace] and namespace.startswith('__ns:=/replay_')
    node, *words = said['node']
    assert node == 'feedforward_node' and words[:2] == ['-r', namespace]
    given = dict(word.split(':=') for word in words[3::2])
    assert {name: yaml.safe_load(value) for name, value in given.items()} == {
        'model': 'my "arm".urdf',
        'gravity': [0.0, 0.0, 9.81],
        'await_payload_gravity': False,  # nobody publishes a payload in its namespace
        'age_limit': 12.0,  # of a log of 2 s: its states come all at once, with stamps ahead of the clock
    }
    assert '3 samples sent, 2 answered, 1 lost' in capsys.readouterr().out and (tmp_path / 'log.png').is_file()


@pytest.mark.parametrize('package', replay.PACKAGES)
def test_a_missing_package_is_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit, match=f'^robot_dynamics_replay: this needs {package}, '):
        replay.main(['aubo_i5', LOG])


def test_an_interrupt_ends_without_a_traceback(monkeypatch, tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(replay, 'replay', interrupted)
    with pytest.raises(SystemExit, match=r'^robot_dynamics_replay: interrupted$'):
        replay.main(['aubo_i5', str(six_joints(tmp_path / LOG)), '--output', str(tmp_path)])


def test_the_help_says_what_a_log_is(capsys):
    with pytest.raises(SystemExit) as ended:
        replay.main(['--help'])
    printed = ' '.join(capsys.readouterr().out.split())
    assert ended.value.code == 0
    assert 'usage: robot_dynamics_replay' in printed and 'rosbag2 with joint states' in printed
