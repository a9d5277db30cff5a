"""Reference model of a trajectory's motion by solved polynomials, and of its start. Times are ns.

Written from doc/trajectories.md and rules R9 to R11; the nodes' own interpolation is not used.
"""

import math

from support import graph

import numpy as np

SECOND = graph.SECOND
LATE = 0.05
"""Delay of a trajectory without a stamp that is always allowed, s (R9)."""
SOON = SECOND // 20
"""Time before its start in which a trajectory that waits is not replaced (R10)."""


class Motion:
    """Points of a trajectory, in the arm's joint order."""

    def __init__(self, times, positions, velocities, accelerations):
        """Set the points: times (m) in s; positions (m, n); rates (m, n), a row of NaN if a point has none."""
        self.times = np.asarray(times, float)
        self.rows = [np.asarray(rows, float) for rows in (positions, velocities, accelerations)]

    @classmethod
    def of(cls, message, names) -> 'Motion':
        """Return the motion of a valid JointTrajectory."""
        order = [list(message.joint_names).index(name) for name in names]
        times = [graph.nanoseconds(point.time_from_start) / SECOND for point in message.points]
        nothing = np.full(len(names), np.nan)
        columns = [
            [np.array(values)[order] if len(values := getattr(point, field)) else nothing for point in message.points]
            for field in ('positions', 'velocities', 'accelerations')
        ]
        return cls(times, *columns)

    def after(self, t: float, q, qd) -> 'Motion':
        """Return this motion with an additional first point: q and qd (NaN: unknown) at ``t`` s."""
        fronts = q, qd, np.full(len(q), np.nan)
        rows = [np.vstack([[front], rows]) for front, rows in zip(fronts, self.rows, strict=True)]
        return Motion(np.concatenate([[t], self.times]), *rows)

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return position, velocity and acceleration at ``t`` s; before the first point those of the first segment."""
        positions, velocities, accelerations = self.rows
        still = np.zeros(positions.shape[1])
        if t > self.times[-1] or len(self.times) == 1:
            return positions[-1], still, still
        k = min(max(int(np.searchsorted(self.times, t, side='right')) - 1, 0), len(self.times) - 2)
        duration = self.times[k + 1] - self.times[k]
        ends = [positions[k : k + 2]]
        for power, rates in ((1, velocities), (2, accelerations)):
            pair = rates[k : k + 2]
            if not np.isfinite(pair).all():
                break
            ends.append(pair * duration**power)  # by the segment's own time, 0 to 1
        coefficients = _solve(ends)
        u = (t - self.times[k]) / duration
        powers = np.arange(len(coefficients))
        if u == 0.0 and len(ends) == 2:  # where a short way begins, rounding must not be divided by its duration
            return positions[k], velocities[k], (_derivative(powers, 2, u) @ coefficients) / duration**2
        return (
            (u**powers) @ coefficients,
            (_derivative(powers, 1, u) @ coefficients) / duration,
            (_derivative(powers, 2, u) @ coefficients) / duration**2,
        )


def _derivative(powers, order: int, u: float) -> np.ndarray:
    """Return the derivatives of u**powers."""
    return np.array([math.perm(p, order) * u ** max(p - order, 0) if p >= order else 0.0 for p in powers.tolist()])


def _solve(ends) -> np.ndarray:
    """Return the coefficients (2 len(ends), n) of the polynomial whose derivatives at 0 and 1 are ``ends``."""
    powers = np.arange(2 * len(ends))
    conditions = [_derivative(powers, order, u) for order in range(len(ends)) for u in (0.0, 1.0)]
    return np.linalg.solve(np.array(conditions), np.concatenate(ends))


class Followed:
    """A received trajectory: its start, and whether the arm was within its tolerance.

    ``key`` is equal for two nodes that follow the same trajectory from the same start.
    """

    def __init__(self, start: int, motion: Motion):
        """Start ``motion`` at ``start``."""
        self.start, self.motion, self.first = start, motion, motion.times[0]
        self.key = start, *(rows.tobytes() for rows in (motion.times, *motion.rows))
        self.due: int | None = None  # stamp of the first state at or after the start
        self.met: int | None = None  # stamp of the state at which it began

    def seconds(self, stamp: int) -> float:
        """Return the time of a stamp from the start on, s."""
        return (stamp - self.start) / SECOND


class Follower:
    """Reference model of a trajectory follower."""

    NONE, NOT_BEGUN, DROPPED, FOLLOWS = 'none', 'not begun', 'dropped', 'follows'

    def __init__(self, arm, tolerance: float):
        """Follow with an arm; ``tolerance`` is ``start_tolerance``."""
        self._arm, self._tolerance = arm, tolerance
        self.followed: Followed | None = None
        self.waiting: list[Followed] = []  # each replaces the one before at its start
        self.why = ''  # the rule that decided last
        self.newest_state: int | None = None  # stamp of the last usable state: trajectories end by the clock of states
        self.late = False  # the newest came to the node after the middleware had received it

    def drop(self) -> None:
        """Drop all trajectories."""
        self.followed, self.waiting = None, []

    def drop_followed(self) -> None:
        """Drop the trajectory that is followed; those that wait for their start are kept."""
        self.followed = None

    @property
    def newest(self) -> Followed | None:
        """The trajectory that was received last."""
        return self.waiting[-1] if self.waiting else self.followed

    def receive(self, message, received: int, sent: int, now: int) -> None:
        """Follow a valid message that was received at ``received`` and is processed at ``now``, unless it has ended.

        It replaces what waits for its start, but the newest of those that begin within ``SOON`` after it was ``sent``.
        """
        self.late = False
        if not message.points:
            self.drop()
            self.newest_state = None
            return
        stamp = graph.nanoseconds(message.header.stamp)
        motion = Motion.of(message, self._arm.names)
        # one that starts when it is received had not ended then
        present = now if self.newest_state is None else min(now, self.newest_state)
        over = stamp and present - stamp > motion.times[-1] * SECOND
        late, first = (now - received) / SECOND, motion.times[0]
        if not stamp and max(LATE, 0.5 * first) < late < first:
            return  # the rest of the way to the first point would be too fast
        if not over and (stamp or received):
            soon = [before for before in self.waiting if before.start <= sent + SOON]
            self.waiting = [*soon[-1:], Followed(stamp or received, motion)]

    def step(self, stamp: int, q, qd, silence: bool, interrupted: bool, may_begin=lambda followed, stamp: True):
        """Process a usable state; return the outcome and, on a trajectory, its motion.

        ``silence``: it is the first one after a pause; ``interrupted``: the pause ends a trajectory that was due before
        it. The present trajectory goes on until another one starts, and as long as that not ``may_begin``.
        """
        self.newest_state = stamp
        for k, waiting in reversed(list(enumerate(self.waiting))):
            if waiting.seconds(stamp) >= 0.0:
                waiting.due = stamp if waiting.due is None else waiting.due
                if may_begin(waiting, stamp):
                    self.followed, self.waiting = waiting, self.waiting[k + 1 :]
                    break
        followed = self.followed
        self.why = 'TRAJECTORY'
        if followed is None:
            return self.NOT_BEGUN if self.waiting else self.NONE, None
        t = followed.seconds(stamp)
        if followed.met is None:
            self.why = 'R10'
            first = followed.motion.times[0]
            if t < first:
                to = followed.motion.rows[0][0]
                away = np.abs(self._arm.distance(to, q))
                near = (away <= self._room) | (self._arm.velocity * (first - t) >= away)
                # a continuous joint uses the shorter way
                followed.motion = followed.motion.after(t, to - self._arm.distance(to, q), qd)
            else:
                near = np.abs(self._arm.distance(followed.motion.at(t)[0], q)) <= self._room
            followed.met = stamp
        elif silence:
            self.why = 'R2'
            away = np.abs(self._arm.distance(followed.motion.at(t)[0], q))
            near = np.zeros(1, bool) if interrupted and stamp - followed.due > SECOND else away <= self._room
        else:
            near = np.ones(1, bool)
            self.why = 'TRAJECTORY' if t >= followed.first else 'R10'
        if self.late and self.why != 'R2':
            self.why = 'R9'
        if not near.all():
            self.followed = None
            return self.DROPPED, None
        return self.FOLLOWS, followed.motion.at(t)

    @property
    def _room(self) -> float:
        """Largest distance of the arm."""
        return self._tolerance or np.inf
