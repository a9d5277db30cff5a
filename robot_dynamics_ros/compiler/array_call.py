"""Calls from Python of machine code that computes states in rows.

``bound_evaluate`` returns a builtin function that selects such a call by a key. ``bound_call`` returns one of these
calls, ``f(vectors..., load, out)`` for NumPy arrays of one state (n,) or of several (count, n). Checking the arguments,
creating the result and the call itself take 0.1 us: an array is a pointer that is read from NumPy's C structure
``PyArrayObject_fields``, part of NumPy's stable ABI since 1.7. ``layout_is_known`` compares it with real arrays first.

The builtin functions are the same for all robots. What they need to know, addresses and sizes, are the words of an
array of integers: their ``self``.
"""

import builtins
import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.jit.cache import FOLDER
from robot_dynamics_ros.jit.machine_code import MachineCode, compiled, kept_code

SELF = 24
"""Offset of ``self`` in a builtin function."""
TYPE, DATA, DIMENSIONS_COUNT, DIMENSIONS, DTYPE, FLAGS = 8, 16, 24, 32, 56, 64
"""Offsets of the fields of an array in bytes: ob_type, data, nd, dimensions, descr, flags."""
CONTIGUOUS, ALIGNED, WRITABLE = 0x1, 0x100, 0x400
"""Bits of ``flags``."""
MOST_VECTORS, MOST_AXES = 8, 3
"""Largest number of vectors of a state, and of axes of its result."""
UNLIMITED = 1 << 62
"""A number of states that is never reached."""
UNIT_NORM = 1.9e-6
"""Largest difference of a squared norm from 1 at which a quaternion is certainly one."""

WORDS = (
    *('array_type', 'float64', 'new_array', 'type_error', 'refusal', 'set_error', 'clear_error'),
    *('increase', 'decrease', 'none'),
    *('save_thread', 'restore_thread', 'vectors', 'axes', 'size', 'load', 'most', 'left', 'held', 'streamed'),
    *('lanes', 'rows', 'blocks', 'context', 'checked', 'quaternions'),
)
"""Names of the words of ``self``; axes of the result, lengths of the vectors and places of quaternions follow."""
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
    """Whether the finiteness of all numbers has to be checked here; otherwise the code does so."""
    quaternions: tuple[int, ...] = ()
    """Indices in the first vector of the quaternions, which must have length 1."""


class _MethodDefinition(ctypes.Structure):
    """CPython's ``PyMethodDef``."""

    _fields_ = (
        ('name', ctypes.c_char_p),
        ('function', ctypes.c_void_p),
        ('flags', ctypes.c_int),
        ('documentation', ctypes.c_char_p),
    )


FASTCALL = 0x80
"""Flag of a function with the arguments (self, array of arguments, their number)."""


def bound_call(code: Rows, most: int = UNLIMITED, held: int = 0, streamed: int = UNLIMITED, left: int = UNLIMITED):
    """Return ``code`` as a function ``f(vectors..., load, out)``, which returns the result.

    ``out`` is the array for the result, or None for a new one. Returns None if some number is not finite. Raises
    TypeError unless all arrays are C-contiguous float64 ones of the expected shapes, if ``out`` overlaps a vector, for
    quaternions that may not have length 1, for more than ``most`` states, and once ``left`` states have been computed.
    It holds the GIL for up to ``held`` states. Results of more than ``streamed`` states bypass the caches.
    """
    words = np.zeros(QUATERNIONS + len(code.quaternions), np.int64)
    sizes = {
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
    }
    words[:SHAPE] = [{**_python(), **sizes}[name] for name in WORDS]
    words[SHAPE : SHAPE + len(code.shape)] = code.shape
    words[LENGTHS : LENGTHS + len(code.lengths)] = code.lengths
    words[QUATERNIONS:] = code.quaternions
    return _new_builtin()(ctypes.byref(_definition('call')), words, code.owner)


def bound_evaluate(calls: dict, otherwise: Callable) -> Callable:
    """Return a builtin function ``f(key, load, out, vectors...)``.

    It returns the result of ``calls[key]``, made by ``bound_call``. It calls ``otherwise`` with the same arguments if
    there is no such call, if the call refuses them, or if some number is not finite.
    """
    python = _python()
    sizes = {'calls': id(calls), 'otherwise': id(otherwise)}
    words = np.array([{**python, **sizes}[name] for name in EVALUATE_WORDS], np.int64)
    return _new_builtin()(ctypes.byref(_definition('evaluate')), words, (calls, otherwise))


@cache
def layout_is_known() -> bool:
    """Return whether NumPy arrays of this interpreter have the layout that the builtin function expects."""
    if sys.implementation.name != 'cpython' or ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != 'little':
        return False
    if not getattr(sys, '_is_gil_enabled', lambda: True)():
        return False
    for size, writable in ((3, True), (7, False)):
        array = np.zeros(size)
        array.flags.writeable = writable

        flags = _field(array, FLAGS, ctypes.c_int32)
        if (
            _field(array, TYPE, ctypes.c_uint64) != id(np.ndarray)
            or _field(array, DATA, ctypes.c_uint64) != array.ctypes.data
            or _field(array, DIMENSIONS_COUNT, ctypes.c_int32) != 1
            or _field(array, DTYPE, ctypes.c_uint64) != id(np.dtype(np.float64))
            or ctypes.c_int64.from_address(_field(array, DIMENSIONS, ctypes.c_uint64)).value != size
            or flags & (CONTIGUOUS | ALIGNED) != CONTIGUOUS | ALIGNED
            or bool(flags & WRITABLE) != writable
        ):
            return False
    return _field(len, SELF, ctypes.c_uint64) == id(builtins)


def _field(it, offset: int, type_) -> int:
    """Return a field of the C structure of an object."""
    return type_.from_address(id(it) + offset).value


REFUSAL = ctypes.create_string_buffer(
    b'expected C-contiguous float64 arrays apart, of the shapes of one state or of a batch'
)
NEW_ARRAY = 93
"""Index of ``PyArray_New`` in NumPy's table of C functions."""


@cache
def _python() -> dict[str, int]:
    """Return the addresses of objects and C functions of Python and NumPy, by their names in ``WORDS``."""

    def function(name: str) -> int:
        return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0

    numpy_core = sys.modules.get('numpy._core') or sys.modules['numpy.core']  # its name since NumPy 2, or before
    contents = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    table = contents(('PyCapsule_GetPointer', ctypes.pythonapi))(numpy_core.multiarray._ARRAY_API, None)
    return {
        'array_type': id(np.ndarray),
        'float64': id(np.dtype(np.float64)),
        'new_array': ctypes.c_uint64.from_address(table + 8 * NEW_ARRAY).value,
        'type_error': id(TypeError),
        'refusal': ctypes.addressof(REFUSAL),
        'set_error': function('PyErr_SetString'),
        'clear_error': function('PyErr_Clear'),
        'increase': function('Py_IncRef'),
        'decrease': function('Py_DecRef'),
        'none': id(None),
        'item': function('PyDict_GetItem'),
        'vectorcall': function('PyObject_VectorcallDict'),  # the other one is no function in Python 3.10
        'save_thread': function('PyEval_SaveThread'),
        'restore_thread': function('PyEval_RestoreThread'),
    }


def _definition(name: str) -> _MethodDefinition:
    """Return CPython's description of a builtin function, the same one for all threads."""
    if name not in _definitions:
        code = _code.setdefault('array_call', kept_code(FOLDER, 'array_call', _made))
        _definitions.setdefault(name, _MethodDefinition(name.encode(), code.address(name), FASTCALL, None))
    return _definitions[name]


def _made() -> bytes:
    """Return the object file of the builtin functions, needed once for each installation."""
    from robot_dynamics_ros.compiler.array_call_ir import source  # noqa: PLC0415

    return compiled(source())


_code: dict[str, MachineCode] = {}
_definitions: dict[str, _MethodDefinition] = {}
"""Machine code and descriptions. Builtin functions point to them, so an entry is never replaced."""


@cache
def _new_builtin():
    """Return CPython's function that makes a builtin function from its description, ``self`` and its module.

    The place of the module keeps an object alive.
    """
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    return make(('PyCFunction_NewEx', ctypes.pythonapi))
