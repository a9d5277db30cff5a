"""Generation of C99 from traces: one source file and one header for a robot, the same bytes for the same robot."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from robot_dynamics_ros.codegen.c.text import comment, filled, identifier, inside_comment, mark, numbers, string
from robot_dynamics_ros.codegen.straight_line import StraightLine, count, needed
from robot_dynamics_ros.codegen.trace import OPERATIONS, Symbol, Tape
from robot_dynamics_ros.kernels.sincos import sincos
from robot_dynamics_ros.model.joint_types import KINDS, LARGEST_ANGLE
from robot_dynamics_ros.model.model import Model

INPUTS = {'gravity': 3, 'last_link_inertia': 10, 'last_link_wrench': 6}
"""Fields of the run-time inputs, in the order of their entries."""
TEMPLATES = Path(__file__).with_name('templates')
"""Folder of the texts that are the same for every robot."""


class Function(NamedTuple):
    """A function of the generated file: its name, code and comment."""

    code: StraightLine
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Exported:
    """A robot of which C is written. Identifiers are checked; all other text may come from a robot description."""

    kind: ClassVar[str]
    model: Model
    digest: str
    runtime_inputs: np.ndarray
    """Present run-time inputs, (19,)."""

    @property
    def prefix(self) -> str:
        """The identifier before all names in the files."""
        return identifier(self.model.name, 'robot')

    @property
    def title(self) -> str:
        """Name of the files and of the target that CMake makes of them."""
        return f'{self.prefix}_{self.kind}'

    @property
    def words(self) -> dict[str, str | int]:
        """Words of the templates that all files have."""
        return {
            'mark': mark(self.title),
            'title': self.title,
            'prefix': self.prefix,
            'PREFIX': self.prefix.upper(),
            'joints': len(self.model.joint_names),
            'exact_numbers': (TEMPLATES / 'exact_numbers.c.in').read_text(encoding='utf-8').rstrip(),
        }


class Addition(NamedTuple):
    """What calls the functions of the generated file, in the same file."""

    header: str
    source: str


@dataclass(frozen=True, eq=False)
class Export(Exported):
    """Content of the two files of a robot's functions."""

    kind = 'dynamics'
    functions: Sequence[Function]
    addition: Addition | None = None


def function_name(prefix: str, quantity: str, *of_frame: str) -> str:
    """Return the name of the function of a quantity; ``of_frame``: link and reference frame, if it has them."""
    return '_'.join([prefix, quantity, *(identifier(it, 'link') for it in of_frame)])


def header(export: Export) -> str:
    """Return the header: sizes, run-time inputs and the functions with shapes and units in comments."""
    model = export.model
    return filled(
        TEMPLATES / 'dynamics.h.in',
        **export.words,
        robot=inside_comment(f'Rigid-body dynamics of the robot {model.name}, model digest {export.digest}.'),
        largest_angle=f'{LARGEST_ANGLE:.3g}',
        places=inside_comment(*_places(model)),
        coordinates=model.arrays.nq,
        velocities=model.arrays.nv,
        inputs=comment(
            'What may change at run time, the 19 numbers of Robot.runtime_inputs. For a payload, add its ten '
            f'parameters to those of the last link. Base: {model.link_names[0]}; last link: {model.link_names[-1]}.'
        ),
        prototypes='\n\n'.join(
            [
                *(
                    f'{comment(*function.paragraphs)}\n{_prototype(export.prefix, function.code)};'
                    for function in export.functions
                ),
                *([export.addition.header] if export.addition else []),
            ]
        ),
    )


def source(export: Export) -> str:
    """Return the source file: constants, sine and cosine, and the functions.

    Raises ArithmeticError where a constant would not be finite: ZeroDivisionError for a joint without inertia in
    forward dynamics.
    """
    prefix = export.prefix
    fields = np.split(export.runtime_inputs, np.cumsum([*INPUTS.values()])[:-1])
    functions = ['\n'.join(_definition(prefix, function.code)) for function in export.functions]
    if any(f'{prefix}_sincos(' in function for function in functions):
        functions.insert(0, _sine_and_cosine(prefix))
    if export.addition:
        functions.append(export.addition.source)
    return filled(
        TEMPLATES / 'dynamics.c.in',
        **export.words,
        usage=inside_comment(
            'C99, with fabs, fma and sqrt of math.h. Compile with -ffp-contract=off for the bits of '
            f'robot_dynamics_ros; see {export.title}.h for units and licence.'
        ),
        includes='#include <string.h>\n' if export.addition else '',
        joint_names='\n'.join(f'    {string(name)},' for name in export.model.joint_names),
        inputs='\n'.join(f'    {{{numbers(field)}}},' for field in fields),
        functions='\n\n'.join(functions),
    )


def cmake(export: Export) -> str:
    """Return the CMakeLists.txt of a static library."""
    return filled(TEMPLATES / 'dynamics.cmake.in', **export.words)


def _places(model: Model) -> Iterator[str]:
    """Yield a line for each joint: its name, its type, and its entries of joint vectors."""
    q = qd = 0
    for name, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        coordinates, velocities = KINDS[kind].coordinates, len(KINDS[kind].velocities)
        yield f'{_entries("q", q, coordinates)}, {_entries("qd", qd, velocities)}: {name} ({kind})'
        q, qd = q + coordinates, qd + velocities


def _entries(array: str, first: int, number: int) -> str:
    """Return the text of a range of entries."""
    return f'{array}[{first}]' if number == 1 else f'{array}[{first}] to {array}[{first + number - 1}]'


def _prototype(prefix: str, code: StraightLine) -> str:
    """Return the head of a function."""
    arguments = [
        *(f'const double {name}[{length}]' for name, length in code.inputs.items()),
        f'const {prefix}_inputs *inputs',
        f'double result[{len(code.results)}]',
    ]
    return f'bool {code.name}(\n    {", ".join(arguments)})'


def _definition(prefix: str, code: StraightLine) -> list[str]:
    """Return the lines of a function."""
    read = code.read
    lines = [
        *(f'const double {array}_{k} = {_entry(array, k)};' for array, k in read),
        *_angles(prefix, code.values),
        *_operations(prefix, code.values),
        *([] if any(array == 'runtime_inputs' for array, _ in read) else ['(void)inputs;']),
        *(f'result[{k}] = {text_of(value)};' for k, value in enumerate(code.results)),
        f'return {text_of(code.finite)} == 0.0;',
    ]
    return [f'/* {count(code.results)}. */', _prototype(prefix, code), '{', *indented(1, lines), '}']


def _sine_and_cosine(prefix: str) -> str:
    """Return the function of sine and cosine, from the kernel that all code uses."""
    tape = Tape()
    sine, cosine = tape.traced(sincos)(*tape.inputs('x', 1))
    operations = '\n'.join(indented(2, operation_lines(needed((sine, cosine)))))
    words = {'operations': operations, 'sine': text_of(sine), 'cosine': text_of(cosine)}
    return filled(TEMPLATES / 'sincos.c.in', prefix=prefix, **words).rstrip()


def _angles(prefix: str, values: Sequence[Symbol]) -> list[str]:
    """Return the lines that compute the sines and cosines of inputs among ``values``.

    One loop computes all of them, which compilers turn into vector instructions.
    """
    of_angles = [value for value in values if _is_of_input(value)]
    angles = list(dict.fromkeys(text_of(value.arguments[0]) for value in of_angles))
    n, arrays = len(angles), {'sin': 'sines', 'cos': 'cosines'}
    if not angles:
        return []
    return [
        f'const double angles[{n}] = {{{", ".join(angles)}}};',
        f'double sines[{n}], cosines[{n}];',
        f'{prefix}_sincos({n}, angles, sines, cosines);',
        *(
            f'const double {text_of(value)} = {arrays[value.operation]}[{angles.index(text_of(value.arguments[0]))}];'
            for value in of_angles
        ),
    ]


def _is_of_input(value: Symbol) -> bool:
    """Return whether a value is the sine or cosine of an input."""
    return value.operation in ('sin', 'cos') and value.arguments[0].operation == 'input'


def _operations(prefix: str, values: Sequence[Symbol]) -> list[str]:
    """Return the lines that compute ``values``, without inputs, and their sines and cosines."""
    lines: list[str] = []
    computed: set[str] = set()
    for value in values:
        if value.operation in OPERATIONS:
            lines += operation_lines([value])
        elif value.operation in ('sin', 'cos') and not _is_of_input(value):
            angle = text_of(value.arguments[0])
            if angle not in computed:  # as that of a quaternion after a step
                computed.add(angle)
                names = f'sin_{angle}', f'cos_{angle}'
                lines += [f'double {", ".join(names)};', f'{prefix}_sincos(1, &{angle}, &{names[0]}, &{names[1]});']
    return lines


def operation_lines(values: Sequence[Symbol]) -> list[str]:
    """Return the lines that compute ``values``, inputs, sines and cosines apart."""
    return [
        f'const double {text_of(value)} = {OPERATIONS[value.operation].c.format(*map(text_of, value.arguments))};'
        for value in values
        if value.operation in OPERATIONS
    ]


def _entry(array: str, k: int) -> str:
    """Return entry k of a vector or of the run-time inputs as an expression."""
    if array != 'runtime_inputs':
        return f'{array}[{k}]'
    for field, size in INPUTS.items():
        if k < size:
            return f'inputs->{field}[{k}]'
        k -= size
    raise IndexError


def text_of(value) -> str:
    """Return the name of a value in the file, or the number; OverflowError for one that is not finite."""
    if not isinstance(value, Symbol):
        if not math.isfinite(value):
            raise OverflowError
        return repr(float(value))
    if value.operation == 'input':
        array, k = value.arguments
        return f'{array}_{k}'
    if value.operation in ('sin', 'cos'):
        return f'{value.operation}_{text_of(value.arguments[0])}'
    return f't{value.number}'


def indented(depth: int, lines: list[str]) -> list[str]:
    """Return lines at a depth of indentation."""
    return ['    ' * depth + line for line in lines]
