"""Efforts of a planned trajectory at its points: the torque terms that a robot lacks, for a controller that adds them.

joint_trajectory_controller interpolates the efforts of two points linearly, and keeps that of the last point while it
holds the arm there (ros2_controllers 6.9.0, joint_trajectory_controller/src/trajectory.cpp, functions sample and
interpolate_between_points). So the effort of the last point is that of an arm at rest.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.guards.torque_limiter import TorqueLimiter
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import Motion
from robot_dynamics_ros.errors import ArgumentError

ROUNDING = 1e-9
"""Of an effort limit: an effort that exceeds it by less does not count as limited."""


class PlannedEfforts(NamedTuple):
    """Efforts at the samples of a plan; n joints, m samples of increasing time."""

    times: np.ndarray  # (m,) s
    effort: np.ndarray  # (m, n) N m or N, within the effort limit
    wanted: np.ndarray  # (m, n) N m or N, before it was limited
    limit: np.ndarray  # (n,) N m or N

    @property
    def limited(self) -> int:
        """Number of samples where an effort had to be limited."""
        return int((np.abs(self.wanted) > self.limit * (1.0 + ROUNDING)).any(axis=1).sum())

    def at(self, times) -> np.ndarray:
        """Return the efforts (k, n) at ``times`` (k; s), each of them that of a sample."""
        return self.effort[np.searchsorted(self.times, times)]

    def interpolation_error(self, times) -> np.ndarray:
        """Return for each joint (n) how far efforts that are interpolated between ``times`` (k; s) are off, N m or N.

        It is the largest magnitude of the difference at any sample; ``times`` are those of samples.
        """
        chosen = self.at(times)
        lines = [np.interp(self.times, times, column) for column in chosen.T]
        return np.abs(np.transpose(lines) - self.effort).max(axis=0)


def planned_efforts(law: PayloadBlender, motion: Motion, start: int, now: int, limit: np.ndarray) -> PlannedEfforts:
    """Compute the efforts of a motion.

    Parameters
    ----------
    law : PayloadBlender
        Of the torque terms at q, qd and qdd.
    motion : Motion
        Its last velocity and acceleration are replaced by zero: the controller keeps the last effort.
    start : int
        ROS time at which the motion starts, ns: payload and gravity of each sample are those of its time.
    now : int
        ROS time, ns. Samples before it get payload and gravity of now: nobody knows those of before.
    limit : ndarray, (n,)
        Largest magnitude of an effort, N m (prismatic joints: N); inf: none.

    Returns
    -------
    PlannedEfforts

    Raises
    ------
    ArgumentError
        If an effort is not finite.
    """
    times, q, qd, qdd = (values[motion.last] for values in motion[:4])
    qd[-1] = qdd[-1] = 0.0
    limiter, effort = TorqueLimiter(limit, np.zeros(len(limit))), np.zeros(q.shape)
    wanted, stamps = np.zeros(q.shape), np.maximum(start + np.rint(times * 1e9).astype(np.int64), now)
    for k, stamp in enumerate(stamps.tolist()):
        law.torque(stamp, q[k], qd[k], qdd[k], out=effort[k])
        wanted[k] = effort[k]
        if not limiter.apply(effort[k], 0.0):
            raise ArgumentError(f'trajectory: its effort at {times[k]:g} s is not finite')
    return PlannedEfforts(times, effort, wanted, limit)


def check_defined(trajectory: Trajectory) -> None:
    """Raise ArgumentError for a plan that leaves a part of its motion open, so that its torques are not determined."""
    starts, coefficients, _ = trajectory.segments
    if starts[0] > 0.0:
        raise ArgumentError(
            f'trajectory: its first point is at {starts[0]:g} s, and the motion until then depends on where the arm '
            'is; begin with a point at 0 s, at the position of the arm'
        )
    jumps = trajectory.straight & coefficients[:, 1].any(axis=1)
    if jumps.any():
        k = int(np.flatnonzero(jumps)[0])
        raise ArgumentError(
            f'trajectory: points {k} and {k + 1} do not both have velocities: the arm would jump to its velocity, and '
            'no torque does that; plan with time parameterisation'
        )
