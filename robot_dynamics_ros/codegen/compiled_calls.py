"""A call of machine code for states, for the compiled functions of ``bound_function``."""

import ctypes

import numpy as np

from robot_dynamics_ros.native import call

RUN = ctypes.CFUNCTYPE(ctypes.c_bool, *[ctypes.c_int64] * 6)(call.RUN)


def call_rows(program: int, vectors: np.ndarray, runtime_inputs: np.ndarray, result: np.ndarray, count: int) -> None:
    """Compute ``count`` states by a program of ``StatesCode``; nothing is checked.

    ``program`` is the address of its words, ``vectors`` has the addresses of the vectors.
    """
    RUN(vectors.ctypes.data, runtime_inputs.ctypes.data, result.ctypes.data, count, program, 0)
