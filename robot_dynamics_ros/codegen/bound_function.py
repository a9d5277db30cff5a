"""Functions compiled by Numba that Python calls with their first arguments bound.

Numba compiles such a function once for each installation; afterwards its object file is loaded without Numba and
called in 0.1 us. Numba's own calls take several times as long.
"""

import hashlib
import struct
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from robot_dynamics_ros.codegen.object_files import CodeFolder, MachineCode
from robot_dynamics_ros.jit.cache import PACKAGE, files_digest
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.native import call

FILES = CodeFolder('functions')
PLACE = 4
"""Words of an argument of a call: address and up to three lengths, or the number itself."""


def bound(function: Callable, *arguments, then: tuple = (), nogil: bool = False) -> Callable:
    """Return ``function`` with its first ``arguments`` fixed: C-contiguous arrays, named tuples of these, numbers.

    The other ones have to be like the examples ``then``: bytes, float, int, and C-contiguous arrays of the same dtype
    and shape, where an axis of length 0 stands for any length. Anything else raises TypeError. The annotation of
    ``function`` says whether it returns None, a bool or an int. It must be one of this package, may call kernels and
    allocates nothing. With ``nogil`` it releases the GIL, so that a long call does not block other threads; otherwise
    no other thread of Python runs meanwhile. With NUMBA_DISABLE_JIT this is the Python function.
    """
    python: Any = getattr(function, 'py_func', function)
    if numba_is_disabled():
        return partial(python, *arguments)
    code = _code(python, arguments, then)
    refusal = f'{python.__name__}: expected {", ".join(map(_described, then))}'
    fixed = np.array([word for argument in arguments for word in _words(argument)], np.int64)
    returned = python.__annotations__['return']
    return call.FunctionCall(code.address('call'), fixed, then, returned, refusal, nogil, (code, arguments))


def _code(function: Any, arguments: tuple, then: tuple) -> MachineCode:
    """Return the machine code of a function for the types of these arguments, compiled if necessary."""
    made_from = f'{function.__module__} {_form(arguments)} {_form(then)} {_sources(function)}'
    name = f'{function.__name__.strip("_")}.{hashlib.sha256(made_from.encode()).hexdigest()[:16]}'

    def make() -> bytes:
        # needs Numba
        from robot_dynamics_ros.codegen.function_compiler import compiled_function  # noqa: PLC0415

        return compiled_function(function, arguments, then)

    return FILES.code(name, make)


@cache
def _sources(function: Callable) -> str:
    """Return the digest of the files of a function and of the functions of this package that it calls."""
    found, waiting = set(), [function]
    while waiting:
        code, names = waiting[-1].__code__, waiting.pop().__globals__
        found.add(code)
        for name in code.co_names:
            it = getattr(names.get(name), 'source', names.get(name))
            if (
                isinstance(it, FunctionType)
                and it.__module__.startswith(f'{PACKAGE.name}.')
                and it.__code__ not in found
            ):
                waiting.append(it)
    return files_digest({Path(code.co_filename) for code in found})


def _form(value) -> str:
    """Return the type of an argument; its value and the lengths of its axes do not matter."""
    if isinstance(value, tuple):
        return f'{type(value).__name__}({", ".join(map(_form, value))})'
    return f'{value.dtype.str} {value.ndim}' if isinstance(value, np.ndarray) else type(value).__name__


def _words(value) -> list[int]:
    """Return the words of a fixed argument: address and lengths of an array, or the number itself."""
    if isinstance(value, tuple):
        return [word for item in value for word in _words(item)]
    if isinstance(value, np.ndarray):
        if not (value.flags.c_contiguous and value.flags.aligned and value.dtype.isnative):
            raise TypeError(f'expected a C-contiguous array, got strides {value.strides} of shape {value.shape}')
        return [value.ctypes.data, *value.shape]
    return [struct.unpack('q', struct.pack('d', value))[0] if isinstance(value, float) else int(value)]


def _described(example) -> str:
    """Return what an argument like ``example`` is."""
    if not isinstance(example, np.ndarray):
        return type(example).__name__
    lengths = ', '.join(str(length or 'any') for length in example.shape)
    return f'a C-contiguous {example.dtype.name} array ({lengths}{"," if example.ndim == 1 else ""})'
