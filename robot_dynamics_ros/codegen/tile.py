"""The way of numbers between rows, a state each, and blocks, in which the same entry of several states stands together.

A tile of 8 x 8 numbers is turned in registers: loaded, transposed by three rounds of shuffles, stored. Number for
number that would take several times as long, for a regressor longer than computing it. But whole tiles wait for the
memory that they are written to, unless it has been fetched before.
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


def _fetch_emission(typing, array, place):
    """Emit a hint that array[place] is soon written: its cache line may come while something else is computed."""

    def emitted(context, builder, signature, arguments):
        values, at = arguments
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        line = builder.bitcast(builder.gep(context.make_array(array)(context, builder, values).data, [at]), byte)
        takes = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        hint = builder.module.declare_intrinsic('llvm.prefetch', [byte], takes)
        to_write, into_all_caches, data = number(1), number(3), number(1)
        builder.call(hint, [line, to_write, into_all_caches, data])
        return cgutils.get_null_value(context.get_value_type(types.none))

    return types.void(array, types.intp), emitted


fetch_to_write: Any = intrinsic(_fetch_emission)
"""In compiled code, ``fetch_to_write(array, place)`` on a contiguous float64 array."""
