"""The torque at activation grows from the last one that was sent, over a stated time of the clock of the arm."""

import numpy as np
import pytest

from robot_dynamics_ros.control.guards.fade_in import FadeIn

LAST = np.array([3.0, -1.0])
TORQUE = np.array([10.0, -8.0])


def blended(fade, elapsed, torque=TORQUE):
    out = torque.copy()
    fade.apply(out, elapsed)
    return out


def restarted(duration=1.0, last=LAST):
    fade = FadeIn(2, duration)
    fade.restart(last)
    return fade


@pytest.mark.parametrize('elapsed', [0.0, 0.3, 99.0])
def test_the_first_torque_is_the_last_one_that_was_sent_whatever_time_has_passed(elapsed):
    np.testing.assert_array_equal(blended(restarted(), elapsed), LAST)


def test_it_grows_linearly_with_the_time_between_torques():
    fade = restarted()
    blended(fade, 5.0)
    for share in (0.25, 0.5, 0.75):
        np.testing.assert_allclose(blended(fade, 0.25), LAST + share * (TORQUE - LAST), rtol=0, atol=1e-14)


def test_from_its_end_on_torques_are_not_changed_by_a_bit():
    fade, torque = restarted(), np.array([0.1, 1.0 / 3.0])
    blended(fade, 0.0)
    for _ in range(3):
        np.testing.assert_array_equal(blended(fade, 1.0, torque), torque)


def test_it_follows_a_torque_that_changes_meanwhile():
    fade = restarted(2.0)
    blended(fade, 0.0)
    np.testing.assert_allclose(blended(fade, 1.0, -TORQUE), 0.5 * (LAST - TORQUE), rtol=0, atol=1e-14)


def test_time_that_stands_still_does_not_advance_it():
    fade = restarted()
    for _ in range(10):
        np.testing.assert_array_equal(blended(fade, 0.0), LAST)


def test_without_a_duration_torques_are_not_changed():
    np.testing.assert_array_equal(blended(restarted(0.0), 0.0), TORQUE)


def test_before_the_first_restart_torques_are_not_changed():
    np.testing.assert_array_equal(blended(FadeIn(2, 1.0), 0.0), TORQUE)


def test_it_keeps_the_torque_it_began_with():
    last = LAST.copy()
    fade = restarted(last=last)
    last[:] = 99.0
    np.testing.assert_array_equal(blended(fade, 0.0), LAST)


def test_a_torque_that_is_not_finite_stays_so():
    fade = restarted()
    blended(fade, 0.0)
    assert np.isnan(blended(fade, 0.5, np.array([np.nan, 1.0]))[0])


def test_it_runs_from_its_restart_to_its_end():
    fade = FadeIn(2, 1.0)
    assert not fade.runs
    fade.restart(LAST)
    assert fade.runs
    for elapsed, runs in ((0.0, True), (0.9, True), (0.2, False)):
        blended(fade, elapsed)
        assert fade.runs == runs
    assert not restarted(0.0).runs
