"""CDR: reads and writes numbers in serialised messages without deserialising them.

CDR, the serialisation of DDS (OMG DDS-XTypes 1.3, section 7.4.3; version 1), aligns every number to its size, relative
to the end of the four-byte encapsulation header. While names, frame_id and lengths do not change, neither do the
offsets of the numbers. rclpy deserialises the first message of each layout, and its numbers are compared with those at
the offsets.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.messages import command_stamp
from robot_dynamics_ros.messages.cdr_numbers import SECOND, read_fields, write_effort, write_stamp

ENCODING = 4
"""Bytes of the encapsulation header: byte order, version and number of padding bytes at the end."""
LITTLE_ENDIAN = b'\0\1'
STAMP, FRAME = 4, 12
"""Offsets of a header's stamp and frame_id."""
COUNT, TIME = struct.Struct('<I'), struct.Struct('<iI')
FIELDS = ('position', 'velocity', 'effort')
SHORTEST = 32
"""Bytes of a JointState without names and numbers; given fewer bytes, rclpy reads memory beyond them."""


class JointStateBuffer:
    """A serialised JointState with views of its numbers: ``position``, ``velocity`` and ``effort``, (0 or n,) each.

    Later messages of the same layout are read into the same arrays. ``message`` is the first one, deserialised.
    """

    def __init__(self, data: bytes):
        """Find the layout of a serialised message; ValueError unless it is little-endian CDR, version 1."""
        if len(data) < SHORTEST:
            raise ValueError(f'expected at least {SHORTEST} bytes, got {len(data)}')
        if data[:2] != LITTLE_ENDIAN:
            # with the other byte order a small length would be a huge one
            raise ValueError(f'expected encoding {LITTLE_ENDIAN.hex()} (little-endian CDR), got {data[:2].hex()}')
        self.message = deserialize_message(data, JointState)
        self._memory = memory_of(data)
        self._bytes = self._memory.data
        self._numbers = self._memory[ENCODING : len(data) - (len(data) - ENCODING) % 8].view(np.float64)
        texts, place = _texts(data)
        fixed = [*range(ENCODING), *texts]
        self._first: dict[str, int] = {}
        for field in FIELDS:
            values = getattr(self.message, field)
            fixed += range(place, place + 4)
            first = aligned(place + 4, 8) if len(values) else place + 4
            place = first + 8 * len(values)
            array = self._memory[first:place].view(np.float64)
            if array.tobytes() != np.asarray(values).tobytes():
                raise ValueError(f'field {field}: its numbers are not at the offsets of CDR version 1')
            setattr(self, field, array)
            self._first[field] = (first - ENCODING) // 8 if len(values) == len(self.message.name) else -1
        # all bytes except stamp, numbers and padding are the same in all messages of this layout
        self._fixed = np.array(fixed)

    def reader(self, fields, places, bounds, out, optional, positions):
        """Return a function of a message's bytes that copies them here and writes ``fields`` to ``out`` (fields, n).

        For each field the numbers at ``places`` (n) are written, and to ``positions`` (m) those positions whose indices
        are ``optional`` (m; -1: none), NaN for none. The function returns OTHER_LAYOUT for a message of another layout,
        else a number with bit f set if field f is present and its numbers are between ``bounds`` (2, fields, n), finite
        for infinite ones.
        """
        first = np.array([self._first[field] for field in fields])
        position, optional = self._first['position'], np.array(optional, np.intp)
        at = np.where((optional >= 0) & (position >= 0), position + optional, -1)
        lower, upper = bounds
        parts = self._memory, self._fixed, self._numbers, first, places, lower, upper, out, at, positions
        return bound(read_fields, *parts, then=(b'',))

    def writer(self):
        """Return a function of ``effort`` (0 or n, N m) and a stamp (ns) that writes both here."""
        words = self._memory[STAMP:FRAME].view(np.int32)
        return bound(write_effort, words, self.effort, then=(self.effort, 0))

    def __bytes__(self):
        """Return the serialised message."""
        return bytes(self._bytes)

    @classmethod
    def of(cls, message: JointState) -> 'JointStateBuffer':
        """Return the buffer of a message to publish."""
        return cls(serialize_message(message))


def stamp_of(data: bytes) -> int:
    """Return the stamp of a serialised message's header, ns.

    ArgumentError if the message is too short for one, or if its nanoseconds exceed a second.
    """
    if len(data) < FRAME:
        raise ArgumentError(f'header.stamp: expected a message of at least {FRAME} bytes, got {len(data)}')
    seconds, nanoseconds = TIME.unpack_from(data, STAMP)
    if nanoseconds >= SECOND:
        raise ArgumentError(f'header.stamp: expected nanosec < 1000000000, got {nanoseconds} ns')
    return seconds * SECOND + nanoseconds


@contextmanager
def reading(kind: str, data: bytes) -> Iterator[None]:
    """Raise ArgumentError for a serialised message of another encoding, and where reading one of this kind fails."""
    if data[:2] != LITTLE_ENDIAN:
        raise ArgumentError(f'not a {kind}: expected little-endian CDR, got {data[:2].hex()}')
    try:
        yield
    except (struct.error, ValueError) as error:
        raise ArgumentError(f'not a {kind}: {error}') from None


def text_at(data: bytes, place: int) -> tuple[str, int]:
    """Return a string at ``place`` of a serialised message, and the place of a number of four bytes after it."""
    (length,) = COUNT.unpack_from(data, place)
    begin, end = place + COUNT.size, place + COUNT.size + length
    if end > len(data):
        raise ValueError(f'a string of {length} bytes at byte {place} of {len(data)}')
    if length and data.find(0, begin, end) != end - 1:
        raise ValueError(f'the string at byte {place} has no zero at its end, or one before')
    return data[begin : max(begin, end - 1)].decode(), aligned(end, 4)


def stamped_numbers(kind: str, data: bytes, layout: struct.Struct) -> tuple[int, str, tuple]:
    """Return stamp (ns), frame_id and numbers of a message of a ``kind``: a header, then numbers of 8 bytes.

    ArgumentError for bytes that are none.
    """
    with reading(kind, data):
        frame, place = text_at(data, FRAME)
        return stamp_of(data), frame, layout.unpack_from(data, aligned(place, 8))


class ArrayBuffer:
    """A serialised Float64MultiArray that names the state that it answers, with a view ``data`` (n,) of its numbers.

    ``answer(stamp)`` writes the stamp (ns) of that state, 0 for none.
    """

    def __init__(self, size: int):
        """Allocate ``size`` numbers; ValueError if rclpy does not serialise them as CDR version 1."""
        memory = memory_of(serialize_message(command_stamp.stamped(size)))
        self._bytes = memory.data
        self.data = memory[len(memory) - 8 * size :].view(np.float64)
        # after the numbers of dimensions and of the label's bytes
        place = aligned(ENCODING + 8 + len(command_stamp.LABEL) + 1, 4)
        self.answer = bound(write_stamp, memory[place : place + 8].view(np.int32), then=(0,))
        expected, stamp = np.arange(1.0, size + 1.0).tolist(), SECOND + 2
        self.data[:] = expected
        self.answer(stamp)
        read = deserialize_message(bytes(self), Float64MultiArray)
        if list(read.data) != expected or command_stamp.answered_stamp(read) != stamp:
            raise ValueError('Float64MultiArray: its numbers are not at the offsets of CDR version 1')
        self.answer(0)

    def __bytes__(self):
        """Return the serialised message."""
        return bytes(self._bytes)


def memory_of(data: bytes) -> np.ndarray:
    """Return a copy of a message (bytes) in which the numbers are aligned in memory."""
    memory = np.zeros(len(data) + ENCODING, np.uint8)[ENCODING:]
    memory[:] = np.frombuffer(data, np.uint8)
    return memory


def _texts(data: bytes) -> tuple[list[int], int]:
    """Return the offsets of frame_id, names and their lengths in a JointState, and that of the number of positions."""
    places: list[int] = []

    def number(place: int) -> int:
        places.extend(range(place, place + 4))
        return COUNT.unpack_from(data, place)[0]

    def after_text(place: int) -> int:
        end = place + 4 + number(place)
        places.extend(range(place + 4, end))
        return aligned(end, 4)

    place = after_text(FRAME)
    names = number(place)
    place += 4
    for _ in range(names):
        place = after_text(place)
    return places, place


def aligned(place: int, size: int) -> int:
    """Return the first offset, at or after ``place``, that is aligned for a number of ``size`` bytes."""
    return place + (ENCODING - place) % size
