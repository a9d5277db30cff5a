"""Numba's compiled functions on disk: files that are written atomically and verified before use."""

import hashlib
import pickle
from contextlib import suppress
from pathlib import Path

import numba
from numba.core.serialize import dumps

from robot_dynamics_ros.jit.cache import FOLDER, sealed_content, write_sealed
from robot_dynamics_ros.jit.compile_lock import CompileLock


class CompiledFiles:
    """Compiled versions of one function, one file each; replaces Numba's ``IndexDataCacheFile``.

    Numba executes any file that it finds. Here a file with a wrong digest or of another user is ignored and the
    function is compiled. Files are written atomically, so that several processes may write them.
    """

    lock = CompileLock(FOLDER / 'compiling')

    def __init__(self, path: Path, source_stamp):
        """Use files named after ``path``, valid for sources with this stamp."""
        self._path, self._stamp = path, source_stamp

    def load(self, key):
        """Return the version saved for ``key``. If None, this process has to compile it while others wait."""
        path = self._file(key)
        found = self._read(path)
        if found is None:
            self.lock.acquire(path.name)
            found = self._read(path)
            if found is not None:
                self.lock.release(path.name)
        return found

    def _read(self, path: Path):
        """Return the compiled version of a file, or None."""
        data = sealed_content(path)
        return None if data is None else pickle.loads(data)

    def save(self, key, data) -> None:
        """Save ``data`` for ``key``; errors of the disk are ignored."""
        path = self._file(key)
        with suppress(OSError):
            write_sealed(path, dumps(data))
        self.lock.release(path.name)

    def _file(self, key) -> Path:
        """Return the file of a compiled version; its name has a digest of types, processor and source."""
        name = hashlib.sha256(repr((numba.__version__, self._stamp, key)).encode()).hexdigest()[:16]
        return self._path.with_name(f'{self._path.name}.{name}')
