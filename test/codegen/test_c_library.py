"""Laws and guards as functions in C: the bits of their compiled kernels, for any numbers."""

import ctypes
import math
import shutil
import subprocess

import numpy as np
import pytest

from robot_dynamics_ros.codegen.c_library import LAWS, law_definition, shapes
from robot_dynamics_ros.jit.decorators import kernel

pytestmark = pytest.mark.skipif(not shutil.which('gcc'), reason='the compiler gcc is missing')
JOINTS = 3
NUMBERS = [0.0, -0.0, 0.3, -2.5, 1.7976931348623157e308, math.inf, -math.inf, math.nan]


def compiled(folder, name: str, definition: str, *options) -> ctypes.CDLL:
    """Return the library of a definition, with a function that is not static."""
    source, library = folder / f'{name}.c', folder / f'{name}.so'
    source.write_text('#include <math.h>\n#include <stdbool.h>\n' + definition.replace('static ', '', 1))
    strict = ('-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Werror', '-ffp-contract=off')
    subprocess.run(['gcc', *strict, *options, '-shared', '-fPIC', source, '-o', library, '-lm'], check=True)
    return getattr(ctypes.CDLL(str(library)), name)


def called(function, arguments):
    """Return what a function in C returns for arrays and numbers."""
    function.restype = ctypes.c_double
    given = [it.ctypes.data_as(ctypes.c_void_p) if isinstance(it, np.ndarray) else it for it in arguments]
    return function(*(ctypes.c_double(it) if isinstance(it, float) else it for it in given))


def bits(values) -> list:
    """Return numbers as integers; all NaN are one, since processors choose their signs."""
    return [None if math.isnan(it) else np.float64(it).view(np.uint64).item() for it in values]


@pytest.mark.compiled
@pytest.mark.parametrize('level', ['-O1', '-O3'])
@pytest.mark.parametrize('law', LAWS, ids=lambda law: law.__name__)
def test_the_bits_are_those_of_the_kernel(law, level, tmp_path):
    of_arguments, random = shapes(law, JOINTS), np.random.default_rng(5)
    function = compiled(tmp_path, law.__name__, law_definition(law, of_arguments), level)
    for k in range(2000):
        numbers = random.choice(NUMBERS, 200) if k % 2 else random.normal(size=200).round(k % 5)
        given = iter(numbers.tolist())
        ours = [
            np.array([next(given) for _ in range(math.prod(shape))]).reshape(shape) if shape else next(given)
            for shape in of_arguments.values()
        ]
        theirs = [it.copy() if isinstance(it, np.ndarray) else it for it in ours]
        returned = law(*theirs)
        found = called(function, ours)
        assert returned is None or bits([found]) == bits([returned])
        for name, one, other in zip(of_arguments, ours, theirs, strict=True):
            assert bits(np.ravel(one)) == bits(np.ravel(other)), (name, numbers)


@kernel
def swapped(a, b, unused, factor):
    """Write a (2) = factor b and b (2) = a."""
    for k in range(2):
        before = a[k]
        a[k] = factor * b[k]
        b[k] = before


def test_arrays_are_written_after_everything_is_read(tmp_path):
    definition = law_definition(swapped, {'a': (2,), 'b': (2,), 'unused': (2,), 'factor': ()})
    assert 'double a[2], double b[2], const double unused[2], double factor)' in definition
    function = compiled(tmp_path, 'swapped', definition)
    a, b = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    called(function, (a, b, a, 2.0))
    assert a.tolist() == [6.0, 8.0] and b.tolist() == [1.0, 2.0]
    both = np.array([1.0, 2.0, 3.0])
    called(function, (both[:2], both[1:], both, 1.0))  # overlapping: b is written last
    assert both.tolist() == [2.0, 1.0, 2.0]
