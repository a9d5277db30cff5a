"""What compiled code a process looks for on disk, and whether it has imported a compiler."""

import json
import sys
from contextlib import contextmanager

from robot_dynamics_ros.codegen import object_files

COMPILERS = ('numba', 'scipy')
"""The compiler, and what it imports in turn."""
files: list[str] = []
"""Paths of compiled code that were looked for, in order."""


def watch():
    """Record in ``files`` whatever is looked for from now on."""
    object_file = object_files.object_file

    def recorded(folder, name):
        path = object_file(folder, name)
        files.append(str(path))
        return path

    object_files.object_file = recorded


@contextmanager
def told():
    """Print as JSON what is looked for before and in the ``with`` block, and which of ``COMPILERS`` are imported."""
    before = len(files)
    yield
    imported = [name for name in COMPILERS if name in sys.modules]
    sys.stdout.write(json.dumps({'before': files[:before], 'loaded': files[before:], 'imported': imported}))
