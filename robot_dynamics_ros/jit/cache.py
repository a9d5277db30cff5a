"""Where compiled code is kept: a folder of the user alone, files that appear whole and are checked before use.

Numba's own cache does not notice an edit in a helper of another file. The cache folder is therefore named after a
digest of all sources: an edit anywhere means a new folder. Cached code is executed, so the folder belongs to
the user alone; where no such folder can be had, a private temporary one serves this process.
"""

import atexit
import hashlib
import os
import pickle
import shutil
import stat
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path

import numba
from numba.core.serialize import dumps

from robot_dynamics_ros.jit.compile_lock import CompileLock


def source_digest() -> str:
    """Return the digest (16 hex digits) of every source file of the package, names included."""
    package, digest = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(package.glob('*/*.py')):
        digest.update(path.relative_to(package).as_posix().encode() + b'\0' + path.read_bytes() + b'\0')
    return digest.hexdigest()[:16]


def private_folder(path: Path) -> Path:
    """Return ``path`` as a folder that only this user can write or replace; a temporary one where that can't be had."""
    try:
        for folder in (*reversed(path.parents), path):  # with parents=True the mask alone would decide on those above
            folder.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
        private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
        if private and os.access(path, os.W_OK) and not _replaceable(path):
            return path
    except OSError:
        pass  # a read-only or missing home is no reason to fail
    folder = Path(tempfile.mkdtemp(prefix='robot_dynamics_ros-'))
    warnings.warn(
        f'{path} is not a folder of mode 0700 of yours, or others may write above it: compiled code is kept for this '
        'process only',
        stacklevel=2,
    )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _replaceable(path: Path) -> bool:
    """Return whether everybody could put another folder in the place of ``path`` or of one above it."""
    above = {*path.absolute().parents, *path.resolve().parents}  # where a link stands, and where it leads
    return any(folder.stat().st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH for folder in above)


def own_content(path: Path) -> bytes | None:
    """Return what a file holds; None where there is none, or where somebody else owns it, wrote it or linked it."""
    try:
        with open(path, 'rb', opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            found = os.fstat(file.fileno())
            ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
            return file.read() if ours else None
    except OSError:
        return None


def write_at_once(path: Path, content: bytes, lasting: bool = False) -> None:
    """Write a file so that whoever reads it meanwhile finds the old or the new one; OSError, and nothing left, if not.

    A ``lasting`` one is on the disk before it takes the place of the old: a crash of the machine loses neither.
    """
    written = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            written = Path(file.name)
            file.write(content)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        written.replace(path)
    except OSError:
        if written:
            with suppress(OSError):
                written.unlink()
        raise


def sealed_content(path: Path) -> bytes | None:
    """Return what ``write_sealed`` wrote; None where the file is missing, incomplete, changed or not this user's."""
    seal, _, content = (own_content(path) or b'').partition(b'\n')
    return content if seal == _seal(content) else None


def write_sealed(path: Path, content: bytes) -> None:
    """Write ``content`` after a line with its digest; OSError where that fails."""
    write_at_once(path, _seal(content) + b'\n' + content)


def _seal(content: bytes) -> bytes:
    """Return the first line of a file in the cache, a comment in Python."""
    return b'# sha256 ' + hashlib.sha256(content).hexdigest().encode()


def cache_root() -> Path:
    """Return the user's cache folder of this package (``XDG_CACHE_HOME`` if it is absolute, or ``~/.cache``)."""
    home = Path(os.environ.get('XDG_CACHE_HOME', ''))
    return (home if home.is_absolute() else Path(os.path.expanduser('~'), '.cache')) / 'robot_dynamics_ros'


FOLDER = private_folder(private_folder(cache_root()) / source_digest())
"""Where this process keeps compiled code."""


class CompiledFiles:
    """Compiled versions of one function, a file each, in the place of Numba's own files.

    Numba runs whatever it finds. Here files are sealed: where one is incomplete or not this user's, the function is
    compiled anew. Files appear whole or not at all, however many processes write them.
    """

    lock = CompileLock(FOLDER / 'compiling')

    def __init__(self, path: Path, source_stamp):
        """Keep files beside ``path``; they hold for sources with this stamp."""
        self._path, self._stamp = path, source_stamp

    def load(self, key):
        """Return what was saved under ``key``; on None this process must compile it, and others wait for that."""
        path = self._file(key)
        found = self._read(path)
        if found is None:
            self.lock.acquire(path.name)
            found = self._read(path)
            if found is not None:
                self.lock.release(path.name)
        return found

    def _read(self, path: Path):
        """Return the compiled version that a file holds, or None."""
        data = sealed_content(path)
        return None if data is None else pickle.loads(data)

    def save(self, key, data) -> None:
        """Keep ``data`` under ``key``; a full or read-only disk costs only the keeping."""
        path = self._file(key)
        with suppress(OSError):
            write_sealed(path, dumps(data))
        self.lock.release(path.name)

    def _file(self, key) -> Path:
        """Return the file of a compiled version: types, processor and source are in its name."""
        name = hashlib.sha256(repr((numba.__version__, self._stamp, key)).encode()).hexdigest()[:16]
        return self._path.with_name(f'{self._path.name}.{name}')
