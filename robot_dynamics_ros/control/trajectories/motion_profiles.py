"""Joint motion profiles at given times: quintic and cubic polynomials, trapezoidal velocity, Fourier series."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros import validation
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.robot import Robot


class SampledMotion(NamedTuple):
    """A motion at m times."""

    t: np.ndarray  # (m,) s
    q: np.ndarray  # (m, n) rad, m
    qd: np.ndarray  # (m, n) rad/s, m/s
    qdd: np.ndarray  # (m, n) rad/s^2, m/s^2

    def within_limits(self, robot: Robot) -> 'SampledMotion':
        """Return this motion if its samples are within the known position and velocity limits of a robot.

        Parameters
        ----------
        robot : Robot
            With n joints of one degree of freedom.

        Returns
        -------
        SampledMotion

        Raises
        ------
        ArgumentError
            For a position or a velocity beyond its limit; the text names the joint, the limit and the time.
        """
        n, limits = self.q.shape[1], robot.limits
        if (robot.nq, robot.nv) != (n, n):
            raise ArgumentError(f'robot: expected {n} joints of one degree of freedom, {robot.name} has {robot.nv}')
        bounds = (
            ('position', self.q, limits.lower, limits.upper, 'rad or m'),
            ('velocity', self.qd, -limits.velocity, limits.velocity, 'rad/s or m/s'),
        )
        for name, values, lower, upper, unit in bounds:
            beyond = np.argwhere((values < lower) | (values > upper))
            if len(beyond):
                k, j = beyond[0]
                raise ArgumentError(
                    f'trajectory: joint {robot.joint_names[j]!r} leaves its {name} limits of {lower[j]:g} to '
                    f'{upper[j]:g} {unit} at {self.t[k]:g} s: {values[k, j]:g}'
                )
        return self


def quintic(
    start: ArrayLike, end: ArrayLike, t: ArrayLike, start_velocity: ArrayLike = 0.0, end_velocity: ArrayLike = 0.0
) -> SampledMotion:
    """Quintic polynomial between two positions, with accelerations of zero at both ends.

    Parameters
    ----------
    start, end : array_like, (n,)
        Positions at time 0 and at the last time, rad (prismatic joints: m).
    t : int or array_like, (m,)
        Times from 0 on, s, increasing; a number m of samples stands for m times from 0 to 1 s. The motion ends at the
        last one, as that of ``jtraj`` of the Robotics Toolbox.
    start_velocity, end_velocity : array_like, (n,)
        Velocities at the ends, rad/s or m/s. Default: zero.

    Returns
    -------
    SampledMotion

    Raises
    ------
    ArgumentError
        For a wrong shape, a number that is not finite, or times that do not increase from 0 on.

    References
    ----------
    Corke 2017, section 3.3.
    """
    times, (p0, p1, v0, v1) = _arguments(
        t, start=start, end=end, start_velocity=start_velocity, end_velocity=end_velocity
    )
    T = times[-1]
    h, v0, v1 = p1 - p0, v0 * T, v1 * T
    zero = np.zeros_like(h)
    # q = p0 + v0 s + (10 h - 6 v0 - 4 v1) s^3 + (-15 h + 8 v0 + 7 v1) s^4 + (6 h - 3 v0 - 3 v1) s^5,  s = t / T
    powers = p0, v0, zero, 10 * h - 6 * v0 - 4 * v1, -15 * h + 8 * v0 + 7 * v1, 6 * h - 3 * v0 - 3 * v1
    return _polynomial(times, np.array(powers))


def cubic(
    start: ArrayLike, end: ArrayLike, t: ArrayLike, start_velocity: ArrayLike = 0.0, end_velocity: ArrayLike = 0.0
) -> SampledMotion:
    """Cubic polynomial between two positions with velocities at both ends; arguments and errors as ``quintic``.

    Parameters
    ----------
    start, end : array_like, (n,)
        Positions at time 0 and at the last time, rad (prismatic joints: m).
    t : int or array_like, (m,)
        Times, s, as for ``quintic``.
    start_velocity, end_velocity : array_like, (n,)
        Velocities at the ends, rad/s or m/s. Default: zero.

    Returns
    -------
    SampledMotion

    References
    ----------
    Siciliano et al. 2009, section 4.2.1.
    """
    times, (p0, p1, v0, v1) = _arguments(
        t, start=start, end=end, start_velocity=start_velocity, end_velocity=end_velocity
    )
    h, v0, v1 = p1 - p0, v0 * times[-1], v1 * times[-1]
    # q = p0 + v0 s + (3 h - 2 v0 - v1) s^2 + (-2 h + v0 + v1) s^3,  s = t / T
    return _polynomial(times, np.array([p0, v0, 3 * h - 2 * v0 - v1, -2 * h + v0 + v1]))


def trapezoidal(start: ArrayLike, end: ArrayLike, t: ArrayLike, velocity: ArrayLike | None = None) -> SampledMotion:
    """Motion of trapezoidal velocity: constant acceleration, constant velocity, constant deceleration.

    Parameters
    ----------
    start, end : array_like, (n,)
        Positions at time 0 and at the last time, rad (prismatic joints: m).
    t : int or array_like, (m,)
        Times, s, as for ``quintic``.
    velocity : array_like, (n,), optional
        Speed of the middle part, rad/s or m/s: more than the mean speed and at most twice as much. Default: 1.5 times
        the mean speed, so that each part needs a third of the time.

    Returns
    -------
    SampledMotion

    Raises
    ------
    ArgumentError
        As ``quintic``, and for a speed that is too low or too high, naming the joint's number.

    References
    ----------
    Siciliano et al. 2009, section 4.2.1.
    """
    times, (p0, p1) = _arguments(t, start=start, end=end)
    T, h = times[-1], p1 - p0
    mean = np.abs(h) / T
    speed = 1.5 * mean if velocity is None else validation.finite('velocity', velocity, h.shape)
    moves = mean > 0.0
    wrong = np.flatnonzero(moves & ((speed <= mean) | (speed > 2.0 * mean)))
    if len(wrong):
        j = wrong[0]
        raise ArgumentError(
            f'velocity[{j}]: expected more than {mean[j]:g} and at most {2 * mean[j]:g} for this distance in {T:g} s, '
            f'got {speed[j]:g}'
        )
    # blend T_b = T - |h| / speed, acceleration a = speed / T_b
    V = np.where(moves, np.sign(h) * speed, 0.0)
    blend = np.where(moves, T - np.divide(np.abs(h), speed, out=np.zeros_like(h), where=moves), T)
    a, s, rest = V / blend, times[:, None], T - times[:, None]
    parts = [s <= blend, s < T - blend]
    q = np.select(parts, [p0 + 0.5 * a * s**2, p0 + V * (s - 0.5 * blend)], p1 - 0.5 * a * rest**2)
    return SampledMotion(
        times, q, np.select(parts, [a * s, V + 0.0 * s], a * rest), np.select(parts, [a + 0.0 * s, 0.0 * s], -a)
    )


def fourier_series(
    center: ArrayLike, sines: ArrayLike, cosines: ArrayLike, frequency: float, t: ArrayLike
) -> SampledMotion:
    """Periodic motion of the velocity qd = sum of sines_k sin(k w t) + cosines_k cos(k w t), w = 2 pi frequency.

    Parameters
    ----------
    center : array_like, (n,)
        Mean position, rad (prismatic joints: m).
    sines, cosines : array_like, (harmonics, n)
        Amplitudes of the velocity, rad/s or m/s.
    frequency : float
        Of the first harmonic, 1/s.
    t : int or array_like, (m,)
        Times, s, as for ``quintic``.

    Returns
    -------
    SampledMotion

    Raises
    ------
    ArgumentError
        As ``quintic``, and for a frequency that is not positive.

    References
    ----------
    Swevers et al. 1997, eq. 7.
    """
    times, (center,) = _arguments(t, center=center)
    if not isinstance(frequency, int | float | np.number) or not 0.0 < frequency < np.inf:
        raise ArgumentError(f'frequency: expected a positive number of 1/s, got {frequency!r:.80}')
    shape = (len(np.atleast_1d(sines)), len(center))
    a, b = (validation.finite(name, value, shape) for name, value in (('sines', sines), ('cosines', cosines)))
    q, qd, qdd = fourier_basis(times, shape[0], 1.0 / frequency) @ np.vstack([a, b])
    return SampledMotion(times, center + q, qd, qdd)


def fourier_basis(t: np.ndarray, harmonics: int, duration: float) -> np.ndarray:
    """Return q, qd and qdd of each coefficient alone at t (m,), (3, m, 2 harmonics): sines first, then cosines."""
    w = 2.0 * np.pi / duration * np.arange(1, harmonics + 1)
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    # qd = sin(k w t) or cos(k w t)
    return np.concatenate([[-cosine / w, sine, cosine * w], [sine / w, cosine, -sine * w]], axis=2)


def _arguments(t, **named) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return times (m,) and named vectors (n,), checked; those after the first may be one number for all joints."""
    if isinstance(t, int | np.integer):
        if t < 2:
            raise ArgumentError(f't: expected at least 2 samples, got {t}')
        t = np.linspace(0.0, 1.0, t)
    times = validation.increasing('t', t, 1)
    if times[0] < 0.0 or times[-1] == 0.0:
        raise ArgumentError(f't: expected times that increase from 0 s on, got {times[0]:g} to {times[-1]:g} s')
    vectors: list[np.ndarray] = []
    for name, value in named.items():
        array = validation.numbers(name, value)
        if not vectors and array.ndim > 1:
            raise ArgumentError(f'{name}: expected shape (n,), got {array.shape}')
        if array.ndim == 0:
            array = np.full(vectors[0].shape if vectors else 1, array)
        vectors.append(validation.finite(name, array, vectors[0].shape if vectors else array.shape))
    return times, vectors


def _polynomial(times: np.ndarray, coefficients: np.ndarray) -> SampledMotion:
    """Return the polynomials of s = t / T with ``coefficients`` (powers, n), lowest power first."""
    s, T = times[:, None] / times[-1], times[-1]
    rates = [coefficients]
    for _ in range(2):
        rates.append(rates[-1][1:] * np.arange(1, len(rates[-1]))[:, None])
    q, qd, qdd = (sum(row * s**power for power, row in enumerate(rows)) for rows in rates)
    return SampledMotion(times, q, qd / T, qdd / T**2)
