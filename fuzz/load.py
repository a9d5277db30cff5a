"""Payload and gravity that may be in force in a node, from the messages that it received. Times are ns."""

from typing import NamedTuple

from support.nodes import graph

import numpy as np
from robots import GRAVITY, NO_PAYLOAD, Arm

SECOND = graph.SECOND
LATE = SECOND // 20
"""A node may apply at once as much of a ramp as it changes in this time, ns."""
SHORTEST = SECOND // 2
"""Shortest ramp of a node's own, where a message would make a step."""
AHEAD = 9 * SECOND // 10
"""A ramp that begins later than this from now may be refused until then."""
UNKNOWN = 10**15
"""Time for which nothing is known, unless another message comes, ns."""
ROUNDING = 1e-9
"""kg, m, kg m^2, m/s^2: differences up to this one are none."""
LARGEST_COMPARED = 1e4
"""Largest numbers that are compared; beyond, rounding errors of two implementations differ too much."""
TOPICS = ('payload_state', 'gravity_state')


class Ramp(NamedTuple):
    """A linear change from ``before`` to ``after``, of the numbers of a payload or of gravity."""

    after: np.ndarray
    before: np.ndarray
    start: int = 0
    duration: int = 0

    def share(self, time: int) -> float:
        """Return the weight of ``after`` at a time."""
        if not self.duration or time >= self.start + self.duration:
            return 1.0
        return max(0.0, (time - self.start) / self.duration)

    def at(self, time: int) -> np.ndarray:
        """Return the value at a time."""
        share = self.share(time)
        return self.after if share == 1.0 else (1.0 - share) * self.before + share * self.after

    def nearby(self, now: int) -> float:
        """Return how much the value changes in twice ``LATE`` before or after now, whichever is more."""
        return max(difference(self.at(now + shift), self.at(now)) for shift in (-2 * LATE, 2 * LATE))


class Load:
    """Payload and gravity of a node: a ramp each, whose value may be another one ``until`` a time."""

    def __init__(self):
        values = (NO_PAYLOAD, GRAVITY)
        self.ramps = {topic: Ramp(value, value) for topic, value in zip(TOPICS, values, strict=True)}
        self.until = dict.fromkeys(TOPICS, 0)
        self.is_set: set[str] = set()  # topics with a value that was set
        self.early: set[str] = set()  # those whose last ramp began later than its message came
        self.unsettled: set[str] = set()  # those whose value a server assumes, and nodes may contradict

    def follow(self, topic: str, ramp: Ramp, now: int, running: bool, assumed=False, settled=True) -> None:
        """Follow a message; a node that is ``running`` makes no step that nobody asked for: it ramps itself.

        A value that a server only assumes does not replace one that was set.
        """
        is_early = ramp.duration and ramp.start - now > AHEAD
        if assumed and topic in self.is_set:
            if topic in self.early:  # it may have been refused until then, and dropped now
                self.until[topic] = now + UNKNOWN
            return
        (self.unsettled.add if assumed and not settled else self.unsettled.discard)(topic)
        if not assumed:
            self.is_set.add(topic)
            (self.early.add if is_early else self.early.discard)(topic)
        held, self.ramps[topic] = self.ramps[topic], ramp
        known = now >= self.until[topic] and self.size < LARGEST_COMPARED
        value, left = held.at(now), max(ramp.start + ramp.duration - now if ramp.duration else 0, SHORTEST)
        step, rounding = difference(value, ramp.at(now)), ROUNDING * (1.0 + difference(value, 0.0))
        asked = not ramp.duration and difference(value, ramp.before) <= rounding
        if is_early:
            self.until[topic] = now + left + SECOND
        elif not running or (known and (asked or step <= rounding)):
            self.until[topic] = 0
        elif known and step > ramp.nearby(now) + held.nearby(now) + rounding:
            self.ramps[topic] = Ramp(ramp.after, value, now, left)
        else:
            self.until[topic] = now + left

    def set_back(self, read: int, last: int, now: int) -> None:
        """Keep the progress of both ramps on a clock that is set back; it was ``read`` then, the last time before."""
        for topic, ramp in self.ramps.items():
            done, end = ramp.share(last) >= 1.0, ramp.start + ramp.duration
            unsure = max(self.until[topic], 0 if done or read == last else end)
            self.ramps[topic] = ramp._replace(duration=0) if done else ramp._replace(start=ramp.start + now - last)
            self.until[topic] = max(0, unsure + now - last)

    def at(self, time: int) -> tuple | None:
        """Return payload and gravity at a time, None where they are not known, or too large to be compared."""
        if any(time < until for until in self.until.values()) or self.size > LARGEST_COMPARED:
            return None
        return tuple(self.ramps[topic].at(time) for topic in TOPICS)

    @property
    def size(self) -> float:
        """Largest number of all payloads and gravities that may be in force."""
        return max(float(np.abs([ramp.before, ramp.after]).max()) for ramp in self.ramps.values())

    @property
    def end(self) -> list:
        """Values after both ramps."""
        return [self.ramps[topic].after.tolist() for topic in TOPICS]


def ramp_of(message, arm: Arm) -> Ramp:
    """Return what a PayloadState or GravityState says."""
    duration = round(message.ramp_time * SECOND)
    if hasattr(message, 'mass'):
        before = sum((arm.payload(body) for body in message.before), start=NO_PAYLOAD)
        return Ramp(arm.payload(message), before, graph.nanoseconds(message.stamp), duration)
    return Ramp(value_of(message, arm), vector_of(message.before), graph.nanoseconds(message.header.stamp), duration)


def value_of(message, arm: Arm) -> np.ndarray:
    """Return the payload or gravity of a message or request."""
    if hasattr(message, 'gravity'):
        return vector_of(getattr(message.gravity, 'vector', message.gravity))
    return arm.payload(message)


def vector_of(vector) -> np.ndarray:
    """Return a Vector3 as an array."""
    return np.array([vector.x, vector.y, vector.z])


def difference(one, other) -> float:
    """Return the largest difference of the numbers of two values."""
    return float(np.abs(one - other).max())
