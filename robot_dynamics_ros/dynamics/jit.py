"""The one decorator of every kernel, and where compiled kernels are kept.

Numba's own cache does not notice an edit in a helper of another file. The cache folder is therefore named after a
digest of all kernel sources: an edit anywhere means a new folder. Cached code is executed, so the folder belongs to
the user alone; where no such folder can be had, a private temporary one serves this process.
"""

import hashlib
import os
import stat
import tempfile
from pathlib import Path

import numba


def source_digest() -> str:
    """Return the digest (16 hex digits) of every kernel source file, names included."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob('*.py')):
        digest.update(path.name.encode() + b'\0' + path.read_bytes() + b'\0')
    return digest.hexdigest()[:16]


def private_folder(path: Path) -> Path:
    """Return ``path`` as a folder that only this user can write; a temporary one where that can't be had."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.lstat()
        private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
        if private and os.access(path, os.W_OK):
            return path
    except OSError:
        pass  # a read-only or missing home is no reason to fail
    return Path(tempfile.mkdtemp(prefix='robot_dynamics_ros-'))


def cache_root() -> Path:
    """Return the user's cache folder of this package (``XDG_CACHE_HOME`` or ``~/.cache``)."""
    home = os.environ.get('XDG_CACHE_HOME') or os.path.join(os.path.expanduser('~'), '.cache')
    return Path(home) / 'robot_dynamics_ros'


_FOLDER = private_folder(cache_root() / source_digest())


def kernel(function):
    """Compile ``function`` on its first call (lazily, for the types it is called with) and keep the result on disk.

    No fast-math, so that every binding of a kernel gives the same bits; no GIL, so that a long batch does not stall
    another thread; NumPy's division (x / 0 is inf), so that no exception is raised inside a kernel.
    """
    # Numba chooses the folder when the function is decorated; other users of Numba in this process keep theirs.
    settings = vars(numba.config)
    before, settings['CACHE_DIR'] = settings['CACHE_DIR'], str(_FOLDER)
    try:
        return numba.njit(cache=True, nogil=True, error_model='numpy')(function)
    finally:
        settings['CACHE_DIR'] = before
