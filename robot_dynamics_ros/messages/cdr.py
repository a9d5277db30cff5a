"""Messages as they are on the wire: numbers go in and out of the bytes, no message object is made between.

CDR, the serialisation of DDS (OMG DDS-XTypes 1.3, section 7.4.3; version 1), aligns every number to its size, counted
from the end of the four bytes that tell the encoding. As long as names, frame and lengths stay the same, so do the
places of all numbers; what a new layout means is rclpy's to say, and its reading is compared with ours.
"""

import struct

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.decorators import bound, entry

SECOND = 1_000_000_000
ENCODING = 4
"""Bytes before the first field: they tell byte order, version and how many bytes at the end are padding."""
LITTLE_ENDIAN = b'\0\1'
STAMP, FRAME = 4, 12
"""Where a header's stamp and its frame_id begin."""
TIME = struct.Struct('<iI')
FIELDS = ('position', 'velocity', 'effort')
SHORTEST = 32
"""Bytes of a JointState without names and numbers; of a few bytes rclpy reads what lies behind them in memory."""
OTHER_LAYOUT = -1


@entry
def _take(memory, fixed, numbers, first, places, out, data):
    """Write memory (uint8) = data (bytes) and, for each field f, out[f] (n) = numbers[first[f] + places].

    Return a number whose bit f says that the field is there and finite; a field with first[f] < 0 is not there, and NaN
    is written for it. Return OTHER_LAYOUT, and write nothing, where ``data`` differs from ``memory`` in length or at a
    fixed place.
    """
    if len(data) != memory.shape[0]:
        return OTHER_LAYOUT
    for place in fixed:
        if data[place] != memory[place]:
            return OTHER_LAYOUT
    for place in range(memory.shape[0]):
        memory[place] = data[place]
    found = 0
    for f in range(first.shape[0]):
        rest = 0.0
        for k in range(places.shape[0]):
            out[f, k] = numbers[first[f] + places[k]] if first[f] >= 0 else np.nan
            rest += out[f, k] - out[f, k]
        found += (rest == 0.0) << f
    return found


class JointStateBuffer:
    """A serialised JointState, its numbers seen as arrays: ``position``, ``velocity`` and ``effort``, (0 or n,) each.

    The arrays stay while messages of the same layout come and go. ``message`` is the first one, as rclpy reads it.
    """

    def __init__(self, data: bytes):
        """Lay out a serialised message; ValueError where it is not the CDR that is known here."""
        if len(data) < SHORTEST:
            raise ValueError(f'{len(data)} bytes are too few')
        if data[:2] != LITTLE_ENDIAN:
            # lengths read from the wrong end are as large as memory
            raise ValueError(f'encoding {data[:2].hex()} is not known here')
        self.message = deserialize_message(data, JointState)
        self._memory = _memory(data)
        self._bytes = self._memory.data
        self._numbers = self._memory[ENCODING : len(data) - (len(data) - ENCODING) % 8].view(np.float64)
        texts, place = _texts(data)
        fixed = [*range(ENCODING), *texts]
        self._first: dict[str, int] = {}
        for field in FIELDS:
            values = getattr(self.message, field)
            fixed += range(place, place + 4)
            first = _aligned(place + 4, 8) if len(values) else place + 4
            place = first + 8 * len(values)
            array = self._memory[first:place].view(np.float64)
            if array.tobytes() != np.asarray(values).tobytes():
                raise ValueError('not the serialisation that is known here')
            setattr(self, field, array)
            self._first[field] = (first - ENCODING) // 8 if len(values) == len(self.message.name) else -1
        # what is neither stamp nor number nor padding is the same in all messages of this layout
        self._fixed = np.array(fixed)

    def reader(self, fields, places, out):
        """Return a function that takes the bytes of a message into this buffer and ``fields`` of it into ``out``.

        ``out`` (fields, n) gets the numbers at ``places`` (n) of each field. The function returns OTHER_LAYOUT where a
        message has another layout, else a number whose bit f says that field f is there and finite.
        """
        first = np.array([self._first[field] for field in fields])
        return bound(_take, self._memory, self._fixed, self._numbers, first, places, out, then=(b'',))

    def stamped(self, value: int) -> bytes:
        """Return the message as it is sent, with ``value`` (ns) as the header's stamp."""
        TIME.pack_into(self._bytes, STAMP, *divmod(value, SECOND))
        return bytes(self._bytes)

    @classmethod
    def of(cls, message: JointState) -> 'JointStateBuffer':
        """Return the buffer of a message that is yet to be sent."""
        return cls(serialize_message(message))


def stamp_of(data: bytes) -> int:
    """Return the header's stamp of a message, ns; ArgumentError where it is no time."""
    seconds, nanoseconds = TIME.unpack_from(data, STAMP)
    if nanoseconds >= SECOND:
        raise ArgumentError(f'the stamp has {nanoseconds} ns beside its seconds, which is a second or more')
    return seconds * SECOND + nanoseconds


class ArrayBuffer:
    """A serialised Float64MultiArray without dimensions, its numbers seen as the array ``data`` (n,)."""

    def __init__(self, size: int):
        """Make room for ``size`` numbers; ValueError where serialisation is not what is known here."""
        memory = _memory(serialize_message(Float64MultiArray(data=[0.0] * size)))
        self._bytes = memory.data
        self.data = memory[len(memory) - 8 * size :].view(np.float64)
        self.data[:] = np.arange(1.0, size + 1.0)
        if list(deserialize_message(bytes(self), Float64MultiArray).data) != self.data.tolist():
            raise ValueError('Float64MultiArray: not the serialisation that is known here')

    def __bytes__(self):
        """Return the message as it is sent."""
        return bytes(self._bytes)


def _memory(data: bytes) -> np.ndarray:
    """Return a copy of a message (bytes), placed so that its numbers are aligned in memory too."""
    memory = np.zeros(len(data) + ENCODING, np.uint8)[ENCODING:]
    memory[:] = np.frombuffer(data, np.uint8)
    return memory


def _texts(data: bytes) -> tuple[list[int], int]:
    """Return the places of frame_id, names and their lengths in a JointState, and that of the positions' length."""
    places: list[int] = []

    def number(place: int) -> int:
        places.extend(range(place, place + 4))
        return struct.unpack_from('<I', data, place)[0]

    def after_text(place: int) -> int:
        end = place + 4 + number(place)
        places.extend(range(place + 4, end))
        return _aligned(end, 4)

    place = after_text(FRAME)
    names = number(place)
    place += 4
    for _ in range(names):
        place = after_text(place)
    return places, place


def _aligned(place: int, size: int) -> int:
    """Return the first place at or after ``place`` where a number of ``size`` bytes may stand."""
    return place + (ENCODING - place) % size
