"""The process of a fuzz: its memory, what it has compiled, and its log."""

import ctypes
import os
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np


def kernels() -> list:
    """Return all functions of the package that Numba has compiled, or may yet."""
    modules = [module for name, module in sys.modules.items() if name.startswith('robot_dynamics_ros')]
    found = (value for module in modules for value in vars(module).values() if hasattr(value, 'overloads'))
    return list({id(kernel): kernel for kernel in found}.values())


def compiled(kernels) -> int:
    """Return how many versions of them are compiled."""
    return sum(len(kernel.overloads) for kernel in kernels)


def memory() -> float:
    """Return the resident memory of this process, MB, without what its allocator holds ready (of glibc: mallopt(3))."""
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path('/proc/self/statm').read_text().split()[1]) * os.sysconf('SC_PAGE_SIZE') / 1e6


@contextmanager
def quiet():
    """Disable the log of nodes and libraries."""
    kept = os.dup(2)
    with open(os.devnull, 'w') as nowhere, np.errstate(all='ignore'):
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
