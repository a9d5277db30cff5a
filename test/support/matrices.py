"""Long matrices of seeds and robots: a few values always run, the others with ``--exhaustive`` (conftest.py)."""

import pytest

EXHAUSTIVE = pytest.mark.exhaustive

exhaustive = False
"""Whether there are tests of all values; ``--exhaustive`` says so before the tests are collected."""


def matrix(values, few) -> list:
    """Return ``values`` for ``parametrize``, without ``--exhaustive`` only those that are among ``few``."""
    values, few = list(values), list(few)
    assert all(value in values for value in few), 'few: expected some of the values'
    return values if exhaustive else [value for value in values if value in few]
