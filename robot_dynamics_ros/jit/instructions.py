"""The fused multiply-add of ``jit.fused_multiply_add`` in code that Numba compiles."""

from typing import Any

from numba import types
from numba.extending import intrinsic, overload

from robot_dynamics_ros.jit.fused_multiply_add import fma


def _emission(typing, x, y, z):
    """Emit the instruction; on a processor without it, the C library computes the same bits."""

    def emitted(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), emitted


_instruction: Any = intrinsic(_emission)


@overload(fma, jit_options={'forceinline': True})
def _compiled_fma(x, y, z):
    """Select the implementation by the types of the numbers."""
    if any(isinstance(kind, types.Complex) for kind in (x, y, z)):
        return fma
    return lambda x, y, z: _instruction(x, y, z)  # noqa: PLW0108 - Numba requires a function here
