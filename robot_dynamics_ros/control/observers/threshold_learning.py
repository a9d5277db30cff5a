"""Learning of contact thresholds in free motion, from one motion or several."""

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.observers.contact_detection import REVERSAL_SPEED, ContactDetector
from robot_dynamics_ros.control.observers.friction_tracker import FrictionTracker
from robot_dynamics_ros.control.observers.threshold_fit import STEPS, empty_cells, fit, merge
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector

MARGIN = 1.5
"""Default ratio of thresholds to the largest residuals in free motion."""
LARGEST, SMALLEST = 0.3, 1e-3
"""Bounds of a learnt threshold, of the effort limit; without a limit it is at least ``SMALLEST`` N m (N)."""
GROWTH = 3.0
"""A residual above this number of thresholds ends the learning: so much is a contact, not a faster motion."""
UNIT = 1e-3
"""Unit of the steps of inertial torque, of the effort limit; without a limit 0.1 N m (N)."""
MOVED = 0.25
"""Least time in which each joint moves in either direction, s."""
NEEDED = f'move every joint in both directions, faster than {REVERSAL_SPEED:g} rad/s (m/s) for {MOVED:g} s in each'


@compiled(given='residual torque qd elapsed')
def _collect(
    size: Matrix,
    speed: Matrix,
    inertial: Matrix,
    time: Matrix,
    moved: Matrix,
    weight: Vector,
    unit: Vector,
    residual: Vector,
    torque: Vector,
    qd: Vector,
    elapsed: float,
) -> bool:
    """Add a sample to the cells (n, 2 STEPS^2) and to moved (2, n; s); return whether a joint moves.

    ``moved`` is how long a joint has moved in the negative and positive direction. ``residual`` (n) is the one
    that counts, ``torque`` (n) the inertial torque.
    """
    moves = False
    for k in range(qd.shape[0]):
        row, column, at = 0, 0, abs(qd[k])
        while row < STEPS - 1 and at >= REVERSAL_SPEED * 2.0**row:
            row += 1
        while column < STEPS - 1 and torque[k] >= unit[k] * 2.0**column:
            column += 1
        cell = (STEPS if weight[k] >= 0.5 else 0) * STEPS + row * STEPS + column
        time[k, cell] += elapsed
        if residual[k] > size[k, cell]:
            size[k, cell], speed[k, cell], inertial[k, cell] = residual[k], at, torque[k]
        if at >= REVERSAL_SPEED:
            moves = True
            moved[1 if qd[k] > 0.0 else 0, k] += elapsed
    return moves


class ThresholdLearning:
    """Learns the thresholds of a contact detector from the samples between ``begin`` and ``duration`` s later.

    What is learnt adds to what was learnt before, until ``forget``. One thread calls ``add`` and ``interrupt``, any
    thread ``begin`` and ``forget``. ``status`` says in words what became of it.

    Parameters
    ----------
    detector : ContactDetector
    joint_names : sequence of str
        Of n joints.
    static_friction : ndarray, (n,)
        N m (N): at rest the torque of a motor is undetermined within it, so it is the least threshold near a reversal.
    effort_limit : ndarray, (n,), optional
        N m (N), inf: not known. A threshold above 0.3 of it is not learnt. Default: not known.
    tracker : FrictionTracker, optional
        A level is at least its correction, since the thresholds bound it afterwards.
    """

    def __init__(
        self,
        detector: ContactDetector,
        joint_names: Sequence[str],
        static_friction: np.ndarray,
        effort_limit: np.ndarray | None = None,
        tracker: FrictionTracker | None = None,
    ):
        self._detector, self._names, self._static_friction = detector, tuple(joint_names), static_friction
        limit = np.full(len(static_friction), np.inf) if effort_limit is None else np.asarray(effort_limit, float)
        self._limit, self._tracker = np.where(limit > 0.0, limit, np.inf), tracker
        n = len(static_friction)
        self._learnt, self._cells = empty_cells(n), empty_cells(n)
        self._learnt_moved, self._moved = np.zeros((2, 2, n))
        unit = np.where(np.isfinite(self._limit), UNIT * self._limit, 0.1)
        collected = *self._cells, self._moved, detector.weight, unit
        self._collect = bound(_collect, *collected, then=(detector.size, unit, unit, 0.0))
        self._is_known = self._moves = self._forgets = False
        self._asked: tuple[float, float] | None = None
        self._remaining = self._margin = 0.0
        self.status: str = 'not learnt'

    def begin(self, duration: float, margin: float) -> str:
        """Learn over ``duration`` s from now on, ``margin`` times the largest residuals; return why not, '' if so."""
        if not self._is_known:
            return f'no external torque is known: {NEEDED}'
        if self._detector.contact:
            return f'contact at joint {self._joint!r}: end it, or forget the thresholds (~/reset) if nothing touches'
        if not self._moves:
            return f'the arm stands still: {NEEDED}'
        self.status, self._asked = f'learning for {duration:g} s', (duration, margin)
        return ''

    def forget(self) -> None:
        """Forget what was learnt; the thresholds stay."""
        self._forgets, self.status = True, 'not learnt'

    def add(self, inertial: np.ndarray, qd: np.ndarray, elapsed: float) -> None:
        """Add a sample to which ``ContactDetector.update`` was called; arguments as there."""
        if self._forgets:
            self._forgets = False
            for part in (*self._learnt, self._learnt_moved):
                part[:] = 0.0
        if self._asked is not None:
            for part in (*self._cells, self._moved):
                part[:] = 0.0
            (self._remaining, self._margin), self._asked = self._asked, None
        self._is_known, self._moves = True, self._collect(self._detector.size, inertial, qd, elapsed)
        if self._remaining > 0.0:
            self._remaining -= elapsed
            if self._detector.ratio > GROWTH:
                self._end(f'contact at joint {self._joint!r}')
            elif self._remaining <= 0.0:
                self._finish()

    def interrupt(self, why: str) -> None:
        """End the learning without a result, where no external torque is known; ``why`` in words."""
        self._is_known = False
        if self._remaining > 0.0 or self._asked is not None:
            self._end(why)

    @property
    def _joint(self) -> str:
        return self._names[self._detector.joint]

    def _end(self, why: str) -> None:
        self._remaining, self._asked, self.status = 0.0, None, f'not learnt, the thresholds before stay: {why}'

    def _finish(self) -> None:
        """Set the thresholds, unless a joint has not moved enough or its threshold is too large for free motion."""
        unmoved = np.flatnonzero((self._learnt_moved + self._moved < MOVED).any(axis=0))
        if len(unmoved):
            self._end(f'{", ".join(self._names[k] for k in unmoved)}: {NEEDED}')
            return
        merge(self._cells, self._learnt)
        limit, known = self._limit, np.isfinite(self._limit)
        floor = SMALLEST * np.where(known, limit, 1.0)
        if self._tracker is not None:
            floor = np.maximum(floor, self._tracker.correction())
        found = [
            fit(self._cells, k, self._margin, *floors)
            for k, floors in enumerate(zip(floor, self._static_friction, strict=True))
        ]
        thresholds = np.array(found).T
        largest = thresholds[0] + thresholds[1]
        k = int((largest / limit).argmax())
        if largest[k] > LARGEST * limit[k]:
            self._end(
                f'the threshold of joint {self._names[k]!r} would be {largest[k]:.3g}, above {100.0 * LARGEST:g} % of '
                f'its effort limit {limit[k]:g} N m (N): was something touching the arm, or is the payload not set?'
            )
            return
        for mine, its in zip(self._learnt, self._cells, strict=True):
            mine[:] = its
        self._learnt_moved += self._moved
        self._detector.thresholds[:] = thresholds
        self.status = 'learnt'
