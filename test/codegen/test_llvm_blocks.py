"""Blocks of states: every number of a row reaches its place, and nothing beside the rows is read or written."""

import ctypes

import numpy as np
import pytest

from robot_dynamics_ros.codegen.llvm import of_blocks, of_one_state
from robot_dynamics_ros.codegen.object_files import MachineCode, compiled
from robot_dynamics_ros.codegen.straight_line import StraightLine, _check
from robot_dynamics_ros.codegen.trace import Tape
from robot_dynamics_ros.jit.decorators import numba_is_disabled
from robot_dynamics_ros.native import call as native

pytestmark = pytest.mark.skipif(numba_is_disabled(), reason='Numba is disabled: machine code is not used')

UNTOUCHED = -1.0
IN_C = ctypes.CFUNCTYPE(ctypes.c_bool, *[ctypes.c_int64] * 5)


def reversed_rows(width: int) -> StraightLine:
    """Return code that writes the numbers of q in reverse, and a constant."""
    tape, inputs = Tape(), {'q': width}
    results = [*tape.inputs('q', width)[::-1], 7.0]
    return StraightLine('turned', inputs, results, _check(tape, results, inputs, ()))


def rows_of(code: MachineCode, width: int) -> np.ndarray:
    """Return the words with which the code computes one state after the other."""
    return np.array([code.address('turned_state'), 1, width, width + 1])


def call(function, q: np.ndarray, target: np.ndarray, first: int, last: int) -> bool:
    vectors = np.array([q.ctypes.data])
    runtime_inputs = np.zeros(19)
    start = target.ctypes.data + target.itemsize * first
    return IN_C(function)(vectors.ctypes.data, runtime_inputs.ctypes.data, start, len(q), last)


@pytest.mark.parametrize('width', [1, 2, 7, 8, 9, 15, 16, 17])
@pytest.mark.parametrize('lanes', [8, 16])
def test_numbers_of_all_rows_arrive_wherever_lines_begin(width, lanes):
    program = reversed_rows(width)
    blocks, rows = MachineCode(compiled(of_blocks(program, lanes))), MachineCode(compiled(of_one_state(program)))
    count = 3 * lanes
    q = np.random.default_rng(width).normal(size=(count, width))
    expected = np.column_stack([q[:, ::-1], np.full(count, 7.0)]).ravel()
    for first in range(8):
        words, in_blocks = rows_of(rows, width), blocks.address('turned_blocks')
        for address, last in ((in_blocks, 0), (in_blocks, 1), (native.RUN_STATE, words.ctypes.data)):
            target = np.full(expected.size + 24, UNTOUCHED)
            assert call(address, q, target, first, last)
            np.testing.assert_array_equal(target[first : first + expected.size], expected)
            assert (target[:first] == UNTOUCHED).all() and (target[first + expected.size :] == UNTOUCHED).all()


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('state', [0, 5, 47])
def test_one_number_that_is_not_finite_is_told(value, state):
    program = reversed_rows(3)
    blocks, rows = MachineCode(compiled(of_blocks(program, 16))), MachineCode(compiled(of_one_state(program)))
    q = np.zeros((48, 3))
    target, words = np.empty(48 * 4), rows_of(rows, 3)
    ways = (blocks.address('turned_blocks'), 0), (native.RUN_STATE, words.ctypes.data)
    assert all(call(address, q, target, 0, last) for address, last in ways)
    q[state, 1] = value
    assert not any(call(address, q, target, 0, last) for address, last in ways)
