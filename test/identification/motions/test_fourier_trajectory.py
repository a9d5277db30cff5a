"""Fourier trajectories: derivatives, bounds at all times, points, files and messages."""

import numpy as np
import pytest

from robot_dynamics_ros.control.trajectories.motion_profiles import fourier_series
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import FourierTrajectory, Log
from robot_dynamics_ros.identification.motions.fourier_trajectory import at_rest
from robot_dynamics_ros.messages.joint_trajectory import trajectory_message, trajectory_of

NAMES = ('a', 'b', 'c')


def drawn(harmonics=4, duration=3.0, seed=0):
    random = np.random.default_rng(seed)
    coefficients = at_rest(harmonics) @ random.normal(size=(2 * harmonics - 2, len(NAMES)))
    return FourierTrajectory(NAMES, duration, random.normal(size=3), *np.split(coefficients, 2))


def test_it_is_the_fourier_series_of_closed_form():
    motion, t = drawn(), np.linspace(0.0, 3.0, 101)
    expected = np.zeros((3, 101, len(NAMES)))
    for k, (a, b) in enumerate(zip(motion.sines, motion.cosines, strict=True), start=1):
        w = 2.0 * np.pi * k / 3.0
        s, c = np.sin(w * t)[:, None], np.cos(w * t)[:, None]
        expected += [(b * s - a * c) / w, a * s + b * c, w * (a * c - b * s)]
    expected[0] += motion.center
    series = fourier_series(motion.center, motion.sines, motion.cosines, 1.0 / 3.0, t)
    for found, profile, exact in zip(motion.sample(t), series[1:], expected, strict=True):
        assert np.abs(found - exact).max() < 1e-12 * np.abs(exact).max()
        assert np.abs(profile - exact).max() < 1e-12 * np.abs(exact).max()


@pytest.mark.parametrize('harmonics', [2, 3, 9])
def test_a_period_begins_and_ends_at_rest_in_the_same_position(harmonics):
    motion = drawn(harmonics)
    for t in (0.0, 3.0, 6.0):
        q, qd, qdd = motion.sample(t)
        assert np.abs(q - motion.start).max() < 1e-12
        assert max(np.abs(qd).max(), np.abs(qdd).max()) < 1e-11
    assert np.abs(motion.sample(1.234)[1]).min() > 1e-3  # and moves in between


@pytest.mark.parametrize('seed', range(5))
def test_peaks_bound_the_motion_at_all_times_and_closely(seed):
    motion, middle = drawn(seed=seed), np.array([0.5, 0.0, -2.0])
    q, qd, qdd = motion.sample(np.linspace(0.0, 3.0, 100_001))
    for bound, values in zip(motion.peaks(middle), (q - middle, qd, qdd), strict=True):
        exact = np.abs(values).max(axis=0)
        assert (bound >= exact * (1.0 - 1e-9)).all() and (bound <= exact * 1.0002).all()


def test_a_peak_between_two_samples_is_bounded():
    # cos(3 w t) has its peaks in the middle between samples at odd multiples of half a step
    steps = 200 * 3
    phase = 3.0 * np.pi / steps
    sines, cosines = np.zeros((3, 1)), np.zeros((3, 1))
    sines[2], cosines[2] = np.sin(phase), np.cos(phase)
    bound = FourierTrajectory(['a'], 1.0, [0.0], sines, cosines).peaks([0.0])[1]
    assert abs(bound[0] - 1.0) < 1e-12


def test_points_end_with_the_motion():
    motion = drawn()
    t, q, qd, qdd = motion.points(0.01, repetitions=2)
    assert len(t) == 601 and t[-1] == 6.0 and np.diff(t).max() < 0.01 + 1e-12
    for points, values in zip((q, qd, qdd), motion.sample(t), strict=True):
        assert np.array_equal(points, values)
    assert len(motion.points(0.7)[0]) == 6  # at most 0.7 s apart


def test_a_message_is_the_same_motion():
    motion, (q, qd, qdd) = drawn(), np.zeros((3, 3))
    followed = trajectory_of(NAMES, trajectory_message(motion.joint_names, *motion.points()))
    for t in (0.0, 0.5017, 2.9951):
        followed.sample(t, q, qd, qdd)
        for one, other in zip((q, qd, qdd), motion.sample(t), strict=True):
            assert np.abs(one - other).max() < 1e-4 * np.abs(other).max() + 1e-10


def test_a_file_is_that_of_a_log_once_torques_are_added(tmp_path):
    motion = drawn()
    motion.to_csv(tmp_path / 'motion.csv')
    header, *rows = (tmp_path / 'motion.csv').read_text().split()
    lines = [f'{header},tau1_Nm,tau2_Nm,tau3_Nm', *(f'{row},1,2,3' for row in rows)]
    (tmp_path / 'log.csv').write_text('\n'.join(lines) + '\n')
    log = Log.from_csv(tmp_path / 'log.csv', 3)
    for found, expected in zip((log.t, log.q, log.qd, log.qdd), motion.points(), strict=True):
        assert np.array_equal(found, expected)


def test_wrong_numbers_are_refused_by_name():
    with pytest.raises(ArgumentError, match='duration: expected a finite number > 0'):
        drawn(duration=0.0)
    with pytest.raises(ArgumentError, match=r'center: expected shape \(3,\)'):
        FourierTrajectory(NAMES, 1.0, np.zeros(2), np.zeros((2, 3)), np.zeros((2, 3)))
    with pytest.raises(ArgumentError, match='period: expected a finite number > 0'):
        drawn().points(-0.01)
    with pytest.raises(ArgumentError, match='repetitions: expected a whole number >= 1'):
        drawn().points(repetitions=1.5)
