"""Streams of one-point trajectories: the times at which their points are reached, and velocities that they lack.

Servo, teleoperation and policies send a new point each few ms, which replaces the one before. Such a message is part of
a stream when the one before was a lone point as well, is still in force or waits, and is at most ``LONGEST_GAP_NS``
earlier by the points' times t_k = start + time of the point, at least ``SHORTEST_GAP_NS``.

A point is reached at t_k + lag, so that neither the jitter of the transport nor a point without a time makes a step.
The lag is what the latest message needs so that its lead lasts one period, at least MIN_LEAD. It decays slowly to that
of the present messages, with room for their jitter. Where points have no stamps, their times are those of sending; the
jitter of a periodic source is smoothed.

Points without velocities are passed with the central difference of their neighbours, so one period later:

    qd_k-1 = (q_k - q_k-2) / (t_k - t_k-2)

Backward differences would let the acceleration alternate between four times and minus twice that of the motion. A
difference that is a jump of the positions is not a velocity: from one point to the next qd changes by at most
``LARGEST_CHANGE`` of what the acceleration limits allow.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.joints.continuous_joints import nearest
from robot_dynamics_ros.control.trajectories.lead import MIN_LEAD, Limits

LONGEST_GAP_NS = 250_000_000
"""Time between two points of a stream, ns; also by how much a lone point may be late, or ahead of its time."""
SHORTEST_GAP_NS = 1_000_000
"""Likewise, ns: differences of positions in a shorter time are no velocities."""
LARGEST_CHANGE = 2.0
"""Of the change of velocity that the acceleration limits allow between two points: positions are noisy."""
MARGIN = 0.02
"""By which a stream begins with a larger lag than its first message needs, s."""
USUAL_PERIOD = 0.05
"""Likewise without velocities, because its points will be passed one period later, s."""
ROOM = 0.03
"""By which the lag may be larger than needed without a decay, s: jitter of the transport."""
DECAY = 0.05
"""s per s by which a lag decays: the motion is so much faster meanwhile."""
REMEMBERED = 16
MEMORY = 20
"""Number of points over which times of sending are smoothed: their jitter would be acceleration."""
LARGEST_JITTER_NS = 5_000_000
"""ns, and half of a period, by which times of sending may be off: else they are not those of a periodic source."""


class Point(NamedTuple):
    """A lone point: its time in ns, position, velocity and acceleration (n each; NaN: it has none)."""

    time: int
    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray

    @property
    def has_velocity(self) -> bool:
        """Whether it has a velocity."""
        return not np.isnan(self.velocity).any()


class PointStream:
    """A stream of points.

    Attributes
    ----------
    identities : tuple of int
        Of its latest trajectories, in the order of reception.
    lag : float
        s; None until one of its points is in force. The thread that follows writes it.
    """

    def __init__(self):
        """Begin without a point."""
        self.identities: tuple[int, ...] = ()
        self.lag: float | None = None


class Pace(NamedTuple):
    """Period of a source, ns, estimated from a number of ``points``; 0: unknown."""

    period: float
    points: int

    def smoothed(self, last: int, sent: int) -> tuple[int, 'Pace']:
        """Return the smoothed time (ns) of a point that was ``sent`` then, after that of the last point, and the pace.

        The g-h filter with growing memory (Brookner 1998, Tracking and Kalman Filtering Made Easy, section 1.2), with
        the gains of ``MEMORY`` points from then on.
        """
        steps = max(1, round((sent - last) / self.period)) if self.period else 1
        error = sent - last - steps * self.period
        if not self.period or abs(error) > min(LARGEST_JITTER_NS, 0.5 * self.period):
            time = max(sent, last + SHORTEST_GAP_NS)
            return time, Pace(float(time - last), 2)
        n = min(self.points + 1, MEMORY)
        time = round(last + steps * self.period + 2.0 * (2 * n - 1) / (n * (n + 1)) * error)
        return max(time, last + SHORTEST_GAP_NS), Pace(self.period + 6.0 / (n * (n + 1)) * error / steps, n)


class StreamPoint:
    """A point of a stream.

    Attributes
    ----------
    stream : PointStream
    point : Point
    passed : Point
        What is passed next: the point if it has a velocity, or is the first one, else the one before, with a velocity.
    goal : ndarray, (n,)
        Where the motion comes to rest if no point follows: the point's position, on the turn of ``passed``.
    period : float
        Time since the point before, s; 0 for the first one.
    is_beginning : bool
        Whether the stream has not had a velocity of its own yet: at a first point without one, and as long as the
        velocities from there are half known, or bounded.
    """

    def __init__(
        self, point: Point, before: 'StreamPoint | None', turn: np.ndarray, limits: Limits, as_sent: bool = False
    ):
        """Continue the stream of ``before`` where it is recent enough, else begin one.

        ``turn`` (n, rad) is that of continuous joints, 0 of others. ``limits`` bound velocities that it lacks.
        ``as_sent``: the point's time is that of sending, which jitters.
        """
        if before is not None and not SHORTEST_GAP_NS <= point.time - before._given <= LONGEST_GAP_NS:
            before = None
        self._given: int = point.time
        self._pace = Pace(0.0, 1)
        if before is None:
            self.stream, self.period, self._step = PointStream(), 0.0, np.zeros_like(point.position)
        else:
            last, self.stream = before.point, before.stream
            if as_sent:
                time, self._pace = before._pace.smoothed(last.time, point.time)
                point = point._replace(time=time)
            self.period = (point.time - last.time) * 1e-9
            self._step = nearest(point.position - last.position, turn)
        self.point: Point = point
        self.passed = point
        self.goal = point.position
        self.is_beginning = before is None and not np.nan_to_num(point.velocity).any()
        if before is not None and not point.has_velocity:
            # before its first point a stream was at rest, as long as after it
            since = before.period or self.period
            fastest, change = limits[0], LARGEST_CHANGE * since * limits[1]
            earlier = np.nan_to_num(before.passed.velocity)
            velocity = (self._step + before._step) / (self.period + since)
            bounded = np.clip(velocity, earlier - change, earlier + change)
            self.is_beginning = before.is_beginning and bool(not before.period or (bounded != velocity).any())
            velocity = np.clip(bounded, -fastest, fastest)
            self.goal = last.position + self._step
            self.passed = Point(last.time, last.position, velocity, np.full_like(velocity, np.nan))

    @property
    def end(self) -> np.ndarray:
        """Position and velocity (2, n) where the motion comes to rest if no point follows."""
        return np.array([self.goal, np.zeros_like(self.goal)])

    def enter(self, identity: int) -> None:
        """Record the point's trajectory in the stream."""
        self.stream.identities = *self.stream.identities[1 - REMEMBERED :], identity

    def earliest(self, t: float, time: float, state_period: float) -> float:
        """Return when the passed point is reached at the earliest, s, and update the lag.

        Its own time is ``time``, and its lead begins at ``t``, at a state; these are ``state_period`` apart (s).
        """
        stream = self.stream
        needed = t + max(MIN_LEAD, self.period) - time
        if stream.lag is None:
            room = MARGIN + state_period + (0.0 if self.point.has_velocity else USUAL_PERIOD)
            stream.lag = max(0.0, needed + room)
        else:
            spare = max(0.0, stream.lag - max(needed + ROOM, 0.0))
            stream.lag = max(needed, stream.lag - min(DECAY * self.period, spare))
        return time + stream.lag
