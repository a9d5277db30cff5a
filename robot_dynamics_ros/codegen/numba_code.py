"""Machine code of functions that Numba compiles, and memory as arrays and records in them. Used while compiling only.

A record is the address of the addresses and shapes of arrays: reading a field loads the address of its array. Axes of
constant length, such as those of a 3 x 3 matrix, are constants of the code.
"""

from typing import Any, NamedTuple

from llvmlite import binding as llvm
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numba.np.arrayobj import make_array, populate_array

from robot_dynamics_ros.codegen.object_files import LLVM
from robot_dynamics_ros.jit.decorators import OPTIONS, unwrapped

WORD = ir.IntType(64)


class Field(NamedTuple):
    """An array of a record."""

    offset: int
    """Place in the record, bytes."""
    numbers: Any
    """Numba's type of its numbers."""
    shape: tuple[int | None, ...]
    """Lengths of its axes; None where they differ between robots."""


class Record(types.Type):
    """Numba's type of the address of a record of arrays."""

    def __init__(self, name: str, axes: dict[str, tuple[Any, tuple]]):
        """Store the fields: types of numbers and lengths of axes, by name."""
        self.fields, offset = {}, 0
        for field, (numbers, shape) in axes.items():
            self.fields[field] = Field(offset, numbers, shape)
            offset += 8 * (1 + len(shape))
        super().__init__(name)


@register_model(Record)
class _RecordModel(models.PrimitiveModel):
    """A record is an address."""

    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, WORD)


@infer_getattr
class _FieldTypes(AttributeTemplate):
    """The types of the fields of a record."""

    key = Record

    def generic_resolve(self, record, name):  # type: ignore[override]
        """Return the type of a field, an array."""
        field = record.fields[name]
        return types.Array(field.numbers, len(field.shape), 'C')


@lower_getattr_generic(Record)
def _field(context, builder, record, address, name):
    """Emit the array of a field."""
    field = record.fields[name]
    start = word_value(builder, address, WORD(field.offset))
    shape = [
        word_value(builder, address, WORD(field.offset + 8 * k + 8)) if length is None else WORD(length)
        for k, length in enumerate(field.shape)
    ]
    return array_value(context, builder, types.Array(field.numbers, len(shape), 'C'), start, shape)


def reader(record: Record):
    """Return the function that takes an address as a record, for compiled code."""

    def emission(typing, address):
        def emitted(context, builder, signature, arguments):
            return arguments[0]

        return record(types.int64), emitted

    return intrinsic(emission)


def _word_emission(typing, address, offset):
    """Emit the integer at an address."""

    def emitted(context, builder, signature, arguments):
        return word_value(builder, *arguments)

    return types.int64(types.int64, types.int64), emitted


def _array_emission(numbers):
    """Return the function that emits the array (C-contiguous) of these numbers at an address."""

    def emission(typing, address, shape):
        kind = types.Array(numbers, len(shape), 'C')

        def emitted(context, builder, signature, arguments):
            start, lengths = arguments
            return array_value(context, builder, kind, start, cgutils.unpack_tuple(builder, lengths))

        return kind(types.int64, shape), emitted

    return emission


word_at: Any = intrinsic(_word_emission)
array_at: Any = intrinsic(_array_emission(types.float64))
integers_at: Any = intrinsic(_array_emission(types.int64))


def array_value(context, builder, kind: types.Array, start, shape: list):
    """Emit Numba's structure of an array."""
    numbers = context.get_data_type(kind.dtype)
    strides = [WORD(8)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    array = make_array(kind)(context, builder)
    data = builder.inttoptr(start, numbers.as_pointer())
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=WORD(8), meminfo=None)
    return array._getvalue()


def word_value(builder, address, offset):
    """Emit an integer that does not change while the code runs."""
    value = builder.load(builder.inttoptr(builder.add(address, offset), WORD.as_pointer()))
    value.set_metadata('invariant.load', builder.module.add_metadata([]))
    return value


def object_file(name: str, function, count: int, word: ir.IntType, returned) -> bytes:
    """Return the object file of a function of ``count`` integers, ``name`` in C, whose result is an integer ``word``.

    TypeError unless Numba's type of the result is the one that was announced.
    """
    with LLVM, global_compiler_lock:
        dispatcher = njit(**OPTIONS, **unwrapped())(function)
        dispatcher.compile((types.int64,) * count)
        (version,) = dispatcher.overloads.values()
        if types.unliteral(version.signature.return_type) != returned:
            raise TypeError(f'{name}: expected a function that returns {returned}, got {version.signature.return_type}')
        module = ir.Module(name)
        pointer = ir.IntType(8).as_pointer()
        # Numba's convention: places for the result and for an exception, which kernels do not raise, come first
        callee = ir.Function(
            module, ir.FunctionType(ir.IntType(32), [pointer, pointer, *[WORD] * count]), version.fndesc.llvm_func_name
        )
        in_c = ir.Function(module, ir.FunctionType(word, [WORD] * count), name)
        builder = ir.IRBuilder(in_c.append_basic_block())
        result, exception = builder.alloca(WORD), builder.alloca(WORD)
        builder.store(WORD(0), result)
        builder.call(callee, [*(builder.bitcast(place, pointer) for place in (result, exception)), *in_c.args])
        builder.ret(builder.load(builder.bitcast(result, word.as_pointer())))
        library = cpu_target.target_context.codegen().create_library(name)
        library.enable_object_caching()
        library.add_llvm_module(llvm.parse_assembly(str(module)))
        library.add_linking_library(version.library)
        library.finalize()
        return library._get_compiled_object()
