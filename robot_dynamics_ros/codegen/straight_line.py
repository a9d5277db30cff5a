"""Straight-line code of a quantity for one robot: operations without loops or branches, their count and their check."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.algorithms.program import RUNTIME_INPUTS, Program
from robot_dynamics_ros.codegen.trace import Symbol, Tape
from robot_dynamics_ros.model.arrays import ModelArrays, Workspace
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE

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


class StraightLine(NamedTuple):
    """The values of a quantity of one robot."""

    name: str
    inputs: dict[str, int]
    """Lengths of the vectors of a state, by name."""
    results: list
    """Symbols and numbers, in the order of the flat result."""
    finite: Symbol
    """0 if all numbers of vectors and result are finite, and all angles below LARGEST_ANGLE; else NaN."""

    @classmethod
    def of(cls, program: Program, arrays: ModelArrays) -> 'StraightLine':
        """Trace the steps of a program for a robot."""
        tape = Tape()
        results = trace(program, arrays, tape=tape)
        finite = _check(tape, results, program.inputs, arrays.angles)
        *results, finite = with_negated_factors([*results, finite])
        return cls(program.name, program.inputs, results, finite)

    @property
    def values(self) -> list[Symbol]:
        """Every value that has to be computed, in order."""
        return needed([*self.results, self.finite])

    @property
    def read(self) -> list[tuple[str, int]]:
        """The entries of vectors and ``runtime_inputs`` that are read, in order."""
        return sorted(value.arguments for value in self.values if value.operation == 'input')


def trace(program: Program, arrays: ModelArrays, runtime_inputs=None, tape: Tape | None = None) -> list:
    """Return the results (size,) of a program for a robot, as symbols or floats.

    ``runtime_inputs`` (19,) are numbers to fold in or symbols of ``tape``; by default it is an input of that name.
    """
    n, tape = arrays.n, tape or Tape()
    runtime_inputs = (
        tape.inputs('runtime_inputs', RUNTIME_INPUTS) if runtime_inputs is None else _floats(np.asarray(runtime_inputs))
    )
    constants = ModelArrays(*map(_floats, arrays))
    constants.I[n] = runtime_inputs[3:13]
    f_ext = _floats(np.zeros((n + 1, 6)))
    f_ext[n] = runtime_inputs[13:19]
    work, result = Workspace.of(arrays, object), _floats(np.zeros(program.shape or (1,)))
    names = {name: tape.inputs(name, length) for name, length in program.inputs.items()}
    names |= {'gravity': runtime_inputs[:3], 'f_ext': f_ext, 'result': result}

    for step in program.steps:
        tape.run(step.kernel, constants, work, *step.given(names, work, _floats))
    return list(result.ravel())


def _floats(array: np.ndarray) -> np.ndarray:
    """Return an object array of Python's numbers; NumPy's floats would convert symbols to arrays."""
    return array if array.dtype.kind == 'i' else np.array(array.tolist(), object).reshape(array.shape)


def needed(results: Iterable) -> list[Symbol]:
    """Return every value that ``results`` depend on, in the order in which the kernels computed them.

    Fewer values are alive at a time than in the order of results: a fifth fewer registers are spilled.
    """
    return sorted(_reached(results, lambda value: value.arguments), key=lambda value: value.number)


def _reached(results: Iterable, arguments: Callable[[Symbol], tuple]) -> set[Symbol]:
    """Return all symbols that can be reached from ``results`` through ``arguments``."""
    reached: set[Symbol] = set()
    waiting = list(results)
    while waiting:
        value = waiting.pop()
        if isinstance(value, Symbol) and value not in reached:
            reached.add(value)
            waiting += arguments(value)
    return reached


def with_negated_factors(results: Sequence) -> list:
    """Return ``results`` with fma(-x, y, -z) in place of -fma(x, y, z), unless fma(x, y, z) is used itself.

    It is an operation less, and only the sign of a zero may change. gcc does the same by itself, against IEEE 754,
    where the processor has fused multiply-adds: done here, it gives the same bits with every compiler.
    """
    values = needed(results)
    # numbers of uses of each value and of its negative, counted from the results back
    uses = Counter(it for it in results if isinstance(it, Symbol))
    of_negative: Counter[Symbol] = Counter()
    negated: dict[Symbol, tuple[int, ...]] = {}
    for value in reversed(values):
        if value.operation == 'neg':
            uses[value.arguments[0]] += of_negative[value]
            of_negative[value.arguments[0]] += uses[value]
            continue
        if value.operation == 'fma' and not uses[value]:
            y = value.arguments[1]
            negated[value] = (0, 2) if isinstance(y, Symbol) and y.operation != 'neg' else (1, 2)
        for k, it in enumerate(value.arguments):
            if isinstance(it, Symbol):
                (of_negative if k in negated.get(value, ()) else uses)[it] += 1
    tape = Tape()
    new: dict[Symbol, Symbol] = {}
    for value in values:
        if value.operation == 'neg':
            (it,) = value.arguments
            new[value] = new[it] if it in negated else -new[it]
            continue
        arguments = [new.get(it, it) for it in value.arguments]
        for k in negated.get(value, ()):
            arguments[k] = arguments[k] if value.arguments[k] in negated else -arguments[k]
        new[value] = tape.value(value.operation, *arguments)
    return [new.get(it, it) for it in results]


def count(results: Iterable) -> Operations:
    """Return the number of operations of a trace; changes of sign are not counted."""
    values = needed(results)
    found = Counter(value.operation for value in values)
    pairs = {value.arguments for value in values if value.operation in ('sin', 'cos')}
    fused = found['fma']
    return Operations(found['*'] + fused, found['+'] + found['-'] + fused, found['/'], len(pairs), fused)


def unpropagated(results: list, inputs: dict[str, int]) -> list[tuple[str, int]]:
    """Return the entries of ``inputs`` (name: length) that may be NaN or inf while results are finite.

    Sums, products and sincos propagate NaN and inf. The entries that remain are those that no result depends on, or
    only as a divisor.
    """
    reached = _reached(results, lambda value: value.arguments[:1] if value.operation == '/' else value.arguments)
    propagated = {value.arguments for value in reached if value.operation == 'input'}
    return [(name, k) for name, length in inputs.items() for k in range(length) if (name, k) not in propagated]


def _check(tape: Tape, results: list, inputs: dict[str, int], angles: tuple[int, ...]) -> Symbol:
    """Return the sum of value * 0 over results, angles, and the entries that are not propagated.

    An angle and a result are checked at once, as angle * OVERFLOW_FACTOR + result: a finite result below 2^970 does
    not change whether that sum is finite.
    """
    symbols = sorted({value for value in results if isinstance(value, Symbol)}, key=lambda value: value.number)
    of_angles = [('q', k) for k in angles]
    others = [tape.value('input', *entry) for entry in unpropagated(results, inputs) if entry not in of_angles]
    added = [*symbols, *[0.0] * len(angles)]
    sums = [
        tape.value('fma', tape.value('input', *entry), OVERFLOW_FACTOR, term)
        for entry, term in zip(of_angles, added, strict=False)
    ]
    terms = [*sums, *symbols[len(sums) :], *others]
    chains = []
    for first in range(0, len(terms), CHAIN):
        chain = tape.value('*', terms[first], 0.0)
        for term in terms[first + 1 : first + CHAIN]:
            chain = tape.value('fma', term, 0.0, chain)
        chains.append(chain)
    while len(chains) > 1:
        pairs = [tape.value('+', one, other) for one, other in zip(chains[::2], chains[1::2], strict=False)]
        chains = pairs + chains[2 * len(pairs) :]
    return chains[0]
