"""A log is checked when it is made; parts, filters and a delay keep its signals together."""

import numpy as np
import pytest

from robot_dynamics_ros import Robot, identification
from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import Log, estimate_delay

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


@pytest.mark.parametrize(('nq', 'nv'), [(3, 3), (6, 3), (7, 6)])
def test_a_log_of_another_robot_is_refused_by_name(nq, nv):
    joints = np.ones((300, nv))
    other = Log(T, np.ones((300, nq)), joints, joints, joints)
    with pytest.raises(ArgumentError, match=r"robot: expected one with the joints of the log.*'aubo_i5' with nq = 6"):
        other.torque(Robot.named('aubo_i5'))


def test_all_signals_but_temperatures_are_low_passed():
    noise = 0.1 * np.sin(2.0 * np.pi * 30.0 * T)[:, None]
    noisy = log(**{name: getattr(log(), name) + noise for name in SIGNALS})
    smooth = noisy.low_pass(8.0)
    for name in ('q', 'qd', 'qdd', 'tau'):
        rest = getattr(smooth, name) - getattr(log(), name)
        assert np.abs(rest[50:-50]).max() < 1e-3
    np.testing.assert_array_equal(smooth.temperature, noisy.temperature)


@pytest.mark.parametrize('delay', [0.013, -0.02])
def test_a_delay_is_found_and_taken_away(delay):
    wave = np.sin(3.0 * T[:, None] + np.array([0.0, 1.0, 2.0]))
    late = np.sin(3.0 * (T - delay)[:, None] + np.array([0.0, 1.0, 2.0]))
    found = estimate_delay(T, 7.0 * late + 2.0, wave)
    assert found == pytest.approx(delay, abs=1e-5)
    again = log(q=wave, tau=late).without_delay(found)
    assert len(again) < len(T)
    np.testing.assert_allclose(again.tau, again.q, rtol=0, atol=1e-4)
    with pytest.raises(ArgumentError, match='delay: expected a part of the duration'):
        log().without_delay(5.0)


def test_public_names_are_imported_at_their_first_use():
    assert 'Log' in dir(identification) and identification.Log is Log
    for name in identification.MODULES:
        assert getattr(identification, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'newton'"):
        identification.newton  # noqa: B018
