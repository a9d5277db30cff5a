"""Emission of LLVM's intermediate representation (IR) for the builtin functions."""

from llvmlite import ir

BYTE, INT32, INT64, NUMBER = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()


def new_builtin(module: ir.Module, name: str) -> ir.Function:
    """Return a new function ``PyObject *f(PyObject *self, PyObject *const *arguments, Py_ssize_t count)``."""
    return ir.Function(module, ir.FunctionType(INT64, [INT64] * 3), name)


class Emission:
    """Emits a function, all values integers of 64 bits; addresses are converted where memory is accessed."""

    def __init__(self, function: ir.Function):
        """Begin the function."""
        self.builder = ir.IRBuilder(function.append_basic_block('entry'))

    def at(self, address, k):
        """Emit the address of word k."""
        return self.builder.add(address, self.builder.mul(k, INT64(8)))

    def word(self, words, names: tuple[str, ...], name: str):
        """Emit the word of this name."""
        return self.load(words, 8 * names.index(name))

    def load(self, address, offset: int = 0, kind=INT64):
        """Emit the value in memory; an integer of 32 bits is extended to 64."""
        builder = self.builder
        value = builder.load(builder.inttoptr(builder.add(address, INT64(offset)), kind.as_pointer()))
        return builder.sext(value, INT64) if kind is INT32 else value

    def store(self, value, address) -> None:
        """Emit the store of a value in memory."""
        self.builder.store(value, self.builder.inttoptr(address, value.type.as_pointer()))

    def call(self, function, *arguments, returned=INT64):
        """Emit the call of the function at an address."""
        type_ = ir.FunctionType(returned, [argument.type for argument in arguments])
        return self.builder.call(self.builder.inttoptr(function, type_.as_pointer()), arguments)

    def loop(self, count) -> 'Loop':
        """Emit a loop from 0 to ``count`` - 1; the body is that of a ``with`` statement."""
        return Loop(self.builder, count)


class Loop:
    """A loop over integers, as a context manager."""

    def __init__(self, builder: ir.IRBuilder, count):
        """Store the number of rounds."""
        self._builder, self._count = builder, count

    def __enter__(self):
        """Emit the beginning of a round, and return the number of this round."""
        builder = self._builder
        before = builder.block
        self._test, body, self._end = (builder.append_basic_block() for _ in range(3))
        builder.branch(self._test)
        builder.position_at_end(self._test)
        self._k = builder.phi(INT64)
        self._k.add_incoming(INT64(0), before)
        builder.cbranch(builder.icmp_signed('<', self._k, self._count), body, self._end)
        builder.position_at_end(body)
        return self._k

    def __exit__(self, *_):
        """Emit the end of a round."""
        builder = self._builder
        self._k.add_incoming(builder.add(self._k, INT64(1)), builder.block)
        builder.branch(self._test)
        builder.position_at_end(self._end)
