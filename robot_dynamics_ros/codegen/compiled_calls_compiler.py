"""Functions for Numba made of LLVM IR: a robot's code, calls of machine code for a batch of states, and prefetching."""

from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, overload

from robot_dynamics_ros.codegen.compiled_calls import call_rows, prefetch
from robot_dynamics_ros.jit.decorators import inlined

BYTE, INT32, INT64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
FOR_WRITING, KEPT, DATA = INT32(1), INT32(3), INT32(1)
"""Arguments of LLVM's instruction: the line will be written; it is fetched to the first cache, that of data."""


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
            data = [_address(context, builder, *it) for it in zip(signature.args[0], values, strict=True)]
            return builder.icmp_unsigned('!=', builder.call(function, data), BYTE(0))

        return types.boolean(arrays), emitted

    called: Any = intrinsic(emission)
    return inlined(lambda *arrays: called(arrays))


def _address(context, builder, kind, array):
    """Emit the address of an array's numbers."""
    return builder.ptrtoint(context.make_array(kind)(context, builder, array).data, INT64)


def _call_emission(typing, program, vectors, runtime_inputs, result, count):
    """Emit ``call_rows``."""

    def emitted(context, builder, signature, arguments):
        program, *arrays, states = arguments
        data = [_address(context, builder, *it) for it in zip(signature.args[1:4], arrays, strict=True)]
        run = ir.FunctionType(BYTE, [INT64] * 6).as_pointer()
        function = builder.load(builder.inttoptr(program, run.as_pointer()))
        return builder.icmp_unsigned('!=', builder.call(function, [*data, states, program, INT64(0)]), BYTE(0))

    return types.boolean(types.int64, vectors, runtime_inputs, result, types.int64), emitted


def _prefetch_emission(typing, array, index):
    """Emit ``prefetch``."""

    def emitted(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), BYTE.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [place.type, INT32, INT32, INT32])
        instruction = builder.module.declare_intrinsic('llvm.prefetch', [place.type], kind)
        builder.call(instruction, [place, FOR_WRITING, KEPT, DATA])
        return context.get_dummy_value()

    return types.none(array, types.int64), emitted


_call: Any = intrinsic(_call_emission)
_prefetch: Any = intrinsic(_prefetch_emission)


@overload(call_rows, jit_options={'forceinline': True})
def _compiled_call(program, vectors, runtime_inputs, result, count):
    """Return the implementation of ``call_rows``; Numba requires a function here."""

    def call(program, vectors, runtime_inputs, result, count):
        return _call(program, vectors, runtime_inputs, result, count)

    return call


@overload(prefetch, jit_options={'forceinline': True})
def _compiled_prefetch(array, index):
    """Return the implementation of ``prefetch``."""
    return lambda array, index: _prefetch(array, index)  # noqa: PLW0108 - Numba requires a function here
