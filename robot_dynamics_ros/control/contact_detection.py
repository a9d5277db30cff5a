"""Contact detection: external joint torques compared with thresholds that depend on the motion.

Without contact the residual r of an observer is what the model lacks: friction, which changes from run to run, most of
all near a reversal of the velocity and for a time constant of the observer after it. So the threshold of a joint is::

    threshold = level + reversal min(1, 2 w) + FRICTION_SHARE |tau_f|

w = 1 below REVERSAL_SPEED, else dw/dt = -K w.

See Haddadin, De Luca & Albu-Schaeffer 2017, section III-B, on thresholds that depend on the motion.
"""

import math

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound

REVERSAL_SPEED = 0.1
"""Speed below which a joint is near a reversal, rad/s (m/s)."""
FRICTION_SHARE = 0.1
"""Share of the model's friction that a tracker does not follow: with 0.05 to 0.2 the measured AUBO-i5 has no alarm."""
RELEASE = 0.7
"""Share of the thresholds below which a contact ends."""


def _compare(thresholds, weight, threshold, ratio, residual, friction, qd, decay) -> None:
    """Write weight w, threshold (n, N m or N) and ratio (n) of |residual| to it; thresholds (2, n): level, reversal."""
    for k in range(qd.shape[0]):
        weight[k] = 1.0 if abs(qd[k]) < REVERSAL_SPEED else weight[k] * decay
        threshold[k] = thresholds[0, k] + thresholds[1, k] * min(1.0, 2.0 * weight[k])
        threshold[k] += FRICTION_SHARE * abs(friction[k])
        ratio[k] = abs(residual[k]) / threshold[k]


class ContactDetector:
    """Compares the residual of a momentum observer with thresholds.

    Parameters
    ----------
    n : int
        Number of joints.
    gain : float
        That of the observer, 1/s.

    Attributes
    ----------
    thresholds : ndarray, (2, n)
        Level (above 0) and reversal (at least 0), N m (prismatic: N); inf: not known, no contact.
    threshold : ndarray, (n,)
        The threshold in force, N m (N).
    weight : ndarray, (n,)
        w, how near each joint is to a reversal.
    contact : bool
        Whether a joint has exceeded its threshold, and one still exceeds ``RELEASE`` of it.
    joint : int
        Place of the joint with the largest ratio of residual to threshold.
    ratio : float
        This ratio; 0 where thresholds are not known.
    """

    def __init__(self, n: int, gain: float):
        self.thresholds = np.vstack([np.full(n, np.inf), np.zeros(n)])
        self.threshold, self.weight, self._ratios = np.full(n, np.inf), np.ones(n), np.zeros(n)
        self._gain = gain
        written, example = (self.weight, self.threshold, self._ratios), np.zeros(n)
        self._compare = bound(_compare, self.thresholds, *written, then=(example, example, example, 0.0))
        self.reset()

    @property
    def is_calibrated(self) -> bool:
        """Whether the thresholds of all joints are known."""
        return bool(np.isfinite(self.thresholds).all())

    @property
    def trust(self) -> float:
        """By how much the last sample is one of free motion: 1 up to half of the thresholds, 0 in contact."""
        return 0.0 if self.contact else min(1.0, 2.0 * (1.0 - self.ratio))

    def reset(self) -> None:
        """End a contact, as where the observer starts anew; the thresholds stay."""
        self.contact, self.joint, self.ratio = False, 0, 0.0
        self.weight[:] = 1.0

    def update(self, residual: np.ndarray, friction: np.ndarray, qd: np.ndarray, elapsed: float) -> bool:
        """Return ``contact`` for residual and friction of an observer (n, N m or N) at velocities qd (n).

        ``elapsed`` is the time since the sample before, s.
        """
        self._compare(residual, friction, qd, math.exp(-self._gain * elapsed))
        self.joint = int(self._ratios.argmax())
        self.ratio = float(self._ratios[self.joint])
        self.contact = self.ratio > (RELEASE if self.contact else 1.0)
        return self.contact
