"""Long matrices of seeds and robots: a few values always run, the others with ``--exhaustive`` (conftest.py)."""

import pytest

EXHAUSTIVE = pytest.mark.exhaustive


def matrix(values, few) -> list:
    """Return ``values`` for ``parametrize``; those that are not among ``few`` run with ``--exhaustive`` only."""
    values, few = list(values), list(few)
    assert all(value in values for value in few), 'few: expected some of the values'
    return [value if value in few else _exhaustive(value) for value in values]


def _exhaustive(value):
    """Return a parameter, or a tuple of several, with the mark of ``--exhaustive``."""
    return pytest.param(*value if isinstance(value, tuple) else (value,), marks=EXHAUSTIVE)
