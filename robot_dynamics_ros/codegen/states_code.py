"""Machine code that computes a batch of states, and calls of it from Python."""

import itertools
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.algorithms.program import RUNTIME_INPUTS, WRENCHES, Program
from robot_dynamics_ros.model.arrays import ModelArrays
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE
from robot_dynamics_ros.native import call

UNLIMITED = 1 << 62
"""A number of states that is never reached."""


GIVEN, RUNTIME, RESULT, VECTOR = range(4)
"""Bases of a word: none, or the address of the run-time inputs, of the result, or (and following) of a vector."""
Word = tuple[int, int, int]
"""Base, value and stride of an argument, the last two in bytes; the stride is from one state to the next."""


def words_of(value) -> np.ndarray:
    """Return the words of fixed arguments: an array is its address and lengths, a tuple what its items are.

    TypeError for an array that is not C-contiguous. All arrays have to be kept alive.
    """
    return np.array(list(_words(value)), np.int64)


def _words(value) -> Iterator[int]:
    """Yield the words of ``words_of``."""
    if isinstance(value, tuple):
        for item in value:
            yield from _words(item)
    elif isinstance(value, np.ndarray):
        if not (value.flags.c_contiguous and value.flags.aligned and value.dtype.isnative):
            raise TypeError(f'expected a C-contiguous array, got strides {value.strides} of shape {value.shape}')
        yield from (value.ctypes.data, *value.shape)
    else:
        yield struct.unpack('q', struct.pack('d', value))[0] if isinstance(value, float) else int(value)


def words_of_program(steps: Sequence[tuple[int, int, Sequence[Word]]], blocks: int = 0, lanes: int = 1) -> np.ndarray:
    """Return the program that ``native/call.c`` runs.

    Each of the ``steps`` has its address, the address of its fixed words, and the words of its arguments. ``blocks``
    is the address of code for blocks of ``lanes`` states with the same arguments; 0 if there is none.
    """
    arguments = [word for _, _, words in steps for word in words]
    if len(arguments) > call.MOST_WORDS:
        raise ValueError(f'expected up to {call.MOST_WORDS} words of arguments, got {len(arguments)}')
    firsts = itertools.accumulate((len(words) for _, _, words in steps), initial=0)
    heads = [it for (*code, _), first in zip(steps, firsts, strict=False) for it in (*code, first)]
    head = len(steps), len(arguments), blocks, lanes
    return np.array([*head, *heads, *(word[k] for k in range(3) for word in arguments)], np.int64)


class StatesCode(NamedTuple):
    """Machine code of a quantity of a robot for states in rows."""

    program: Program
    arrays: ModelArrays
    words: np.ndarray
    """How the code is called, see ``words_of_program``."""
    owner: object
    """Object that owns the memory at the addresses. Calls of this code keep it alive."""
    lanes: int = 1
    """Number of states in a block; 1 without code for blocks."""
    checked: bool = False
    """Whether finiteness of all numbers and the size of angles have to be checked by the call, not by the code."""

    def function(
        self,
        most: int = UNLIMITED,
        held: int = 0,
        streamed: int = UNLIMITED,
        threads: int = 1,
        any_norm: bool = False,
    ) -> call.StatesCall:
        """Return this code as a function ``f(vectors..., runtime_inputs, out)``; ``call.pyi`` says what it does.

        It refuses more than ``most`` states, and holds the GIL for up to ``held`` states. Results of more than
        ``streamed`` states bypass the caches. A large batch uses up to ``threads`` cores. Quaternions have to be of
        length 1, unless they may have ``any_norm``. Wrenches on all links may have an axis for the links.
        """
        program, quaternions = self.program, () if any_norm else self.arrays.quaternions
        lists = (*program.inputs.values(),), program.shape, quaternions, self.arrays.angles
        integers, sizes = (
            tuple(np.array(it, np.int64) for it in lists),
            (RUNTIME_INPUTS, 6 * (WRENCHES in program.inputs)),
        )
        limits = most, held, streamed
        return call.StatesCall(integers, self.words, sizes, self.checked, LARGEST_ANGLE, limits, threads, self.owner)
