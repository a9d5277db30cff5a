"""The process of dynamics_server beside that of a bringup's other nodes.

rclpy holds the interpreter while it converts and sends the messages of a service: 0.11 s for a request with a million
states, 0.43 s for the response with their mass matrices (2026-11-28, 6 joints). A process of its own keeps that from
the threads that compute torques. It is started before the other one imports its nodes, because both import much the
same. Then it waits for a word of the other one, which may refuse their command line.
"""

import argparse
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from rclpy.utilities import remove_ros_args

SERVER = 'dynamics_server'
DEFAULT = 'feedforward_node', 'gravity_compensation_node', SERVER
"""The nodes of a bringup whose command line names none."""
BESIDE = '--beside'
"""Begins the command line of the process, before that of the other one."""
WORD = b'run\n'
"""What the process waits for on its standard input, which ends with the other process, however that ends."""
PATIENCE = 10.0
"""s in which the process has to end."""

_started: list[subprocess.Popen] = []


def is_beside() -> bool:
    """Return whether this is the process of the server."""
    return sys.argv[1:2] == [BESIDE]


def is_wanted(nodes: Iterable[str]) -> bool:
    """Return whether the server of a bringup of ``nodes`` has a process of its own."""
    return {SERVER} < set(nodes)


def start_early() -> None:
    """Start the process where the command line of this one wants it."""
    if is_beside():
        return
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument('--nodes', nargs='?')
    nodes = parser.parse_known_args(remove_ros_args(sys.argv)[1:])[0].nodes
    if is_wanted(DEFAULT if nodes is None else nodes.split()):
        _started.append(_start())


def wait() -> None:
    """Wait in the process of the server until it may run; end it where it may not, and once the other one has ended."""
    if sys.stdin.buffer.readline() != WORD:
        sys.exit()
    threading.Thread(target=_end_with_the_other, name='end of bringup', daemon=True).start()


@contextmanager
def running(log: Callable[[str], object]) -> Iterator[None]:
    """Let the server run in its process meanwhile, and ``log`` that it has ended by itself.

    Signals of a terminal do not reach it: it outlasts the last torques of this process.
    """
    process = _started.pop() if _started else _start()
    with suppress(BrokenPipeError):  # it has ended: _watch logs that
        process.stdin.write(WORD)
    ending = threading.Event()
    threading.Thread(target=_watch, args=(process, ending, log), name='server process', daemon=True).start()
    try:
        yield
    finally:
        ending.set()
        process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()


def _start() -> subprocess.Popen:
    """Return the process, started."""
    return subprocess.Popen(
        [sys.executable, '-m', 'robot_dynamics_ros.nodes.executables.bringup', BESIDE, *sys.argv[1:]],
        stdin=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )


def _end_with_the_other() -> None:
    """Wait for the end of the standard input, then end this process as a signal of the other one would."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _watch(process: subprocess.Popen, ending: threading.Event, log: Callable[[str], object]) -> None:
    status = process.wait()
    if not ending.is_set():
        log(
            f'the process of {SERVER} has ended with status {status}: its services are missing, the other nodes go on '
            'with the payload and gravity that they have; start bringup again'
        )
