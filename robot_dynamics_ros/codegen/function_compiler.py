"""Compilation by Numba of functions for ``bound_function``."""

import itertools

import numpy as np
from numba import typeof, types

from robot_dynamics_ros.codegen import compiled_calls_compiler  # noqa: F401 - registers their implementations
from robot_dynamics_ros.codegen.numba_code import WORD, Record, Value, object_file
from robot_dynamics_ros.jit.decorators import inlined, unwrapped
from robot_dynamics_ros.native import call

APART = 8 * call.WORDS_OF_ARGUMENT
RETURNED = {None: types.none, bool: types.boolean, int: types.int64}
"""Numba's types of results, by annotation."""


def compiled_function(function, fixed: tuple, given: tuple) -> bytes:
    """Return the object file of ``int64 call(int64 *fixed, int64 *given)``, compiled for this processor.

    Both point to the words of arguments, those of the ``given`` ones are ``APART`` bytes apart; bytes are an array of
    them. The values of the arguments do not matter, only their types.
    """
    values = [_value_of(it) for it in fixed]
    offsets = itertools.accumulate((8 * value.words for value in values), initial=0)
    places = [(0, offset, value) for offset, value in zip(offsets, values, strict=False)]
    places += [(1, APART * k, _value_of(it)) for k, it in enumerate(given)]
    returned = RETURNED[function.__annotations__['return']]
    return object_file('call', inlined(function, **unwrapped()), places, WORD, returned)


def _value_of(argument) -> Value:
    """Return type and lengths of an argument in memory; arrays may be written."""
    if isinstance(argument, bytes):
        return Value(types.Array(types.uint8, 1, 'C'), (None,))
    if isinstance(argument, np.ndarray):
        return Value(types.Array(typeof(argument).dtype, argument.ndim, 'C'), (None,) * argument.ndim)
    if isinstance(argument, tuple):
        return Value(Record({name: _value_of(getattr(argument, name)) for name in typeof(argument).fields}))
    return Value(typeof(argument))
