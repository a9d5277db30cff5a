"""Blocks of states: every number of a row reaches its place, and nothing beside the rows is read or written."""

import ctypes

import numpy as np
import pytest

from robot_dynamics_ros.compiler.compiled_robot import is_possible
from robot_dynamics_ros.compiler.llvm_ir import Program, of_blocks, of_one_state
from robot_dynamics_ros.compiler.trace import Tape
from robot_dynamics_ros.jit.machine_code import MachineCode, compiled

pytestmark = pytest.mark.skipif(not is_possible(), reason='Numba is disabled: machine code is not used')

UNTOUCHED = -1.0
IN_C = ctypes.CFUNCTYPE(ctypes.c_bool, *[ctypes.c_int64] * 5)


def reversed_rows(width: int) -> Program:
    """Return a program that writes the numbers of q in reverse, and a constant."""
    tape = Tape()
    return Program('turned', {'q': width}, [*tape.inputs('q', width)[::-1], 7.0], [])


def call(function, q: np.ndarray, target: np.ndarray, first: int, last: int) -> bool:
    vectors = np.array([q.ctypes.data])
    load = np.zeros(19)
    start = target.ctypes.data + target.itemsize * first
    return IN_C(function)(vectors.ctypes.data, load.ctypes.data, start, len(q), last)


@pytest.mark.parametrize('width', [1, 2, 7, 8, 9, 15, 16, 17])
@pytest.mark.parametrize('lanes', [8, 16])
def test_numbers_of_all_rows_arrive_wherever_lines_begin(width, lanes):
    program = reversed_rows(width)
    blocks, rows = MachineCode(compiled(of_blocks(program, lanes))), MachineCode(compiled(of_one_state(program)))
    count = 3 * lanes
    q = np.random.default_rng(width).normal(size=(count, width))
    expected = np.column_stack([q[:, ::-1], np.full(count, 7.0)]).ravel()
    for first in range(8):
        for name, code, last in (('blocks', blocks, 0), ('blocks', blocks, 1), ('rows', rows, 0)):
            target = np.full(expected.size + 24, UNTOUCHED)
            assert call(code.address(f'turned_{name}'), q, target, first, last)
            np.testing.assert_array_equal(target[first : first + expected.size], expected)
            assert (target[:first] == UNTOUCHED).all() and (target[first + expected.size :] == UNTOUCHED).all()


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('state', [0, 5, 47])
def test_one_number_that_is_not_finite_is_told(value, state):
    program = reversed_rows(3)
    blocks, rows = MachineCode(compiled(of_blocks(program, 16))), MachineCode(compiled(of_one_state(program)))
    q = np.zeros((48, 3))
    target = np.empty(48 * 4)
    assert call(blocks.address('turned_blocks'), q, target, 0, 0) and call(rows.address('turned_rows'), q, target, 0, 0)
    q[state, 1] = value
    assert not call(blocks.address('turned_blocks'), q, target, 0, 0)
    assert not call(rows.address('turned_rows'), q, target, 0, 0)
