"""Expected responses of ``~/check_trajectory``: its results must agree with its own samples."""

import numpy as np

from broken_messages.load import Load
from broken_messages.oracle import ROBOT

RATES = ('velocities', 'accelerations')
PERIOD = 0.01
"""Default time between two samples, s."""
MOST_SAMPLES = 100_000
LARGEST = 1e3
FASTEST, SLOWEST = 0.1, 100.0
MOST_COMPARED = 500
"""Number of samples that are checked."""


def is_trajectory(request) -> bool | None:
    """Return whether a request must succeed (True), fail (False), or may do either (None)."""
    trajectory, n = request.trajectory, ROBOT.nv
    if not trajectory.points or sorted(trajectory.joint_names) != sorted(ROBOT.joint_names):
        return False
    for point in trajectory.points:
        if len(point.positions) != n or not np.isfinite(point.positions).all():
            return False
        stated = []
        for rate in RATES:
            values = np.array(getattr(point, rate))
            missing = len(values) == 0 or np.isnan(values).all()
            if len(values) not in (0, n) or not (missing or np.isfinite(values).all()):
                return False
            stated.append(not missing)
        if stated == [False, True]:
            return False
    times = np.array([point.time_from_start.sec + point.time_from_start.nanosec * 1e-9 for point in trajectory.points])
    if times[0] < 0.0 or (np.diff(times) <= 0.0).any():
        return False
    period = request.sample_period or PERIOD
    if not 0.0 < period < np.inf:
        return False
    samples = (np.ceil(np.diff(times) / period) + 1).sum()
    if samples > MOST_SAMPLES:
        return False
    numbers = [[*point.positions, *point.velocities, *point.accelerations] for point in trajectory.points]
    close = len(times) > 1 and np.diff(times).min() < 1e-3  # then accelerations between points are huge
    moderate = all(np.nan_to_num(np.abs(values)).max() < LARGEST for values in numbers)
    return True if moderate and not close else None


def wrong_check(request, response, load: Load, now: int) -> str:
    """Return the fault of a successful response, '' if there is none."""
    if not is_trajectory(request):
        return ''
    names = list(request.trajectory.joint_names)
    if list(response.joint_names) != names:
        return f'joints {response.joint_names}, asked for {names}'
    order = [names.index(name) for name in ROBOT.joint_names]
    fields = ('peak_effort', 'effort_limit', 'effort_margin', 'peak_velocity', 'velocity_limit')
    values = [np.array(getattr(response, field)) for field in fields]
    if any(value.shape != (ROBOT.nv,) or not np.isfinite(value).all() for value in values):
        return f'not {ROBOT.nv} finite numbers each: {response}'
    peak, limit, margin, peak_velocity, velocity_limit = (value[order] for value in values)
    if (limit != ROBOT.limits.effort).any() or (velocity_limit != ROBOT.limits.velocity).any():
        return f'limits {limit}, {velocity_limit}'
    if not np.allclose(margin, limit - np.abs(peak), rtol=1e-12, atol=1e-9):
        return f'margins {margin} with peaks {peak}'
    factor = response.time_scaling
    if response.feasible is not (FASTEST <= factor <= SLOWEST) or (not response.feasible and factor):
        return f'feasible is {response.feasible}, the factor {factor}'
    if response.feasible and (peak_velocity / factor > velocity_limit * (1.0 + 1e-9)).any():
        return f'with factor {factor} speeds are {peak_velocity / factor}'
    points = response.resampled.points
    if not request.resample:
        return f'{len(points)} points that nobody asked for' if points else ''
    stride = len(points) // MOST_COMPARED + 1
    rows = [
        np.array([getattr(point, field) for point in points[::stride]])[:, order]
        for field in ('positions', *RATES, 'effort')
    ]
    return _wrong_samples(rows, peak, factor if response.feasible else None, load, now)


def _wrong_samples(rows, peak, factor: float | None, load: Load, now: int) -> str:
    """Return the fault of samples (q, qd, qdd, effort; m, n each), '' if there is none."""
    q, qd, qdd, effort = rows
    expected, size = _efforts(load, now, q, qd, qdd)
    if not np.abs(effort - expected).max() <= 1e-7 * (1.0 + size.max()):
        return f'efforts {effort}, expected {expected}'
    if (np.abs(effort).max(axis=0) > np.abs(peak) * (1.0 + 1e-9) + 1e-9).any():
        return f'peaks {peak}, but samples of {np.abs(effort).max(axis=0)}'
    if factor is not None:
        scaled, _ = _efforts(load, now, q, qd / factor, qdd / factor**2)
        if (np.abs(scaled) > ROBOT.limits.effort * (1.0 + 1e-6)).any():
            return f'with factor {factor} efforts are {np.abs(scaled).max(axis=0)}'
    return ''


def _efforts(load: Load, now: int, q, qd, qdd) -> tuple[np.ndarray, np.ndarray]:
    """Return efforts (m, n) and the magnitude of their terms."""
    rigid, size = load.answer(now, lambda robot: robot.inverse_dynamics(q, qd, qdd))
    friction = ROBOT.friction_torque(qd, rigid)
    return rigid + friction, size + np.abs(friction)
