"""Times of a controller on a local clock, under jitter of the network, drift and restarts."""

import numpy as np
import pytest

from robot_dynamics_ros.aubo.controller_clock import ControllerClock

PERIOD = 5_000_000
BOOT = 7_000_000_000_123
SEED = 3


def run(drift: float, delays: np.ndarray) -> np.ndarray:
    """Return the errors (ns) of the stamps of a controller whose clock is slow by ``drift``."""
    clock, errors, stamps = ControllerClock(), [], []
    for k, delay in enumerate(delays):
        taken = BOOT + round(k * PERIOD * (1.0 + drift))
        stamps.append(clock.local(k * PERIOD, taken + round(delay)))
        errors.append(stamps[-1] - taken)
    assert (np.diff(stamps) > 0).all()
    run.drift = clock.drift
    return np.array(errors)


def jitter(count: int) -> np.ndarray:
    """Delays (ns): 0.1 ms and more, exponential, and one message in fifty is 2 to 40 ms late."""
    source = np.random.default_rng(SEED)
    late = np.where(source.random(count) < 0.02, source.uniform(2e6, 40e6, count), 0.0)
    return 1e5 + source.exponential(3e5, count) + late


@pytest.mark.parametrize('drift', [0.0, 5e-5, -2e-4])
def test_stamps_are_within_half_a_millisecond_of_the_truth_after_a_second(drift):
    errors = run(drift, jitter(12_000))
    assert np.abs(errors[200:]).max() < 5e5
    assert run.drift == pytest.approx(drift, abs=1e-5)


def test_without_jitter_the_offset_is_the_delay_alone():
    errors = run(0.0, np.full(4000, 2e5))
    np.testing.assert_allclose(errors, 2e5, rtol=0, atol=1)


def test_a_pause_of_the_network_changes_no_stamp():
    delays = np.full(8000, 1e5)
    delays[3000:3400] += 5e6 * np.arange(400)[::-1]  # everything of two seconds comes at once
    errors = run(2e-5, delays)
    assert np.abs(errors[2000:]).max() < 5e5


def test_after_a_reset_a_clock_that_began_again_is_followed():
    clock = ControllerClock()
    for k in range(1000):
        clock.local(k * PERIOD, BOOT + k * PERIOD)
    clock.reset()
    again = BOOT + 10 * 1000 * PERIOD
    assert [clock.local(k * PERIOD, again + k * PERIOD) for k in range(3)] == [again + k * PERIOD for k in range(3)]


def test_stamps_increase_although_the_first_message_was_late():
    clock = ControllerClock()
    delays = [12_000_000, 8_000_000, 3_100_000, 100_000, 100_000, 100_000, 100_000]
    stamps = [clock.local(k * PERIOD, BOOT + k * PERIOD + delay) for k, delay in enumerate(delays)]
    assert (np.diff(stamps) > 0).all()
    assert stamps[-1] - (BOOT + 6 * PERIOD) == 100_000  # and the right one is reached


@pytest.mark.parametrize('jump', [300_000_000, 10_000_000_000, 3_600_000_000_000])
def test_a_time_that_jumps_puts_no_stamp_after_its_arrival(jump):
    clock, stamps, arrivals = ControllerClock(), [], []
    for k in range(1200):
        arrivals.append(BOOT + k * PERIOD + 100_000)
        stamps.append(clock.local(k * PERIOD + (jump if k > 600 else 0), arrivals[-1]))
    assert (np.diff(stamps) > 0).all()
    assert (np.array(stamps) <= arrivals).all()


def late_for(delays) -> list[int]:
    """Return for how long (ns) all samples have been late, after each of them."""
    clock, found, arrival = ControllerClock(), [], 0
    for k, delay in enumerate(delays):
        arrival = max(arrival, BOOT + k * PERIOD + round(delay))  # the network keeps their order
        clock.local(k * PERIOD, arrival)
        found.append(clock.late_for)
    return found


def test_a_clock_that_was_set_back_makes_all_samples_late():
    found = late_for(1e5 + np.where(np.arange(2000) < 1000, 0.0, 3e8))
    assert max(found[:1001]) == 0
    assert found[1300] == 300 * PERIOD
    assert late_for(1e5 + np.where(np.arange(2000) < 1000, 0.0, -3e8))[-1] == 0  # set forward: there are no late ones


def test_samples_that_are_late_by_chance_or_come_at_once_after_a_pause_are_not_late_for_long():
    assert max(late_for(jitter(8000))) == 0
    delays = np.full(4000, 1e5)
    delays[1000:1400] += 5e6 * np.arange(400)[::-1]
    assert max(late_for(delays)) == 0


def test_samples_that_arrive_at_once_have_stamps_that_increase_and_are_not_later():
    clock = ControllerClock()
    stamps = [clock.local(k * PERIOD, BOOT) for k in range(40)]
    assert (np.diff(stamps) > 0).all()
    assert stamps[-1] - BOOT < 40


@pytest.mark.parametrize('drift', [2e-3, -2e-3, 0.5])
def test_beyond_the_drift_of_a_clock_stamps_are_arrivals(drift):
    delays = np.full(6000, 1e5)
    errors = run(drift, delays)
    np.testing.assert_allclose(errors[-1000:], 1e5, rtol=0, atol=2)
    assert run.drift == pytest.approx(drift, rel=0.6)
