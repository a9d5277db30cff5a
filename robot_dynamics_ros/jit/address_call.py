"""Calls of machine code by its address, for code that Numba compiles."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _rows_emission(typing, address, vectors, load, result, count, last):
    """Emit the call of code for states in rows; ``vectors`` (addresses), ``load`` and ``result`` are arrays."""

    def emitted(context, builder, signature, arguments):
        word = ir.IntType(64)
        function, *arrays, states, more = arguments
        data = [
            builder.ptrtoint(context.make_array(kind)(context, builder, array).data, word)
            for kind, array in zip(signature.args[1:4], arrays, strict=True)
        ]
        pointer = builder.inttoptr(function, ir.FunctionType(ir.IntType(8), [word] * 5).as_pointer())
        return builder.icmp_unsigned('!=', builder.call(pointer, [*data, states, more]), ir.IntType(8)(0))

    return types.boolean(types.int64, vectors, load, result, types.int64, types.int64), emitted


call_rows: Any = intrinsic(_rows_emission)
"""In compiled code, ``call_rows(address, vectors, load, result, count, last)`` of ``array_call.Rows``; not checked."""
