"""IR that moves numbers between rows of states (count, n) and columns: vectors of one number of several states.

A tile of rows is loaded to registers, transposed by rounds of shuffles, and stored. Copying single numbers would take
several times as long, for a regressor longer than its computation.
"""

from llvmlite import binding as llvm

TILE = 8
"""Largest number of rows and columns of a tile: eight float64 are one vector of AVX-512 and one cache line."""
TYPED = llvm.llvm_version_info[0] < 15
"""Whether this version of LLVM has a type of pointers for each type of values."""


def pointer_type(kind: str) -> str:
    """Return the type of pointers to values of a kind."""
    return f'{kind}*' if TYPED else 'ptr'


def pointer(body, kind: str, address: str, offset: int = 0) -> str:
    """Return type and name of the pointer to a value at ``address`` + ``offset`` bytes."""
    place = body.line(f'add i64 {address}, {offset}') if offset else address
    return f'{pointer_type(kind)} {body.line(f"inttoptr i64 {place} to {pointer_type(kind)}")}'


def shared(body, address: str, k: int) -> str:
    """Return the name of number k of an array that all states share, as a column."""
    return _resized(body, _load(body, address, k, 1), 1, body.lanes)


def columns(body, address: str, length: int) -> list[str]:
    """Return the names of the columns of rows of ``length`` numbers at an address, a row for each lane."""
    found, tile = [], min(TILE, body.lanes)
    for first in range(0, length, tile):
        width, parts = min(tile, length - first), []
        for lane in range(0, body.lanes, tile):
            places = [length * (lane + b) + first for b in range(tile)]
            rows = [_resized(body, _load(body, address, k, width), width, tile) for k in places]
            parts.append(_transposed(body, rows)[:width])
        found += [_joined(body, column, tile) for column in zip(*parts, strict=True)]
    return found


def write_columns(body, values: list[str], address: str) -> None:
    """Store values, which have a number for each lane, as the columns of rows at an address."""
    tile = min(TILE, body.lanes)
    for lane in range(0, body.lanes, tile):
        for first in range(0, len(values), tile):
            some = [_part(body, value, lane, tile) for value in values[first : first + tile]]
            width = len(some)
            for b, row in enumerate(_transposed(body, some + ['undef'] * (tile - width))):
                stored, kind = _resized(body, row, tile, width), body.numbers(width)
                place = pointer(body, kind, address, 8 * (len(values) * (lane + b) + first))
                body.lines.append(f'  store {kind} {stored}, {place}, align 8')


def _load(body, address: str, k: int, width: int) -> str:
    """Return the name of a vector of ``width`` numbers of an array, from number k on."""
    kind = body.numbers(width)
    return body.line(f'load {kind}, {pointer(body, kind, address, 8 * k)}, align 8')


def _shuffled(body, one: str, other: str, size: int, entries: list[int]) -> str:
    """Return the name of these entries of two vectors; indices of the second follow those of the first."""
    places = ', '.join(f'i32 {k}' for k in entries)
    kind = body.numbers(size)
    return body.line(f'shufflevector {kind} {one}, {kind} {other}, <{len(entries)} x i32> <{places}>')


def _resized(body, vector: str, size: int, wanted: int) -> str:
    """Return the name of a vector of ``wanted`` entries that begins as ``vector`` does; further ones are arbitrary."""
    if size == wanted:
        return vector
    return _shuffled(body, vector, vector, size, [min(k, size - 1) for k in range(wanted)])


def _transposed(body, rows: list[str]) -> list[str]:
    """Return the names of the columns of as many vectors as each has numbers, a power of two."""
    rows, count = list(rows), len(rows)
    half = count // 2
    while half:
        # swap the off-diagonal half x half blocks of rows i and i + half
        near = [j if not j & half else count + j - half for j in range(count)]
        far = [j + half if not j & half else count + j for j in range(count)]
        for i in (i for i in range(count) if not i & half):
            pair = rows[i], rows[i + half]
            rows[i], rows[i + half] = (_shuffled(body, *pair, count, entries) for entries in (near, far))
        half //= 2
    return rows


def _joined(body, parts: tuple[str, ...], size: int) -> str:
    """Return the name of the vector of all entries of one or two vectors."""
    return parts[0] if len(parts) == 1 else _shuffled(body, parts[0], parts[1], size, list(range(2 * size)))


def _part(body, vector: str, first: int, size: int) -> str:
    """Return the name of some entries of a vector, from ``first`` on."""
    if size == body.lanes:
        return vector
    return _shuffled(body, vector, vector, body.lanes, list(range(first, first + size)))


def streaming() -> str:
    """Return the IR of ``stream(buffered, results, count)``, which copies numbers; whole cache lines bypass the caches.

    Normal stores would read each line from memory first and evict data that is still needed.
    """
    return '\n'.join(
        [
            'define internal void @stream(i64 %buffered, i64 %results, i64 %count) {',
            'begin:',
            # numbers before the first whole cache line: -(address / 8) modulo TILE
            '  %place = lshr i64 %results, 3',
            '  %minus = sub i64 0, %place',
            f'  %ahead = and i64 %minus, {TILE - 1}',
            '  %rest = sub i64 %count, %ahead',
            f'  %lines = and i64 %rest, {-TILE}',
            '  %whole = add i64 %ahead, %lines',
            *_copy('head', 1, '0', '%ahead', 'begin'),
            *_copy('line', TILE, '%ahead', '%whole', 'head_end'),
            *_copy('tail', 1, '%whole', '%count', 'line_end'),
            '  ret void',
            '}',
            '!0 = !{i32 1}',
        ]
    )


def _copy(label: str, step: int, first: str, end: str, then: str) -> list[str]:
    """Return the loop that copies numbers ``first`` to ``end``, and follows the block ``then``."""
    kind = 'double' if step == 1 else f'<{step} x double>'
    align = '8' if step == 1 else f'{8 * step}, !nontemporal !0'
    return [
        f'  br label %{label}_test',
        f'{label}_test:',
        f'  %{label}_k = phi i64 [{first}, %{then}], [%{label}_next, %{label}]',
        f'  %{label}_left = icmp slt i64 %{label}_k, {end}',
        f'  br i1 %{label}_left, label %{label}, label %{label}_end',
        f'{label}:',
        f'  %{label}_bytes = shl i64 %{label}_k, 3',
        f'  %{label}_from = add i64 %buffered, %{label}_bytes',
        f'  %{label}_to = add i64 %results, %{label}_bytes',
        f'  %{label}_source = inttoptr i64 %{label}_from to {pointer_type(kind)}',
        f'  %{label}_place = inttoptr i64 %{label}_to to {pointer_type(kind)}',
        f'  %{label}_value = load {kind}, {pointer_type(kind)} %{label}_source, align 8',
        f'  store {kind} %{label}_value, {pointer_type(kind)} %{label}_place, align {align}',
        f'  %{label}_next = add i64 %{label}_k, {step}',
        f'  br label %{label}_test',
        f'{label}_end:',
    ]
