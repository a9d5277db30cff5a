"""Contact detection: external joint torques compared with thresholds that depend on the motion.

Without contact the residual r of an observer is what the model lacks: friction, which changes from run to run, most of
all near a reversal of the velocity and for a time constant of the observer after it, and inertias. So the threshold of
a joint is::

    threshold = level + reversal min(1, 2 w) + FRICTION_SHARE |tau_f| + speed |qd| + inertia a
    w = 1 below REVERSAL_SPEED, else dw/dt = -K w;      da/dt = K (|dp/dt| - a)

p is the generalised momentum. Where a state has been sampled late, its velocity and its torque are not of one time, and
the residual has a peak of one or two samples. So a residual counts that the last SAMPLES have in common::

    size = max(0, min r, -max r)

See Haddadin, De Luca & Albu-Schaeffer 2017, section III-B, on thresholds that depend on the motion.
"""

import math

import numpy as np

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector

REVERSAL_SPEED = 0.1
"""Speed below which a joint is near a reversal, rad/s (m/s)."""
FRICTION_SHARE = 0.05
"""Share of the model's friction that changes from run to run, beyond what a tracker follows and what motions of one day
teach. On motions of a UR10e on other days it is worth more than a larger margin."""
SAMPLES = 3
"""Successive samples that have to exceed a threshold."""
RELEASE = 0.7
"""Share of the thresholds below which a contact ends."""


@compiled(given='residual friction inertial qd decay')
def _compare(
    thresholds: Matrix,
    weight: Vector,
    recent: Matrix,
    size: Vector,
    threshold: Vector,
    ratio: Matrix,
    residual: Vector,
    friction: Vector,
    inertial: Vector,
    qd: Vector,
    decay: float,
) -> None:
    """Write w, size and threshold (n, N m or N), and ratio (2, n); arguments as of ``update``.

    ratio: of size and of the magnitude of this residual to the threshold. thresholds (4, n): level, reversal, speed,
    inertia; recent (2, n): the residuals of the last samples, oldest first.
    """
    for k in range(qd.shape[0]):
        weight[k] = 1.0 if abs(qd[k]) < REVERSAL_SPEED else weight[k] * decay
        threshold[k] = thresholds[0, k] + thresholds[1, k] * min(1.0, 2.0 * weight[k])
        threshold[k] += FRICTION_SHARE * abs(friction[k]) + thresholds[2, k] * abs(qd[k])
        threshold[k] += thresholds[3, k] * inertial[k]
        least = min(residual[k], recent[0, k], recent[1, k])
        greatest = max(residual[k], recent[0, k], recent[1, k])
        size[k] = max(0.0, least, -greatest)
        recent[0, k], recent[1, k] = recent[1, k], residual[k]
        ratio[0, k], ratio[1, k] = size[k] / threshold[k], abs(residual[k]) / threshold[k]


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
    thresholds : ndarray, (4, n)
        Level (above 0, N m, prismatic: N; inf: not known, no contact), and what is added to it, at least 0: reversal
        (N m, N), speed (N m s/rad, N s/m), inertia (share of the inertial torque).
    threshold : ndarray, (n,)
        The threshold in force, N m (N).
    weight : ndarray, (n,)
        w, how near each joint is to a reversal.
    size : ndarray, (n,)
        Magnitude of the residual that the last ``SAMPLES`` exceed with one sign, N m (N).
    contact : bool
        Whether a joint has exceeded its threshold, and one still exceeds ``RELEASE`` of it.
    joint : int
        Place of the joint with the largest ratio of size to threshold.
    ratio : float
        This ratio; 0 where thresholds are not known.
    """

    def __init__(self, n: int, gain: float):
        self.thresholds: np.ndarray = np.zeros((4, n))
        self.thresholds[0] = np.inf
        self.threshold: np.ndarray = np.full(n, np.inf)
        self.weight: np.ndarray = np.ones(n)
        self.size: np.ndarray = np.zeros(n)
        self._ratios = np.zeros((2, n))
        self._recent, self._gain = np.zeros((SAMPLES - 1, n)), gain
        written, example = (self.weight, self._recent, self.size, self.threshold, self._ratios), np.zeros(n)
        self._compare = bound(_compare, self.thresholds, *written, then=(example, example, example, example, 0.0))
        self.reset()

    @property
    def is_calibrated(self) -> bool:
        """Whether the thresholds of all joints are known."""
        return bool(np.isfinite(self.thresholds).all())

    @property
    def trust(self) -> float:
        """By how much the last sample is one of free motion: 1 up to half of the thresholds, 0 in contact."""
        return 0.0 if self.contact else max(0.0, min(1.0, 2.0 * (1.0 - float(self._ratios[1].max()))))

    def reset(self) -> None:
        """End a contact, as where the observer starts anew; the thresholds stay."""
        self.contact: bool = False
        self.joint: int = 0
        self.ratio: float = 0.0
        self.weight[:] = 1.0
        self._recent[:] = self.size[:] = self._ratios[:] = 0.0

    def update(
        self, residual: np.ndarray, friction: np.ndarray, inertial: np.ndarray, qd: np.ndarray, elapsed: float
    ) -> bool:
        """Return ``contact`` for residual, friction and inertial torque of an observer (n, N m or N).

        ``qd`` (n) are the velocities, ``elapsed`` is the time since the sample before, s.
        """
        self._compare(residual, friction, inertial, qd, math.exp(-self._gain * elapsed))
        self.joint = int(self._ratios[0].argmax())
        self.ratio = float(self._ratios[0, self.joint])
        self.contact = self.ratio > (RELEASE if self.contact else 1.0)
        return self.contact
