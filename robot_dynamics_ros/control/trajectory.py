"""Joint trajectories, interpolated as ros2_control's joint_trajectory_controller does.

Between two points that both state accelerations the position is a quintic, with velocities only a cubic, with
positions only a straight line (velocity jumps at the points, acceleration is zero). After the last point the arm rests
there.
"""

import numpy as np

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.jit.decorators import bound, entry

INTERPOLATIONS = ('linear', 'cubic', 'quintic')
TIME_RESOLUTION = 1e-9
"""Of ROS stamps, s: the last point is met with its velocity, whatever rounding does to its time."""


@entry
def sample(starts, coefficients, final, q, qd, qdd, t):
    """Write position, velocity and acceleration (n each) at ``t`` s; before the first segment those at its start.

    Reads ``starts`` (segments + 1; s), of the segments and of the rest after them, ``coefficients`` (segments, 6, n),
    lowest power first, and ``final`` (n). Horner's scheme.
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
        # q = c0 + c1 t + ... + c5 t^5
        q[j] = c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * c5))))
        qd[j] = c1 + t * (2.0 * c2 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5)))
        qdd[j] = 2.0 * c2 + t * (6.0 * c3 + t * (12.0 * c4 + t * 20.0 * c5))


class Trajectory:
    """A joint trajectory that can be sampled at any time from its start on."""

    def __init__(self, times, positions, velocities=None, accelerations=None):
        """Prepare the segments.

        times (m,) s from the start, strictly increasing and >= 0; positions (m, n) rad or m; velocities and
        accelerations (m, n) likewise, a row of NaN where a point states none, None where no point does. Accelerations
        of a point without velocities are refused. Raises ArgumentError naming the point.
        """
        times, positions = np.array(times, float), np.array(positions, float)
        if positions.ndim != 2 or times.shape != positions.shape[:1] or not len(times):
            raise ArgumentError(
                f'trajectory: {times.shape} times and {positions.shape} positions do not belong together'
            )
        velocities, accelerations = (
            np.full(positions.shape, np.nan) if rate is None else np.array(rate, float)
            for rate in (velocities, accelerations)
        )
        for name, rate in (('velocities', velocities), ('accelerations', accelerations)):
            if rate.shape != positions.shape:
                raise ArgumentError(f'trajectory: expected {name} of shape {positions.shape}, got {rate.shape}')
        self._points = times, positions, velocities, accelerations
        stated = _stated_rates(*self._points)
        # a segment is as smooth as both of its ends allow: 0 linear, 1 cubic, 2 quintic
        self._smoothness = np.minimum(stated[:-1], stated[1:])
        self._starts = times.copy()
        # times of the first and of the last point, s: before the first nothing can be sampled
        self.start, self.duration = float(times[0]), float(times[-1])
        self._final = positions[-1].copy()
        self._coefficients = np.zeros((len(times) - 1, 6, positions.shape[1]))
        for smoothness, segment in enumerate((_linear, _cubic, _quintic)):
            (chosen,) = np.nonzero(self._smoothness == smoothness)
            ends = (array[k] for array in (positions, velocities, accelerations) for k in (chosen, chosen + 1))
            duration = (times[chosen + 1] - times[chosen])[:, None]
            for power, coefficient in enumerate(segment(duration, *ends)):
                self._coefficients[chosen, power] = coefficient

    def with_lead(self) -> 'Trajectory':
        """Return this trajectory with room for a segment that leads from a measured state to its first point.

        ``lead_from`` writes that segment; until then it rests at the first point.
        """
        unknown = np.full(len(self._final), np.nan)
        leading = 0.0, self.first_position, unknown, unknown
        points = (np.concatenate([[first], rows]) for first, rows in zip(leading, self._points, strict=True))
        return Trajectory(*points)

    def lead_from(self, t: float, q, qd) -> None:
        """Write the first segment of ``with_lead``: at ``t`` s, before its end, the joints are at q (n).

        They move with qd (n; NaN: unknown). The segment is a cubic where both ends state velocities, else a line.
        """
        times, positions, velocities, _ = self._points
        is_cubic = np.isfinite(qd).all() and np.isfinite(velocities[1]).all()
        segment = _cubic if is_cubic else _linear
        self._coefficients[0] = 0.0
        ends = q, positions[1], qd, velocities[1]
        for power, coefficient in enumerate(segment(times[1] - t, *ends)):
            self._coefficients[0, power] = coefficient
        self._starts[0] = t

    @property
    def first_position(self) -> np.ndarray:
        """Position of the first point, (n,) rad or m."""
        return self._points[1][0]

    @property
    def interpolations(self) -> list[str]:
        """The kinds of interpolation that occur between the points, roughest first."""
        return [INTERPOLATIONS[smoothness] for smoothness in np.unique(self._smoothness)]

    @property
    def segments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What the kernel ``sample`` reads: starts (m,), coefficients (m - 1, 6, n), final position (n)."""
        return self._starts, self._coefficients, self._final

    def sample(self, t: float, q, qd, qdd) -> None:
        """Write the desired position, velocity and acceleration (n each) at ``t`` s, not before ``start``."""
        if t < self.start:
            raise ArgumentError(f'trajectory: {t} s is before its first point at {self.start} s')
        sample(*self.segments, q, qd, qdd, t)

    def sampler(self, q, qd, qdd):
        """Return ``sample`` as a function of time alone, which writes q, qd, qdd and leaves ``start`` to its caller."""
        return bound(sample, *self.segments, q, qd, qdd, then=(0.0,))


def _stated_rates(times, positions, velocities, accelerations) -> np.ndarray:
    """Return how many rates each point states, (m,): 0, 1 or 2; ArgumentError for a point that can't be followed."""
    stated = np.zeros(len(times), int)
    for k in range(len(times)):
        if not np.isfinite(times[k]) or times[k] < 0 or (k and times[k] <= times[k - 1]):
            raise ArgumentError(
                f'trajectory point {k}: time {times[k]} s is negative, infinite or not after the last one'
            )
        if not np.isfinite(positions[k]).all():
            raise ArgumentError(f'trajectory point {k}: position is not finite')
        for name, rate in (('velocity', velocities[k]), ('acceleration', accelerations[k])):
            if np.isfinite(rate).all():
                stated[k] += 1
            elif not np.isnan(rate).all():
                raise ArgumentError(f'trajectory point {k}: {name} is not finite')
        if stated[k] == 1 and np.isnan(velocities[k]).any():
            raise ArgumentError(f'trajectory point {k}: accelerations need velocities')
    return stated


def _linear(T, p0, p1, *_):
    """Return the coefficients of straight lines from p0 to p1 in T."""
    return p0, (p1 - p0) / T


def _cubic(T, p0, p1, v0, v1, *_):
    """Return the coefficients of the cubics with these ends."""
    h = p1 - p0
    return p0, v0, (3 * h / T - 2 * v0 - v1) / T, (-2 * h / T + v0 + v1) / T**2


def _quintic(T, p0, p1, v0, v1, a0, a1):
    """Return the coefficients of the quintics with these ends."""
    h = p1 - p0
    return (
        p0,
        v0,
        a0 / 2,
        (20 * h - (8 * v1 + 12 * v0) * T - (3 * a0 - a1) * T**2) / (2 * T**3),
        (-30 * h + (14 * v1 + 16 * v0) * T + (3 * a0 - 2 * a1) * T**2) / (2 * T**4),
        (12 * h - 6 * (v1 + v0) * T + (a1 - a0) * T**2) / (2 * T**5),
    )
