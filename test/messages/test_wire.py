"""Serialised messages: our reading of the bytes is rclpy's."""

import struct

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.errors import ArgumentError, DynamicsError
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.messages.cdr import FIELDS, SHORTEST, ArrayBuffer, JointStateBuffer, stamp_of
from robot_dynamics_ros.messages.cdr_numbers import OTHER_LAYOUT
from robot_dynamics_ros.messages.command_stamp import answered_stamp
from robot_dynamics_ros.messages.joint_state import JointStateInput, StateInput
from robot_dynamics_ros.messages.stamps import nanoseconds, set_nanoseconds
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE

NAMES = ['shoulder', 'a', 'élan', '', 'joint_with_a_long_name']
STAMP = 1_795_000_000_123_456_789


def message(seed=0, names=NAMES, fields=FIELDS, frame='base', stamp=STAMP) -> JointState:
    random = np.random.default_rng(seed)
    made = JointState(name=list(names), **{field: random.normal(size=len(names)).tolist() for field in fields})
    made.header.frame_id = frame
    made.header.stamp.sec, made.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
    return made


@pytest.mark.parametrize('fields', [FIELDS, (), ('position',), ('velocity',), ('effort',), ('position', 'effort')])
@pytest.mark.parametrize('frame', ['', 'b', 'world', 'a longer frame'])
@pytest.mark.parametrize('count', [0, 1, 3, 5])
def test_every_layout_is_read_as_rclpy_reads_it(fields, frame, count):
    sent = message(names=NAMES[:count], fields=fields, frame=frame)
    data = serialize_message(sent)
    buffer = JointStateBuffer(data)
    assert buffer.message == sent
    assert all(getattr(buffer, field).tolist() == list(getattr(sent, field)) for field in FIELDS)
    assert stamp_of(data) == STAMP
    buffer.writer()(buffer.effort, 7)
    stamped = message(names=NAMES[:count], fields=fields, frame=frame, stamp=7)
    assert deserialize_message(bytes(buffer), JointState) == stamped


@pytest.mark.parametrize('frame', ['', 'b', 'world', 'a longer frame'])
@pytest.mark.parametrize('stamp', [0, 7, STAMP, -1])
def test_torque_and_stamp_are_written_as_rclpy_writes_them(frame, stamp):
    buffer = JointStateBuffer.of(message(fields=('effort',), frame=frame))
    expected = message(1, fields=('effort',), frame=frame, stamp=stamp)
    buffer.writer()(np.array(expected.effort), stamp)
    assert deserialize_message(bytes(buffer), JointState) == expected


@pytest.mark.parametrize('length', range(12))
def test_a_message_too_short_for_a_stamp_is_refused(length):
    with pytest.raises(ArgumentError, match=f'at least 12 bytes, got {length}'):
        stamp_of(bytes(length))


def reader(data, fields=('position', 'velocity')):
    out = np.zeros((len(fields), 3))
    bounds = np.stack([np.full_like(out, -np.inf), np.full_like(out, np.inf)])
    return JointStateBuffer(data).reader(fields, np.array([4, 0, 2]), bounds, out, (), np.zeros(0)), out


@pytest.mark.parametrize('frame', ['', 'b', 'world', 'a longer frame'])  # with and without padding before numbers
def test_the_next_message_of_a_layout_is_read_in_the_order_asked(frame):
    read, out = reader(serialize_message(message(0, frame=frame)))
    following = message(1, frame=frame, stamp=STAMP + 5)
    assert read(serialize_message(following)) == 0b11
    assert out.tolist() == [np.take(values, [4, 0, 2]).tolist() for values in (following.position, following.velocity)]


@pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: Python reads what it can')
def test_only_bytes_are_read():
    data = serialize_message(message())
    read, _ = reader(data)
    assert read(data) == 0b11 and read(b'') == OTHER_LAYOUT
    for wrong in (bytearray(data), memoryview(data), np.frombuffer(data, np.uint8), '', None):
        with pytest.raises(TypeError, match=r'^read_fields: expected bytes$'):
            read(wrong)


def test_another_layout_is_recognised_by_any_field():
    assert OTHER_LAYOUT not in range(1 << len(FIELDS))


def test_what_is_missing_or_not_finite_is_reported():
    read, out = reader(serialize_message(message(fields=('position',))))
    assert read(serialize_message(message(2, fields=('position',)))) == 0b01
    assert np.isfinite(out[0]).all() and np.isnan(out[1]).all()
    read, out = reader(serialize_message(message()))
    for value in (np.nan, np.inf, -np.inf):
        for place, found in ((4, 0b10), (1, 0b11)):  # joint 1 is not asked for
            wrong = message(3)
            wrong.position[place] = value
            assert read(serialize_message(wrong)) == found
            assert np.array_equal(out[0], np.take(wrong.position, [4, 0, 2]), equal_nan=True)


@pytest.mark.parametrize(
    'other',
    [
        message(frame='bass'),
        message(frame='bas'),
        message(names=[*NAMES[:4], 'joint_with_a_long_nams']),
        message(names=NAMES[:4]),
        message(names=NAMES[::-1]),
        message(fields=('position', 'effort')),
        message(fields=('velocity', 'effort')),
    ],
    ids=['frame', 'shorter frame', 'name', 'fewer names', 'order', 'no velocities', 'no positions'],
)
def test_another_layout_is_reported_and_nothing_written(other):
    read, out = reader(serialize_message(message()))
    assert read(serialize_message(message())) == 0b11
    before = out.copy()
    assert read(serialize_message(other)) == OTHER_LAYOUT
    assert np.array_equal(out, before)


def test_velocities_that_became_efforts_are_another_layout():
    """Two messages of the same length."""
    one, other = (serialize_message(message(fields=('position', field))) for field in ('velocity', 'effort'))
    assert len(one) == len(other)
    read, _ = reader(one)
    assert read(one) == 0b11
    assert read(other) == OTHER_LAYOUT


def test_padding_may_hold_anything():
    data = bytearray(serialize_message(message(names=['a', 'b', 'c', 'd', 'e'], frame='x')))
    read, out = reader(bytes(data))
    assert data[16:18] == b'x\0'
    data[18:20] = b'\xaa\xbb'  # the four bytes of the frame are full at 20
    assert read(bytes(data)) == 0b11
    assert np.isfinite(out).all()


def test_numbers_of_an_array_go_out_as_they_are():
    buffer = ArrayBuffer(6)
    buffer.data[:] = np.arange(6) / 7.0
    assert list(deserialize_message(bytes(buffer), Float64MultiArray).data) == (np.arange(6) / 7.0).tolist()


@pytest.mark.parametrize('size', [1, 6, 7])
def test_a_command_names_the_state_that_it_answers_beside_its_numbers(size):
    buffer = ArrayBuffer(size)
    buffer.data[:] = 0.1
    assert answered_stamp(deserialize_message(bytes(buffer), Float64MultiArray)) == 0
    for stamp in (STAMP, 2**31 * 1_000_000_000 - 1, 0):
        buffer.answer(stamp)
        message = deserialize_message(bytes(buffer), Float64MultiArray)
        assert answered_stamp(message) == stamp
        assert list(message.data) == [0.1] * size and message.layout.data_offset == 0
    assert answered_stamp(Float64MultiArray(data=[0.1] * size)) == 0


def test_a_position_whose_sine_means_nothing_is_rejected_by_name():
    states, right, wrong = StateInput(NAMES), message(), message()
    right.position[1] = np.nextafter(LARGEST_ANGLE, 0.0)
    right.velocity[1] = wrong.position[1] = -LARGEST_ANGLE
    states.read(serialize_message(right))
    assert states.has_velocity
    with pytest.raises(
        DynamicsError, match=r"^joint 'a': position -1.09951e\+12 is not below 1.09951e\+12 in magnitude$"
    ):
        states.read(serialize_message(wrong))


def big_endian(names, values) -> bytes:
    """Serialise a JointState with positions alone as a machine does that writes the other end first."""
    data = bytearray(b'\0\0\0\0' + struct.pack('>iI', *divmod(STAMP, 1_000_000_000)))
    for text in ('', *names):
        data += struct.pack('>I', len(text) + 1) + text.encode() + b'\0'
        data += bytes(-len(data) % 4)
        if text == '':
            data += struct.pack('>I', len(names))
    data += struct.pack('>I', len(values))
    data += bytes((4 - len(data)) % 8) + struct.pack(f'>{len(values)}d', *values)
    return bytes(data + bytes(8))


@pytest.mark.parametrize('position', [[1.0, 2.0], [0.0, 0.0]])
def test_what_another_kind_of_machine_sends_is_refused_before_its_lengths_are_believed(position):
    """Read from the wrong end, a length of 1 is one of sixteen million."""
    data = big_endian(['a', 'bc'], position)
    assert list(deserialize_message(data, JointState).position) == position
    with pytest.raises(DynamicsError, match=r'^not a JointState: expected encoding 0001 .*, got 0000$'):
        StateInput(['a', 'bc']).read(data)


@pytest.mark.parametrize('size', [*range(0, 60, 7), 100, 150, 200])
def test_a_torn_message_is_refused_and_the_next_good_one_read(size):
    state = StateInput(NAMES)
    data = serialize_message(message())
    assert state.read(data) == STAMP
    with pytest.raises(DynamicsError):
        state.read(data[:size])
    assert state.read(data) == STAMP
    assert state.q.tolist() == list(message().position) and state.has_velocity


def test_a_message_whose_last_number_would_be_padding_is_read_as_rclpy_reads_it():
    """rclpy of Kilted refuses it, that of Jazzy ignores how much padding the header states."""
    state, data = StateInput(NAMES), serialize_message(message())
    torn = data[:3] + b'\2' + data[4:]
    assert state.read(data) == STAMP
    try:
        expected = deserialize_message(torn, JointState)
    except RuntimeError:
        with pytest.raises(DynamicsError, match='not a JointState'):
            state.read(torn)
    else:
        assert state.read(torn) == STAMP and state.q.tolist() == list(expected.position)
    assert state.read(data) == STAMP


def test_too_few_bytes_are_not_passed_to_rclpy():
    """The encoding tells of more padding than there are bytes: rclpy would read on in foreign memory."""
    assert len(serialize_message(JointState())) > SHORTEST
    for data in (b'\0\1\0\3', b'\0\1\0\2\0\0\0', b'\0\1\0\1' + bytes(SHORTEST - 5)):
        with pytest.raises(DynamicsError, match=f'not a JointState: expected at least .* bytes, got {len(data)}'):
            JointStateInput(NAMES, 'position').receive(data)


@pytest.mark.parametrize('nanosec', [1_000_000_000, 2**32 - 1])
def test_a_stamp_that_is_no_time_is_refused(nanosec):
    sent = message()
    state = StateInput(NAMES)
    assert state.read(serialize_message(sent)) == STAMP
    sent.header.stamp.nanosec = nanosec
    with pytest.raises(DynamicsError, match=f'{nanosec} ns'):
        state.read(serialize_message(sent))


def test_what_a_state_lacks_is_named():
    state = StateInput(['a', 'shoulder'])
    with pytest.raises(DynamicsError, match=r'^5 joints have 0 positions$'):
        state.read(serialize_message(message(fields=('velocity',))))
    wrong = message()
    wrong.position[2] = np.nan  # of a joint that is not asked for
    assert state.read(serialize_message(wrong)) == STAMP
    wrong.position[0] = np.inf
    with pytest.raises(DynamicsError, match=r"^joint 'shoulder': position is not finite$"):
        state.read(serialize_message(wrong))
    assert state.read(serialize_message(message())) == STAMP


def test_velocities_are_complete_or_missing():
    state, gap, known = StateInput(['a', 'shoulder']), message(), message(1)
    assert not state.has_velocity
    gap.velocity[0] = np.nan
    for sent in (gap, known, message(2, fields=('position',)), known):
        state.read(serialize_message(sent))
        assert state.q.tolist() == [sent.position[1], sent.position[0]]
        assert state.has_velocity == (sent is known)
        assert np.array_equal(state.qd, [known.velocity[1], known.velocity[0]] if sent is known else [np.nan] * 2, True)


def test_times_are_counted_in_nanoseconds():
    stamp = Time()
    set_nanoseconds(stamp, STAMP)
    assert (stamp.sec, stamp.nanosec) == (1_795_000_000, 123_456_789)
    assert nanoseconds(stamp) == STAMP


def test_an_unknown_layout_is_learned_and_wrong_names_are_named():
    state = StateInput(['a', 'shoulder'])
    assert state.read(serialize_message(message())) == STAMP
    assert state.q.tolist() == [message().position[1], message().position[0]]
    with pytest.raises(DynamicsError, match="'shoulder' is missing"):
        state.read(serialize_message(message(names=NAMES[1:])))
    with pytest.raises(DynamicsError, match="'a' is given twice"):
        state.read(serialize_message(message(names=['shoulder', 'a', 'a'])))
    assert state.read(serialize_message(message(5, frame='new'))) == STAMP
    assert state.q.tolist() == [message(5).position[1], message(5).position[0]]
    state.read(serialize_message(message(6, fields=('position',))))
    assert not state.has_velocity and np.isnan(state.qd).all()
