"""Specialised code of one robot: straight-line machine code, compiled at its first use and kept on disk."""

import os
from collections import OrderedDict

from robot_dynamics_ros.algorithms.program import Program
from robot_dynamics_ros.codegen.kept_code import CodeFolder, lanes
from robot_dynamics_ros.codegen.llvm import of_blocks, of_one_state
from robot_dynamics_ros.codegen.loaded_code import LoadedCode
from robot_dynamics_ros.codegen.states_code import RESULT, RUNTIME, VECTOR, StatesCode, words_of_program
from robot_dynamics_ros.codegen.straight_line import StraightLine, needed
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.digest import robot_digest

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
MOST_KEPT = 32
"""Number of robots whose code a process keeps for reuse."""


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

    def _code(self, program: Program, blocks: bool) -> LoadedCode:
        """Return the machine code of a program, compiled if necessary."""

        def make() -> str:
            code = self._traced.pop(program.name, None) or StraightLine.of(program, self.arrays)
            return of_blocks(code, lanes()) if blocks else of_one_state(code)

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
