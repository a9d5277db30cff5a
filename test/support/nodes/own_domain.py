"""A DDS domain that no other test process of this machine uses, and more of them on request."""

import fcntl
import os
import tempfile
from pathlib import Path

DOMAINS = 101
"""Domains whose ports no other program of this machine may be given by chance: 1 to 101."""


def free_domain() -> tuple[int, int]:
    """Return a domain that no test process of this user has yet, and the file whose lock keeps it until closed."""
    folder = Path(tempfile.gettempdir(), f'robot_dynamics_ros-domains-{os.getuid()}')
    folder.mkdir(mode=0o700, exist_ok=True)
    for k in range(DOMAINS):
        domain = (os.getpid() + k) % DOMAINS + 1
        lock = os.open(folder / str(domain), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
        else:
            return domain, lock
    raise RuntimeError(f'all {DOMAINS} domains are in use, see {folder}')


DOMAIN, _LOCK = free_domain()
