"""Functions for Numba: a robot's code of LLVM IR, and calls of machine code for states."""

from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

from robot_dynamics_ros.codegen.compiled_calls import call_rows
from robot_dynamics_ros.codegen.machine_code import OWN
from robot_dynamics_ros.jit.decorators import inlined

BYTE, INT64 = ir.IntType(8), ir.IntType(64)
((_name, _address),) = OWN.items()
binding.add_symbol(_name, _address)  # Numba's compiler looks for it, too
RUN: Any = types.ExternalFunction(_name, types.boolean(*[types.int64] * 6))
"""The function ``call.RUN``, whose address is known where object files are loaded."""


def inlined_code(name: str, text: str, count: int) -> Any:
    """Return the function ``name`` of IR text as one of ``count`` contiguous arrays, which Numba inlines."""

    def emission(typing, arrays):
        fit = [isinstance(it, types.Array) and (it.dtype, it.layout) == (types.float64, 'C') for it in arrays]
        if len(arrays) != count or not all(fit):
            raise TypingError(f'{name}: expected {count} C-contiguous arrays of float64, got {arrays}')

        def emitted(context, builder, signature, arguments):
            context.active_code_library.add_llvm_module(binding.parse_assembly(text))
            function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(BYTE, [INT64] * count), name)
            values = cgutils.unpack_tuple(builder, arguments[0], count)
            data = [
                builder.ptrtoint(context.make_array(kind)(context, builder, array).data, INT64)
                for kind, array in zip(signature.args[0], values, strict=True)
            ]
            return builder.icmp_unsigned('!=', builder.call(function, data), BYTE(0))

        return types.boolean(arrays), emitted

    called: Any = intrinsic(emission)
    return inlined(lambda *arrays: called(arrays))


@overload(call_rows, jit_options={'forceinline': True})
def _compiled_call(program, vectors, runtime_inputs, result, count):
    """Return the implementation of ``call_rows``."""

    def call(program, vectors, runtime_inputs, result, count):
        RUN(vectors.ctypes.data, runtime_inputs.ctypes.data, result.ctypes.data, count, program, 0)

    return call
