"""A log is checked when it is made; parts, filters and a delay keep its signals together."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from robot_dynamics_ros import Robot, identification
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import FrictionTracker, Log, differentiate, estimate_delay, zero_phase

T = 0.01 * np.arange(300)
SIGNALS = {'q': 0.5, 'qd': 1.0, 'qdd': -1.0, 'tau': 3.0, 'temperature': 40.0}


def log(**changed):
    wave = np.sin(2.0 * T[:, None] + np.array([0.0, 1.0, 2.0]))
    return Log(**{'t': T, **{name: scale * wave for name, scale in SIGNALS.items()}, **changed})


def with_nan(name):
    values = np.ones((300, 3))
    values[7, 1] = np.nan
    return {name: values}


REFUSED = {
    'no times': ({'t': []}, r't: expected shape \(m,\)'),
    'time stands still': ({'t': np.r_[T[:9], T[8:-1]]}, r't\[9\]: expected more than t\[8\] = 0.08, got 0.08'),
    'time is NaN': ({'t': np.r_[np.nan, T[1:]]}, r't\[0\]: nan is not finite'),
    'a sample less': ({'q': np.ones((299, 3))}, r'q: expected shape \(300, 3\), got \(299, 3\)'),
    'a joint more': ({'tau': np.ones((300, 4))}, r'tau: expected shape \(300, 3\), got \(300, 4\)'),
    'no joints': ({'qd': np.ones(300)}, r'qd: expected shape \(300, 1\), got \(300,\)'),
    'temperatures of one joint': ({'temperature': np.ones(300)}, r'temperature: expected shape \(300, 3\)'),
    'texts': ({'q': [['a'] * 3] * 300}, 'q: expected real numbers'),
    'another meaning': ({'effort': 'newton'}, 'effort: expected one of torque'),
    **{f'{name} is NaN': (with_nan(name), rf'{name}\[7, 1\]: nan is not finite') for name in SIGNALS},
}


@pytest.mark.parametrize(('changed', 'culprit'), REFUSED.values(), ids=REFUSED)
def test_what_is_no_log_is_refused_by_name(changed, culprit):
    with pytest.raises(ArgumentError, match=culprit):
        log(**changed)


@pytest.mark.parametrize('part', [slice(20, 60), (T > 0.195) & (T < 0.595), np.arange(20, 60)])
def test_a_part_has_the_same_samples_of_all_signals(part):
    some = log()[part]
    assert len(some) == 40 and some.t[0] == T[20] and some.effort == 'torque'
    for name in SIGNALS:
        np.testing.assert_array_equal(getattr(some, name), getattr(log(), name)[20:60])


@pytest.mark.parametrize('part', [3, 0.5, 'all', np.zeros((2, 2), int), T[:9] > 0.0, [5, 300], [-301], [0.5]])
def test_what_is_no_part_is_refused(part):
    with pytest.raises(
        ArgumentError, match=r'part of a log: expected a slice, a mask \(300,\) or indices of its samples'
    ):
        log()[part]


def test_the_last_samples_are_a_part():
    assert log()[[0, 299]].t.tolist() == [T[0], T[299]] and log()[[-2, -1]].t.tolist() == T[-2:].tolist()


def test_arrays_are_copies_that_nobody_changes():
    q = np.ones((300, 3))
    made = log(q=q)
    q[:] = 2.0
    assert (made.q == 1.0).all()
    for name in ('t', *SIGNALS):
        with pytest.raises(ValueError, match='read-only'):
            getattr(made, name)[0] = 0.0


@pytest.mark.parametrize('part', [slice(None), slice(1, None, 3), np.arange(290)[::-1] < 200])
def test_arrays_of_any_layout_become_contiguous(part):
    robot = Robot.named('aubo_i5')
    wave = np.sin(2.0 * T[:290, None] + np.arange(6.0))
    layouts = np.asfortranarray(wave), np.repeat(wave, 2, axis=1)[:, ::2], wave[::-1][::-1], wave.tolist()
    expected = FrictionTracker(robot).predict(Log(T[:290], wave, wave, wave, wave)[part])
    for array in layouts:
        made = Log(T[:290], *4 * [array])[part]
        assert all(getattr(made, name).flags.c_contiguous for name in ('t', 'q', 'qd', 'qdd', 'tau'))
        np.testing.assert_array_equal(FrictionTracker(robot).predict(made), expected)


def wrapped(q, half):
    """Positions as a driver reports them that knows half a range: in [-half, half)."""
    return (q + half) % (2.0 * half) - half


@pytest.mark.parametrize('half', [np.pi, 2.0 * np.pi])
@pytest.mark.parametrize('rate', [20.0, 1000.0])
def test_positions_reported_modulo_a_turn_are_continued_beyond_it(half, rate):
    t = np.arange(0.0, 20.0, 1.0 / rate)[:, None]
    away = 1.3 * t, -2.0 * t + 9.0 * np.sin(t), 3.1 * np.sin(0.7 * t), 3.0 + 0.5 * np.sin(2.9 * t), 0.02 * t
    q = np.concatenate(away, axis=1)
    reported = wrapped(q, half)
    assert (np.abs(np.diff(reported, axis=0)).max(axis=0) > 2.0 * half - 1.0).tolist()[:3] == [True, True, False]
    made = Log(t[:, 0], reported, q, q, q)
    turns = (made.q - q) / (2.0 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns[:1]) + 0.0 * turns, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(Log(t[:, 0], made.q, q, q, q)[50:].q, made.q[50:])  # once and for all


@pytest.mark.parametrize(
    'q',
    [
        np.linspace(0.0, 200.0, 33)[:, None],  # degrees
        np.where(np.arange(33) < 20, 0.0, 3.3)[:, None],  # a slide, or a joint that jumps
        np.where(np.arange(33) < 20, 0.0, 7.5)[:, None],
        np.repeat([[0.0, 6.3], [20.0, 0.0]], [20, 13], axis=0) @ [[1.0], [1.0]],
    ],
    ids=['degrees', 'half a turn', 'more than a turn', 'farther than its range'],
)
def test_what_is_no_turn_stays(q):
    np.testing.assert_array_equal(Log(0.05 * np.arange(33), q, q, q, q).q, q)


def test_a_turn_in_a_gap_stays():
    t = 0.01 * np.arange(100) + 2.0 * (np.arange(100) > 50)
    q = np.where(t > 1.0, -3.1, 3.1)[:, None]
    np.testing.assert_array_equal(Log(t, q, q, q, q).q, q)


@pytest.mark.parametrize(('nq', 'nv'), [(3, 3), (6, 3), (7, 6)])
def test_a_log_of_another_robot_is_refused_by_name(nq, nv):
    joints = np.ones((300, nv))
    other = Log(T, np.ones((300, nq)), joints, joints, joints)
    with pytest.raises(ArgumentError, match=r"robot: expected one with the joints of the log.*'aubo_i5' with nq = 6"):
        other.torque(Robot.named('aubo_i5'))


def test_all_signals_but_temperatures_are_low_passed():
    noise = 0.1 * np.sin(2.0 * np.pi * 30.0 * T)[:, None]
    smooth = log(**{name: getattr(log(), name) + noise for name in SIGNALS}).low_pass(8.0)
    inner = np.isin(T, smooth.t)
    assert smooth.t[0] == pytest.approx(2.5 / 8.0, abs=0.011) and smooth.t[-1] == pytest.approx(T[-1] - smooth.t[0])
    for name in ('q', 'qd', 'tau'):
        np.testing.assert_allclose(getattr(smooth, name), getattr(log(), name)[inner], rtol=0, atol=2e-3)
    np.testing.assert_allclose(smooth.qdd, differentiate(T, log().qd)[inner], rtol=0, atol=2e-2)
    np.testing.assert_array_equal(smooth.temperature, (log().temperature + noise)[inner])


@pytest.mark.parametrize('rate', [60.0, 1000.0])
@pytest.mark.parametrize('held', [0, 1, 3, 5])
def test_ends_that_derivative_and_filter_have_touched_are_no_data(rate, held):
    """Positions of an encoder that are held at the ends: the second derivative is thousands of rad/s^2 there."""
    t = np.arange(0.0, 6.0, 1.0 / rate)
    measured = np.round(np.sin(3.0 * t) / 1e-4)[:, None] * 1e-4
    if held:
        measured[:held], measured[-held:] = measured[held], measured[-held - 1]
    qd = differentiate(t, measured)
    raw = Log(t, measured, qd, differentiate(t, qd), measured)
    smooth = raw.low_pass(5.0)
    error = np.abs(smooth.qdd[:, 0] + 9.0 * np.sin(3.0 * smooth.t)).max()
    # 3 % of the acceleration; the filter alone leaves tens to thousands at the ends
    assert error < 0.27 and np.abs(zero_phase(t, raw.qdd, 5.0)).max() > (20.0 if held else 9.0)
    assert t[-1] - 1.05 < np.ptp(smooth.t) < t[-1] - 0.95


def in_parts(made, *bounds):
    """A log in parts with gaps of 2 s between them."""
    parts = [made[slice(*bound)] for bound in itertools.pairwise(bounds)]
    return Log.joined([replace(part, t=part.t + 2.0 * k) for k, part in enumerate(parts)])


def test_a_gap_splits_a_log():
    whole, parts = log().low_pass(6.0), in_parts(log(), 0, 140, 300)
    assert [len(part) for part in parts.segments()] == [140, 160] and len(parts.segments(3.0)) == 1
    first, second = (part.low_pass(6.0) for part in parts.segments())
    assert first.t[-1] < 1.4 and second.t[0] > 3.4 and len(whole) > len(first) + len(second)
    for name in ('q', 'qd', 'qdd', 'tau', 'temperature'):
        expected = np.concatenate([getattr(first, name), getattr(second, name)])
        np.testing.assert_array_equal(getattr(parts.low_pass(6.0), name), expected)
    short = in_parts(log(), 0, 20, 300)  # the first part is shorter than what is cut
    assert short.low_pass(6.0).t[0] > 2.2
    with pytest.raises(ArgumentError, match=r'cutoff: 0\.833 s at each end .* has 1\.59 s: a cut-off .* above 3 Hz'):
        parts.low_pass(3.0)


def test_logs_of_one_arm_are_joined_with_a_gap():
    one, other = log()[:100], log()[50:]
    both = Log.joined([one, other, other])
    assert len(both) == 600 and [len(part) for part in both.segments()] == [100, 250, 250]
    assert both.t[100] == pytest.approx(one.t[-1] + 10.0) and both.t[:100].tolist() == one.t.tolist()
    np.testing.assert_array_equal(both.tau, np.concatenate([one.tau, other.tau, other.tau]))
    later = replace(other, t=other.t + 5.0)
    assert Log.joined([one, later]).t[100:].tolist() == later.t.tolist()


@pytest.mark.parametrize(
    ('other', 'culprit'),
    [
        (Log(T, *4 * [np.ones((300, 4))]), r'logs\[2\]: expected q \(m, 3\), .* as in the first, got q \(m, 4\)'),
        (log(effort='current'), "effort 'torque', temperatures as in the first, got .* effort 'current'"),
        (log(temperature=None), 'temperatures as in the first, got .*, no temperatures'),
    ],
)
def test_logs_that_do_not_fit_together_are_refused_by_name(other, culprit):
    with pytest.raises(ArgumentError, match=culprit):
        Log.joined([log(), log(), other])
    with pytest.raises(ArgumentError, match='logs: expected at least one'):
        Log.joined([])


@pytest.mark.parametrize('delay', [0.013, -0.02])
def test_a_delay_is_found_and_taken_away(delay):
    wave = np.sin(3.0 * T[:, None] + np.array([0.0, 1.0, 2.0]))
    late = np.sin(3.0 * (T - delay)[:, None] + np.array([0.0, 1.0, 2.0]))
    found = estimate_delay(T, 7.0 * late + 2.0, wave)
    assert found == pytest.approx(delay, abs=1e-5)
    again = log(q=wave, tau=late).without_delay(found)
    assert len(again) < len(T)
    np.testing.assert_allclose(again.tau, again.q, rtol=0, atol=1e-4)
    parts = in_parts(log(q=wave, tau=late), 0, 120, 300)
    assert estimate_delay(parts.t, 7.0 * parts.tau + 2.0, parts.q) == pytest.approx(delay, abs=1e-5)
    np.testing.assert_allclose(*(getattr(parts.without_delay(delay), name) for name in ('tau', 'q')), rtol=0, atol=1e-4)
    with pytest.raises(ArgumentError, match='delay: expected a part of the duration'):
        log().without_delay(5.0)


def test_public_names_are_imported_at_their_first_use():
    assert 'Log' in dir(identification) and identification.Log is Log
    for name in identification.MODULES:
        assert getattr(identification, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'newton'"):
        identification.newton  # noqa: B018
