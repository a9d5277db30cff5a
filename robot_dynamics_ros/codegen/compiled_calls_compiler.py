"""The call of machine code for states in functions that Numba compiles."""

from typing import Any

from numba import types
from numba.extending import overload

from robot_dynamics_ros.codegen.compiled_calls import call_rows
from robot_dynamics_ros.codegen.loaded_code import RUN

CALLED: Any = types.ExternalFunction(RUN, types.boolean(*[types.int64] * 6))
"""The function of ``native/library.c``."""


@overload(call_rows, jit_options={'forceinline': True})
def _compiled_call(program, vectors, runtime_inputs, result, count):
    """Return the implementation of ``call_rows``."""

    def call(program, vectors, runtime_inputs, result, count):
        CALLED(vectors.ctypes.data, runtime_inputs.ctypes.data, result.ctypes.data, count, program, 0)

    return call
