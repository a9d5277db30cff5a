"""Cache of compiled code: a private folder with files that are written atomically and verified before use.

The folder is named after a digest of the sources that compiled code is made from. Cached code is executed, so only the
user may have access to the folder. If that is not possible, a private temporary folder is used for this process.
"""

import atexit
import hashlib
import os
import stat
import warnings
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from robot_dynamics_ros.jit.sources import PACKAGE

SOURCES = ('algorithms/*.py', 'codegen/*.py', 'jit/*.py', 'kernels/**/*.py', 'model/arrays.py', 'model/joint_types.py')
"""What machine code is made from, beside a robot's numbers and the functions of ``codegen.bound_function``."""


def source_digest() -> str:
    """Return the digest (16 hex digits) of the files of ``SOURCES``, names included."""
    return files_digest(path for pattern in SOURCES for path in PACKAGE.glob(pattern))


def files_digest(paths: Iterable[Path]) -> str:
    """Return the digest (16 hex digits) of files, names included."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        name = path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else path.name
        digest.update(name.encode() + b'\0' + path.read_bytes() + b'\0')
    return digest.hexdigest()[:16]


TEMPORARY = '.robot_dynamics_ros-tmp'
"""Ends the names of temporary files."""


def private_folder(path: Path) -> Path:
    """Return ``path`` as a folder that only this user can write or replace, or else a temporary folder.

    A folder that cannot be written is used for what is there, as in a container whose files are read-only.
    """
    try:
        for folder in (*reversed(path.parents), path):  # parents=True would not apply the mode to the parents
            folder.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
        private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
        if private and not _replaceable(path) and (os.access(path, os.W_OK) or any(path.iterdir())):
            return path
    except OSError:
        pass  # a home that is missing, or read-only without this folder: use a temporary one
    # imported in 3 ms, which a process that finds its code does without
    import shutil  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    folder = Path(tempfile.mkdtemp(prefix='robot_dynamics_ros-'))
    warnings.warn(
        f'{path}: expected a folder of this user with mode 0700 below folders that others cannot write; '
        'compiled code is kept for this process only',
        stacklevel=2,
    )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _replaceable(path: Path) -> bool:
    """Return whether other users can replace ``path`` or one of its parents."""
    above = {*path.absolute().parents, *path.resolve().parents}  # of a symbolic link and of its target
    return any(folder.stat().st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH for folder in above)


def own_content(path: Path) -> bytes | None:
    """Return the content of a regular file that only this user can write; None otherwise."""
    try:
        with open(path, 'rb', opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            found = os.fstat(file.fileno())
            ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
            return file.read() if ours else None
    except OSError:
        return None


def write_at_once(path: Path, content: bytes, lasting: bool = False) -> None:
    """Write a file atomically: readers find the old or the new content. On OSError no temporary file remains.

    ``lasting`` flushes the file to the disk before it replaces the old one, so that a crash loses neither.
    """
    import tempfile  # noqa: PLC0415

    number, name = tempfile.mkstemp(TEMPORARY, f'{_temporary_prefix(path)}{os.getpid()}.', path.parent)
    try:
        with open(number, 'wb') as file:
            file.write(content)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        os.replace(name, path)
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        raise


def remove_abandoned(path: Path) -> None:
    """Remove the temporary files that processes of this user which were killed in ``write_at_once(path, ...)`` left.

    A file of a process that runs, of another user, or of another name stays.
    """
    prefix = _temporary_prefix(path)
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            process = entry.name.removeprefix(prefix).split('.')[0]
            ours = entry.name.startswith(prefix) and entry.name.endswith(TEMPORARY) and process.isdecimal()
            if ours and entry.is_file(follow_symlinks=False) and not _runs(int(process)):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == os.getuid():
                        os.unlink(entry.path)


def _temporary_prefix(path: Path) -> str:
    """Return how the temporary files of ``path`` begin; their process follows."""
    return f'.{path.name[:100]}.'


def _runs(process: int) -> bool:
    """Return whether another process with this number runs."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return process != os.getpid()


def sealed_content(path: Path) -> bytes | None:
    """Return what ``write_sealed`` wrote to this path; None for a missing, torn, changed, moved or foreign file."""
    seal, _, content = (own_content(path) or b'').partition(b'\n')
    return content if seal == _seal(path, content) else None


def write_sealed(path: Path, content: bytes) -> None:
    """Write ``content`` after a line with its digest. Raises OSError."""
    write_at_once(path, _seal(path, content) + b'\n' + content)


def _seal(path: Path, content: bytes) -> bytes:
    """Return the first line of a cached file, a comment with the digest of its name, its folder's and its content."""
    return b'# sha256 ' + hashlib.sha256(f'{path.parent.name}/{path.name}\n'.encode() + content).hexdigest().encode()


def cache_root() -> Path:
    """Return the user's cache folder of this package (``XDG_CACHE_HOME`` if it is absolute, or ``~/.cache``)."""
    home = Path(os.environ.get('XDG_CACHE_HOME', ''))
    return (home if home.is_absolute() else Path(os.path.expanduser('~'), '.cache')) / 'robot_dynamics_ros'


@cache
def code_folder() -> Path:
    """Return the folder of this process for compiled code, made where it does not exist yet."""
    return private_folder(private_folder(cache_root()) / source_digest())
