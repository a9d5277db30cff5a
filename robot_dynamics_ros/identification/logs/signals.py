"""Filters and derivatives of sampled signals without phase shift, and the delay between two signals.

Samples are rows: x is (m,) or (m, n) at times t (m,) s, which increase and need not be even.
"""

import itertools

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.signal import butter, sosfiltfilt

from robot_dynamics_ros import validation
from robot_dynamics_ros.control.joints.continuous_joints import TURN
from robot_dynamics_ros.control.joints.standstill import SPEED
from robot_dynamics_ros.errors import ArgumentError

ORDER = 4
"""Order of the Butterworth filter; it is applied forwards and backwards."""
UNEVEN = 1e-3
"""Difference of a sample from an even grid, in periods, that counts as none."""
PADDING = 3.0
"""Length of the extension at either end, in periods of the cut-off frequency."""
LARGEST_DELAY = 0.1
"""Delays up to this one are considered, s."""
LEAST = 1e-12
"""Of 1 - R2: below is rounding."""
FEWEST = 4
"""Samples that a cubic spline needs."""
GAP = 0.2
"""Time without a sample that may be a gap, s: a period of ``log.CUTOFF``."""
SPARSE = 4.0
"""Least gap, in median times between samples: those of a slow log are no gaps."""
NEAR = 1.0
"""Distance from whole turns of a step that is a turn, rad: less than 5 rad/s within ``GAP``."""


def differentiate(t: ArrayLike, x: ArrayLike) -> np.ndarray:
    """Return dx/dt, the derivative of the cubic spline through the samples.

    Its gain is within 1 % of that of an exact derivative up to a sixth of the sampling rate, where central differences
    lose 17 %. Noise is amplified: ``zero_phase`` of the result removes it. At both ends, the polynomial of the
    neighbouring interval continues (not-a-knot), which amplifies noise four times as much as in between.

    Parameters
    ----------
    t : array_like, (m,)
        Times that increase, s.
    x : array_like, (m,) or (m, n)
        Samples.

    Returns
    -------
    ndarray
        Derivative, shape of ``x``, its unit per s.

    Raises
    ------
    ArgumentError
        For another shape, fewer than 4 samples, values that are not finite, and times that do not increase.
    """
    times, samples = _samples(t, x=x)
    return CubicSpline(times, samples)(times, 1)


def zero_phase(t: ArrayLike, x: ArrayLike, cutoff: float) -> np.ndarray:
    """Return x without frequencies above ``cutoff``, not delayed: a Butterworth filter, forwards and backwards.

    The gain is 1/2 at the cut-off frequency and 0.9998 at a third of it. Samples are interpolated by a cubic spline on
    an even grid with the same number of samples, and back after the filter. Each end is
    extended by three periods of the cut-off frequency (or as much as there is), reflected through the end point; within
    one period of an end the result is less accurate.

    Parameters
    ----------
    t : array_like, (m,)
        Times that increase, s.
    x : array_like, (m,) or (m, n)
        Samples.
    cutoff : float
        Cut-off frequency, Hz: at least 1 / duration, and less than half of the mean sampling rate.

    Returns
    -------
    ndarray
        Filtered samples, shape of ``x``.

    Raises
    ------
    ArgumentError
        As ``differentiate``, for another cut-off frequency, and for samples more than one of its periods apart.
    """
    times, samples = _samples(t, x=x)
    duration = times[-1] - times[0]
    period = duration / (len(times) - 1)
    if not 1.0 / duration <= cutoff < 0.5 / period:
        raise ArgumentError(
            f'cutoff: expected at least 1 / duration, {1.0 / duration:.4g} Hz, and less than half of the sampling '
            f'rate, {0.5 / period:.4g} Hz, got {cutoff:.4g} Hz'
        )
    k = int(np.diff(times).argmax())
    if times[k + 1] - times[k] > 1.0 / cutoff:
        raise ArgumentError(
            f't: no samples between {times[k]:.6g} and {times[k + 1]:.6g} s, which is longer than a period of the '
            f'cut-off frequency, {1.0 / cutoff:.4g} s'
        )
    grid = times[0] + period * np.arange(len(times))
    sections = butter(ORDER, cutoff, fs=1.0 / period, output='sos')
    padding = min(len(times) - 1, round(PADDING / (cutoff * period)))
    filtered = sosfiltfilt(sections, CubicSpline(times, samples)(grid), axis=0, padlen=padding)
    return CubicSpline(grid, filtered)(times)


def estimate_delay(t: ArrayLike, measured: ArrayLike, predicted: ArrayLike, largest: float = LARGEST_DELAY) -> float:
    """Return the time by which ``measured`` is late: d for which measured(t + d) fits predicted(t) best.

    Each column of ``predicted`` is scaled and shifted to fit its column of ``measured`` best, so a model with wrong
    masses serves, and so does an acceleration. What is minimised over d is the sum of log(1 - R2) of the columns: each
    column weighs as much as its own noise allows (maximum likelihood).

    Parameters
    ----------
    t : array_like, (m,)
        Times that increase, s.
    measured, predicted : array_like, (m,) or (m, n)
        Signals of the same shape, for instance measured torques and those of a model.
    largest : float
        Largest delay that is considered, either way, s.

    Returns
    -------
    float
        Delay, s; negative if ``measured`` is early. Gaps of more than 0.2 s split the signals. 0.0 where no column of
        both varies between the first and the last ``largest`` s of a segment.

    Raises
    ------
    ArgumentError
        As ``differentiate``, and unless ``largest`` is above 0 and below a quarter of the duration.
    """
    times, late, model = _samples(t, measured=measured, predicted=predicted)
    if late.shape != model.shape:
        raise ArgumentError(f'predicted: expected shape {late.shape}, got {model.shape}')
    if not 0.0 < largest < (times[-1] - times[0]) / 4:
        raise ArgumentError(f'largest: expected a delay above 0 and below a quarter of the duration, got {largest} s')
    inner = np.zeros(len(times), bool)
    parts = [part for part in segments(times) if times[part][-1] - times[part][0] > 2.0 * largest]
    for part in parts:
        inner[part] = (times[part] >= times[part][0] + largest) & (times[part] <= times[part][-1] - largest)
    model, late = model.reshape(len(times), -1)[inner], late.reshape(len(times), -1)
    varies = (np.ptp(model, axis=0) > 0.0) & (np.ptp(late[inner], axis=0) > 0.0) if len(model) else np.zeros(1, bool)
    if not varies.any():
        return 0.0
    model = model[:, varies] - model[:, varies].mean(axis=0)
    splines = [(CubicSpline(times[part], late[part][:, varies]), times[part][inner[part]]) for part in parts]
    power, period = (model**2).sum(axis=0), float(np.median(np.diff(times)))

    def misfit(delay: float) -> np.ndarray:
        """Return 1 - R2 of the columns, with the samples ``delay`` later."""
        shifted = np.concatenate([spline(at + delay) for spline, at in splines])
        shifted -= shifted.mean(axis=0)
        of_shifted = np.maximum((shifted**2).sum(axis=0), np.finfo(float).tiny)
        r2 = (model * shifted).sum(axis=0) ** 2 / (power * of_shifted)
        return np.maximum(1.0 - r2, LEAST)

    step = period * max(1, round(largest / 50 / period))
    reach = int((1.0 + UNEVEN) * largest / step)
    grid = step * np.arange(-reach, reach + 1)
    misfits = np.array([misfit(delay) for delay in grid])
    k = int(np.log(misfits).sum(axis=1).argmin())
    if not 0 < k < len(grid) - 1:
        return float(grid[k])
    # the parabola through the best three, at samples: between them, interpolation smooths the noise, which fits better
    before, best, after = (misfits[k - 1 : k + 2] / misfits[k]).sum(axis=1)
    return float(grid[k] + 0.5 * step * (before - after) / (before - 2.0 * best + after))


def segments(t: np.ndarray, longest: float | None = None) -> list[slice]:
    """Return the parts of times (m,) between gaps: steps of more than ``longest`` s, by default 0.2 s and 4 medians."""
    steps = np.diff(t)
    if longest is None:
        longest = max(GAP, SPARSE * float(np.median(steps))) if len(steps) else GAP
    bounds = [0, *(np.flatnonzero(steps > longest) + 1).tolist(), len(t)]
    return [slice(*part) for part in itertools.pairwise(bounds)]


def unwrapped(t: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return positions q (m, n) at times t (m,) without the turns of joints that are reported modulo a turn.

    A step near k turns within a segment is a turn if the positions of its joint are within an interval of k turns. No
    joint moves so far in so short a time.
    """
    steps = np.diff(q, axis=0)
    turns = np.round(steps / TURN)
    for part in segments(t)[1:]:
        turns[part.start - 1] = 0.0
    turns[np.abs(steps - TURN * turns) > NEAR] = 0.0
    if not turns.any():
        return q
    turns[:, np.ptp(q, axis=0) > TURN * np.abs(turns).max(axis=0)] = 0.0
    return np.concatenate([q[:1], q[1:] - TURN * turns.cumsum(axis=0)])


def correlation_times(x: np.ndarray) -> np.ndarray:
    """Return the integrated correlation time of each column (m, n) in samples, (n,): 1 + 2 sum of correlations.

    The sum ends at the first correlation that is not positive.
    """
    m = len(x)
    power = np.abs(np.fft.rfft(x - x.mean(axis=0), 2 * m, axis=0)) ** 2
    covariance = np.fft.irfft(power, axis=0)[:m]
    correlation = covariance / np.maximum(covariance[0], 1e-300)
    positive = np.logical_and.accumulate(correlation > 0.0, axis=0)
    return np.maximum(2.0 * np.where(positive, correlation, 0.0).sum(axis=0) - 1.0, 1.0)


def moving(qd: ArrayLike, speed: float = SPEED) -> np.ndarray:
    """Return which samples of velocities ``qd`` (m, n) belong to a motion, (m,): some joint is faster than ``speed``.

    ``speed`` is in rad/s (m/s). At rest, friction has any value up to its static one, so that a model does not predict
    the torque.
    """
    return (np.abs(validation.numbers('qd', qd)) > speed).any(axis=1)


def _samples(t, **named) -> list[np.ndarray]:
    """Return times and signals as arrays; ArgumentError naming the one that is wrong."""
    times = validation.increasing('t', t, FEWEST)
    arrays = [times]
    for name, value in named.items():
        array = validation.numbers(name, value)
        if array.ndim not in (1, 2) or len(array) != len(times):
            raise ArgumentError(f'{name}: expected shape ({len(times)},) or ({len(times)}, n), got {array.shape}')
        validation.check_finite(name, array)
        arrays.append(array)
    return arrays
