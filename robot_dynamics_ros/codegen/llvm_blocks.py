"""IR that moves numbers between rows of states (count, n) and vectors of one number of several states.

A tile of up to 8 x 8 numbers is loaded to registers, transposed by three rounds of shuffles, and stored. Copying single
numbers would take several times as long, for a regressor longer than its computation.

Large results bypass the caches: normal stores would read each cache line from memory first and evict data that is still
needed. Such stores need whole cache lines, at multiples of 64 bytes.
"""

from llvmlite import binding as llvm

TILE = 8
"""Maximum rows and columns of a tile: eight float64 are one vector of AVX-512 and one cache line."""
TYPED = llvm.llvm_version_info[0] < 15
"""Whether this version of LLVM has a type of pointers for each type of values."""


def vector_type(lanes: int) -> str:
    """Return the type of ``lanes`` numbers."""
    return 'double' if lanes == 1 else f'<{lanes} x double>'


def pointer(body, kind: str, address: str, offset: int = 0) -> str:
    """Return type and name of the pointer to a value at ``address`` + ``offset`` bytes."""
    place = body.line(f'add i64 {address}, {offset}') if offset else address
    pointers = f'{kind}*' if TYPED else 'ptr'
    return f'{pointers} {body.line(f"inttoptr i64 {place} to {pointers}")}'


def splat(body, number: str) -> str:
    """Return the name of a vector of equal numbers, one for each lane."""
    if body.lanes == 1:
        return number
    first = body.line(f'insertelement {body.kind} undef, double {number}, i32 0')
    return body.line(f'shufflevector {body.kind} {first}, {body.kind} undef, <{body.lanes} x i32> zeroinitializer')


def columns(body, address: str, length: int) -> list[str]:
    """Return the names of the columns of rows of ``length`` numbers at an address, a row for each lane."""
    if body.lanes == 1:
        return [body.loaded(address, k) for k in range(length)]
    found = []
    for first in range(0, length, TILE):
        width = min(TILE, length - first)
        parts = []
        for lane in range(0, body.lanes, TILE):
            rows = [
                _resized(body, _load(body, address, 8 * (length * (lane + b) + first), width), width, TILE)
                for b in range(TILE)
            ]
            parts.append(_transposed(body, rows)[:width])
        found += [_joined(body, column) for column in zip(*parts, strict=True)]
    return found


def write_rows(body, values: list[str], address: str) -> None:
    """Store values, which have a number for each lane, as the columns of rows at an address."""
    if body.lanes == 1:
        for k, value in enumerate(values):
            _store(body, 'double', value, address, 8 * k)
        return
    for lane in range(0, body.lanes, TILE):
        for first in range(0, len(values), TILE):
            some = [_part(body, value, lane) for value in values[first : first + TILE]]
            width = len(some)
            rows = _transposed(body, some + ['undef'] * (TILE - width))
            for b, row in enumerate(rows):
                offset = 8 * (len(values) * (lane + b) + first)
                _store(body, _numbers(width), _resized(body, row, TILE, width), address, offset)


def row(body, start: str, length: int) -> str:
    """Return the address of the first row of a block, for rows of ``length`` numbers from an address on."""
    return body.line(f'add i64 {start}, {body.line(f"mul i64 %block_k, {8 * length}")}')


def target(body, result: str, size: int) -> str:
    """Return the address where the results of a block are written: their rows at %rows, or %buffered."""
    body.lines.append(f'  %rows = add i64 {result}, {body.line(f"mul i64 %block_k, {8 * size}")}')
    return body.line('select i1 %bypass, i64 %buffered, i64 %rows')


def loop_over_blocks(before: list[str], body, finite: str, size: int) -> list[str]:
    """Return the lines that compute all blocks, ``body`` for each one with ``finite`` as its check.

    ``size`` is the number of entries of a state's result. What comes ``before`` is computed once.
    """
    lanes, kind = body.lanes, body.kind
    count, place = lanes * size, f'{kind}*' if TYPED else 'ptr'
    block = [
        *body.lines,
        f'  %before = load {kind}, {place} %total',
        f'  %sum = fadd {kind} %before, {finite}',
        f'  store {kind} %sum, {place} %total',
        '  br i1 %bypass, label %stream, label %written',
        'stream:',
        # numbers before the first whole cache line: -(address / 8) modulo TILE
        '  %place = lshr i64 %rows, 3',
        '  %minus = sub i64 0, %place',
        f'  %ahead = and i64 %minus, {TILE - 1}',
        f'  %rest = sub i64 {count}, %ahead',
        f'  %lines = and i64 %rest, {-TILE}',
        '  %whole = add i64 %ahead, %lines',
        *_copy('head', 1, '0', '%ahead', 'stream'),
        *_copy('line', TILE, '%ahead', '%whole', 'head_end'),
        *_copy('tail', 1, '%whole', f'{count}', 'line_end'),
        '  br label %written',
        'written:',
    ]
    return [
        'entry:',
        f'  %buffer = alloca [{count} x double], align 64',
        f'  %buffered = ptrtoint {f"[{count} x double]*" if TYPED else "ptr"} %buffer to i64',
        f'  %total = alloca {kind}',
        f'  store {kind} zeroinitializer, {place} %total',
        '  %bypass = icmp ne i64 %streamed, 0',
        *before,
        *_loop('block', lanes, '0', '%count', 'entry', block, 'written'),
        '  fence seq_cst',  # other cores then read the results of stores that bypass the caches
        f'  %all = load {kind}, {place} %total',
        f'  %are_finite = fcmp oeq {kind} %all, zeroinitializer',
        f'  %bits = bitcast <{lanes} x i1> %are_finite to i{lanes}',
        f'  %set = icmp eq i{lanes} %bits, -1',
        '  %answer = zext i1 %set to i64',
        '  ret i64 %answer',
    ]


def _copy(label: str, step: int, first: str, end: str, then: str) -> list[str]:
    """Return the loop that copies numbers from %buffered to %rows, whole cache lines past the caches."""
    kind = 'double' if step == 1 else _numbers(step)
    place, store = f'{kind}*' if TYPED else 'ptr', '8' if step == 1 else f'{8 * TILE}, !nontemporal !0'
    lines = [
        f'  %{label}_bytes = shl i64 %{label}_k, 3',
        f'  %{label}_from = add i64 %buffered, %{label}_bytes',
        f'  %{label}_to = add i64 %rows, %{label}_bytes',
        f'  %{label}_source = inttoptr i64 %{label}_from to {place}',
        f'  %{label}_place = inttoptr i64 %{label}_to to {place}',
        f'  %{label}_value = load {kind}, {place} %{label}_source, align 8',
        f'  store {kind} %{label}_value, {place} %{label}_place, align {store}',
    ]
    return _loop(label, step, first, end, then, lines, label)


def _loop(label: str, step: int, first: str, end: str, then: str, lines: list[str], last: str) -> list[str]:
    """Return a loop over %<label>_k; it follows the block ``then``, and its ``lines`` end in the block ``last``."""
    return [
        f'  br label %{label}_test',
        f'{label}_test:',
        f'  %{label}_k = phi i64 [{first}, %{then}], [%{label}_next, %{last}]',
        f'  %{label}_left = icmp slt i64 %{label}_k, {end}',
        f'  br i1 %{label}_left, label %{label}, label %{label}_end',
        f'{label}:',
        *lines,
        f'  %{label}_next = add i64 %{label}_k, {step}',
        f'  br label %{label}_test',
        f'{label}_end:',
    ]


def _numbers(size: int) -> str:
    """Return the type of a vector of ``size`` numbers, one number included."""
    return f'<{size} x double>'


def _load(body, address: str, offset: int, width: int) -> str:
    """Return the name of a vector of ``width`` numbers from memory."""
    kind = _numbers(width)
    return body.line(f'load {kind}, {pointer(body, kind, address, offset)}, align 8')


def _store(body, kind: str, value: str, address: str, offset: int) -> None:
    """Store a number, or a vector of some, to memory."""
    body.lines.append(f'  store {kind} {value}, {pointer(body, kind, address, offset)}, align 8')


def _shuffled(body, one: str, other: str, size: int, entries: list[int]) -> str:
    """Return the name of these entries of two vectors; indices of the second follow those of the first."""
    places = ', '.join(f'i32 {k}' for k in entries)
    kind = _numbers(size)
    return body.line(f'shufflevector {kind} {one}, {kind} {other}, <{len(entries)} x i32> <{places}>')


def _resized(body, vector: str, size: int, wanted: int) -> str:
    """Return the name of a vector of ``wanted`` entries that begins as ``vector`` does; further ones are arbitrary."""
    if size == wanted:
        return vector
    return _shuffled(body, vector, vector, size, [min(k, size - 1) for k in range(wanted)])


def _transposed(body, rows: list[str]) -> list[str]:
    """Return the names of the columns of TILE vectors of TILE numbers."""
    rows, half = list(rows), TILE // 2
    while half:
        # swap the off-diagonal half x half blocks of rows i and i + half
        near = [j if not j & half else TILE + j - half for j in range(TILE)]
        far = [j + half if not j & half else TILE + j for j in range(TILE)]
        for i in (i for i in range(TILE) if not i & half):
            pair = rows[i], rows[i + half]
            rows[i], rows[i + half] = (_shuffled(body, *pair, TILE, entries) for entries in (near, far))
        half //= 2
    return rows


def _joined(body, parts: tuple[str, ...]) -> str:
    """Return the name of the vector of all entries of one or two vectors of TILE numbers."""
    return parts[0] if len(parts) == 1 else _shuffled(body, parts[0], parts[1], TILE, list(range(2 * TILE)))


def _part(body, vector: str, first: int) -> str:
    """Return the name of TILE entries of a vector, from ``first`` on."""
    entries = list(range(first, first + TILE))
    return vector if body.lanes == TILE else _shuffled(body, vector, vector, body.lanes, entries)
