"""Functions compiled by Numba that Python calls with their first arguments bound.

Numba compiles such a function once for each installation; afterwards its object file is loaded without Numba and
called in 0.1 us. Numba's own calls take several times as long.
"""

import hashlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from robot_dynamics_ros.codegen.machine_code import MachineCode
from robot_dynamics_ros.codegen.object_files import CodeFolder
from robot_dynamics_ros.codegen.states_code import words_of
from robot_dynamics_ros.jit.cache import PACKAGE, files_digest
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.native import call

FILES = CodeFolder('functions')
_CODES: dict[tuple, MachineCode] = {}
"""By folder, function and kinds of its arguments: a message binds functions, which takes 0.3 ms each without."""


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
    words, returned = words_of((code.address('call'), *arguments)), python.__annotations__['return']
    return call.bound(words, then, returned, refusal, nogil, (code, arguments))


def _code(function: Any, arguments: tuple, then: tuple) -> MachineCode:
    """Return the machine code of a function for the types of these arguments, compiled or loaded if necessary."""
    kind = FILES, function, _kind(arguments), _kind(then)
    if kind not in _CODES:
        _CODES[kind] = _new_code(function, arguments, then)
    return _CODES[kind]


def _new_code(function: Any, arguments: tuple, then: tuple) -> MachineCode:
    """Return the machine code of a function, compiled or loaded."""
    examples = _example(arguments), _example(then)
    made_from = f'{function.__module__} {examples} {_sources(function)}'
    name = f'{function.__name__.strip("_")}.{hashlib.sha256(made_from.encode()).hexdigest()[:16]}'

    def make() -> bytes:
        # needs Numba
        from robot_dynamics_ros.codegen.numba_code import compiled_function  # noqa: PLC0415

        return compiled_function(function, *examples)

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


def _kind(value) -> Any:
    """Return what the code of a function depends on in an argument: types, and numbers of axes."""
    if isinstance(value, tuple):
        return type(value), tuple(map(_kind, value))
    return (value.dtype.str, value.ndim) if isinstance(value, np.ndarray) else type(value)


def _example(value) -> Any:
    """Return an argument of the same type; its value and the lengths of its axes do not matter."""
    if isinstance(value, tuple):
        items = map(_example, value)
        return type(value)(*items) if hasattr(value, '_fields') else tuple(items)
    return np.empty((0,) * value.ndim, value.dtype) if isinstance(value, np.ndarray) else type(value)()


def _described(example) -> str:
    """Return what an argument like ``example`` is."""
    if not isinstance(example, np.ndarray):
        return type(example).__name__
    lengths = ', '.join(str(length or 'any') for length in example.shape)
    return f'a C-contiguous {example.dtype.name} array ({lengths}{"," if example.ndim == 1 else ""})'
