"""The stream of an AUBO controller (RTDE, port 30010): what it offers, and samples at a rate."""

import json
import random
import socket
import time
from contextlib import suppress

from robot_dynamics_ros.aubo import cbor
from robot_dynamics_ros.aubo.connection import connect, received
from robot_dynamics_ros.aubo.frames import FrameReader, frame, value_of
from robot_dynamics_ros.errors import ControllerError

PORT = 30010
GREETING_ENDS = b'}\n\n'
SUBSCRIBE = 100
"""Channel of requests."""
CHANNEL = 0
"""Channel of the samples."""
LONGEST_GREETING = 1 << 20


class RtdeStream:
    """A connection to the stream. It reads without the manufacturer's library, whose calls hold the interpreter lock.

    The controller speaks first: a JSON object with ``protocol``, ``version``, ``input`` and ``output``, the numbers of
    the quantities by name, and two line feeds. Then each frame is an array ``[channel, value, ...]``. A subscription is
    such an array too, ``[100, {chanel, frequency, segments, to_server, trigger}]``; nothing confirms it.

    Parameters
    ----------
    host : str
        Name or address of the controller.
    timeout : float
        Longest time for connecting and for the first message, s.
    port : int, optional
        Port of the stream.

    Raises
    ------
    ControllerError
        For a connection that fails, and for a first message that is no list of quantities.
    """

    def __init__(self, host: str, timeout: float, port: int = PORT):
        self._where = f'{host}:{port}'
        self._reader = FrameReader()
        self._socket = connect(host, port, timeout)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._ready = self._greeting(timeout)
        except BaseException:
            self._socket.close()
            raise

    def subscribe(self, names: list[str], rate: float) -> None:
        """Ask for samples of ``names``, ``rate`` times a second (Hz)."""
        recipe = {
            'chanel': CHANNEL,
            'frequency': float(rate),
            'segments': names,
            'to_server': False,
            'trigger': random.getrandbits(31),
        }
        try:
            self._socket.sendall(frame(cbor.encode([SUBSCRIBE, recipe])))
        except OSError as error:
            raise ControllerError(f'{self._where} has closed the connection: {error}') from None

    def read(self, timeout: float) -> list[list]:
        """Return the values of each sample that has arrived, in the order of the names; waits for ``timeout`` s.

        Empty where none arrived. ControllerError where the connection has ended; a payload that cannot be read is a
        sample without values.
        """
        if self._ready:
            payloads, self._ready = self._ready, []
        else:
            data = received(self._socket, self._where, timeout)
            if data is None:
                return []
            if not data:
                half = (
                    f' in the middle of a message, after {self._reader.pending} bytes' if self._reader.pending else ''
                )
                raise ControllerError(f'{self._where} has closed the connection{half}')
            payloads = self._reader.feed(data)
        found = map(_values, payloads)
        return [values for values in found if values is not None]

    def stop(self) -> None:
        """Let a ``read`` of another thread return."""
        with suppress(OSError):  # it has ended already
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _greeting(self, timeout: float) -> list[bytes]:
        """Read the first message into ``outputs``; return the payloads that came with it."""
        deadline, data = time.monotonic() + timeout, b''
        while GREETING_ENDS not in data:
            left = deadline - time.monotonic()
            if left <= 0.0 or len(data) > LONGEST_GREETING:
                raise ControllerError(
                    f'{self._where} accepted the connection, but within {timeout:g} s came {len(data)} bytes '
                    'and no list of quantities: is this the stream of an AUBO controller?'
                )
            part = received(self._socket, self._where, left)
            if part is None:
                continue
            if not part:
                raise ControllerError(f'{self._where} has closed the connection before its list of quantities')
            data += part
        end = data.index(GREETING_ENDS) + len(GREETING_ENDS)
        try:
            greeting = json.loads(data[:end])
            self.protocol, self.version = str(greeting['protocol']), greeting['version']
            self.outputs = frozenset(map(str, greeting['output']))
        except Exception as error:  # whatever a program at this address sends
            raise ControllerError(f'{self._where}: its list of quantities cannot be read: {error!r}') from None
        return self._reader.feed(data[end:])


def _values(payload: bytes) -> list | None:
    """Return the values of a message of ``CHANNEL``, none where it cannot be read; None for another channel."""
    try:
        message = value_of(payload)
    except Exception:  # ArgumentError, and whatever else strange bytes may lead to
        return []
    if not isinstance(message, list) or not message:
        return []
    return message[1:] if message[0] == CHANNEL else None
