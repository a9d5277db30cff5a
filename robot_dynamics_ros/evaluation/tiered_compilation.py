"""Tiered compilation of a quantity of one robot: generic code first, specialised code when that pays.

There are three kinds of code, with the same numbers: the generic kernel, straight-line code for one state, and the same
for blocks of states. The sign of a zero may differ between the first and the others.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import IntEnum
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.algorithms.program import Program
from robot_dynamics_ros.codegen import generic
from robot_dynamics_ros.codegen.generic import Generic
from robot_dynamics_ros.codegen.object_files import lanes
from robot_dynamics_ros.codegen.specialised import Specialised, background
from robot_dynamics_ros.codegen.states_code import UNLIMITED
from robot_dynamics_ros.jit.decorators import Kernel, numba_is_disabled

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

BREAK_EVEN = 200_000
"""Number of states after which straight-line code is compiled for a robot, in the background.

By the generic kernel, so many states of the AUBO-i5's inverse dynamics take 0.06 s: a short program compiles nothing.
Compiling takes 0.2 s of another core; a state then takes a quarter of the time (2026-11-22).
"""
HELD_BY_KERNEL, HELD_BY_OWN_CODE, LEAST_HELD = 2_000, 16_000, 16
"""Numbers in the results of all states up to which a call holds the GIL, some 0.1 ms; and least number of states.

Whoever releases the GIL may wait 5 ms for it while other threads of Python are busy.
"""
SMALLEST_PART = 8192
"""Minimum number of states per thread.

Time of the AUBO-i5's inverse dynamics on two cores relative to one: 1.3 for two parts of 4,000 states, 0.7 for two of
8,000 (waking a core takes 0.1 ms and more; 2026-11-20).
"""
STREAMED = 1 << 22
"""Bytes of a batch's result above which the results bypass the caches.

100,000 mass matrices of the AUBO-i5, 29 MB: 27 ns each, 49 ns with normal stores; 10,000: 25 ns and 24 ns (2026-11-20).
"""


class Tier(IntEnum):
    """The kinds of code."""

    GENERIC = 0
    ONE_STATE = 1
    BLOCKS = 2


class Quantity:
    """A quantity by generic kernels, or by the robot's own ``code`` where that is None no longer.

    ``call(vectors..., inputs, out)`` is a builtin function for arrays of one or some states: it returns the
    result, or None if some number is not finite. It raises TypeError where ``compute`` has to decide. ``adaptive`` code
    is compiled in the background when use shows that it pays; other code at its first use.
    """

    def __init__(self, program: Program, generic: Generic, code: Specialised | None, adaptive: bool):
        """Choose the code."""
        self.program, self._generic, self._code, self._adaptive = program, generic, code, adaptive
        self._compiled: Future | None = None
        self._looked = False
        self._final = code is None
        self._use(self._first_tier())

    def of_many(self, inputs, out, vectors) -> np.ndarray | None:
        """Return the results of many states by the generic kernel; None where ``compute`` has to decide."""
        call = self.call
        if self._tier == Tier.GENERIC and call.most > 0 and call.left >= 0:
            try:
                result = self._generic.of_thread(self.program)(*vectors, inputs, out)
            except TypeError:
                return None
            call.left -= len(vectors[0]) if vectors[0].ndim > 1 else 1
            return result
        return None

    def compute(self, rows, inputs, result) -> bool:
        """Write the results (count, ...) of states in rows (count, n); return whether all numbers are finite."""
        count = len(result)
        self._improve(count)
        self.call.left -= count
        if self._tier == Tier.GENERIC:
            part = self._generic.of_thread(self.program, checked=False)
            return part(*rows, inputs, result) is not None
        return self._in_parts(rows, inputs, result)

    def _first_tier(self) -> Tier:
        """Return the code for the first call."""
        code, program = self._code, self.program
        if code is None:
            return Tier.GENERIC
        if code.is_kept(program, blocks=False):
            return Tier.ONE_STATE
        if self._adaptive:
            # where a kernel was never compiled: importing Numba takes longer than compiling for the first robot
            kernels = tuple(step.kernel for step in program.steps)
            if generic.is_kept(program) or _first_robots.setdefault(kernels, code) is not code:
                return Tier.GENERIC
        return Tier.ONE_STATE if code.is_short(program, blocks=False) else Tier.GENERIC

    def _improve(self, count: int) -> None:
        """Choose better code if there is some for ``count`` states, and have it compiled if that pays."""
        code = self._code
        if code is None or self._final:
            return
        if self._compiled is not None:
            if self._compiled.done():
                self._final = True
                self._use(self._tier if self._compiled.exception() else self._compiled.result())
        elif self._tier == Tier.ONE_STATE and count >= lanes() and not self._looked:
            self._looked = True
            in_blocks = is_used(code, self.program, pays=not self._adaptive, blocks=True)
            self._use(Tier.BLOCKS if in_blocks else Tier.ONE_STATE)
        elif self.call.left < 0:
            call = self.call
            call.left = UNLIMITED
            with suppress(RuntimeError):  # while the interpreter ends, nothing is worth compiling
                self._compiled = background().submit(best_tier, code, self.program)
                self._compiled.add_done_callback(lambda _: setattr(call, 'most', -1))

    def _use(self, tier: Tier) -> None:
        """Compute by this code from now on. The tier is set last, since other threads read it without a lock."""
        item = max(1, self.program.size)
        streamed = STREAMED // (8 * item)
        code = self._code
        self._final = self._final or tier == Tier.BLOCKS
        left = BREAK_EVEN if self._adaptive and not self._final else UNLIMITED
        if code is None or tier == Tier.GENERIC:
            rows = self._generic.states_code(self.program)
            held = max(LEAST_HELD, HELD_BY_KERNEL // max(item, self._generic.arrays.nv))
            if numba_is_disabled():
                held = 0  # kernels in plain Python have no code: ``compute`` calls them
            # all threads share this workspace, one at a time
            self.call = rows.function(held, held, streamed, left)
        else:
            rows = code.states_code(self.program, blocks=tier == Tier.BLOCKS)
            held = max(LEAST_HELD, HELD_BY_OWN_CODE // max(item, self._generic.arrays.nv))
            self._threads = code.threads
            self._part = rows.function(UNLIMITED, held, streamed // code.threads, any_norm=True)
            most = 2 * SMALLEST_PART - 1 if code.threads > 1 else UNLIMITED
            # a first batch looks for code for blocks
            few = tier == Tier.ONE_STATE and not self._final and not self._looked
            self.call = rows.function(lanes() - 1 if few else most, held, streamed, left)
        self._tier = tier

    def _in_parts(self, rows, inputs, result) -> bool:
        """Compute all states by several threads."""
        count = len(result)
        parts = max(1, min(self._threads, count // SMALLEST_PART))
        cuts = [lanes() * (count // lanes() * k // parts) for k in range(parts)] + [count]

        def part(i: int, j: int) -> bool:
            return self._part(*(row[i:j] for row in rows), inputs, result[i:j, ...]) is not None

        return all(in_threads(part, list(pairwise(cuts))))


_first_robots: dict[tuple[Kernel, ...], Specialised] = {}
"""By kernels that are not compiled yet, the robot for which straight-line code is compiled at once."""


def is_used(code: Specialised, program: Program, pays: bool, blocks: bool) -> bool:
    """Return whether the code of a program was compiled before or, where that ``pays``, is short enough for it."""
    return code.is_kept(program, blocks) or (pays and code.is_short(program, blocks))


def best_tier(code: Specialised, program: Program) -> Tier:
    """Compile the code of a program, within the limits of its length; return the fastest kind that there is."""
    if not code.is_short(program, blocks=False):
        return Tier.GENERIC
    blocks = code.is_short(program, blocks=True)
    code.states_code(program, blocks)
    return Tier.BLOCKS if blocks else Tier.ONE_STATE


@cache
def pool() -> 'ThreadPoolExecutor':
    """Return the thread pool that all robots share; with the calling thread there is one thread per core."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (slow to import)

    return ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) - 1), thread_name_prefix='robot_dynamics_ros')


def in_threads(function: Callable, arguments: Sequence[tuple]) -> list:
    """Return the results of a function for these arguments, each by another thread, and the first ones by this one."""
    try:
        others = [pool().submit(function, *these) for these in arguments[1:]]
    except RuntimeError:  # the interpreter ends, and has no threads to offer
        return [function(*these) for these in arguments]
    return [function(*arguments[0]), *(other.result() for other in others)]


os.register_at_fork(after_in_child=pool.cache_clear)  # its threads do not exist there
