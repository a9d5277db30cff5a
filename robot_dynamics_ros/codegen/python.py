"""Python source of straight-line code, for Numba: the same bytes for the same robot."""

from robot_dynamics_ros.codegen.straight_line import StraightLine, count
from robot_dynamics_ros.codegen.trace import Symbol

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


def source(code: StraightLine, heading: str) -> str:
    """Return a Python file with the code for one state, with flat arrays; it returns whether all numbers are finite.

    ``heading`` is the first line of the file's docstring.
    """
    results, result = code.results, 'result'
    first = {value: f'{result}_{k}' for k, value in reversed(list(enumerate(results))) if isinstance(value, Symbol)}
    written = [(k, first[value] if isinstance(value, Symbol) else text(value)) for k, value in enumerate(results)]
    runtime_inputs, lines = _body(code)
    parts = [
        [
            f'"""{heading}',
            '',
            f'{count(results)}.',
            '"""',
            '',
            'from math import sqrt',
            '',
            'from robot_dynamics_ros.jit.fused_multiply_add import fma',
            'from robot_dynamics_ros.kernels.sincos import sincos',
        ],
        [
            f'def {code.name}({", ".join((*code.inputs, "runtime_inputs", result))}):',
            *(f'    {line}' for line in runtime_inputs),
            *(f'    {array}_{k} = {array}[{k}]' for array, n in code.inputs.items() for k in range(n)),
            *(f'    {line}' for line in lines),
            *(f'    {name} = {text(value)}' for value, name in first.items()),
            *(f'    {result}[{k}] = {value}' for k, value in written),
            f'    return {text(code.finite)} == 0.0',
        ],
    ]
    return '\n\n\n'.join('\n'.join(part) for part in parts) + '\n'


def _body(code: StraightLine) -> tuple[list[str], list[str]]:
    """Return the lines that read ``runtime_inputs``, and those that compute all other values."""
    runtime_inputs, lines, pairs = [], [], set()
    for value in code.values:
        operation, arguments = value.operation, value.arguments
        if operation == 'input':
            if arguments[0] == 'runtime_inputs':
                runtime_inputs.append(f'{text(value)} = runtime_inputs[{arguments[1]}]')
        elif operation in ('sin', 'cos'):
            (angle,) = map(text, arguments)
            if angle not in pairs:
                lines.append(f'sin_{angle}, cos_{angle} = sincos({angle})')
                pairs.add(angle)
        else:
            lines.append(f'{text(value)} = ' + WRITTEN[operation].format(*map(text, arguments)))
    return runtime_inputs, lines


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
