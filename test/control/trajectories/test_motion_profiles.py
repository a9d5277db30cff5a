"""Motions in closed form: values of the toolbox, derivatives by differences, ends, and limits."""

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.trajectories.motion_profiles import cubic, fourier_series, quintic, trapezoidal
from robot_dynamics_ros.errors import ArgumentError

START, END = np.array([0.1, -0.4, 2.0]), np.array([1.1, -0.9, 2.0])
T = 2.0
TIMES = np.linspace(0.0, T, 4001)
ENDS = {'start_velocity': [0.2, 0.0, -0.3], 'end_velocity': [0.1, -0.5, 0.0]}
MOTIONS = {
    'quintic': quintic(START, END, TIMES),
    'quintic with velocities': quintic(START, END, TIMES, **ENDS),
    'cubic': cubic(START, END, TIMES),
    'cubic with velocities': cubic(START, END, TIMES, **ENDS),
    'trapezoidal': trapezoidal(START, END, TIMES),
    'trapezoidal of a speed': trapezoidal(START, END, TIMES, [0.6, 0.5, 0.0]),
    'fourier': fourier_series(
        START, [[0.3, 0.1, 0.0], [0.0, 0.2, 0.1]], [[0.1, 0.0, 0.2], [0.3, 0.0, 0.0]], 0.5, TIMES
    ),
}


@pytest.mark.parametrize('name', MOTIONS)
def test_velocities_and_accelerations_are_derivatives(name):
    motion = MOTIONS[name]
    h = TIMES[1]
    for rate, of in ((motion.qd, motion.q), (motion.qdd, motion.qd)):
        difference = (of[2:] - of[:-2]) / (2 * h)
        # the acceleration of the trapezoidal motion jumps twice for each joint that moves
        wrong = abs(difference - rate[1:-1]).max(axis=1) > 1e-5
        assert wrong.sum() <= (8 if 'trapezoidal' in name else 0)


@pytest.mark.parametrize('name', [name for name in MOTIONS if name != 'fourier'])
def test_motions_join_start_and_end(name):
    motion = MOTIONS[name]
    velocities = ENDS if 'velocities' in name else {'start_velocity': 0.0, 'end_velocity': 0.0}
    np.testing.assert_allclose(motion.q[[0, -1]], [START, END], atol=1e-15)
    for row, end in ((0, 'start_velocity'), (-1, 'end_velocity')):
        np.testing.assert_allclose(motion.qd[row], np.broadcast_to(velocities[end], 3), atol=1e-14)
    if 'quintic' in name:
        np.testing.assert_allclose(motion.qdd[[0, -1]], 0.0, atol=1e-12)


def test_a_number_of_samples_is_a_second_as_in_the_toolbox():
    """q = 10 s^3 - 15 s^4 + 6 s^5; 1.875 times the mean speed at the middle."""
    motion = quintic([0.0], [1.0], 5)
    np.testing.assert_allclose(motion.t, [0, 0.25, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(motion.q[:, 0], [0, 0.103515625, 0.5, 0.896484375, 1], atol=1e-15)
    np.testing.assert_allclose(motion.qd[:, 0], [0, 1.0546875, 1.875, 1.0546875, 0], atol=1e-14)
    np.testing.assert_allclose(motion.qdd[:, 0], [0, 5.625, 0, -5.625, 0], atol=1e-13)


def test_a_trapezoidal_motion_has_three_parts():
    motion = MOTIONS['trapezoidal']
    assert abs(motion.qd).max(axis=0) == pytest.approx([0.75, 0.375, 0.0])
    assert np.mean(motion.qdd[:, 0] == 0.0) == pytest.approx(1 / 3, abs=1e-3)
    assert (motion.q[:, 2] == 2.0).all() and not motion.qdd[:, 2].any()


def test_a_fourier_series_is_periodic_about_its_center():
    motion = MOTIONS['fourier']
    np.testing.assert_allclose(motion.q[-1], motion.q[0], atol=1e-14)
    np.testing.assert_allclose(motion.q[:-1].mean(axis=0), START, atol=1e-14)
    np.testing.assert_allclose(motion.qd[0], [0.4, 0.0, 0.2], atol=1e-15)


@pytest.mark.parametrize(
    ('call', 'text'),
    [
        (lambda: quintic([0.0], [1.0, 2.0], 5), r'end: expected shape \(1,\), got \(2,\)'),
        (lambda: cubic([0.0], [np.nan], 5), r'end\[0\]: nan is not finite'),
        (lambda: quintic([0.0], [1.0], [0.0, 1.0, 0.5]), r't\[2\]: expected more than t\[1\] = 1, got 0.5'),
        (lambda: quintic([0.0], [1.0], [-1.0, 1.0]), 't: expected times that increase'),
        (lambda: quintic([0.0], [1.0], 1), 't: expected at least 2 samples'),
        (lambda: quintic([0.0], [1.0], [[0.0, 1.0]]), r't: expected shape \(m,\)'),
        (lambda: trapezoidal([0.0], [1.0], 5, [0.9]), r'velocity\[0\]: expected more than 1 and at most 2'),
        (lambda: trapezoidal([0.0], [1.0], 5, [2.1]), r'velocity\[0\]: expected more than 1 and at most 2'),
        (lambda: fourier_series([0.0], [[1.0]], [[1.0]], 0.0, 5), 'frequency: expected a positive'),
        (lambda: fourier_series([0.0], [[1.0]], [1.0], 1.0, 5), r'cosines: expected shape \(1, 1\)'),
        (lambda: fourier_series([0.0], [[1.0]], [[1.0]], 'fast', 5), "frequency: expected a positive .* got 'fast'"),
        (lambda: fourier_series([np.inf], [[1.0]], [[1.0]], 1.0, 5), r'center\[0\]: inf is not finite'),
        (lambda: quintic([[0.0, 0.0]], [1.0, 1.0], 5), r'start: expected shape \(n,\), got \(1, 2\)'),
    ],
)
def test_wrong_arguments_are_named(call, text):
    with pytest.raises(ArgumentError, match=text):
        call()


def test_a_motion_that_leaves_its_limits_is_refused():
    robot = Robot.named('aubo_i5')
    start, end = np.zeros(6), np.array([1.0, 0.5, -0.5, 0.2, 0.1, 0.0])
    motion = quintic(start, end, np.linspace(0.0, 4.0, 101))
    assert motion.within_limits(robot) is motion
    with pytest.raises(ArgumentError, match=r"joint 'shoulder_joint' leaves its velocity limits .* s: "):
        quintic(start, end, np.linspace(0.0, 0.5, 101)).within_limits(robot)
    beyond = robot.limits.upper[1] + 0.01
    with pytest.raises(ArgumentError, match=rf"joint '{robot.joint_names[1]}' leaves its position limits .* at 10 s"):
        quintic(start, [0, beyond, 0, 0, 0, 0], np.linspace(0.0, 10.0, 11)).within_limits(robot)
    with pytest.raises(ArgumentError, match='expected 3 joints'):
        MOTIONS['cubic'].within_limits(robot)
