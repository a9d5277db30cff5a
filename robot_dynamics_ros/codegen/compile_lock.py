"""Locks that prevent several processes from compiling the same function."""

import fcntl
import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path


class CompileLock:
    """One lock for each compiled version, shared by all processes; a waiting process then loads it from the cache.

    Otherwise ten nodes that start together would compile the same kernels ten times. Each lock is on one byte of a
    file; the operating system releases the locks of a process that ends.
    """

    TIMEOUT = 60.0
    """s after which a process compiles a version itself."""
    PERIOD = 0.02
    """s between two attempts to acquire a lock."""
    acquired = 0
    """Number of versions that this process did not find on disk."""

    def __init__(self, path: Path):
        """Use the file ``path`` for the locks."""
        self._path = path
        self._file: int | None = None

    def acquire(self, name: str) -> None:
        """Wait until this process may compile the version of ``name``; return at once where files cannot be locked."""
        CompileLock.acquired += 1
        deadline = time.monotonic() + self.TIMEOUT
        with suppress(OSError):
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            while time.monotonic() < deadline:
                try:
                    fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(name))
                    return
                except BlockingIOError:
                    time.sleep(self.PERIOD)

    def release(self, name: str) -> None:
        """Let other processes load or compile the version of ``name``."""
        if self._file is not None:
            with suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(name))


def _place(name: str) -> int:
    """Return the position of the byte to lock for a name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], 'little')
