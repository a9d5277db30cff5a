"""Joint trajectories against SciPy's piecewise polynomials."""

import numpy as np
import pytest
from scipy.interpolate import BPoly, CubicHermiteSpline, interp1d

from robot_dynamics_ros.control.trajectories.trajectory import TIME_RESOLUTION, Trajectory
from robot_dynamics_ros.errors import ArgumentError

TIMES = np.array([0.0, 0.4, 1.0, 1.1, 2.5])
ROUGH, SMOOTH, SMOOTHEST = range(3)  # what a point states: position; and velocity; and acceleration


def points(count=5):
    return np.random.default_rng(0).uniform(-2.0, 2.0, (3, count, 3))


def trajectory(stated, times=TIMES):
    """Return a trajectory, point k of which states what ``stated[k]`` says, and the points (3, m, n) as drawn."""
    drawn = points(count=len(times))
    velocities, accelerations = drawn[1].copy(), drawn[2].copy()
    velocities[np.array(stated) < SMOOTH] = np.nan
    accelerations[np.array(stated) < SMOOTHEST] = np.nan
    return Trajectory(times, drawn[0], velocities, accelerations), drawn


def sample(trajectory, t, joints=3):
    desired = np.full((3, joints), np.nan)
    trajectory.sample(t, *desired)
    return desired


def scipy_sample(stated, drawn, k, t):
    """Return position, velocity and acceleration of segment ``k`` at ``t`` by SciPy."""
    ends, two = TIMES[k : k + 2], slice(k, k + 2)
    kind = min(stated[k], stated[k + 1])
    if kind == ROUGH:
        line = interp1d(ends, drawn[0, two], axis=0)
        return np.array([line(t), np.diff(drawn[0, two], axis=0)[0] / np.diff(ends), np.zeros(3)])
    if kind == SMOOTH:
        curve = CubicHermiteSpline(ends, drawn[0, two], drawn[1, two])
    else:
        curve = BPoly.from_derivatives(ends, drawn[:, two].transpose(1, 0, 2))
    return np.array([curve(t), curve(t, 1), curve(t, 2)])


@pytest.mark.parametrize(
    'stated',
    [[ROUGH] * 5, [SMOOTH] * 5, [SMOOTHEST] * 5, [0, 0, 1, 1, 2], [2, 1, 2, 2, 0], [2, 2, 1, 1, 0], [0, 2, 2, 0, 1]],
    ids=str,
)
def test_every_segment_is_scipys(stated):
    ours, drawn = trajectory(stated)
    for k in range(4):
        for t in np.linspace(TIMES[k], TIMES[k + 1], 7)[:-1]:
            wanted = scipy_sample(stated, drawn, k, t)
            assert sample(ours, t) == pytest.approx(wanted, rel=1e-9, abs=1e-9 * abs(wanted).max())


@pytest.mark.parametrize(
    ('stated', 'kinds'),
    [
        ([0, 0, 0, 0, 0], ['linear']),
        ([1, 1, 1, 1, 1], ['cubic']),
        ([2, 2, 2, 2, 2], ['quintic']),
        ([2, 2, 0, 1, 1], ['linear', 'cubic', 'quintic']),
        ([2, 1, 2, 1, 2], ['cubic']),
        ([2, 0, 2, 0, 2], ['linear']),
    ],
)
def test_it_names_its_interpolation(stated, kinds):
    assert trajectory(stated)[0].interpolations == kinds


@pytest.mark.parametrize('kind', [ROUGH, SMOOTH, SMOOTHEST])
def test_it_is_as_continuous_as_its_points_state(kind):
    ours, drawn = trajectory([kind] * 5)
    for k in range(1, 4):
        before, at = sample(ours, TIMES[k] - 1e-9), sample(ours, TIMES[k])
        assert at[: kind + 1] == pytest.approx(drawn[: kind + 1, k], abs=1e-9)
        assert before[: kind + 1] == pytest.approx(drawn[: kind + 1, k], abs=1e-3)  # 1 ns earlier
        if kind < SMOOTHEST:
            assert abs(before[kind + 1] - at[kind + 1]).max() > 0.1  # and not smoother


@pytest.mark.parametrize('kind', [ROUGH, SMOOTH, SMOOTHEST])
def test_rates_are_the_derivatives(kind):
    ours, step = trajectory([kind] * 5)[0], 1e-6
    for t in np.linspace(0.05, 2.45, 25):
        rates = (sample(ours, t + step) - sample(ours, t - step)) / (2 * step)
        assert sample(ours, t)[1:] == pytest.approx(rates[:2], rel=1e-5, abs=1e-5)


def test_positions_alone_need_no_rates():
    positions = points()[0]
    assert sample(Trajectory(TIMES, positions), 0.5).tolist() == sample(trajectory([ROUGH] * 5)[0], 0.5).tolist()
    assert Trajectory(TIMES, positions).interpolations == ['linear']


@pytest.mark.parametrize('kind', [ROUGH, SMOOTH, SMOOTHEST])
def test_the_last_point_is_reached_moving_and_held_afterwards(kind):
    ours, drawn = trajectory([kind] * 5)
    wanted = scipy_sample([kind] * 5, drawn, 3, TIMES[-1])
    for t in (TIMES[-1], TIMES[-1] + 0.5 * TIME_RESOLUTION):
        assert sample(ours, t) == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    for t in (TIMES[-1] + 2 * TIME_RESOLUTION, TIMES[-1] + 100.0):
        assert sample(ours, t).tolist() == [drawn[0, -1].tolist(), [0, 0, 0], [0, 0, 0]]


def test_before_its_first_point_there_is_nothing():
    ours, drawn = trajectory([SMOOTHEST] * 5, TIMES + 0.3)
    assert (ours.start, ours.duration) == (0.3, 2.8)
    assert sample(ours, 0.3) == pytest.approx(drawn[:, 0], abs=1e-12)
    with pytest.raises(ArgumentError, match=r'^trajectory: 0\.29 s is before its first point at 0\.3 s$'):
        sample(ours, 0.29)


def test_one_point_is_held():
    ours = Trajectory([1.0], [[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]])
    assert (ours.start, ours.duration, ours.interpolations) == (1.0, 1.0, [])
    for t in (1.0, 7.0):
        assert sample(ours, t).tolist() == [[1, 2, 3], [0, 0, 0], [0, 0, 0]]


def test_before_its_only_point_there_is_nothing():
    with pytest.raises(ArgumentError, match=r'^trajectory: 0\.5 s is before its first point at 1\.0 s$'):
        sample(Trajectory([1.0], [[1.0, 2.0, 3.0]]), 0.5)


def test_a_sampler_writes_what_sample_writes():
    desired = np.full((3, 3), np.nan)
    ours = trajectory([SMOOTH] * 5, TIMES + 0.3)[0]
    step = ours.sampler(*desired)
    for t in (0.3, 1.0, 2.8, 9.0):
        step(t)
        assert desired.tolist() == sample(ours, t).tolist()
    for t in (0.299, -5.0):
        step(t)
        assert desired.tolist() == sample(ours, 0.3).tolist()


def test_the_last_point_has_what_was_given():
    row = [0.1, 0.2, 0.3]
    assert Trajectory([0.5], [row], [row], [row]).last_point.tolist() == [row] * 3
    assert np.isnan(Trajectory([0.0, 0.5], [row, row], [row, [np.nan] * 3]).last_point[1:]).all()
    assert Trajectory([0.5], [row]).is_point and not Trajectory([0.0, 0.5], [row, row]).is_point


def test_segments_are_what_the_kernel_reads():
    ours, drawn = trajectory([ROUGH] * 5)
    starts, coefficients, final = ours.segments
    assert starts.tolist() == TIMES.tolist() and final.tolist() == drawn[0, -1].tolist()
    assert coefficients.shape == (4, 6, 3) and not coefficients[:, 2:].any()
    assert coefficients[:, 0].tolist() == drawn[0, :-1].tolist()


def test_what_it_is_made_of_may_change_afterwards():
    (positions, velocities, accelerations), times = points(), TIMES.copy()
    ours = Trajectory(times, positions, velocities, accelerations)

    def samples():
        return np.array([sample(ours, t) for t in (0.1, 1.0, 2.5, 9.0)])

    wanted = samples()
    for array in (times, positions, velocities, accelerations):
        array += 1.0
    sample(ours, 9.0)[:] = np.nan
    assert np.array_equal(samples(), wanted)


def changed(which, value, *place):
    """Return times, positions, velocities and accelerations with one entry changed."""
    arrays = [TIMES.copy(), *points()]
    arrays[which][place] = value
    return arrays


def without(which, *rows):
    """Return the same with some rows of one of them unstated."""
    return changed(which, np.nan, list(rows))


TIME = 'is negative, not finite or not after that of the point before'
REFUSED = {
    'no points': (([], np.zeros((0, 3))), r'trajectory: expected times .*, got \(0,\) and \(0, 3\)'),
    'times': ((TIMES[:4], points()[0]), r'trajectory: expected times .*, got \(4,\) and \(5, 3\)'),
    'one row': ((TIMES[:3], np.zeros(3)), r'trajectory: expected times .*, got \(3,\) and \(3,\)'),
    'negative time': (changed(0, -0.1, 0), rf'trajectory point 0: time -0\.1 s {TIME}'),
    'same time': (changed(0, 0.4, 2), rf'trajectory point 2: time 0\.4 s {TIME}'),
    'time back': (changed(0, 0.3, 2), rf'trajectory point 2: time 0\.3 s {TIME}'),
    'time NaN': (changed(0, np.nan, 3), rf'trajectory point 3: time nan s {TIME}'),
    'time inf': (changed(0, np.inf, 4), rf'trajectory point 4: time inf s {TIME}'),
    'position NaN': (changed(1, np.nan, 2, 1), 'trajectory point 2: position is not finite'),
    'position inf': (changed(1, np.inf, 0, 0), 'trajectory point 0: position is not finite'),
    'some velocities': (changed(2, np.nan, 3, 1), 'trajectory point 3: velocity is not finite'),
    'velocity inf': (changed(2, -np.inf, 1, 2), 'trajectory point 1: velocity is not finite'),
    'some accelerations': (changed(3, np.nan, 4, 0), 'trajectory point 4: acceleration is not finite'),
    'no velocities': (without(2, 1), 'trajectory point 1: accelerations need velocities'),
    'velocities of too few points': (
        (TIMES, points()[0], points()[1][:4]),
        'trajectory: expected velocities of shape ',
    ),
    'velocities of too many points': (
        (TIMES, points()[0], points(count=6)[1]),
        'trajectory: expected velocities of shape ',
    ),
    'velocities of one joint': ((TIMES, points()[0], points()[1][:, :1]), 'trajectory: expected velocities of shape '),
    'one velocity for all': ((TIMES, points()[0], 0.0), 'trajectory: expected velocities of shape '),
    'accelerations of one joint': (
        (TIMES, *points()[:2], points()[2][:, :1]),
        'trajectory: expected accelerations of shape ',
    ),
}


@pytest.mark.parametrize('wrong', REFUSED)
def test_refused_naming_the_point(wrong):
    arguments, text = REFUSED[wrong]
    with pytest.raises(ArgumentError, match=f'^{text}'):
        Trajectory(*arguments)
