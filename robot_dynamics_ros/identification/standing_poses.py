"""Standing poses of an arm: proposed for the identification of gravity, from arrays, or found in a log."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.arm.static_torque import position_range
from robot_dynamics_ros.control.joints.standstill import SPEED, Standstill
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.robot.summary.low_discrepancy import low_discrepancy

CANDIDATES = 512
APPROACH = 0.1
"""Distance of proposed poses from the position limits, rad (m): from there a pose is approached from both sides."""
FLOOR = 0.01
"""Least noise of a joint's torque, as a share of the largest torque of any joint, where poses are chosen."""
IGNORANCE = 1e-3
"""Information on each parameter before the first pose, as a share of that of one pose."""


@dataclass(frozen=True, eq=False)
class StandingPoses:
    """Joint torques of an arm that stands still in some poses.

    Parameters
    ----------
    q : array_like, (k, n)
        Positions, rad (m).
    tau : array_like, (k, n)
        Measured joint torques with gravity, N m (N).
    direction : array_like, (k, n)
        Sign of each joint's last motion before it stood still: 1, -1, or 0 where it is unknown.

    Raises
    ------
    ArgumentError
        Naming the argument: another shape, a value that is not finite, another direction.
    """

    q: np.ndarray
    tau: np.ndarray
    direction: np.ndarray
    FIELDS: ClassVar = ('q', 'tau', 'direction')

    def __post_init__(self) -> None:
        """Convert the fields to arrays and check them."""
        shape = np.shape(self.q)
        if len(shape) != 2:
            raise ArgumentError(f'q: expected shape (k, n), got {shape}')
        for name in self.FIELDS:
            object.__setattr__(self, name, validation.finite(name, getattr(self, name), shape))
        if not np.isin(self.direction, (-1.0, 0.0, 1.0)).all():
            raise ArgumentError('direction: expected the numbers -1, 0 and 1')

    @classmethod
    def from_log(cls, robot: Robot, log: Log) -> 'StandingPoses':
        """Return the poses in which the arm stands still for half a second or longer.

        Positions and torques are means over the last 0.5 to 1 s of a standstill; directions are those of each joint's
        last velocity above 0.02 rad/s (m/s).

        Parameters
        ----------
        robot : Robot
            Its joints are those of the log.
        log : Log
            The arm moves from pose to pose, and stands in each.

        Returns
        -------
        StandingPoses

        Raises
        ------
        ArgumentError
            If the arm never stands still.
        """
        standstill, tau = Standstill(robot.nv), log.torque(robot)
        direction, stood, poses = np.zeros(robot.nv), False, list[tuple]()
        for k, t in enumerate(log.t):
            before, stood = stood, standstill.add(round(t * 1e9), log.q[k], log.qd[k], tau[k])
            if stood:
                # the newest means replace those of the same standstill
                poses[len(poses) - before :] = [(standstill.position, standstill.effort, direction)]
            direction = np.where(np.abs(log.qd[k]) > SPEED, np.sign(log.qd[k]), direction)
        if not poses:
            raise ArgumentError('log: the arm never stands still for 0.5 s; move it to some 20 poses and wait in each')
        return cls(*map(np.array, zip(*poses, strict=True)))


def gravity_poses(robot: Robot, count: int = 20, avoid: Callable[[np.ndarray], bool] | None = None) -> np.ndarray:
    """Return poses that are good for ``identify_gravity``, in an order with short ways between them.

    Each is the best of 512 low-discrepancy positions, those with the largest determinant of the information on the base
    parameters of gravity (D-optimal). They lie 0.1 rad (m) within the position limits. Approach each pose twice: with
    all joints from 0.1 rad below, and from 0.1 rad above, so that static friction cancels.

    Parameters
    ----------
    robot : Robot
        Its gravity torque at a pose has to be within the effort limits.
    count : int
        Number of poses, at least 1.
    avoid : callable, optional
        ``avoid(q)`` says whether a pose (n,) is impossible, for instance by a collision.

    Returns
    -------
    ndarray, (count, n)
        rad (prismatic: m).

    Raises
    ------
    ArgumentError
        If fewer poses are possible.
    """
    lower, upper, _ = position_range(robot)
    inner = np.minimum(APPROACH, 0.5 * (upper - lower))
    q = lower + inner + low_discrepancy(CANDIDATES, robot.nv) * (upper - lower - 2.0 * inner)
    effort = np.abs(robot.gravity_torque(q))
    limit = np.where(robot.limits.effort > 0.0, robot.limits.effort, np.inf)
    q = q[(effort <= limit).all(axis=1) & np.array([avoid is None or not avoid(pose) for pose in q])]
    if not 1 <= count <= len(q):
        raise ArgumentError(f'count: expected 1 to {len(q)}, the number of possible poses, got {count}')
    noise = np.maximum(effort.max(axis=0), FLOOR * effort.max())
    Y = robot.torque_regressor(q, 0.0 * q, 0.0 * q) / noise[:, None]
    # orthonormal combinations of the parameters
    _, sizes, combinations = np.linalg.svd(Y.reshape(-1, Y.shape[2]), full_matrices=False)
    Y = Y @ (combinations / sizes[:, None])[sizes > 1e-9 * sizes[0]].T * np.sqrt(len(q))
    information, chosen = IGNORANCE * np.eye(Y.shape[2]), np.zeros(0, int)
    for _ in range(count):
        gain = np.linalg.slogdet(np.eye(robot.nv) + Y @ np.linalg.inv(information) @ Y.transpose(0, 2, 1))[1]
        gain[chosen] = -np.inf
        chosen = np.append(chosen, np.argmax(gain))
        information += Y[chosen[-1]].T @ Y[chosen[-1]]
    poses = q[chosen]
    for k in range(1, count):
        nearest = k + int(np.argmin(np.abs(poses[k:] - poses[k - 1]).max(axis=1)))
        poses[[k, nearest]] = poses[[nearest, k]]
    return poses
