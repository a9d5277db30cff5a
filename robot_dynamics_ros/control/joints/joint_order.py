"""Joint order: permutes values of joints from a message's order of names to the model's."""

from collections import Counter

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.errors import ArgumentError, UnknownNameError, alternatives
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Integers, Vector

MOST_LISTED = 20
"""Number of joint names in an error text."""


@compiled(given='values places out')
def gather(values: Vector, places: Integers, out: Vector) -> bool:
    """Write out (n) = values[places]; return whether all are finite. ``places`` (n) are valid indices of ``values``."""
    difference = 0.0  # x - x is NaN unless x is finite
    for k in range(out.shape[0]):
        out[k] = values[places[k]]
        difference += out[k] - out[k]
    return difference == 0.0


def bound_gather(places: np.ndarray):
    """Return ``gather(values, places, out)`` for ``places`` (n) as machine code."""
    return bound(gather, then=(np.zeros(0), places, np.zeros(len(places))))


def duplicates(names) -> list[str]:
    """Return the names that occur more than once, in order of their first occurrence."""
    return [name for name, count in Counter(names).items() if count > 1]


def places_of(wanted, given) -> np.ndarray:
    """Return the index in ``given`` of each name of ``wanted``, (len(wanted),) intp; other names are ignored.

    Raises ArgumentError for a repeated name and UnknownNameError for a missing one.
    """
    given = list(given)
    twice = duplicates(given)
    if twice:
        raise ArgumentError(f'joint {twice[0]!r} is given twice')
    missing = [name for name in wanted if name not in given]
    if missing:
        raise UnknownNameError(f'joint {missing[0]!r} is missing; given: {_listed(given) or "none"}')
    return np.array([given.index(name) for name in wanted], np.intp)


def permutation(wanted, given, ignored=()) -> np.ndarray:
    """Return ``places_of``; UnknownNameError if ``given`` has a joint that is neither ``wanted`` nor ``ignored``."""
    unknown = [name for name in given if name not in wanted and name not in ignored]
    if unknown:
        raise UnknownNameError(f'unknown joint {unknown[0]!r}; {alternatives(unknown[0], wanted)}')
    return places_of(wanted, given)


def _listed(names: list[str]) -> str:
    """Return the first ``MOST_LISTED`` names, separated by commas, and the number of the others."""
    more = len(names) - MOST_LISTED
    return ', '.join(names[:MOST_LISTED]) + (f' and {more} more' if more > 0 else '')
