"""Which quantity of a robot is meant: its name, and the frames and external wrenches that it is for."""

from typing import NamedTuple


class QuantityKey(NamedTuple):
    """A quantity, of some ``links`` or under external wrenches.

    ``reference_frame`` is that of the frames or wrenches, '' where there are neither. ``wrenches`` is the input of
    external wrenches, '' for none; ``links`` is then the frame that a single wrench acts on.
    """

    name: str
    links: tuple[str, ...] = ()
    reference_frame: str = ''
    wrenches: str = ''
