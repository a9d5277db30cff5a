"""Joint names decide where a number goes, never its place in a message."""

from collections import Counter

import numpy as np

from robot_dynamics_ros.errors import ArgumentError, UnknownNameError
from robot_dynamics_ros.jit.decorators import bound, entry

MOST_LISTED = 20
"""Names in an error."""


@entry
def gather(values, places, out):
    """Write out (n) = values[places]; return whether all are finite. ``places`` (n) lie within ``values``."""
    rest = 0.0
    for k in range(out.shape[0]):
        out[k] = values[places[k]]
        rest += out[k] - out[k]
    return rest == 0.0


def bound_gather(places: np.ndarray):
    """Return ``gather(values, places, out)`` with no look at the types of its arguments, for a message at a time."""
    vector = np.zeros(len(places))
    return bound(gather, then=(vector, places, vector))


def duplicates(names) -> list[str]:
    """Return the names that occur more than once, in order of their first occurrence."""
    return [name for name, count in Counter(names).items() if count > 1]


def places_of(wanted, given) -> np.ndarray:
    """Return where each name of ``wanted`` stands in ``given``, (len(wanted),) intp; extra names are ignored.

    Raises ArgumentError for a name that is given twice and UnknownNameError for one that is missing.
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
    """Return ``places_of`` where ``given`` may hold no other joints than ``wanted`` and ``ignored`` ones.

    UnknownNameError names one that it should not hold.
    """
    unknown = [name for name in given if name not in wanted and name not in ignored]
    if unknown:
        raise UnknownNameError(f'unknown joint {unknown[0]!r}; the robot has {", ".join(wanted)}')
    return places_of(wanted, given)


def _listed(names: list[str]) -> str:
    """Return the names with commas between, of many the first ones and how many more there are."""
    more = len(names) - MOST_LISTED
    return ', '.join(names[:MOST_LISTED]) + (f' and {more} more' if more > 0 else '')
