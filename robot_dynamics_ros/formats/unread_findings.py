"""Findings on what a description says and a model goes without, one for each kind of element."""

from collections.abc import Iterable, Iterator
from itertools import islice

from robot_dynamics_ros.model.model import Finding

MOST_PLACES = 3  # in a finding
MOST_KINDS = 50  # of findings


def findings_of(messages: Iterable[tuple[str, str]], where: str) -> Iterator[Finding]:
    """Yield a finding for each message, which names its places; ``messages`` are pairs of a message and its place.

    ``where`` is the place of a finding of several places.
    """
    places: dict[str, list[str]] = {}
    for message, place in messages:
        places.setdefault(message, []).append(place)
    if len(places) > MOST_KINDS:
        yield Finding(
            'warning', where, f'{len(places) - MOST_KINDS} further kinds of elements and attributes are not read'
        )
    for message, found in islice(places.items(), MOST_KINDS):
        distinct = list(dict.fromkeys(found))
        if len(distinct) == 1:
            count = f' ({len(found)} times)' if len(found) > 1 else ''
            yield Finding('warning', distinct[0], f'{message}{count}')
        else:
            others = f' and {len(distinct) - MOST_PLACES} others' if len(distinct) > MOST_PLACES else ''
            yield Finding('warning', where, f'{message} (of {", ".join(distinct[:MOST_PLACES])}{others})')
