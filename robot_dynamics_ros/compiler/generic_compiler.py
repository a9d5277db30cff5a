"""Compilation by Numba of the loop over states of a generic kernel, for ``generic_code``.

The records of a robot's arrays are addresses in compiled code: reading a field loads the address of its array. Axes of
constant length, such as those of a 3 x 3 matrix, are constants of the code.
"""

import itertools
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba import njit, typeof, types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numba.np.arrayobj import make_array, populate_array

from robot_dynamics_ros.compiler.algorithms import Algorithm
from robot_dynamics_ros.jit.decorators import OPTIONS, unwrapped
from robot_dynamics_ros.jit.machine_code import LLVM
from robot_dynamics_ros.model.arrays import ModelArrays, Workspace

WORD = ir.IntType(64)
OF_A_FRAME = ('link', 'rotation', 'origin', 'view')
"""Arguments of kernels that say which frame, in the order of ``Algorithm.frame``."""
SHAPES = {'rotation': (3, 3), 'origin': (3,)}
OF_FRAMES = ('links', 'rotations', 'origins', 'view')
"""Arguments of kernels of several frames; the first axes are as long as there are frames."""

SOURCE = """
def rows(vectors, load, result, count, context):
    model = model_at(context)
    work = work_at(context + {of_work})
    gravity = array_at(load, (3,))
    {lines}
    for b in range(count):
        kernel({arguments})
    return True
"""


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

    def __init__(self, name: str, fields: dict[str, Field]):
        """Store the fields."""
        self.fields = fields
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


def compiled_loop(algorithm: Algorithm, arrays: ModelArrays) -> bytes:
    """Return the object file of ``bool rows(vectors, load, result, count, context)``, compiled for this processor.

    Arguments are those of ``StatesCode.rows``; ``context`` is the address of ``generic_code.context_of``. The code
    is the same for the ``arrays`` of any robot.
    """
    model, of_work = _record('model', {name: _of_model(array) for name, array in arrays._asdict().items()})
    work, end = _record('work', _of_work())
    # lengths of the vectors, axes of the result and the frame follow the records
    places = itertools.count(of_work + end, 8)
    lines = [
        f'{name}_rows = array_at(word_at(vectors, {8 * k}), (count, word_at(context, {next(places)})))'
        for k, name in enumerate(algorithm.inputs)
    ]
    axes = ', '.join(f'word_at(context, {next(places)})' for _ in algorithm.shape or (1,))
    lines.append(f'result_rows = array_at(result, (count, {axes}))')
    of_frame = OF_FRAMES if algorithm.of_frames else OF_A_FRAME[: len(algorithm.frame)]
    words = {name: f'word_at(context, {next(places)})' for name in of_frame}
    if algorithm.of_frames:
        frames = f'word_at(context, {next(places)})'
        lines.append(f'links = integers_at({words["links"]}, ({frames},))')
        lines.append(f'rotations = array_at({words["rotations"]}, ({frames}, 3, 3))')
        lines.append(f'origins = array_at({words["origins"]}, ({frames}, 3))')
        lines.append(f'view = {words["view"]}')
    else:
        for name, value in words.items():
            lines.append(f'{name} = array_at({value}, {SHAPES[name]})' if name in SHAPES else f'{name} = {value}')
    needs = {'gravity': 'gravity', 'f_ext': 'work.f_0'}
    arguments = [
        *('model', 'work'),
        *(f'{name}_rows[b]' for name in algorithm.inputs),
        *['work.rest'] * algorithm.zeros,
        *(needs[name] for name in algorithm.needs),
        *of_frame,
        'result_rows[b]',
    ]
    source = SOURCE.format(of_work=of_work, lines='\n    '.join(lines), arguments=', '.join(arguments))
    names: dict[str, Any] = {
        'model_at': _reader(model),
        'work_at': _reader(work),
        'array_at': array_at,
        'integers_at': integers_at,
        'word_at': word_at,
        'kernel': algorithm.kernel_of(arrays),
    }
    exec(source, names)
    return object_file('rows', names['rows'], 5, ir.IntType(8), types.boolean)


def _record(name: str, axes: dict[str, tuple[Any, tuple]]) -> tuple[Record, int]:
    """Return the type of a record with these arrays, and its size in bytes."""
    fields, offset = {}, 0
    for field, (numbers, shape) in axes.items():
        fields[field] = Field(offset, numbers, shape)
        offset += 8 * (1 + len(shape))
    return Record(name, fields), offset


def _of_model(array: np.ndarray) -> tuple[Any, tuple]:
    """Return type of numbers and axes of an array of the model: the first has the number of joints or velocities."""
    return typeof(array).dtype, (None, *array.shape[1:])


def _of_work() -> dict[str, tuple[Any, tuple]]:
    """Return types of numbers and axes of the arrays of the workspace: constant if equal for robots of two sizes."""
    shapes = zip(Workspace.shapes(2, 3, 1, 5), Workspace.shapes(4, 6, 2, 12), strict=True)
    axes = [tuple(a if a == b else None for a, b in zip(one, other, strict=True)) for one, other in shapes]
    return {name: (types.float64, shape) for name, shape in zip(Workspace._fields, axes, strict=True)}


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


def _reader(record: Record):
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
