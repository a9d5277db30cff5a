"""Message frames of an AUBO controller: ``SOF``, a byte for the size of the length field, the length, the payload.

Byte 0: two bytes of length, as in the stream. Byte 1: four bytes, as in JSON-RPC. The manufacturer's client reads both
on the stream, each with CBOR or JSON as payload.
"""

import json

from robot_dynamics_ros.aubo import cbor
from robot_dynamics_ros.errors import ArgumentError

START = b'SOF'
LENGTHS = {0: 2, 1: 4}
LONGEST = 1 << 20
"""Bytes of a payload; a longer length is taken for a wrong one."""


def frame(payload: bytes, kind: int = 0) -> bytes:
    """Return ``payload`` in a frame whose length has the size that ``kind`` says."""
    return START + bytes([kind]) + len(payload).to_bytes(LENGTHS[kind], 'big') + payload


def value_of(payload: bytes):
    """Return the value of a payload, CBOR or JSON; ArgumentError for neither."""
    if payload[:1] not in (b'[', b'{'):  # in CBOR these begin bytes and texts of more than 4 GB
        return cbor.decode(payload)
    try:
        return json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f'not JSON: {error}') from None


def shown(value) -> str:
    """Return a value of a controller for logs and diagnostics: at most 60 printable characters."""
    return ''.join(part if part.isprintable() else '?' for part in str(value)[:60])


class FrameReader:
    """Splits a stream of bytes into payloads; bytes between frames are counted in ``skipped`` and dropped."""

    def __init__(self):
        """Begin between two frames."""
        self.skipped = 0
        self._data = bytearray()

    @property
    def pending(self) -> int:
        """Number of bytes of a frame that has not ended."""
        return len(self._data)

    def feed(self, data: bytes) -> list[bytes]:
        """Return the payloads that ``data`` completes."""
        self._data += data
        found = []
        while (payload := self._next()) is not None:
            found.append(payload)
        return found

    def _next(self) -> bytes | None:
        """Return the next payload, None while it is not complete."""
        while True:
            begin = self._data.find(START)
            if begin < 0:
                self._skip(max(len(self._data) - len(START) + 1, 0))  # the last bytes may begin a frame
                return None
            self._skip(begin)
            if len(self._data) < 4:
                return None
            size = LENGTHS.get(self._data[3])
            if size is None:
                self._skip(len(START))
                continue
            if len(self._data) < 4 + size:
                return None
            length = int.from_bytes(self._data[4 : 4 + size], 'big')
            if length > LONGEST:
                self._skip(len(START))
                continue
            end = 4 + size + length
            if len(self._data) < end:
                return None
            payload = bytes(self._data[4 + size : end])
            del self._data[:end]
            return payload

    def _skip(self, count: int) -> None:
        self.skipped += count
        del self._data[:count]
