"""Largest gravity torque of each joint within the position limits.

The gravity torque of any joint is A + B cos q_k + C sin q_k in the position of a revolute joint k, and linear in that
of a prismatic one. So its largest magnitude along one coordinate has a closed form, and coordinate ascent finds a
maximum. For each joint it starts from the best of a set of positions and from some others. The result is attained
within the limits and is a maximum along every coordinate: a lower bound of the global maximum, which is missed only if
no start leads to it. Tests compare it with closed forms and with random positions.
"""

from typing import NamedTuple, Protocol

import numpy as np

from robot_dynamics_ros.model.model import JointLimits

BUDGET = 400_000
"""Number of evaluations after which no further sweep over the joints begins."""
RISE = 1e-9
"""Tolerance of convergence, relative to the largest torque."""
TURN = 2.0 * np.pi


class Weighed(Protocol):
    """A robot, or one in its driven joints: all joints have one coordinate."""

    @property
    def nv(self) -> int:
        """Number of joints."""

    @property
    def limits(self) -> JointLimits:
        """Limits in joint order."""

    def gravity_torque(self, q) -> np.ndarray:
        """Return gravity torques (..., n) at q (..., n), N m (prismatic: N)."""


class StaticTorque(NamedTuple):
    """Largest magnitude of each joint's gravity torque (n, N m or N), and the positions (n, n) where it occurs."""

    torque: np.ndarray
    positions: np.ndarray


def largest_gravity(robot: Weighed, points: np.ndarray, starts: int, sweeps: int) -> StaticTorque:
    """Return the largest gravity torque of each joint of ``robot`` within the position limits.

    A joint without limits covers a turn if it is revolute, and stays at 0 if it is prismatic. ``points`` (count, n)
    spread over the unit cube are the positions where the search begins, from ``starts`` of them for each joint, half of
    them those with its largest torque, and goes ``sweeps`` times over all joints.
    """
    n = robot.nv
    lower, upper, turns = range_of_positions(robot)
    samples = lower + points * (upper - lower)
    found = np.abs(robot.gravity_torque(samples))
    largest = np.argsort(found, axis=0, kind='stable')[::-1][: starts // 2]  # (starts / 2, n)
    others = np.broadcast_to(np.arange(starts // 2)[:, None], (starts // 2, n))
    # each row: a position, and the joint whose torque is maximised
    joint = np.tile(np.arange(n), starts)
    q = samples[np.concatenate([largest, others]).ravel()]
    value = found[np.concatenate([largest, others]).ravel(), joint]
    evaluations = 0
    for _ in range(sweeps):
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
    value = value.reshape(starts, n)
    best = np.argmax(value, axis=0)
    return StaticTorque(value[best, np.arange(n)], q.reshape(starts, n, n)[best, np.arange(n)])


def range_of_positions(robot: Weighed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the lower and upper end (n each) of each joint's range, and whether the joint is revolute (n)."""
    n = robot.nv
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


def _candidates(robot: Weighed, q, joint, k: int, lower: float, upper: float, turns: bool) -> np.ndarray:
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


def _torque_of(robot: Weighed, rows: np.ndarray, joint: np.ndarray) -> np.ndarray:
    """Return at each of ``rows`` (count, n) the torque of one ``joint``, (count,)."""
    return robot.gravity_torque(rows)[np.arange(len(rows)), joint]
