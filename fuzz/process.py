"""The process of a fuzz: its memory, what it has compiled, and its log."""

import ctypes
import gc
import os
import sys
from contextlib import contextmanager

import numpy as np

SMALL_OBJECT = 90
"""Mean size of an object that Python allocates itself, bytes (sys._debugmallocstats)."""


def has_compiler() -> bool:
    """Return whether Numba has been imported: nothing is compiled without it."""
    return 'numba' in sys.modules


class Allocated(ctypes.Structure):
    """Result of glibc's mallinfo2(3): ten numbers, hblkhd and uordblks among them."""

    _fields_ = (('numbers', ctypes.c_size_t * 10),)


def memory() -> float:
    """Return the memory that this process has allocated and not freed, MB.

    Resident memory is no measure of a leak: free blocks between allocated ones stay resident, and their number grows
    for hours with allocations of random sizes. Python allocates small objects itself, others by malloc.
    """
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Allocated
    gc.collect()
    _, _, _, _, mapped, _, _, used, *_ = mallinfo().numbers
    return (mapped + used + SMALL_OBJECT * sys.getallocatedblocks()) / 1e6


KILOBYTES, LONG = 0.25, 3000
"""Allowed growth of memory per message, and number of messages from which it holds; below, noise is larger."""


def growth(allocated: list[tuple[int, float]]) -> float:
    """Return the growth of ``allocated``, kB per message, in the second half: before, caches fill for the first time.

    Each item is a number of messages and the allocated memory after them, MB.
    """
    messages, megabytes = np.array(allocated[len(allocated) // 2 :]).T
    return 1e3 * np.polyfit(messages, megabytes, 1)[0]


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
