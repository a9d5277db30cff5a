"""An arm for emulated controllers, and a port that accepts connections and says nothing."""

import socket

from support.aubo.aubo_controller import Arm

import pytest


@pytest.fixture(scope='session')
def arm():
    """The motion of an AUBO-i5."""
    return Arm()


@pytest.fixture
def silent_port():
    """A port where a connection is accepted, and nothing else happens."""
    with socket.create_server(('127.0.0.1', 0)) as listener:
        yield listener.getsockname()[1]
