"""Kernels over many states by the machine code that robots use, so that tests compile no code of their own."""

import math
import operator

import numpy as np

from robot_dynamics_ros.codegen.compiled_calls import call_rows
from robot_dynamics_ros.codegen.generic import kernel_address
from robot_dynamics_ros.codegen.states_code import GIVEN, words_of, words_of_program
from robot_dynamics_ros.codegen.trace import Tape
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.kernels.sincos import sincos

SHARED = ('gravity', 'i', 'rotation', 'origin', 'links', 'rotations', 'origins', 'reference_frame')
"""Parameters that are the same for all states."""
ABSENT = {'v_0': (1, 6), 'a_0': (1, 6), 'D_f': (1, 0, 0)}
"""Shapes of what may be left out: a base at rest, wrenches that do not change in the frames of their links."""


class PlainNumbers(Tape):
    """Runs kernels as plain Python, ``run(kernel, *arguments)``: on real or complex numbers, where nothing compiles."""

    def _sincos(self, x):
        return self.traced(sincos)(x)

    def sqrt(self, x):
        return x.sqrt() if isinstance(x, Lanes) else np.sqrt(x)

    def fma(self, x, y, z):
        return x * y + z


def _of_lanes(operation, exchanged=False):
    """Return an operation of two numbers as a method of ``Lanes``."""

    def result(self, other):
        other = other.numbers if isinstance(other, Lanes) else other
        return Lanes(operation(other, self.numbers) if exchanged else operation(self.numbers, other))

    return result


class Lanes:
    """The complex numbers of many states, which kernels take for one: Python runs the kernel once for all of them."""

    __slots__ = ('numbers',)
    __array_ufunc__ = None  # NumPy's numbers leave operations with lanes to lanes

    def __init__(self, numbers):
        self.numbers = numbers

    __add__, __radd__ = _of_lanes(operator.add), _of_lanes(operator.add, exchanged=True)
    __sub__, __rsub__ = _of_lanes(operator.sub), _of_lanes(operator.sub, exchanged=True)
    __mul__, __rmul__ = _of_lanes(operator.mul), _of_lanes(operator.mul, exchanged=True)
    __truediv__, __rtruediv__ = _of_lanes(operator.truediv), _of_lanes(operator.truediv, exchanged=True)

    def __neg__(self):
        return Lanes(-self.numbers)

    def __abs__(self):
        return Lanes(np.abs(self.numbers))

    @property
    def real(self):
        return Lanes(self.numbers.real)

    def sqrt(self):
        return Lanes(np.sqrt(self.numbers))


def loop_of(kernel):
    """Return ``kernel`` as a loop over states, the first axis of its arguments: ``loop(model, work, *arguments)``.

    An argument with one state serves all. Complex numbers, and Python without machine code, are computed as plain
    Python.
    """

    def loop(model, work, *arguments):
        *given, result = arguments
        if len(given) + 1 < len(kernel.parameters):
            names = [name for name in kernel.parameters if name not in ABSENT]
            named = {name: np.zeros(shape) for name, shape in ABSENT.items()} | dict(zip(names, given, strict=False))
            given = [named[name] for name in kernel.parameters[:-1]]
        arguments = [(value, name in SHARED) for name, value in zip(kernel.parameters, given, strict=False)]
        _run(model, work, [(kernel, [*arguments, (result, False)])], result)

    return loop


def loop_writing(field, kernel):
    """Return the loop of a kernel without a result, for that array of the workspace: ``loop(..., result)``."""

    def loop(model, work, *arguments):
        *given, result = arguments
        named = [(value, name in SHARED) for name, value in zip(kernel.parameters, given, strict=True)]
        for b in range(len(result)):
            of_one = [(value if shared else value[b : b + 1], shared) for value, shared in named]
            _run(model, work, [(kernel, of_one)], result[b : b + 1])
            result[b] = getattr(work, field)

    return loop


def loop_of_program(program):
    """Return the steps of a program as a loop over states: ``loop(model, work, *vectors, gravity, result)``."""

    def loop(model, work, *arguments):
        *vectors, gravity, result = arguments
        names = {name: (vector, False) for name, vector in zip(program.inputs, vectors, strict=True)}
        names |= {'gravity': (gravity, True), 'result': (result, False)}
        names['f_ext'] = np.zeros((len(model.parent), 6)), True
        steps = [
            (step.kernel, [it if isinstance(it, tuple) else (it, True) for it in step.given(names, work)])
            for step in program.steps
        ]
        _run(model, work, steps, result)

    return loop


def _run(model, work, steps, result) -> None:
    """Compute all states; arguments are values, and whether they are shared by all states."""
    if result.dtype == complex and len(result) > 1:
        _run_at_once(model, work, steps, result)
        return
    if result.dtype == complex or numba_is_disabled():
        for b in range(len(result)):
            for kernel, arguments in steps:
                of_one = (value if shared else value[min(b, len(value) - 1)] for value, shared in arguments)
                PlainNumbers().run(kernel, model, work, *of_one)
        return
    fixed = words_of((model, work))
    words, none = [], np.zeros(0)
    for kernel, arguments in steps:
        own, like = [], []
        for value, shared in arguments:
            if isinstance(value, int | np.integer):
                own.append((GIVEN, int(value), 0))
                like.append(int(value))
                continue
            assert value.flags.c_contiguous and value.dtype in (float, np.int64)
            shape = value.shape if shared else value.shape[1:]
            stride = 0 if shared or len(value) == 1 else 8 * math.prod(shape)
            own += [(GIVEN, value.ctypes.data, stride), *((GIVEN, length, 0) for length in shape)]
            like.append(np.empty(shape, value.dtype))
        words.append((kernel_address(kernel, like), fixed.ctypes.data, own))
    program = words_of_program(words)
    call_rows(program.ctypes.data, none, none, result, len(result))


def _run_at_once(model, work, steps, result) -> None:
    """Compute all states as plain Python, each number a ``Lanes`` of them; ``work`` is not written."""
    written = {id(array): array.astype(object) for array in work}
    written[id(result)] = answer = result[0].astype(object)

    def of_all(value, shared):
        if id(value) in written:
            return written[id(value)]
        return value if shared else value[0] if len(value) == 1 else _in_lanes(value)

    lanes = type(work)(*(written[id(array)] for array in work))
    for kernel, arguments in steps:
        PlainNumbers().run(kernel, model, lanes, *(of_all(*it) for it in arguments))
    for index in np.ndindex(answer.shape):
        number = answer[index]
        result[(slice(None), *index)] = number.numbers if isinstance(number, Lanes) else number


def _in_lanes(values) -> np.ndarray:
    """Return an array for one state whose numbers are those of all states, the first axis."""
    found = np.empty(values.shape[1:], object)
    for index in np.ndindex(found.shape):
        found[index] = Lanes(values[(slice(None), *index)])
    return found
