"""Generic code: robot-independent kernels, which read the model from arrays; compiled when the package is built.

What differs between robots is read from memory: the words of a program are the addresses and sizes of its arguments.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from robot_dynamics_ros.algorithms.program import RUNTIME_INPUTS, Program, Step, program_of
from robot_dynamics_ros.codegen.states_code import (
    GIVEN,
    RESULT,
    RUNTIME,
    VECTOR,
    StatesCode,
    Word,
    words_of,
    words_of_program,
)
from robot_dynamics_ros.jit.at_first_use import AtFirstUse
from robot_dynamics_ros.jit.decorators import Kernel, numba_is_disabled
from robot_dynamics_ros.model.arrays import ModelArrays, Workspace
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE
from robot_dynamics_ros.native import library


def kernel_address(kernel: Kernel, arguments: Sequence) -> int:
    """Return the address of a kernel's code, the same for any robot.

    Its fixed words are those of the arrays of a model and of a workspace. A kernel that the library does not have, as
    that of a new quantity, is compiled now for arguments like these.
    """
    address = library.address_of(kernel)
    if address is None:
        # needs Numba
        from robot_dynamics_ros.codegen.new_function import new_kernel_code  # noqa: PLC0415

        address = new_kernel_code(kernel, arguments)
    return address


class Generic:
    """Evaluates programs with one workspace a thread: kernels run without the GIL."""

    def __init__(self, arrays: ModelArrays, bodies: ModelArrays):
        """Store the arrays; ``bodies`` has the robot's true inertial parameters, ``arrays`` regrouped ones."""
        self.arrays, self._bodies = arrays, bodies
        self._own = _OfThread(arrays, bodies)

    @AtFirstUse
    def _shared(self) -> '_Memory':
        """The memory of all calls with the GIL."""
        return _Memory(self.arrays, self._bodies)

    def states_code(self, program: Program, memory: '_Memory | None' = None) -> StatesCode:
        """Return the code of a program, for calls by one thread at a time: all code of one ``memory``.

        By default that is the one of all calls with the GIL. Kernels in plain Python have no code.
        """
        memory = memory or self._shared
        steps = () if numba_is_disabled() else program.steps
        words = words_of_program([memory.step(step, program) for step in steps])
        return StatesCode(program, self.arrays, words, memory, checked=True)

    def alone(self, program: Program) -> StatesCode:
        """Return the code of a program with a separate memory."""
        return self.states_code(program, _Memory(self.arrays, self._bodies))

    def of_thread(self, program: Program, checked: bool = True) -> Callable:
        """Return a program as a function of any number of states in this thread, without the GIL.

        ``checked`` says whether quaternions are checked.
        """
        own, key = self._own.functions, (program.name, *program.inputs, checked)
        if key not in own and numba_is_disabled():
            arrays = self._bodies if program.bodies else self.arrays
            own[key] = partial(_evaluated_in_python, program, arrays, self._own.memory.work)
        elif key not in own:
            own[key] = self.states_code(program, self._own.memory).function(any_norm=not checked)
        return own[key]

    def velocity_without_inertia(self, q) -> int | None:
        """Return the index in qd of the outermost velocity without inertia at one of q (count, nq), or None."""
        program = program_of(self.arrays, 'forward_dynamics_by_articulated')
        zeros, runtime_inputs = np.zeros((1, self.arrays.nv)), np.zeros(RUNTIME_INPUTS)
        for state in q[:, None]:
            self.of_thread(program)(state, zeros, zeros, runtime_inputs, None)
            (singular,) = np.nonzero(~(self._own.memory.work.d[1:] > 0.0))
            if len(singular):  # NaN propagates from the outermost velocity towards the base
                return int(singular[-1])
        return None


class _Memory:
    """The arrays of a robot and a workspace, and their addresses."""

    def __init__(self, arrays: ModelArrays, bodies: ModelArrays):
        """Allocate the workspace."""
        self.work = Workspace.of(arrays)
        self._arrays, self._bodies = arrays, bodies
        self._fixed: dict[int, np.ndarray] = {}
        self._kept: list = []

    def step(self, step: Step, program: Program) -> tuple[int, int, list[Word]]:
        """Return the address of a step's code, that of its fixed words, and the words of its other arguments."""
        arrays = self._bodies if program.bodies else self._arrays
        names = _names(program, len(arrays.parent))
        bases = {name: VECTOR + k for k, name in enumerate(program.inputs)} | {'gravity': RUNTIME, 'result': RESULT}
        arguments, words = step.given(names, self.work), []
        self._kept += arguments
        for argument, it in zip(step.arguments, arguments, strict=True):
            if isinstance(it, int):
                words.append((GIVEN, it, 0))
                continue
            base = bases.get(argument, GIVEN) if isinstance(argument, str) else GIVEN
            address, stride = it.ctypes.data if base == GIVEN else 0, 0 if base in (GIVEN, RUNTIME) else it.nbytes
            words += [(base, address, stride), *((GIVEN, length, 0) for length in it.shape)]
        return kernel_address(step.kernel, arguments), self._fixed_words(arrays).ctypes.data, words

    def _fixed_words(self, arrays: ModelArrays) -> np.ndarray:
        """Return the words of the arrays of a model and of the workspace; most programs need those of one model."""
        if id(arrays) not in self._fixed:
            self._fixed[id(arrays)] = words_of((arrays, self.work))
        return self._fixed[id(arrays)]


class _OfThread(threading.local):
    """The memory of one thread, and the functions that use it."""

    def __init__(self, arrays: ModelArrays, bodies: ModelArrays):
        """Store the arrays of the robot."""
        self._arrays, self._bodies = arrays, bodies
        self.functions: dict[tuple, Callable] = {}

    @AtFirstUse
    def memory(self) -> _Memory:
        """A workspace of the thread's own."""
        return _Memory(self._arrays, self._bodies)


def _evaluated_in_python(
    program: Program, arrays: ModelArrays, work: Workspace, *arguments: np.ndarray
) -> np.ndarray | None:
    """Return the results of states in rows as ``StatesCall`` does, by kernels in plain Python."""
    *vectors, runtime_inputs, out = arguments
    names = _names(program, len(arrays.parent))
    names['gravity'][:] = runtime_inputs[:3]
    steps = [(step.kernel, step.given(names, work)) for step in program.steps]
    result = np.empty((len(vectors[0]), *program.shape)) if out is None else out
    for k in range(len(result)):
        for name, rows in zip(program.inputs, vectors, strict=True):
            names[name][:] = rows[k]
        for kernel, given in steps:
            kernel(arrays, work, *given)
        result[k] = names['result'].reshape(program.shape)
    finite = all(np.isfinite(it).all() for it in (*vectors, result))
    small = (np.abs(vectors[0][:, list(arrays.angles)]) < LARGEST_ANGLE).all()
    return result if finite and small else None


def _names(program: Program, links: int) -> dict[str, np.ndarray]:
    """Return arrays like the arguments that kernels have by name."""
    names = {name: np.empty(size) for name, size in program.inputs.items()}
    return {**names, 'gravity': np.empty(3), 'f_ext': np.zeros((links, 6)), 'result': np.empty(program.shape or 1)}
