"""Samples that do not continue the ones before begin a new run: nothing is differentiated across them."""

from support.control.references import (
    AGE_LIMIT,
    ALL,
    CUTOFF,
    NAMES,
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

from robot_dynamics_ros.control.trajectories.reference import Reference


@pytest.mark.parametrize('then', [0.04, 0.02, 0.1401], ids=['repeated', 'back', 'pause'])
@STATED
def test_a_stamp_that_repeats_goes_back_or_pauses_resets(stated, then):
    before, after = [0.0, 0.01, 0.02, 0.03, 0.04], [then + 0.011 * k for k in range(4)]
    factors = np.linspace(1.0, 0.5, 9)
    followed = fed(before, stated, factors[:5])
    for k, t in enumerate(after):
        followed.add(t, along(t), stated, factors[5 + k])
        anew = fed(after[: k + 1], stated, factors[5:])
        assert followed.reason(t) == anew.reason(t) == (UNKNOWN if k < ALL - stated else '')
        if k >= ALL - stated:
            assert (followed.at(t) == anew.at(t)).all()


def test_a_step_of_the_age_limit_is_no_pause():
    followed = fed([0.0, 0.02])
    followed.add(0.02 + AGE_LIMIT, along(0.02), VELOCITIES)
    followed.at(0.02 + AGE_LIMIT)
    assert followed.reason(0.02 + AGE_LIMIT) == ''


@pytest.mark.parametrize(('before', 'after'), [(ALL, VELOCITIES), (VELOCITIES, POSITIONS), (POSITIONS, VELOCITIES)])
def test_samples_that_state_other_rates_reset(before, after):
    followed, times = fed([0.0, 0.01, 0.02, 0.03], before), [0.04, 0.05, 0.06, 0.07]
    for k, t in enumerate(times):
        followed.add(t, along(t), after)
        assert followed.reason(t) == (UNKNOWN if k < ALL - after else '')
    assert (followed.at(0.07) == fed(times, after).at(0.07)).all()


@pytest.mark.parametrize('factor', [0.0, 0.6])
@STATED
def test_the_first_moments_of_simulated_time_are_no_others(stated, factor):
    """A clock that begins at 0 has stamps as close to 0 as samples are to one another."""
    early, late = Followed(), Followed()
    for k in range(1, 6):
        stamp = 10_000_000 * k
        for followed, start in ((early, 0), (late, START)):
            followed.reference.add(start + stamp, *along(0.01 * k)[: stated + 1], speed_scaling=factor)
        assert early.reference.follow(stamp) == late.reference.follow(START + stamp)
        assert np.array_equal(early.desired, late.desired, equal_nan=True)
    assert np.isfinite(early.desired).all()


LIMIT = 3.0
"""rad/s."""


def jumping(stated, turn=0.0, limit=LIMIT, step=0.002):
    """Return a reference that has moved at 1 rad/s for 20 steps, the time and the motion of its last sample."""
    desired = np.full((3, 3), np.nan)
    reference = Reference(NAMES, AGE_LIMIT, CUTOFF, desired, np.full(3, limit), np.full(3, turn))
    for k in range(20):
        t = k * step
        assert reference.add(int(ns(t)), *np.array([np.full(3, t), np.ones(3), np.zeros(3)])[: stated + 1]) == ''
    return reference, desired, t


@STATED
def test_nothing_is_differentiated_across_a_jump(stated):
    reference, desired, t = jumping(stated)
    for k in range(1, 4):
        moved = np.array([np.full(3, t + 0.002 * k), np.ones(3), np.zeros(3)])
        moved[0, 1] -= 1.2
        jumped = reference.add(int(ns(t + 0.002 * k)), *moved[: stated + 1])
        assert jumped == ('elbow' if k == 1 else '')
        reason = reference.follow(int(ns(t + 0.002 * k)))
        assert reason == ('' if k >= 3 - stated else UNKNOWN)
        if not reason:
            np.testing.assert_allclose(desired, moved, rtol=0, atol=1e-4)


@STATED
def test_two_controllers_in_turn_get_no_rate_of_their_distance(stated):
    reference, desired, t = jumping(stated)
    for k in range(1, 20):
        moved = np.array([np.full(3, 0.8 * (k % 2)), np.ones(3), np.zeros(3)])
        assert reference.add(int(ns(t + 0.002 * k)), *moved[: stated + 1]) == 'base'
        reason = reference.follow(int(ns(t + 0.002 * k)))
        assert reason == ('' if stated == ALL else UNKNOWN)
        assert reason or np.array_equal(desired, moved)


@STATED
def test_a_wrap_of_a_continuous_joint_is_no_jump(stated):
    reference, desired, t = jumping(stated, turn=2 * np.pi)
    for k in range(1, 30):
        moved = np.array([np.full(3, t + 0.002 * k), np.ones(3), np.zeros(3)])
        wrapped = moved.copy()
        wrapped[0] -= 2 * np.pi * (k >= 5)
        assert reference.add(int(ns(t + 0.002 * k)), *wrapped[: stated + 1]) == ''
        assert reference.follow(int(ns(t + 0.002 * k))) == ''
        np.testing.assert_allclose(desired, wrapped, rtol=0, atol=1e-4)


@pytest.mark.parametrize('limit', [0.0, np.nan, np.inf])
def test_without_a_velocity_limit_no_jump_is_found(limit):
    reference, _, t = jumping(POSITIONS, limit=limit)
    assert reference.add(int(ns(t + 0.002)), np.full(3, 1.0)) == ''


def test_steps_at_the_velocity_limit_are_no_jumps_though_stamps_jitter():
    reference, _, t = jumping(POSITIONS)
    assert reference.add(int(ns(t + 0.002 * 0.7)), np.full(3, t + 0.002 * LIMIT)) == ''
