"""Filters and derivatives do what their docstrings state, on even and on uneven times."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import ArgumentError
from robot_dynamics_ros.identification import differentiate, estimate_delay, moving, zero_phase

EVEN = 0.01 * np.arange(600)
UNEVEN = EVEN + 0.003 * np.sin(40.0 * EVEN)
INNER = slice(100, -100)


def wave(t, frequency):
    return np.sin(2.0 * np.pi * frequency * t)


def gain(t, x, frequency):
    """Complex gain of x over a wave of this frequency: its argument is the phase."""
    basis = np.exp(2j * np.pi * frequency * t[INNER])
    coefficients, *_ = np.linalg.lstsq(np.column_stack([basis.real, basis.imag]), x[INNER], rcond=None)
    return coefficients[1] + 1j * coefficients[0]


@pytest.mark.parametrize('t', [EVEN, UNEVEN], ids=['even', 'uneven'])
@pytest.mark.parametrize(('share', 'expected'), [(1 / 3, 0.99985), (1.0, 0.5), (3.0, 0.0)])
def test_a_filter_has_its_gain_and_no_phase(t, share, expected):
    frequency = 5.0 * share
    found = gain(t, zero_phase(t, wave(t, frequency), 5.0), frequency)
    assert abs(found - expected) < 2e-3  # a phase would make it complex


@pytest.mark.parametrize('t', [EVEN, UNEVEN], ids=['even', 'uneven'])
def test_a_derivative_is_that_of_the_signal(t):
    x = np.column_stack([wave(t, 1.0), t**3])
    found = differentiate(t, x)
    exact = np.column_stack([2.0 * np.pi * np.cos(2.0 * np.pi * t), 3.0 * t**2])
    assert np.abs(found - exact)[INNER].max() < 1e-4
    # a cubic is exact up to the ends, without an extension there
    assert np.abs(found - exact)[:, 1].max() < 1e-9
    np.testing.assert_array_equal(differentiate(t, x[:, 0]), found[:, 0])


def test_a_derivative_keeps_its_gain_up_to_a_sixth_of_the_rate():
    frequency = 100.0 / 6.0
    exact = 2.0 * np.pi * frequency
    assert abs(gain(EVEN, differentiate(EVEN, wave(EVEN, frequency)), frequency)) == pytest.approx(exact, rel=0.01)
    assert abs(gain(EVEN, np.gradient(wave(EVEN, frequency), EVEN), frequency)) == pytest.approx(0.83 * exact, rel=0.01)


def test_a_line_stays_a_line_up_to_its_ends():
    for t in (EVEN, UNEVEN):
        assert np.abs(zero_phase(t, 3.0 * t + 1.0, 5.0) - 3.0 * t - 1.0).max() < 1e-3
    short = EVEN[:60]  # shorter than the extension
    assert np.abs(zero_phase(short, 3.0 * short, 2.0) - 3.0 * short).max() < 0.03


def test_a_delay_of_one_column_is_found_in_spite_of_scale_and_noise():
    rng = np.random.default_rng(2)
    model = wave(EVEN, 0.5) + 0.5 * wave(EVEN, 1.3)
    later = wave(EVEN - 0.027, 0.5) + 0.5 * wave(EVEN - 0.027, 1.3)
    measured = -4.0 * later + 9.0 + 0.05 * rng.normal(size=600)
    assert estimate_delay(EVEN, measured, model) == pytest.approx(0.027, abs=2e-3)
    assert estimate_delay(EVEN, np.ones(600), model) == 0.0
    early = np.where(EVEN < 0.05, EVEN, 0.05)  # varies where no delay is considered
    assert estimate_delay(EVEN, early, model) == 0.0 and estimate_delay(EVEN, model, early) == 0.0
    mixed = np.column_stack([later, np.where(EVEN < 0.15, model, 0.0)])
    assert np.isfinite(estimate_delay(EVEN, mixed, np.column_stack([model, model])))
    assert estimate_delay(EVEN, later, model, largest=0.02) == pytest.approx(0.02, abs=1e-4)


def test_noise_makes_a_delay_as_uncertain_as_information_theory_allows():
    """Of a model w(t) with noise s of m samples, the least deviation is s / |dw/dt| (Cramer-Rao)."""
    rng = np.random.default_rng(3)
    model = wave(EVEN, 0.5) + 0.5 * wave(EVEN, 1.3)
    least = 0.05 / np.linalg.norm(differentiate(EVEN, model)[10:-10])
    found = [estimate_delay(EVEN, model + 0.05 * rng.normal(size=600), model) for _ in range(50)]
    assert np.sqrt(np.mean(np.square(found))) < 1.5 * least


def test_samples_of_a_motion_are_those_in_which_some_joint_moves():
    assert moving([[0.0, 0.01], [0.0, -0.03], [0.5, 0.0]]).tolist() == [False, True, True]
    assert moving([[0.0, 0.01], [0.0, -0.03]], speed=0.005).tolist() == [True, True]


WITH_GAP = EVEN + 0.2 * (EVEN > 2.995)

REFUSED = {
    'too short': (lambda: differentiate(EVEN[:3], EVEN[:3]), r't: expected shape \(m,\) with m >= 4, got \(3,\)'),
    'times stand still': (lambda: differentiate(0.0 * EVEN, EVEN), r't\[1\]: expected more than t\[0\]'),
    'NaN': (lambda: zero_phase(EVEN, np.full(600, np.nan), 5.0), r'x\[0\]: nan is not finite'),
    'another length': (lambda: zero_phase(EVEN, EVEN[1:], 5.0), r'x: expected shape \(600,\)'),
    'cut-off too high': (lambda: zero_phase(EVEN, EVEN, 50.0), 'cutoff: expected .* rate, 50 Hz, got 50 Hz'),
    'cut-off 0': (lambda: zero_phase(EVEN, EVEN, 0.0), 'cutoff: expected at least .* got 0 Hz'),
    'a part of a period': (lambda: zero_phase(EVEN, EVEN, 0.1), r'1 / duration, 0\.1669 Hz, .* got 0\.1 Hz'),
    'a gap': (lambda: zero_phase(WITH_GAP, EVEN, 5.0), 't: no samples between 2.99 and 3.2 s, .* frequency, 0.2 s'),
    'shapes': (lambda: estimate_delay(EVEN, EVEN, EVEN[:, None]), r'predicted: expected shape \(600,\)'),
    'delay': (lambda: estimate_delay(EVEN, EVEN, EVEN, 2.0), 'largest: expected a delay'),
}


@pytest.mark.parametrize(('call', 'culprit'), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_by_name(call, culprit):
    with pytest.raises(ArgumentError, match=culprit):
        call()
