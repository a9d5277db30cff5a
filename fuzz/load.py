"""Payloads and gravities that may be in force in a node, from the messages that it received. Times are ns.

A payload is a tuple of (weight, ``Body``), a gravity one of (weight, vector): between two values both are weighted.
"""

from collections import Counter
from itertools import product
from typing import NamedTuple

from support import graph

from robots import GRAVITY, Body

SECOND = graph.SECOND
LATE = SECOND // 20
"""A message that comes later than this after the start of its ramp is followed by a ramp of the node's own."""
SHORTEST = SECOND // 2
"""Shortest ramp of a node's own."""
ROUNDING = 1e-9
"""kg, m, kg m^2, m/s^2: differences up to this one are none."""
LARGEST_COMPARED = 1e4
"""Largest numbers that are compared; beyond, rounding errors of two implementations differ too much."""
MOST = 16
"""Largest number of ramps that are kept."""
TOPICS = ('payload_state', 'gravity_state')


class Ramp(NamedTuple):
    """A linear change from ``before`` to ``after``."""

    after: tuple
    before: tuple = ()
    start: int = 0
    duration: int = 0

    def share(self, time: int) -> float:
        """Return the weight of ``after`` at a time."""
        if not self.duration or time >= self.start + self.duration:
            return 1.0
        return max(0.0, (time - self.start) / self.duration)

    def at(self, time: int) -> tuple:
        """Return the value at a time."""
        share = self.share(time)
        parts = ((1.0 - share, self.before), (share, self.after))
        return tuple((part * weight, what) for part, value in parts if part for weight, what in value)

    def set_back(self, last: int, now: int) -> 'Ramp':
        """Return the ramp with the progress of ``last`` at ``now``."""
        share = self.share(last)
        return self._replace(duration=0) if share >= 1.0 else self._replace(start=now - round(share * self.duration))


class Load:
    """The ramps of payload and gravity that a node may follow: one each, or several where a message makes a step."""

    def __init__(self, gravity=GRAVITY):
        self.ramps = {'payload_state': [Ramp(())], 'gravity_state': [Ramp(((1.0, tuple(gravity)),))]}

    def follow(self, topic: str, ramp: Ramp, now: int, running: bool) -> None:
        """Follow a message; a node that is ``running`` makes no step, but ramps from what it holds.

        Where it is not clear whether the message makes a step, both are admissible.
        """
        followed = [] if running else [ramp]
        for held in self.ramps[topic] if running else ():
            value, left = held.at(now), ramp.start + ramp.duration - now if ramp.duration else 0
            step, rounding = difference(value, ramp.at(now)), ROUNDING * (1.0 + difference(value, ()))
            asked = not ramp.duration and difference(value, ramp.before) <= rounding
            if asked or step <= _nearby(ramp, now) + _nearby(held, now) + rounding:
                followed.append(ramp)
            if not asked and step > rounding:
                followed.append(Ramp(ramp.after, value, now, max(left, SHORTEST)))
        self.ramps[topic] = list(dict.fromkeys(followed))[:MOST]

    def may_keep(self, topic: str, before: list[Ramp]) -> None:
        """Admit what was held before a message as well."""
        self.ramps[topic] = list(dict.fromkeys([*self.ramps[topic], *before]))[:MOST]

    def set_back(self, earliest: int, last: int, now: int) -> None:
        """Keep the progress of all ramps on a clock that is set back; it was read between ``earliest`` and ``last``."""
        for topic, ramps in self.ramps.items():
            kept = (ramp.set_back(read, now) for ramp in ramps for read in (earliest, last))
            self.ramps[topic] = list(dict.fromkeys(kept))[:MOST]

    def options(self, time: int) -> list[tuple]:
        """Return the pairs of payload and gravity that may be in force at a time: one, once all ramps are over."""
        values = (dict.fromkeys(ramp.at(time) for ramp in self.ramps[topic]) for topic in TOPICS)
        return list(product(*values))

    @property
    def size(self) -> float:
        """Largest number of all payloads and gravities that may be in force."""
        values = (value for ramps in self.ramps.values() for ramp in ramps for value in (ramp.before, ramp.after))
        return max(difference(value, ()) for value in values)

    @property
    def end(self) -> list:
        """Values after all ramps."""
        return [{ramp.after for ramp in self.ramps[topic]} for topic in TOPICS]


def ramp_of(message) -> Ramp:
    """Return what a PayloadState or GravityState says."""
    duration = round(message.ramp_time * SECOND)
    if hasattr(message, 'mass'):
        after = ((1.0, _body_of(message)),) if message.mass else ()
        before = tuple((1.0, _body_of(body)) for body in message.before if body.mass)
        return Ramp(after, before, graph.nanoseconds(message.stamp), duration)
    after, before = (((1.0, vector_of(vector)),) for vector in (message.gravity, message.before))
    return Ramp(after, before, graph.nanoseconds(message.header.stamp), duration)


def value_of(request, arm) -> tuple:
    """Return the payload or gravity of a SetPayload or SetGravity request for an arm."""
    if hasattr(request, 'gravity'):
        return ((1.0, vector_of(request.gravity.vector)),)
    body = _body_of(request)
    return ((1.0, body._replace(frame=body.frame or arm.robot.link_names[-1])),) if body.mass else ()


def _body_of(message) -> Body:
    return Body(message.mass, tuple(message.com.tolist()), tuple(message.inertia.tolist()), message.frame)


def vector_of(vector) -> tuple[float, float, float]:
    """Return a Vector3 as numbers."""
    return vector.x, vector.y, vector.z


def _nearby(ramp: Ramp, now: int) -> float:
    """Return by how much a ramp changes in twice ``LATE`` before or after now, whichever is more."""
    return max(difference(ramp.at(now + shift * LATE), ramp.at(now)) for shift in (-2, 2))


def difference(one: tuple, other: tuple) -> float:
    """Return the largest difference of two values: of masses, first moments and inertias, or of components."""
    numbers: Counter = Counter()
    for sign, value in ((1.0, one), (-1.0, other)):
        for weight, what in value:
            for key, number in what.linear() if isinstance(what, Body) else enumerate(what):
                numbers[key] += sign * weight * number
    return max(map(abs, numbers.values()), default=0.0)
