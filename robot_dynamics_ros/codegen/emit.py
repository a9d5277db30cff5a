"""Writes a trace down as a Python file of straight lines, the same bytes for the same robot."""

from collections import Counter
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import NamedTuple

from robot_dynamics_ros.codegen.programs import Program, trace
from robot_dynamics_ros.codegen.trace import Symbol
from robot_dynamics_ros.dynamics.model import ModelArrays

LANES = 16
"""States that a block holds. Entry k of state b stands at LANES k + b: one instruction works on several states.

The AUBO-i5's inverse dynamics takes 33, 35, 39 ns a state with 16, 32, 64 lanes (AVX-512, 2026-11-20).
"""
WRITTEN = {
    '+': '{} + {}',
    '-': '{} - {}',
    '*': '{} * {}',
    '/': '{} / {}',
    'neg': '-{}',
    'fma': 'fma({}, {}, {})',
    'fnma': 'fma(-{}, {}, {})',
}
"""How an operation stands in the file."""
COLUMNS = 4
"""Entries of a row that are brought into a block at once, by vector instructions."""


class Operations(NamedTuple):
    """How many operations a trace needs."""

    multiplications: int
    additions: int  # and subtractions
    divisions: int
    sincos: int  # pairs
    fused: int  # multiplications with the addition that follows, counted as both

    def __str__(self):
        """Return the counts as one line."""
        return (
            f'{self.multiplications} multiplications, {self.additions} additions, '
            f'{self.divisions} divisions, {self.sincos} sincos; {self.fused} products and sums are fused'
        )


def needed(results) -> list[Symbol]:
    """Return every value that ``results`` depend on, in the order in which the kernel made them.

    Less is kept at a time than with each result's values together: a fifth fewer registers go to memory and back.
    """
    return sorted(_reached(results, lambda value: value.arguments), key=lambda value: value.number)


def _reached(results, arguments: Callable[[Symbol], tuple]) -> set[Symbol]:
    """Return the symbols among ``results``, among their ``arguments``, among those of these and so on."""
    reached: set[Symbol] = set()
    waiting = list(results)
    while waiting:
        value = waiting.pop()
        if isinstance(value, Symbol) and value not in reached:
            reached.add(value)
            waiting += arguments(value)
    return reached


def count(results) -> Operations:
    """Return the operations of a trace; a change of sign is none, it is part of a subtraction or of a store."""
    found = Counter(value.operation for value in needed(results))
    pairs = {value.arguments for value in needed(results) if value.operation in ('sin', 'cos')}
    fused = found['fma'] + found['fnma']
    return Operations(found['*'] + fused, found['+'] + found['-'] + fused, found['/'], len(pairs), fused)


def unseen(results, inputs: dict[str, int]) -> list[str]:
    """Return the entries of ``inputs`` (name: length) that may be NaN or inf while all results are finite.

    Those are few: whatever is added to NaN or inf, or multiplied with it, is not finite either, and sincos gives NaN.
    Left are entries that no result depends on, or only as a divisor.
    """

    def shown_by(value: Symbol) -> tuple:
        return value.arguments[:1] if value.operation == '/' else value.arguments

    seen = _reached(results, shown_by)
    shown = {value.arguments for value in seen if value.operation == 'input'}
    return [f'{array}_{k}' for array, size in inputs.items() for k in range(size) if (array, k) not in shown]


def source(arrays: ModelArrays, name: str, program: Program, heading: str) -> str:
    """Return a Python file with ``<name>`` for one state and ``<name>_batch`` for whole blocks of states in rows.

    Arrays of the batch are flat. Both return whether all of their numbers are finite. ``heading`` says what the file
    was made of.
    """
    results = trace(arrays, program)
    inputs = dict(zip(program.inputs, program.sizes(arrays), strict=True))
    result, size = program.result, len(results)
    vectors = ', '.join((*inputs, 'load', result))
    blocks = [*(f'{array}_block' for array in (*inputs, result)), 'rest']
    in_block = ', '.join((*blocks[:-2], 'load', *blocks[-2:]))
    distinct = {value: f'{result}_{k}' for k, value in reversed(list(enumerate(results)))}
    finite = _rest([*unseen(results, inputs), *distinct.values()])
    parts = [
        [
            f'"""{heading}',
            '',
            f'{count(results)}.',
            '"""',
            '',
            'from robot_dynamics_ros.dynamics.fused import fma',
            'from robot_dynamics_ros.dynamics.jit import entry, inlined',
            'from robot_dynamics_ros.dynamics.sincos import sincos',
        ],
        [
            f'def {name}({vectors}):',
            *_body(results, inputs, result, lambda k: f'{k}'),
            f'    return {finite} == 0.0',
        ],
        [
            '@inlined',
            f'def {name}_block({vectors}, rest):',
            f'    for b in range({LANES}):',
            *(f'    {line}' for line in _body(results, inputs, result, lambda k: f'{LANES * k} + b')),
            f'        rest[b] = {finite}',
        ],
        [
            '@entry',
            f'def {name}_batch({vectors}, scratch):',
            *_views(blocks, [*inputs.values(), size, 1]),
            '    total = 0.0',
            f'    for first in range(0, {result}.size // {size}, {LANES}):',
            *(line for array, n in inputs.items() for line in _into_block(array, n)),
            f'        {name}_block({in_block})',
            *_out_of_block(result, size, len(program.shape(arrays))),
            f'        for b in range({LANES}):',
            '            total += rest[b]',
            '    return total == 0.0',
        ],
    ]
    return '\n\n\n'.join('\n'.join(part) for part in parts) + '\n'


def _views(blocks: list[str], sizes: list[int]) -> list[str]:
    """Return the lines that name the parts of ``scratch``, of LANES times ``sizes`` numbers."""
    ends = [LANES * end for end in accumulate(sizes, initial=0)]
    return [f'    {block} = scratch[{i}:{j}]' for block, (i, j) in zip(blocks, pairwise(ends), strict=True)]


def _into_block(array: str, n: int) -> list[str]:
    """Return the lines that bring LANES joint vectors (n) into a block."""
    return _moved(array, n, f'{array}_block[{{place}} + b] = rows[{n} * b + {{k}}]')


def _out_of_block(array: str, size: int, axes: int) -> list[str]:
    """Return the lines that bring LANES results (size) out of a block, those of several axes entry by entry."""
    if axes == 1:
        return _moved(array, size, f'rows[{size} * b + {{k}}] = {array}_block[{{place}} + b]')
    return [
        _rows(array, size),
        f'        for k in range({size}):',
        f'            for b in range({LANES}):',
        f'                rows[{size} * b + k] = {array}_block[{LANES} * k + b]',
    ]


def _moved(array: str, size: int, move: str) -> list[str]:
    """Return loops that each ``move`` some columns of LANES rows: strides that are numbers make vector instructions."""
    lines = [_rows(array, size)]
    for first in range(0, size, COLUMNS):
        lines.append(f'        for b in range({LANES}):')
        columns = range(first, min(first + COLUMNS, size))
        lines += ['            ' + move.format(place=LANES * k, k=k) for k in columns]
    return lines


def _rows(array: str, size: int) -> str:
    """Return the line that names LANES rows of an array."""
    return f'        rows = {array}[{size} * first : {size} * first + {size * LANES}]'


def _rest(names: list[str]) -> str:
    """Return the sum of name - name, added in pairs: 0 if all are finite, else NaN."""
    terms = [f'({name} - {name})' for name in names]
    while len(terms) > 1:
        pairs = [f'({left} + {right})' for left, right in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[2 * len(pairs) :]
    return terms[0]


def _body(results, inputs: dict[str, int], result: str, place: Callable[[int], str]) -> list[str]:
    """Return the lines of a function's body; ``place`` is where a joint vector's entry stands."""
    names: dict[Symbol, str] = {}
    # all of them, also those that nothing depends on: they too have to be finite
    lines = [f'{array}_{k} = {array}[{place(k)}]' for array, size in inputs.items() for k in range(size)]

    def text(value) -> str:
        return names[value] if isinstance(value, Symbol) else repr(float(value))

    for value in needed(results):
        operation, arguments = value.operation, value.arguments
        if operation == 'input':
            array, k = arguments
            names[value] = f'{array}_{k}'
            if array == 'load':
                lines.append(f'{names[value]} = load[{k}]')
        elif operation in ('sin', 'cos'):
            angle = text(arguments[0])
            names[value] = f'{operation}_{angle}'
            if f'sin_{angle}, cos_{angle} = sincos({angle})' not in lines:
                lines.append(f'sin_{angle}, cos_{angle} = sincos({angle})')
        else:
            names[value] = f't{len(names)}'
            lines.append(f'{names[value]} = ' + WRITTEN[operation].format(*map(text, arguments)))
    for k, value in enumerate(results):
        lines += [f'{result}_{k} = {text(value)}', f'{result}[{place(k)}] = {result}_{k}']
    return [f'    {line}' for line in lines]
