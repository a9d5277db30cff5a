"""Sums of products are fused by one rule, and rounded once wherever kernels are compiled."""

import ast
import gc
import inspect
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

from support.rounding import bound

import numpy as np
import pytest

from robot_dynamics_ros.jit import fused_multiply_add
from robot_dynamics_ros.jit.decorators import kernel
from robot_dynamics_ros.jit.fused_multiply_add import _Fusion, fma, with_fused_multiply_adds
from robot_dynamics_ros.kernels import aba, rnea


@kernel
def product_and_sum(x, y, z):
    return x * y + z


@kernel
def products_and_sums(x, y, z, result):
    for k in range(result.shape[0]):
        result[k] = product_and_sum(x[k], y[k], z[k])


def dot_of_rows(a, b, i):
    """Return a[i - 1] . b[i], and something else."""
    total = a[2 * i - 2] * b[2 * i]
    total += a[2 * i - 1] * b[2 * i + 1]
    return total, total - 2.0 * 3.0


@pytest.mark.parametrize(
    ('written', 'meant'),
    [
        ('x * y + z', 'fma(x, y, z)'),
        ('x * y - z', 'fma(x, y, -z)'),
        ('z + x * y', 'fma(x, y, z)'),
        ('z - x * y', 'fma(-x, y, z)'),
        ('x * y + z * w', 'fma(x, y, z * w)'),
        ('x * y - z * w', 'fma(x, y, -(z * w))'),
        ('x * y + z * w + u * v', 'fma(u, v, fma(x, y, z * w))'),
        ('a[i] * b[2 * i + 1] + c[3 * i - 1]', 'fma(a[i], b[2 * i + 1], c[3 * i - 1])'),
        ('0.5 * (x * y + z)', '0.5 * fma(x, y, z)'),
        ('f(x * y + z) + w', 'f(fma(x, y, z)) + w'),
        ('x / y + z', 'x / y + z'),
        ('x + y - z', 'x + y - z'),
        ('-(x * y) + z', '-(x * y) + z'),
        ('a[i] += x * y', 'a[i] = fma(x, y, a[i])'),
        ('a[i] -= x * y', 'a[i] = fma(-x, y, a[i])'),
        ('a += x', 'a = a + x'),
    ],
)
def test_fused_multiply_add_replaces_a_sum_with_a_product(written, meant):
    assert ast.unparse(_Fusion().visit(ast.parse(written))) == meant


def test_a_function_stays_what_it_was():
    made = with_fused_multiply_adds(dot_of_rows)
    assert made(np.arange(4.0), np.arange(6.0), 2) == dot_of_rows(np.arange(4.0), np.arange(6.0), 2)
    assert made.__doc__ == dot_of_rows.__doc__ and made.__code__.co_freevars == ('fma',)
    assert made.__globals__ is globals() and made.__code__.co_filename == __file__
    lines = [line for _, _, line in made.__code__.co_lines() if line]
    first = inspect.getsourcelines(dot_of_rows)[1]
    assert {first + 2, first + 3, first + 4} <= set(lines)


def test_threads_may_rewrite_at_the_same_time(monkeypatch):
    """Wherever Python collects garbage, another thread may run: before 3.12, also within the parser."""
    monkeypatch.setattr(fused_multiply_add, '_definitions', fused_multiply_add._definitions.__wrapped__)
    threshold, switch = gc.get_threshold(), lambda *_: time.sleep(0.0)
    gc.callbacks.append(switch)
    gc.set_threshold(50)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(with_fused_multiply_adds, [rnea.rnea.source, aba.aba.source] * 4))
    finally:
        gc.callbacks.remove(switch)
        gc.set_threshold(*threshold)
    assert [it.__name__ for it in found] == ['rnea', 'aba'] * 4


def test_compiled_kernels_round_once():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 2000))
    z = -x * y * random.choice([0.5, 1.0, 1.0 + 1e-15], 2000)  # what the product rounds off decides
    result = np.empty(2000)
    products_and_sums(x, y, z, result)
    exact = [float(Fraction(a) * Fraction(b) + Fraction(c)) for a, b, c in zip(x, y, z, strict=True)]
    assert (result == exact).all()
    assert (result != x * y + z).any()


@pytest.mark.rounding
def test_compiled_kernels_of_complex_numbers():
    x, y, z = np.random.default_rng(1).normal(size=(3, 20, 2)).view(complex)[:, :, 0]
    result = np.empty(20, complex)
    products_and_sums(x, y, z, result)
    assert np.abs(result - (x * y + z)).max() < bound(10, 2)


def test_fused_multiply_add_as_plain_python():
    assert fma(2.0, 3.0, 4.0) == 10.0
    assert product_and_sum.py_func(2.0, 3.0, 4.0) == 10.0
