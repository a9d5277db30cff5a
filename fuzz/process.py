"""The process of a fuzz: its memory, what it has compiled, and its log."""

import ctypes
import gc
import os
import sys
from contextlib import contextmanager

import numpy as np

SMALL_OBJECT = 90
"""Mean size of an object that Python allocates itself, bytes (sys._debugmallocstats)."""


def kernels() -> list:
    """Return all functions of the package that Numba has compiled, or may yet."""
    modules = [module for name, module in sys.modules.items() if name.startswith('robot_dynamics_ros')]
    found = (value for module in modules for value in vars(module).values() if hasattr(value, 'overloads'))
    return list({id(kernel): kernel for kernel in found}.values())


def compiled(kernels) -> int:
    return sum(len(kernel.overloads) for kernel in kernels)


class Allocated(ctypes.Structure):
    """Result of glibc's mallinfo2(3)."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *('arena', 'ordblks', 'smblks', 'hblks', 'hblkhd'),
            *('usmblks', 'fsmblks', 'uordblks', 'fordblks', 'keepcost'),
        )
    )


def memory() -> float:
    """Return the memory that this process has allocated and not freed, MB.

    Resident memory is no measure of a leak: free blocks between allocated ones stay resident, and their number grows
    for hours with allocations of random sizes. Python allocates small objects itself, others by malloc.
    """
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Allocated
    gc.collect()
    by_malloc = mallinfo()
    return (by_malloc.uordblks + by_malloc.hblkhd + SMALL_OBJECT * sys.getallocatedblocks()) / 1e6


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
