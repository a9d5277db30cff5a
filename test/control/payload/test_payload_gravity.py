"""Payload and gravity over time: torques are linear in both, and a clock that goes back undoes neither."""

from support.robots.facade_robots import assert_close, robot_of, same_bits, states

import numpy as np
import pytest

from robot_dynamics_ros import Payload
from robot_dynamics_ros.control.payload.payload_gravity import GravityRamp, PayloadGravity, PayloadRamp

SECOND = 1_000_000_000
START = 5 * SECOND
DOWN, SIDEWAYS = (0.0, 0.0, -9.81), (9.81, 0.5, 0.0)
TOOL, BOX = Payload(1.0, (0.1, 0.0, 0.05)), Payload.box(3.0, (0.1, 0.2, 0.3), (0.0, 0.1, 0.2))
LOAD = PayloadGravity(
    PayloadRamp({'ee_link': BOX}, {'wrist3_Link': TOOL}, START - SECOND, 2 * SECOND),
    GravityRamp(SIDEWAYS, DOWN, START, 4 * SECOND),
)


def torques(robot):
    return robot.inverse_dynamics(*states('aubo_i5', 'inverse_dynamics', (5,)))


def laden(payloads, gravity):
    robot = robot_of('aubo_i5').with_gravity(gravity)
    for frame, payload in payloads.items():
        robot = robot.with_payload(payload, frame)
    return robot


def test_torques_are_linear_in_payload_and_in_gravity():
    time = START + SECOND // 2
    g, p = LOAD.gravity.share(time), LOAD.payload.share(time)
    assert (g, p) == (0.125, 0.75)
    mixed = sum(
        weight * torques(laden(payloads, gravity))
        for payloads, gravity, weight in (
            (LOAD.payload.before, DOWN, (1 - p) * (1 - g)),
            (LOAD.payload.before, SIDEWAYS, (1 - p) * g),
            (LOAD.payload.after, DOWN, p * (1 - g)),
            (LOAD.payload.after, SIDEWAYS, p * g),
        )
    )
    assert_close(torques(LOAD.robot_at(robot_of('aubo_i5'), time)), mixed)


def test_before_and_after_the_ramps_it_is_one_robot_to_the_bit():
    bare = robot_of('aubo_i5')
    assert same_bits(torques(LOAD.robot_at(bare, 0)), torques(laden(LOAD.payload.before, DOWN)))
    assert same_bits(torques(LOAD.robot_at(bare, 10 * START)), torques(laden(LOAD.payload.after, SIDEWAYS)))
    tilted = bare.with_gravity(SIDEWAYS)
    assert same_bits(torques(PayloadGravity.of(tilted).robot_at(bare, START)), torques(tilted))


def test_a_new_gravity_ramp_starts_at_the_current_gravity():
    ramp = GravityRamp(DOWN, DOWN).to(SIDEWAYS, START, 4.0)
    assert (ramp.before, ramp.after, ramp.start, ramp.duration) == (DOWN, SIDEWAYS, START, 4 * SECOND)
    half = START + 2 * SECOND
    np.testing.assert_allclose(ramp.at(half), [4.905, 0.25, -4.905], rtol=1e-15)
    back = ramp.to(DOWN, half, 0.0)
    assert (tuple(back.at(0)), back.before) == (DOWN, tuple(ramp.at(half)))


def test_it_is_finished_when_both_ramps_are():
    ends = [LOAD.finished(START + round(seconds * SECOND)) for seconds in (-9.0, 0.9, 1.0, 3.9, 4.0, 9.0)]
    assert ends == [False, False, False, False, True, True]
    assert LOAD.payload.finished(START + SECOND) and not LOAD.payload.finished(START + SECOND - 1)
    assert PayloadGravity.of(robot_of('aubo_i5')).finished(0)


@pytest.mark.parametrize('after', [0, START - 7 * SECOND, START - SECOND], ids=['zero', 'before', 'into it'])
def test_a_ramp_that_was_over_stays_over_and_one_under_way_keeps_its_progress(after):
    before = START + 2 * SECOND  # the payload's is over, that of gravity half way
    set_back = LOAD.clock_set_back(before, after)
    assert set_back.payload.share(after) == set_back.payload.share(-START) == 1.0
    assert set_back.payload.after is LOAD.payload.after and set_back.payload.duration == 0
    assert [set_back.gravity.share(after + k * SECOND) for k in range(-3, 4)] == [0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0]
    # a second time, when it is over there too
    over = set_back.clock_set_back(after + 2 * SECOND, after)
    assert over.finished(0) and over.gravity.at(0) == SIDEWAYS


def test_whoever_moves_during_a_ramp_may_meet_both_its_ends():
    """LOAD's payload ramp ends after 2 s, that of gravity after 4 s, at the latest."""
    payload, gravity = LOAD.payload, LOAD.gravity
    ends = sorted(ramp.start + ramp.duration for ramp in (payload, gravity))
    assert ends[0] < ends[1]
    everything = [(p, g) for p in (payload.before, payload.after) for g in (gravity.before, gravity.after)]
    assert list(LOAD.met(ends[0] - 1)) == everything
    assert list(LOAD.met(START - SECOND)) == everything  # a ramp that is about to begin counts
    first_is_payload = payload.start + payload.duration == ends[0]
    assert list(LOAD.met(ends[0])) == [
        (p, g)
        for p in ((payload.before, payload.after) if not first_is_payload else (payload.after,))
        for g in ((gravity.before, gravity.after) if first_is_payload else (gravity.after,))
    ]
    assert list(LOAD.met(ends[1])) == [(payload.after, gravity.after)]
