"""Connections to a controller: a name or an address that cannot be used is an error of the controller's."""

import socket

from robot_dynamics_ros.errors import ControllerError


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
