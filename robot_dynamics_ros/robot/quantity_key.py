"""Which quantity of a robot is meant: its name, and the frames and external wrenches that it is for."""

from collections.abc import Collection
from typing import NamedTuple

from robot_dynamics_ros.algorithms.table import ALGORITHMS, QUANTITIES
from robot_dynamics_ros.errors import ArgumentError, nearest


class QuantityKey(NamedTuple):
    """A quantity, of some ``links`` or under external wrenches.

    ``reference_frame`` is that of the frames or wrenches, '' where there are neither. ``wrenches`` is the input of
    external wrenches, '' for none; ``links`` is then the frame that a single wrench acts on.
    """

    name: str
    links: tuple[str, ...] = ()
    reference_frame: str = ''
    wrenches: str = ''


def key_of(name: str) -> QuantityKey:
    """Return the key of a quantity of the whole robot; ArgumentError with the nearest name and all of them."""
    if name not in ALGORITHMS:
        raise ArgumentError(f'quantities: expected one of {", ".join(QUANTITIES)}, got {named(name, QUANTITIES)}')
    return QuantityKey(name)


def named(name: object, known: Collection[str]) -> str:
    """Return a wrong name for a message, with the nearest one of those ``known``, if it is another one."""
    near = nearest(name, known) if isinstance(name, str) and name not in known else ''
    return f'{name!r:.80}{near and f"; {near}"}'
