"""Do positions, velocities and accelerations of a log belong together? Each is compared with the integral of the next.

Over windows of 0.1 s the change of a position is the integral of its velocity, whatever the noise and the steps of an
encoder. A ratio of the two says which unit, sign or time scale is wrong; a better correlation with another joint's
column says that the order is.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.identification.logs.log import Log
from robot_dynamics_ros.identification.logs.signals import segments
from robot_dynamics_ros.identification.logs.stamps import in_bursts
from robot_dynamics_ros.model.model import Finding
from robot_dynamics_ros.robot import Robot

WINDOW = 0.1
"""Length of the windows, s."""
LEAST_CHANGE = 0.05
"""Least range of positions (rad, m) or velocities (rad/s, m/s) of a joint that is compared."""
RATIO = 1.25
"""Largest ratio of two signals that belong together, either way; on 40 measured logs it is below 1.01."""
SAME = 1.05
"""Largest ratio between factors that are one factor of all joints."""
CORRELATION = 0.9
"""Least correlation of signals that belong together; on the measured logs it is above 0.996."""
LAG = 0.008
"""Largest delay of a signal without a finding, s: filters of drivers have up to 0.006 s."""
NOISE = 0.25
"""Largest noise of a signal without a finding, as a share of its root mean square: it makes an estimated inertia 6 %
too small."""
TOO_FAST = 3.0
"""Speed without a finding, as a multiple of the velocity limit; those of descriptions are often placeholders."""
FEWEST = 20
"""Least number of windows."""
FACTORS = {
    180.0 / np.pi: 'it is in degrees',
    30.0 / np.pi: 'it is in rotations per minute',
    0.5 / np.pi: 'it is in rotations per second',
    1000.0: 'it is in thousandths of the unit',
}
"""What a factor of a signal means; its reciprocal is that of the signal below it."""


class Changes(NamedTuple):
    """Windows of a signal (k, n each): its changes, the integrals of the next one, and the changes of that one."""

    width: float  # s
    signal: np.ndarray
    integral: np.ndarray
    rate: np.ndarray

    @classmethod
    def of(cls, t: np.ndarray, x: np.ndarray, rate: np.ndarray) -> 'Changes':
        """Return the windows of x (m, n) and ``rate`` (m, n), what should be its derivative, at times t (m,)."""
        step = float(np.median(np.diff(t)))
        width = max(1, round(WINDOW / step))
        columns = [np.zeros((3, 0, x.shape[1]))]
        for part in segments(t):
            steps = np.diff(t[part])[:, None] * (rate[part][1:] + rate[part][:-1]) / 2.0
            integral = np.insert(steps.cumsum(axis=0), 0, 0.0, axis=0)
            columns.append(np.array([it[width:] - it[:-width] for it in (x[part], integral, rate[part])]))
        return cls(width * step, *np.concatenate(columns, axis=1))

    def correlations(self) -> np.ndarray:
        """Return the correlation of each signal's changes (rows, n) with the integral of each rate (columns, n)."""
        lengths = np.outer(*(np.linalg.norm(it, axis=0) for it in (self.signal, self.integral)))
        return self.signal.T @ self.integral / np.where(lengths > 0.0, lengths, 1.0)

    def factors(self) -> np.ndarray:
        """Return the factor (n,) between the rates and the derivatives of the signals, with their sign."""
        lengths = [np.linalg.norm(it, axis=0) for it in (self.integral, self.signal)]
        return np.sign((self.signal * self.integral).sum(axis=0)) * lengths[0] / np.where(lengths[1] > 0, lengths[1], 1)

    def lag(self, joint: int) -> float:
        """Return the time by which the rate of a joint is late, s: integral(t) = change(t) - lag rate(t)."""
        columns = np.stack([self.signal[:, joint], self.rate[:, joint]], axis=1)
        scale, delay = np.linalg.lstsq(columns, self.integral[:, joint], rcond=None)[0]
        return float(-delay / scale) if scale else 0.0


def velocity_findings(robot: Robot, log: Log) -> list[Finding]:
    """Return what is implausible about times, positions and velocities of a log, an 'error' for what cannot be right.

    A log of joints with several degrees of freedom is not checked: their velocities are not the derivatives of their
    coordinates.
    """
    if in_bursts(log.t):
        return [Finding('error', 'log', 'times come in bursts, as those of reception do: read it with even_times')]
    return list(_of_derivative(robot, log.t, 'velocity', 'position', log.q, log.qd))


def acceleration_findings(robot: Robot, log: Log) -> list[Finding]:
    """Return what is implausible about accelerations, as ``velocity_findings``; the velocities have to be right."""
    return list(_of_derivative(robot, log.t, 'acceleration', 'velocity', log.qd, log.qdd))


def _of_derivative(
    robot: Robot, t: np.ndarray, what: str, of: str, x: np.ndarray, rate: np.ndarray
) -> Iterator[Finding]:
    """Yield how the columns ``rate`` (m, n) differ from the derivatives of x, the columns ``of``."""
    if robot.nq != robot.nv or len(t) <= FEWEST:
        return
    changes = Changes.of(t, x, rate)
    if len(changes.signal) < FEWEST:
        return
    counts = np.ptp(x, axis=0) >= LEAST_CHANGE
    counts &= np.abs(changes.signal).max(axis=0) >= WINDOW * LEAST_CHANGE
    found = list(
        _mismatches(robot.joint_names, what, of, changes, np.flatnonzero(counts), _noise_shares(t, rate) > NOISE)
    )
    yield from _of_several_joints(found)
    if of == 'position' and not found:
        yield from _too_fast(robot, changes)


def _too_fast(robot: Robot, changes: Changes) -> Iterator[Finding]:
    """Yield joints whose positions change faster than their velocity limit allows."""
    speeds, limits = np.abs(changes.signal).max(axis=0) / changes.width, robot.limits.velocity
    for j in np.flatnonzero(speeds > TOO_FAST * limits):
        text = f'its position changes by {speeds[j]:.3g} rad/s (m/s), its velocity limit is {limits[j]:.3g}'
        yield Finding('warning', f'joint {robot.joint_names[j]!r}', f'{text}: times or positions may have another unit')


def _mismatches(names, what: str, of: str, changes: Changes, joints, noisy: np.ndarray) -> Iterator[Finding]:
    """Yield how the columns ``what`` of ``joints`` differ from the derivatives of the columns ``of``."""
    correlations, factors = changes.correlations(), changes.factors()
    own = np.abs(np.diag(correlations))
    wrong = [j for j in joints if own[j] >= CORRELATION and not 1.0 / RATIO < factors[j] < RATIO]
    if len(wrong) == len(joints) > 1 and np.ptp(factors[joints]) <= (SAME - 1.0) * np.abs(factors[joints]).min():
        text = f'{_plural(what)} are {_scaled(what, of, float(np.median(factors[joints])), True)}'
        yield Finding('error', 'log', text)
        return
    for j in joints:
        where = f'joint {names[j]!r}'
        if not changes.integral[:, j].any():
            yield Finding('error', where, f'its {what} is 0 in all samples, while its {of} changes')
        elif j in wrong:
            yield Finding('error', where, f'its {what} is {_scaled(what, of, float(factors[j]), False)}')
        elif noisy[j]:
            text = f'its {what} is noise for the most part, as a difference without a filter is: low-pass the log'
            yield Finding('warning', where, text)
        elif own[j] < CORRELATION:
            others = np.where(np.arange(len(names)) == j, 0.0, np.abs(correlations[j]))
            k = int(others.argmax())
            other = f', that of {names[k]!r} does: the order may be another one' if others[k] > CORRELATION else ''
            text = f'its {what} does not belong to its {of} (correlation {correlations[j, j]:.2f}){other}'
            yield Finding('error', where, text)
        elif abs(lag := changes.lag(j)) > LAG:
            late = 'late: by a filter or a difference of the driver' if lag > 0.0 else 'early'
            yield Finding('warning', where, f'its {what} is {1e3 * abs(lag):.0f} ms {late}')


def _of_several_joints(found: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings on single joints, those that say the same of several joints as one that names them."""
    for severity, message in dict.fromkeys((it.severity, it.message) for it in found):
        where = [it.where for it in found if (it.severity, it.message) == (severity, message)]
        if len(where) == 1:
            yield Finding(severity, where[0], message)
        else:
            names = ', '.join(it.removeprefix('joint ') for it in where)
            yield Finding(severity, f'joints {names}', message.replace('its ', 'their '))


def _scaled(what: str, of: str, factor: float, is_common: bool) -> str:
    """Return what a factor between a rate and the derivative of its signal says."""
    text = f'{factor:.3g} times the derivative of the {_plural(of) if is_common else of}'
    sign = 'of the other sign' if factor < 0.0 else ''
    size = abs(factor)
    if 1.0 / RATIO < size < RATIO:
        return f'{text}: one of the two is {sign}'
    reason = next((meaning for it, meaning in FACTORS.items() if 1.0 / SAME < size / it < SAME), None)
    if reason:
        reason = reason.replace('it', f'the {what}')
    elif inverse := next((meaning for it, meaning in FACTORS.items() if 1.0 / SAME < size * it < SAME), None):
        reason = inverse.replace('it', f'the {of}')
    else:
        reason = 'times or ' * is_common + 'one of the two has another scale'
    return f'{text}: {reason}' + (f', and one of the two is {sign}' if sign else '')


def _plural(what: str) -> str:
    """Return the plural of the name of a signal."""
    return {'velocity': 'velocities'}.get(what, f'{what}s')


def _noise_shares(t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the noise of signals (m, n) as a share (n,) of their root mean square, by their third differences.

    White noise has third differences of sqrt(20) times its size; those of a smooth signal vanish.
    """
    differences = np.concatenate([np.diff(x[part], 3, axis=0) for part in segments(t)])
    noise = np.sqrt((differences**2).sum(axis=0) / (20.0 * max(1, len(differences))))
    size = np.sqrt((x**2).mean(axis=0))
    return noise / np.where(size > 0.0, size, 1.0)
