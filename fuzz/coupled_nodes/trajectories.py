"""Trajectories that a node may follow at a time. Times are ns.

The rules are those of doc/trajectories.md. Where they leave open which trajectory is followed, all that may be remain.
"""

import math

from support import graph

import numpy as np
from admissible import DOUBT, INTERRUPTION, Pause

SECOND = graph.SECOND
SOON = SECOND // 20
"""Time before its start in which a trajectory that waits is not replaced."""
ROUNDING = 1e-6


class Motion:
    """Desired motion through points, in the arm's joint order: times (m), s, and rows (m, n), NaN where not stated."""

    def __init__(self, times, *rows):
        self.times, self.rows = np.asarray(times, float), [np.asarray(values, float) for values in rows]

    @classmethod
    def of(cls, message, names) -> 'Motion':
        """Return the motion of a valid JointTrajectory."""
        order = [list(message.joint_names).index(name) for name in names]
        nothing = np.full(len(names), np.nan)
        rows = [
            [np.array(values)[order] if len(values := getattr(point, field)) else nothing for point in message.points]
            for field in ('positions', 'velocities', 'accelerations')
        ]
        return cls([graph.nanoseconds(point.time_from_start) / SECOND for point in message.points], *rows)

    def after(self, t: float, q, qd) -> 'Motion':
        """Return this motion with an additional first point: q and qd (NaN: unknown) at ``t`` s."""
        fronts = q, qd, np.full(len(q), np.nan)
        rows = [np.vstack([[front], rows]) for front, rows in zip(fronts, self.rows, strict=True)]
        return Motion(np.concatenate([[t], self.times]), *rows)

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return position, velocity and acceleration at ``t`` s."""
        positions = self.rows[0]
        if t > self.times[-1] or len(self.times) == 1:
            return positions[-1], np.zeros(positions.shape[1]), np.zeros(positions.shape[1])
        k = min(max(int(np.searchsorted(self.times, t, side='right')) - 1, 0), len(self.times) - 2)
        duration = self.times[k + 1] - self.times[k]
        ends = [positions[k : k + 2]]
        for power, rates in enumerate(self.rows[1:], 1):
            if not np.isfinite(rates[k : k + 2]).all():
                break
            ends.append(rates[k : k + 2] * duration**power)  # by the segment's own time u, 0 to 1
        powers, u = np.arange(2 * len(ends)), (t - self.times[k]) / duration
        conditions = [_derivative(powers, order, end) for order in range(len(ends)) for end in (0.0, 1.0)]
        coefficients = np.linalg.solve(np.array(conditions), np.concatenate(ends))
        q, qd, qdd = ((_derivative(powers, order, u) @ coefficients) / duration**order for order in range(3))
        if u == 0.0:  # rounding must not be divided by a short duration
            q, qd = positions[k], self.rows[1][k] if len(ends) > 1 else qd
        return q, qd, qdd


def _derivative(powers, order: int, u: float) -> np.ndarray:
    """Return the derivatives of u**powers."""
    return np.array([math.perm(p, order) * u ** max(p - order, 0) if p >= order else 0.0 for p in powers.tolist()])


class Candidate:
    """A trajectory that may be followed: along which ``paths``, and whether it is ``sure`` that it is, once due."""

    def __init__(self, start: int, motion: Motion, sure: bool):
        self.start, self.motion, self.sure = start, motion, sure
        self.paths: list[Motion] = []  # with the way from where the arm was when it began
        self.due: int | None = None  # stamp of the first state at or after the start
        self.begun = False  # no other path can be added

    def seconds(self, stamp: int) -> float:
        """Return the time of a stamp from the start on, s."""
        return (stamp - self.start) / SECOND

    @property
    def duration(self) -> float:
        """Time of the last point, s."""
        return self.motion.times[-1]


class Candidates:
    """All trajectories that a node may follow, in the order of reception.

    ``within``: time after its start within which a trajectory begins, s; with 0 it begins at the first state.
    """

    def __init__(self, arm, tolerance: float, within: float):
        self._arm, self._tolerance, self._within = arm, tolerance or np.inf, within * SECOND
        self.all: list[Candidate] = []
        self.newest_state: int | None = None

    def receive(self, message, sent: int, now: int) -> None:
        """Add a valid trajectory that was ``sent`` then; the others are replaced at its start."""
        if not message.points:
            self.all, self.newest_state = [], None
            return
        motion, stamp = Motion.of(message, self._arm.names), graph.nanoseconds(message.header.stamp)
        start, late, first = stamp or sent, (now - sent) / SECOND, motion.times[0]
        present = now if self.newest_state is None else min(now, self.newest_state)
        over = stamp and (present - start) / SECOND > motion.times[-1]
        if over or (not stamp and max(SOON / SECOND, 0.5 * first) < late < first):
            return
        waiting = [each for each in self.all if each.due is None]
        for each in waiting:
            if each.start > now + SOON:
                self.all.remove(each)
            elif len(waiting) > 1 or each.start > sent + SOON:
                each.sure = False
        self.all.append(Candidate(start, motion, (now - start) / SECOND <= motion.times[-1]))

    def state(self, stamp: int, q, qd, pause: Pause) -> list[Candidate]:
        """Process a usable state of the arm at q, qd; return the trajectories that may be followed there."""
        self.newest_state = stamp
        for one in [each for each in self.all if each.start <= stamp]:
            one.due = stamp if one.due is None else one.due
            if one.begun:
                self._go_on(one, stamp, q, pause)
            else:
                self._begin(one, stamp, q, qd)
        begun = [k for k, one in enumerate(self.all) if one.begun]
        self.all = self.all[begun[-1] if begun else 0 :]
        return [one for one in self.all if one.paths]

    def matched(self, paths) -> None:
        """Keep the trajectories and ``paths`` that fit a published torque; older ones are not followed again."""
        oldest = min(k for k, one in enumerate(self.all) if any(path in paths for path in one.paths))
        self.all = self.all[oldest:]
        for one in self.all:
            if one.begun and any(path in paths for path in one.paths):
                one.paths = [path for path in one.paths if path in paths]

    def _begin(self, one: Candidate, stamp: int, q, qd) -> None:
        """Begin a trajectory at this state, or at a later one, where the arm is close enough."""
        t, first, path, reach = one.seconds(stamp), one.motion.times[0], one.motion, 0.0
        if t < first:
            to = path.rows[0][0]
            away = self._arm.distance(to, q)
            path, reach = path.after(t, to - away, qd), self._arm.velocity * (first - t)
        else:
            away = self._arm.distance(path.at(t)[0], q)
        self._keep_near(one, path, np.abs(away) - np.maximum(reach, self._tolerance))
        one.begun = stamp - one.due >= self._within

    def _keep_near(self, one: Candidate, path: Motion, beyond: np.ndarray) -> None:
        """Add a path unless a joint is too far from it; ``beyond``: by how much further than allowed."""
        if beyond.max() > -ROUNDING:
            one.sure = False
        if beyond.max() <= ROUNDING and path not in one.paths:
            one.paths.append(path)

    def _go_on(self, one: Candidate, stamp: int, q, pause: Pause) -> None:
        """Drop what ends in a pause of the states."""
        since = (stamp - one.due) / SECOND
        if pause.may_end and since > INTERRUPTION - DOUBT:
            one.sure = False
        if pause.ends and since > INTERRUPTION + DOUBT:
            one.paths = []
        if pause.possible:
            paths, one.paths = one.paths, []
            for path in paths:
                away = np.abs(self._arm.distance(path.at(one.seconds(stamp))[0], q))
                self._keep_near(one, path, away - self._tolerance)
                if not pause.certain and path not in one.paths:
                    one.paths.append(path)
