"""Where arrays enter machine code: what the builtin function accepts, what it refuses, and what it returns."""

import ctypes
import gc
import sys
import weakref

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.algorithms.program import program_of
from robot_dynamics_ros.codegen.specialised import Specialised
from robot_dynamics_ros.codegen.states_code import words_of_program
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.native.call import by_key

pytestmark = pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: machine code is not used')

CODE = Specialised(Robot.named('aubo_i5')._model.arrays)
RUNTIME_INPUTS = np.zeros(19)


def code_of(name, blocks):
    return CODE.states_code(program_of(CODE.arrays, name), blocks)


def gravity_torque(**limits):
    return code_of('gravity_torque', blocks=True).function(**limits)


@pytest.mark.parametrize(
    'wrong',
    [
        np.zeros(5),
        np.zeros(7),
        np.zeros((6, 1)),
        np.zeros((1, 1, 6)),
        np.zeros(()),
        np.zeros(12)[::2],
        np.zeros((6, 2)).T[:, :6],
        np.zeros(6, np.float32),
        np.zeros(6, np.int64),
        np.zeros(6, '>f8'),
        np.frombuffer(bytes(49), offset=1),
        [0.0] * 6,
        1.0,
        'zeros!',
        np.matrix(np.zeros(6)),
    ],
    ids=lambda wrong: f'{type(wrong).__name__} {getattr(wrong, "dtype", "")} {getattr(wrong, "shape", "")}',
)
def test_contiguous_float64_arrays_only_are_accepted(wrong):
    call, result = gravity_torque(), np.zeros(6)
    assert call(np.zeros(6), RUNTIME_INPUTS, result) is result
    for arguments in (
        (wrong, RUNTIME_INPUTS, result),
        (np.zeros(6), RUNTIME_INPUTS, wrong),
        (np.zeros(6), wrong, result),
    ):
        with pytest.raises(TypeError, match='C-contiguous float64 arrays'):
            call(*arguments)


def test_no_vector_and_no_load_is_refused():
    for arguments in ((None, RUNTIME_INPUTS, None), (np.zeros(6), None, None)):
        with pytest.raises(TypeError):
            gravity_torque()(*arguments)


@pytest.mark.parametrize(
    ('q', 'out'), [((4, 6), (3, 6)), ((4, 6), (6,)), ((6,), (1, 6)), ((4, 6), (4, 6, 1)), ((4, 5), (4, 6))]
)
def test_a_batch_needs_a_result_of_its_shape(q, out):
    with pytest.raises(TypeError):
        gravity_torque()(np.zeros(q), RUNTIME_INPUTS, np.zeros(out))


def test_vectors_of_different_batches_are_refused():
    call = code_of('inverse_dynamics', blocks=False).function()
    assert call(*np.zeros((3, 4, 6)), RUNTIME_INPUTS, None).shape == (4, 6)
    for shape in ((3, 6), (5, 6), (6,)):
        with pytest.raises(TypeError):
            call(np.zeros((4, 6)), np.zeros((4, 6)), np.zeros(shape), RUNTIME_INPUTS, None)


def test_a_result_must_be_writable():
    result, readonly = np.zeros(6), np.zeros(6)
    result.flags.writeable = readonly.flags.writeable = False
    with pytest.raises(TypeError):
        gravity_torque()(np.zeros(6), RUNTIME_INPUTS, result)
    assert gravity_torque()(readonly, RUNTIME_INPUTS, None).shape == (6,)


@pytest.mark.parametrize('count', [0, 1, 2, 4, 64, 65])
def test_an_argument_count_that_is_wrong_is_refused(count):
    with pytest.raises(TypeError):
        gravity_torque()(*[np.zeros(6)] * count)


@pytest.mark.parametrize('shape', [(6,), (0, 6), (1, 6), (100, 6)])
def test_a_new_result_belongs_to_the_caller_alone(shape):
    q = np.zeros(shape)
    before = sys.getrefcount(q)
    result = gravity_torque()(q, RUNTIME_INPUTS, None)
    assert result.shape == shape and result.flags.owndata and result.flags.carray
    assert sys.getrefcount(result) == 2 and sys.getrefcount(q) == before


def test_a_given_result_is_returned_once_more():
    out = np.zeros(6)
    before = sys.getrefcount(out)
    for _ in range(100):
        assert gravity_torque()(np.zeros(6), RUNTIME_INPUTS, out) is out
    assert sys.getrefcount(out) == before


@pytest.mark.parametrize('shape', [(6,), (40, 6)])
def test_a_number_that_is_not_finite_gives_none(shape):
    q, out = np.zeros(shape), np.zeros(shape)
    q.flat[-1] = np.nan
    before = sys.getrefcount(out)
    assert gravity_torque()(q, RUNTIME_INPUTS, None) is None
    assert gravity_torque()(q, RUNTIME_INPUTS, out) is None
    assert sys.getrefcount(out) == before


def test_more_states_than_allowed_are_refused():
    call = gravity_torque(most=10)
    assert call(np.zeros((10, 6)), RUNTIME_INPUTS, None).shape == (10, 6)
    with pytest.raises(TypeError):
        call(np.zeros((11, 6)), RUNTIME_INPUTS, None)


def test_a_large_batch_by_several_threads_has_the_same_bits():
    q = np.random.default_rng(0).normal(size=(5 * 8192 + 3, 6))
    runtime_inputs = Robot.named('aubo_i5').runtime_inputs
    expected = gravity_torque(threads=1)(q, runtime_inputs, None)
    for threads in (2, 3, 64, 1000):
        call = gravity_torque(threads=threads)
        assert (call(q, runtime_inputs, None) == expected).all()
        q_wrong = q.copy()
        for place in (0, 8192, len(q) - 1):
            q_wrong[place, 2] = np.nan
            assert call(q_wrong, runtime_inputs, None) is None
            q_wrong[place, 2] = 0.0


def test_without_the_gil_the_results_are_the_same():
    q = np.random.default_rng(0).normal(size=(1000, 6))
    runtime_inputs = Robot.named('aubo_i5').runtime_inputs
    assert (gravity_torque(held=0)(q, runtime_inputs, None) == gravity_torque(held=1000)(q, runtime_inputs, None)).all()


def test_evaluate_selects_a_call_by_its_key_and_leaves_the_rest_to_python():
    asked = []

    def otherwise(*arguments):
        asked.append(arguments)
        return 'otherwise'

    calls = {'gravity': gravity_torque(), ('a', 'tuple'): gravity_torque()}
    evaluate, q, out = by_key(calls, {}, otherwise), np.zeros(6), np.zeros(6)
    for key in calls:
        assert evaluate(key, RUNTIME_INPUTS, None, q).shape == (6,)
        assert evaluate(key, RUNTIME_INPUTS, out, q) is out
    assert asked == []
    unfit = [
        ('unknown', RUNTIME_INPUTS, None, q),
        (['list'], RUNTIME_INPUTS, None, q),
        ('gravity', RUNTIME_INPUTS, None, [0.0] * 6),
    ]
    unfit += [
        ('gravity', RUNTIME_INPUTS, None, np.full(6, np.nan)),
        ('gravity', RUNTIME_INPUTS, None),
        (),
        ('gravity', RUNTIME_INPUTS, out, q, q),
    ]
    for arguments in unfit:
        assert evaluate(*arguments) == 'otherwise'
        assert asked.pop() == arguments


def test_what_python_raises_instead_is_raised():
    def otherwise(*arguments):
        raise ValueError('here')

    evaluate = by_key({}, {}, otherwise)
    before = sys.getrefcount(None)
    for _ in range(100):
        with pytest.raises(ValueError, match=r'^here$'):
            evaluate('unknown', RUNTIME_INPUTS, None, np.zeros(6))
    assert abs(sys.getrefcount(None) - before) < 50


def test_a_call_keeps_what_it_needs():
    code = Specialised(CODE.arrays)
    robot = Robot.named('aubo_i5')
    call, evaluate, runtime_inputs = (
        code.states_code(program_of(CODE.arrays, 'mass_matrix'), blocks=True).function(),
        robot._evaluate,
        robot.runtime_inputs,
    )
    expected = [
        call(np.zeros((40, 6)), runtime_inputs, None),
        evaluate('mass_matrix', runtime_inputs, None, np.zeros((40, 6))),
    ]
    evaluator = weakref.ref(robot._evaluator)
    del code, robot
    gc.collect()
    assert (call(np.zeros((40, 6)), runtime_inputs, None) == expected[0]).all()
    assert (evaluate('mass_matrix', runtime_inputs, None, np.zeros((40, 6))) == expected[1]).all()
    del evaluate
    gc.collect()
    assert evaluator() is None


def test_python_decides_where_there_is_no_memory_for_a_result():
    code = code_of('gravity_torque', blocks=False)
    huge = code._replace(program=code.program._replace(shape=(1 << 20, 1 << 20, 1 << 20)))
    calls = {'huge': huge.function()}

    def otherwise(*arguments):
        return 'otherwise'

    evaluate = by_key(calls, {}, otherwise)
    assert evaluate('huge', RUNTIME_INPUTS, None, np.zeros(6)) == 'otherwise'
    with pytest.raises(TypeError):
        calls['huge'](np.zeros(6), RUNTIME_INPUTS, None)


def test_a_call_that_is_replaced_while_it_computes_lives_until_its_end():
    alive = []

    @ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    def replaced(fixed, given):
        calls.clear()
        alive.append(weak())
        return True

    address = ctypes.cast(replaced, ctypes.c_void_p).value
    code = code_of('gravity_torque', blocks=False)._replace(words=words_of_program([(address, 0, [])]))
    calls = {'one': code.function(held=0)}
    weak = weakref.ref(calls['one'])
    evaluate = by_key(calls, {}, lambda *arguments: 'otherwise')
    assert evaluate('one', RUNTIME_INPUTS, None, np.zeros(6)).shape == (6,)
    assert alive[0] is not None
    alive.clear()
    assert weak() is None
