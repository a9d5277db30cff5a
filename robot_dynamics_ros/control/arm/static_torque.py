"""Largest gravity torque of each joint within the position limits, compared with the effort limits.

The gravity torque of any joint is A + B cos q_k + C sin q_k in the position of a revolute joint k, and linear in that
of a prismatic one. So its largest magnitude along one coordinate has a closed form, and coordinate ascent finds a
maximum. For each joint it starts from the best of a set of low-discrepancy positions and from some others. The result
is attained within the limits and is a maximum along every coordinate: a lower bound of the global maximum, which is
missed only if no start leads to it. Tests compare it with closed forms and with random positions.
"""

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.control.arm.driven_robot import DrivenRobot
from robot_dynamics_ros.control.arm.reachable_positions import within_reach
from robot_dynamics_ros.control.joints.continuous_joints import TURN
from robot_dynamics_ros.control.joints.low_discrepancy import low_discrepancy
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot

SAMPLES = 1024
STARTS = 16
"""Number of starts for each joint; half of them are the samples with its largest torque."""
SWEEPS = 20
BUDGET = 400_000
"""Number of evaluations after which no further sweep over the joints begins."""
RISE = 1e-9
"""Tolerance of convergence, relative to the largest torque."""


class StaticTorque(NamedTuple):
    """Largest magnitude of each joint's gravity torque (n, N m or N), and the positions (n, n) where it occurs."""

    torque: np.ndarray
    positions: np.ndarray


def largest_static_torque(robot: Robot | DrivenRobot) -> StaticTorque:
    """Return the largest gravity torque of each joint of ``robot`` within the position limits.

    A joint without limits covers a turn if it is revolute, and stays at 0 if it is prismatic. All joints of ``robot``
    have one coordinate.
    """
    robot, n = within_reach(robot), robot.nv
    lower, upper, turns = position_range(robot)
    samples = lower + low_discrepancy(SAMPLES, n) * (upper - lower)
    found = np.abs(robot.gravity_torque(samples))
    largest = np.argsort(found, axis=0, kind='stable')[::-1][: STARTS // 2]  # (starts / 2, n)
    others = np.broadcast_to(np.arange(STARTS // 2)[:, None], (STARTS // 2, n))
    # each row: a position, and the joint whose torque is maximised
    joint = np.tile(np.arange(n), STARTS)
    q = samples[np.concatenate([largest, others]).ravel()]
    value = found[np.concatenate([largest, others]).ravel(), joint]
    evaluations = 0
    for _ in range(SWEEPS):
        before = value.copy()
        for k in range(n):
            candidates = _candidates(robot, q, joint, k, lower[k], upper[k], turns[k])  # (rows, candidates)
            rows = np.repeat(q, candidates.shape[1], axis=0)
            rows[:, k] = candidates.ravel()
            reached = np.abs(_torque_of(robot, rows, np.repeat(joint, candidates.shape[1]))).reshape(candidates.shape)
            best = np.argmax(reached, axis=1)
            row = np.arange(len(q))
            better = reached[row, best] > value
            q[better, k] = candidates[row, best][better]
            value = np.maximum(value, reached[row, best])
            evaluations += 2 * rows.shape[0]
        if (value - before <= RISE * value.max(initial=0.0)).all() or evaluations > BUDGET:
            break
    value = value.reshape(STARTS, n)
    best = np.argmax(value, axis=0)
    return StaticTorque(value[best, np.arange(n)], q.reshape(STARTS, n, n)[best, np.arange(n)])


def check_static_torque(bare: Robot | DrivenRobot, loaded: Robot | DrivenRobot, what: str, effort_limit=None) -> None:
    """Raise ArgumentError if a gravity torque of ``loaded`` within the position limits exceeds the effort limit.

    Joints with the same torque in ``bare``, the robot without payload, and joints without an effort limit are ignored.
    ``what`` names the payload in the message. ``effort_limit`` (n,) is in N m (prismatic joints: N); default: that of
    the robot.
    """
    needed, limits = largest_static_torque(loaded), loaded.limits.effort if effort_limit is None else effort_limit
    alone = np.abs(within_reach(bare).gravity_torque(needed.positions)[np.arange(bare.nv), np.arange(bare.nv)])
    limited = np.isfinite(limits) & (limits > 0.0)
    excess = np.where(limited, needed.torque / np.where(limited, limits, 1.0), 0.0)
    excess[needed.torque - alone <= RISE * needed.torque] = 0.0
    k = int(np.argmax(excess))
    if excess[k] > 1.0:
        raise ArgumentError(
            f'{what}: joint {loaded.joint_names[k]!r} would need {needed.torque[k]:.4g} N m (prismatic: N) to hold the '
            f'arm against gravity at its worst position, {alone[k]:.4g} of it without the payload; its effort limit is '
            f'{limits[k]:.4g}; choose a smaller payload, or set the parameter payload_limit or effort_limit'
        )


def position_range(robot: Robot | DrivenRobot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the lower and upper end (n each) of each joint's range, and whether the joint is revolute (n)."""
    robot, n = within_reach(robot), robot.nv
    position = np.broadcast_to(np.linspace(0.3, 0.8, n), (n, n))
    after_a_turn = robot.gravity_torque(position + TURN * np.eye(n))
    scale = 1.0 + np.abs(after_a_turn).max(initial=0.0)
    turns = np.abs(after_a_turn - robot.gravity_torque(position)).max(axis=1, initial=0.0) < 1e-9 * scale
    lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
    unlimited = ~(np.isfinite(lower) & np.isfinite(upper))
    wide = turns & (unlimited | (upper - lower >= TURN))
    lower[unlimited], upper[unlimited] = 0.0, 0.0
    lower[wide], upper[wide] = -np.pi, np.pi
    return lower, upper, turns


def _candidates(robot: Robot | DrivenRobot, q, joint, k: int, lower: float, upper: float, turns: bool) -> np.ndarray:
    """Return positions of joint k, (rows, candidates), that include the one with the largest torque of ``joint``."""
    ends = np.broadcast_to([lower, upper], (len(q), 2))
    if not turns:
        return ends
    angles = TURN / 3.0 * np.arange(3)
    rows = np.repeat(q, 3, axis=0)
    rows[:, k] = np.tile(angles, len(q))
    torque = _torque_of(robot, rows, np.repeat(joint, 3)).reshape(-1, 3)
    top = np.arctan2(torque @ np.sin(angles), torque @ np.cos(angles))[:, None]
    # the angles of the largest and the smallest torque, shifted by whole turns into the limits if possible
    extremes = lower + (np.concatenate([top, top + np.pi], axis=1) - lower) % TURN
    return np.concatenate([ends, np.where(extremes <= upper, extremes, lower)], axis=1)


def _torque_of(robot: Robot | DrivenRobot, rows: np.ndarray, joint: np.ndarray) -> np.ndarray:
    """Return at each of ``rows`` (count, n) the torque of one ``joint``, (count,)."""
    return robot.gravity_torque(rows)[np.arange(len(rows)), joint]
