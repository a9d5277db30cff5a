"""LLVM's intermediate representation (IR) of a trace: straight-line code for one state, and for blocks of states.

A block is a vector of ``lanes`` states in every operation, so that one instruction processes several states. Both forms
execute the same operations in the same order and give the same bits.
"""

import struct
from functools import cache
from itertools import chain, repeat
from typing import NamedTuple

from robot_dynamics_ros.compiler import llvm_rows
from robot_dynamics_ros.compiler.algorithms import Algorithm, trace
from robot_dynamics_ros.compiler.emit import CHAIN, OVERFLOW_FACTOR, CheckedEntry, checked_entries, needed
from robot_dynamics_ros.compiler.llvm_rows import pointer, vector_type
from robot_dynamics_ros.compiler.trace import Symbol, Tape
from robot_dynamics_ros.kernels.sincos import sincos
from robot_dynamics_ros.model.arrays import ModelArrays

WIDEST = 4
"""Number of angles whose sine and cosine are computed together for one state."""
OF_ONE = {'abs': 'fabs', 'sqrt': 'sqrt'}
"""LLVM's own functions of one number."""
BINARY = {'+': 'fadd', '-': 'fsub', '*': 'fmul', '/': 'fdiv'}


class Program(NamedTuple):
    """The trace of an algorithm for one robot."""

    name: str
    inputs: dict[str, int]
    """Lengths of the vectors of a state, by name."""
    results: list
    """Symbols and numbers, in the order of the flat result."""
    checked: list[CheckedEntry]
    """Entries of inputs that the check for finite numbers includes."""

    @classmethod
    def of(cls, arrays: ModelArrays, name: str, algorithm: Algorithm) -> 'Program':
        """Trace an algorithm for a robot."""
        inputs = dict(zip(algorithm.inputs, algorithm.lengths(arrays), strict=True))
        results = list(trace(arrays, algorithm))
        return cls(name, inputs, results, checked_entries(results, inputs, arrays.angles))

    def read(self) -> list[tuple[str, int]]:
        """Return the entries of inputs and ``load`` that the code reads, in order, without those of its check."""
        return sorted(value.arguments for value in needed(self.results) if value.operation == 'input')


def of_one_state(program: Program) -> str:
    """Return the IR of ``<name>(vectors..., load, result)`` and of ``<name>_rows(vectors, load, result, count)``.

    Arguments are addresses, integers of 64 bits; ``vectors`` is that of an array of the addresses of the rows (count,
    n). Both functions return whether all numbers are finite, a byte.
    """
    name, inputs, results, checked = program
    body, names = Body(1), [*inputs, 'load']
    read = sorted({*program.read(), *((entry.array, entry.k) for entry in checked)})
    for array in names:
        body.inputs[array] = {k: body.loaded(f'%{array}', k) for of, k in read if of == array}
    body.compute(results)
    finite = body.finite(results, checked)
    for k, value in enumerate(results):
        body.store(body.text(value), '%result', k)
    arguments = ', '.join(f'i64 %{array}' for array in (*names, 'result'))
    return '\n'.join(
        [
            *(Body(lanes).declarations() for lanes in (1, 2, WIDEST)),
            f'define i8 @{name}({arguments}) {{',
            *body.lines,
            f'  %is_finite = fcmp oeq double {finite}, 0.0',
            '  %answer = zext i1 %is_finite to i8',
            '  ret i8 %answer',
            '}',
            llvm_rows.loop_over_rows(name, list(inputs.values()), len(results)),
        ]
    )


def of_blocks(program: Program, lanes: int) -> str:
    """Return the IR of ``<name>_blocks(vectors, load, result, count, streamed)`` for whole blocks of states in rows.

    Arguments are those of ``<name>_rows``; ``count`` is a multiple of ``lanes``. If ``streamed`` is not 0 the results
    bypass the caches. Returns whether all numbers are finite, a byte.
    """
    name, inputs, results, checked = program
    body = Body(lanes)
    before = Body(1)
    load = [k for array, k in program.read() if array == 'load']
    body.inputs['load'] = {k: llvm_rows.splat(before, before.loaded('%load', k), lanes) for k in load}
    for array, length in inputs.items():
        body.inputs[array] = dict(enumerate(llvm_rows.columns(body, f'%{array}', length, lanes)))
    body.compute(results)
    finite = body.finite(results, checked)
    llvm_rows.write_rows(body, [body.text(value) for value in results], '%target', lanes)
    return llvm_rows.loop_over_blocks(name, inputs, len(results), lanes, before, body, finite)


class Body:
    """Lines of straight-line code, and the names of the values in them; ``lanes`` states at a time."""

    def __init__(self, lanes: int):
        """Begin with no lines."""
        self.lanes = lanes
        self.kind = vector_type(lanes)
        self.lines: list[str] = []
        self.inputs: dict[str, dict[int, str]] = {}
        self._names: dict[Symbol, str] = {}
        self._angles: dict[str, tuple[str, str]] = {}
        self._count = 0

    def line(self, text: str) -> str:
        """Add ``text`` as the definition of a new value and return its name."""
        self._count += 1
        name = f'%t{self.lanes}_{self._count}'
        self.lines.append(f'  {name} = {text}')
        return name

    def loaded(self, address: str, k: int) -> str:
        """Return the name of number k of an array of float64."""
        return self.line(f'load double, {pointer(self, "double", address, 8 * k)}, align 8')

    def store(self, value: str, address: str, k: int) -> None:
        """Store a number as entry k of an array of float64."""
        self.lines.append(f'  store double {value}, {pointer(self, "double", address, 8 * k)}, align 8')

    def compute(self, results) -> None:
        """Add the operations that ``results`` need."""
        values = needed(results)
        if self.lanes == 1:
            angles = {value.arguments[0] for value in values if value.operation in ('sin', 'cos')}
            joints = sorted(angle.arguments for angle in angles if angle.operation == 'input')
            self._sincos_together([self.inputs[array][k] for array, k in joints])
        for value in values:
            self._names[value] = self._operation(value.operation, value.arguments)

    def text(self, value) -> str:
        """Return a value as an operand."""
        return self._names[value] if isinstance(value, Symbol) else self.number(value)

    def number(self, value: float) -> str:
        """Return a constant as an operand, exact to the bit."""
        bits = f'0x{struct.unpack("<Q", struct.pack("<d", value))[0]:016X}'
        return bits if self.lanes == 1 else f'<{", ".join([f"double {bits}"] * self.lanes)}>'

    def finite(self, results, checked: list[CheckedEntry]) -> str:
        """Return the name of the sum of value * 0 over results and ``checked`` inputs: 0 if all are finite.

        An angle and a result are checked at once, as angle * OVERFLOW_FACTOR + result: one operation in place of two. A
        finite result below 2^970 does not change whether that sum is finite.
        """
        symbols = {value for value in results if isinstance(value, Symbol)}
        names = [self._names[value] for value in sorted(symbols, key=lambda value: value.number)]
        angles = [self.inputs[entry.array][entry.k] for entry in checked if entry.is_angle]
        zero, factor = self.number(0.0), self.number(OVERFLOW_FACTOR)
        added = zip(angles, chain(names, repeat(zero)), strict=False)
        names = [self._fma(angle, factor, name) for angle, name in added] + names[len(angles) :]
        names += [self.inputs[entry.array][entry.k] for entry in checked if not entry.is_angle]
        terms = []
        for first in range(0, len(names), CHAIN):
            term = self.line(f'fmul {self.kind} {names[first]}, {zero}')
            for name in names[first + 1 : first + CHAIN]:
                term = self._fma(name, zero, term)
            terms.append(term)
        while len(terms) > 1:
            pairs = [self.line(f'fadd {self.kind} {a}, {b}') for a, b in zip(terms[::2], terms[1::2], strict=False)]
            terms = pairs + terms[2 * len(pairs) :]
        return terms[0]

    def _sincos_together(self, angles: list[str]) -> None:
        """Add sine and cosine of several angles, computed as vectors."""
        for first in range(0, len(angles), WIDEST):
            some = angles[first : first + WIDEST]
            wide = Body(next(lanes for lanes in (2, WIDEST) if lanes >= len(some)))
            wide.lines, wide._count = self.lines, self._count
            vector = 'zeroinitializer'
            for k, angle in enumerate(some):
                vector = wide.line(f'insertelement {wide.kind} {vector}, double {angle}, i32 {k}')
            sines, cosines = wide._sincos(vector)
            for k, angle in enumerate(some):
                sine, cosine = (wide.line(f'extractelement {wide.kind} {both}, i32 {k}') for both in (sines, cosines))
                self._angles[angle] = sine, cosine
            self._count = wide._count

    def declarations(self) -> str:
        """Return the declarations of LLVM's own functions."""
        kind, name = self.kind, self._intrinsic
        of_one = [f'declare {kind} @llvm.{function}.{name}({kind})' for function in OF_ONE.values()]
        return '\n'.join([f'declare {kind} @llvm.fma.{name}({kind}, {kind}, {kind})', *of_one])

    @property
    def _intrinsic(self) -> str:
        return 'f64' if self.lanes == 1 else f'v{self.lanes}f64'

    def _operation(self, operation: str, arguments: tuple) -> str:
        """Return the name of the value of one operation."""
        if operation == 'input':
            array, k = arguments
            return self.inputs[array][k]
        if operation in ('sin', 'cos'):
            return self._sincos(self.text(arguments[0]))[operation == 'cos']
        return self._arithmetic(operation, [self.text(value) for value in arguments])

    def _arithmetic(self, operation: str, operands: list[str]) -> str:
        """Return the name of the value of an operation on operands."""
        if operation in BINARY:
            return self.line(f'{BINARY[operation]} {self.kind} {", ".join(operands)}')
        if operation == 'fma':
            return self._fma(*operands)
        if operation == 'fnma':
            return self._fma(self.line(f'fneg {self.kind} {operands[0]}'), *operands[1:])
        if operation in OF_ONE:
            return self.line(f'call {self.kind} @llvm.{OF_ONE[operation]}.{self._intrinsic}({self.kind} {operands[0]})')
        return self.line(f'fneg {self.kind} {operands[0]}')

    def _fma(self, x: str, y: str, z: str) -> str:
        """Return the name of x y + z, rounded once."""
        kind = self.kind
        return self.line(f'call {kind} @llvm.fma.{self._intrinsic}({kind} {x}, {kind} {y}, {kind} {z})')

    def _sincos(self, angle: str) -> tuple[str, str]:
        """Return the names of sine and cosine of an angle, computed once."""
        if angle not in self._angles:
            results = _sincos_of_an_angle()
            names: dict[Symbol, str] = {}
            x, *others = needed(results)
            names[x] = angle
            for value in others:
                operands = [names[it] if isinstance(it, Symbol) else self.number(it) for it in value.arguments]
                names[value] = self._arithmetic(value.operation, operands)
            sine, cosine = (names[value] for value in results)
            self._angles[angle] = sine, cosine
        return self._angles[angle]


@cache
def _sincos_of_an_angle() -> tuple[Symbol, Symbol]:
    """Return the trace of sine and cosine."""
    tape = Tape()
    return tape.traced(sincos)(tape.value('input', 'x', 0))
