"""Intrinsics for the compiled functions of ``bound_function``: calls of machine code for batches, prefetching."""

import ctypes

import numpy as np


def call_rows(
    address: int, vectors: np.ndarray, runtime_inputs: np.ndarray, result: np.ndarray, count: int, last: int
) -> bool:
    """Return what code of ``StatesCode`` at an address returns, ``rows`` or ``blocks``; nothing is checked.

    ``vectors`` has the addresses of the vectors, ``last`` is the last argument of the code.
    """
    function = ctypes.CFUNCTYPE(ctypes.c_bool, *[ctypes.c_int64] * 5)(int(address))
    return function(*(array.ctypes.data for array in (vectors, runtime_inputs, result)), count, last)


def prefetch(array: np.ndarray, index: int) -> None:
    """Have the cache line of a number fetched, which is written soon; it changes nothing."""
