"""Reference model of payload and gravity from messages. Times are ns.

A load is a list of (weight, body) and one of (weight, vector); between two loads both are weighted.
"""

from collections import Counter
from dataclasses import dataclass, field

from support import graph

from coupled_nodes.robots import GRAVITY, Body

SECOND = graph.SECOND
LATE = SECOND // 20
"""Time by which a node may know a ramp late (R25)."""
SHORTEST = SECOND // 2
"""Shortest ramp that replaces a step (R25)."""


@dataclass
class Ramp:
    """A linear change from one load to another."""

    after: list
    before: list = field(default_factory=list)
    start: int = 0
    duration: int = 0

    def share(self, time: int) -> float:
        """Return the weight of ``after`` at a time."""
        if self.duration == 0 or time >= self.start + self.duration:
            return 1.0
        return max(0.0, (time - self.start) / self.duration)

    def at(self, time: int) -> list:
        """Return the load at a time."""
        share = self.share(time)
        parts = ((1.0 - share, self.before), (share, self.after))
        return [(part * weight, what) for part, load in parts if part for weight, what in load]

    def without_step(self, held: 'Ramp', now: int) -> 'Ramp':
        """Return what a node that holds another ramp follows: this one, or a ramp of its own from what it holds (R25).

        This one counts where each number differs by no more than what both ramps change in ``LATE`` before or after
        now, and where it is a step from what is held.
        """
        value = held.at(now)
        gap, whole = _difference(value, self.at(now)), _difference(self.after, [])
        scale = 1e-9 * (1.0 + max(map(abs, [*gap.values(), *whole.values()]), default=0.0))
        near = [ramp.nearby(now) for ramp in (self, held)]
        if all(abs(gap[key]) <= scale + sum(change[key] for change in near) for key in gap):
            return self
        if not self.duration and all(abs(step) <= scale for step in _difference(value, self.before).values()):
            return self
        left = self.start + self.duration - now if self.duration else 0
        return Ramp(self.after, value, now, max(left, SHORTEST))

    def nearby(self, now: int) -> Counter:
        """Return by how much each number changes in ``LATE`` before or after now, whichever is more."""
        past, coming = (_difference(self.at(now + shift), self.at(now)) for shift in (-LATE, LATE))
        return Counter({key: max(abs(past[key]), abs(coming[key])) for key in {*past, *coming}})

    def set_back(self, last: int, now: int) -> None:
        """Keep the progress when the clock is set back from ``last`` to ``now``; a finished ramp stays finished."""
        share = self.share(last)
        if share >= 1.0:
            self.duration = 0
        else:
            self.start = now - round(share * self.duration)


class Load:
    """Payload and gravity of one node."""

    def __init__(self, gravity=GRAVITY):
        """Begin without payload, under a gravity."""
        self.payload = Ramp([])
        self.gravity = Ramp([(1.0, tuple(gravity))])

    def at(self, time: int) -> tuple[list, list]:
        """Return bodies and gravity at a time."""
        return self.payload.at(time), self.gravity.at(time)

    @property
    def end(self) -> tuple:
        """Payload and gravity after all ramps."""
        return tuple(self.payload.after), tuple(self.gravity.after)

    def set_back(self, last: int, now: int) -> None:
        """Keep the progress of both when the clock is set back."""
        self.payload.set_back(last, now)
        self.gravity.set_back(last, now)

    def follow(self, topic: str, message, fills_before: bool, now: int) -> int:
        """Apply a PayloadState or GravityState at a time when torques are computed with this load (R25).

        Return until when a ramp replaces what the message says, 0 where none does.
        """
        kind = topic.removesuffix('_state')
        held = getattr(self, kind)
        if kind == 'payload':
            self.carry(message, fills_before)
        else:
            self.pull(message)
        told = getattr(self, kind)
        followed = told.without_step(held, now)
        setattr(self, kind, followed)
        return 0 if followed is told else followed.start + followed.duration

    def carry(self, message, fills_before: bool = True) -> None:
        """Apply a PayloadState; earlier releases did not fill ``before``: then use the payload at its stamp."""
        stamp = graph.nanoseconds(message.stamp)
        before = [(1.0, body_of(body)) for body in message.before] if fills_before else self.payload.at(stamp)
        after = [(1.0, body_of(message))] if message.mass else []
        self.payload = Ramp(after, before, stamp, round(message.ramp_time * SECOND))

    def pull(self, message) -> None:
        """Apply a GravityState, or the Vector3Stamped of earlier releases, without a ramp."""
        if hasattr(message, 'vector'):
            self.gravity = Ramp([(1.0, vector_of(message.vector))])
            return
        before, after = ([(1.0, vector_of(vector))] for vector in (message.before, message.gravity))
        self.gravity = Ramp(after, before, graph.nanoseconds(message.header.stamp), round(message.ramp_time * SECOND))


def _difference(one: list, other: list) -> Counter:
    """Return the differences of masses, first moments and inertias, or of components of gravity."""
    numbers = Counter()
    for sign, load in ((1.0, one), (-1.0, other)):
        for weight, what in load:
            for key, number in _linear(what):
                numbers[key] += sign * weight * number
    return numbers


def _linear(what):
    """Yield names and values of what changes linearly: of a body about the origin of its frame, or of a vector."""
    if not isinstance(what, Body):
        yield from enumerate(what)
        return
    x, y, z = what.com
    steiner = (y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z)
    yield (what.frame, 'mass'), what.mass
    for k, c in enumerate(what.com):
        yield (what.frame, 'com', k), what.mass * c
    for k, (about_com, shift) in enumerate(zip(what.inertia, steiner, strict=True)):
        yield (what.frame, 'inertia', k), about_com + what.mass * shift


def body_of(message) -> Body:
    """Return the body of a PayloadState, Payload or SetPayload request."""
    return Body(message.mass, tuple(message.com.tolist()), tuple(message.inertia.tolist()), message.frame)


def vector_of(vector) -> tuple[float, float, float]:
    """Return a Vector3 as numbers."""
    return vector.x, vector.y, vector.z
