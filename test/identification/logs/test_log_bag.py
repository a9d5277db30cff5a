"""A bag is read as it is, or refused with the file and the message that is wrong."""

import shutil
import sqlite3

from support.logs.logs import DATA, NAMES, TIMES, TYPES, bag, good_messages, state, swing

import numpy as np
import pytest
from rosbags.rosbag2 import Reader, StoragePlugin, Writer

from robot_dynamics_ros.identification import Log, LogError


def assert_is_the_swing(log):
    """Without the four samples at either end where a derivative is rough."""
    q, qd, qdd = swing(TIMES[4:-4])
    np.testing.assert_allclose(log.t, TIMES[4:-4], rtol=0, atol=1e-6)
    np.testing.assert_allclose(log.q, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(log.tau, 3.0 * q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(log.qd, qd, rtol=0, atol=1e-12)
    np.testing.assert_allclose(log.qdd, qdd, rtol=0, atol=1e-5)


@pytest.mark.parametrize('plugin', StoragePlugin)
@pytest.mark.parametrize('alone', [False, True], ids=['folder', 'file alone'])
def test_bag_is_read(tmp_path, plugin, alone):
    folder = bag(tmp_path / 'good', good_messages(), plugin=plugin)
    (file,) = [path for path in folder.iterdir() if path.suffix in ('.db3', '.mcap')]
    assert_is_the_swing(Log.from_bag(file if alone else folder, NAMES, cutoff=None))


def test_bag_without_stamps_goes_by_the_time_of_reception(tmp_path):
    assert_is_the_swing(Log.from_bag(bag(tmp_path / 'good', good_messages(stamped=False)), NAMES, cutoff=None))


@pytest.mark.parametrize('measured', [True, False], ids=['velocities', 'positions alone'])
@pytest.mark.parametrize('cutoff', [None, 5.0])
def test_turns_of_continuous_joints_leave_no_trace_in_a_bag(tmp_path, cutoff, measured):
    times = 0.01 * np.arange(400)
    q = np.stack([2.5 + 2.0 * np.sin(2.0 * times), -3.0 * times], axis=1)
    qd = np.stack([4.0 * np.cos(2.0 * times), -3.0 + 0.0 * times], axis=1)
    logs = []
    for name, reported in (('plain', q), ('turns', (q + np.pi) % (2.0 * np.pi) - np.pi)):
        rows = zip(times, reported, qd, q, strict=True)
        messages = [(t, state(100.0 + t, p, v if measured else [], e)) for t, p, v, e in rows]
        logs.append(Log.from_bag(bag(tmp_path / name, messages), NAMES, cutoff=cutoff))
    plain, turns = logs
    for name in ('qd', 'qdd', 'tau'):
        np.testing.assert_allclose(getattr(turns, name), getattr(plain, name), rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.diff(turns.q, axis=0), np.diff(plain.q, axis=0), rtol=0, atol=1e-9)


@pytest.mark.parametrize('absent', [[], [np.nan, np.nan]], ids=['empty', 'NaN'])
def test_bag_without_velocities_gets_them_from_positions(tmp_path, absent):
    q, qd, _ = swing(TIMES)
    messages = [(100.0 + t, state(100.0 + t, row, absent, 3 * row)) for t, row in zip(TIMES, q, strict=True)]
    log = Log.from_bag(bag(tmp_path / 'good', messages), NAMES, cutoff=None)
    np.testing.assert_allclose(log.qd, qd[4:-4], rtol=0, atol=1e-6)


def test_bag_is_low_passed_unless_that_is_switched_off(tmp_path):
    folder = bag(tmp_path / 'good', good_messages())
    raw, log = Log.from_bag(folder, NAMES, cutoff=None), Log.from_bag(folder, NAMES, cutoff=8.0)
    filtered = raw.low_pass(8.0)
    for name in ('q', 'qd', 'qdd', 'tau'):
        np.testing.assert_array_equal(getattr(log, name), getattr(filtered, name))
    assert np.abs(log.tau - raw.tau[np.isin(raw.t, log.t)]).max() > 1e-6


def test_bag_joints_are_matched_by_name(tmp_path):
    q, qd, _ = swing(TIMES)
    names = ['second', 'hand', 'first']
    rows = [[[row[1], 9.0, row[0]] for row in (a, b, 3 * a)] for a, b in zip(q, qd, strict=True)]
    messages = [(t, state(1.0 + t, *row, names)) for t, row in zip(TIMES, rows, strict=True)]
    assert_is_the_swing(Log.from_bag(bag(tmp_path / 'good', messages), NAMES, cutoff=None))


def test_a_gap_splits_a_bag(tmp_path):
    """No derivative and no filter goes across it."""
    times = 0.01 * np.arange(400)
    later = np.where(np.arange(400) < 150, times, times + 2.0)
    q, qd, _ = swing(times)
    for name, velocities in (('both', qd), ('positions', np.full_like(qd, np.nan))):
        rows = zip(later, q, velocities, 3.0 * q, strict=True)
        folder = bag(tmp_path / name, [(100.0 + t, state(100.0 + t, *row)) for t, *row in rows])
        for cutoff in (None, 5.0):
            log = Log.from_bag(folder, NAMES, cutoff=cutoff)
            assert len(log.segments()) == 2 and np.diff(log.t).max() > 2.0
            _, qd_there, qdd_there = swing(np.where(log.t < 2.0, log.t, log.t - 2.0))
            np.testing.assert_allclose(log.qd, qd_there, rtol=0, atol=1e-3)
            np.testing.assert_allclose(log.qdd, qdd_there, rtol=0, atol=1e-2)


def test_stamps_in_bursts_are_refused_or_replaced_by_even_ones(tmp_path):
    """Time of reception, where every twelve states come at once; two of the bursts are missing."""
    true = 0.01 * np.arange(600)
    true = true[(true < 2.155) | (true > 2.395)]
    received = 0.12 * np.ceil(true / 0.12 + 1e-9) + 1e-5 * (np.arange(len(true)) % 12)
    q, qd, _ = swing(true)
    rows = zip(received, q, qd, 3.0 * q, strict=True)
    folder = bag(tmp_path / 'bursts', [(100.0 + t, state(0.0, *row)) for t, *row in rows])
    assert_refused(
        folder,
        'stamps come in bursts, as times of reception do: half of the steps are below 1e-05 s, the mean one is 0.01',
    )
    log = Log.from_bag(folder, NAMES, even_times=True)
    assert len(log.segments()) == 2
    _, _, expected = swing(log.t + 0.055)  # the middle of a burst comes 0.065 s late, its first state 0.12 s
    np.testing.assert_allclose(log.qdd, expected, rtol=0, atol=0.1)
    plain = bag(tmp_path / 'good', good_messages())
    even, stamped = (Log.from_bag(plain, NAMES, cutoff=8.0, even_times=it) for it in (True, False))
    np.testing.assert_allclose(even.qdd, stamped.qdd, rtol=0, atol=1e-4)


def test_bursts_with_missing_samples_are_refused(tmp_path):
    times = 0.01 * np.arange(600)
    received = 0.12 * np.ceil(times / 0.12 + 1e-9) + 1e-5 * (np.arange(600) % 12)
    q, qd, _ = swing(times)
    kept = (np.arange(600) % 12 < 6) | (times < 3.0)  # half of each later burst is lost
    rows = zip(received[kept], q[kept], qd[kept], q[kept], strict=True)
    folder = bag(tmp_path / 'bursts', [(100.0 + t, state(0.0, *row)) for t, *row in rows])
    with pytest.raises(LogError, match=r'bursts: stamps: at .* they are .* s off an even grid: samples are missing'):
        Log.from_bag(folder, NAMES, even_times=True)


def test_a_bag_of_gaps_is_refused(tmp_path):
    times = np.concatenate([0.1 * np.arange(10) + start for start in (0.0, 2.0, 4.0)])
    assert_refused(bag(tmp_path / 'bad_bag', good_messages(times)), 'expected 12 samples in a row, without a gap')


def test_bag_repeated_stamp_counts_once(tmp_path):
    messages = good_messages()
    assert_is_the_swing(Log.from_bag(bag(tmp_path / 'good', sorted([*messages, *messages[3:5]])), NAMES, cutoff=None))


def test_messages_of_a_gripper_alone_are_skipped_whatever_their_stamps(tmp_path):
    gripper = [
        (100.0 + t, state(99.0 + 0.5 * t, [0.01], [0.0], [np.nan], ['finger'])) for t in np.linspace(-0.005, 0.985, 70)
    ]
    messages = sorted([*good_messages(), *gripper], key=lambda it: it[0])
    assert messages[0] == gripper[0]
    assert_is_the_swing(Log.from_bag(bag(tmp_path / 'good', messages), NAMES, cutoff=None))


GOOD = dict(q=[0.0, 0.1], qd=[0.0, 0.1], effort=[0.0, 0.1])
# the message that takes the place of number 41, and what the error must say beside the file's name
BAD_STATES = {
    'unknown joint': ({**GOOD, 'names': ['first', 'elbow_of_nobody']}, "message 41: joint 'second' is missing"),
    'doubled joint': ({**GOOD, 'names': ['first', 'first']}, "message 41: joint 'first' is given twice"),
    'NaN position': ({**GOOD, 'q': [0.0, np.nan]}, "message 41: position of joint 'second'"),
    'NaN velocity': ({**GOOD, 'qd': [np.nan, 0.0]}, "message 41: velocity of joint 'first'"),
    'NaN effort': ({**GOOD, 'effort': [0.0, np.inf]}, "message 41: effort of joint 'second'"),
    'no velocities': ({**GOOD, 'qd': []}, 'some messages have velocities, and some have none'),
    'velocities too few': ({**GOOD, 'qd': [0.1]}, 'message 41: 2 joints have 1 numbers in velocity'),
    'no efforts': ({**GOOD, 'effort': []}, 'message 41: 2 joints have 0 numbers in effort'),
}


@pytest.mark.parametrize(('message', 'culprit'), BAD_STATES.values(), ids=BAD_STATES)
def test_bad_state_in_a_bag_is_refused_with_its_number(tmp_path, message, culprit):
    messages = good_messages()
    messages[40] = (messages[40][0], state(100.4, **message))
    folder = bag(tmp_path / 'bad_bag', messages)
    with pytest.raises(LogError) as caught:
        Log.from_bag(folder, NAMES)
    assert str(folder) in str(caught.value)
    assert culprit in str(caught.value)


def assert_refused(path, text=''):
    with pytest.raises(LogError) as caught:
        Log.from_bag(path, NAMES)
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
        log = Log.from_bag(bag(tmp_path / 'bad_bag', messages), NAMES)
    except LogError as error:
        assert 'bad_bag' in str(error)
        return
    assert (np.diff(log.t) > 0).all()


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
    log = Log.from_bag(path, names)
    assert (1.0 - 1.5 / duration) * count <= len(log.t) <= count  # derivative and low-pass cut ends
    assert (np.diff(log.t) > 0).all()
    assert log.t[-1] == pytest.approx(duration, abs=1.5)
    assert log.q.shape == log.qd.shape == log.qdd.shape == log.tau.shape == (len(log), len(names))
    # velocities belong to positions: the trapezoid over them gives the way back
    steps = np.diff(log.t)[:, None] * (log.qd[1:] + log.qd[:-1]) / 2
    assert np.abs(log.q[0] + steps.cumsum(axis=0) - log.q[1:]).max() < 0.05
    assert np.abs(np.corrcoef(np.gradient(log.qd[:, 0], log.t), log.qdd[:, 0])[0, 1]) > 0.9


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
