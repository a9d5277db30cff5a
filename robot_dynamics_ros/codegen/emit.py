"""Writes a trace down as a Python file of straight lines, the same bytes for the same robot."""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from robot_dynamics_ros.codegen.programs import Program, trace
from robot_dynamics_ros.codegen.trace import Symbol
from robot_dynamics_ros.dynamics.model import ModelArrays

LANES = 64
"""States that a block holds. Entry k of state b stands at LANES k + b: one instruction works on several states."""


class Operations(NamedTuple):
    """How many operations a trace needs."""

    multiplications: int
    additions: int  # and subtractions
    divisions: int
    sincos: int  # pairs

    def __str__(self):
        """Return the counts as one line."""
        return (
            f'{self.multiplications} multiplications, {self.additions} additions, '
            f'{self.divisions} divisions, {self.sincos} sincos'
        )


def needed(results) -> list[Symbol]:
    """Return every value that ``results`` depend on, arguments before the values that need them."""
    ordered: dict[Symbol, None] = {}
    waiting = [value for value in reversed(list(results)) if isinstance(value, Symbol)]
    while waiting:
        value = waiting.pop()
        missing = [a for a in value.arguments if isinstance(a, Symbol) and a not in ordered]
        if value in ordered:
            continue
        if missing:
            waiting += [value, *reversed(missing)]
        else:
            ordered[value] = None
    return list(ordered)


def count(results) -> Operations:
    """Return the operations of a trace; a change of sign is none, it is part of a subtraction or of a store."""
    found = Counter(value.operation for value in needed(results))
    pairs = {value.arguments for value in needed(results) if value.operation in ('sin', 'cos')}
    return Operations(found['*'], found['+'] + found['-'], found['/'], len(pairs))


def source(arrays: ModelArrays, name: str, program: Program, heading: str) -> str:
    """Return a Python file with ``<name>`` for one state and ``<name>_batch`` for states in rows.

    Both return whether all of their numbers are finite. ``heading`` says what the file was made of.
    """
    n = len(arrays.parent) - 1
    results = trace(arrays, program)
    inputs, result = program.inputs, program.result
    blocks = [f'{array}_block' for array in (*inputs, result)]
    vectors = ', '.join((*inputs, 'load', result))
    in_block = ', '.join((*blocks[:-1], 'load', blocks[-1]))
    numbers = [f'{array}_{k}' for array in inputs for k in range(n)]
    numbers += [f'{result}_{k}' for k in range(len(results))]
    parts = [
        [
            f'"""{heading}',
            '',
            f'{count(results)}.',
            '"""',
            '',
            'from robot_dynamics_ros.dynamics.jit import entry, kernel',
            'from robot_dynamics_ros.dynamics.sincos import sincos',
        ],
        [
            f'def {name}({vectors}):',
            *_body(results, program, n, lambda k: f'{k}'),
            f'    return {_rest(numbers)} == 0.0',
        ],
        [
            '@kernel',
            f'def {name}_block({vectors}, rest):',
            f'    for b in range({LANES}):',
            *(f'    {line}' for line in _body(results, program, n, lambda k: f'{LANES * k} + b')),
            f'        rest[b] = {_rest(numbers)}',
        ],
        [
            '@entry',
            f'def {name}_batch({vectors}, {", ".join(blocks)}, rest):',
            f'    count = {result}.shape[0]',
            '    total = 0.0',
            f'    for start in range(0, count, {LANES}):',
            f'        for b in range({LANES}):',
            '            i = min(start + b, count - 1)',
            f'            for k in range({n}):',
            *(f'                {array}_block[{LANES} * k + b] = {array}[i, k]' for array in inputs),
            f'        {name}_block({in_block}, rest)',
            f'        for b in range(min({LANES}, count - start)):',
            f'            for k in range({len(results)}):',
            f'                {result}[start + b, k] = {blocks[-1]}[{LANES} * k + b]',
            '            total += rest[b]',
            '    return total == 0.0',
        ],
    ]
    return '\n\n\n'.join('\n'.join(part) for part in parts) + '\n'


def _rest(names: list[str]) -> str:
    """Return the sum of name - name, added in pairs: 0 if all are finite, else NaN."""
    terms = [f'({name} - {name})' for name in names]
    while len(terms) > 1:
        pairs = [f'({left} + {right})' for left, right in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + terms[2 * len(pairs) :]
    return terms[0]


def _body(results, program: Program, n: int, place: Callable[[int], str]) -> list[str]:
    """Return the lines of a function's body; ``place`` is where a joint vector's entry stands."""
    names: dict[Symbol, str] = {}
    # all of them, also those that nothing depends on: they too have to be finite
    lines = [f'{array}_{k} = {array}[{place(k)}]' for array in program.inputs for k in range(n)]

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
            left, *right = map(text, arguments)
            lines.append(f'{names[value]} = ' + (f'{left} {operation} {right[0]}' if right else f'-{left}'))
    for k, value in enumerate(results):
        lines += [f'{program.result}_{k} = {text(value)}', f'{program.result}[{place(k)}] = {program.result}_{k}']
    return [f'    {line}' for line in lines]
