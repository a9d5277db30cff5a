"""Joint trajectories, interpolated as ros2_control's joint_trajectory_controller does.

Between two points that both have accelerations the position is a quintic polynomial, with velocities only a cubic one,
with positions only a linear one (velocity jumps at the points, acceleration is zero). After the last point the position
is constant.
"""

from collections.abc import Callable
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.codegen.bound_function import bound
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.compiled import compiled
from robot_dynamics_ros.jit.kinds import Array3, Vector

INTERPOLATIONS = ('linear', 'cubic', 'quintic')
TIME_RESOLUTION = 1e-9
"""Resolution of ROS stamps, s: the last point is sampled with its velocity despite the rounding of its time."""


@compiled(given='t')
def sample(starts: Vector, coefficients: Array3, final: Vector, q: Vector, qd: Vector, qdd: Vector, t: float) -> None:
    """Write q = c0 + c1 t + ... + c5 t^5 and its derivatives qd, qdd (n each) at ``t`` s, clamped to the first start.

    Reads ``starts`` (segments + 1; s), the times of all points, ``coefficients`` (segments, 6, n), lowest power first,
    and ``final`` (n), the last position. Horner's scheme.
    """
    last = coefficients.shape[0] - 1
    if last < 0 or t > starts[last + 1] + TIME_RESOLUTION:
        for j in range(q.shape[0]):
            q[j], qd[j], qdd[j] = final[j], 0.0, 0.0
        return
    t = max(t, starts[0])
    k = min(np.searchsorted(starts, t, 'right') - 1, last)
    t = t - starts[k]
    for j in range(q.shape[0]):
        c0, c1, c2 = coefficients[k, 0, j], coefficients[k, 1, j], coefficients[k, 2, j]
        c3, c4, c5 = coefficients[k, 3, j], coefficients[k, 4, j], coefficients[k, 5, j]
        q[j] = c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * c5))))
        qd[j] = c1 + t * (2.0 * c2 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5)))
        qdd[j] = 2.0 * c2 + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5))


class Trajectory:
    """Joint trajectory q(t), qd(t), qdd(t): a polynomial of degree 1, 3 or 5 between two points.

    Parameters
    ----------
    times : array_like, (m,)
        Times of the points from the start, s: at least 0 and strictly increasing.
    positions : array_like, (m, n)
        Joint positions, rad (prismatic joints: m).
    velocities : array_like, (m, n), optional
        Joint velocities, rad/s or m/s. A row of NaN: the point has none. Default: no point has velocities.
    accelerations : array_like, (m, n), optional
        Joint accelerations, rad/s^2 or m/s^2, likewise. A point with accelerations needs velocities.

    Attributes
    ----------
    start, duration : float
        Times of the first and of the last point, s.

    Raises
    ------
    ArgumentError
        For wrong shapes, times or rates; the text names the point.
    """

    def __init__(
        self,
        times: ArrayLike,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        accelerations: ArrayLike | None = None,
    ):
        times, positions = np.array(times, float), np.array(positions, float)
        if positions.ndim != 2 or times.shape != positions.shape[:1] or not len(times):
            raise ArgumentError(
                f'trajectory: expected times (m,) and positions (m, n), m > 0, got {times.shape} and {positions.shape}'
            )
        velocities, accelerations = (
            np.full(positions.shape, np.nan) if rate is None else np.array(rate, float)
            for rate in (velocities, accelerations)
        )
        for name, rate in (('velocities', velocities), ('accelerations', accelerations)):
            if rate.shape != positions.shape:
                raise ArgumentError(f'trajectory: expected {name} of shape {positions.shape}, got {rate.shape}')
        self._points = times, positions, velocities, accelerations
        rates = _rates_of_points(*self._points)
        # the end with fewer rates decides: 0 linear, 1 cubic, 2 quintic
        self._smoothness = np.minimum(rates[:-1], rates[1:])
        self._starts = times.copy()
        self.start: float = float(times[0])
        self.duration: float = float(times[-1])
        self._final = positions[-1].copy()
        self._coefficients = np.zeros((len(times) - 1, 6, positions.shape[1]))
        for smoothness, segment in enumerate((_linear, cubic, quintic)):
            (chosen,) = np.nonzero(self._smoothness == smoothness)
            ends = (array[k] for array in (positions, velocities, accelerations) for k in (chosen, chosen + 1))
            duration = (times[chosen + 1] - times[chosen])[:, None]
            for power, coefficient in enumerate(segment(duration, *ends)):
                self._coefficients[chosen, power] = coefficient

    @property
    def digest(self) -> int:
        """Hash of all points, 1 to 2^64 - 1: equal for trajectories with the same numbers in the same joint order."""
        hashed = blake2b(repr(self._points[1].shape).encode(), digest_size=8)
        for array in self._points:
            hashed.update(np.ascontiguousarray(array).data)
        return int.from_bytes(hashed.digest(), 'little') or 1

    @property
    def is_point(self) -> bool:
        """Whether it has one point alone."""
        return self.start == self.duration

    @property
    def positions(self) -> np.ndarray:
        """Positions of all points, (m, n) rad or m."""
        return self._points[1]

    @property
    def points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Times (m,), positions, velocities and accelerations (m, n) of the points, NaN where one has none."""
        return self._points

    @property
    def first_position(self) -> np.ndarray:
        """Position of the first point, (n,) rad or m."""
        return self._points[1][0]

    @property
    def last_point(self) -> np.ndarray:
        """Position, velocity and acceleration of the last point, (3, n); NaN where it has none."""
        return np.array([rows[-1] for rows in self._points[1:]])

    @property
    def interpolations(self) -> list[str]:
        """The interpolations between the points, among linear, cubic and quintic, each once."""
        return [INTERPOLATIONS[smoothness] for smoothness in np.unique(self._smoothness)]

    @property
    def straight(self) -> np.ndarray:
        """Whether each segment (m - 1) is a straight line, for want of velocities at one of its ends."""
        return self._smoothness == 0

    @property
    def segments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times (m,), coefficients (m - 1, 6, n) and final position (n), as the kernel ``sample`` reads them."""
        return self._starts, self._coefficients, self._final

    def sample(self, t: float, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> None:
        """Write the desired position, velocity and acceleration at a time.

        Parameters
        ----------
        t : float
            Time, s, not before ``start``.
        q, qd, qdd : ndarray, (n,)
            Receive position, velocity and acceleration, in rad, rad/s and rad/s^2 (prismatic joints: m, m/s and m/s^2).

        Raises
        ------
        ArgumentError
            If ``t`` is before ``start``.
        """
        if t < self.start:
            raise ArgumentError(f'trajectory: {t} s is before its first point at {self.start} s')
        sample(*self.segments, q, qd, qdd, t)

    def sampler(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Callable[[float], None]:
        """Return ``sample`` as a function of time alone, which is fast.

        Parameters
        ----------
        q, qd, qdd : ndarray, (n,)
            Each call of the function writes these arrays.

        Returns
        -------
        callable
            Its argument is the time in s. It does not check that this is not before ``start``.
        """
        return bound(sample, *self.segments, q, qd, qdd, then=(0.0,))


def _rates_of_points(times, positions, velocities, accelerations) -> np.ndarray:
    """Return for each point (m) 0, 1 (velocities) or 2 (accelerations too); ArgumentError for an invalid one."""
    rates = np.zeros(len(times), int)
    for k in range(len(times)):
        if not np.isfinite(times[k]) or times[k] < 0 or (k and times[k] <= times[k - 1]):
            raise ArgumentError(
                f'trajectory point {k}: time {times[k]} s is negative, not finite or not after that of the point before'
            )
        if not np.isfinite(positions[k]).all():
            raise ArgumentError(f'trajectory point {k}: position is not finite')
        for name, rate in (('velocity', velocities[k]), ('acceleration', accelerations[k])):
            if np.isfinite(rate).all():
                rates[k] += 1
            elif not np.isnan(rate).all():
                raise ArgumentError(f'trajectory point {k}: {name} is not finite')
        if rates[k] == 1 and np.isnan(velocities[k]).any():
            raise ArgumentError(f'trajectory point {k}: accelerations need velocities')
    return rates


def _linear(T, p0, p1, *_):
    """Return the coefficients of lines from p0 to p1 in T s."""
    return p0, (p1 - p0) / T


def cubic(T, p0, p1, v0, v1, *_):
    """Return the coefficients of cubics with these positions and velocities at their ends."""
    h = p1 - p0
    return p0, v0, (3 * h / T - 2 * v0 - v1) / T, (-2 * h / T + v0 + v1) / T**2


def quintic(T, p0, p1, v0, v1, a0, a1):
    """Return the coefficients of quintics with these positions, velocities and accelerations at their ends."""
    h = p1 - p0
    return (
        p0,
        v0,
        a0 / 2,
        (20 * h - (8 * v1 + 12 * v0) * T - (3 * a0 - a1) * T**2) / (2 * T**3),
        (-30 * h + (14 * v1 + 16 * v0) * T + (3 * a0 - 2 * a1) * T**2) / (2 * T**4),
        (12 * h - 6 * (v1 + v0) * T + (a1 - a0) * T**2) / (2 * T**5),
    )
