"""Choices of numbers: plain Python, Numba, LLVM and C give the same bits for NaN, infinite numbers and signed zeros."""

import ctypes
import math
import shutil
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros.codegen import c
from robot_dynamics_ros.codegen.llvm import of_blocks, of_one_state
from robot_dynamics_ros.codegen.llvm_machine import host_object
from robot_dynamics_ros.codegen.loaded_code import LoadedCode
from robot_dynamics_ros.codegen.straight_line import StraightLine, unpropagated
from robot_dynamics_ros.codegen.trace import Tape
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.choices import is_finite, select

NUMBERS = [
    *(0.0, -0.0, 1.0, -1.0, 1.5, math.pi, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308),
    *(-1.7976931348623157e308, math.inf, -math.inf, math.nan, math.copysign(math.nan, -1.0)),
]
PAIRS = np.array(list(product(NUMBERS, repeat=2)) + [(1.0, 1.0)] * 15)  # blocks of 16 states
RESULTS = 19
HAS_FMA = ' fma ' in Path('/proc/cpuinfo').read_text() if Path('/proc/cpuinfo').exists() else False


@kernel
def every_choice(x, result):
    """Write result (19), choices between the two numbers of x."""
    a = x[0]
    b = x[1]
    result[0] = min(a, b)
    result[1] = max(a, b)
    result[2] = abs(a)
    result[3] = select(a < b, a, b)
    result[4] = select(a <= b, a, b)
    result[5] = select(a > b, a, b)
    result[6] = select(a >= b, a, b)
    result[7] = select((a < 0.0) & (b < 0.0), a, b)
    result[8] = select((a < 0.0) | (b < 0.0), a, b)
    result[9] = select(is_finite(a), a, b)
    result[10] = min(a, 0.0)
    result[11] = max(0.0, a)
    result[12] = max(a, -0.0)
    # numbers of a choice that differ in the sign of a zero alone, and its opposite
    result[13] = select(a < b, 0.0, -0.0)
    result[14] = select(a < b, -0.0, 0.0)
    result[15] = -max(-a, -b)
    # what a limiter does
    result[16] = min(max(a, -abs(b)), abs(b))
    is_large = abs(a) > 1.0
    result[17] = select(is_large, 1.0, 0.0) + select(is_large & (b >= 1.0), 2.0, 0.0)
    result[18] = a * b + select(is_large, a, b)


def traced() -> StraightLine:
    """Return the trace of the choices; nothing reads what its function returns."""
    tape = Tape()
    x, result = tape.inputs('x', 2), np.zeros(RESULTS, object)
    tape.run(every_choice, x, result)
    return StraightLine('choices', {'x': 2}, list(result), x[0])


def in_plain_python() -> np.ndarray:
    results = np.empty((len(PAIRS), RESULTS))
    for pair, result in zip(PAIRS.tolist(), results, strict=True):
        every_choice.py_func(pair, result)
    results[:, 18] = [math.nan] * len(PAIRS)  # rounded twice there
    return results


def same(results: np.ndarray) -> None:
    """The bits are those of plain Python; a sum, of which a NaN may have any sign, is compared with Numba's."""
    expected, sums, compiled = in_plain_python(), results[:, 18].copy(), np.empty((len(PAIRS), RESULTS))
    for pair, result in zip(PAIRS, compiled, strict=True):
        every_choice(pair, result)
    np.testing.assert_array_equal(sums, compiled[:, 18])
    wrong = results[:, :18].view(np.uint64) != expected[:, :18].view(np.uint64)
    assert not wrong.any(), [(PAIRS[k], column, results[k, column]) for k, column in np.argwhere(wrong)[:5]]


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


@pytest.mark.compiled
def test_numba():
    results = np.empty((len(PAIRS), RESULTS))
    for pair, result in zip(PAIRS, results, strict=True):
        every_choice(pair, result)
    same(results)


def test_llvm_for_one_state():
    code, results = LoadedCode(host_object(of_one_state(traced()))), np.empty((len(PAIRS), RESULTS))
    function = ctypes.CFUNCTYPE(ctypes.c_bool, *[ctypes.c_void_p] * 3)(code.address('choices'))
    for pair, result in zip(PAIRS, results, strict=True):
        function(pointer(pair), None, pointer(result))
    same(results)


@pytest.mark.parametrize('lanes', [8, 16])
def test_llvm_for_blocks_of_states(lanes):
    code, results = LoadedCode(host_object(of_blocks(traced(), lanes))), np.empty((len(PAIRS), RESULTS))
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *[ctypes.c_int64] * 2)(code.address('choices_blocks'))
    words = np.array([PAIRS.ctypes.data, 0, results.ctypes.data], np.int64)
    function(pointer(words), len(PAIRS), 0)
    same(results)


@pytest.mark.parametrize('options', [['-O0'], ['-O2'], ['-O3'], ['-O3', '-mfma']], ids=' '.join)
@pytest.mark.parametrize(
    'compiler',
    [
        pytest.param(it, marks=pytest.mark.skipif(not shutil.which(it), reason=f'the compiler {it} is missing'))
        for it in ('gcc', 'clang')
    ],
)
def test_c(compiler, options, tmp_path):
    if '-mfma' in options and not HAS_FMA:
        pytest.skip('this processor has no instruction for fma')
    source, path = tmp_path / 'choices.c', tmp_path / 'choices.so'
    head = '#include <math.h>\n#include <stdbool.h>\ntypedef struct robot_inputs { double none; } robot_inputs;\n'
    source.write_text(head + '\n'.join(c._definition('robot', traced())) + '\n')
    strict = ['-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Wno-missing-prototypes', '-Werror', '-ffp-contract=off']
    subprocess.run([compiler, *strict, *options, '-shared', '-fPIC', source, '-o', path, '-lm'], check=True)
    function, results = ctypes.CDLL(str(path)).choices, np.empty((len(PAIRS), RESULTS))
    for pair, result in zip(PAIRS, results, strict=True):
        function(pointer(pair), None, pointer(result))
    same(results)


def test_choices_of_numbers_are_folded():
    tape, result = Tape(), np.zeros(RESULTS, object)
    tape.run(every_choice, [-0.0, 2.0], result)
    assert result.tolist()[:9] == [0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0]
    assert math.copysign(1.0, result[0]) == -1.0


def test_conditions_of_numbers_are_folded():
    a, b = Tape().inputs('x', 2)
    less = a < b
    assert less is (b > a) and (a <= b) is (b >= a) and less is not (b < a)
    assert (less & True) is less and (True & less) is less and (less & False) is False
    assert (less | False) is less and (False | less) is less and (less | True) is True
    assert (less & (a < 1.0)) is ((a < 1.0) & less)


def test_the_sign_of_a_zero_tells_choices_apart():
    tape = Tape()
    (a,) = tape.inputs('x', 1)
    assert tape.select(a < 1.0, 0.0, -0.0) is not tape.select(a < 1.0, -0.0, 0.0)


@pytest.mark.parametrize(
    'wrong',
    [
        lambda tape, a: (a < 1.0) + a,
        lambda tape, a: tape.select(a, 1.0, 2.0),
        lambda tape, a: (a < 1.0) & a,
        lambda tape, a: -(a < 1.0),
        lambda tape, a: (a < 1.0) < 2.0,
        lambda tape, a: tape.select(a < 1.0, a < 2.0, a),
        lambda tape, a: 1.0 if a < 1.0 else 2.0,
        lambda tape, a: max(a, 1.0),
        lambda tape, a: 0.0 < a < 1.0,
    ],
)
def test_what_is_no_choice_is_refused(wrong):
    tape = Tape()
    with pytest.raises(TypeError, match=r'a condition in place of a number|control flow depends on a traced value'):
        wrong(tape, *tape.inputs('x', 1))


def test_a_choice_does_not_propagate_what_is_not_finite():
    """The check of finite numbers reads both sides and the condition themselves."""
    tape = Tape()
    a, b, d = tape.inputs('x', 3)
    assert unpropagated([tape.select(a < b, b, d)], {'x': 3}) == [('x', 0), ('x', 1), ('x', 2)]
    assert unpropagated([tape.select(a < b, b, d) + d], {'x': 3}) == [('x', 0), ('x', 1)]
