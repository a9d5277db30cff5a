"""Kernels as functions in C with loops: the bits of compiled kernels, for any numbers; and what cannot be written."""

import ctypes
import math
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path

from support.matrices import crossed

import numpy as np
import pytest

from robot_dynamics_ros.codegen.c.library import LAWS, shapes
from robot_dynamics_ros.codegen.c.loops import LoopCode
from robot_dynamics_ros.control.laws.impedance.pose_error import pose_error
from robot_dynamics_ros.control.laws.impedance.symmetric_eigenvalues import diagonalise
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.choices import is_finite, select
from robot_dynamics_ros.kernels.joint_feedback import joint_feedback
from robot_dynamics_ros.kernels.operational_space import invert

needs_gcc = pytest.mark.skipif(not shutil.which('gcc'), reason='the compiler gcc is missing')
JOINTS = 3
PLAIN = {int: JOINTS, bool: True}
"""Arguments that are no numbers or arrays of numbers."""
NUMBERS = [0.0, -0.0, 0.3, -2.5, 1.7976931348623157e308, math.inf, -math.inf, math.nan]
ANY = [
    *(0.0, -0.0, 1.0, -1.0, 1.5, math.pi, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308),
    *(-1.7976931348623157e308, math.inf, -math.inf, math.nan, math.copysign(math.nan, -1.0)),
]
PAIRS = np.array(list(product(ANY, repeat=2)))
HAS_FMA = ' fma ' in Path('/proc/cpuinfo').read_text() if Path('/proc/cpuinfo').exists() else False
OF_MATRICES = [
    (diagonalise, {'S': (6, 6), 'V': (6, 6)}),
    (invert, {'A': (6, 6), 'A_inv': (6, 6)}),
    (pose_error, {'T': (4, 4), 'T_d': (4, 4), 'local': bool, 'R_e': (6, 6), 'e': (6,)}),
]


def compiled(folder, law, kinds, *options):
    """Return the function in C of a kernel for arguments of these kinds."""
    code = LoopCode()
    name = code.function(law, kinds.values()).name
    text = re.sub(rf'static (\w+ {name}\()', r'\1', code.text)
    source, library = folder / f'{name}.c', folder / f'{name}.so'
    source.write_text('#include <math.h>\n#include <stdbool.h>\n' + text)
    strict = ('-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Werror', '-ffp-contract=off')
    subprocess.run(['gcc', *strict, *options, '-shared', '-fPIC', source, '-o', library, '-lm'], check=True)
    return getattr(ctypes.CDLL(str(library)), name)


def called(function, arguments, kind=ctypes.c_double):
    """Return what a function in C returns, of a kind, for arrays, numbers and conditions."""
    function.restype = kind
    words = {float: ctypes.c_double, int: ctypes.c_int, bool: ctypes.c_bool}
    return function(*(words.get(type(it), lambda array: array.ctypes.data_as(ctypes.c_void_p))(it) for it in arguments))


def bits(values) -> list:
    """Return numbers as integers; all NaN are one, since processors choose their signs."""
    return [None if math.isnan(it) else np.float64(it).view(np.uint64).item() for it in values]


def assert_same_bits(law, kinds, function, arguments) -> None:
    ours, theirs = ([it.copy() if isinstance(it, np.ndarray) else it for it in arguments] for _ in range(2))
    with np.errstate(all='ignore'):  # where a law is a function of Python
        returned = law(*theirs)
    found = called(function, ours, ctypes.c_bool if isinstance(returned, bool | np.bool_) else ctypes.c_double)
    assert returned is None or bits([found]) == bits([returned])
    for name, one, other in zip(kinds, ours, theirs, strict=True):
        assert bits(np.ravel(one)) == bits(np.ravel(other)), (name, arguments)


@needs_gcc
@pytest.mark.compiled
@pytest.mark.parametrize(('law', 'level'), crossed(LAWS, ['-O3', '-O1']), ids=lambda it: getattr(it, '__name__', it))
def test_the_bits_are_those_of_the_kernel(law, level, tmp_path):
    kinds, random = shapes(law, JOINTS), np.random.default_rng(5)
    function = compiled(tmp_path, law, kinds, level)
    for k in range(500):
        numbers = random.choice(NUMBERS, 200) if k % 2 else random.normal(size=200).round(k % 5)
        given = iter(numbers.tolist())
        arguments = [
            PLAIN[kind]
            if kind in PLAIN
            else np.array([next(given) for _ in range(math.prod(kind))]).reshape(kind)
            if kind
            else next(given)
            for kind in kinds.values()
        ]
        assert_same_bits(law, kinds, function, arguments)


@needs_gcc
@pytest.mark.compiled
@pytest.mark.parametrize(('law', 'kinds'), OF_MATRICES, ids=lambda it: getattr(it, '__name__', ''))
def test_the_bits_of_loops_whose_length_depends_on_numbers(law, kinds, tmp_path):
    random = np.random.default_rng(7)
    function = compiled(tmp_path, law, kinds, '-O3')
    for k in range(100):
        G = random.normal(size=(6, random.integers(1, 8))).round(k % 3)
        symmetric = iter([G @ G.T + (k % 2) * np.eye(6)])
        arguments = [
            bool(k % 2) if kind is bool else next(symmetric, None) if kind == (6, 6) else random.normal(size=kind)
            for kind in kinds.values()
        ]
        assert_same_bits(law, kinds, function, [np.zeros((6, 6)) if it is None else it for it in arguments])


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


@needs_gcc
@pytest.mark.compiled
@pytest.mark.parametrize('options', [['-O0'], ['-O2'], ['-O3'], ['-O3', '-mfma']], ids=' '.join)
def test_choices_between_any_two_numbers(options, tmp_path):
    if '-mfma' in options and not HAS_FMA:
        pytest.skip('this processor has no instruction for fma')
    kinds = {'x': (2,), 'result': (19,)}
    function = compiled(tmp_path, every_choice, kinds, *options)
    for pair in PAIRS:
        assert_same_bits(every_choice, kinds, function, [pair, np.zeros(19)])
        plain = np.zeros(19)
        every_choice.py_func(pair.tolist(), plain)
        ours = np.zeros(19)
        called(function, [pair, ours])
        assert bits(ours[:18]) == bits(plain[:18])  # the last one is rounded twice there


@kernel
def mixed(a, b, shift):
    """Write a (2) and b (2), which take each other's places; return the number of steps."""
    count, wide = 0.0, a.shape[0] > 1
    for k in range(2):
        a[k], b[k] = b[k], a[k]
        if wide and not b[k] < shift:
            continue
        count += 1.0 if k == 0 else 2.0
    return count


@needs_gcc
def test_values_of_one_assignment_are_computed_before_any_is_written(tmp_path):
    kinds = {'a': (2,), 'b': (2,), 'shift': ()}
    function = compiled(tmp_path, mixed, kinds)
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    assert called(function, (a, b, 1.5)) == mixed.py_func(np.array([1.0, 2.0]), np.array([3.0, 4.0]), 1.5) == 1.0
    assert a.tolist() == [3.0, 4.0] and b.tolist() == [1.0, 2.0]


@needs_gcc
def test_arrays_may_be_the_same_where_the_kernel_allows_it(tmp_path):
    kinds = shapes(joint_feedback, 1)
    function = compiled(tmp_path, joint_feedback, kinds)
    tau = np.array([2.0])
    called(function, [*(np.array([it]) for it in (10.0, 1.0, 0.0, 0.1, 0.0, 0.3, 0.5)), tau, tau])
    assert tau == pytest.approx([2.0 + 10.0 * 0.2 + 0.5])


def test_a_kernel_is_written_once_for_each_shape():
    code = LoopCode()
    names = [code.function(invert, [(rows, rows)] * 2).name for rows in (6, 6, 3)]
    assert names == ['invert', 'invert', 'invert_2']
    assert code.text.count('invert(\n') == code.text.count('invert_2(\n') == 1


def number_as_condition(a):
    if a[0]:
        a[0] = 1.0


def unknown_call(a):
    a[0] = np.sin(a[0])


def step(a):
    for k in range(3, 0, -1):
        a[k - 1] = 0.0


def half_an_index(a):
    a[0.5 * 2] = 0.0


def argument_assigned(a, x):
    x = 2.0 * x
    a[0] = x


def before_its_value(a):
    a[0] = nothing_yet  # noqa: F821


def after_its_loop(a):
    for k in range(2):
        a[k] = 0.0
    a[k] = 1.0


@pytest.mark.parametrize(
    ('function', 'said'),
    [
        (number_as_condition, 'a number in place of a condition'),
        (unknown_call, "call of 'sin'"),
        (step, 'For'),
        (half_an_index, 'other than an index of integers for each axis'),
        (argument_assigned, "'x' of two kinds, or an argument that is assigned"),
        (before_its_value, "'nothing_yet', which has no value yet,"),
        (after_its_loop, "'k', which has no value yet,"),
    ],
)
def test_what_cannot_be_written_is_named_with_its_line(function, said):
    kinds = [(3,), ()][: function.__code__.co_argcount]
    with pytest.raises(TypeError, match=rf'test_c_loops.py:\d+: {re.escape(said)} in a kernel for C'):
        LoopCode().function(function, kinds)
