"""IR of the builtin functions of ``array_call``."""

from llvmlite import ir

from robot_dynamics_ros.compiler import array_call as names
from robot_dynamics_ros.compiler import builtin_function as layout
from robot_dynamics_ros.compiler.array_call import MOST_AXES, MOST_VECTORS
from robot_dynamics_ros.compiler.builtin_function import ALIGNED, CONTIGUOUS, WRITABLE
from robot_dynamics_ros.compiler.emission import BYTE, INT32, INT64, NUMBER, Emission, Loop, new_builtin
from robot_dynamics_ros.model.joint_types import LARGEST_ANGLE

LANES = 8
"""Numbers that are checked for finiteness at a time."""
DOUBLE_TYPE_NUMBER = 12
"""NumPy's number of the type float64."""


def emit(module: ir.Module) -> None:
    """Emit ``call(vectors..., load, out)`` of ``bound_call`` and ``evaluate(key, load, out, vectors...)``."""
    computed = ir.Function(module, ir.FunctionType(INT64, [INT64] * 5), 'computed')
    _Computation(computed, _finite(module)).emit()
    _emit_call(new_builtin(module, 'call'), computed)
    _emit_evaluate(new_builtin(module, 'evaluate'), computed)


def _emit_call(function: ir.Function, computed: ir.Function) -> None:
    """Emit the function that computes, or sets TypeError."""
    emission = Emission(function)
    builder, (self_, arguments, count) = emission.builder, function.args
    words = emission.load(self_, layout.DATA)
    vectors = builder.sub(count, INT64(2))
    enough = builder.icmp_signed('>', vectors, INT64(0))
    with builder.if_then(enough, likely=True):
        load, out = (emission.load(emission.at(arguments, vectors), 8 * k) for k in range(2))
        result = builder.call(computed, [words, arguments, vectors, load, out])
        with builder.if_then(builder.icmp_signed('!=', result, INT64(0)), likely=True):
            none = emission.word(words, names.WORDS, 'none')
            with builder.if_then(builder.icmp_signed('==', result, none), likely=False):
                emission.call(emission.word(words, names.WORDS, 'increase'), none)
            builder.ret(result)
    error, text = (emission.word(words, names.WORDS, name) for name in ('type_error', 'refusal'))
    emission.call(emission.word(words, names.WORDS, 'set_error'), error, text)
    builder.ret(INT64(0))


def _emit_evaluate(function: ir.Function, computed: ir.Function) -> None:
    """Emit the function that looks up a call by its key and makes it, or else calls a Python function."""
    emission = Emission(function)
    builder, (self_, arguments, count) = emission.builder, function.args
    words = emission.load(self_, layout.DATA)
    vectors = builder.sub(count, INT64(3))
    with builder.if_then(builder.icmp_signed('>', vectors, INT64(0)), likely=True):
        key, load, out = (emission.load(arguments, 8 * k) for k in range(3))
        calls, item = (emission.word(words, names.EVALUATE_WORDS, name) for name in ('calls', 'item'))
        found = emission.call(item, calls, key)
        with builder.if_then(builder.icmp_signed('!=', found, INT64(0)), likely=True):
            of_call = emission.load(emission.load(found, layout.SELF), layout.DATA)
            start = builder.add(arguments, INT64(24))
            # while the GIL is released, another thread may replace the call
            increase, decrease = (emission.word(words, names.EVALUATE_WORDS, it) for it in ('increase', 'decrease'))
            emission.call(increase, found)
            result = builder.call(computed, [of_call, start, vectors, load, out])
            emission.call(decrease, found)
            refused = builder.icmp_signed('==', result, INT64(0))
            none = builder.icmp_signed('==', result, emission.word(words, names.EVALUATE_WORDS, 'none'))
            with builder.if_then(builder.not_(builder.or_(refused, none)), likely=True):
                builder.ret(result)
    otherwise, vectorcall = (emission.word(words, names.EVALUATE_WORDS, name) for name in ('otherwise', 'vectorcall'))
    builder.ret(emission.call(vectorcall, otherwise, arguments, count, INT64(0)))


class _Computation(Emission):
    """Emits ``PyObject *computed(words, vectors, their number, load, out)``.

    It returns a new reference to the result, a borrowed one to None if some number is not finite or an angle too large,
    or 0 without an error if the arguments are refused.
    """

    def __init__(self, function: ir.Function, finite: ir.Function):
        """Begin the function; ``finite`` checks numbers in memory."""
        super().__init__(function)
        self._function, self._finite = function, finite
        self._words = function.args[0]
        self._refused = function.append_basic_block('refused')

    def emit(self) -> None:
        """Emit the whole function."""
        builder = self.builder
        _, arguments, given, load, out = self._function.args
        slots = [builder.alloca(ir.ArrayType(INT64, size)) for size in (MOST_VECTORS, MOST_VECTORS, MOST_AXES + 1)]
        data, shifted, shape = (builder.ptrtoint(slot, INT64) for slot in slots)
        vectors = self.of('vectors')
        self.demand('==', given, vectors)

        # number of states
        first = self.load(arguments)
        self.demand('==', self.load(first, layout.TYPE), self.of('array_type'))
        axes = self.load(first, layout.DIMENSIONS_COUNT, INT32)
        self.demand('!=', axes, INT64(0))
        self.demand('<=', axes, INT64(2))
        is_batch = builder.icmp_signed('==', axes, INT64(2))
        count = builder.select(is_batch, self.load(self.load(first, layout.DIMENSIONS)), INT64(1))
        self.demand('<=', count, self.of('most'))
        left = builder.sub(self.of('left'), count)
        self.store(left, self.offset(names.WORDS.index('left')))
        self.demand('>=', left, INT64(0))

        # arguments
        with self.loop(vectors) as k:
            array = self.load(self.at(arguments, k))
            length = self.load(self.at(self.offset(names.LENGTHS), k))
            self.array(array, axes, CONTIGUOUS | ALIGNED)
            dimensions = self.load(array, layout.DIMENSIONS)
            self.demand('==', self.load(self.at(dimensions, builder.sub(axes, INT64(1)))), length)
            with builder.if_then(is_batch):
                self.demand('==', self.load(dimensions), count)
            self.store(self.load(array, layout.DATA), self.at(data, k))
        self.array(load, INT64(1), CONTIGUOUS | ALIGNED)
        self.demand('==', self.load(self.load(load, layout.DIMENSIONS)), self.of('load'))
        self._check_quaternions(self.load(data), count)

        result = self._result(out, shape, is_batch, count, data)
        release = builder.icmp_signed('>', count, self.of('held'))
        thread = builder.alloca(INT64)
        with builder.if_then(release):
            builder.store(self.call(self.of('save_thread')), thread)
        finite = self._computed(data, shifted, self.load(load, layout.DATA), self.load(result, layout.DATA), count)
        with builder.if_then(release):
            self.call(self.of('restore_thread'), builder.load(thread))
        with builder.if_then(builder.icmp_signed('!=', finite, INT64(0)), likely=True):
            builder.ret(result)
        self.call(self.of('decrease'), result)
        builder.ret(self.of('none'))

        builder.position_at_end(self._refused)
        builder.ret(INT64(0))

    def _check_quaternions(self, q, count) -> None:
        """Emit the check that the quaternions of all states have length 1."""
        builder, length = self.builder, self.load(self.offset(names.LENGTHS))
        quaternions = self.of('quaternions')
        with builder.if_then(builder.icmp_signed('!=', quaternions, INT64(0)), likely=False):  # noqa: SIM117
            with self.loop(count) as b:
                with self.loop(quaternions) as k:
                    start = self.load(self.at(self.offset(names.QUATERNIONS), k))
                    place = self.at(q, builder.add(builder.mul(b, length), start))
                    error = NUMBER(-1.0)
                    for offset in range(0, 32, 8):
                        number = self.load(place, offset, NUMBER)
                        error = builder.fadd(error, builder.fmul(number, number))
                    small = [
                        builder.fcmp_ordered('<=', error, NUMBER(names.UNIT_NORM)),
                        builder.fcmp_ordered('>=', error, NUMBER(-names.UNIT_NORM)),
                    ]
                    self.demand_that(builder.and_(*small))

    def _result(self, out, shape, is_batch, count, data):
        """Emit the array for the result: ``out``, apart from the vectors, with one more reference, or a new one."""
        builder, axes = self.builder, self.of('axes')
        expected = builder.add(axes, builder.zext(is_batch, INT64))
        self.store(count, shape)
        for k in range(MOST_AXES):
            self.store(self.load(self.offset(names.SHAPE + k)), builder.add(shape, INT64(8 * k + 8)))
        shape = builder.select(is_batch, shape, builder.add(shape, INT64(8)))
        found = builder.alloca(INT64)
        builder.store(out, found)
        with builder.if_else(builder.icmp_signed('==', out, self.of('none'))) as (is_new, is_given):
            with is_new:
                zero = INT64(0)
                made = self.call(
                    self.of('new_array'),
                    *(self.of('array_type'), builder.trunc(expected, INT32), shape, INT32(DOUBLE_TYPE_NUMBER)),
                    *(zero, zero, INT32(0), INT32(0), zero),
                )
                with builder.if_then(builder.icmp_signed('==', made, zero), likely=False):
                    self.call(self.of('clear_error'))  # no memory: who computes instead raises the error
                    builder.ret(zero)
                builder.store(made, found)
            with is_given:
                self.array(out, expected, CONTIGUOUS | ALIGNED | WRITABLE)
                dimensions = self.load(out, layout.DIMENSIONS)
                with self.loop(expected) as k:
                    self.demand('==', self.load(self.at(dimensions, k)), self.load(self.at(shape, k)))
                self._apart(self.load(out, layout.DATA), data, count)
                self.call(self.of('increase'), out)
        return builder.load(found)

    def _apart(self, result, data, count) -> None:
        """Emit the check that the result overlaps no vector: a NaN in a vector could be overwritten unseen."""
        builder = self.builder
        end = self.at(result, builder.mul(count, self.of('size')))
        with self.loop(self.of('vectors')) as k:
            start = self.load(self.at(data, k))
            length = self.load(self.at(self.offset(names.LENGTHS), k))
            before = builder.icmp_signed('<=', end, start)
            after = builder.icmp_signed('>=', result, self.at(start, builder.mul(count, length)))
            self.demand_that(builder.or_(before, after))

    def _computed(self, data, shifted, load, result, count):
        """Emit the computation of all states; not 0 if all numbers are finite."""
        builder, finite = self.builder, self.builder.alloca(INT64)
        builder.store(INT64(1), finite)
        blocks, lanes = self.of('blocks'), self.of('lanes')
        whole = builder.mul(builder.sdiv(count, lanes), lanes)
        whole = builder.select(builder.icmp_signed('==', blocks, INT64(0)), INT64(0), whole)
        with builder.if_then(builder.icmp_signed('!=', whole, INT64(0))):
            streamed = builder.zext(builder.icmp_signed('>', count, self.of('streamed')), INT64)
            self._both(finite, self.call(self.of('blocks'), data, load, result, whole, streamed, returned=BYTE))
        rest = builder.sub(count, whole)
        with builder.if_then(builder.icmp_signed('!=', rest, INT64(0))):
            with self.loop(self.of('vectors')) as k:
                length = self.load(self.at(self.offset(names.LENGTHS), k))
                start = self.load(self.at(data, k))
                self.store(self.at(start, builder.mul(whole, length)), self.at(shifted, k))
            target = self.at(result, builder.mul(whole, self.of('size')))
            done = self.call(self.of('rows'), shifted, load, target, rest, self.of('context'), returned=BYTE)
            self._both(finite, done)
        with builder.if_then(builder.icmp_signed('!=', self.of('checked'), INT64(0))):
            with self.loop(self.of('vectors')) as k:
                length = self.load(self.at(self.offset(names.LENGTHS), k))
                self._both(
                    finite, builder.call(self._finite, [self.load(self.at(data, k)), builder.mul(count, length)])
                )
            self._both(finite, builder.call(self._finite, [result, builder.mul(count, self.of('size'))]))
            self._check_angles(finite, self.load(data), count)
        return builder.load(finite)

    def _check_angles(self, finite, q, count) -> None:
        """Emit ``finite`` = 0 if an angle of any state is too large."""
        builder, length = self.builder, self.load(self.offset(names.LENGTHS))
        first = self.at(self.offset(names.QUATERNIONS), self.of('quaternions'))
        with self.loop(count) as b:
            state = self.at(q, builder.mul(b, length))
            with self.loop(self.of('angles')) as k:
                angle = self.load(self.at(state, self.load(self.at(first, k))), kind=NUMBER)
                above = builder.fcmp_ordered('>', angle, NUMBER(-LARGEST_ANGLE))
                below = builder.fcmp_ordered('<', angle, NUMBER(LARGEST_ANGLE))
                self._both(finite, builder.and_(above, below))

    def _both(self, finite, byte) -> None:
        """Emit ``finite`` = 0 if ``byte`` is 0."""
        builder = self.builder
        builder.store(builder.and_(builder.load(finite), builder.zext(byte, INT64)), finite)

    def array(self, array, axes, wanted: int) -> None:
        """Emit the checks of type, number of axes and flags of an array."""
        builder = self.builder
        self.demand('==', self.load(array, layout.TYPE), self.of('array_type'))
        self.demand('==', self.load(array, layout.DIMENSIONS_COUNT, INT32), axes)
        self.demand('==', self.load(array, layout.DTYPE), self.of('float64'))
        self.demand('==', builder.and_(self.load(array, layout.FLAGS, INT32), INT64(wanted)), INT64(wanted))

    def demand(self, comparison: str, one, other) -> None:
        """Emit a comparison of integers; where it does not hold the arguments are refused."""
        self.demand_that(self.builder.icmp_signed(comparison, one, other))

    def demand_that(self, holds) -> None:
        """Emit a condition; where it does not hold the arguments are refused."""
        go_on = self.builder.append_basic_block()
        self.builder.cbranch(holds, go_on, self._refused)
        self.builder.position_at_end(go_on)

    def of(self, name: str):
        """Emit the word of this name."""
        return self.word(self._words, names.WORDS, name)

    def offset(self, k: int):
        """Emit the address of word k."""
        return self.builder.add(self._words, INT64(8 * k))


def _finite(module: ir.Module) -> ir.Function:
    """Emit the function that returns whether ``count`` numbers at an address are finite, a byte."""
    function = ir.Function(module, ir.FunctionType(BYTE, (INT64, INT64)), 'finite')
    builder = ir.IRBuilder(function.append_basic_block('entry'))
    address, count = function.args
    vector = ir.VectorType(NUMBER, LANES)
    sums, rest = builder.alloca(vector), builder.alloca(NUMBER)
    zeros, zero = ir.Constant(vector, [0.0] * LANES), NUMBER(0.0)
    builder.store(zeros, sums)
    builder.store(zero, rest)
    lines = builder.sdiv(count, INT64(LANES))
    # the sum of number * 0: 0 if all are finite, else NaN
    with Loop(builder, lines) as k:
        place = builder.inttoptr(builder.add(address, builder.mul(k, INT64(8 * LANES))), vector.as_pointer())
        builder.store(builder.fadd(builder.load(sums), builder.fmul(builder.load(place, align=8), zeros)), sums)
    whole = builder.mul(lines, INT64(LANES))
    with Loop(builder, builder.sub(count, whole)) as k:
        place = builder.add(address, builder.mul(builder.add(whole, k), INT64(8)))
        number = builder.load(builder.inttoptr(place, NUMBER.as_pointer()))
        builder.store(builder.fadd(builder.load(rest), builder.fmul(number, zero)), rest)
    total = builder.load(rest)
    for k in range(LANES):
        total = builder.fadd(total, builder.extract_element(builder.load(sums), INT32(k)))
    builder.ret(builder.zext(builder.fcmp_ordered('==', total, zero), BYTE))
    return function
