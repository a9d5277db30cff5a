"""Connections to a controller: what goes wrong with them is a ControllerError."""

import socket

from robot_dynamics_ros.errors import ControllerError

RECEIVE = 1 << 16
"""Largest number of bytes that are read at once."""


def connect(host: str, port: int, timeout: float) -> socket.socket:
    """Return a connection to ``host`` (name or address), made within ``timeout`` (s).

    ControllerError says why there is none, also where ``host`` can be no name of a host.
    """
    try:
        return socket.create_connection((host, port), timeout)
    except OSError as error:
        raise ControllerError(f'no connection to {host}:{port}: {error}') from None
    except (ValueError, OverflowError) as error:  # UnicodeError of the look-up of names, a zero byte
        raise ControllerError(f'no connection to {host}:{port}: robot_ip is no name or address: {error}') from None


def received(connection: socket.socket, where: str, timeout: float) -> bytes | None:
    """Return what has arrived within ``timeout`` (s): b'' where the peer has closed the connection, None for nothing.

    ControllerError where the connection to ``where`` broke.
    """
    connection.settimeout(timeout)
    try:
        return connection.recv(RECEIVE)
    except TimeoutError:
        return None
    except OSError as error:
        raise ControllerError(f'the connection to {where} broke: {error}') from None
