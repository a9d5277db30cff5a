"""Reference model of payload and gravity from messages. Times are ns.

A load is a list of (weight, body) and one of (weight, vector); between two loads both are weighted.
"""

from dataclasses import dataclass, field

from support import graph

from coupled_nodes.robots import GRAVITY, Body

SECOND = graph.SECOND


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


def body_of(message) -> Body:
    """Return the body of a PayloadState, Payload or SetPayload request."""
    return Body(message.mass, tuple(message.com.tolist()), tuple(message.inertia.tolist()), message.frame)


def vector_of(vector) -> tuple[float, float, float]:
    """Return a Vector3 as numbers."""
    return vector.x, vector.y, vector.z
