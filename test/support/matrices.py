"""What takes long: a few values of a matrix always run, the others are marked as slow."""

import itertools

import pytest


def matrix(values, few) -> list:
    """Return ``values`` for ``parametrize``; those that are not among ``few`` are slow."""
    values, few = list(values), list(few)
    assert all(value in values for value in few), 'few: expected some of the values'
    return [value if value in few else _slow(value) for value in values]


def crossed(*columns) -> list:
    """Return all combinations of the columns' values; those beyond as many as contain each value are slow."""
    longest = max(map(len, columns))
    return matrix(itertools.product(*columns), zip(*(_repeated(column, longest) for column in columns), strict=True))


def _repeated(column, count: int):
    return itertools.islice(itertools.cycle(column), count)


def _slow(value):
    return pytest.param(*value if isinstance(value, tuple) else (value,), marks=pytest.mark.slow)
