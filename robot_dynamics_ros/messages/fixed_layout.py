"""Serialised messages of a fixed layout: numbers are written at their offsets, strings and lengths do not change."""

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message

from robot_dynamics_ros.messages.cdr import FRAME, STAMP, memory_of
from robot_dynamics_ros.messages.cdr_numbers import SECOND


class FixedLayout:
    """A serialised message with a header, and views of its numbers."""

    def __init__(self, message):
        """Lay out ``message``: its strings, and the lengths of its arrays, are those of all messages."""
        self._message, self._serialised = message, serialize_message(message)
        self._memory = memory_of(self._serialised)
        self._bytes = self._memory.data
        self._stamp = self._memory[STAMP:FRAME].view(np.int32)

    def view(self, part, field: str, dtype) -> np.ndarray:
        """Return a writable view of a number, (1,), or of an array of numbers, (n,).

        ``part`` is the message, or a message in it, in which ``field`` is 0; ``dtype`` is the field's.
        """
        before, data = getattr(part, field), self._serialised
        is_array = hasattr(before, '__len__')
        size = np.dtype(dtype).itemsize * (len(before) if is_array else 1)
        pattern = b'\1' * size
        numbers = np.frombuffer(pattern, dtype)
        setattr(part, field, numbers.tolist() if is_array else numbers[0].item())
        changed, kind = serialize_message(self._message), type(self._message)
        # padding is not initialised: there bytes may differ, too
        places = (
            place
            for place in range(FRAME, len(data) - size + 1)
            if changed[place : place + size] == pattern
            and deserialize_message(data[:place] + pattern + data[place + size :], kind) == self._message
        )
        place = next(places)
        setattr(part, field, before)
        return self._memory[place : place + size].view(dtype)

    def set_stamp(self, stamp: int) -> None:
        """Set the stamp of the header, ns."""
        self._stamp[0], self._stamp[1] = divmod(stamp, SECOND)

    def __bytes__(self):
        """Return the serialised message."""
        return bytes(self._bytes)
