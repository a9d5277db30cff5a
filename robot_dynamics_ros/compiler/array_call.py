"""Calls from Python of machine code that computes states in rows.

``bound_evaluate`` returns a builtin function that selects such a call by a key. ``bound_call`` returns one of these
calls, ``f(vectors..., load, out)`` for NumPy arrays of one state (n,) or of several (count, n). Checking the arguments,
creating the result and the call itself take 0.1 us.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.compiler.builtin_function import builtin_function, numbered, text_of

MOST_VECTORS, MOST_AXES = 8, 3
"""Largest number of vectors of a state, and of axes of its result."""
UNLIMITED = 1 << 62
"""A number of states that is never reached."""
UNIT_NORM = 1.9e-6
"""Largest difference of a squared norm from 1 at which a quaternion is certainly one."""

REFUSAL = text_of('expected C-contiguous float64 arrays apart, of the shapes of one state or of a batch')

WORDS = (
    *('array_type', 'float64', 'new_array', 'type_error', 'refusal', 'set_error', 'clear_error'),
    *('increase', 'decrease', 'none'),
    *('save_thread', 'restore_thread', 'vectors', 'axes', 'size', 'load', 'most', 'left', 'held', 'streamed'),
    *('lanes', 'rows', 'blocks', 'context', 'checked', 'quaternions', 'angles'),
)
"""Names of the words of ``self``; axes of the result, lengths of the vectors, quaternions and angles follow."""
EVALUATE_WORDS = ('calls', 'otherwise', 'item', 'vectorcall', 'none', 'increase', 'decrease')
"""Names of the words of a function of ``bound_evaluate``."""
SHAPE = len(WORDS)
LENGTHS = SHAPE + MOST_AXES
QUATERNIONS = LENGTHS + MOST_VECTORS


class Rows(NamedTuple):
    """Machine code for states in rows, and the sizes of its arguments."""

    lengths: list[int]
    """Lengths of the vectors of a state."""
    shape: tuple[int, ...]
    """Shape of the result of a state."""
    load: int
    """Length of ``load``."""
    rows: int
    """Address of ``bool f(double **vectors, double *load, double *result, int64 count, void *context)``."""
    owner: object
    """Object that owns the memory at the addresses. Calls of this code keep it alive."""
    blocks: int = 0
    """Address of ``bool f(double **vectors, double *load, double *result, int64 count, int64 streamed)`` or 0."""
    lanes: int = 1
    """The count of ``blocks`` is a multiple of this."""
    context: int = 0
    """Last argument of ``rows``."""
    checked: bool = False
    """Whether finiteness of all numbers and the size of angles have to be checked here; otherwise the code does so."""
    quaternions: tuple[int, ...] = ()
    """Indices in the first vector of the quaternions, which must have length 1."""
    angles: tuple[int, ...] = ()
    """Indices in the first vector of the angles, which must be below ``model.joint_types.LARGEST_ANGLE``."""


def bound_call(code: Rows, most: int = UNLIMITED, held: int = 0, streamed: int = UNLIMITED, left: int = UNLIMITED):
    """Return ``code`` as a function ``f(vectors..., load, out)``, which returns the result.

    ``out`` is the array for the result, or None for a new one. Returns None if some number is not finite or an angle is
    too large. Raises TypeError unless all arrays are C-contiguous float64 ones of the expected shapes, if ``out``
    overlaps a vector, for quaternions that may not have length 1, for more than ``most`` states, and once ``left``
    states have been computed.
    It holds the GIL for up to ``held`` states. Results of more than ``streamed`` states bypass the caches.
    """
    words = np.zeros(QUATERNIONS + len(code.quaternions) + len(code.angles), np.int64)
    sizes = {
        'refusal': REFUSAL.ctypes.data,
        'vectors': len(code.lengths),
        'axes': len(code.shape),
        'size': int(np.prod(code.shape, dtype=int)),
        'load': code.load,
        'most': most,
        'left': left,
        'held': held,
        'streamed': streamed,
        'lanes': code.lanes,
        'rows': code.rows,
        'blocks': code.blocks,
        'context': code.context,
        'checked': code.checked,
        'quaternions': len(code.quaternions),
        'angles': len(code.angles),
    }
    words[:SHAPE] = numbered(WORDS, sizes)
    words[SHAPE : SHAPE + len(code.shape)] = code.shape
    words[LENGTHS : LENGTHS + len(code.lengths)] = code.lengths
    words[QUATERNIONS:] = [*code.quaternions, *code.angles]
    return builtin_function('call', words, code.owner)


def bound_evaluate(calls: dict, otherwise: Callable) -> Callable:
    """Return a builtin function ``f(key, load, out, vectors...)``.

    It returns the result of ``calls[key]``, made by ``bound_call``. It calls ``otherwise`` with the same arguments if
    there is no such call, if the call refuses them, or if it returns None.
    """
    words = np.array(numbered(EVALUATE_WORDS, {'calls': id(calls), 'otherwise': id(otherwise)}), np.int64)
    return builtin_function('evaluate', words, (calls, otherwise))
