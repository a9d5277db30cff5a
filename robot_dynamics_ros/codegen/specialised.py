"""Specialised code of one robot: straight-line machine code, compiled at its first use and kept on disk."""

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.algorithms.program import Program
from robot_dynamics_ros.codegen.machine_code import MachineCode
from robot_dynamics_ros.codegen.object_files import CodeFolder, compiled, lanes
from robot_dynamics_ros.codegen.states_code import RESULT, RUNTIME, VECTOR, StatesCode, words_of_program
from robot_dynamics_ros.codegen.straight_line import StraightLine, needed
from robot_dynamics_ros.model.arrays import ModelArrays

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

MOST_OPERATIONS = 20_000
"""Longest code that is compiled for the methods of a robot: operations without changes of sign, and two for each number
of the result.

LLVM needs 0.06 s for the 700 operations of the AUBO-i5's inverse dynamics, 0.25 s for 9,000, 1.5 s for 23,000 and 7 s
for 42,000 (2026-11-22). ``Robot.address`` has no limit.
"""
MOST_OPERATIONS_OF_BLOCKS = 10_000
"""Longest code for blocks of states: it needs two to five times as long to compile."""
LEAST_OF_A_JOINT = 20
"""No code of a robot is shorter than this number of operations for each joint."""
SPRINGS = ('stiffness', 'spring_rest', 'coordinate')
"""Arrays that count in the digest of robots with springs only."""
MOST_KEPT = 32
"""Number of robots whose code a process keeps for reuse."""


def robot_digest(arrays: ModelArrays) -> str:
    """Return the digest (16 hex digits) of a robot's constants: all arrays but the last link's inertia."""
    digest = hashlib.sha256()
    for name, array in zip(arrays._fields, arrays, strict=True):
        if name in SPRINGS and not arrays.has_springs:
            continue
        constant = array[:-1] if name == 'I' else array
        digest.update(f'{name} {constant.dtype.str} {constant.shape} '.encode() + constant.tobytes())
    return digest.hexdigest()[:16]


def folder_of(arrays: ModelArrays) -> str:
    """Return the folder of the files of a robot in the cache of compiled code."""
    return f'robots/{robot_digest(arrays)}'


class Specialised:
    """Straight-line code for one robot, by the names of its programs."""

    def __init__(self, arrays: ModelArrays, threads: int = 1):
        """Store the robot's arrays; nothing is compiled yet. ``threads`` is the number of cores for a batch."""
        self.arrays = arrays
        self.threads = threads
        self._files = CodeFolder(folder_of(arrays))
        self._lengths: dict[str, int] = {}
        self._traced: dict[str, StraightLine] = {}  # of programs that are short enough, until they are compiled

    def fits(self, arrays: ModelArrays) -> bool:
        """Return whether ``arrays``, of the same robot, have the inertias of this code; the last link's may differ."""
        return np.array_equal(arrays.I[:-1], self.arrays.I[:-1])

    def is_kept(self, program: Program, blocks: bool) -> bool:
        """Return whether the code of a program was compiled before, for one state or for ``blocks`` of states."""
        return self._files.has(_file_name(program.name, blocks))

    def is_short(self, program: Program, blocks: bool) -> bool:
        """Return whether the code of a program is worth compiling."""
        most = MOST_OPERATIONS_OF_BLOCKS if blocks else MOST_OPERATIONS
        if program.name not in self._lengths:
            if LEAST_OF_A_JOINT * self.arrays.n + 2 * program.size > most:
                return False  # tracing it would take long, too
            try:
                code = StraightLine.of(program, self.arrays)
            except ZeroDivisionError:
                return False  # a joint without inertia, which the generic kernels find
            operations = sum(value.operation != 'neg' for value in needed(code.results))
            self._lengths[program.name] = operations + 2 * program.size
            if self._lengths[program.name] <= most:
                self._traced[program.name] = code
        return self._lengths[program.name] <= most

    def states_code(self, program: Program, blocks: bool) -> StatesCode:
        """Return the code of a program, compiled if necessary; ``blocks`` of states include those."""
        of_one = self._code(program, blocks=False)
        of_blocks = self._code(program, blocks=True) if blocks else None
        vectors = [(VECTOR + k, 0, 8 * length) for k, length in enumerate(program.inputs.values())]
        step = of_one.address(f'{program.name}_state'), 0, [*vectors, (RUNTIME, 0, 0), (RESULT, 0, 8 * program.size)]
        in_blocks, states = (of_blocks.address(f'{program.name}_blocks'), lanes()) if of_blocks else (0, 1)
        words = words_of_program([step], in_blocks, states)
        return StatesCode(program, self.arrays, words, (of_one, of_blocks), states)

    def address(self, program: Program) -> int:
        """Return the address of ``bool f(double *, ...)`` in C, valid as long as this object lives."""
        return self._code(program, blocks=False).address(program.name)

    def inline(self, program: Program) -> Callable:
        """Return the code for one state as a function that Numba inlines, with flat matrices and unchecked lengths."""
        # need Numba and LLVM
        from robot_dynamics_ros.codegen.compiled_calls_compiler import inlined_code  # noqa: PLC0415
        from robot_dynamics_ros.codegen.llvm import of_one_state  # noqa: PLC0415

        # unique among robots: a function may call the code of several
        code = StraightLine.of(program, self.arrays)._replace(name=f'{program.name}_{robot_digest(self.arrays)}')
        return inlined_code(code.name, of_one_state(code, 'alwaysinline'), len(program.inputs) + 2)

    def _code(self, program: Program, blocks: bool) -> MachineCode:
        """Return the machine code of a program, compiled if necessary."""

        def make() -> bytes:
            # needs LLVM
            from robot_dynamics_ros.codegen.llvm import of_blocks, of_one_state  # noqa: PLC0415

            code = self._traced.pop(program.name, None) or StraightLine.of(program, self.arrays)
            return compiled(of_blocks(code, lanes()) if blocks else of_one_state(code))

        return self._files.code(_file_name(program.name, blocks), make)


def _file_name(name: str, blocks: bool) -> str:
    """Return the name of the object file of a program."""
    return f'{name}_blocks' if blocks else name


_kept: OrderedDict[tuple[str, int], Specialised] = OrderedDict()


def code_of(arrays: ModelArrays, threads: int | None = None) -> Specialised:
    """Return the code of a robot, cached by its constants; a batch may use ``threads`` cores (None: all)."""
    threads = threads or len(os.sched_getaffinity(0))
    key = robot_digest(arrays), threads
    code = _kept.pop(key, None) or Specialised(arrays, threads)
    _kept[key] = code
    if len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    return code


@cache
def background() -> 'ThreadPoolExecutor':
    """Return the thread that compiles code that pays while calls go on."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (slow to import)

    return ThreadPoolExecutor(1, thread_name_prefix='robot_dynamics_ros_compiler')


os.register_at_fork(after_in_child=background.cache_clear)  # its thread does not exist there
