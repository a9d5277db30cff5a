"""Tracing: a kernel that is run on symbols instead of numbers records the operations that one robot needs.

Constants are folded, common subexpressions are shared, and values that no result depends on are dropped. Only
simplifications that keep every number are applied, and every bit of it unless it is a zero, whose sign may change: sums
with 0, products with 0, 1 and -1, and signs moved out of products and sums, fused ones (``fma``: x y + z) included. (0
x = 0 does not hold for NaN and inf, which argument validation rejects.)
"""

from fractions import Fraction
from types import CellType, FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros.kernels.sincos import sincos


class Operation(NamedTuple):
    """How an operation on numbers is written: as an expression in C, and as an instruction or function of LLVM."""

    c: str
    llvm: str


OPERATIONS = {
    '+': Operation('{} + {}', 'fadd'),
    '-': Operation('{} - {}', 'fsub'),
    '*': Operation('{} * {}', 'fmul'),
    '/': Operation('{} / {}', 'fdiv'),
    'neg': Operation('-{}', 'fneg'),
    'abs': Operation('fabs({})', 'llvm.fabs'),
    'sqrt': Operation('sqrt({})', 'llvm.sqrt'),
    'fma': Operation('fma({}, {}, {})', 'llvm.fma'),
    'min': Operation('{0} < {1} ? {0} : {1}', 'llvm.minnum'),
    'max': Operation('{0} > {1} ? {0} : {1}', 'llvm.maxnum'),
}
"""Operations of a trace, beside inputs, sines and cosines."""
EXACT_FACTORS = (0.0, 1.0, -1.0)
"""Products with these are exact: a sum with such a product has the same bits, fused or not."""


class Symbol:
    """One value of a trace: an input, or an operation on other values (symbols or floats)."""

    __slots__ = ('arguments', 'number', 'operation', 'tape')

    def __init__(self, tape: 'Tape', number: int, operation: str, arguments: tuple):
        """Create value ``number`` of a tape; use ``Tape.value`` instead."""
        self.tape, self.number, self.operation, self.arguments = tape, number, operation, arguments

    def __add__(self, other):
        """Return self + other."""
        if not isinstance(other, Symbol):
            return self if other == 0.0 else self.tape.value('+', self, float(other))
        if other.operation == 'neg':
            return self - other.arguments[0]
        if self.operation == 'neg':
            return other - self.arguments[0]
        return self.tape.value('+', *_ordered(self, other))

    __radd__ = __add__

    def __sub__(self, other):
        """Return self - other."""
        if not isinstance(other, Symbol):
            return self + -other
        if other.operation == 'neg':
            return self + other.arguments[0]
        if self.operation == 'neg':
            return -(self.arguments[0] + other)
        return self.tape.value('-', self, other)

    def __rsub__(self, other):
        """Return other - self for a number."""
        return -self + other

    def __mul__(self, other):
        """Return self * other."""
        if self.operation == 'neg':
            return -(self.arguments[0] * other)
        if isinstance(other, Symbol):
            if other.operation == 'neg':
                return -(self * other.arguments[0])
            return self.tape.value('*', *_ordered(self, other))
        if other == 0.0:
            return 0.0
        if other == 1.0:
            return self
        return -(self * -other) if other < 0.0 else self.tape.value('*', self, float(other))

    __rmul__ = __mul__

    def __truediv__(self, other):
        """Return self / other."""
        return self.tape.value('/', self, other)

    def __rtruediv__(self, other):
        """Return other / self for a number."""
        if other == 0.0:
            return 0.0
        return self.tape.value('/', float(other), self)

    def __abs__(self):
        """Return the magnitude of self."""
        return self.tape.value('abs', self)

    @property
    def real(self) -> 'Symbol':
        """The value itself: symbols are real."""
        return self

    def __neg__(self):
        """Return -self."""
        return self.arguments[0] if self.operation == 'neg' else self.tape.value('neg', self)

    def __bool__(self):
        """Raise TypeError: a trace has no branches."""
        raise TypeError(f'control flow depends on a traced value, of the operation {self.operation}')


class Tape:
    """All values of one trace; equal operations on equal values are one value."""

    def __init__(self):
        """Start an empty trace."""
        self._values: dict[tuple, Symbol] = {}
        self._plain: dict[Any, Any] = {sincos: self._sincos}

    def value(self, operation: str, *arguments) -> Symbol:
        """Return the value of an operation."""
        key = (operation, *map(_key, arguments))
        if key not in self._values:
            self._values[key] = Symbol(self, len(self._values), operation, arguments)
        return self._values[key]

    def inputs(self, name: str, count: int) -> np.ndarray:
        """Return the input array ``name`` (count,), symbols."""
        return np.array([self.value('input', name, k) for k in range(count)], object)

    def run(self, kernel, *arguments) -> Any:
        """Run a kernel on arrays of symbols and numbers, and return what it returns."""
        return self._undecorated(kernel)(*arguments)

    def _undecorated(self, kernel):
        """Return the Python function of a kernel, which calls the Python functions of other kernels."""
        if kernel not in self._plain:
            self._plain[kernel] = self.traced(kernel)
            names = self._plain[kernel].__globals__
            names.update({name: self._undecorated(it) for name, it in names.items() if hasattr(it, 'py_func')})
        return self._plain[kernel]

    def traced(self, kernel) -> FunctionType:
        """Return the Python function of a kernel with fused multiply-adds of this trace."""
        python = kernel.py_func
        fma = tuple(CellType(self.fma) for _ in python.__code__.co_freevars)  # see jit.fused_multiply_add
        own = {'np': SimpleNamespace(sqrt=self.sqrt), 'min': self.least, 'max': self.most}
        names = {**python.__globals__, **own}
        return FunctionType(python.__code__, names, python.__name__, None, fma)

    def _sincos(self, x):
        """Return sine and cosine of a symbol, each a separate operation."""
        return self.value('sin', x), self.value('cos', x)

    def sqrt(self, x):
        """Return the square root of x."""
        return self.value('sqrt', x) if isinstance(x, Symbol) else float(np.sqrt(x))

    def least(self, x, y):
        """Return the smaller one of x and y."""
        return self._one_of('min', min, x, y)

    def most(self, x, y):
        """Return the larger one of x and y."""
        return self._one_of('max', max, x, y)

    def _one_of(self, operation: str, function, x, y):
        if not any(isinstance(value, Symbol) for value in (x, y)):
            return function(x, y)
        return self.value(operation, *(value if isinstance(value, Symbol) else float(value) for value in (x, y)))

    def fma(self, x, y, z):
        """Return x y + z, rounded once."""
        if not any(isinstance(value, Symbol) for value in (x, y, z)):
            return float(Fraction(x) * Fraction(y) + Fraction(z))
        if z == 0.0 or x in EXACT_FACTORS or y in EXACT_FACTORS:
            return x * y + z
        (x_minus, x), (y_minus, y) = _signed(x), _signed(y)
        z_minus, z = _signed(z) if isinstance(z, Symbol) else (False, float(z))
        # x y - z = -(z - x y)
        x, y = _ordered(x, y)
        fused = self.value('fma', x if (x_minus != y_minus) == z_minus else -x, y, z)
        return -fused if z_minus else fused


def _key(argument) -> object:
    """Return what tells an argument from others: symbols from numbers, and 0 from -0."""
    if isinstance(argument, Symbol):
        return (argument.number,)
    return argument or str(argument)


def _signed(value) -> tuple[bool, object]:
    """Return whether a value is the negative of another, and its magnitude as traced."""
    if isinstance(value, Symbol):
        return (True, value.arguments[0]) if value.operation == 'neg' else (False, value)
    return value < 0.0, abs(float(value))


def _ordered(a, b) -> tuple:
    """Return two values in a canonical order, numbers last, so that a + b and b + a are one value."""
    if isinstance(a, Symbol) and isinstance(b, Symbol):
        return (a, b) if a.number <= b.number else (b, a)
    if isinstance(a, Symbol) or isinstance(b, Symbol):
        return (a, b) if isinstance(a, Symbol) else (b, a)
    return min(a, b), max(a, b)
