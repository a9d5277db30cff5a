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

from robot_dynamics_ros.dynamics.jit import entry

SECOND = 1_000_000_000
ENCODING = 4
"""Bytes before the first field: they tell byte order and version."""
LITTLE_ENDIAN = b'\0\1'
STAMP, FRAME = 4, 12
"""Where a header's stamp and its frame_id begin."""


@entry
def _take(data, memory, fixed):
    """Write memory (uint8) = data (bytes), return True; False and nothing written where a ``fixed`` place differs."""
    for place in fixed:
        if data[place] != memory[place]:
            return False
    for place in range(len(data)):
        memory[place] = data[place]
    return True


class JointStateBuffer:
    """A serialised JointState, its numbers seen as arrays: ``position``, ``velocity`` and ``effort``, (0 or n,) each.

    The arrays stay while messages of the same layout come and go. ``message`` is the first one, as rclpy reads it.
    """

    def __init__(self, data: bytes):
        """Lay out a serialised message; ValueError where it is not the CDR that is known here."""
        self.message = deserialize_message(data, JointState)
        self._memory = _memory(data)
        self._seconds = self._memory[STAMP : STAMP + 4].view(np.int32)
        self._nanoseconds = self._memory[STAMP + 4 : FRAME].view(np.uint32)
        texts, place = _texts(data)
        fixed = [*range(2), *texts]
        arrays = []
        lists = (self.message.position, self.message.velocity, self.message.effort)
        for values in lists:
            fixed += range(place, place + 4)
            first = _aligned(place + 4, 8) if len(values) else place + 4
            place = first + 8 * len(values)
            arrays.append(self._memory[first:place].view(np.float64))
        self.position, self.velocity, self.effort = arrays
        same = [array.tobytes() == np.asarray(values).tobytes() for array, values in zip(arrays, lists, strict=True)]
        if data[:2] != LITTLE_ENDIAN or not all(same):
            raise ValueError('not the serialisation that is known here')
        # what is neither stamp nor number nor padding is the same in all messages of this layout
        self._fixed = np.array(fixed)
        self.take(data)

    def take(self, data: bytes) -> bool:
        """Take the numbers of another message; False, and nothing taken, where its layout is another."""
        return len(data) == len(self._memory) and _take(data, self._memory, self._fixed)

    @property
    def stamp(self) -> int:
        """The header's stamp, ns."""
        return int(self._seconds[0]) * SECOND + int(self._nanoseconds[0])

    @stamp.setter
    def stamp(self, value: int) -> None:
        self._seconds[0], self._nanoseconds[0] = divmod(value, SECOND)

    def __bytes__(self):
        """Return the message as it is sent."""
        return self._memory.tobytes()

    @classmethod
    def of(cls, message: JointState) -> 'JointStateBuffer':
        """Return the buffer of a message that is yet to be sent."""
        return cls(serialize_message(message))


class ArrayBuffer:
    """A serialised Float64MultiArray without dimensions, its numbers seen as the array ``data`` (n,)."""

    def __init__(self, size: int):
        """Make room for ``size`` numbers; ValueError where serialisation is not what is known here."""
        self._memory = _memory(serialize_message(Float64MultiArray(data=[0.0] * size)))
        self.data = self._memory[len(self._memory) - 8 * size :].view(np.float64)
        self.data[:] = np.arange(1.0, size + 1.0)
        if list(deserialize_message(bytes(self), Float64MultiArray).data) != self.data.tolist():
            raise ValueError('Float64MultiArray: not the serialisation that is known here')

    def __bytes__(self):
        """Return the message as it is sent."""
        return self._memory.tobytes()


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
