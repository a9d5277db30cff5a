"""IR of the builtin function of ``bound_function``."""

from llvmlite import ir

from robot_dynamics_ros.compiler import bound_function as names
from robot_dynamics_ros.compiler import builtin_function as layout
from robot_dynamics_ros.compiler.builtin_function import ALIGNED, CONTIGUOUS
from robot_dynamics_ros.compiler.emission import INT32, INT64, NUMBER, Emission, new_builtin


def emit(module: ir.Module) -> None:
    """Emit the builtin function ``bound``."""
    _BoundCall(new_builtin(module, 'bound')).emit()


class _BoundCall(Emission):
    """Emits the function that checks its arguments, calls the machine code and returns its result, or sets an error."""

    def __init__(self, function: ir.Function):
        """Begin the function."""
        super().__init__(function)
        self._function = function
        self_, self._arguments, self._count = function.args
        self._words = self.load(self_, layout.DATA)
        self._refused = function.append_basic_block('refused')

    def emit(self) -> None:
        """Emit the whole function."""
        builder = self.builder
        places = builder.ptrtoint(builder.alloca(ir.ArrayType(INT64, names.MOST_ARGUMENTS * names.PLACE)), INT64)
        thread = builder.alloca(INT64)
        self._demand('==', self._count, self._of('given'))
        with self.loop(self._count) as k:
            argument = self.load(self.at(self._arguments, k))
            words = builder.add(self._words, builder.mul(k, INT64(8 * names.ARGUMENT)))
            self._argument(argument, builder.add(words, INT64(8 * len(names.WORDS))), self._place(places, k))
        release = builder.icmp_signed('!=', self._of('nogil'), INT64(0))
        with builder.if_then(release, likely=False):
            builder.store(self.call(self._of('save_thread')), thread)
        value = self.call(self._of('function'), self._of('fixed'), places)
        with builder.if_then(release, likely=False):
            self.call(self._of('restore_thread'), builder.load(thread))
        self._return(value)

        builder.position_at_end(self._refused)
        self.call(*(self._of(name) for name in ('set_error', 'type_error', 'refusal')))
        builder.ret(INT64(0))

    def _argument(self, argument, words, place) -> None:
        """Emit the check of an argument, and the store of its words."""
        kind = self.word(words, names.ARGUMENT_WORDS, 'kind')
        with self._if(kind, names.ARRAY):
            self._array(argument, words, place)
        with self._if(kind, names.BYTES):
            self._demand('==', self.load(argument, layout.TYPE), self._of('bytes_type'))
            self.store(self.call(self._of('start'), argument), place)
            self.store(self.call(self._of('length'), argument), self.builder.add(place, INT64(8)))
        with self._if(kind, names.INTEGER):
            value = self.call(self._of('as_integer'), argument)
            self._check_error(self.builder.icmp_signed('==', value, INT64(-1)))
            self.store(value, place)
        with self._if(kind, names.NUMBER):
            value = self.call(self._of('as_number'), argument, returned=NUMBER)
            self._check_error(self.builder.fcmp_ordered('==', value, NUMBER(-1.0)))
            self.store(value, place)

    def _array(self, array, words, place) -> None:
        """Emit the check of an array, and the store of its address and lengths."""
        builder = self.builder
        axes = self.word(words, names.ARGUMENT_WORDS, 'axes')
        self._demand('==', self.load(array, layout.TYPE), self._of('array_type'))
        self._demand('==', self.load(array, layout.DIMENSIONS_COUNT, INT32), axes)
        numbers = self.load(self.load(array, layout.DTYPE), layout.NUMBERS)
        self._demand('==', numbers, self.word(words, names.ARGUMENT_WORDS, 'numbers'))
        wanted = INT64(CONTIGUOUS | ALIGNED)
        self._demand('==', builder.and_(self.load(array, layout.FLAGS, INT32), wanted), wanted)
        self.store(self.load(array, layout.DATA), place)
        dimensions = self.load(array, layout.DIMENSIONS)
        lengths = builder.add(words, INT64(8 * len(names.ARGUMENT_WORDS)))
        with self.loop(axes) as k:
            length, expected = self.load(self.at(dimensions, k)), self.load(self.at(lengths, k))
            fits = builder.or_(
                builder.icmp_signed('==', expected, INT64(0)), builder.icmp_signed('==', length, expected)
            )
            self._demand_that(fits)
            self.store(length, builder.add(self.at(place, k), INT64(8)))

    def _return(self, value) -> None:
        """Emit the return of the machine code's result as an object."""
        builder, returned = self.builder, self._of('returned')
        with self._if(returned, names.RETURNED.index(int)):
            builder.ret(self.call(self._of('integer'), value))
        found = builder.select(builder.icmp_signed('!=', value, INT64(0)), self._of('true'), self._of('false'))
        is_nothing = builder.icmp_signed('==', returned, INT64(names.RETURNED.index(None)))
        found = builder.select(is_nothing, self._of('none'), found)
        self.call(self._of('increase'), found)
        builder.ret(found)

    def _check_error(self, suspicious) -> None:
        """Emit the return with Python's error, if there is one, where a value is the one that an error has."""
        builder = self.builder
        with builder.if_then(suspicious, likely=False):
            error = self.call(self._of('error'))
            with builder.if_then(builder.icmp_signed('!=', error, INT64(0))):
                builder.ret(INT64(0))

    def _place(self, places, k):
        """Emit the address of the words of argument k for the machine code."""
        return self.builder.add(places, self.builder.mul(k, INT64(8 * names.PLACE)))

    def _if(self, value, constant: int):
        """Emit the condition that an integer has a value; the body is that of a ``with`` statement."""
        return self.builder.if_then(self.builder.icmp_signed('==', value, INT64(constant)))

    def _of(self, name: str):
        """Emit the word of this name."""
        return self.word(self._words, names.WORDS, name)

    def _demand(self, comparison: str, one, other) -> None:
        """Emit a comparison of integers; where it does not hold the arguments are refused."""
        self._demand_that(self.builder.icmp_signed(comparison, one, other))

    def _demand_that(self, holds) -> None:
        """Emit a condition; where it does not hold the arguments are refused."""
        go_on = self.builder.append_basic_block()
        self.builder.cbranch(holds, go_on, self._refused)
        self.builder.position_at_end(go_on)
