"""Generic code: robot-independent kernels, which read the model from arrays and are compiled once an installation.

What differs between robots is read from memory: the words of a program are the addresses and sizes of its arguments.
"""

import threading
from collections.abc import Callable, Sequence

import numpy as np

from robot_dynamics_ros.algorithms.program import RUNTIME_INPUTS, WRENCHES, Program, Step, program_of
from robot_dynamics_ros.codegen.object_files import CodeFolder
from robot_dynamics_ros.jit.decorators import Kernel, numba_is_disabled
from robot_dynamics_ros.model.arrays import ModelArrays, Workspace
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE
from robot_dynamics_ros.native.states_code import GIVEN, RESULT, RUNTIME, VECTOR, StatesCode, Word, words_of_program

FILES = CodeFolder('generic')
SCRATCH = Workspace(*(np.empty((0,) * len(shape)) for shape in Workspace.shapes(1, 1, 1, 1)))
"""A workspace whose arrays have the right number of axes."""

Place = tuple[Word, tuple[int, ...]]
"""The word of an array, and its shape."""


def is_kept(program: Program) -> bool:
    """Return whether all kernels of a program were compiled before."""
    return all(FILES.has(_file_name(step.kernel, _kinds(step, program))) for step in program.steps)


def kernel_address(kernel: Kernel, kinds: str, arrays: ModelArrays) -> int:
    """Return the address of ``step`` of a kernel, compiled if necessary; see ``kernel_compiler.compiled_kernel``."""

    def make() -> bytes:
        # needs Numba
        from robot_dynamics_ros.codegen.kernel_compiler import compiled_kernel  # noqa: PLC0415

        return compiled_kernel(kernel, kinds, arrays)

    return FILES.code(_file_name(kernel, kinds), make).address('step')


class Generic:
    """Evaluates programs with one workspace a thread: kernels run without the GIL."""

    def __init__(self, arrays: ModelArrays, bodies: ModelArrays):
        """Allocate a workspace; ``bodies`` has the robot's true inertial parameters, ``arrays`` regrouped ones."""
        self.arrays, self._bodies = arrays, bodies
        self._shared = _Memory(arrays, bodies)
        self._own = _OfThread(arrays, bodies)

    def states_code(self, program: Program, alone: bool = False) -> StatesCode:
        """Return the code of a program, for calls by one thread at a time.

        All code of this method shares one workspace, unless this one is to be ``alone``.
        """
        memory = _Memory(self.arrays, self._bodies) if alone else self._shared
        return self._code(program, memory)

    def of_thread(self, program: Program, checked: bool = True) -> Callable:
        """Return a program as a function of any number of states in this thread, without the GIL.

        ``checked`` says whether quaternions are checked.
        """
        own, key = self._own.functions, (program.name, *program.inputs, checked)
        if key not in own:
            code = self._code(program, self._own.memory)
            own[key] = (code if checked else code._replace(quaternions=())).function()
        return own[key]

    def _code(self, program: Program, memory: '_Memory') -> StatesCode:
        """Return the code of a program with this memory."""
        arrays = self.arrays
        words = words_of_program(
            [
                (kernel_address(step.kernel, _kinds(step, program), arrays), memory.words(step, program))
                for step in program.steps
            ]
        )
        return StatesCode(
            list(program.inputs.values()),
            program.shape,
            RUNTIME_INPUTS,
            words,
            (program, memory),
            checked=True,
            columns=6 * (WRENCHES in program.inputs),
            quaternions=arrays.quaternions,
            angles=arrays.angles,
        )

    def evaluate(self, program: Program, rows: Sequence[np.ndarray], gravity, result: np.ndarray) -> bool:
        """Write the results (count, ...) for states in rows; return whether all numbers are finite, no angle too large.

        This is for Python without machine code. The inertia of the last link is that of the arrays.
        """
        memory = self._own.memory
        arrays = memory.arrays_of(program)
        names = {'gravity': gravity, 'f_ext': np.zeros((arrays.n + 1, 6))}
        written = result if program.shape else result[:, None]  # kernels write scalars to an array, too
        for b in range(len(result)):
            names |= {name: row[b] for name, row in zip(program.inputs, rows, strict=True)}
            for step in program.steps:
                step.kernel(arrays, memory.work, *step.given({**names, 'result': written[b]}, memory.work))
        within = np.abs(rows[0][:, arrays.angles]) < LARGEST_ANGLE
        return all([within.all(), *(np.isfinite(array).all() for array in (*rows, result))])

    def velocity_without_inertia(self, q) -> int | None:
        """Return the index in qd of the outermost velocity without inertia at one of q (count, nq), or None."""
        program = program_of(self.arrays, 'forward_dynamics_by_articulated')
        zeros, runtime_inputs = np.zeros((1, self.arrays.nv)), np.zeros(RUNTIME_INPUTS)
        for state in q[:, None]:
            if numba_is_disabled():
                self.evaluate(program, (state, zeros, zeros), runtime_inputs[:3], np.empty_like(zeros))
            else:
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
        self._records = {id(it): _record(it) for it in (arrays, bodies, self.work)}
        self._kept: list[np.ndarray] = []

    def arrays_of(self, program: Program) -> ModelArrays:
        """Return the arrays that the kernels of a program read."""
        return self._bodies if program.bodies else self._arrays

    def words(self, step: Step, program: Program) -> list[Word]:
        """Return the words of a step's arguments, the records of the robot and of the workspace first."""
        vectors = enumerate(program.inputs.items())
        names: dict[str, Place] = {name: ((VECTOR + k, 0, 8 * size), (size,)) for k, (name, size) in vectors}
        names['gravity'] = (RUNTIME, 0, 0), (3,)
        names['result'] = (RESULT, 0, 8 * program.size), program.shape or (1,)
        names['f_ext'] = self._given(np.zeros((len(self._arrays.parent), 6)))
        words = [(GIVEN, self._records[id(it)].ctypes.data, 0) for it in (self.arrays_of(program), self.work)]
        for argument in step.given(names, self.work, self._given):
            if isinstance(argument, int):
                words.append((GIVEN, argument, 0))
            else:
                place, shape = self._given(argument) if isinstance(argument, np.ndarray) else argument
                words += [place, *((GIVEN, length, 0) for length in shape)]
        return words

    def _given(self, array: np.ndarray) -> Place:
        """Return the word of an array and its shape; the memory keeps it alive."""
        self._kept.append(array)
        return (GIVEN, array.ctypes.data, 0), array.shape


class _OfThread(threading.local):
    """The memory of one thread, and the functions that use it."""

    def __init__(self, arrays: ModelArrays, bodies: ModelArrays):
        """Allocate the workspace."""
        self.memory = _Memory(arrays, bodies)
        self.functions: dict[tuple, Callable] = {}


def _record(arrays) -> np.ndarray:
    """Return address and shape of each array of a record."""
    return np.array([word for array in arrays for word in (array.ctypes.data, *array.shape)], np.int64)


def _file_name(kernel: Kernel, kinds: str) -> str:
    """Return the name of the object file of a kernel."""
    return f'{kernel.__name__}.{kinds}'


def _kinds(step: Step, program: Program) -> str:
    """Return the kind of each argument of a step, see ``kernel_compiler.compiled_kernel``."""
    names = {**dict.fromkeys(program.inputs, '1'), 'gravity': '1', 'f_ext': '2', 'result': str(len(program.shape) or 1)}
    return ''.join(
        it if isinstance(it, str) else 'i' if isinstance(it, int) else 'I' if it.dtype.kind == 'i' else str(it.ndim)
        for it in step.given(names, SCRATCH)
    )
