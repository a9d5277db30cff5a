"""Detects that this process has lost a shared-memory port of Fast DDS and receives nothing through it.

While Fast DDS opens a port it locks a mutex that every other process gives up waiting for after 2 s. A process that
pauses longer at that moment, which a busy machine makes it do while it starts, loses its port: another process deletes
the file and makes one of the same name. The first one keeps the lock and a mapping of the deleted file. It is
discovered, by UDP, but messages are written to the new file. Seen in Fast DDS 3.2; eProsima/Fast-DDS, issues 5737
and 6117. Only a new process mends it.
"""

import os
import re
from pathlib import Path

LOCK = re.compile(r'(/.*/fast(?:dds|rtps)_port\d+)_el')
"""The file that the reader of a port keeps locked; processes that write to the port do not open it."""


def lost_ports(process: int | str = 'self') -> list[str]:
    """Return the files of the ports that a process reads, but that are deleted; [] where ``/proc`` does not say."""
    folder = Path('/proc', str(process))
    try:
        own = {found[1] for entry in os.scandir(folder / 'fd') if (found := LOCK.match(_target(entry.path)))}
        mapped = (folder / 'maps').read_text() if own else ''
    except OSError:  # the process has ended, or is another user's
        return []
    return sorted(port for port in own if f' {port} (deleted)\n' in mapped)


def advice(ports: list[str]) -> str:
    """Return the error of a process that has lost ``ports``, and what to do."""
    return (
        f'{", ".join(ports)}: the shared-memory port of this process was deleted by another process while this one '
        'paused at its start; it receives no messages and has to be started again; use UDP on a busy machine, the '
        'default of this package (doc/how_to/busy_machine.md)'
    )


def _target(path: str) -> str:
    """Return what a link of ``/proc`` points to, '' where the file was closed meanwhile."""
    try:
        return os.readlink(path)
    except FileNotFoundError:
        return ''
