"""Delay of measured torques, estimated together with parameters of the model, which would hide a part of it.

Links, rotors and friction are fitted for each of many shifts of the torques; the delay is the shift with the least
residual (profile likelihood). The torque regressor does not depend on the shift, so all shifts have the same normal
equations, with other right-hand sides.
"""

from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import convolve1d

from robot_dynamics_ros import validation
from robot_dynamics_ros.identification.friction_terms import USUAL, FrictionColumns
from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.identification.logs.signals import FEWEST, LARGEST_DELAY, UNEVEN, correlation_times
from robot_dynamics_ros.identification.regression import Regression, pseudo_inverse, sum_of
from robot_dynamics_ros.robot import Robot

FRICTION = ('viscous', 'quadratic', 'offset', 'coulomb', 'load')
SLOW, SLOW_SHARE = 0.05, 0.25
"""Speed below which a joint counts as near a standstill, rad/s (m/s), and its largest share of the joint's mean."""
NEAR = 0.1
"""Time from a standstill within which friction depends on more than the velocity, s: gears stick, bend and slip."""
SHIFTS = 10
"""Shifts either way; they are whole numbers of samples where these are closer."""
SMOOTHING = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0
"""Symmetric filter, which delays nothing and leaves little noise that interpolation would remove."""
BLOCK = 1.0
"""Length of a block that is held out, s; every fifth belongs to the same fold."""
LEAST_DELAY = 1e-3
"""Delay from which on it is a finding, and the command corrects it, s."""
FOLDS, AGREE = 5, 3
"""Blocks of time that judge a delay, each by the parameters of the others; how many of them have to agree."""
ROUNDS = 3
"""Solutions: each has the weights of the one before."""
ENOUGH = 20_000
"""Samples that are used, at most."""
BASE_TOLERANCE = 1e-4
"""Of ``Robot.base_parameters``, as in ``identify``."""
INDEPENDENT = 8.0
"""Least number of independent samples per parameter: with fewer, a delay can fit noise."""
DESCRIBED = 0.1
"""Largest share of a torque's variance that the model may leave of a joint which counts."""
LEAST_VARIANCE = 1e-8
"""Least variance of a residual, as a share of the mean square of the torque."""


def delay_of_torques(robot: Robot, log: Log, largest: float = LARGEST_DELAY) -> float:
    """Return the time by which the torques of a log are later than its motion, s; negative if they are early.

    Masses, inertias, rotors and friction are fitted anew for each delay, so those of ``robot`` have no effect. Samples
    near a standstill do not count, because friction there depends on more than the velocity, nor do joints of which the
    model leaves a tenth of the variance. The result is 0.0 unless the delay improves the prediction of most of five
    parts of the log, each from the others, and of all together.

    Parameters
    ----------
    robot : Robot
        Geometry, gravity and, for currents, torque constants.
    log : Log
        Best 20 s or longer.
    largest : float
        Largest delay that is considered, either way, s.

    Returns
    -------
    float
        Delay for ``Log.without_delay``; 0.0 also where the log has fewer than 8 independent samples per parameter.

    Raises
    ------
    ArgumentError, ModelError
        As ``Log.torque``, and for a ``largest`` that is not above 0.
    """
    largest = validation.positive('largest', largest)
    parts = [part for part in log.segments() if part.t[-1] - part.t[0] > 2.0 * largest and len(part) >= FEWEST]
    if not parts:
        return 0.0
    period = float(np.median(np.concatenate([np.diff(part.t) for part in parts])))
    step = largest / SHIFTS
    smooth = step <= period
    if not smooth:
        step = period * round(step / period)
    reach = int((1.0 + UNEVEN) * largest / step)
    shifts = np.arange(-reach, reach + 1)
    shifted = [_shifted(robot, part, step * shifts, smooth) for part in parts]
    inner, torques = Log.joined([part for part, _ in shifted]), np.concatenate([torque for _, torque in shifted])
    every = slice(None, None, 1 + len(inner) // ENOUGH)
    inner, torques, used = inner[every], torques[every], ~_near_standstill(inner)[every]
    if len(shifts) < 3 or not used.any():
        return 0.0
    profile = _Profile.of(robot, inner, torques, used)
    k = int(profile.misfit.argmin())
    if profile.independent < INDEPENDENT or not 0 < k < len(shifts) - 1:
        return 0.0
    # the parabola through the best three
    before, best, after = profile.misfit[k - 1 : k + 2]
    away = 0.5 * (before - after) / (before - 2.0 * best + after)
    of_folds = profile.held_out
    slope, curvature = 0.5 * (of_folds[:, k + 1] - of_folds[:, k - 1]), of_folds[:, k + 1] + of_folds[:, k - 1]
    with_delay = of_folds[:, k] + away * slope + 0.5 * away**2 * (curvature - 2.0 * of_folds[:, k])
    gains = of_folds[:, len(shifts) // 2] - with_delay
    return float(step * (shifts[k] + away)) if gains.sum() > 0.0 and (gains > 0.0).sum() >= AGREE else 0.0


class _Profile(NamedTuple):
    """What each shift leaves: a sum over the joints of logarithms of squares, times independent samples."""

    misfit: np.ndarray  # (k,)           of parameters of the whole log
    held_out: np.ndarray  # (FOLDS, k)   of each fold, by parameters of the others
    independent: float  # samples per parameter

    @classmethod
    def of(cls, robot: Robot, log: Log, torques: np.ndarray, used: np.ndarray) -> '_Profile':
        """Return the profile of a log with ``torques`` (m, n, k) of the shifts at the samples ``used`` (m, n)."""
        base, counts = robot.base_parameters(BASE_TOLERANCE), used.sum(axis=0)
        Y = robot.torque_regressor(log.q, log.qd, log.qdd)[..., base.independent]
        rigid = robot.inverse_dynamics(log.q, log.qd, log.qdd)
        friction = FrictionColumns.of(FRICTION, log, rigid, robot.friction).at(USUAL)
        own = np.stack([log.qdd, *friction], axis=2)
        number = ((log.t - log.t[0]) / BLOCK).astype(int)
        blocks = [np.flatnonzero(number % FOLDS == k) for k in range(FOLDS)]
        folds = [Regression.of(Y[it], own[it], torques[it], used[it]) for it in blocks]
        whole, moving = sum_of(folds), counts > 0
        mean_squares = (torques**2).mean(axis=(0, 2))
        variances, times = np.where(mean_squares > 0.0, mean_squares, 1.0), np.ones(robot.nv)
        least = LEAST_VARIANCE * variances
        for _ in range(ROUNDS):
            weights = np.where(moving, 1.0 / variances, 0.0)
            x = _solution(whole, weights)
            squares = whole.squares(x) / np.maximum(counts, 1)[:, None]
            k = int(_misfit(squares, counts / times, least).argmin())
            left = (
                torques[..., k] - Y @ x[: Y.shape[2], k] - (own * x[Y.shape[2] :, k].reshape(len(squares), -1)).sum(2)
            )
            times = correlation_times(np.where(used, left, 0.0))
            variances = np.maximum(squares[:, k], least)
        share = (
            1.0 / times * (squares[:, k] < DESCRIBED * np.ma.array(torques[..., k], mask=~used).var(axis=0).filled(0.0))
        )
        held_out = []
        for fold, block in zip(folds, blocks, strict=True):
            others, count = whole._replace(sums=whole.sums - fold.sums), used[block].sum(axis=0)
            of_fold = fold.squares(_solution(others, weights)) / np.maximum(count, 1)[:, None]
            held_out.append(_misfit(of_fold, count * share, least))
        return cls(_misfit(squares, counts * share, least), np.array(held_out), float((counts / times).sum() / len(x)))


def _shifted(robot: Robot, log: Log, delays: np.ndarray, smooth: bool) -> tuple[Log, np.ndarray]:
    """Return the inner part of a log without gaps, and its torques (m, n, k) later by each of the ``delays``."""
    torque = log.torque(robot)
    if smooth:
        # between samples interpolation would smooth the noise, which fits better
        torque = convolve1d(torque, SMOOTHING, axis=0, mode='nearest')
    part = log[(log.t >= log.t[0] - delays[0]) & (log.t <= log.t[-1] - delays[-1])]
    spline = CubicSpline(log.t, torque)
    return part, np.stack([spline(part.t + delay) for delay in delays], axis=2)


def _solution(regression: Regression, weights: np.ndarray) -> np.ndarray:
    """Return the parameters (p, k) with the least weighted squares for each torque."""
    H, b = regression.normal_equations(weights)
    return pseudo_inverse(H) @ b


def _misfit(squares: np.ndarray, counts: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Return the misfit (k,) of mean squares (n, k): each joint weighs as much as its own noise allows."""
    return counts @ np.log(np.maximum(squares, least[:, None]))


def _near_standstill(log: Log) -> np.ndarray:
    """Return at which samples each joint is near a standstill in time, (m, n)."""
    slow = np.abs(log.qd) < np.minimum(SLOW, SLOW_SHARE * np.abs(log.qd).mean(axis=0))
    result = slow.copy()
    for j, column in enumerate(slow.T):
        rests = log.t[column]
        if len(rests):
            after = np.minimum(np.searchsorted(rests, log.t), len(rests) - 1)
            distance = np.minimum(np.abs(rests[after] - log.t), np.abs(log.t - rests[np.maximum(after - 1, 0)]))
            result[:, j] = distance <= NEAR
    return result
