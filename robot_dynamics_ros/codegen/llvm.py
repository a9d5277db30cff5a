"""LLVM IR of recorded operations (a trace): straight-line code for one state, and SIMD code for a batch of states.

A block is a vector of ``lanes`` states in every operation, so that one instruction processes several states. Both forms
execute the same operations in the same order and give the same bits.
"""

from collections.abc import Sequence
from functools import cache

from llvmlite import ir

from robot_dynamics_ros.codegen import llvm_blocks
from robot_dynamics_ros.codegen.early_divisions import early_divisions
from robot_dynamics_ros.codegen.llvm_blocks import INT32, NUMBER, WORD, numbers
from robot_dynamics_ros.codegen.straight_line import StraightLine, needed
from robot_dynamics_ros.codegen.trace import OPERATIONS, Symbol, Tape
from robot_dynamics_ros.kernels.sincos import sincos

BYTE = ir.IntType(8)
WIDEST = 4
"""Number of angles whose sine and cosine are computed together for one state."""


def of_one_state(code: StraightLine) -> str:
    """Return the IR of two functions for one state.

    They are ``bool <name>(vectors..., runtime_inputs, result)`` in C, with addresses as arguments, and ``int64
    <name>_state(none, words)``, with the address of an array of these addresses. Both return whether all numbers are
    finite.
    """
    module, count = ir.Module(), len(code.inputs) + 2
    builder = _function(module, code.name, BYTE, count)
    *vectors, runtime_inputs, result = builder.function.args
    body = Body(builder, 1)
    body.read(code, runtime_inputs)
    body.compute(code, vectors, result)
    is_finite = builder.fcmp_ordered('==', body.operand(code.finite), NUMBER(0.0))
    builder.ret(builder.zext(is_finite, BYTE))

    of_words = _function(module, f'{code.name}_state', WORD, 2)
    _, words = of_words.function.args
    answer = of_words.call(builder.function, _addresses(of_words, words, count))
    of_words.ret(of_words.zext(answer, WORD))
    return str(module)


def of_blocks(code: StraightLine, lanes: int) -> str:
    """Return the IR of ``int64 <name>_blocks(words, count, streamed)`` for blocks of ``lanes`` states in rows.

    ``count`` is a multiple of ``lanes``. If ``streamed`` is not 0 the results bypass the caches.
    """
    module, size, bits = ir.Module(), len(code.results), ir.IntType(lanes)
    builder = _function(module, f'{code.name}_blocks', WORD, 3)
    words, count, streamed = builder.function.args
    body = Body(builder, lanes)
    buffered = llvm_blocks.buffer(builder, lanes * size)
    total = builder.alloca(body.kind)
    builder.store(body.kind(0.0), total)
    bypass = builder.icmp_signed('!=', streamed, WORD(0))
    *vectors, runtime_inputs, result = _addresses(builder, words, len(code.inputs) + 2)
    body.read(code, runtime_inputs)
    with llvm_blocks.loop(builder, WORD(0), count, lanes) as k:
        places = zip(vectors, code.inputs.values(), strict=True)
        rows = [llvm_blocks.row(builder, start, k, length) for start, length in places]
        written = llvm_blocks.row(builder, result, k, size)
        body.compute(code, rows, builder.select(bypass, buffered, written))
        builder.store(builder.fadd(builder.load(total), body.operand(code.finite)), total)
        with builder.if_then(bypass):
            llvm_blocks.stream(builder, buffered, written, lanes * size)
    builder.fence('seq_cst')  # other cores then read the results of stores that bypass the caches
    are_finite = builder.fcmp_ordered('==', builder.load(total), body.kind(0.0))
    all_are = builder.icmp_signed('==', builder.bitcast(are_finite, bits), bits(-1))
    builder.ret(builder.zext(all_are, WORD))
    return str(module)


def _function(module: ir.Module, name: str, returned: ir.Type, count: int) -> ir.IRBuilder:
    """Return the builder of a new function of ``count`` words."""
    function = ir.Function(module, ir.FunctionType(returned, [WORD] * count), name)
    return ir.IRBuilder(function.append_basic_block())


def _addresses(builder: ir.IRBuilder, words: ir.Value, count: int) -> list[ir.Value]:
    """Return ``count`` addresses that are in memory."""
    return [llvm_blocks.load(builder, WORD, words, 8 * k) for k in range(count)]


class Body:
    """Straight-line code, and the values in it; ``lanes`` states at a time."""

    def __init__(self, builder: ir.IRBuilder, lanes: int):
        """Begin at the position of a builder."""
        self.builder = builder
        self.lanes = lanes
        self.kind = NUMBER if lanes == 1 else numbers(lanes)
        self._inputs: dict[tuple[str, int], ir.Value] = {}
        self._values: dict[Symbol, ir.Value] = {}
        self._stored: dict[Symbol, ir.Value] = {}
        self._angles: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}
        self._numbers: dict[str, ir.Constant] = {}

    def read(self, code: StraightLine, runtime_inputs: ir.Value) -> None:
        """Load the run-time inputs that code reads from an address."""
        for array, k in code.read:
            if array == 'runtime_inputs':
                number = llvm_blocks.load(self.builder, NUMBER, runtime_inputs, 8 * k)
                self._inputs[array, k] = llvm_blocks.splat(self.builder, number, self.lanes)

    def compute(self, code: StraightLine, vectors: Sequence[ir.Value], result: ir.Value) -> None:
        """Add the operations of code, from vectors to the result at these addresses."""
        for address, (array, length) in zip(vectors, code.inputs.items(), strict=True):
            columns = llvm_blocks.columns(self.builder, address, length, self.lanes)
            self._inputs |= {(array, k): column for k, column in enumerate(columns)}
        values = code.values
        if self.lanes == 1:
            angles = {value.arguments[0] for value in values if value.operation in ('sin', 'cos')}
            joints = sorted(angle.arguments for angle in angles if angle.operation == 'input')
            self._sincos_together([self._inputs[joint] for joint in joints])
        early = early_divisions(values) if self.lanes > 1 else {}
        for value in values:
            self._compute(value)
            if value in early:
                self._compute_before(early[value], value)
        llvm_blocks.write_rows(self.builder, [self.operand(value) for value in code.results], result, self.lanes)

    def _compute(self, value: Symbol) -> None:
        """Add the operation of a value, unless it was computed early: then it is loaded from memory."""
        if value in self._stored:
            self._values[value] = self.builder.load(self._stored.pop(value))
        elif value not in self._values:
            self._values[value] = self._operation(value.operation, value.arguments)

    def _compute_before(self, early: Sequence[Symbol], value: Symbol) -> None:
        """Add the operations of ``early`` values, and have them done before whatever depends on ``value``.

        LLVM orders operations by what depends on them, and would put these off. It keeps the order of stores and loads
        on the two sides of a fence for one thread, which is no instruction.
        """
        for it in early:
            for operation in needed([it]):
                self._compute(operation)
            self._stored[it] = self._memory(self._values[it])
        place = self._memory(self._values[value])
        self.builder.fence('seq_cst', 'singlethread')
        self._values[value] = self.builder.load(place)

    def _memory(self, value: ir.Value) -> ir.Value:
        """Return the address of memory on the stack that has a value from here on."""
        with self.builder.goto_entry_block():
            place = self.builder.alloca(value.type)
        self.builder.store(value, place)
        return place

    def operand(self, value: Symbol | float) -> ir.Value:
        """Return a value, or a number as a constant, exact to the bit."""
        return self._values[value] if isinstance(value, Symbol) else self._number(value)

    def _number(self, value: float) -> ir.Constant:
        """Return the constant of a number, the same object each time, so that its text is made once."""
        key = value.hex()  # tells 0 from -0
        if key not in self._numbers:
            self._numbers[key] = self.kind(value)
        return self._numbers[key]

    def _sincos_together(self, angles: Sequence[ir.Value]) -> None:
        """Add sine and cosine of several angles, computed as vectors."""
        for first in range(0, len(angles), WIDEST):
            some = angles[first : first + WIDEST]
            wide = Body(self.builder, next(lanes for lanes in (2, WIDEST) if lanes >= len(some)))
            vector = wide.kind(0.0)
            for k, angle in enumerate(some):
                vector = self.builder.insert_element(vector, angle, INT32(k))
            both = wide._sincos(vector)
            for k, angle in enumerate(some):
                sine, cosine = (self.builder.extract_element(it, INT32(k)) for it in both)
                self._angles[angle] = sine, cosine

    def _operation(self, operation: str, arguments: tuple) -> ir.Value:
        """Return the value of one operation."""
        if operation == 'input':
            return self._inputs[arguments]
        if operation in ('sin', 'cos'):
            return self._sincos(self.operand(arguments[0]))[operation == 'cos']
        return self._arithmetic(operation, [self.operand(value) for value in arguments])

    def _arithmetic(self, operation: str, operands: Sequence[ir.Value]) -> ir.Value:
        """Return the value of an operation on operands."""
        name = OPERATIONS[operation].llvm
        if name.startswith('llvm.'):
            return self.builder.call(self._intrinsic(name, len(operands)), operands)
        return getattr(self.builder, name)(*operands)

    def _intrinsic(self, name: str, count: int) -> ir.Function:
        """Return LLVM's own function of ``count`` operands, declared once."""
        module, name = self.builder.module, f'{name}.{"" if self.lanes == 1 else f"v{self.lanes}"}f64'
        return module.globals.get(name) or ir.Function(module, ir.FunctionType(self.kind, [self.kind] * count), name)

    def _sincos(self, angle: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Return sine and cosine of an angle, computed once."""
        if angle not in self._angles:
            results = _sincos_of_an_angle()
            values: dict[Symbol, ir.Value] = {}
            x, *others = needed(results)
            values[x] = angle
            for value in others:
                operands = [values[it] if isinstance(it, Symbol) else self._number(it) for it in value.arguments]
                values[value] = self._arithmetic(value.operation, operands)
            sine, cosine = (values[value] for value in results)
            self._angles[angle] = sine, cosine
        return self._angles[angle]


@cache
def _sincos_of_an_angle() -> tuple[Symbol, Symbol]:
    """Return the trace of sine and cosine."""
    tape = Tape()
    return tape.traced(sincos)(tape.value('input', 'x', 0))
