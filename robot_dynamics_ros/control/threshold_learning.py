"""Learning of contact thresholds in free motion: largest residuals of an observer, times a margin."""

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.contact_detection import FRICTION_SHARE, REVERSAL_SPEED, ContactDetector
from robot_dynamics_ros.control.friction_tracker import FrictionTracker

MARGIN = 1.5
"""Default ratio of thresholds to the largest residuals in free motion."""
LARGEST, SMALLEST = 0.3, 1e-3
"""Bounds of a learnt threshold, of the effort limit; without a limit it is at least ``SMALLEST`` N m (N)."""
MOVED = 0.25
"""Least time in which each joint moves in either direction, s."""
NEEDED = f'move every joint in both directions, faster than {REVERSAL_SPEED:g} rad/s (m/s) for {MOVED:g} s in each'


def _collect(peaks, moved, weight, residual, friction, qd, elapsed, margin) -> bool:
    """Add a sample to peaks (2, n; N m, N) and moved (2, n; s); return whether a joint moves.

    ``peaks`` are the least thresholds that, with the friction's share, are ``margin`` times each residual, away from
    reversals and near them; ``moved`` is how long a joint has moved in the negative and positive direction.
    """
    moves = False
    for k in range(qd.shape[0]):
        near = 1 if weight[k] >= 0.5 else 0
        peaks[near, k] = max(peaks[near, k], margin * abs(residual[k]) - FRICTION_SHARE * abs(friction[k]))
        if abs(qd[k]) >= REVERSAL_SPEED:
            moves = True
            moved[1 if qd[k] > 0.0 else 0, k] += elapsed
    return moves


class ThresholdLearning:
    """Learns the thresholds of a contact detector from the samples between ``begin`` and ``duration`` s later.

    One thread calls ``add`` and ``interrupt``, any thread ``begin``. ``status`` says in words what became of it.

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
        A threshold is at least its correction, since the thresholds bound it afterwards.
    """

    def __init__(
        self,
        detector: ContactDetector,
        joint_names,
        static_friction: np.ndarray,
        effort_limit: np.ndarray | None = None,
        tracker: FrictionTracker | None = None,
    ):
        self._detector, self._names, self._static_friction = detector, tuple(joint_names), static_friction
        limit = np.full(len(static_friction), np.inf) if effort_limit is None else np.asarray(effort_limit, float)
        self._limit, self._tracker = np.where(limit > 0.0, limit, np.inf), tracker
        example, self._peaks, self._moved = np.zeros((3, 2, len(static_friction)))
        collected = self._peaks, self._moved, detector.weight
        self._collect = bound(_collect, *collected, then=(example[0], example[0], example[0], 0.0, 0.0))
        self._is_known = self._moves = False
        self._asked: tuple[float, float] | None = None
        self._remaining = self._margin = 0.0
        self.status = 'not learnt'

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

    def add(self, residual: np.ndarray, friction: np.ndarray, qd: np.ndarray, elapsed: float) -> None:
        """Add a sample; arguments as of ``ContactDetector.update``, which was called with it."""
        if self._asked is not None:
            self._peaks[:] = self._moved[:] = 0.0
            (self._remaining, self._margin), self._asked = self._asked, None
        self._is_known, self._moves = True, self._collect(residual, friction, qd, elapsed, self._margin)
        if self._remaining > 0.0:
            self._remaining -= elapsed
            if self._detector.contact:
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
        unmoved = np.flatnonzero((self._moved < MOVED).any(axis=0))
        if len(unmoved):
            self._end(f'{", ".join(self._names[k] for k in unmoved)}: {NEEDED}')
            return
        level, near = self._peaks
        limit, known = self._limit, np.isfinite(self._limit)
        level = np.maximum(level, SMALLEST * np.where(known, limit, 1.0))
        if self._tracker is not None:
            level = np.maximum(level, self._tracker.correction())
        largest = np.maximum(level, near)
        k = int((largest / limit).argmax())
        if largest[k] > LARGEST * limit[k]:
            self._end(
                f'the threshold of joint {self._names[k]!r} would be {largest[k]:.3g}, above {100.0 * LARGEST:g} % of '
                f'its effort limit {limit[k]:g} N m (N): was something touching the arm, or is the payload not set?'
            )
            return
        thresholds = self._detector.thresholds
        thresholds[0] = level
        thresholds[1] = np.maximum(np.maximum(near, self._static_friction) - level, 0.0)
        self.status = 'learnt'
