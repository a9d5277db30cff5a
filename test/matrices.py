"""Long matrices of seeds and robots: a few of each are always tried, the others with ``--exhaustive`` (conftest.py)."""

import pytest

EXHAUSTIVE = pytest.mark.exhaustive


def matrix(values, few) -> list:
    """Return ``values`` for ``parametrize``; those that are not among ``few`` are tried with ``--exhaustive`` only."""
    values, few = list(values), list(few)
    assert all(value in values for value in few), 'few: expected some of the values'
    return [value if value in few else _rarely(value) for value in values]


def _rarely(value):
    """Return a value of the parameters, one or a tuple of several, that is tried with ``--exhaustive`` only."""
    return pytest.param(*value if isinstance(value, tuple) else (value,), marks=EXHAUSTIVE)
