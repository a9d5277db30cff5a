"""The way of numbers between rows, a state each, and blocks, in which the same entry of several states stands together.

A tile of 8 x 8 numbers is turned in registers: loaded, transposed by three rounds of shuffles, stored. Number for
number that would take several times as long, and for the large results of a regressor or of derivatives as long as
computing them.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

TILE = 8
"""Rows and columns of a tile: eight float64 are the widest vector that processors have."""

NUMBERS, INDICES = ir.VectorType(ir.DoubleType(), TILE), ir.VectorType(ir.IntType(32), TILE)


def _tile_emission(typing, source, first, pitch, target, place, stride):
    """Emit target[place + stride j + i] = source[first + pitch i + j] for i, j < TILE; nothing looks at the bounds."""

    def emitted(context, builder, signature, arguments):
        source_array, first_at, pitch_by, target_array, place_at, stride_by = arguments

        def pointer(kind, array, start, step, k):
            data = context.make_array(kind)(context, builder, array).data
            at = builder.add(start, builder.mul(step, step.type(k)))
            return builder.bitcast(builder.gep(data, [at]), NUMBERS.as_pointer())

        rows = [builder.load(pointer(source, source_array, first_at, pitch_by, i), align=8) for i in range(TILE)]
        half = TILE // 2
        while half:
            # of rows i and i + half, the entries apart by half change places
            for i in (i for i in range(TILE) if not i & half):
                near = [j if not j & half else TILE + j - half for j in range(TILE)]
                far = [j + half if not j & half else TILE + j for j in range(TILE)]
                pair = rows[i], rows[i + half]
                rows[i] = builder.shuffle_vector(*pair, ir.Constant(INDICES, near))
                rows[i + half] = builder.shuffle_vector(*pair, ir.Constant(INDICES, far))
            half //= 2
        for j in range(TILE):
            builder.store(rows[j], pointer(target, target_array, place_at, stride_by, j), align=8)
        return cgutils.get_null_value(context.get_value_type(types.none))

    return types.void(source, types.intp, types.intp, target, types.intp, types.intp), emitted


transpose_tile: Any = intrinsic(_tile_emission)
"""In compiled code, ``transpose_tile(source, first, pitch, target, place, stride)`` on contiguous float64 arrays."""
