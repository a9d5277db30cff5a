"""Machine code of functions that Numba compiles, whose arguments are read from memory. Used while compiling only.

Memory is an array of words: an array of numbers is an address and its lengths, a number is itself, and a record has
such words of arrays, numbers and further records. Reading a field loads the address of its array. Axes of constant
length, such as those of a 3 x 3 matrix, are constants of the code.
"""

import hashlib
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba import njit, typeof, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numba.np.arrayobj import make_array, populate_array

from robot_dynamics_ros.codegen import compiled_calls_compiler  # noqa: F401 - registers their implementations
from robot_dynamics_ros.jit.decorators import OPTIONS, Kernel, inlined, unwrapped

WORD = ir.IntType(64)
RETURNED = {None: types.none, bool: types.boolean, int: types.int64}
"""Numba's types of results, by annotation."""


class Value(NamedTuple):
    """What words in memory are."""

    kind: Any
    """Numba's type."""
    lengths: tuple[int | None, ...] = ()
    """Lengths of the axes of an array; None where they are read."""

    @property
    def words(self) -> int:
        """Number of words."""
        return self.kind.words if isinstance(self.kind, Record) else 1 + len(self.lengths)

    @classmethod
    def like(cls, example) -> 'Value':
        """Return what an argument like an example is: bytes, a number, an array, or a named tuple of these.

        Axes of the example that are not of length 0 are constant.
        """
        if isinstance(example, bytes):
            return cls(types.Array(types.uint8, 1, 'C'), (None,))
        if isinstance(example, np.ndarray):
            kind = types.Array(typeof(example).dtype, example.ndim, 'C')
            return cls(kind, tuple(length or None for length in example.shape))
        if isinstance(example, tuple):
            return cls(Record({name: cls.like(it) for name, it in zip(_names_of(example), example, strict=True)}))
        return cls(typeof(example))


class Record(types.Type):
    """Numba's type of the address of a record."""

    def __init__(self, fields: dict[str, Value]):
        """Store the fields in order; Numba takes types of the same name for one."""
        self.fields, self.words = {}, 0
        for name, value in fields.items():
            self.fields[name] = value, 8 * self.words
            self.words += value.words
        super().__init__(f'Record({hashlib.sha256(repr(fields).encode()).hexdigest()[:16]})')


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
        """Return the type of a field."""
        return record.fields[name][0].kind


@lower_getattr_generic(Record)
def _field(context, builder, record, address, name):
    """Emit a field."""
    return _value(context, builder, address, *record.fields[name])


def _value(context, builder, address, value: Value, offset: int):
    """Emit the value whose words begin ``offset`` bytes after an address."""
    kind = value.kind
    if isinstance(kind, Record):
        return builder.add(address, WORD(offset))
    word = _word(builder, address, offset)
    if isinstance(kind, types.Array):
        read = enumerate(value.lengths, 1)
        shape = [_word(builder, address, offset + 8 * k) if it is None else WORD(it) for k, it in read]
        strides = [WORD(8)]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        array = make_array(kind)(context, builder)
        data = builder.inttoptr(word, context.get_data_type(kind.dtype).as_pointer())
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=WORD(8), meminfo=None)
        return array._getvalue()
    if kind is types.boolean:
        return builder.icmp_unsigned('!=', word, WORD(0))
    return builder.bitcast(word, ir.DoubleType()) if kind is types.float64 else word


def _word(builder, address, offset: int):
    """Emit an integer that does not change while the code runs."""
    word = builder.load(builder.inttoptr(builder.add(address, WORD(offset)), WORD.as_pointer()))
    word.set_metadata('invariant.load', builder.module.add_metadata([]))
    return word


ENTRY = 'call'
"""Name of the function in C that ``code_of`` defines."""


@global_compiler_lock
def code_of(function, fixed: tuple, given: tuple) -> str:
    """Return the optimised IR of ``int64 call(int64 *fixed, int64 *given)`` in C.

    It calls a function or kernel with the arguments whose words are there, which are like the examples ``fixed`` and
    ``given``. TypeError unless the type of its result is that of its annotation.
    """
    function = _step(function) if isinstance(function, Kernel) else function
    records = [Value.like(examples).kind for examples in (fixed, given)]
    places = [(k, *field) for k, record in enumerate(records) for field in record.fields.values()]
    kinds = types.BaseTuple.from_types([value.kind for _, value, _ in places])

    def emission(typing, fixed, given):
        def emitted(context, builder, signature, addresses):
            values = [_value(context, builder, addresses[k], value, offset) for k, value, offset in places]
            return context.make_tuple(builder, kinds, values)

        return kinds(fixed, given), emitted

    read: Any = intrinsic(emission)
    body = inlined(function, **unwrapped())

    def function_of_words(fixed, given):
        return body(*read(fixed, given))

    dispatcher = njit(**OPTIONS, **unwrapped())(function_of_words)
    dispatcher.compile((types.int64, types.int64))
    (version,) = dispatcher.overloads.values()
    returned, expected = version.signature.return_type, RETURNED[function.__annotations__['return']]
    if types.unliteral(returned) != expected:
        raise TypeError(f'{function.__name__}: expected a function that returns {expected}, got {returned}')
    module = ir.Module(ENTRY)
    pointer = ir.IntType(8).as_pointer()
    # Numba's convention: places for the result and for an exception, which kernels do not raise, come first
    of_callee = ir.FunctionType(ir.IntType(32), [pointer, pointer, WORD, WORD])
    callee = ir.Function(module, of_callee, version.fndesc.llvm_func_name)
    in_c = ir.Function(module, ir.FunctionType(WORD, [WORD, WORD]), ENTRY)
    builder = ir.IRBuilder(in_c.append_basic_block())
    result, exception = builder.alloca(WORD), builder.alloca(WORD)
    builder.store(WORD(0), result)
    builder.call(callee, [*(builder.bitcast(place, pointer) for place in (result, exception)), *in_c.args])
    builder.ret(builder.load(result))
    library = cpu_target.target_context.codegen().create_library(ENTRY)
    library.add_llvm_module(llvm.parse_assembly(str(module)))
    library.add_linking_library(version.library)
    library.finalize()
    return library.get_llvm_str()


def _step(kernel: Kernel):
    """Return a function that calls a kernel: Numba compiles it in 5 % less time (rnea, 2026-11-27)."""
    body = kernel.compiled

    def step(*arguments) -> None:
        body(*arguments)

    return step


def _names_of(example: tuple) -> tuple[str, ...]:
    """Return the names of the fields of a named tuple, or numbers."""
    return getattr(example, '_fields', tuple(map(str, range(len(example)))))
