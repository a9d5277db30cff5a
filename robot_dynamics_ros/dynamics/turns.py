"""Which process compiles what, where several need the same."""

import fcntl
import hashlib
import os
import time
from contextlib import suppress
from pathlib import Path


class Turns:
    """One process at a time compiles a version; others that need it wait, and find it kept.

    Ten nodes that start at once would compile the same kernels ten times. A lock on a byte of one file is a turn; the
    operating system gives back those of a process that ends.
    """

    PATIENCE = 60.0
    """s after which a process compiles itself what another one has not kept."""
    LOOK = 0.02
    """s between two looks."""

    def __init__(self, path: Path):
        """Keep the locks in the file ``path``."""
        self._path = path
        self._file: int | None = None

    def take(self, name: str) -> None:
        """Return when this process may compile the version of ``name``: at once where no locks can be had."""
        deadline = time.monotonic() + self.PATIENCE
        with suppress(OSError):
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            while time.monotonic() < deadline:
                try:
                    fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(name))
                    return
                except BlockingIOError:
                    time.sleep(self.LOOK)

    def give_back(self, name: str) -> None:
        """Let others go on with the version of ``name``."""
        if self._file is not None:
            with suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(name))


def _place(name: str) -> int:
    """Return the position of the byte to lock for a name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], 'little')
