"""The project's own sine and cosine against 200-bit references."""

import platform
import re

from support.rounding import bound

import mpmath
import numba
import numpy as np
import pytest

from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.kernels.sincos import sincos

LARGEST_ERROR = 1.0  # ulp
# The product of packed float64 in assembly, of NEON and of SVE on ARM64.
PACKED_PRODUCT = {'x86_64': r'mulpd', 'aarch64': r'fmul\s+(v\d+\.2d|z\d+\.d)'}


@kernel
def many(x, s, c):
    for i in range(x.shape[0]):
        s[i], c[i] = sincos(x[i])


def sine_and_cosine(x):
    s, c = np.empty_like(x), np.empty_like(x)
    many(x, s, c)
    return s, c


def angles():
    random = np.random.default_rng(0)
    quarters = random.integers(-63661, 63661, 1500)
    with mpmath.workprec(200):
        # the doubles nearest to multiples of pi/2, where a careless reduction loses every digit
        near = np.array([float(int(k) * mpmath.pi / 2) for k in quarters])
    tiny = 10.0 ** random.uniform(-300, 0, 300)
    spread = [random.uniform(-4, 4, 3000), random.uniform(-1e5, 1e5, 3000)]
    return np.concatenate(
        [*spread, near, np.nextafter(near, np.inf), tiny, -tiny, [0.0, 1e5, -1e5, np.pi / 4, -np.pi / 4]]
    )


def test_at_most_one_ulp_from_a_200_bit_reference():
    x = angles()
    worst = 0.0
    with mpmath.workprec(200):
        for values, reference in zip(sine_and_cosine(x), (mpmath.sin, mpmath.cos), strict=True):
            for angle, value in zip(x.tolist(), values.tolist(), strict=True):
                exact = reference(mpmath.mpf(angle))
                ulp = float(np.spacing(abs(float(exact)))) or 5e-324
                worst = max(worst, float(abs(mpmath.mpf(value) - exact)) / ulp)
    assert worst <= LARGEST_ERROR
    assert worst > 0.5  # rounding alone reaches that: the comparison really took place


@pytest.mark.parametrize('x', [np.nan, np.inf, -np.inf])
def test_infinity_and_nan_yield_nan(x):
    assert np.isnan(sincos(x)).all()


def test_a_vector_has_the_bits_of_the_single_call():
    x = angles()
    s, c = sine_and_cosine(x)
    assert all(sincos(x[i]) == (s[i], c[i]) for i in range(0, len(x), 7))


@pytest.mark.rounding
def test_a_complex_step_yields_the_derivative():
    step = 1e-30
    for x in np.linspace(-9.0, 9.0, 101):
        s, c = sincos(complex(x, step))
        # the derivatives of polynomials of seven terms
        assert abs(s.imag / step - np.cos(x)) < bound(10, 7)
        assert abs(c.imag / step + np.sin(x)) < bound(10, 7)


def test_the_loop_is_vector_code():
    x = np.linspace(-3.0, 3.0, 64)
    fresh = numba.njit(error_model='numpy')(many.py_func)  # one from the cache has no assembly to show
    fresh(x, *sine_and_cosine(x))
    assembly = next(iter(fresh.inspect_asm().values()))
    assert re.search(PACKED_PRODUCT[platform.machine()], assembly)  # several angles an instruction
