"""A trajectory that a node may follow, and which motions follow it."""

from support.nodes import graph

import numpy as np
from load import SECOND

from robot_dynamics_ros.messages.joint_trajectory import trajectory_of

MIN_LEAD, JOIN, STOP, KNOWN_WAY, STREAM = 0.05, 1.5, 10.0, 0.3, 0.25
"""s: shortest lead; by how much one may join a trajectory later than asked; likewise a lone point, and how long a stop
may take; below which the way to a trajectory of an arm that another node holds counts as none; between two points of a
stream."""
DOUBT = 0.05
"""s by which the beginning of a motion is uncertain."""
EXACT = 1e-5
ROOM = 1.02
"""Limits are kept at some times of a lead, and almost between them."""


class Plan:
    """A trajectory that may be followed; ``sure``: it must be followed, once it is due.

    A motion follows it that is the trajectory itself, or a lead to it: that begins at the reference in force, is
    continuous, keeps the limits, or what its ends have themselves, and ends on the trajectory in time. After a last
    point with a velocity, and at a lone point, the motion comes to rest likewise.
    """

    def __init__(self, message, arm, sent: int):
        self.arm, self.trajectory = arm, trajectory_of(arm.names, message)
        self.start = graph.nanoseconds(message.header.stamp) or sent
        self.end = self.start + round(self.trajectory.duration * SECOND)
        self.is_point = self.trajectory.is_point
        self.latest = self.end + self.is_point * round(STREAM * SECOND)  # time of its reception
        self.due: int | None = None  # stamp of the first state at or after the start
        self.sure, self.begun, self.joined, self.apart = True, False, False, False
        self.leads_nobody = False  # another node holds the arm since it began
        self.early = self.start  # from when on it may be followed
        self.alike = {self.start}  # starts of points of the same stream, whose torques may be added to each other
        velocity, acceleration = self._fastest()
        known = np.where(arm.velocity > 0.0, arm.velocity, np.inf)
        self.bounds = np.maximum(
            [known, arm.acceleration],
            [velocity + 0.5 * MIN_LEAD * acceleration, acceleration],
        )
        # whether its end is a place to rest at, and not a state to come to rest from
        self.rests = not self.is_point and bool(self.trajectory.straight[-1] or not self.at(self.end)[1].any())
        self._last: tuple[int, np.ndarray] | None = None  # stamp and motion
        self.starts: list[np.ndarray] = []
        first = self.trajectory.last_point[1] if self.is_point else self.at(0)[1]
        self._passing = self._step = np.abs(np.nan_to_num(first))
        self._joins_until = np.inf
        # whether its stream has no velocity of its own yet
        self.lacks_velocity = self.is_point and bool(np.isnan(first).any())
        self.begins_stream, self.is_first = self.is_point and not np.nan_to_num(first).any(), True

    def time(self, stamp: int) -> float:
        """Return the time from the start, s."""
        return (stamp - self.start) / SECOND

    def at(self, stamp: int) -> np.ndarray:
        """Return position, velocity and acceleration of the trajectory at a stamp."""
        motion = np.zeros((3, self.arm.n))
        self.trajectory.sample(max(self.time(stamp), self.trajectory.start), *motion)
        return motion

    def stream_after(self, before: 'Plan', now: int) -> None:
        """Take the place of another point of the same stream at once, where both are such."""
        later = (self.end - before.end) / SECOND
        if self.is_point and before.is_point and 0.0 < later <= STREAM + DOUBT and self.start - now <= STREAM * SECOND:
            self.early, self.alike, self.sure = 0, before.alike | self.alike, False
            step = np.abs(self.arm.distance(self.trajectory.first_position, before.trajectory.first_position))
            self._step = 2.0 * step / max(later - 0.01, 1e-3)
            self._passing = np.max([self._passing, self._step, before._step], axis=0)
            self.bounds = np.maximum(self.bounds, [before.bounds[0] + self._passing, before.bounds[1]])
            is_bounded = (self._passing > later * self.arm.acceleration).any() or before.is_first
            self.begins_stream, self.is_first = before.begins_stream and self.lacks_velocity and bool(is_bounded), False

    def begin(self, stamp: int, starts: list[np.ndarray], before: 'Plan | None') -> None:
        """Begin at one of the states ``starts`` (2, n), at the reference of the plan ``before``, or on the trajectory.

        A state with NaN for its velocity is near the place from where the first point is reached by a constant
        acceleration, with some of its velocity.
        """
        self.begun, self.starts = True, starts
        first = max(self.trajectory.start, self.time(stamp) + MIN_LEAD)
        self._joins_until = first + (STOP if self.is_point else JOIN) + DOUBT
        own = [np.abs(start[1]) for start in starts if np.isfinite(start).all()]
        self.bounds[0] = np.max([self.bounds[0], *own], axis=0)
        if before is not None:
            self.bounds, self._last = np.maximum(self.bounds, before.bounds), before._last

    def fits(self, stamp: int, motion: np.ndarray) -> bool:
        """Return whether ``motion`` (3, n) at a stamp follows the trajectory, and record it."""
        t, away, own = self.time(stamp), self.arm.distance, self.at(stamp)
        is_own = t >= self.trajectory.start and self._equal(motion, own)
        stops = stamp > self.end and not self.rests and t <= self.trajectory.duration + STOP + DOUBT
        leads = (t <= self._joins_until or stops) and self._continues(stamp, motion, away)
        self.joined = self.joined or (is_own and self.rests)
        self._last = stamp, motion
        return bool(is_own or (leads and (np.abs(motion[1:]) <= ROOM * self.bounds + EXACT).all()))

    @property
    def stands(self) -> bool:
        """Whether its last motion was at rest."""
        return self._last is not None and not self._last[1][1:].any()

    def expected(self, stamp: int) -> np.ndarray:
        """Return the motion (3, n) that is expected at a stamp."""
        if self._last is None:
            return self.at(stamp)
        motion = self._last[1].copy()
        motion[0] += (stamp - self._last[0]) / SECOND * motion[1]
        return motion

    def _fastest(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest velocities and accelerations (n each) along the trajectory."""
        if self.is_point:
            _, velocity, acceleration = np.abs(np.nan_to_num(self.trajectory.last_point))
            return velocity, acceleration
        starts, coefficients, _ = self.trajectory.segments
        powers = np.moveaxis(coefficients, 1, 0)
        t = np.linspace(0.0, 1.0, 9)[:, None, None] * np.diff(starts)[:, None]
        velocity = sum(k * powers[k] * t ** (k - 1) for k in range(1, 6))
        acceleration = sum(k * (k - 1) * powers[k] * t ** (k - 2) for k in range(2, 6))
        return np.abs(velocity).max(axis=(0, 1)), np.abs(acceleration).max(axis=(0, 1))

    def _equal(self, motion: np.ndarray, other: np.ndarray) -> bool:
        """Return whether two motions, or their first rows, are equal."""
        rates = np.abs(motion[1:] - other[1:]) <= EXACT * (1.0 + np.abs(other[1:]))
        return bool((np.abs(self.arm.distance(motion[0], other[0])) <= EXACT).all() and rates.all())

    def _continues(self, stamp: int, motion: np.ndarray, away) -> bool:
        """Return whether a motion continues the last one, or begins at an admissible reference."""
        if self._last is not None:
            time, last = (stamp - self._last[0]) / SECOND, self._last[1]
            mean, change = 0.5 * time * (last[1] + motion[1]), ROOM * self.bounds[1] * abs(time)
            near = np.abs(away(motion[0], last[0]) - mean) <= 0.5 * change * abs(time) + EXACT
            if near.all() and (np.abs(motion[1] - last[1]) <= change + EXACT).all():
                return True
        return any(self._begins_at(start, motion) for start in self.starts)

    def _begins_at(self, start: np.ndarray, motion: np.ndarray) -> bool:
        """Return whether a motion is at one of the references at which this may begin."""
        if np.isfinite(start).all():
            return self._equal(motion[:2], start)
        near = np.abs(self.arm.distance(motion[0], start[0])) <= KNOWN_WAY * self._passing + EXACT
        return bool(near.all() and (np.abs(motion[1]) <= self._passing + EXACT).all())
