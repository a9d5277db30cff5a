"""Where compiled kernels are kept: in a folder that only this user can write, named after the sources."""

import importlib.util
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

from support.robots import random_trees as trees

import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.jit import cache
from robot_dynamics_ros.jit.decorators import numba_is_disabled

PACKAGE = Path(cache.__file__).parents[1]
SOURCES = sorted(path.relative_to(PACKAGE) for pattern in cache.SOURCES for path in PACKAGE.glob(pattern))


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """Keep caches and temporary folders of these tests in ``tmp_path``."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    return tmp_path


def cache_of(folder: Path):
    """Return the module cache.py of a copy of the sources."""
    spec = importlib.util.spec_from_file_location('copied_cache', folder / 'jit' / 'cache.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.PACKAGE = folder
    return module


def test_a_file_that_was_moved_or_copied_to_another_name_is_not_read(tmp_path):
    paths = [tmp_path / name / 'code.o' for name in ('one', 'other')]
    for path in paths:
        path.parent.mkdir()
    cache.write_sealed(paths[0], b'code')
    assert cache.sealed_content(paths[0]) == b'code'
    paths[1].write_bytes(paths[0].read_bytes())
    paths[1].chmod(0o600)
    assert cache.sealed_content(paths[1]) is None


def test_an_edit_of_any_source_names_another_cache(own_cache):
    """Whatever file changes, compiled kernels of before are not found again."""
    copied = own_cache / 'copied'
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns('__pycache__'))
    module = cache_of(copied)
    digests = [module.source_digest()]
    assert digests == [cache.source_digest()]
    for path in SOURCES:
        with open(copied / path, 'a') as file:
            file.write('# one more line\n')
        digests.append(module.source_digest())
        assert digests[-1] not in digests[:-1], path
    # what compiled code is not made from does not count
    (copied / 'tools' / 'demo.py').write_text('')
    assert module.source_digest() == digests[-1]
    assert cache_of(copied).code_folder().name == digests[-1]


def test_a_source_more_or_renamed_names_another_cache(own_cache):
    """The names count, not only what the files hold."""
    copied = own_cache / 'copied'
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns('__pycache__'))
    module = cache_of(copied)
    digests = [module.source_digest()]
    (copied / 'jit' / 'more.py').write_text('')
    digests.append(module.source_digest())
    (copied / 'jit' / 'more.py').rename(copied / 'kernels' / 'more.py')
    digests.append(module.source_digest())
    assert len(set(digests)) == 3


@pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: nothing is compiled')
def test_own_code_is_kept_in_the_private_folder():
    """The folder in use has mode 0700, is ours, and holds what was compiled."""
    Robot(trees.Model.of('tree', trees.BASE, trees.random_joints(7, count=3))).compiled('mass_matrix')
    found = cache.code_folder().lstat()
    assert stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
    assert found.st_uid == os.getuid()
    assert list(cache.code_folder().rglob('mass_matrix.*.o'))


def test_an_import_makes_no_folder(tmp_path):
    code = 'import robot_dynamics_ros, robot_dynamics_ros.robot'
    subprocess.run([sys.executable, '-c', code], env={**os.environ, 'XDG_CACHE_HOME': str(tmp_path)}, check=True)
    assert not list(tmp_path.iterdir())


def test_a_new_cache_folder_is_private(own_cache):
    """Mode 0700 whatever the umask allows, and the same folder the next time."""
    before = os.umask(0)
    try:
        made = cache.private_folder(own_cache / 'some' / 'where')
    finally:
        os.umask(before)
    assert made == own_cache / 'some' / 'where' and stat.S_IMODE(made.stat().st_mode) == 0o700
    assert cache.private_folder(made) == made


def assert_falls_back(wanted: Path, own_cache: Path):
    """Assert that another folder is served: new, private, and in the place for temporary ones."""
    served = cache.private_folder(wanted)
    assert served != wanted and served.parent == own_cache and not list(served.iterdir())
    assert stat.S_IMODE(served.stat().st_mode) == 0o700 and served.stat().st_uid == os.getuid()


@pytest.mark.parametrize('mode', [0o720, 0o702, 0o740, 0o755, 0o777])
def test_a_folder_open_to_others_is_not_used(own_cache, mode):
    """Someone else could have put code there, or could read along."""
    folder = own_cache / 'open'
    folder.mkdir()
    folder.chmod(mode)
    assert_falls_back(folder, own_cache)


def test_a_folder_of_another_user_is_not_used(own_cache, monkeypatch):
    """Private, but not ours (we take another identity: only root could give the folder away)."""
    folder = own_cache / 'foreign'
    folder.mkdir(mode=0o700)
    assert cache.private_folder(folder) == folder
    owner = os.getuid()
    monkeypatch.setattr(os, 'getuid', lambda: owner + 1)
    served = cache.private_folder(folder)
    assert served != folder and served.parent == own_cache


def test_a_link_to_a_folder_is_not_used(own_cache):
    """Where a link leads is up to whoever made it."""
    (own_cache / 'real').mkdir(mode=0o700)
    (own_cache / 'link').symlink_to(own_cache / 'real')
    assert_falls_back(own_cache / 'link', own_cache)


@pytest.mark.parametrize(('mode', 'served'), [(0o777, False), (0o757, False), (0o1777, True), (0o755, True)])
def test_a_folder_that_everybody_could_replace_is_not_used(own_cache, mode, served):
    """Who may write above it may put another in its place after it was looked at; a sticky folder forbids that."""
    above = own_cache / 'above'
    (above / 'between' / 'cache').mkdir(mode=0o700, parents=True)
    above.chmod(mode)
    (own_cache / 'link').symlink_to(above / 'between')
    for folder in (above / 'between' / 'cache', own_cache / 'link' / 'cache'):
        if served:
            assert cache.private_folder(folder) == folder
        else:
            assert_falls_back(folder, own_cache)


def test_code_is_kept_elsewhere_where_the_cache_of_this_user_is_open(own_cache):
    """What the module keeps is not below a folder that private_folder has refused."""
    (own_cache / 'cache' / 'robot_dynamics_ros').mkdir(parents=True)
    (own_cache / 'cache' / 'robot_dynamics_ros').chmod(0o777)
    copied = own_cache / 'copied'
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns('__pycache__'))
    with pytest.warns(UserWarning, match='for this process only'):
        folder = cache_of(copied).code_folder()
    assert folder.parent.parent == own_cache and stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert not list((own_cache / 'cache' / 'robot_dynamics_ros').iterdir())


def test_a_file_is_used_only_where_no_other_user_can_have_written_it(own_cache, monkeypatch):
    """A folder may have been open before it was closed."""
    path = own_cache / 'code'
    path.write_bytes(b'content')
    for mode, content in ((0o600, b'content'), (0o644, b'content'), (0o620, None), (0o602, None)):
        path.chmod(mode)
        assert cache.own_content(path) == content
    path.chmod(0o600)
    (own_cache / 'link').symlink_to(path)
    os.mkfifo(own_cache / 'pipe', 0o600)
    for other in ('link', 'pipe', 'nothing', '.'):
        assert cache.own_content(own_cache / other) is None
    owner = os.getuid()
    monkeypatch.setattr(os, 'getuid', lambda: owner + 1)
    assert cache.own_content(path) is None


def test_a_home_without_room_for_a_cache_is_no_failure(own_cache, monkeypatch):
    """Nothing can be made below a regular file (root may write anywhere, so permissions show nothing)."""
    (own_cache / 'file').write_text('')
    assert_falls_back(own_cache / 'file', own_cache)
    assert_falls_back(own_cache / 'file' / 'below', own_cache)
    (own_cache / 'read_only').mkdir(mode=0o700)
    monkeypatch.setattr(os, 'access', lambda path, mode: False)
    assert_falls_back(own_cache / 'read_only', own_cache)


def test_what_a_read_only_folder_has_is_used(own_cache, monkeypatch):
    folder = own_cache / 'read_only'
    folder.mkdir(mode=0o700)
    cache.write_sealed(folder / 'code.o', b'code')
    monkeypatch.setattr(os, 'access', lambda path, mode: False)
    assert cache.private_folder(folder) == folder
    assert cache.sealed_content(folder / 'code.o') == b'code'


def test_the_cache_lies_where_the_user_keeps_caches(own_cache, monkeypatch):
    """XDG_CACHE_HOME, else ~/.cache; never a folder that depends on the one we happen to be in."""
    assert cache.cache_root() == own_cache / 'cache' / 'robot_dynamics_ros'
    monkeypatch.setenv('HOME', str(own_cache))
    for unusable in ('', 'cache', '../cache'):
        monkeypatch.setenv('XDG_CACHE_HOME', unusable)
        assert cache.cache_root() == own_cache / '.cache' / 'robot_dynamics_ros'
    monkeypatch.delenv('XDG_CACHE_HOME')
    assert cache.cache_root() == own_cache / '.cache' / 'robot_dynamics_ros'
