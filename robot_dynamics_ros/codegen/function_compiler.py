"""Compilation by Numba of functions for ``bound_function``."""

import itertools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.extending import intrinsic

from robot_dynamics_ros.codegen import compiled_calls_compiler  # noqa: F401 - registers their implementations
from robot_dynamics_ros.codegen.numba_code import WORD, array_value, object_file, word_value
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
    arguments, body = _arguments(fixed, given), inlined(function, **unwrapped())

    def function_of_words(fixed_words, given_words):
        return body(*arguments(fixed_words, given_words))

    return object_file('call', function_of_words, 2, WORD, RETURNED[function.__annotations__['return']])


def _arguments(fixed: tuple, given: tuple) -> Any:
    """Return the function for compiled code that reads all arguments from memory; a tuple."""
    kinds = types.BaseTuple.from_types([_type(value) for value in (*fixed, *given)])

    def emission(typing, fixed_words, given_words):
        def emitted(context, builder, signature, addresses):
            places = itertools.count(0, 8)
            values = [_value(context, builder, _type(value), addresses[0], places) for value in fixed]
            for k, value in enumerate(given):
                values.append(_value(context, builder, _type(value), addresses[1], itertools.count(APART * k, 8)))
            return context.make_tuple(builder, kinds, values)

        return kinds(types.int64, types.int64), emitted

    return intrinsic(emission)


def _type(value):
    """Return Numba's type of an argument; arrays may be written."""
    if isinstance(value, bytes):
        return types.Array(types.uint8, 1, 'C')
    if isinstance(value, np.ndarray):
        return types.Array(typeof(value).dtype, value.ndim, 'C')
    if isinstance(value, tuple):
        return types.NamedTuple([_type(item) for item in value], type(value))
    return typeof(value)


def _value(context, builder, kind, address, places):
    """Emit the argument whose words are at ``address`` and the next ``places``, in bytes."""
    if isinstance(kind, types.NamedTuple):
        values = [_value(context, builder, item, address, places) for item in kind]
        return context.make_tuple(builder, kind, values)
    word = word_value(builder, address, WORD(next(places)))
    if isinstance(kind, types.Array):
        shape = [word_value(builder, address, WORD(next(places))) for _ in range(kind.ndim)]
        return array_value(context, builder, kind, word, shape)
    if kind is types.boolean:
        return builder.icmp_unsigned('!=', word, WORD(0))
    return builder.bitcast(word, ir.DoubleType()) if kind is types.float64 else word
