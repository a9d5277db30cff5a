"""Builtin functions of Python that call machine code, and the C structures and functions that they need.

An array is a pointer that is read from NumPy's C structure ``PyArrayObject_fields``, part of NumPy's stable ABI since
1.7. ``layout_is_known`` compares it with real arrays first.

There are three such functions, the same for all robots. What they need to know, addresses and sizes, are the words of
an array of integers: their ``self``.
"""

import builtins
import ctypes
import sys
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np

from robot_dynamics_ros.jit.cache import FOLDER
from robot_dynamics_ros.jit.machine_code import MachineCode, compiled, kept_code

SELF = 24
"""Offset of ``self`` in a builtin function."""
TYPE, DATA, DIMENSIONS_COUNT, DIMENSIONS, DTYPE, FLAGS = 8, 16, 24, 32, 56, 64
"""Offsets of the fields of an array in bytes: ob_type, data, nd, dimensions, descr, flags."""
CONTIGUOUS, ALIGNED, WRITABLE = 0x1, 0x100, 0x400
"""Bits of ``flags``."""
NUMBERS = 24
"""Offset of eight bytes of a dtype that say what it is: kind, type, byteorder, flags, and type_num (32 bits)."""
FASTCALL = 0x80
"""Flag of a function with the arguments (self, array of arguments, their number)."""
NEW_ARRAY = 93
"""Index of ``PyArray_New`` in NumPy's table of C functions."""


class _MethodDefinition(ctypes.Structure):
    """CPython's ``PyMethodDef``."""

    _fields_ = (
        ('name', ctypes.c_char_p),
        ('function', ctypes.c_void_p),
        ('flags', ctypes.c_int),
        ('documentation', ctypes.c_char_p),
    )


def builtin_function(name: str, words: np.ndarray, owner: object) -> Callable:
    """Return a new builtin function with this ``self``; ``name`` is that of its machine code.

    It keeps ``owner`` alive, the object that owns the memory at the addresses among the ``words`` (int64).
    """
    return _new_builtin()(ctypes.byref(_definition(name)), words, owner)


def numbered(names: tuple[str, ...], sizes: Mapping[str, int]) -> list[int]:
    """Return the words of these names: ``sizes``, or else addresses of objects and C functions."""
    python = _python()
    return [sizes[name] if name in sizes else python[name] for name in names]


def text_of(text: str) -> np.ndarray:
    """Return a text as C functions read it."""
    return np.frombuffer(text.encode() + b'\0', np.uint8)


def numbers_of(dtype: np.dtype) -> int:
    """Return the bytes that say what a dtype is; for equal dtypes they are the same."""
    return _field(dtype, NUMBERS, ctypes.c_int64)


@cache
def layout_is_known() -> bool:
    """Return whether NumPy arrays of this interpreter have the layout that the builtin functions expect."""
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
    for dtype in map(np.dtype, (np.float64, np.int64, np.uint8)):
        letters = numbers_of(dtype).to_bytes(8, 'little')
        if letters[:3].decode('latin-1') != dtype.kind + dtype.char + dtype.byteorder or letters[4] != dtype.num:
            return False
    return _field(len, SELF, ctypes.c_uint64) == id(builtins)


def _field(it, offset: int, type_) -> int:
    """Return a field of the C structure of an object."""
    return type_.from_address(id(it) + offset).value


@cache
def _python() -> dict[str, int]:
    """Return the addresses of objects and C functions of Python and NumPy, by the names of words."""

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
        'set_error': function('PyErr_SetString'),
        'clear_error': function('PyErr_Clear'),
        'error': function('PyErr_Occurred'),
        'increase': function('Py_IncRef'),
        'decrease': function('Py_DecRef'),
        'none': id(None),
        'true': id(True),
        'false': id(False),
        'integer': function('PyLong_FromLongLong'),
        'as_integer': function('PyLong_AsLongLong'),
        'as_number': function('PyFloat_AsDouble'),
        'bytes_type': id(bytes),
        'start': function('PyBytes_AsString'),
        'length': function('PyBytes_Size'),
        'item': function('PyDict_GetItem'),
        'vectorcall': function('PyObject_VectorcallDict'),  # the other one is no function in Python 3.10
        'save_thread': function('PyEval_SaveThread'),
        'restore_thread': function('PyEval_RestoreThread'),
    }


def _definition(name: str) -> _MethodDefinition:
    """Return CPython's description of a builtin function, the same one for all threads."""
    if name not in _definitions:
        code = _code.setdefault('builtin', kept_code(FOLDER, 'builtin', _made))
        _definitions.setdefault(name, _MethodDefinition(name.encode(), code.address(name), FASTCALL, None))
    return _definitions[name]


def _made() -> bytes:
    """Return the object file of the builtin functions, needed once for each installation."""
    from robot_dynamics_ros.compiler.builtin_ir import source  # noqa: PLC0415

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
