"""What takes long: a few values of a matrix always run, the others with ``--exhaustive`` (conftest.py)."""

import pytest

from robot_dynamics_ros.jit.decorators import numba_is_disabled

EXHAUSTIVE = pytest.mark.exhaustive

exhaustive = False
"""Whether there are tests of all values; ``--exhaustive`` says so before the tests are collected."""


def matrix(values, few) -> list:
    """Return ``values`` for ``parametrize``, without ``--exhaustive`` only those that are among ``few``."""
    values, few = list(values), list(few)
    assert all(value in values for value in few), 'few: expected some of the values'
    return values if exhaustive else [value for value in values if value in few]


def as_plain_python() -> pytest.MarkDecorator:
    """Return the mark of a test for which kernels would be compiled that nothing else calls.

    It always runs where kernels are plain Python, and compiled with ``--exhaustive``.
    """
    reason = 'compiles kernels for this test alone: run with NUMBA_DISABLE_JIT=1 or --exhaustive'
    return pytest.mark.skipif(not (numba_is_disabled() or exhaustive), reason=reason)
