"""Machine code of functions that Numba compiles, whose arguments are read from memory. Used while compiling only.

Memory is an array of words: an array of numbers is an address and its lengths, a number is itself, and a record has
such words of arrays, numbers and further records. Reading a field loads the address of its array. Axes of constant
length, such as those of a 3 x 3 matrix, are constants of the code.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from llvmlite import binding as llvm
from llvmlite import ir
from numba import njit, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numba.np.arrayobj import make_array, populate_array

from robot_dynamics_ros.codegen.object_files import LLVM
from robot_dynamics_ros.jit.decorators import OPTIONS, unwrapped

WORD = ir.IntType(64)


class Value(NamedTuple):
    """What words in memory are."""

    kind: Any
    """Numba's type."""
    lengths: tuple[int | None, ...] = ()
    """Lengths of the axes of an array; None where they are read."""
    is_address: bool = False
    """Whether the word of a record is its address; otherwise its words are in this place."""

    @property
    def words(self) -> int:
        """Number of words."""
        return self.kind.words if isinstance(self.kind, Record) and not self.is_address else 1 + len(self.lengths)


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
    if isinstance(kind, Record) and not value.is_address:
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


def object_file(name: str, function, arguments: Sequence[tuple[int, int, Value]], word: ir.IntType, returned) -> bytes:
    """Return the object file of ``name(int64 *words, int64 *others)`` in C, whose result is an integer ``word``.

    It calls ``function`` with the ``arguments``: for each whether it is among the others, bytes from there, and the
    value. TypeError unless Numba's type of the result is ``returned``.
    """
    kinds = types.BaseTuple.from_types([value.kind for _, _, value in arguments])

    def emission(typing, words, others):
        def emitted(context, builder, signature, addresses):
            values = [_value(context, builder, addresses[other], value, offset) for other, offset, value in arguments]
            return context.make_tuple(builder, kinds, values)

        return kinds(words, others), emitted

    read: Any = intrinsic(emission)

    def function_of_words(words, others):
        return function(*read(words, others))

    with LLVM, global_compiler_lock:
        dispatcher = njit(**OPTIONS, **unwrapped())(function_of_words)
        dispatcher.compile((types.int64, types.int64))
        (version,) = dispatcher.overloads.values()
        if types.unliteral(version.signature.return_type) != returned:
            raise TypeError(f'{name}: expected a function that returns {returned}, got {version.signature.return_type}')
        module = ir.Module(name)
        pointer = ir.IntType(8).as_pointer()
        # Numba's convention: places for the result and for an exception, which kernels do not raise, come first
        of_callee = ir.FunctionType(ir.IntType(32), [pointer, pointer, WORD, WORD])
        callee = ir.Function(module, of_callee, version.fndesc.llvm_func_name)
        in_c = ir.Function(module, ir.FunctionType(word, [WORD, WORD]), name)
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
