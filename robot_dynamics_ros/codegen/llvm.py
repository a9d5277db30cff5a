"""LLVM IR of recorded operations (a trace): straight-line code for one state, and SIMD code for a batch of states.

A block is a vector of ``lanes`` states in every operation, so that one instruction processes several states. Both forms
execute the same operations in the same order and give the same bits.
"""

import struct
from functools import cache

from robot_dynamics_ros.codegen import llvm_blocks
from robot_dynamics_ros.codegen.llvm_blocks import pointer, vector_type
from robot_dynamics_ros.codegen.straight_line import StraightLine, needed
from robot_dynamics_ros.codegen.trace import OPERATIONS, Symbol, Tape
from robot_dynamics_ros.kernels.sincos import sincos

WIDEST = 4
"""Number of angles whose sine and cosine are computed together for one state."""


def of_one_state(code: StraightLine, attribute: str = '') -> str:
    """Return the IR of two functions for one state.

    They are ``bool <name>(vectors..., runtime_inputs, result)`` in C, with addresses as arguments, and ``int64
    <name>_state(none, words)``, with the address of an array of these addresses. Both return whether all numbers are
    finite.
    """
    arrays, body, of_words = [*code.inputs, 'runtime_inputs', 'result'], Body(1), Body(1)
    *vectors, runtime_inputs, result = (f'%{array}' for array in arrays)
    body.read(code, runtime_inputs)
    body.compute(code, vectors, result)
    addresses = ', '.join(f'i64 {it}' for it in of_words.addresses(len(arrays)))
    return '\n'.join(
        [
            *(Body(lanes).declarations() for lanes in (1, 2, WIDEST)),
            f'define i8 @{code.name}({", ".join(f"i64 %{array}" for array in arrays)}) {attribute} {{',
            *body.lines,
            f'  %is_finite = fcmp oeq double {body.text(code.finite)}, 0.0',
            '  %answer = zext i1 %is_finite to i8',
            '  ret i8 %answer',
            '}',
            f'define i64 @{code.name}_state(i64 %none, i64 %words) {{',
            *of_words.lines,
            f'  %is_finite = call i8 @{code.name}({addresses})',
            '  %answer = zext i8 %is_finite to i64',
            '  ret i64 %answer',
            '}',
        ]
    )


def of_blocks(code: StraightLine, lanes: int) -> str:
    """Return the IR of ``int64 <name>_blocks(words, count, streamed)`` for blocks of ``lanes`` states in rows.

    ``count`` is a multiple of ``lanes``. If ``streamed`` is not 0 the results bypass the caches.
    """
    body, size = Body(lanes), len(code.results)
    *vectors, runtime_inputs, result = body.addresses(len(code.inputs) + 2)
    body.read(code, runtime_inputs)
    before, body.lines = body.lines, []
    rows = [llvm_blocks.row(body, start, length) for start, length in zip(vectors, code.inputs.values(), strict=True)]
    body.compute(code, rows, llvm_blocks.target(body, result, size))
    loop = llvm_blocks.loop_over_blocks(before, body, body.text(code.finite), size)
    head = f'define i64 @{code.name}_blocks(i64 %words, i64 %count, i64 %streamed) {{'
    return '\n'.join([body.declarations(), head, *loop, '}', '!0 = !{i32 1}'])


class Body:
    """Lines of straight-line code, and the names of the values in them; ``lanes`` states at a time."""

    def __init__(self, lanes: int):
        """Begin with no lines."""
        self.lanes = lanes
        self.kind = vector_type(lanes)
        self._kind_name = 'f64' if lanes == 1 else f'v{lanes}f64'
        self.lines: list[str] = []
        self._inputs: dict[tuple[str, int], str] = {}
        self._names: dict[Symbol, str] = {}
        self._angles: dict[str, tuple[str, str]] = {}
        self._count = 0

    def line(self, text: str) -> str:
        """Add ``text`` as the definition of a new value and return its name."""
        self._count += 1
        name = f'%t{self._count}'
        self.lines.append(f'  {name} = {text}')
        return name

    def loaded(self, address: str, k: int) -> str:
        """Return the name of number k of an array of float64."""
        return self.line(f'load double, {pointer(self, "double", address, 8 * k)}, align 8')

    def addresses(self, count: int) -> list[str]:
        """Return the names of ``count`` addresses in memory, at %words."""
        return [self.line(f'load i64, {pointer(self, "i64", "%words", 8 * k)}, align 8') for k in range(count)]

    def read(self, code: StraightLine, runtime_inputs: str) -> None:
        """Load the run-time inputs that code reads from an address."""
        for array, k in code.read:
            if array == 'runtime_inputs':
                self._inputs[array, k] = llvm_blocks.splat(self, self.loaded(runtime_inputs, k))

    def compute(self, code: StraightLine, vectors: list[str], result: str) -> None:
        """Add the operations of code, from vectors to the result at these addresses."""
        for address, (array, length) in zip(vectors, code.inputs.items(), strict=True):
            self._inputs |= {(array, k): name for k, name in enumerate(llvm_blocks.columns(self, address, length))}
        if self.lanes == 1:
            angles = {value.arguments[0] for value in code.values if value.operation in ('sin', 'cos')}
            joints = sorted(angle.arguments for angle in angles if angle.operation == 'input')
            self._sincos_together([self._inputs[joint] for joint in joints])
        for value in code.values:
            self._names[value] = self._operation(value.operation, value.arguments)
        llvm_blocks.write_rows(self, [self.text(value) for value in code.results], result)

    def text(self, value) -> str:
        """Return a value as an operand."""
        return self._names[value] if isinstance(value, Symbol) else self.number(value)

    def number(self, value: float) -> str:
        """Return a constant as an operand, exact to the bit."""
        bits = f'0x{struct.unpack("<Q", struct.pack("<d", value))[0]:016X}'
        return bits if self.lanes == 1 else f'<{", ".join([f"double {bits}"] * self.lanes)}>'

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
        kind, name = self.kind, self._kind_name
        of_one = [f'declare {kind} @llvm.{function}.{name}({kind})' for function in ('fabs', 'sqrt')]
        return '\n'.join([f'declare {kind} @llvm.fma.{name}({kind}, {kind}, {kind})', *of_one])

    def _operation(self, operation: str, arguments: tuple) -> str:
        """Return the name of the value of one operation."""
        if operation == 'input':
            return self._inputs[arguments]
        if operation in ('sin', 'cos'):
            return self._sincos(self.text(arguments[0]))[operation == 'cos']
        return self._arithmetic(operation, [self.text(value) for value in arguments])

    def _arithmetic(self, operation: str, operands: list[str]) -> str:
        """Return the name of the value of an operation on operands."""
        return self.line(OPERATIONS[operation].llvm.format(*operands, kind=self.kind, name=self._kind_name))

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
