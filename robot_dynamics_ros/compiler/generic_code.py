"""Machine code of the generic kernels: one object file for each algorithm, the same for every robot.

Numba compiles the loop over states once for each installation; afterwards the object file is loaded without Numba. What
differs between robots is read from memory: an array of integers, the ``context``.
"""

import numpy as np

from robot_dynamics_ros.compiler.algorithms import Algorithm
from robot_dynamics_ros.jit.cache import FOLDER
from robot_dynamics_ros.jit.machine_code import MachineCode, kept_code, object_file
from robot_dynamics_ros.model.arrays import ModelArrays, Workspace

GENERIC = FOLDER / 'generic'
"""Folder of the object files, below the folder of this version of the sources."""

_loaded: dict[str, MachineCode] = {}


def is_kept(name: str, algorithm: Algorithm, arrays: ModelArrays) -> bool:
    """Return whether the kernel of the algorithm ``name`` was compiled before."""
    own = _file_name(name, algorithm, arrays)
    return own in _loaded or object_file(GENERIC, own).exists()


def code_of_kernel(name: str, algorithm: Algorithm, arrays: ModelArrays) -> int:
    """Return the address of the loop over states of the algorithm ``name``, compiled if necessary."""
    own = _file_name(name, algorithm, arrays)
    if own not in _loaded:

        def make() -> bytes:
            # needs Numba
            from robot_dynamics_ros.compiler.generic_compiler import compiled_loop  # noqa: PLC0415

            return compiled_loop(algorithm, arrays)

        # what another thread has loaded meanwhile is in use
        _loaded.setdefault(own, kept_code(GENERIC, own, make))
    return _loaded[own].address('rows')


def context_of(algorithm: Algorithm, arrays: ModelArrays, work: Workspace) -> np.ndarray:
    """Return the integers that the loop over states reads: addresses and shapes of arrays, sizes and the frame.

    The caller keeps the arrays alive.
    """
    shape = algorithm.shape_of(arrays) or (1,)
    frame = [it.ctypes.data if isinstance(it, np.ndarray) else int(it) for it in algorithm.frame]
    if algorithm.of_frames:
        frame.append(len(algorithm.frame[0]))
    return np.array([*_words(arrays), *_words(work), *algorithm.lengths(arrays), *shape, *frame], np.int64)


def _file_name(name: str, algorithm: Algorithm, arrays: ModelArrays) -> str:
    """Return the name of the object file of an algorithm."""
    return f'{name}_by_{algorithm.kernel_of(arrays).__name__}'


def _words(record) -> list[int]:
    """Return address and shape of each array of a record."""
    return [word for array in record for word in (array.ctypes.data, *array.shape)]
