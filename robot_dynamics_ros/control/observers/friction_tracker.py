"""Friction tracker: a scale and an offset of each joint's friction model, estimated while the robot moves.

Friction changes with temperature, grease and load from run to run, by 20 to 30 %. For each joint the tracker keeps the
estimate of recursive least squares with exponential forgetting and a constant prior::

    measured = scale friction + offset                    friction: the model's, at the joint's velocity
    minimise  sum_k w_k (measured_k - scale friction_k - offset)^2 + PRIOR ((scale - 1)^2 + offset^2)

in units of the joint's friction level. w_k is the period of sample k, and decays exponentially while the joint moves
on: a joint that stands still neither learns nor forgets. The prior does not decay, so that the normal matrix stays
positive definite; a motion without reversal, which cannot separate scale and offset, changes both as little as it has
to.
"""

from typing import Protocol

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.control.joints.joint_friction import friction_along
from robot_dynamics_ros.control.joints.standstill import SPEED
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Matrix, Vector
from robot_dynamics_ros.robot import Robot

TIME_CONSTANT = 0.5
"""Default time constant of forgetting, s. On the measured AUBO-i5 with friction changed by 25 %, the lowest R2 of a
joint is 0.986, and 0.979 with 2 s; with a longer one, less is learnt from a contact."""
PRIOR = 0.01
"""Weight of the prior: the time that a joint moves with its friction level, s."""
LARGEST_ERROR = 0.5
"""Largest prediction error that is learnt, in friction levels: a contact has a bounded effect."""
LOWEST_SCALE, HIGHEST_SCALE = 0.3, 3.0
LARGEST_OFFSET = 1.0
"""Largest magnitude of the offset, in friction levels."""
OFFSET_SHARE, SCALE_SHARE = 0.25, 0.4
"""Largest offset and largest change by the scale, in contact thresholds of the same sample. Their sum is below the
share at which a contact ends, so that nothing that was learnt can be a contact that does not end."""
LARGEST_GAP = 0.1
"""Longest time that counts for one sample, s."""
TRANSMITTED = 0.1
"""Torque for the friction level where friction depends on the load, as a share of the effort limit."""
LARGEST_TORQUE = 1e3
"""Friction and measurement above this number of friction levels are ignored: they are not friction."""


@compiled(given='qd friction measured elapsed')
def track_friction(
    level: Vector,
    contact: Vector,
    sums: Matrix,
    scale: Vector,
    offset: Vector,
    time_constant: float,
    qd: Vector,
    friction: Vector,
    measured: Vector,
    elapsed: float,
) -> None:
    """Update sums (n, 5), ``scale`` and ``offset`` (n) by one sample; arguments as in ``FrictionTracker.update``.

    The correction is bounded by the thresholds ``contact`` (n), also where nothing is learnt.
    """
    for k in range(qd.shape[0]):
        # NaN and a level of 0 fail the comparisons
        moves = SPEED < abs(qd[k]) < np.inf and elapsed > 0.0
        if moves and abs(friction[k]) < LARGEST_TORQUE * level[k] and abs(measured[k]) < LARGEST_TORQUE * level[k]:
            f = friction[k] / level[k]
            error = measured[k] / level[k] - scale[k] * f - offset[k] / level[k]
            error = max(-LARGEST_ERROR, min(LARGEST_ERROR, error))
            # relative to the prior: (scale - 1) f + offset
            y = error + (scale[k] - 1.0) * f + offset[k] / level[k]
            w = min(elapsed, LARGEST_GAP)
            kept = time_constant / (time_constant + w)
            ff, f1, one, fy, y1 = sums[k]
            ff, f1, one = kept * ff + w * f * f, kept * f1 + w * f, kept * one + w
            fy, y1 = kept * fy + w * f * y, kept * y1 + w * y
            sums[k, 0], sums[k, 1], sums[k, 2], sums[k, 3], sums[k, 4] = ff, f1, one, fy, y1
            a, b = ff + PRIOR, one + PRIOR
            determinant = a * b - f1 * f1
            scale[k] = max(LOWEST_SCALE, min(HIGHEST_SCALE, 1.0 + (b * fy - f1 * y1) / determinant))
            offset[k] = level[k] * max(-LARGEST_OFFSET, min(LARGEST_OFFSET, (a * y1 - f1 * fy) / determinant))
        if contact[k] < np.inf:
            largest = OFFSET_SHARE * contact[k]
            offset[k] = max(-largest, min(largest, offset[k]))
            size = abs(friction[k])
            # NaN fails the comparison
            if 0.0 < size < LARGEST_TORQUE * level[k]:
                largest = SCALE_SHARE * contact[k] / size
                scale[k] = max(1.0 - largest, min(1.0 + largest, scale[k]))


class RecordedMotion(Protocol):
    """What ``FrictionTracker.predict`` reads of an ``identification.Log``."""

    @property
    def t(self) -> np.ndarray:
        """Times (m,), s."""

    @property
    def q(self) -> np.ndarray:
        """Positions (m, n), rad or m."""

    @property
    def qd(self) -> np.ndarray:
        """Velocities (m, n), rad/s or m/s."""

    @property
    def qdd(self) -> np.ndarray:
        """Accelerations (m, n), rad/s^2 or m/s^2."""

    def torque(self, robot: Robot) -> np.ndarray:
        """Return the joint torques (m, n), friction included, N m or N."""


class FrictionTracker:
    """Scale and offset of the friction of each joint of one robot, updated with each sample, without allocation.

    Parameters
    ----------
    robot : Robot
        Its friction gives the friction level of each joint: the magnitude at 1 rad/s (m/s), with 10 % of the effort
        limit transmitted. A joint without friction learns nothing.
    time_constant : float
        Time constant of forgetting, s, counted while a joint moves.
    contact : ndarray, (n,), optional
        Contact thresholds in force, N m (N); inf: not known. The tracker reads them at each update: the offset is at
        most 0.25 of them, the change of the sample's friction by the scale at most 0.4. Default: no bound.

    Attributes
    ----------
    scale : ndarray, (n,)
        Factor of the model's friction, within [0.3, 3].
    offset : ndarray, (n,)
        Torque in addition, N m (prismatic: N), at most the friction level.

    Raises
    ------
    ArgumentError
        Unless the time constant is finite and above 0.
    """

    def __init__(self, robot: Robot, time_constant: float = TIME_CONSTANT, contact: np.ndarray | None = None):
        time_constant = float(validation.finite('time_constant', time_constant, ()))
        if not time_constant > 0.0:
            raise ArgumentError(f'time_constant: expected a time above 0 s, got {time_constant:g}')
        n, effort = robot.nv, robot.limits.effort
        transmitted = TRANSMITTED * np.where(np.isfinite(effort), effort, 0.0)
        friction, speed = friction_along(robot, robot.neutral()), np.ones(n)
        # without the offset
        self._robot, self._level = robot, 0.5 * (friction(speed, transmitted) - friction(-speed, transmitted))
        self._sums = np.zeros((n, 5))
        self.scale: np.ndarray = np.ones(n)
        self.offset: np.ndarray = np.zeros(n)
        example = np.zeros(n)
        contact = np.full(n, np.inf) if contact is None else contact
        fixed = self._level, contact, self._sums, self.scale, self.offset, time_constant
        self._update = bound(track_friction, *fixed, then=(example, example, example, 0.0))

    def reset(self) -> None:
        """Return to scale 1 and offset 0."""
        self._sums[:], self.scale[:], self.offset[:] = 0.0, 1.0, 0.0

    def correction(self) -> np.ndarray:
        """Return the largest difference (n, N m or N) to the model's friction at the friction level."""
        return np.abs(self.offset) + np.abs(self.scale - 1.0) * self._level

    def torque(self, friction: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write and return out (n) = scale friction + offset, N m (N), for the model's ``friction`` (n)."""
        np.multiply(self.scale, friction, out=out)
        np.add(out, self.offset, out=out)
        return out

    def update(self, qd: np.ndarray, friction: np.ndarray, measured: np.ndarray, elapsed: float) -> None:
        """Learn from one sample of a motion without contact.

        A joint below 0.02 rad/s (m/s) and one with a value that is not finite are not changed.

        Parameters
        ----------
        qd : ndarray, (n,)
            Velocities, rad/s (m/s).
        friction : ndarray, (n,)
            Friction torque of the model, N m (N), as ``Robot.friction_torque`` computes it.
        measured : ndarray, (n,)
            Friction torque by measurement, N m (N): joint torque minus rigid-body torque, filtered like ``friction``.
        elapsed : float
            Time since the sample before, s; above 0.1 s it counts as 0.1 s, and not above 0 the sample is ignored.
        """
        self._update(qd, friction, measured, elapsed)

    def predict(self, log: RecordedMotion) -> np.ndarray:
        """Return the joint torques (m, n; N m, N) of a log; the one of a sample uses only samples before it.

        The tracker continues from its present estimate.

        Parameters
        ----------
        log : Log
            A motion without contact, in the robot's joint order: ``identification.Log``.

        Returns
        -------
        ndarray, (m, n)
            Inverse dynamics plus the friction that is tracked.
        """
        rigid = self._robot.inverse_dynamics(log.q, log.qd, log.qdd)
        friction = friction_along(self._robot, log.q)(log.qd, rigid)
        measured = log.torque(self._robot) - rigid
        elapsed = np.diff(log.t, prepend=log.t[0])
        predicted = np.empty_like(rigid)
        for k, step in enumerate(elapsed.tolist()):
            self.torque(friction[k], predicted[k])
            self._update(log.qd[k], friction[k], measured[k], step)
        return rigid + predicted
