"""SIMD transpose between rows of states (array of structures) and blocks (structure of arrays).

A tile of up to 8 x 8 numbers is loaded to registers, transposed by three rounds of shuffles, and stored. Copying single
numbers would take several times as long, for a regressor longer than its computation.

Large results are written by non-temporal stores, which bypass the caches: normal stores would read each cache line from
memory first and evict data that is still needed. They need whole cache lines, at multiples of 64 bytes.
"""

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from robot_dynamics_ros.jit.decorators import inlined

TILE = 8
"""Maximum rows and columns of a tile: eight float64 are one vector of AVX-512 and one cache line."""
NUMBER, INDEX = ir.DoubleType(), ir.IntType(32)


def lined_up(size: int) -> np.ndarray:
    """Return an uninitialised array (size,) that is aligned to cache lines.

    A vector across two lines needs two accesses: batches of the AUBO-i5 take up to a quarter longer with an unaligned
    block (2026-11-20).
    """
    numbers = np.empty(size + TILE)
    first = -(numbers.__array_interface__['data'][0] // numbers.itemsize) % TILE
    return numbers[first : first + size]


@cache
def transpose(rows: int, columns: int, past_caches: bool = False) -> Any:
    """Return the transpose of ``rows`` x ``columns`` numbers, at most TILE x TILE, for compiled code.

    ``f(source, first, pitch, target, place, stride)`` does target[place + stride j + i] = source[first + pitch i + j]
    for i < rows, j < columns on contiguous float64 arrays, without bounds checks. ``past_caches`` uses non-temporal
    stores of TILE numbers, which must be aligned to cache lines.
    """

    def emission(typing, source, first, pitch, target, place, stride):
        def emitted(context, builder, signature, arguments):
            source_array, first_at, pitch_by, target_array, place_at, stride_by = arguments
            loaded = []
            for at in _places(builder, first_at, pitch_by, rows):
                pointer = _pointer(context, builder, source, source_array, at)
                loaded.append(_resized(builder, _load(builder, pointer, columns), TILE))
            undefined = ir.Constant(_vector(TILE), ir.Undefined)
            transposed = _transposed(builder, loaded + [undefined] * (TILE - rows))
            for j, at in enumerate(_places(builder, place_at, stride_by, columns)):
                pointer = _pointer(context, builder, target, target_array, at)
                _store(builder, _resized(builder, transposed[j], rows), pointer, past_caches)
            return cgutils.get_null_value(context.get_value_type(types.none))

        return types.void(source, types.intp, types.intp, target, types.intp, types.intp), emitted

    return intrinsic(emission)


def _transposed(builder, rows: list) -> list:
    """Emit the columns of TILE vectors of TILE numbers."""
    rows, half = list(rows), TILE // 2
    while half:
        # swap the off-diagonal half x half blocks of rows i and i + half
        near = [j if not j & half else TILE + j - half for j in range(TILE)]
        far = [j + half if not j & half else TILE + j for j in range(TILE)]
        for i in (i for i in range(TILE) if not i & half):
            pair = rows[i], rows[i + half]
            rows[i], rows[i + half] = _shuffled(builder, *pair, near), _shuffled(builder, *pair, far)
        half //= 2
    return rows


def _vector(size: int) -> ir.VectorType:
    """Return the type of vectors of ``size`` numbers."""
    return ir.VectorType(NUMBER, size)


def _shuffled(builder, one, other, entries: list[int]):
    """Emit the vector of these entries of two vectors; indices of the second follow those of the first."""
    return builder.shuffle_vector(one, other, ir.Constant(ir.VectorType(INDEX, len(entries)), entries))


def _resized(builder, vector, size: int):
    """Emit a vector of ``size`` entries that begins with those of a vector; additional entries are arbitrary."""
    return _shuffled(builder, vector, vector, [min(k, vector.type.count - 1) for k in range(size)])


def _places(builder, first, step, count: int) -> list:
    """Emit the integers first + step k, k < count."""
    return [builder.add(first, builder.mul(step, step.type(k))) for k in range(count)]


def _pointer(context, builder, kind, array, place):
    """Emit the pointer to array[place]."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [place])


def _load(builder, pointer, size: int):
    """Emit a vector of ``size`` numbers from memory."""
    return builder.load(builder.bitcast(pointer, _vector(size).as_pointer()), align=8)


def _store(builder, vector, pointer, past_caches: bool) -> None:
    """Emit the store of a vector."""
    align = 8 * TILE if past_caches else 8
    stored = builder.store(vector, builder.bitcast(pointer, vector.type.as_pointer()), align=align)
    if past_caches:
        stored.set_metadata('nontemporal', builder.module.add_metadata([INDEX(1)]))


def _line_emission(typing, source, first, target, place):
    """Emit target[place + k] = source[first + k] for k < TILE, a non-temporal store of one aligned cache line."""

    def emitted(context, builder, signature, arguments):
        source_array, first_at, target_array, place_at = arguments
        line = _load(builder, _pointer(context, builder, source, source_array, first_at), TILE)
        _store(builder, line, _pointer(context, builder, target, target_array, place_at), past_caches=True)
        return cgutils.get_null_value(context.get_value_type(types.none))

    return types.void(source, types.intp, target, types.intp), emitted


def _ahead_emission(typing, array, place):
    """Emit the number of entries from array[place] to the next cache line."""

    def emitted(context, builder, signature, arguments):
        integer = context.get_value_type(types.intp)
        address = builder.ptrtoint(_pointer(context, builder, array, *arguments), integer)
        # -(address / 8) modulo TILE
        return builder.and_(builder.neg(builder.lshr(address, integer(3))), integer(TILE - 1))

    return types.intp(array, types.intp), emitted


def _fence_emission(typing):
    """Emit a memory fence, after which other cores read the results of non-temporal stores."""

    def emitted(context, builder, signature, arguments):
        builder.fence('seq_cst')
        return cgutils.get_null_value(context.get_value_type(types.none))

    return types.void(), emitted


_turn_lines = transpose(TILE, TILE, past_caches=True)
_write_line: Any = intrinsic(_line_emission)
_ahead: Any = intrinsic(_ahead_emission)
fence: Any = intrinsic(_fence_emission)
"""In compiled code, ``fence()`` makes non-temporal stores visible to other cores."""


@inlined
def write_past_caches(source, first, target, place, count):
    """Write target[place + k] = source[first + k] for k < count, count >= TILE, by non-temporal stores."""
    ahead = _ahead(target, place)
    whole = ahead + (count - ahead) // TILE * TILE
    for k in range(ahead):
        target[place + k] = source[first + k]
    for k in range(ahead, whole, TILE):
        _write_line(source, first + k, target, place + k)
    for k in range(whole, count):
        target[place + k] = source[first + k]


@inlined
def turn_past_caches(source, first, lanes, target, place, count):
    """Write target[place + count b + k] = source[first + lanes k + b] for b < lanes, k < count, multiples of TILE."""
    # all rows have the same alignment
    ahead = _ahead(target, place)
    whole = ahead + (count - ahead) // TILE * TILE
    for b in range(0, lanes, TILE):
        for k in range(ahead, whole, TILE):
            _turn_lines(source, first + lanes * k + b, lanes, target, place + count * b + k, count)
    for b in range(lanes):
        for k in range(ahead):
            target[place + count * b + k] = source[first + lanes * k + b]
        for k in range(whole, count):
            target[place + count * b + k] = source[first + lanes * k + b]
