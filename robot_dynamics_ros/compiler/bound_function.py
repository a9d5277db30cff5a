"""Functions compiled by Numba that Python calls with their first arguments bound.

Numba compiles such a function once for each installation; afterwards its object file is loaded without Numba. A builtin
function checks the other arguments and calls the machine code, in 0.1 us; Numba's own calls take several times as long.
"""

import hashlib
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from robot_dynamics_ros.compiler.builtin_function import (
    builtin_function,
    layout_is_known,
    numbered,
    numbers_of,
    text_of,
)
from robot_dynamics_ros.jit.cache import FOLDER
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.jit.machine_code import MachineCode, kept_code

FUNCTIONS = FOLDER / 'functions'
"""Folder of the object files, below the folder of this version of the sources."""
MOST_ARGUMENTS, MOST_AXES = 8, 3
"""Largest number of arguments of a call, and of axes of an array among them."""
PLACE = 1 + MOST_AXES
"""Words of an argument of a call: address and lengths, or the number itself."""
WORDS = (
    *('array_type', 'bytes_type', 'type_error', 'refusal', 'set_error', 'error', 'increase'),
    *('save_thread', 'restore_thread', 'as_number', 'as_integer', 'start', 'length', 'integer'),
    *('none', 'true', 'false', 'function', 'fixed', 'returned', 'nogil', 'given'),
)
"""Names of the words of ``self``; those of each argument follow."""
ARRAY, BYTES, INTEGER, NUMBER = range(4)
ARGUMENT_WORDS = ('kind', 'numbers', 'axes')
"""Names of the words of an argument; the lengths of its axes follow."""
ARGUMENT = len(ARGUMENT_WORDS) + MOST_AXES
RETURNED: tuple[Any, ...] = (None, bool, int)
"""What a function may return, as its annotation says."""

_loaded: dict[str, MachineCode] = {}


def bound(function: Callable, *arguments, then: tuple = (), nogil: bool = False) -> Callable:
    """Return ``function`` with its first ``arguments`` fixed: C-contiguous arrays, named tuples of these, numbers.

    The other ones have to be like the examples ``then``: bytes, float, int, and C-contiguous arrays of the same dtype
    and shape, where an axis of length 0 stands for any length. Anything else raises TypeError. The annotation of
    ``function`` says whether it returns None, a bool or an int. It must be one of this package, may call kernels and
    allocates nothing. With ``nogil`` it releases the GIL, so that a long call does not block other threads; otherwise
    no other thread of Python runs meanwhile. Without machine code, for instance with NUMBA_DISABLE_JIT, this is the
    Python function.
    """
    python: Any = getattr(function, 'py_func', function)
    if numba_is_disabled() or not layout_is_known():
        return partial(python, *arguments)
    code = _code(python, arguments, then)
    refusal = text_of(f'{python.__name__}: expected {", ".join(map(_described, then))}')
    fixed = np.array([word for argument in arguments for word in _words(argument)], np.int64)
    sizes = {
        'refusal': refusal.ctypes.data,
        'function': code.address('call'),
        'fixed': fixed.ctypes.data,
        'returned': RETURNED.index(python.__annotations__['return']),
        'nogil': nogil,
        'given': len(then),
    }
    words = np.array([*numbered(WORDS, sizes), *(word for example in then for word in _checked(example))], np.int64)
    return builtin_function('bound', words, (code, arguments, fixed, refusal))


def _code(function: Any, arguments: tuple, then: tuple) -> MachineCode:
    """Return the machine code of a function for the types of these arguments, compiled if necessary."""
    types = f'{function.__module__} {_form(arguments)} {_form(then)}'
    name = f'{function.__name__.strip("_")}.{hashlib.sha256(types.encode()).hexdigest()[:16]}'
    if name not in _loaded:

        def make() -> bytes:
            # needs Numba
            from robot_dynamics_ros.compiler.bound_compiler import compiled_function  # noqa: PLC0415

            return compiled_function(function, arguments, then)

        # what another thread has loaded meanwhile is in use
        _loaded.setdefault(name, kept_code(FUNCTIONS, name, make))
    return _loaded[name]


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


def _checked(example) -> list[int]:
    """Return the words by which an argument like ``example`` is checked."""
    words = [0] * ARGUMENT
    if isinstance(example, np.ndarray):
        words[: 3 + example.ndim] = ARRAY, numbers_of(example.dtype), example.ndim, *example.shape
    else:
        words[0] = {bytes: BYTES, int: INTEGER, float: NUMBER}[type(example)]
    return words


def _described(example) -> str:
    """Return what an argument like ``example`` is."""
    if not isinstance(example, np.ndarray):
        return type(example).__name__
    lengths = ', '.join(str(length or 'any') for length in example.shape)
    return f'a C-contiguous {example.dtype.name} array ({lengths}{"," if example.ndim == 1 else ""})'
