"""What a process compiles and what compiled code it looks for on disk."""

import json
import sys
from contextlib import contextmanager

from numba import njit
from numba.core.event import install_recorder

from robot_dynamics_ros.compiler import compiled_robot, generic_code
from robot_dynamics_ros.jit import machine_code
from robot_dynamics_ros.jit.compiled_files import CompiledFiles

files: list[str] = []
"""Paths of compiled code that were looked for, in order."""


def watch():
    """Record in ``files`` whatever is looked for from now on."""
    load = CompiledFiles.load
    CompiledFiles.load = lambda store, key: files.append(str(store._path)) or load(store, key)
    object_file = machine_code.object_file

    def recorded(folder, name):
        path = object_file(folder, name)
        files.append(str(path))
        return path

    for module in (machine_code, compiled_robot, generic_code):
        module.object_file = recorded


@contextmanager
def told():
    """Print as JSON what is looked for and compiled in the ``with`` block."""
    before = len(files)
    with install_recorder('numba:compile') as compiled:
        yield
        found = {'before': files[:before], 'loaded': files[before:], 'compiled': len(compiled.buffer)}
        njit(lambda x: x + 1)(1)
        found['seen'] = len(compiled.buffer) - found['compiled']
    sys.stdout.write(json.dumps(found))
