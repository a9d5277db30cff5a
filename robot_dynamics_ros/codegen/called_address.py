"""Calls of machine code at an address, by code that Numba compiles."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from robot_dynamics_ros.jit.decorators import inlined

BYTE, INT64 = ir.IntType(8), ir.IntType(64)


def called_address(name: str, count: int, address: int, owner: object) -> Callable:
    """Return the function ``bool f(double *, ...)`` at an address as one of ``count`` arrays, for Numba and Python.

    It keeps ``owner`` alive, which the address belongs to. Numba does not cache what calls it.
    """

    def emission(typing, arrays):
        fit = [isinstance(it, types.Array) and (it.dtype, it.layout) == (types.float64, 'C') for it in arrays]
        if len(arrays) != count or not all(fit):
            raise TypingError(f'{name}: expected {count} C-contiguous arrays of float64, got {arrays}')

        def emitted(context, builder, signature, arguments):
            values = cgutils.unpack_tuple(builder, arguments[0], count)
            data = [
                builder.ptrtoint(context.make_array(kind)(context, builder, array).data, INT64)
                for kind, array in zip(signature.args[0], values, strict=True)
            ]
            place = context.add_dynamic_addr(builder, address, info=name)
            function = builder.bitcast(place, ir.FunctionType(BYTE, [INT64] * count).as_pointer())
            return builder.icmp_unsigned('!=', builder.call(function, data), BYTE(0))

        return types.boolean(arrays), emitted

    called: Any = intrinsic(emission)
    function = inlined(lambda *arrays: called(arrays))
    function.owner = owner
    return function
