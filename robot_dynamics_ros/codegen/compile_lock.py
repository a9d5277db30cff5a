"""A lock that prevents several processes from compiling the same code."""

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

TIMEOUT = 60.0
"""s after which a process compiles the code itself."""
PERIOD = 0.02
"""s between two attempts to lock."""


@contextmanager
def compile_lock(path: Path, name: str) -> Iterator[None]:
    """Hold the lock of ``name``, which all processes share; a waiting process then loads the code from the cache.

    Otherwise ten nodes that start together would compile the same kernels ten times. Each lock is on one byte of the
    file ``path``. It is released when the file is closed, or by the operating system when the process ends. A process
    holds one lock at a time, and does not wait where files cannot be locked.
    """
    byte = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], 'little')
    deadline = time.monotonic() + TIMEOUT
    with ExitStack() as opened:
        with suppress(OSError):
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            opened.callback(os.close, file)
            while time.monotonic() < deadline:
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
                    break
                except BlockingIOError:
                    time.sleep(PERIOD)
        yield
