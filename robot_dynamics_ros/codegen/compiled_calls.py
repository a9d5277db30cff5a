"""Intrinsics for the compiled functions of ``bound_function``: calls of machine code for batches, prefetching."""

import ctypes

import numpy as np


def call_rows(program: int, vectors: np.ndarray, runtime_inputs: np.ndarray, result: np.ndarray, count: int) -> bool:
    """Return whether a program of ``StatesCode`` found the numbers of ``count`` states finite; nothing is checked.

    ``program`` is the address of its words, ``vectors`` has the addresses of the vectors.
    """
    function = ctypes.CFUNCTYPE(ctypes.c_bool, *[ctypes.c_int64] * 6)(ctypes.c_int64.from_address(program).value)
    return function(*(array.ctypes.data for array in (vectors, runtime_inputs, result)), count, program, 0)


def prefetch(array: np.ndarray, index: int) -> None:
    """Have the cache line of a number fetched, which is written soon; it changes nothing."""
