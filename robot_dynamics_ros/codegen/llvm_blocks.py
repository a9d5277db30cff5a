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


def splat(body, number: str, lanes: int) -> str:
    """Return the name of a vector of equal numbers."""
    kind = vector_type(lanes)
    first = body.line(f'insertelement {kind} undef, double {number}, i32 0')
    return body.line(f'shufflevector {kind} {first}, {kind} undef, <{lanes} x i32> zeroinitializer')


def columns(body, address: str, length: int, lanes: int) -> list[str]:
    """Return the names of the columns of ``lanes`` rows of ``length`` numbers at an address."""
    found = []
    for first in range(0, length, TILE):
        width = min(TILE, length - first)
        parts = []
        for lane in range(0, lanes, TILE):
            rows = [
                _resized(body, _load(body, address, 8 * (length * (lane + b) + first), width), width, TILE)
                for b in range(TILE)
            ]
            parts.append(_transposed(body, rows)[:width])
        found += [_joined(body, column) for column in zip(*parts, strict=True)]
    return found


def write_rows(body, values: list[str], address: str, lanes: int) -> None:
    """Store vectors of ``lanes`` numbers as the columns of rows at an address."""
    for lane in range(0, lanes, TILE):
        for first in range(0, len(values), TILE):
            some = [_part(body, value, lane, lanes) for value in values[first : first + TILE]]
            rows = _transposed(body, some + ['undef'] * (TILE - len(some)))
            for b, row in enumerate(rows):
                place = pointer(body, _numbers(len(some)), address, 8 * (len(values) * (lane + b) + first))
                body.lines.append(
                    f'  store {_numbers(len(some))} {_resized(body, row, TILE, len(some))}, {place}, align 8'
                )


def loop_over_blocks(name: str, inputs: dict[str, int], size: int, lanes: int, before, body, finite: str) -> str:
    """Return ``<name>_blocks``; ``before`` is computed once, ``body`` for each block with ``finite`` as its check."""
    kind, word = vector_type(lanes), 'i64*' if TYPED else 'ptr'
    lines = [
        body.declarations(),
        f'define i8 @{name}_blocks(i64 %vectors, i64 %runtime_inputs, i64 %result, i64 %count, i64 %streamed) {{',
        'entry:',
        f'  %buffer = alloca [{lanes * size} x double], align 64',
        f'  %buffered = ptrtoint {f"[{lanes * size} x double]*" if TYPED else "ptr"} %buffer to i64',
        '  %bypass = icmp ne i64 %streamed, 0',
    ]
    for k, array in enumerate(inputs):
        lines += [
            f'  %at_{array} = add i64 %vectors, {8 * k}',
            f'  %pointer_{array} = inttoptr i64 %at_{array} to {word}',
            f'  %start_{array} = load i64, {word} %pointer_{array}, align 8',
        ]
    lines += [
        *before.lines,
        '  br label %test',
        'test:',
        '  %b = phi i64 [0, %entry], [%next, %written]',
        f'  %total = phi {kind} [zeroinitializer, %entry], [%sum, %written]',
        '  %is_left = icmp slt i64 %b, %count',
        '  br i1 %is_left, label %block, label %end',
        'block:',
        f'  %bytes = mul i64 %b, {8 * size}',
        '  %rows = add i64 %result, %bytes',
        '  %target = select i1 %bypass, i64 %buffered, i64 %rows',
    ]
    for array, length in inputs.items():
        lines += [
            f'  %bytes_{array} = mul i64 %b, {8 * length}',
            f'  %{array} = add i64 %start_{array}, %bytes_{array}',
        ]
    lines += [
        *body.lines,
        f'  %sum = fadd {kind} %total, {finite}',
        f'  %next = add i64 %b, {lanes}',
        '  br i1 %bypass, label %stream, label %written',
        *_stream(lanes * size),
        'end:',
        '  fence seq_cst',  # other cores then read the results of stores that bypass the caches
        f'  %are_finite = fcmp oeq {kind} %total, zeroinitializer',
        f'  %bits = bitcast <{lanes} x i1> %are_finite to i{lanes}',
        f'  %all = icmp eq i{lanes} %bits, -1',
        '  %answer = zext i1 %all to i8',
        '  ret i8 %answer',
        '}',
        '!0 = !{i32 1}',
    ]
    return '\n'.join(lines)


def _stream(count: int) -> list[str]:
    """Return the blocks that copy ``count`` numbers from %buffered to %rows, whole cache lines past the caches."""
    number, line = ('double*', f'{_numbers(TILE)}*') if TYPED else ('ptr', 'ptr')

    def copy(label: str, step: int, first: str, end: str, then: str) -> list[str]:
        kind = 'double' if step == 1 else _numbers(step)
        place = number if step == 1 else line
        store = 'align 8' if step == 1 else f'align {8 * TILE}, !nontemporal !0'
        return [
            f'  br label %{label}_test',
            f'{label}_test:',
            f'  %{label}_k = phi i64 [{first}, %{then}], [%{label}_next, %{label}]',
            f'  %{label}_left = icmp slt i64 %{label}_k, {end}',
            f'  br i1 %{label}_left, label %{label}, label %{label}_end',
            f'{label}:',
            f'  %{label}_bytes = shl i64 %{label}_k, 3',
            f'  %{label}_from = add i64 %buffered, %{label}_bytes',
            f'  %{label}_to = add i64 %rows, %{label}_bytes',
            f'  %{label}_source = inttoptr i64 %{label}_from to {place}',
            f'  %{label}_place = inttoptr i64 %{label}_to to {place}',
            f'  %{label}_value = load {kind}, {place} %{label}_source, align 8',
            f'  store {kind} %{label}_value, {place} %{label}_place, {store}',
            f'  %{label}_next = add i64 %{label}_k, {step}',
            f'  br label %{label}_test',
            f'{label}_end:',
        ]

    return [
        'stream:',
        # numbers before the first whole cache line: -(address / 8) modulo TILE
        '  %place = lshr i64 %rows, 3',
        '  %minus = sub i64 0, %place',
        f'  %ahead = and i64 %minus, {TILE - 1}',
        f'  %rest = sub i64 {count}, %ahead',
        f'  %lines = and i64 %rest, {-TILE}',
        '  %whole = add i64 %ahead, %lines',
        *copy('head', 1, '0', '%ahead', 'stream'),
        *copy('line', TILE, '%ahead', '%whole', 'head_end'),
        *copy('tail', 1, '%whole', f'{count}', 'line_end'),
        '  br label %written',
        'written:',
        '  br label %test',
    ]


def _numbers(size: int) -> str:
    """Return the type of a vector of ``size`` numbers, one number included."""
    return f'<{size} x double>'


def _load(body, address: str, offset: int, width: int) -> str:
    """Return the name of a vector of ``width`` numbers from memory."""
    kind = _numbers(width)
    return body.line(f'load {kind}, {pointer(body, kind, address, offset)}, align 8')


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


def _part(body, vector: str, first: int, lanes: int) -> str:
    """Return the name of TILE entries of a vector, from ``first`` on."""
    return vector if lanes == TILE else _shuffled(body, vector, vector, lanes, list(range(first, first + TILE)))
