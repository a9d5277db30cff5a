"""control_msgs for tests: the installed package, or one of that name with one message, generated for want of it."""

import ctypes
import importlib.util
import os
import subprocess
import sys
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from pathlib import Path
from unittest.mock import patch

# before anything below is imported, for it would be found then
INSTALLED = importlib.util.find_spec('control_msgs') is not None
# As control_msgs documents it since 5.4; releases before had no last field.
MESSAGE = """
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint reference
trajectory_msgs/JointTrajectoryPoint feedback
trajectory_msgs/JointTrajectoryPoint error
trajectory_msgs/JointTrajectoryPoint output
float64 speed_scaling_factor
"""
BUILD = """
cmake_minimum_required(VERSION 3.20)
project(control_msgs)
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
find_package(std_msgs REQUIRED)
find_package(trajectory_msgs REQUIRED)
rosidl_generate_interfaces(control_msgs "msg/JointTrajectoryControllerState.msg" DEPENDENCIES std_msgs trajectory_msgs)
ament_package()
"""
MANIFEST = """
<package format="3">
  <name>control_msgs</name>
  <version>0.0.0</version>
  <description>One message, for tests.</description>
  <maintainer email="nobody@example.com">nobody</maintainer>
  <license>Apache-2.0</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
  <depend>std_msgs</depend>
  <depend>trajectory_msgs</depend>
  <member_of_group>rosidl_interface_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
"""


def build(folder: Path) -> Path:
    """Generate and install a control_msgs below ``folder``; return its prefix."""
    source, prefix = folder / 'source', folder / 'prefix'
    (source / 'msg').mkdir(parents=True)
    files = {
        'CMakeLists.txt': BUILD,
        'package.xml': MANIFEST,
        'msg/JointTrajectoryControllerState.msg': MESSAGE,
    }
    for name, content in files.items():
        (source / name).write_text(content.lstrip(), encoding='utf-8')
    prefixes = ';'.join(os.environ['AMENT_PREFIX_PATH'].split(os.pathsep))
    on_wheels = Path(__file__).resolve().parents[2] / 'scripts' / 'interfaces_on_wheels.cmake'
    configure = [
        *('cmake', '-S', source, '-B', folder / 'build', '-G', 'Ninja'),
        *('-DCMAKE_BUILD_TYPE=Release', '-DBUILD_TESTING=OFF', f'-DCMAKE_INSTALL_PREFIX={prefix}'),
        *(f'-DCMAKE_PREFIX_PATH={prefixes}', f'-DPython3_EXECUTABLE={sys.executable}'),
        *(f'-DCMAKE_INSTALL_RPATH={prefix / "lib"}', f'-DCMAKE_PROJECT_INCLUDE={on_wheels}'),
    ]
    for command in (configure, ['cmake', '--build', folder / 'build'], ['cmake', '--install', folder / 'build']):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return prefix


@contextmanager
def installed(folder: Path):
    """Give control_msgs/msg/JointTrajectoryControllerState to this process and to those that it starts.

    Where its package is not installed, it is made below ``folder``, which has to stay as long as the message is used.
    """
    if INSTALLED:
        yield import_module('control_msgs.msg').JointTrajectoryControllerState
        return
    prefix = build(folder)
    (package,) = prefix.rglob('control_msgs/__init__.py')
    added = {
        'PYTHONPATH': package.parents[1],
        'LD_LIBRARY_PATH': prefix / 'lib',
        'AMENT_PREFIX_PATH': prefix,
    }
    longer = {name: os.pathsep.join(filter(None, [str(path), os.environ.get(name)])) for name, path in added.items()}
    with patch.dict(os.environ, longer), patch.object(sys, 'path', [str(package.parents[1]), *sys.path]):
        invalidate_caches()
        # the library path of this process was read when it started
        for library in (prefix / 'lib').glob('*.so'):
            ctypes.CDLL(str(library))
        yield import_module('control_msgs.msg').JointTrajectoryControllerState
