"""Largest gravity torque of each joint within the position limits.

The gravity torque of any joint is A + B cos q_k + C sin q_k in the position of a revolute joint k, and linear in that
of a prismatic one. So its largest magnitude along one coordinate has a closed form, and coordinate ascent finds a
maximum. For each joint it starts from the best of a set of positions and from some others, and goes along the
coordinates that its torque depends on as long as it rises. The result is attained within the limits and is a maximum
along every coordinate: a lower bound of the global maximum, which is missed only if no start leads to it. Tests compare
it with closed forms and with random positions.
"""

from typing import NamedTuple, Protocol

import numpy as np

from robot_dynamics_ros.model.model import JointLimits
from robot_dynamics_ros.robot.summary.low_discrepancy import low_discrepancy

SAMPLES, STARTS, SWEEPS = 1024, 16, 10
RISE = 1e-9
"""Tolerance of convergence, relative to the largest torque."""
PROBES = 3
"""Positions at which is found how torques depend on coordinates."""
ROUNDING = 1e-10
"""Of the largest torque: a smaller change with a coordinate is none."""
TURN = 2.0 * np.pi
_THIRDS = TURN / 3.0 * np.arange(3)


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


def largest_gravity(robot: Weighed, unlimited: np.ndarray | float = 0.0) -> StaticTorque:
    """Return the largest gravity torque of each joint of ``robot`` within the position limits.

    A joint without limits covers a turn if all torques are the same after it, else ``unlimited`` (n; rad, m) to either
    side of 0. The search begins for each joint at STARTS of SAMPLES positions all over the limits, half of them those
    with its largest torque.
    """
    n = robot.nv
    lower, upper, turns = range_of_positions(robot, unlimited)
    samples = lower + low_discrepancy(SAMPLES, n) * (upper - lower)
    found = robot.gravity_torque(samples)
    sinusoid, related = _dependence(robot, samples[:PROBES], turns)
    largest = np.argsort(np.abs(found), axis=0, kind='stable')[::-1][: STARTS // 2]  # (STARTS / 2, n)
    others = np.broadcast_to(np.arange(STARTS // 2)[:, None], (STARTS // 2, n))
    # each row: a position, and the joint whose torque is maximised
    begin, joint = np.concatenate([largest, others]).ravel(), np.tile(np.arange(n), STARTS)
    q, value = samples[begin], found[begin, joint]
    rises = np.ones(len(q), bool)
    for _ in range(SWEEPS):
        before = np.abs(value)
        for k in range(n):
            rows = np.flatnonzero(rises & related[joint, k])
            if not rows.size:
                continue
            if sinusoid[k]:
                angles, torque = _extremes(robot, q[rows], joint[rows], value[rows], k, lower[k], upper[k])
            else:
                angles = _candidates(robot, q[rows], joint[rows], k, lower[k], upper[k], turns[k])
                torque = _torques(robot, q[rows], joint[rows], k, angles)
            best, row = np.argmax(np.abs(torque), axis=1), np.arange(len(rows))
            better = np.abs(torque[row, best]) > np.abs(value[rows])
            q[rows[better], k] = angles[row, best][better]
            value[rows[better]] = torque[row, best][better]
        rises &= np.abs(value) - before > RISE * np.abs(value).max(initial=0.0)
        if not rises.any():
            break
    value = np.abs(_torque_of(robot, q, joint)).reshape(STARTS, n)
    best = np.argmax(value, axis=0)
    return StaticTorque(value[best, np.arange(n)], q.reshape(STARTS, n, n)[best, np.arange(n)])


def range_of_positions(
    robot: Weighed, unlimited: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ends (n each) of each joint's range, see ``largest_gravity``, and whether turns change nothing (n)."""
    n = robot.nv
    position = np.broadcast_to(np.linspace(0.3, 0.8, n), (n, n))
    after_a_turn = robot.gravity_torque(position + TURN * np.eye(n))
    scale = 1.0 + np.abs(after_a_turn).max(initial=0.0)
    turns = np.abs(after_a_turn - robot.gravity_torque(position)).max(axis=1, initial=0.0) < 1e-9 * scale
    lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
    endless = ~(np.isfinite(lower) & np.isfinite(upper))
    wide = turns & (endless | (upper - lower >= TURN))
    lower, upper = np.where(endless, -np.asarray(unlimited), lower), np.where(endless, unlimited, upper)
    lower[wide], upper[wide] = -np.pi, np.pi
    return lower, upper, turns


def _dependence(robot: Weighed, places: np.ndarray, turns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return of each coordinate whether all torques are A + B cos + C sin of it (n), and which depend on it, (n, n).

    Row j, column k of the second: whether the torque of joint j depends on coordinate k, at any of ``places``. So it is
    for a tree's joints; that of one that others follow may be anything.
    """
    n = robot.nv
    angles = np.append(_THIRDS, 1.0)
    rows = np.repeat(places[:, None, None], n, axis=1).repeat(4, axis=2)  # (places, n, 4, n)
    rows[:, np.arange(n), :, np.arange(n)] += angles
    torque = robot.gravity_torque(rows)  # (places, coordinate, 4, joint)
    tolerance = ROUNDING * (1.0 + np.abs(torque).max(initial=0.0))
    mean, cosine, sine = _sinusoid(np.moveaxis(torque[:, :, :3], 2, -1))
    expected = mean + cosine * np.cos(1.0) + sine * np.sin(1.0)
    sinusoid = turns & (np.abs(expected - torque[:, :, 3]) < tolerance).all(axis=(0, 2))
    return sinusoid, (np.ptp(torque, axis=2) > tolerance).any(axis=0).T


def _extremes(robot: Weighed, q, joint, value, k: int, lower: float, upper: float) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of joint k, (rows, 4), and the torques there, if these are A + B cos + C sin of it.

    ``value`` (rows,) is the torque at q. The positions are the limits, and those with the largest and the smallest
    torque, or the lower limit where they are beyond.
    """
    others = _torques(robot, q, joint, k, q[:, k, None] + _THIRDS[1:])
    mean, cosine, sine = _sinusoid(np.concatenate([value[:, None], others], axis=1))
    angles = _within(np.arctan2(sine, cosine) + q[:, k], lower, upper)
    offset = angles - q[:, k, None]
    return angles, mean[:, None] + cosine[:, None] * np.cos(offset) + sine[:, None] * np.sin(offset)


def _candidates(robot: Weighed, q, joint, k: int, lower: float, upper: float, turns: bool) -> np.ndarray:
    """Return positions of joint k, (rows, candidates), at which the largest torque of ``joint`` is sought."""
    if not turns:
        return np.broadcast_to([lower, upper], (len(q), 2))
    _, cosine, sine = _sinusoid(_torques(robot, q, joint, k, np.broadcast_to(_THIRDS, (len(q), 3))))
    return _within(np.arctan2(sine, cosine), lower, upper)


def _within(top: np.ndarray, lower: float, upper: float) -> np.ndarray:
    """Return the limits, the angles ``top`` (rows,) and those opposite, shifted by whole turns into the limits."""
    extremes = lower + (top[:, None] + [0.0, np.pi] - lower) % TURN
    ends = np.broadcast_to([lower, upper], (len(top), 2))
    return np.concatenate([ends, np.where(extremes <= upper, extremes, lower)], axis=1)


def _sinusoid(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return A, B and C (...) of A + B cos + C sin, from its values (..., 3) at the angles _THIRDS."""
    return values.mean(axis=-1), 2.0 / 3.0 * values @ np.cos(_THIRDS), 2.0 / 3.0 * values @ np.sin(_THIRDS)


def _torques(robot: Weighed, q: np.ndarray, joint: np.ndarray, k: int, positions: np.ndarray) -> np.ndarray:
    """Return the torque of ``joint`` with joint k at ``positions`` (rows, count), of the same shape."""
    count = positions.shape[1]
    rows = np.repeat(q, count, axis=0)
    rows[:, k] = positions.ravel()
    return _torque_of(robot, rows, np.repeat(joint, count)).reshape(positions.shape)


def _torque_of(robot: Weighed, rows: np.ndarray, joint: np.ndarray) -> np.ndarray:
    """Return at each of ``rows`` (count, n) the torque of one ``joint``, (count,)."""
    return robot.gravity_torque(rows)[np.arange(len(rows)), joint]
