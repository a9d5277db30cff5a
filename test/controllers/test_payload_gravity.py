"""Payload and gravity of a controller: refused messages, ramps in place of steps, and clocks that are set back."""

from support.controllers.controllers_core import MILLISECOND, RATE, has_compilers
from support.controllers.controllers_law import BODY, SECOND, Q, at, aubo_i5, gravity, law, one, steps

import numpy as np
import pytest

from robot_dynamics_ros import Payload
from robot_dynamics_ros.errors import ArgumentError

pytestmark = pytest.mark.skipif(not has_compilers(), reason='no C and C++ compiler')
WRONG = 'principal moments none of which exceeds the sum of the others'


@pytest.mark.parametrize(
    ('numbers', 'frame', 'said'),
    [
        (BODY, 'foreArm_Link', "frame: 'foreArm_Link' is not fixed to the last link 'wrist3_Link'"),
        (BODY, 'nowhere', "frame: 'nowhere' is not fixed to the last link"),
        (BODY * -1.0, '', 'mass: expected a finite number, at least 0 kg, got -3'),
        (BODY * np.nan, '', 'mass: expected a finite number'),
        (np.r_[1e-10, BODY[1:4], np.zeros(6)], '', 'mass: expected 0 or at least 1e-09 kg'),
        (np.r_[3.0, 1e9, 0.0, 0.0, BODY[4:]], '', 'mass, com, inertia: expected at most 1e+08'),
        (np.r_[0.0, BODY[1:]], '', 'inertia: expected zeros, since the mass is 0'),
        (np.r_[BODY[:4], 1.0, 0.1, 0.1, 0.0, 0.0, 0.0], '', WRONG),
        (np.r_[BODY[:4], 1.0, 1.0, 1.0, 0.9, 0.0, 0.0], '', WRONG),
        (np.r_[BODY[:4], 0.01, np.inf, 0.01, 0.0, 0.0, 0.0], '', 'inertia: expected finite numbers'),
    ],
)
def test_a_payload_that_is_refused_changes_nothing(numbers, frame, said):
    which = law()
    assert which.payload(BODY, 'ee_link', start=which.now, duration=0)[0]
    before = one(which)
    accepted, early, message = which.payload(numbers, frame, start=which.now)
    assert not accepted and not early and said in message
    accepted, _, message = which.payload(BODY, '', [('', BODY), (frame, numbers)])
    assert not accepted and message.startswith('before[1]: ') and said in message
    assert (one(which) == before).all()


@pytest.mark.parametrize(
    ('after', 'before', 'frame', 'duration', 'said'),
    [
        ((0.0, np.nan, 0.0), (0.0, 0.0, 0.0), '', 0, 'gravity: expected finite numbers'),
        ((0.0, 0.0, 0.0), (0.0, np.inf, 0.0), '', 0, 'before: expected finite numbers'),
        (
            (0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0),
            'map',
            0,
            "gravity: expected it in the base link 'base_link', got frame 'map'",
        ),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), '', 3601 * SECOND, 'ramp_time: expected 0 to 3600 s, got 3601'),
        ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), '', -1, 'ramp_time: expected 0 to 3600 s'),
    ],
)
def test_gravity_that_is_refused_changes_nothing(after, before, frame, duration, said):
    which = law()
    expected = one(which)
    accepted, early, message = which.gravity(after, before, frame, which.now, duration)
    assert not accepted and not early and said in message
    assert (one(which) == expected).all()


def test_a_ramp_of_another_clock_is_early():
    which = law()
    assert which.payload(BODY, start=which.now + 2 * SECOND, duration=SECOND) == (
        False, True,
        'its ramp begins 2 s later than now: it is of another clock, or of this one before it was set back; activate '
        'dynamics_server on the same clock',
    )  # fmt: skip
    assert (one(which) == gravity()).all()
    assert which.payload(BODY, start=which.now + SECOND // 2, duration=SECOND)[0]


def test_a_payload_that_does_not_begin_at_the_one_in_force_makes_a_ramp():
    which = law()
    before = one(which)
    assert which.payload(start=which.now)[0]
    accepted, _, message = which.payload(BODY, start=which.now)  # no ramp, but it begins with nothing: asked for
    assert accepted and not message
    carried = one(which)
    robot = aubo_i5().with_payload(Payload(3.0, (0.1, 0.02, 0.05), 0.01 * np.eye(3)))
    assert (carried == gravity(robot=robot)).all() and (carried != before).any()
    accepted, early, message = which.payload(0.5 * BODY, start=which.now, before=[('', 0.3 * BODY)], duration=SECOND)
    assert accepted and not early and 'ramp over 1 s' in message
    efforts, _ = which.updates(at(Q, 1100))
    change = np.abs(efforts[-1] - carried)
    assert (steps(carried, efforts) <= 1.01 * change / RATE + 1e-9).all()
    accepted, _, message = which.gravity((0.0, 0.0, -3.0), (0.0, 0.0, -4.0), start=which.now - 5 * SECOND, duration=0)
    assert accepted and 'ramp over 0.5 s' in message
    efforts, _ = which.updates(at(Q, 1100))
    assert (steps(efforts[0], efforts) <= 1.01 * np.abs(efforts[-1] - efforts[0]) / (0.5 * RATE) + 1e-9).all()


def test_bodies_on_one_frame_are_one_payload():
    which = law()
    other = BODY * np.r_[0.5, -1.0, 2.0, 1.0, np.full(6, 0.3)]
    assert which.payload(BODY, before=[('', BODY), ('', other)], start=which.now + SECOND // 2, duration=SECOND)[0]
    payload = Payload(3.0, (0.1, 0.02, 0.05), 0.01 * np.eye(3)) + Payload(1.5, (-0.1, 0.04, 0.05), 0.003 * np.eye(3))
    assert (one(which) == gravity(robot=aubo_i5().with_payload(payload))).all()


def test_bodies_on_one_frame_whose_sum_is_refused_change_nothing():
    """Each is within the rounding of printed inertias, as Payload has it; a node refuses the sum, too."""
    which, thin = law(), np.r_[1.0, np.zeros(3), 3.4e-6, 1e-6, 1e-6, np.zeros(3)]
    assert which.payload(thin, start=which.now)[0]
    one(which)
    accepted, _, message = which.payload(BODY, before=[('', thin), ('', thin)], start=which.now)
    assert not accepted and message.startswith('before[1]: inertia: ') and WRONG in message
    payload = Payload(1.0, np.zeros(3), np.diag(thin[4:7]))
    with pytest.raises(ArgumentError, match=WRONG):
        payload + payload


def test_the_same_message_again_changes_nothing():
    which = law()
    one(which)
    start = which.now
    assert which.payload(BODY, start=start, before=[('', 0.3 * BODY)])[2]
    efforts, _ = which.updates(at(Q, 200))
    assert which.payload(BODY, start=start, before=[('', 0.3 * BODY)]) == (True, False, '')
    more, _ = which.updates(at(Q, 400))
    assert (steps(efforts[-1], more) <= 1.01 * np.abs(more[-1] - efforts[0]) / (0.5 * RATE) + 1e-9).all()


def test_a_clock_that_is_set_back_keeps_the_progress_of_ramps():
    which = law()
    which.payload(BODY, start=which.now, duration=SECOND)
    before = which.updates(at(Q, 500))[0][-1]
    which.clock_set(which.now, which.now - 100 * SECOND)
    which.now -= 100 * SECOND
    efforts, _ = which.updates(at(Q, 520))
    assert (steps(before, efforts) <= 0.0011 * np.abs(efforts[-1]).max() + 1e-9).all()
    assert np.allclose(efforts[-1], one(which), rtol=0.0, atol=0.0)


@pytest.mark.parametrize('looked', [False, True])
def test_a_clock_that_is_set_back_before_anybody_notices_makes_no_step(looked):
    which = law()
    which.payload(BODY, start=which.now, duration=SECOND)
    before = which.updates(at(Q, 1500))[0][-1]
    if looked:
        which.end_finished_ramps()
    which.now -= 10 * SECOND
    if looked:  # another message is followed on the clock that was set back
        assert which.gravity(aubo_i5().gravity, aubo_i5().gravity, start=which.now)[0]
    efforts, _ = which.updates(at(Q, 20))
    assert (efforts == before).all()


@pytest.mark.parametrize('change', [3600 * SECOND, -3600 * SECOND])
@pytest.mark.parametrize('noticed', [1, 20, 300])
def test_a_clock_that_is_set_keeps_the_progress_of_ramps(noticed, change):
    """Whoever watches the clock notices it some cycles later."""
    which = law()
    which.payload(BODY, start=which.now, duration=SECOND)
    before = which.updates(at(Q, 400))[0][-1]
    which.now += change
    meanwhile, _ = which.updates(at(Q, noticed))
    which.clock_set(which.now - change, which.now)
    efforts, _ = which.updates(at(Q, 620 - noticed))
    efforts = np.vstack([meanwhile, efforts])
    per_cycle = np.abs(efforts[-1] - before) / 600
    assert (steps(before, efforts) <= 1.01 * per_cycle + 1e-9).all()
    assert (efforts[-1] == one(which)).all() and (efforts[550] != efforts[-1]).any()


def test_a_pause_is_no_clock_that_is_set():
    which = law()
    which.payload(BODY, start=which.now, duration=SECOND)
    start = one(which)
    paused, _ = which.updates(at(Q, 1), times=[which.now + SECOND // 2], period=0.5)
    end = which.updates(at(Q, 600))[0][-1]
    assert np.abs(end - start).max() > 1.0
    assert np.allclose(paused[0] - start, 0.5 * (end - start), rtol=1e-3, atol=0.01)


@pytest.mark.parametrize('change', [-50, -20, 20, 50, 90])
@pytest.mark.parametrize('times', [1, 10])
def test_small_changes_of_the_clock_make_no_step(change, times):
    """Nobody notices them: a ramp waits, or goes on three times as fast."""
    which = law()
    which.payload(BODY, start=which.now, duration=SECOND)
    efforts = [which.updates(at(Q, 300))[0]]
    for _ in range(times):
        which.now += change * SECOND // 1000
        efforts.append(which.updates(at(Q, 50))[0])
        which.end_finished_ramps()
    efforts = np.vstack([*efforts, which.updates(at(Q, 2000))[0]])
    per_cycle = np.abs(efforts[-1] - one(law())) / 1000
    assert per_cycle.max() > 1e-3
    assert (steps(efforts[0], efforts[1:]) <= 3.03 * per_cycle + 1e-9).all()
    assert (efforts[-1] == one(which)).all()


@pytest.mark.parametrize('phase', [0, 4, 8, 20])
@pytest.mark.parametrize('late', [0, 1])
def test_a_clock_that_alternates_makes_no_step(phase, late):
    """By a second every 20 ms, while messages come. Their thread reads it before or after the cycle does."""
    which, start = law(), law().now
    other = BODY * np.r_[0.5, np.ones(3), np.full(6, 0.5)]
    cycles = np.arange(2500)
    times = start + cycles * MILLISECOND + cycles // 20 % 2 * SECOND
    efforts = [one(which)[None]]
    for k in range(0, 2500, 4):
        if k % 20 == phase * 7 % 20 and k > 20:  # whoever watches the clock
            which.clock_set(int(times[k - 20]) + 20 * MILLISECOND, int(times[k]))
            which.end_finished_ramps()
        which.now, real = int(times[k - late]), start + k * MILLISECOND
        if k == 100 + phase:
            assert which.payload(BODY, start=real, duration=SECOND)[0]
        if k == 240 + phase:  # in the middle of the first ramp, which follows the clock at three times its speed
            assert which.payload(other, before=[('', BODY)], start=real, duration=SECOND)[0]
        efforts.append(which.updates(at(Q, 4), times=times[k : k + 4])[0])
    efforts = np.vstack(efforts)
    change = np.abs(gravity(robot=aubo_i5().with_payload(Payload(3.0, (0.1, 0.02, 0.05)))) - gravity())
    # a ramp of half a second at three times its speed, and what it changes in 0.05 s
    assert (steps(efforts[0], efforts[1:]) <= (3.03 / 500 + 0.05) * change + 1e-9).all()
    final = law()
    assert final.payload(other, start=final.now)[0] and (efforts[-1] == one(final)).all()
