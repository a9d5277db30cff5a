"""Functions compiled by Numba that Python calls with their first arguments bound.

A call takes 0.1 us; Numba's own calls take several times as long.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from robot_dynamics_ros.codegen.states_code import words_of
from robot_dynamics_ros.jit.compiled import Declaration, declaration_of
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.native import call, library


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
    refusal = f'{python.__name__}: expected {", ".join(map(_described, then))}'
    words, returned = words_of((_address(declaration), *arguments)), python.__annotations__['return']
    return call.bound(words, then, returned, refusal, nogil, arguments)


def _address(declaration: Declaration) -> int:
    """Return the address of a function's code; one that the library does not have is compiled now."""
    address = library.address_of(declaration.function)
    if address is None:
        # needs Numba
        from robot_dynamics_ros.codegen.new_function import new_code  # noqa: PLC0415

        address = new_code(declaration.python, *declaration.examples)
    return address


def _described(example) -> str:
    """Return what an argument like ``example`` is."""
    if not isinstance(example, np.ndarray):
        return type(example).__name__
    lengths = ', '.join(str(length or 'any') for length in example.shape)
    return f'a C-contiguous {example.dtype.name} array ({lengths}{"," if example.ndim == 1 else ""})'
