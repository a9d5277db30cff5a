"""Logs are read as they are, or refused with the file and the line, message or column that is wrong."""

import shutil
import sqlite3
from dataclasses import fields
from pathlib import Path

import graph  # noqa: F401 (before rclpy, which the demo imports)
import numpy as np
import pytest
import random_trees as trees
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from robot_dynamics_ros import Robot
from robot_dynamics_ros.dynamics.model import Model
from robot_dynamics_ros.tools import demo
from robot_dynamics_ros.tools.log_file import LogError, read_log

DATA = Path(__file__).resolve().parents[2] / 'shared' / 'data'
NAMES = ('first', 'second')


def torque_of_current(current):
    return current * [2.0, 3.0]


COLUMNS = ['t_s', 'q1_rad', 'q2_rad', 'qd1_rad_s', 'qd2_rad_s', 'qdd1_rad_s2', 'qdd2_rad_s2', 'i1_mA', 'i2_mA']
TYPES = get_typestore(Stores.ROS2_HUMBLE)


def table(rows=30):
    """A log of two joints: a row for each 0.01 s, all numbers different."""
    values = np.random.default_rng(3).uniform(-1.0, 1.0, (rows, len(COLUMNS)))
    values[:, 0] = 5.0 + 0.01 * np.arange(rows)
    return values


def written(path, header, rows):
    path.write_text('\n'.join([','.join(header), *(','.join(map(str, row)) for row in rows)]) + '\n')
    return path


def test_csv_in_any_column_order_with_columns_that_do_not_matter(tmp_path):
    values = table()
    order = [3, 8, 0, 1, 7, 5, 2, 6, 4]
    rows = [[*row[order].tolist(), 'free text'] for row in values]
    log = read_log(
        written(tmp_path / 'log.csv', [*(COLUMNS[k] for k in order), 'remark'], rows), NAMES, torque_of_current
    )
    np.testing.assert_allclose(log.time, values[:, 0] - 5.0, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(log.q, values[:, 1:3])
    np.testing.assert_array_equal(log.qd, values[:, 3:5])
    np.testing.assert_array_equal(log.qdd, values[:, 5:7])
    np.testing.assert_allclose(log.torque, values[:, 7:9] * 1e-3 * [2.0, 3.0], rtol=1e-15)


def changed(row, column, value):
    def change(header, rows):
        rows[row][header.index(column)] = value

    return change


def cut(row, count):
    def change(header, rows):
        del rows[row][count:]

    return change


def without(column):
    def change(header, rows):
        place = header.index(column)
        for row in (header, *rows):
            del row[place]

    return change


def with_joint_7(header, rows):
    for row, value in zip((header, *rows), ['q7_rad', *[0.0] * len(rows)], strict=True):
        row.append(value)


def all_gone(header, rows):
    header.clear()
    rows.clear()


# what is done to the log: what the error must say beside the file's name; row k is on line k + 2
BAD_TABLES = {
    'cut short': (cut(29, 4), 'line 31: cut short'),
    'a value too many': (lambda header, rows: rows[4].append(1.0), 'line 6'),
    'NaN': (changed(10, 'qd2_rad_s', 'nan'), 'line 12: qd2_rad_s is nan'),
    'infinite': (changed(10, 'i1_mA', 'inf'), 'line 12: i1_mA is inf'),
    'empty cell': (changed(3, 'q1_rad', ''), 'line 5: q1_rad'),
    'text': (changed(0, 'i2_mA', 'broken'), "line 2: i2_mA is 'broken'"),
    'time goes back': (changed(20, 't_s', 5.05), 'line 22: time does not go on'),
    'time stands still': (changed(20, 't_s', 5.19), 'line 22: time does not go on'),
    'column missing': (without('qdd1_rad_s2'), "line 1: column 'qdd1_rad_s2'"),
    'joint missing': (without('q2_rad'), "line 1: column 'q2_rad'"),
    'unknown joint': (with_joint_7, "line 1: column 'q7_rad' is of an unknown joint"),
    'too short': (lambda header, rows: rows.__delitem__(slice(19, None)), '19 samples'),
    'header only': (lambda header, rows: rows.clear(), '0 samples'),
    'empty': (all_gone, 'line 1'),
}


@pytest.fixture
def bad_csv(tmp_path):
    def make(change):
        header, rows = list(COLUMNS), table().tolist()
        change(header, rows)
        return written(tmp_path / 'bad_log.csv', header, rows)

    return make


@pytest.mark.parametrize(('change', 'culprit'), BAD_TABLES.values(), ids=BAD_TABLES)
def test_bad_csv_is_refused_with_file_and_line(bad_csv, change, culprit):
    path = bad_csv(change)
    with pytest.raises(LogError) as caught:
        read_log(path, NAMES, torque_of_current)
    assert str(path) in str(caught.value)
    assert culprit in str(caught.value)


@pytest.mark.parametrize(
    'content',
    [b'\x00\x01\x02' * 50, b't_s,q1_rad\n\xff\xfe\n', b'SQLite format 3\x00' + bytes(100), b'"' + b'x' * 200_000],
    ids=['binary', 'not UTF-8', 'a bag by another name', 'a cell without end'],
)
def test_csv_that_is_none_is_refused(tmp_path, content):
    path = tmp_path / 'none.csv'
    path.write_bytes(content)
    with pytest.raises(LogError, match=r'none\.csv'):
        read_log(path, NAMES, torque_of_current)


def test_csv_that_is_not_utf_8_further_down_is_refused(tmp_path):
    path = written(tmp_path / 'log.csv', COLUMNS, table().tolist())
    path.write_bytes(path.read_bytes() + b'\xff\xfe,1,2\n')
    with pytest.raises(LogError, match=r'log\.csv'):
        read_log(path, NAMES, torque_of_current)


@pytest.mark.parametrize('name', ['nowhere.csv', 'nowhere.db3', 'nowhere'])
def test_missing_file_is_refused(tmp_path, name):
    with pytest.raises(LogError, match=name):
        read_log(tmp_path / name, NAMES, torque_of_current)


def test_csv_needs_torque_constants(tmp_path):
    path = written(tmp_path / 'log.csv', COLUMNS, table().tolist())
    robot = Robot(Model.of('two', trees.BASE, trees.random_joints(0, count=2)))
    with pytest.raises(LogError, match=r"log\.csv: motor currents: joint 'joint_1': no torque constant is known"):
        read_log(path, NAMES, robot.torque_of_current)


def state(stamp, q, qd, effort, names=NAMES):
    """A JointState of rosbags' own types, serialised."""
    time = TYPES.types['builtin_interfaces/msg/Time'](*divmod(round(stamp * 1e9), 1_000_000_000))
    header = TYPES.types['std_msgs/msg/Header'](stamp=time, frame_id='')
    rows = (np.asarray(values, float) for values in (q, qd, effort))
    message = TYPES.types['sensor_msgs/msg/JointState'](header, list(names), *rows)
    return TYPES.serialize_cdr(message, 'sensor_msgs/msg/JointState')


def bag(folder, messages, topic='/joint_states', plugin=StoragePlugin.SQLITE3):
    """Write (time of reception in s, data) into a bag."""
    with Writer(folder, version=8, storage_plugin=plugin) as writer:
        connection = writer.add_connection(topic, 'sensor_msgs/msg/JointState', typestore=TYPES)
        for received, data in messages:
            writer.write(connection, round(received * 1e9), data)
    return folder


def swing(t):
    """Position, velocity and acceleration of both joints at time t."""
    t = np.asarray(t)[..., None]
    a, w = np.array([0.5, 0.3]), np.array([2.0, 3.0])
    return a * np.sin(w * t), a * w * np.cos(w * t), -a * w * w * np.sin(w * t)


TIMES = 0.01 * np.arange(100)


def good_messages(times=TIMES, stamped=True):
    q, qd, _ = swing(times)
    return [
        (100.0 + t, state(100.0 + t if stamped else 0.0, *rows)) for t, *rows in zip(times, q, qd, 3.0 * q, strict=True)
    ]


def assert_is_the_swing(log):
    q, qd, qdd = swing(TIMES)
    np.testing.assert_allclose(log.time, TIMES, rtol=0, atol=1e-6)
    np.testing.assert_allclose(log.q, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(log.torque, 3.0 * q, rtol=0, atol=1e-12)
    inner = slice(10, -10)  # the quadratic's ends are rougher
    np.testing.assert_allclose(log.qd[inner], qd[inner], rtol=0, atol=0.03)
    np.testing.assert_allclose(log.qdd[inner], qdd[inner], rtol=0, atol=0.15)


@pytest.mark.parametrize('plugin', StoragePlugin)
@pytest.mark.parametrize('alone', [False, True], ids=['folder', 'file alone'])
def test_bag_is_read(tmp_path, plugin, alone):
    folder = bag(tmp_path / 'good', good_messages(), plugin=plugin)
    (file,) = [path for path in folder.iterdir() if path.suffix in ('.db3', '.mcap')]
    assert_is_the_swing(read_log(file if alone else folder, NAMES, torque_of_current))


def test_bag_without_stamps_goes_by_the_time_of_reception(tmp_path):
    assert_is_the_swing(read_log(bag(tmp_path / 'good', good_messages(stamped=False)), NAMES, torque_of_current))


def test_bag_joints_are_matched_by_name(tmp_path):
    q, qd, _ = swing(TIMES)
    names = ['second', 'hand', 'first']
    rows = [[[row[1], 9.0, row[0]] for row in (a, b, 3 * a)] for a, b in zip(q, qd, strict=True)]
    messages = [(t, state(1.0 + t, *row, names)) for t, row in zip(TIMES, rows, strict=True)]
    assert_is_the_swing(read_log(bag(tmp_path / 'good', messages), NAMES, torque_of_current))


def test_bag_repeated_stamp_counts_once(tmp_path):
    messages = good_messages()
    assert_is_the_swing(read_log(bag(tmp_path / 'good', sorted([*messages, *messages[3:5]])), NAMES, torque_of_current))


GOOD = dict(q=[0.0, 0.1], qd=[0.0, 0.1], effort=[0.0, 0.1])
# the message that takes the place of number 41, and what the error must say beside the file's name
BAD_STATES = {
    'unknown joint': ({**GOOD, 'names': ['first', 'elbow_of_nobody']}, "message 41: joint 'second' is missing"),
    'doubled joint': ({**GOOD, 'names': ['first', 'first']}, "message 41: joint 'first' is given twice"),
    'NaN position': ({**GOOD, 'q': [0.0, np.nan]}, "message 41: position of joint 'second'"),
    'NaN velocity': ({**GOOD, 'qd': [np.nan, 0.0]}, "message 41: velocity of joint 'first'"),
    'NaN effort': ({**GOOD, 'effort': [0.0, np.inf]}, "message 41: effort of joint 'second'"),
    'no velocities': ({**GOOD, 'qd': []}, 'message 41: 2 joints have 0 numbers in velocity'),
    'no efforts': ({**GOOD, 'effort': []}, 'message 41: 2 joints have 0 numbers in effort'),
}


@pytest.mark.parametrize(('message', 'culprit'), BAD_STATES.values(), ids=BAD_STATES)
def test_bad_state_in_a_bag_is_refused_with_its_number(tmp_path, message, culprit):
    messages = good_messages()
    messages[40] = (messages[40][0], state(100.4, **message))
    folder = bag(tmp_path / 'bad_bag', messages)
    with pytest.raises(LogError) as caught:
        read_log(folder, NAMES, torque_of_current)
    assert str(folder) in str(caught.value)
    assert culprit in str(caught.value)


def assert_refused(path, text=''):
    with pytest.raises(LogError) as caught:
        read_log(path, NAMES, torque_of_current)
    assert str(path) in str(caught.value)
    assert text in str(caught.value)


def test_bag_of_unknown_joints_names_the_joint_that_is_missing(tmp_path):
    messages = [(t, state(1.0 + t, [0.0], [0.0], [0.0], ['elbow_of_nobody'])) for t in TIMES]
    assert_refused(bag(tmp_path / 'bad_bag', messages), "message 1: joint 'first' is missing; given: elbow_of_nobody")


@pytest.mark.parametrize('count', [0, 1, 2, 10, 19])
def test_bag_that_is_too_short_is_refused(tmp_path, count):
    assert_refused(bag(tmp_path / 'bad_bag', good_messages(TIMES[:count])))


def test_bag_that_stands_still_in_time_is_refused(tmp_path):
    messages = [(100.0 + t, state(100.0, [0, 0], [0, 0], [0, 0])) for t in TIMES]
    assert_refused(bag(tmp_path / 'bad_bag', messages))


def test_bag_whose_stamps_go_back_is_refused_or_read_in_order(tmp_path):
    messages = good_messages()
    messages[50:] = [(200.0 + t, data) for t, data in zip(TIMES[:50], [m[1] for m in messages[20:70]], strict=True)]
    try:
        log = read_log(bag(tmp_path / 'bad_bag', messages), NAMES, torque_of_current)
    except LogError as error:
        assert 'bad_bag' in str(error)
        return
    assert (np.diff(log.time) > 0).all()


def test_bag_without_the_topic_is_refused(tmp_path):
    assert_refused(bag(tmp_path / 'bad_bag', good_messages(), topic='/other_states'), '/joint_states')


def test_bag_with_another_type_on_the_topic_is_refused(tmp_path):
    folder = tmp_path / 'bad_bag'
    with Writer(folder, version=8) as writer:
        connection = writer.add_connection('/joint_states', 'std_msgs/msg/String', typestore=TYPES)
        data = TYPES.serialize_cdr(TYPES.types['std_msgs/msg/String']('no state'), 'std_msgs/msg/String')
        for t in TIMES:
            writer.write(connection, round(t * 1e9), data)
    assert_refused(folder)


@pytest.mark.parametrize('part', [0.0, 0.001, 0.1, 0.5, 0.9])
@pytest.mark.parametrize('suffix', ['.db3', '.mcap'])
def test_truncated_bag_file_is_refused(tmp_path, suffix, part):
    plugin = StoragePlugin.SQLITE3 if suffix == '.db3' else StoragePlugin.MCAP
    whole = next(bag(tmp_path / 'whole', good_messages(), plugin=plugin).glob(f'*{suffix}')).read_bytes()
    path = tmp_path / f'truncated{suffix}'
    path.write_bytes(whole[: int(part * len(whole))])
    assert_refused(path)


def test_truncated_message_in_a_bag_is_refused(tmp_path):
    messages = good_messages()
    messages[7] = (messages[7][0], bytes(messages[7][1])[:40])
    assert_refused(bag(tmp_path / 'bad_bag', messages))


@pytest.mark.parametrize('content', [b'', b'no database', bytes(5000)])
@pytest.mark.parametrize('suffix', ['.db3', '.mcap', '.txt'])
def test_file_that_is_no_bag_is_refused(tmp_path, suffix, content):
    path = tmp_path / f'none{suffix}'
    path.write_bytes(content)
    assert_refused(path)


def test_database_that_is_no_bag_is_refused(tmp_path):
    path = tmp_path / 'other.db3'
    with sqlite3.connect(path) as database:
        database.execute('CREATE TABLE messages (id INTEGER)')
    database.close()
    assert_refused(path)


@pytest.mark.parametrize('metadata', [None, '', 'a: [', 'rosbag2_bagfile_information: {}'])
def test_folder_that_is_no_bag_is_refused(tmp_path, metadata):
    folder = bag(tmp_path / 'bad_bag', good_messages())
    (folder / 'metadata.yaml').unlink()
    if metadata is not None:
        (folder / 'metadata.yaml').write_text(metadata)
    assert_refused(folder)


def test_bag_folder_without_its_file_is_refused(tmp_path):
    folder = bag(tmp_path / 'bad_bag', good_messages())
    next(folder.glob('*.db3')).unlink()
    assert_refused(folder)


def run_demo(monkeypatch, tmp_path, log):
    """Run the demo with a log in this process; it must end before it starts any."""

    def no_process(*_):
        raise AssertionError('a node was started')

    monkeypatch.setattr(demo, 'Processes', no_process)
    monkeypatch.setattr('sys.argv', ['demo', '--log', str(log), '--output', str(tmp_path / 'output')])
    with pytest.raises(SystemExit) as caught:
        demo.main()
    return caught.value.code  # text: Python prints it and ends with status 1


def test_demo_refuses_a_bad_csv_before_any_node_starts(monkeypatch, tmp_path):
    message = run_demo(monkeypatch, tmp_path, written(tmp_path / 'two_joints.csv', COLUMNS, table().tolist()))
    assert message.startswith('demo: ')
    assert "two_joints.csv, line 1: column 'q3_rad' is missing" in message


def test_demo_refuses_a_missing_log_before_any_node_starts(monkeypatch, tmp_path):
    assert 'nowhere.csv' in run_demo(monkeypatch, tmp_path, tmp_path / 'nowhere.csv')


def test_demo_refuses_a_bag_of_another_robot_before_any_node_starts(monkeypatch, tmp_path):
    message = run_demo(monkeypatch, tmp_path, bag(tmp_path / 'other_robot', good_messages()))
    assert "other_robot, message 1: joint 'shoulder_joint' is missing" in message


@pytest.mark.parametrize(
    ('name', 'count', 'duration'),
    [('ur10_exciting_trajectory.db3', 3441, 27.5), ('panda_exciting_trajectory.db3', 727, 24.0)],
)
def test_measured_bag_is_read(name, count, duration):
    path = DATA / name
    if not path.is_file():
        pytest.skip(f'{name} is not beside the clone: its licence keeps it out')
    with Reader(path) as reader:
        _, _, data = next(reader.messages())
    names = TYPES.deserialize_cdr(data, 'sensor_msgs/msg/JointState').name
    log = read_log(path, names, torque_of_current)
    assert 0.99 * count <= len(log.time) <= count
    assert (np.diff(log.time) > 0).all()
    assert log.time[-1] == pytest.approx(duration, abs=1.5)
    for field in fields(log):
        values = getattr(log, field.name)
        assert values.shape == ((len(log.time),) if field.name == 'time' else (len(log.time), len(names)))
        assert np.isfinite(values).all(), field.name
    # velocities belong to positions: the trapezoid over them gives the way back
    steps = np.diff(log.time)[:, None] * (log.qd[1:] + log.qd[:-1]) / 2
    assert np.abs(log.q[0] + steps.cumsum(axis=0) - log.q[1:]).max() < 0.05
    assert np.abs(np.corrcoef(np.gradient(log.qd[:, 0], log.time), log.qdd[:, 0])[0, 1]) > 0.9


def test_the_model_explains_the_measured_currents_of_the_aubo_i5():
    path = DATA / 'aubo_i5_measured_traj1.csv'
    if not path.is_file():
        pytest.skip(f'{path.name} is not beside the clone: its licence keeps it out')
    robot = Robot.named('aubo_i5').with_binding('generic')
    log = read_log(path, robot.joint_names, robot.torque_of_current)
    tau = robot.inverse_dynamics(log.q, log.qd, log.qdd)
    current = robot.motor_current(tau + robot.friction_torque(log.qd, tau))
    measured = robot.motor_current(log.torque)
    share = np.var(measured - current, axis=0) / np.var(measured, axis=0)
    # what config/aubo_i5.yaml says of its figures
    assert 1.0 - share == pytest.approx([0.9948, 0.9902, 0.9927, 0.9905, 0.9945, 0.9925], abs=2e-4)
    assert np.abs(measured).max(axis=0) == pytest.approx([8.6, 10.4, 6.3, 1.4, 0.9, 0.85], abs=0.1)  # A


def test_truncated_measured_bag_is_refused(tmp_path):
    path = DATA / 'ur10_exciting_trajectory.db3'
    if not path.is_file():
        pytest.skip(f'{path.name} is not beside the clone: its licence keeps it out')
    short = tmp_path / 'short.db3'
    shutil.copyfile(path, short)
    short.chmod(0o600)
    with short.open('r+b') as file:
        file.truncate(path.stat().st_size // 2)
    assert_refused(short)
