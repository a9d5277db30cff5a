"""Values and operations of a trace, and its Python source: straight-line code, the same bytes for the same robot."""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from robot_dynamics_ros.compiler.algorithms import Algorithm, trace
from robot_dynamics_ros.compiler.trace import Symbol
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE

WRITTEN = {
    '+': '{} + {}',
    '-': '{} - {}',
    '*': '{} * {}',
    '/': '{} / {}',
    'neg': '-{}',
    'sqrt': 'sqrt({})',
    'fma': 'fma({}, {}, {})',
    'fnma': 'fma(-{}, {}, {})',
}
"""Source text of each operation."""
OVERFLOW_FACTOR = 2.0 * (2.0**1023 / LARGEST_ANGLE)
"""The product of this and an angle is infinite from LARGEST_ANGLE on, and only then."""
CHAIN = 4
"""Length of the dependent chains in the check for finite numbers."""


class Operations(NamedTuple):
    """Number of operations of a trace."""

    multiplications: int
    additions: int  # and subtractions
    divisions: int
    sincos: int  # pairs
    fused: int  # fused multiply-adds, counted as multiplications and as additions, too

    def __str__(self):
        """Return the counts as one line."""
        return (
            f'{self.multiplications} multiplications, {self.additions} additions, '
            f'{self.divisions} divisions, {self.sincos} sincos; {self.fused} products and sums are fused'
        )


def needed(results) -> list[Symbol]:
    """Return every value that ``results`` depend on, in the order in which the kernel computed them.

    Fewer values are alive at a time than in the order of results: a fifth fewer registers are spilled.
    """
    return sorted(_reached(results, lambda value: value.arguments), key=lambda value: value.number)


def _reached(results, arguments: Callable[[Symbol], tuple]) -> set[Symbol]:
    """Return all symbols that can be reached from ``results`` through ``arguments``."""
    reached: set[Symbol] = set()
    waiting = list(results)
    while waiting:
        value = waiting.pop()
        if isinstance(value, Symbol) and value not in reached:
            reached.add(value)
            waiting += arguments(value)
    return reached


def count(results) -> Operations:
    """Return the number of operations of a trace; changes of sign are not counted."""
    found = Counter(value.operation for value in needed(results))
    pairs = {value.arguments for value in needed(results) if value.operation in ('sin', 'cos')}
    fused = found['fma'] + found['fnma']
    return Operations(found['*'] + fused, found['+'] + found['-'] + fused, found['/'], len(pairs), fused)


class CheckedEntry(NamedTuple):
    """An entry of an input whose value the check for finite numbers includes."""

    array: str
    k: int
    is_angle: bool
    """Whether the check multiplies it by OVERFLOW_FACTOR, so that it is not finite for too large an angle."""


def checked(results, inputs: dict[str, int], angles: tuple[int, ...]) -> list[str]:
    """Return the expressions of ``checked_entries`` that have to be finite."""
    return [
        f'({entry.array}_{entry.k} * {OVERFLOW_FACTOR!r})' if entry.is_angle else f'{entry.array}_{entry.k}'
        for entry in checked_entries(results, inputs, angles)
    ]


def checked_entries(results, inputs: dict[str, int], angles: tuple[int, ...]) -> list[CheckedEntry]:
    """Return all angles, and the entries of ``inputs`` (name: length) that may be NaN or inf while results are finite.

    ``angles`` are indices in q.
    Sums, products and sincos propagate NaN and inf. The remaining entries are those that no result depends on, or only
    as a divisor.
    """
    of_angles = [CheckedEntry('q', k, is_angle=True) for k in angles]

    def propagating(value: Symbol) -> tuple:
        return value.arguments[:1] if value.operation == '/' else value.arguments

    reached = _reached(results, propagating)
    propagated = {value.arguments for value in reached if value.operation == 'input'}
    propagated.update((entry.array, entry.k) for entry in of_angles)
    entries = [(array, k) for array, size in inputs.items() for k in range(size) if (array, k) not in propagated]
    return [*of_angles, *(CheckedEntry(*entry, is_angle=False) for entry in entries)]


def source(arrays: ModelArrays, name: str, algorithm: Algorithm, heading: str) -> str:
    """Return a Python file with ``<name>`` for one state, with flat arrays; it returns whether all numbers are finite.

    ``heading`` is the first line of the file's docstring.
    """
    results = trace(arrays, algorithm)
    inputs, result = dict(zip(algorithm.inputs, algorithm.lengths(arrays), strict=True)), 'result'
    first = {value: f'{result}_{k}' for k, value in reversed(list(enumerate(results))) if isinstance(value, Symbol)}
    written = [(k, first[value] if isinstance(value, Symbol) else text(value)) for k, value in enumerate(results)]
    load, lines = _body(results)
    parts = [
        [
            f'"""{heading}',
            '',
            f'{count(results)}.',
            '"""',
            '',
            'from math import sqrt',
            '',
            'from robot_dynamics_ros.jit.fused import fma',
            'from robot_dynamics_ros.kernels.sincos import sincos',
        ],
        [
            f'def {name}({", ".join((*inputs, "load", result))}):',
            *(f'    {line}' for line in load),
            *(f'    {array}_{k} = {array}[{k}]' for array, n in inputs.items() for k in range(n)),
            *(f'    {line}' for line in lines),
            *(f'    {name} = {text(value)}' for value, name in first.items()),
            *(f'    {result}[{k}] = {value}' for k, value in written),
            f'    return {_finiteness([*checked(results, inputs, arrays.angles), *first.values()])} == 0.0',
        ],
    ]
    return '\n\n\n'.join('\n'.join(part) for part in parts) + '\n'


def _finiteness(names: list[str]) -> str:
    """Return the expression of the sum of ``name * 0``, in short chains: 0 if all numbers are finite, else NaN."""
    terms = []
    for first in range(0, len(names), CHAIN):
        term = f'{names[first]} * 0.0'
        for name in names[first + 1 : first + CHAIN]:
            term = f'fma({name}, 0.0, {term})'
        terms.append(term)
    while len(terms) > 1:
        pairs = [f'({left} + {right})' for left, right in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[2 * len(pairs) :]
    return terms[0]


def _body(results) -> tuple[list[str], list[str]]:
    """Return the lines that read ``load``, and those that compute all other values that ``results`` need."""
    load, lines, pairs = [], [], set()
    for value in needed(results):
        operation, arguments = value.operation, value.arguments
        if operation == 'input':
            if arguments[0] == 'load':
                load.append(f'{text(value)} = load[{arguments[1]}]')
        elif operation in ('sin', 'cos'):
            (angle,) = map(text, arguments)
            if angle not in pairs:
                lines.append(f'sin_{angle}, cos_{angle} = sincos({angle})')
                pairs.add(angle)
        else:
            lines.append(f'{text(value)} = ' + WRITTEN[operation].format(*map(text, arguments)))
    return load, lines


def text(value) -> str:
    """Return the name of a value in the file, or the number."""
    if not isinstance(value, Symbol):
        return repr(float(value))
    if value.operation == 'input':
        array, k = value.arguments
        return f'{array}_{k}'
    if value.operation in ('sin', 'cos'):
        return f'{value.operation}_{text(value.arguments[0])}'
    return f't{value.number}'
