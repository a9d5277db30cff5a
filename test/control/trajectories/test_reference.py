"""A controller's reference, completed and extrapolated, against analytic motions and central differences."""

import sys
import threading

from support.control.references import (
    AGE_LIMIT,
    ALL,
    CUTOFF,
    POSITIONS,
    START,
    STATED,
    UNKNOWN,
    VELOCITIES,
    Followed,
    along,
    fed,
    ns,
)

import numpy as np
import pytest

from robot_dynamics_ros.errors import ArgumentError

LAG = 1 / (2 * np.pi * CUTOFF)


def full_speed(t):
    """s, f, df/dt at t."""
    return t, np.ones_like(t), np.zeros_like(t)


def swelling(t):
    return 0.6 * t - 0.1 * np.sin(3 * t), 0.6 - 0.3 * np.cos(3 * t), 0.9 * np.sin(3 * t)


def in_clock_time(speed, t):
    """q, qd, qdd at t."""
    s, f, f_rate = (np.asarray(value)[..., None] for value in speed(np.asarray(t, float)))
    q, by_s, by_ss = along(s[..., 0])
    return np.array([q, f * by_s, f**2 * by_ss + f_rate * by_s])


def largest(speed, end=2.05):
    """The largest velocity along the trajectory, acceleration, jerk and second rate of f, within ``end`` s."""
    t = np.linspace(0.0, end, 40001)
    _, _, qdd = in_clock_time(speed, t)
    s, _, f_rate = speed(t)
    jerk = np.gradient(qdd, t, axis=0)
    return [1.001 * np.abs(values).max() for values in (along(s)[1], qdd, jerk, np.gradient(f_rate, t))]


def lag_bounds(speed, stated, h):
    """What the module promises: largest errors of qd and qdd at a sample."""
    by_s, acceleration, jerk, factor_change = largest(speed)
    if stated == ALL:
        return 0.0, (LAG + h) * factor_change * by_s
    if stated == VELOCITIES:
        return 0.0, (LAG + h) * jerk
    return (LAG + h) * acceleration, (LAG + 2 * h) * jerk


def errors(speed, stated, h, ahead, end=2.0):
    """Largest errors of q, qd, qdd ``ahead`` s of each sample from when the motion is known."""
    followed, found = Followed(), []
    for k, t in enumerate(np.arange(0.0, end, h)):
        s, f, _ = speed(t)
        followed.add(t, along(s), stated, float(f))
        if k >= ALL - stated:
            found.append(np.abs(followed.at(t + ahead) - in_clock_time(speed, t + ahead)).max(axis=1))
    return np.max(found, axis=0)


@pytest.mark.compiled
@STATED
@pytest.mark.parametrize('speed', [full_speed, swelling])
@pytest.mark.parametrize('h', [0.002, 0.01, 0.05])
def test_errors_at_samples_are_within_what_is_promised_and_no_guess(stated, speed, h):
    velocity, acceleration = lag_bounds(speed, stated, h)
    wrong = errors(speed, stated, h, 0.0)
    assert wrong[0] == 0.0
    assert wrong[1] <= velocity + 1e-12
    assert wrong[2] <= acceleration + 1e-12
    # the promise is no more than what a lag of that time costs
    if stated < ALL:
        assert wrong[2] >= 0.4 * acceleration
    if stated == POSITIONS:
        assert wrong[1] >= 0.4 * velocity


@pytest.mark.compiled
@STATED
@pytest.mark.parametrize('speed', [full_speed, swelling])
@pytest.mark.parametrize('ahead', [0.001, 0.02, -0.01])
def test_errors_beside_samples_grow_as_taylor_says(stated, speed, ahead):
    velocity, acceleration = lag_bounds(speed, stated, 0.01)
    jerk, t = largest(speed)[2], abs(ahead)
    wrong = errors(speed, stated, 0.01, ahead)
    assert wrong[0] <= t * velocity + t**2 / 2 * acceleration + t**3 / 6 * jerk + 1e-12
    assert wrong[1] <= velocity + t * acceleration + t**2 / 2 * jerk + 1e-12
    assert wrong[2] <= acceleration + t * jerk + 1e-12


def smoothed(rows, steps):
    """The low-pass over rows, the first of which it starts at."""
    result = [rows[0]]
    for row, h in zip(rows[1:], steps[1:], strict=True):
        result.append((LAG * result[-1] + h * row) / (LAG + h))
    return np.array(result)


@pytest.mark.parametrize('stated', [POSITIONS, VELOCITIES])
def test_rates_are_smoothed_central_differences(stated):
    rng = np.random.default_rng(1)
    steps = rng.integers(1_000_000, 20_000_000, 30) * 1e-9
    t, (q, qd) = np.concatenate([[0.0], np.cumsum(steps)]), rng.normal(size=(2, 31, 3))
    middles = (t[1:] + t[:-1]) / 2
    if stated == POSITIONS:
        rough = np.diff(q, axis=0) / steps[:, None]
        qd = np.concatenate([q[:1], smoothed(rough, steps)])
        changes = np.diff(rough, axis=0) / np.diff(middles)[:, None]
        qdd = np.concatenate([q[:2], smoothed(changes, steps[1:])])
    else:
        qdd = np.concatenate([q[:1], smoothed(np.diff(qd, axis=0) / steps[:, None], steps)])
    followed = Followed()
    for k, stamp in enumerate(t):
        followed.add(stamp, (q[k], qd[k]), stated)
        if k >= ALL - stated:
            np.testing.assert_allclose(followed.at(stamp), [q[k], qd[k], qdd[k]], rtol=1e-9, atol=1e-9)


@STATED
def test_until_the_rates_are_known_there_is_no_motion(stated):
    followed = Followed()
    assert followed.reason(0.0) == 'no reference yet'
    for k in range(ALL - stated):
        followed.add(0.01 * k, along(0.01 * k), stated)
        assert followed.reason(0.01 * k) == UNKNOWN
    assert np.isnan(followed.desired).all()
    followed.add(0.05, along(0.05), stated)
    followed.at(0.05)


def test_nothing_is_extrapolated_beyond_the_age_limit():
    followed = fed([0.0, 0.01])
    for t in (0.01 + AGE_LIMIT, 0.01 - AGE_LIMIT):
        followed.at(t)
    for t in (0.01 + AGE_LIMIT + 1e-6, 0.01 - AGE_LIMIT - 1e-6):
        before = followed.desired.copy()
        assert followed.reason(t) == 'no reference within its age limit'
        assert (followed.desired == before).all()


# the speed scaling factor


@STATED
def test_an_arm_that_is_stopped_by_its_factor_stands_still(stated):
    followed = Followed()
    for k in range(6):
        followed.add(0.01 * k, along(0.7), stated, 0.0)
        if k >= ALL - stated + (stated > POSITIONS):
            assert (followed.at(0.01 * k) == [along(0.7)[0], np.zeros(3), np.zeros(3)]).all()
        else:
            assert followed.reason(0.01 * k) == UNKNOWN


@STATED
@pytest.mark.parametrize('joint', range(3))
def test_one_joint_that_moves_shows_that_a_factor_0_is_not_meant(stated, joint):
    alone = np.arange(3) == joint
    unset, known = Followed(), Followed()
    for k in range(6):
        rows = along(0.01 * k) * alone
        unset.add(0.01 * k, rows, stated, 0.0)
        if k or not stated:
            known.add(0.01 * k, rows, stated)
    assert (unset.at(0.05) == known.at(0.05)).all()


@STATED
def test_a_factor_that_the_controller_leaves_at_0_counts_as_1(stated):
    times = 0.01 * np.arange(6)
    unset = fed(times, stated, np.zeros(6))
    # a first sample of factor 0 does not tell whether it moves
    known = fed(times[1:] if stated else times, stated)
    assert (unset.at(0.05) == known.at(0.05)).all()


@STATED
def test_without_a_factor_the_speed_is_that_of_the_trajectory(stated):
    followed, full = Followed(), fed(0.01 * np.arange(4), stated)
    for t in 0.01 * np.arange(4):
        followed.reference.add(int(ns(t)), *along(t)[: stated + 1])
    assert (followed.at(0.03) == full.at(0.03)).all()


# what is wrong


def wrong(row, value):
    rows = along(0.02).copy()
    rows[row, 1] = value
    return rows


@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(('row', 'field'), [(0, 'position'), (1, 'velocity'), (2, 'acceleration')])
def test_what_is_not_finite_is_refused_by_name_and_leaves_no_trace(row, field, value):
    stated = max(row, VELOCITIES)
    followed, without = fed([0.0, 0.01], stated), fed([0.0, 0.01], stated)
    with pytest.raises(ArgumentError, match=f"^reference: {field} of joint 'elbow' is not finite$"):
        followed.add(0.02, wrong(row, value), stated)
    assert (followed.at(0.015) == without.at(0.015)).all()
    for reference in (followed, without):
        reference.add(0.03, along(0.03), stated)
    assert (followed.at(0.03) == without.at(0.03)).all()


@pytest.mark.parametrize('row', [1, 2])
def test_unused_fields_are_not_validated(row):
    followed = fed([0.0, 0.01])
    with pytest.raises(ArgumentError, match='not finite'):
        followed.add(0.02, wrong(row, np.nan))
    for t in (0.03, 0.04, 0.05):
        followed.add(t, wrong(row, np.nan), row - 1)
    followed.at(0.05)


@pytest.mark.parametrize(
    ('arguments', 'text'),
    [
        ((np.zeros(2),), r'expected position of shape \(3,\), got \(2,\)'),
        ((np.zeros(3), np.zeros(4)), r'expected velocity of shape \(3,\), got \(4,\)'),
        ((np.zeros(3), 0.0), r'expected velocity of shape \(3,\), got \(\)'),
        ((np.zeros(3), None, np.zeros(3)), 'accelerations need velocities'),
        ((np.zeros(3), None, None, -0.1), r'expected a speed scaling factor >= 0, got -0\.1'),
        ((np.zeros(3), None, None, np.nan), 'expected a speed scaling factor >= 0, got nan'),
        ((np.zeros(3), None, None, np.inf), 'expected a speed scaling factor >= 0, got inf'),
    ],
)
def test_samples_that_do_not_fit_are_refused(arguments, text):
    followed = Followed()
    with pytest.raises(ArgumentError, match=f'^reference: {text}$'):
        followed.reference.add(START, *arguments)
    assert followed.reason(0.0) == 'no reference yet'


@pytest.mark.parametrize('changed', [{'age_limit': 0.0}, {'age_limit': np.nan}, {'cutoff': -1.0}, {'cutoff': np.inf}])
def test_limit_and_cutoff_have_to_be_positive(changed):
    with pytest.raises(ArgumentError, match=r'^reference: expected (age limit|cut-off) > 0, got '):
        Followed(**changed)


@pytest.fixture
def busy_interpreter():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.compiled
def test_a_motion_is_never_half_of_one_sample_and_half_of_another(busy_interpreter):
    joints = 4000  # so that half of a sample takes long
    followed, stop = Followed([f'joint_{k}' for k in range(joints)]), threading.Event()

    def feed():
        k = 0
        while not stop.is_set():
            k += 1
            followed.reference.add(START + k, *np.full((3, joints), k))

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        seen = set()
        while len(seen) < 100:
            if not followed.reference.follow(START):
                desired = followed.desired
                assert (desired == desired[:, :1]).all()
                seen.add(desired[2, 0])
    finally:
        stop.set()
        feeder.join()
