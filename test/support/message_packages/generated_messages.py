"""Message packages for tests: the installed one, or one of that name, generated for want of it with a few messages."""

import ctypes
import fcntl
import importlib.util
import os
import subprocess
import sys
from contextlib import contextmanager
from importlib import invalidate_caches
from pathlib import Path
from unittest.mock import patch

# before any of them is made, for it would be found then
INSTALLED = {name for name in ('control_msgs', 'moveit_msgs') if importlib.util.find_spec(name) is not None}
BUILD = """
cmake_minimum_required(VERSION 3.20)
project({package})
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
{found}
rosidl_generate_interfaces({package} {files} DEPENDENCIES {depends})
ament_package()
"""
MANIFEST = """
<package format="3">
  <name>{package}</name>
  <version>0.0.0</version>
  <description>A few messages, for tests.</description>
  <maintainer email="nobody@example.com">nobody</maintainer>
  <license>Apache-2.0</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
  {depends}
  <member_of_group>rosidl_interface_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
"""


def build(folder: Path, package: str, messages: dict[str, str], depends: list[str]) -> Path:
    """Generate and install ``package`` below ``folder``; return its prefix.

    ``messages`` are texts by file, each after those that it contains; ``depends`` are the packages that they use.
    """
    source, prefix = folder / 'source', folder / 'prefix'
    for file in messages:
        (source / file).parent.mkdir(parents=True, exist_ok=True)
    cmake = BUILD.format(
        package=package,
        found='\n'.join(f'find_package({each} REQUIRED)' for each in depends),
        files=' '.join(f'"{file}"' for file in messages),
        depends=' '.join(depends),
    )
    manifest = MANIFEST.format(package=package, depends='\n  '.join(f'<depend>{each}</depend>' for each in depends))
    for name, content in {'CMakeLists.txt': cmake, 'package.xml': manifest, **messages}.items():
        (source / name).write_text(content.lstrip(), encoding='utf-8')
    prefixes = ';'.join(os.environ['AMENT_PREFIX_PATH'].split(os.pathsep))
    on_wheels = Path(__file__).resolve().parents[3] / 'scripts' / 'interfaces_on_wheels.cmake'
    configure = [
        *('cmake', '-S', source, '-B', folder / 'build', '-G', 'Ninja'),
        *('-DCMAKE_BUILD_TYPE=None', '-DBUILD_TESTING=OFF', f'-DCMAKE_INSTALL_PREFIX={prefix}'),
        *(f'-DCMAKE_PREFIX_PATH={prefixes}', f'-DPython3_EXECUTABLE={sys.executable}'),
        *(f'-DCMAKE_INSTALL_RPATH={prefix / "lib"}', f'-DCMAKE_PROJECT_INCLUDE={on_wheels}'),
    ]
    for command in (configure, ['cmake', '--build', folder / 'build'], ['cmake', '--install', folder / 'build']):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return prefix


def folder_of_a_run(factory) -> Path:
    """Return a folder of pytest's ``tmp_path_factory`` that all test processes of a run share."""
    folder = factory.getbasetemp()
    return folder.parent if 'PYTEST_XDIST_WORKER' in os.environ else folder


def built_once(folder: Path, package: str, *of_it) -> Path:
    """Return the prefix of ``build``; of several processes with one folder the first generates, the others wait."""
    folder = folder / package
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / 'lock').open('w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        complete = folder / 'complete'
        prefix = folder / 'prefix' if complete.exists() else build(folder, package, *of_it)
        complete.touch()
    return prefix


@contextmanager
def provided(folder: Path, package: str, messages: dict[str, str], depends: list[str]):
    """Give a package to this process, and to the processes that it starts.

    Where ``package``, control_msgs or moveit_msgs, is not installed, it is made below ``folder``, which has to stay as
    long as a message is used.
    """
    if package in INSTALLED:
        yield
        return
    prefix = built_once(folder, package, messages, depends)
    (found,) = prefix.rglob(f'{package}/__init__.py')
    added = {
        'PYTHONPATH': found.parents[1],
        'LD_LIBRARY_PATH': prefix / 'lib',
        'AMENT_PREFIX_PATH': prefix,
    }
    longer = {name: os.pathsep.join(filter(None, [str(path), os.environ.get(name)])) for name, path in added.items()}
    with patch.dict(os.environ, longer), patch.object(sys, 'path', [str(found.parents[1]), *sys.path]):
        invalidate_caches()
        # the library path of this process was read when it started
        for library in (prefix / 'lib').glob('*.so'):
            ctypes.CDLL(str(library))
        yield
