"""What a release consists of: an sdist, and the wheel that is built from it."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from shutil import copytree, ignore_patterns
from types import SimpleNamespace

from support.project.project_files import PACKAGE, ROOT

import numpy as np
import pytest
from setuptools import Distribution
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

BUILD = 'import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])'
VERSION = 'robot_dynamics_ros-0.1.0'


@pytest.fixture(scope='module')
def release(tmp_path_factory):
    """The names of the files in both, without their first folder in the sdist; built as ``python -m build`` does."""
    folder = tmp_path_factory.mktemp('release')
    unwanted = ignore_patterns('.*', '__pycache__', 'build', 'install', 'log', '*.so', '*.egg-info')
    copytree(ROOT, folder / 'source', ignore=unwanted)
    build('build_sdist', folder / 'source', folder)
    (archive,) = folder.glob('*.tar.gz')
    with tarfile.open(archive) as packed:
        sdist = {it.name.partition('/')[2] for it in packed.getmembers() if it.isfile()}
        packed.extractall(folder)
    build('build_wheel', folder / VERSION, folder)
    (wheel,) = folder.glob('*.whl')
    with zipfile.ZipFile(wheel) as packed:
        return sdist, set(packed.namelist()), wheel.name


def build(what, source, target):
    """Call setuptools in a source folder."""
    command = [sys.executable, '-c', BUILD, what, target]
    done = subprocess.run(
        command,
        cwd=source,
        env={**os.environ, 'CFLAGS': '-O0'},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def files_of(*patterns):
    """Return the paths in the project of files with these patterns."""
    found = {path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()}
    return {path.relative_to(ROOT).as_posix() for path in found if '__pycache__' not in path.parts}


SHARE = ('launch/*', 'config/**/*', 'urdf/*')
DATA = (
    'py.typed',
    'nodes/lifecycle/parameters.yaml',
    'nodes/process/*.xml',
    'native/call.pyi',
    'native/library.c',
    'native/run.h',
    'codegen/c/templates/*.in',
    'tools/templates/*.in',
    'tools/figures/templates/*.in',
)


def test_the_wheel_has_all_modules_the_compiled_part_and_their_data_and_nothing_else(release):
    _, wheel, _ = release
    modules = files_of(f'{PACKAGE.name}/**/*.py', *(f'{PACKAGE.name}/{name}' for name in DATA))
    call = f'{PACKAGE.name}/native/call{sysconfig.get_config_var("EXT_SUFFIX")}'
    kernels = f'{PACKAGE.name}/native/kernels.{os.uname().machine}.so'
    assert {name for name in wheel if name.startswith(f'{PACKAGE.name}/')} == modules | {call, kernels}
    assert {name.partition('/')[0] for name in wheel} == {PACKAGE.name, f'{VERSION}.data', f'{VERSION}.dist-info'}
    assert f'{VERSION}.dist-info/licenses/LICENSE' in wheel


def test_the_wheel_has_the_files_of_a_ros_package(release):
    _, wheel, _ = release
    share = f'{VERSION}.data/data/share'
    index = f'{share}/ament_index/resource_index/packages/{PACKAGE.name}'
    files = {f'{share}/{PACKAGE.name}/{name}' for name in {'package.xml', *files_of(*SHARE)}}
    assert {name for name in wheel if name.startswith(f'{VERSION}.data/')} == {index, *files}


def test_the_wheel_is_for_this_python_and_processor(release):
    _, _, name = release
    python = f'cp{sys.version_info[0]}{sys.version_info[1]}'
    processor = sysconfig.get_platform().replace('-', '_').replace('.', '_')
    assert name == f'{VERSION}-{python}-{python}-{processor}.whl'


def test_the_sdist_has_the_sources_and_no_tests(release):
    sdist, _, _ = release
    sources = files_of(f'{PACKAGE.name}/**/*.py', f'{PACKAGE.name}/native/call.c', *SHARE)
    assert sources <= sdist
    assert {'package.xml', 'setup.py', 'setup.cfg', 'pyproject.toml', 'LICENSE', f'resource/{PACKAGE.name}'} <= sdist
    allowed = ('config/', 'launch/', 'resource/', 'urdf/', f'{PACKAGE.name}/', f'{PACKAGE.name}.egg-info/')
    assert [name for name in sdist if '/' in name and not name.startswith(allowed)] == []
    assert [name for name in sdist if name.endswith(('.so', '.pyc'))] == []


def test_headers_of_the_numpy_of_this_python_come_first(setup_arguments):
    command = setup_arguments['cmdclass']['build_ext'](Distribution())
    command.ensure_finalized()
    assert command.include_dirs[0] == np.get_include()
    assert sysconfig.get_path('include') in command.include_dirs


def test_a_missing_compiler_is_named_with_its_package(tmp_path):
    copytree(ROOT / PACKAGE.name / 'native', tmp_path / PACKAGE.name / 'native', ignore=ignore_patterns('*.so'))
    for name in ('setup.py', 'pyproject.toml'):
        (tmp_path / name).symlink_to(ROOT / name)
    command = [sys.executable, 'setup.py', 'build_ext']
    environment = {**os.environ, 'CC': 'no-such-compiler'}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "needs a C compiler, and there is no 'no-such-compiler'" in done.stderr
    assert 'apt install build-essential' in done.stderr and 'Traceback' not in done.stderr


def test_headers_that_are_missing_are_named_with_their_package(setup_arguments, monkeypatch):
    command = setup_arguments['cmdclass']['build_ext'](Distribution())
    command.compiler = SimpleNamespace(compiler_so=[sys.executable])

    def refuse(_):
        raise CompileError("command 'gcc' failed with exit code 1")

    monkeypatch.setattr(build_ext, 'build_extensions', refuse)
    with pytest.raises(CompileError, match=r'exit code 1; .* python3\.\d+-dev of Debian'):
        command.build_extensions()


def test_sources_that_are_not_built_say_so_instead_of_a_circular_import(tmp_path):
    copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=ignore_patterns('*.so', '__pycache__'))
    command = [sys.executable, '-c', f'import {PACKAGE.name}; {PACKAGE.name}.Robot']
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f'ImportError: {PACKAGE.name} is not built in {tmp_path}')
    assert 'scripts/bootstrap' in last and 'in a folder that is not the clone' in last
