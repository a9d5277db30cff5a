"""Processes that tests have started: which still run, which have lost a port, how much processor time they used.

Each inherits a mark in its environment, children of children included.
"""

import os
import time
from pathlib import Path

from robot_dynamics_ros.nodes.process.transport_watch import lost_ports

MARK = f'ROBOT_DYNAMICS_TEST={os.getpid()}'
os.environ.update([MARK.split('=')])


def marked_processes() -> list[int]:
    """Return the ids of processes that were started by these tests, at whatever depth, and have not ended."""
    found = []
    for folder in Path('/proc').glob('[0-9]*'):
        try:
            if MARK.encode() in (folder / 'environ').read_bytes().split(b'\0') and int(folder.name) != os.getpid():
                found.append(int(folder.name))
        except OSError:  # ended meanwhile, or somebody else's
            continue
    return found


def still_running(seconds: float = 30.0) -> list[str]:
    """Return the commands of marked processes that have not ended by then: one that was told to takes a moment."""
    deadline = time.monotonic() + seconds
    while (left := marked_processes()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return [f'{process}: {_command(process)}' for process in left]


def _command(process: int) -> str:
    try:
        return Path(f'/proc/{process}/cmdline').read_text().replace('\0', ' ').strip()
    except OSError:
        return 'ended meanwhile'


def processes_without_transport() -> dict[int, list[str]]:
    """Return the ports that this process and those of the tests have lost, by process: they receive nothing."""
    found = {process: lost_ports(process) for process in (os.getpid(), *marked_processes())}
    return {process: ports for process, ports in found.items() if ports}


def cpu_time(process: int) -> float:
    """Return the processor time that a process has used, s; also of one that has ended and is not waited for yet."""
    fields = Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
