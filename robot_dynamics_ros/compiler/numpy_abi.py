"""NumPy arrays passed to the compiled code of a known robot; this bypasses Numba's unboxing.

Numba's unboxing of an array takes some 100 ns, as much as all the arithmetic. Here an array is a pointer: the compiled
call checks that each argument is a C-contiguous float64 array of the expected shape (a result also writable), raises
TypeError if not, and reads the data address from NumPy's C structure. That structure (``PyArrayObject_fields``) is part
of NumPy's stable ABI since 1.7; ``layout_is_known`` compares it with real arrays first.
"""

import ctypes
import sys
from functools import cache
from typing import Any

import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import NativeValue, intrinsic, models, register_model, unbox

from robot_dynamics_ros.jit.decorators import entry

TYPE, DATA, DIMENSIONS_COUNT, DIMENSIONS, DTYPE, FLAGS = 8, 16, 24, 32, 56, 64
"""Offsets of the fields in bytes: ob_type, data, nd, dimensions, descr, flags."""
CONTIGUOUS, ALIGNED, WRITABLE = 0x1, 0x100, 0x400
"""Bits of ``flags``."""

ARRAY_TYPE, FLOAT64 = 'robot_dynamics_ros_ndarray', 'robot_dynamics_ros_float64'
"""Symbols of NumPy's array type and its float64, also in compiled code that another process cached."""
llvm.add_symbol(ARRAY_TYPE, id(np.ndarray))
llvm.add_symbol(FLOAT64, id(np.dtype(np.float64)))


class Array(types.CPointer):
    """The type of an argument that is a float64 array of this shape; compiled code indexes it as a flat array."""

    def __init__(self, shape: tuple[int, ...], writable: bool):
        """Store shape and access of the array."""
        self.shape, self.writable = shape, writable
        super().__init__(types.float64)
        self.name = f'Array({shape}, writable={writable})'

    @property
    def key(self):
        """Identity of the type."""
        return self.shape, self.writable


register_model(Array)(models.PointerModel)


@unbox(Array)
def _address(expected: Array, array, context):
    """Emit the code that checks one argument and reads its address."""
    builder = context.builder
    int32, int64 = ir.IntType(32), ir.IntType(64)
    start = builder.ptrtoint(array, int64)

    def field(offset, type_):
        return builder.load(builder.inttoptr(builder.add(start, int64(offset)), type_.as_pointer()))

    def symbol(name):
        module = builder.module
        known = module.globals[name] if name in module.globals else ir.GlobalVariable(module, ir.IntType(8), name)
        return builder.ptrtoint(known, int64)

    wanted = CONTIGUOUS | ALIGNED | (WRITABLE if expected.writable else 0)
    address = cgutils.alloca_once_value(builder, int64(0))
    refused = cgutils.alloca_once_value(builder, cgutils.true_bit)
    with builder.if_then(builder.icmp_unsigned('==', field(TYPE, int64), symbol(ARRAY_TYPE)), likely=True):
        fits = builder.icmp_signed('==', field(DIMENSIONS_COUNT, int32), int32(len(expected.shape)))
        fits = builder.and_(fits, builder.icmp_unsigned('==', field(DTYPE, int64), symbol(FLOAT64)))
        flags = builder.and_(field(FLAGS, int32), int32(wanted))
        fits = builder.and_(fits, builder.icmp_signed('==', flags, int32(wanted)))
        with builder.if_then(fits, likely=True):
            dimensions = builder.inttoptr(field(DIMENSIONS, int64), int64.as_pointer())
            for axis, length in enumerate(expected.shape):
                found = builder.load(builder.gep(dimensions, [int64(axis)]))
                fits = builder.and_(fits, builder.icmp_signed('==', found, int64(length)))
            with builder.if_then(fits, likely=True):
                builder.store(field(DATA, int64), address)
                builder.store(cgutils.false_bit, refused)
    is_refused = builder.load(refused)
    with builder.if_then(is_refused, likely=False):
        kind = 'writable ' if expected.writable else ''
        message = f'expected a {kind}C-contiguous float64 array of shape {expected.shape}'
        context.pyapi.err_set_string('PyExc_TypeError', message)
    pointer = builder.inttoptr(builder.load(address), context.context.get_value_type(expected))
    return NativeValue(pointer, is_error=is_refused)


@cache
def layout_is_known() -> bool:
    """Return whether NumPy arrays of this interpreter have the layout that ``_address`` expects."""
    if sys.implementation.name != 'cpython' or ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != 'little':
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
    return True


def _field(array: np.ndarray, offset: int, type_) -> int:
    """Return a field of NumPy's structure of an array."""
    return type_.from_address(id(array) + offset).value


def compiled(function, arguments):
    """Return ``function`` compiled for ``arguments`` (types), cached on disk; its ``entry_point`` is called by Python.

    It holds the GIL: releasing and acquiring it costs a quarter of the function's own time.
    """
    dispatcher = entry(function, nogil=False)
    dispatcher.compile(tuple(arguments))
    (version,) = dispatcher.overloads.values()
    return version


def address(version) -> int:
    """Return the address of a ``compiled`` function, bool f(double *, ...) in C; valid as long as ``version`` lives."""
    return version.library.get_pointer_to_function(version.fndesc.llvm_cfunc_wrapper_name)


def _call_emission(typing, function, arrays):
    """Emit the call of the function at an address with the addresses of a tuple of arrays; a bool."""

    def emitted(context, builder, signature, arguments):
        pointer, values = arguments
        data = [
            context.make_array(kind)(context, builder, builder.extract_value(values, k)).data
            for k, kind in enumerate(arrays)
        ]
        type_ = ir.FunctionType(ir.IntType(8), [start.type for start in data])
        result = builder.call(builder.inttoptr(pointer, type_.as_pointer()), data)
        return builder.icmp_unsigned('!=', result, ir.IntType(8)(0))

    return types.boolean(types.intp, arrays), emitted


call: Any = intrinsic(_call_emission)
"""In compiled code, ``call(address, arrays)``; the arrays, a tuple of contiguous float64 ones, are not checked."""
