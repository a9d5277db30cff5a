"""Functions compiled by Numba that Python calls with their first arguments bound.

Numba compiles such a function once for each installation; afterwards its object file is loaded without Numba and
called in 0.1 us. Numba's own calls take several times as long.
"""

import hashlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FunctionType

import numpy as np

from robot_dynamics_ros.codegen.machine_code import MachineCode
from robot_dynamics_ros.codegen.object_files import CodeFolder
from robot_dynamics_ros.codegen.states_code import words_of
from robot_dynamics_ros.jit.cache import PACKAGE, files_digest
from robot_dynamics_ros.jit.compiled import Declaration, declaration_of
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.native import call

FILES = CodeFolder('functions')
_CODES: dict[tuple, MachineCode] = {}
"""By folder and function: a message binds functions, which takes 0.3 ms each without."""


def bound(function: Callable, *arguments, then: tuple = (), nogil: bool = False) -> Callable:
    """Return a declared ``function`` with its first ``arguments`` fixed: C-contiguous arrays, records, numbers.

    They and the examples ``then`` are of the kinds that are declared with ``jit.compiled``; TypeError names a parameter
    of another kind. The other arguments have to be like the examples: bytes, float, int, and C-contiguous arrays of the
    same dtype and shape, where an axis of length 0 stands for any length. Anything else raises TypeError. The
    annotation of ``function`` says whether it returns None, a bool or an int. It may call kernels, and allocates
    nothing. With ``nogil`` it releases the GIL, so that a long call does not block other threads; otherwise no other
    thread of Python runs meanwhile. With NUMBA_DISABLE_JIT this is the Python function.
    """
    declaration = declaration_of(function)
    declaration.check(arguments, then)
    python = declaration.python
    if numba_is_disabled():
        return partial(python, *arguments)
    code = _code(declaration)
    refusal = f'{python.__name__}: expected {", ".join(map(_described, then))}'
    words, returned = words_of((code.address('call'), *arguments)), python.__annotations__['return']
    return call.bound(words, then, returned, refusal, nogil, (code, arguments))


def _code(declaration: Declaration) -> MachineCode:
    """Return the machine code of a function, compiled or loaded if necessary."""
    key = FILES, declaration.function
    if key not in _CODES:
        _CODES[key] = _new_code(declaration)
    return _CODES[key]


def _new_code(declaration: Declaration) -> MachineCode:
    """Return the machine code of a function, compiled or loaded."""
    python, examples = declaration.python, declaration.examples
    made_from = f'{python.__module__} {examples} {_sources(python)}'
    name = f'{python.__name__.strip("_")}.{hashlib.sha256(made_from.encode()).hexdigest()[:16]}'

    def make() -> bytes:
        # needs Numba
        from robot_dynamics_ros.codegen.numba_code import compiled_function  # noqa: PLC0415

        return compiled_function(python, *examples)

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


def _described(example) -> str:
    """Return what an argument like ``example`` is."""
    if not isinstance(example, np.ndarray):
        return type(example).__name__
    lengths = ', '.join(str(length or 'any') for length in example.shape)
    return f'a C-contiguous {example.dtype.name} array ({lengths}{"," if example.ndim == 1 else ""})'
