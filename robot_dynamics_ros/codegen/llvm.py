"""LLVM IR of recorded operations (a trace): straight-line code for one state, and SIMD code for a batch of states.

A block is a vector of ``lanes`` states in every operation, so that one instruction processes several states. Both forms
execute the same operations in the same order and give the same bits.
"""

import struct
from functools import cache

from robot_dynamics_ros.codegen import llvm_blocks
from robot_dynamics_ros.codegen.llvm_blocks import pointer, vector_type
from robot_dynamics_ros.codegen.straight_line import StraightLine, needed
from robot_dynamics_ros.codegen.trace import Symbol, Tape
from robot_dynamics_ros.kernels.sincos import sincos

WIDEST = 4
"""Number of angles whose sine and cosine are computed together for one state."""
OF_ONE = {'abs': 'fabs', 'sqrt': 'sqrt'}
"""LLVM's own functions of one number."""
BINARY = {'+': 'fadd', '-': 'fsub', '*': 'fmul', '/': 'fdiv'}


def of_one_state(code: StraightLine) -> str:
    """Return the IR of two functions for one state.

    They are ``<name>(vectors..., runtime_inputs, result)`` and ``<name>_state(vectors, runtime_inputs, result)``.

    Arguments are addresses, integers of 64 bits; the latter's ``vectors`` is that of an array of addresses. Both
    functions return whether all numbers are finite, a byte.
    """
    body, names = Body(1), [*code.inputs, 'runtime_inputs']
    for array in names:
        body.inputs[array] = {k: body.loaded(f'%{array}', k) for of, k in code.read if of == array}
    body.compute(code.values)
    for k, value in enumerate(code.results):
        body.store(body.text(value), '%result', k)
    arguments = ', '.join(f'i64 %{array}' for array in (*names, 'result'))
    return '\n'.join(
        [
            *(Body(lanes).declarations() for lanes in (1, 2, WIDEST)),
            f'define i8 @{code.name}({arguments}) {{',
            *body.lines,
            f'  %is_finite = fcmp oeq double {body.text(code.finite)}, 0.0',
            '  %answer = zext i1 %is_finite to i8',
            '  ret i8 %answer',
            '}',
            *_of_array(code.name, len(code.inputs)),
        ]
    )


def _of_array(name: str, count: int) -> list[str]:
    """Return the lines of ``<name>_state``, which calls ``<name>`` with the addresses of ``count`` vectors."""
    body = Body(1)
    vectors = [body.line(f'load i64, {pointer(body, "i64", "%vectors", 8 * k)}, align 8') for k in range(count)]
    arguments = ', '.join(f'i64 {it}' for it in (*vectors, '%runtime_inputs', '%result'))
    answer = body.line(f'call i8 @{name}({arguments})')
    head = f'define i8 @{name}_state(i64 %vectors, i64 %runtime_inputs, i64 %result) {{'
    return [head, *body.lines, f'  ret i8 {answer}', '}']


def of_blocks(code: StraightLine, lanes: int) -> str:
    """Return the IR of a function for whole blocks of states in rows.

    It is ``<name>_blocks(vectors, runtime_inputs, result, count, streamed)``.

    ``vectors`` is the address of an array of the addresses of the rows (count, n); ``count`` is a multiple of
    ``lanes``. If ``streamed`` is not 0 the results bypass the caches. Returns whether all numbers are finite, a byte.
    """
    body = Body(lanes)
    before = Body(1)
    runtime_inputs = [k for array, k in code.read if array == 'runtime_inputs']
    body.inputs['runtime_inputs'] = {
        k: llvm_blocks.splat(before, before.loaded('%runtime_inputs', k), lanes) for k in runtime_inputs
    }
    for array, length in code.inputs.items():
        body.inputs[array] = dict(enumerate(llvm_blocks.columns(body, f'%{array}', length, lanes)))
    body.compute(code.values)
    llvm_blocks.write_rows(body, [body.text(value) for value in code.results], '%target', lanes)
    finite = body.text(code.finite)
    return llvm_blocks.loop_over_blocks(code.name, code.inputs, len(code.results), lanes, before, body, finite)


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

    def compute(self, values: list[Symbol]) -> None:
        """Add the operations of these values, in order."""
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
