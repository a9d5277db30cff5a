"""Functions and kernels that the library does not have, such as that of a new quantity.

Numba compiles them at their first use; their code is kept for this process.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.algorithms.kernel_arguments import ARGUMENTS, MODEL, WORKSPACE
from robot_dynamics_ros.codegen.llvm_machine import host_object
from robot_dynamics_ros.codegen.loaded_code import LoadedCode
from robot_dynamics_ros.codegen.numba_code import ENTRY, code_of
from robot_dynamics_ros.jit.decorators import Kernel

_CODES: dict[Any, LoadedCode] = {}


def new_code(function: Any, fixed: tuple, given: tuple) -> int:
    """Return the address of a function's code for examples of its arguments, see ``numba_code``."""
    if function not in _CODES:
        _CODES[function] = LoadedCode(host_object(code_of(function, fixed, given)))
    return _CODES[function].address(ENTRY)


def new_kernel_code(kernel: Kernel, arguments: Sequence) -> int:
    """Return the address of a kernel's code, for arguments like these after ``model`` and ``work``."""
    return new_code(kernel, (MODEL, WORKSPACE), tuple(map(_example, kernel.parameters, arguments)))


def _example(name: str, argument) -> Any:
    """Return an argument as ``numba_code`` needs it: axes of any length have none."""
    if name in ARGUMENTS or isinstance(argument, int):
        return ARGUMENTS.get(name, argument)
    return np.empty((0,) * argument.ndim, argument.dtype)
