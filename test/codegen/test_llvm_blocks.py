"""Blocks of states: every number of a row reaches its place, and nothing beside the rows is read or written."""

import ctypes
from collections.abc import Sequence

import numpy as np
import pytest

from robot_dynamics_ros.codegen.llvm import of_blocks, of_one_state
from robot_dynamics_ros.codegen.llvm_machine import host_object
from robot_dynamics_ros.codegen.loaded_code import LoadedCode
from robot_dynamics_ros.codegen.states_code import RESULT, RUNTIME, VECTOR, words_of_program
from robot_dynamics_ros.codegen.straight_line import StraightLine, _check
from robot_dynamics_ros.codegen.trace import Tape
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.native import call as native

pytestmark = pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: machine code is not used')

UNTOUCHED = -1.0
RUN = ctypes.CFUNCTYPE(ctypes.c_bool, *[ctypes.c_int64] * 6)(native.RUN)


def reversed_rows(width: int, constants: Sequence[float] = (7.0,)) -> StraightLine:
    """Return code that writes the numbers of q in reverse, and constants."""
    tape, inputs = Tape(), {'q': width}
    results = [*tape.inputs('q', width)[::-1], *constants]
    return StraightLine('turned', inputs, results, _check(tape, results, inputs, ()))


def programs_of(code: StraightLine, width: int, lanes: int) -> tuple[list[np.ndarray], list[LoadedCode]]:
    """Return the programs that compute states by blocks and one after the other, and the code that they need."""
    rows, blocks = LoadedCode(host_object(of_one_state(code))), LoadedCode(host_object(of_blocks(code, lanes)))
    words = [(VECTOR, 0, 8 * width), (RUNTIME, 0, 0), (RESULT, 0, 8 * len(code.results))]
    steps = [(rows.address('turned_state'), 0, words)]
    by_blocks = words_of_program(steps, blocks.address('turned_blocks'), lanes)
    return [by_blocks, words_of_program(steps)], [rows, blocks]


def call(program: np.ndarray, q: np.ndarray, target: np.ndarray, first: int, streamed: int) -> bool:
    vectors = np.array([q.ctypes.data])
    runtime_inputs = np.zeros(19)
    start = target.ctypes.data + target.itemsize * first
    return RUN(vectors.ctypes.data, runtime_inputs.ctypes.data, start, len(q), program.ctypes.data, streamed)


@pytest.mark.parametrize('width', [1, 2, 7, 8, 9, 15, 16, 17])
@pytest.mark.parametrize('lanes', [8, 16])
def test_numbers_of_all_rows_arrive_wherever_lines_begin(width, lanes):
    programs, _code = programs_of(reversed_rows(width), width, lanes)
    count = 3 * lanes
    q = np.random.default_rng(width).normal(size=(count, width))
    expected = np.column_stack([q[:, ::-1], np.full(count, 7.0)]).ravel()
    for first in range(8):
        for program, streamed in ((programs[0], 0), (programs[0], 1), (programs[1], 0)):
            target = np.full(expected.size + 24, UNTOUCHED)
            assert call(program, q, target, first, streamed)
            np.testing.assert_array_equal(target[first : first + expected.size], expected)
            assert (target[:first] == UNTOUCHED).all() and (target[first + expected.size :] == UNTOUCHED).all()


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('state', [0, 5, 47])
def test_one_number_that_is_not_finite_is_told(value, state):
    programs, _code = programs_of(reversed_rows(3), 3, lanes=16)
    q, target = np.zeros((48, 3)), np.empty(48 * 4)
    assert all(call(program, q, target, 0, streamed) for program in programs for streamed in (0, 1))
    q[state, 1] = value
    assert not any(call(program, q, target, 0, streamed) for program in programs for streamed in (0, 1))


@pytest.mark.parametrize('lanes', [8, 16])
def test_constants_are_exact(lanes):
    constants = [0.0, -0.0, 0.1, -1 / 3, 5e-324, -2.5e-310, np.finfo(float).max, np.inf, -np.inf, np.nan]
    programs, _code = programs_of(reversed_rows(1, constants), 1, lanes)
    q = np.full((lanes, 1), 0.5)
    expected = np.array([[0.5, *constants]] * lanes)
    for program in programs:
        target = np.empty(expected.size)
        assert call(program, q, target, 0, 0)
        assert target.tobytes() == expected.tobytes()
