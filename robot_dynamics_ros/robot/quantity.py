"""A quantity of one robot: by the code that all robots share, or by its own where that was asked for or pays."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.algorithms.program import Program
from robot_dynamics_ros.codegen.generic import Generic
from robot_dynamics_ros.codegen.states_code import UNLIMITED
from robot_dynamics_ros.jit.decorators import numba_is_disabled

if TYPE_CHECKING:
    from robot_dynamics_ros.codegen.specialised import Specialised

PAYS = 1_000_000
"""Number of states of a batch for which code of the robot's own is compiled.

By generic code so many states of the AUBO-i5's inverse dynamics take 0.3 s. Importing LLVM and compiling take as long;
by code of its own, two cores then need 0.02 s.
"""
HELD_BY_KERNEL, HELD_BY_OWN_CODE, LEAST_HELD = 2_000, 16_000, 16
"""Numbers in the results of all states up to which a call holds the GIL, some 0.1 ms; and least number of states.

Whoever releases the GIL may wait 5 ms for it while other threads of Python are busy.
"""
STREAMED = 1 << 22
"""Bytes of a batch's result above which the results bypass the caches.

100,000 mass matrices of the AUBO-i5, 29 MB: 27 ns each, 49 ns with normal stores; 10,000: 25 ns and 24 ns (2026-11-20).
"""


class Quantity:
    """How a quantity is computed.

    ``call(vectors..., inputs, out)`` is a builtin function for arrays of one or some states: it returns the
    result, or None if some number is not finite. It raises TypeError where ``compute`` has to decide. Results of both
    kinds of code are equal, up to the sign of a zero.
    """

    def __init__(self, program: Program, generic: Generic, own_code: 'Callable[[], Specialised] | None', asked: bool):
        """Use generic code, or ``own_code()`` where it was ``asked`` for."""
        self.program, self._generic, self._own_code = program, generic, own_code
        self._own: Callable | None = None
        self._in_python = numba_is_disabled()  # kernels then have no code: ``compute`` calls them
        held = 0 if self._in_python else self._held(HELD_BY_KERNEL)
        # all threads share this workspace, one at a time
        self.call = generic.states_code(program).function(most=held, held=held)
        if asked:
            self._compile()

    def of_few(self, inputs, out, vectors) -> np.ndarray | None:
        """Return the results of one or some states by ``call``; None where ``compute`` has to decide."""
        try:
            return self.call(*vectors, inputs, out)
        except (TypeError, ValueError):  # also of an array of many states
            return None

    def of_many(self, inputs, out, vectors) -> np.ndarray | None:
        """Return the results of many states by generic code; None where ``compute`` has to decide."""
        if self._in_python or self._own is not None:
            return None
        try:
            if self._pays(np.shape(vectors[0])):
                return None
            return self._generic.of_thread(self.program)(*vectors, inputs, out)
        except (TypeError, ValueError):  # no array of numbers, which ``compute``'s caller names
            return None

    def compute(self, rows, inputs, result) -> bool:
        """Write the results (count, ...) of states in rows (count, n); return whether all numbers are finite."""
        if self._own is None and self._pays(result.shape):
            self._compile()
        part = self._own or self._generic.of_thread(self.program, checked=False)
        return part(*rows, inputs, result) is not None

    def _pays(self, shape: tuple[int, ...]) -> bool:
        """Return whether own code pays for an array of so many states."""
        return self._own_code is not None and len(shape) > 1 and shape[0] >= PAYS

    def _compile(self) -> None:
        """Use code of the robot's own from now on, if it is short enough."""
        code = self._own_code() if self._own_code is not None else None
        if code is None or not code.is_short(self.program, blocks=False):
            self._own_code = None
            return
        states = code.states_code(self.program, blocks=code.is_short(self.program, blocks=True))
        limits = UNLIMITED, self._held(HELD_BY_OWN_CODE), STREAMED // (8 * max(1, self.program.size))
        self._own = states.function(*limits, code.threads, any_norm=True)
        self.call = states.function(*limits, code.threads)

    def _held(self, numbers: int) -> int:
        """Return up to how many states a call holds the GIL."""
        return max(LEAST_HELD, numbers // max(1, self.program.size, self._generic.arrays.nv))
