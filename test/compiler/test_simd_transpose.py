"""SIMD transpose between rows and blocks: each number is written to its place, and nothing else is written."""

import numpy as np
import pytest

from robot_dynamics_ros.compiler.compiled_robot import is_possible
from robot_dynamics_ros.compiler.simd_transpose import (
    TILE,
    fence,
    lined_up,
    transpose,
    turn_past_caches,
    write_past_caches,
)
from robot_dynamics_ros.jit.decorators import inlined

pytestmark = pytest.mark.skipif(not is_possible(), reason='Numba is disabled: tiles are turned by compiled code alone')

UNTOUCHED = -1.0


@pytest.mark.parametrize('width', range(1, TILE + 1))
@pytest.mark.parametrize('into_block', [True, False])
def test_tile_is_turned_and_nothing_beside_it_written(width, into_block):
    rows, columns = (TILE, width) if into_block else (width, TILE)
    first, pitch, place, stride = 3, columns + 2, 5, rows + 4
    source = np.arange(float(first + pitch * (rows - 1) + columns))  # not a number longer than what is read
    target = np.full(place + stride * (columns - 1) + rows + 9, UNTOUCHED)
    turn = transpose(rows, columns)

    @inlined
    def run(source, target):
        turn(source, first, pitch, target, place, stride)

    run(source, target)
    expected = np.full_like(target, UNTOUCHED)
    for i in range(rows):
        for j in range(columns):
            expected[place + stride * j + i] = source[first + pitch * i + j]
    np.testing.assert_array_equal(target, expected)


@inlined
def written(source, first, target, place, count):
    write_past_caches(source, first, target, place, count)
    fence()


@pytest.mark.parametrize('begin', range(TILE))
@pytest.mark.parametrize('count', [TILE, 2 * TILE - 1, 5 * TILE + 3])
def test_numbers_past_the_caches_arrive_wherever_lines_begin(begin, count):
    source, target = np.arange(100.0), lined_up(count + 2 * TILE)
    target[:] = UNTOUCHED
    written(source, 7, target, begin, count)
    np.testing.assert_array_equal(target[begin : begin + count], source[7 : 7 + count])
    assert np.all(target[:begin] == UNTOUCHED)
    assert np.all(target[begin + count :] == UNTOUCHED)


@inlined
def turned(source, first, lanes, target, place, count):
    turn_past_caches(source, first, lanes, target, place, count)
    fence()


@pytest.mark.parametrize('begin', range(TILE))
@pytest.mark.parametrize('count', [TILE, 3 * TILE])
def test_results_that_fill_lines_arrive_wherever_lines_begin(begin, count):
    lanes = 2 * TILE
    source = np.arange(float(5 + lanes * count))
    target = lined_up(lanes * count + 2 * TILE)
    target[:] = UNTOUCHED
    turned(source, 5, lanes, target, begin, count)
    rows = target[begin : begin + lanes * count].reshape(lanes, count)
    np.testing.assert_array_equal(rows, source[5:].reshape(count, lanes).T)
    assert np.all(target[:begin] == UNTOUCHED)
    assert np.all(target[begin + lanes * count :] == UNTOUCHED)


@pytest.mark.parametrize('size', [1, 7, 8, 1000])
def test_array_begins_where_a_line_does(size):
    arrays = [lined_up(size) for _ in range(20)]
    assert {len(array) for array in arrays} == {size}
    assert {array.ctypes.data % 64 for array in arrays} == {0}
