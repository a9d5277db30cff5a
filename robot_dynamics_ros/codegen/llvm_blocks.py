"""IR that moves numbers between rows of states (count, n) and vectors of one number of several states.

A tile of up to 8 x 8 numbers is loaded to registers, transposed by three rounds of shuffles, and stored. Copying single
numbers would take several times as long, for a regressor longer than its computation.

Large results bypass the caches: normal stores would read each cache line from memory first and evict data that is still
needed. Such stores need whole cache lines, at multiples of 64 bytes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache

from llvmlite import ir

WORD, INT32, NUMBER = ir.IntType(64), ir.IntType(32), ir.DoubleType()
TILE = 8
"""Maximum rows and columns of a tile: eight float64 are one vector of AVX-512 and one cache line."""


@cache
def numbers(size: int) -> ir.Type:
    """Return the type of a vector of ``size`` numbers."""
    return ir.VectorType(NUMBER, size)


def load(builder: ir.IRBuilder, kind: ir.Type, address: ir.Value, offset: int = 0) -> ir.Value:
    """Return the value at ``address`` + ``offset`` bytes."""
    return builder.load(_pointer(builder, kind, address, offset), align=8)


def store(builder: ir.IRBuilder, value: ir.Value, address: ir.Value, offset: int = 0) -> ir.Instruction:
    """Store a value at ``address`` + ``offset`` bytes and return the instruction."""
    return builder.store(value, _pointer(builder, value.type, address, offset), align=8)


def splat(builder: ir.IRBuilder, number: ir.Value, lanes: int) -> ir.Value:
    """Return a vector of ``lanes`` equal numbers, or the number for one lane."""
    if lanes == 1:
        return number
    first = builder.insert_element(numbers(lanes)(ir.Undefined), number, INT32(0))
    return _shuffled(builder, first, first, [0] * lanes)


def row(builder: ir.IRBuilder, start: ir.Value, k: ir.Value, length: int) -> ir.Value:
    """Return the address of row k of ``length`` numbers, for rows from an address on."""
    return builder.add(start, builder.mul(k, WORD(8 * length)))


def columns(builder: ir.IRBuilder, address: ir.Value, length: int, lanes: int) -> list[ir.Value]:
    """Return the columns of rows of ``length`` numbers at an address, a row for each lane."""
    if lanes == 1:
        return [load(builder, NUMBER, address, 8 * k) for k in range(length)]
    found = []
    for first in range(0, length, TILE):
        width = min(TILE, length - first)
        parts = []
        for lane in range(0, lanes, TILE):
            offsets = [8 * (length * (lane + b) + first) for b in range(TILE)]
            rows = [_resized(builder, load(builder, numbers(width), address, it), TILE) for it in offsets]
            parts.append(_transposed(builder, rows)[:width])
        found += [_joined(builder, column) for column in zip(*parts, strict=True)]
    return found


def write_rows(builder: ir.IRBuilder, values: Sequence[ir.Value], address: ir.Value, lanes: int) -> None:
    """Store values, which have a number for each lane, as the columns of rows at an address."""
    if lanes == 1:
        for k, value in enumerate(values):
            store(builder, value, address, 8 * k)
        return
    for lane in range(0, lanes, TILE):
        for first in range(0, len(values), TILE):
            some = [_part(builder, value, lane) for value in values[first : first + TILE]]
            width = len(some)
            rows = _transposed(builder, some + [numbers(TILE)(ir.Undefined)] * (TILE - width))
            for b, it in enumerate(rows):
                store(builder, _resized(builder, it, width), address, 8 * (len(values) * (lane + b) + first))


def buffer(builder: ir.IRBuilder, count: int) -> ir.Value:
    """Return the address of memory for ``count`` numbers on the stack."""
    place = builder.alloca(ir.ArrayType(NUMBER, count))
    place.align = 8 * TILE
    return builder.ptrtoint(place, WORD)


@contextmanager
def loop(builder: ir.IRBuilder, first: ir.Value, end: ir.Value, step: int) -> Iterator[ir.Value]:
    """Enter the body of a loop over ``range(first, end, step)``, with its index, and leave the loop behind it."""
    before = builder.block
    test, body, after = (builder.append_basic_block() for _ in range(3))
    builder.branch(test)
    builder.position_at_end(test)
    k = builder.phi(WORD)
    k.add_incoming(first, before)
    builder.cbranch(builder.icmp_signed('<', k, end), body, after)
    builder.position_at_end(body)
    yield k
    k.add_incoming(builder.add(k, WORD(step)), builder.block)
    builder.branch(test)
    builder.position_at_end(after)


def stream(builder: ir.IRBuilder, source: ir.Value, target: ir.Value, count: int) -> None:
    """Copy ``count`` numbers from one address to another, whole cache lines of the target past the caches."""
    # numbers before the first whole cache line: -(address / 8) modulo TILE
    ahead = builder.and_(builder.sub(WORD(0), builder.lshr(target, WORD(3))), WORD(TILE - 1))
    lines = builder.and_(builder.sub(WORD(count), ahead), WORD(-TILE))
    whole = builder.add(ahead, lines)
    _copy(builder, source, target, WORD(0), ahead, 1)
    of_a_line = _copy(builder, source, target, ahead, whole, TILE)
    of_a_line.align = 8 * TILE
    of_a_line.set_metadata('nontemporal', builder.module.add_metadata([INT32(1)]))
    _copy(builder, source, target, whole, WORD(count), 1)


def _copy(
    builder: ir.IRBuilder, source: ir.Value, target: ir.Value, first: ir.Value, end: ir.Value, step: int
) -> ir.Instruction:
    """Copy the numbers from ``first`` to ``end``, ``step`` at a time; return the instruction that stores them."""
    with loop(builder, first, end, step) as k:
        return store(builder, load(builder, numbers(step), row(builder, source, k, 1)), row(builder, target, k, 1))


def _pointer(builder: ir.IRBuilder, kind: ir.Type, address: ir.Value, offset: int) -> ir.Value:
    """Return the pointer to a value of a type at ``address`` + ``offset`` bytes."""
    return builder.inttoptr(builder.add(address, WORD(offset)) if offset else address, kind.as_pointer())


def _shuffled(builder: ir.IRBuilder, one: ir.Value, other: ir.Value, entries: Sequence[int]) -> ir.Value:
    """Return the vector of these entries of two vectors; indices of the second follow those of the first."""
    return builder.shuffle_vector(one, other, _mask(tuple(entries)))


@cache
def _mask(entries: tuple[int, ...]) -> ir.Constant:
    """Return indices of entries as a constant."""
    return ir.Constant(ir.VectorType(INT32, len(entries)), entries)


def _resized(builder: ir.IRBuilder, vector: ir.Value, size: int) -> ir.Value:
    """Return a vector of ``size`` entries that begins as ``vector`` does; further ones are arbitrary."""
    last = vector.type.count - 1
    return vector if size == last + 1 else _shuffled(builder, vector, vector, [min(k, last) for k in range(size)])


def _transposed(builder: ir.IRBuilder, rows: Sequence[ir.Value]) -> list[ir.Value]:
    """Return the columns of TILE vectors of TILE numbers."""
    rows, half = list(rows), TILE // 2
    while half:
        # swap the off-diagonal half x half blocks of rows i and i + half
        near = [j if not j & half else TILE + j - half for j in range(TILE)]
        far = [j + half if not j & half else TILE + j for j in range(TILE)]
        for i in (i for i in range(TILE) if not i & half):
            pair = rows[i], rows[i + half]
            rows[i], rows[i + half] = (_shuffled(builder, *pair, entries) for entries in (near, far))
        half //= 2
    return rows


def _joined(builder: ir.IRBuilder, parts: Sequence[ir.Value]) -> ir.Value:
    """Return the vector of all entries of one or two vectors of TILE numbers."""
    return parts[0] if len(parts) == 1 else _shuffled(builder, parts[0], parts[1], range(2 * TILE))


def _part(builder: ir.IRBuilder, vector: ir.Value, first: int) -> ir.Value:
    """Return TILE entries of a vector, from ``first`` on."""
    if vector.type.count == TILE:
        return vector
    return _shuffled(builder, vector, vector, range(first, first + TILE))
