"""Whatever comes, the effort of a controller is finite, within its limits, and makes no step."""

import functools

from support.controllers_core import BOTH, EFFORT, MOTION, NONE, RATE, Law, body_numbers, exported, has_compilers

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot

pytestmark = pytest.mark.skipif(not has_compilers(), reason='no C and C++ compiler')
Q = np.array([0.3, -0.7, 1.1, 0.4, -0.9, 0.2])
DESIRED = Q + 0.2
RAMP = 0.1
SECOND = 1_000_000_000
BODY = body_numbers(Payload(3.0, (0.1, 0.02, 0.05), 0.01 * np.eye(3)))
HELD = 3


@functools.cache
def aubo_i5() -> Robot:
    return Robot.named('aubo_i5').with_binding('specialised')


@functools.cache
def library():
    return exported(aubo_i5(), 'arm')


def law(**more) -> Law:
    """Return an active law whose motion asks for another torque than gravity compensation at Q."""
    made = Law(library(), aubo_i5().joint_names, **{'ramp_time': RAMP, 'reference_timeout': 0.0505, **more})
    made.activate()
    return made


def at(q, count, qd=0.0) -> np.ndarray:
    """Return states (count, 2, 6) that stay at q."""
    return np.tile([q, np.full(6, qd)], (count, 1, 1))


def desired(count, effort=0.0) -> np.ndarray:
    """Return references (count, 4, 6)."""
    return np.tile([DESIRED, np.full(6, 0.1), np.full(6, 0.5), np.full(6, effort)], (count, 1, 1))


def gravity(q=Q, robot=None) -> np.ndarray:
    return (robot or aubo_i5()).gravity_torque(q)


def torque() -> np.ndarray:
    """Return the torque of ``desired``."""
    return one(law(), MOTION)


def one(which: Law, kind=NONE, q=Q) -> np.ndarray:
    return which.updates(at(q, 1), desired(1), kind)[0][-1]


def steps(before, efforts) -> np.ndarray:
    """Return the largest change of each joint between two updates."""
    return np.abs(np.diff(np.vstack([before, efforts]), axis=0)).max(axis=0)


def assert_no_step(before, efforts, change=None) -> None:
    """Changes are those of a ramp from ``before`` to the last of ``efforts``, or by ``change``, to rounding."""
    change = np.abs(efforts[-1] - before) if change is None else change
    assert np.isfinite(efforts).all()
    assert (steps(before, efforts) <= 1.01 * change / (RAMP * RATE) + 1e-9).all()


def runs(outcomes) -> list:
    """Return the outcomes without repetitions."""
    return [it for k, it in enumerate(outcomes) if k == 0 or it != outcomes[k - 1]]


def test_the_torques_differ_so_that_a_step_would_be_seen():
    assert (np.abs(torque() - gravity()) > 0.5).sum() >= 3


def test_a_reference_that_stops_and_returns():
    which = law()
    before = which.updates(at(Q, 10), desired(10), MOTION)[0][-1]
    efforts, outcomes = which.updates(at(Q, 250))
    assert runs(outcomes) == ['sent', 'gravity_only']
    assert outcomes.count('sent') == 50 and (efforts[:50] == before).all()
    assert (efforts[-1] == gravity()).all() and not which.blends
    assert_no_step(before, efforts)
    again, outcomes = which.updates(at(Q, 250), desired(250), MOTION)
    assert set(outcomes) == {'sent'} and (again[-1] == torque()).all()
    assert_no_step(efforts[-1], again)


def test_a_motion_that_begins_acts_in_full_while_the_difference_decreases():
    which = law()
    one(which)
    references = desired(20)
    references[10:, 2] += 3.0
    efforts, _ = which.updates(at(Q, 20), references, MOTION)
    inertia = aubo_i5().inertia_torque(DESIRED, np.full(6, 3.0))
    slope = efforts[9] - efforts[8]
    assert np.allclose(efforts[10] - efforts[9] - slope, inertia, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize('place', [(0, 0), (1, 2), (2, 5), (3, 1)])
@pytest.mark.parametrize('wrong', [np.nan, np.inf])
def test_a_reference_with_a_number_that_is_not_finite(place, wrong):
    which, kind = law(), BOTH if place[0] == 3 else MOTION
    before = one(which, MOTION)
    references = desired(250)
    references[:, place[0], place[1]] = wrong
    efforts, outcomes = which.updates(at(Q, 250), references, kind)
    assert set(outcomes) == {'reference_refused'}
    assert (efforts[:50] == before).all(), 'the last one is followed, unchanged, until its timeout'
    assert (efforts[-1] == gravity()).all()
    assert_no_step(before, efforts)


@pytest.mark.parametrize('wrong', [np.full(6, 1e200), np.full(6, 1e13)])
def test_a_reference_whose_torque_is_not_finite(wrong):
    which = law()
    before, references = one(which, MOTION), desired(150)
    references[:, 0 if wrong[0] < 1e100 else 2] = wrong * np.where(wrong > 1e100, 1e108, 1.0)
    efforts, outcomes = which.updates(at(Q, 150), references, MOTION)
    assert set(outcomes) == {'reference_refused'} and (efforts[-1] == gravity()).all()
    assert_no_step(before, efforts)


@pytest.mark.parametrize('wrong', [np.nan, np.inf, 2.0**40])
def test_a_state_that_is_not_usable(wrong):
    which = law()
    before = which.updates(at(Q, 5), desired(5), MOTION)[0][-1]
    states = at(Q, 200)
    states[:, 0, 3] = wrong
    kind = NONE if wrong == 2.0**40 else MOTION  # the torque is not that of the state with a reference
    if kind == NONE:
        before = which.updates(at(Q, 300))[0][-1]
    efforts, outcomes = which.updates(states, desired(200), kind)
    assert outcomes == ['state_held'] * HELD + ['state_lost'] * (200 - HELD)
    assert (efforts[:HELD] == before).all() and not efforts[-1].any()
    assert_no_step(before, efforts)
    which.activate()
    assert which.updates(states[:10], desired(10), kind)[1] == outcomes[:10]
    again, outcomes = which.updates(at(Q, 200), desired(200), MOTION)
    assert set(outcomes) == {'sent'} and (again[-1] == torque()).all()
    assert_no_step(efforts[-1], again)


def test_a_state_that_is_lost_for_a_moment_is_bridged():
    which = law()
    before, states = one(which, MOTION), at(Q, 10)
    states[2 : 2 + HELD, 0] = np.nan
    for _ in range(3):
        efforts, outcomes = which.updates(states, desired(10), MOTION)
        assert outcomes == ['sent'] * 2 + ['state_held'] * HELD + ['sent'] * (8 - HELD)
        assert (efforts == before).all()


@pytest.mark.parametrize('measured', [False, True])
def test_velocities_count_where_they_are_used(measured):
    which = law(measured=measured)
    one(which, MOTION)
    _, outcomes = which.updates(at(Q, 10, np.nan), desired(10), MOTION)
    assert outcomes[-1] == ('state_lost' if measured else 'sent')


@pytest.mark.parametrize('lost', [False, True])
def test_a_stop_in_motion(lost):
    which = law()
    before = which.updates(at(Q, 5), desired(5), MOTION)[0][-1]
    which.request_stop()
    assert not which.stopped
    states = at(Q * np.nan if lost else Q, 120)
    efforts, outcomes = which.updates(states, desired(120), MOTION)
    assert runs(outcomes) == ['stopping', 'stopped'] and which.stopped and not efforts[-1].any()
    assert outcomes.index('stopped') in (99, 100)
    assert_no_step(before, efforts)
    which.activate()
    assert not which.stopped and (one(which, MOTION) == torque()).all()


def test_a_stop_within_the_rate_limit():
    which = law(rate_limit=[20.0])
    before = which.updates(at(Q, 5000), desired(5000), MOTION)[0][-1]
    assert (before == torque()).all()
    which.request_stop()
    efforts, outcomes = which.updates(at(Q, 5000))
    assert (steps(before, efforts) <= 20.0 / RATE + 1e-9).all()
    assert outcomes[-1] == 'stopped' and outcomes.index('stopped') > 1.5 * RAMP * RATE


def test_deactivation_in_motion_and_an_update_after_it():
    which = law()
    one(which, MOTION)
    which.deactivate()
    assert which.stopped
    efforts, outcomes = which.updates(at(Q, 2), desired(2), MOTION)
    assert outcomes == ['inactive'] * 2 and not efforts.any()


def test_a_switch_of_the_chained_mode_in_motion_is_a_change_of_source():
    which = law()
    before = which.updates(at(Q, 5), desired(5), MOTION)[0][-1]
    which.deactivate()
    which.resume()
    efforts, outcomes = which.updates(at(Q, 150))
    assert set(outcomes) == {'gravity_only'} and (efforts[-1] == gravity()).all()
    assert_no_step(before, efforts)


def test_what_was_stopped_stays_stopped_when_the_chained_mode_is_switched():
    which = law()
    one(which, MOTION)
    which.request_stop()
    which.updates(at(Q, 120))
    which.deactivate()
    which.resume()
    efforts, outcomes = which.updates(at(Q, 20), desired(20), MOTION)
    assert set(outcomes) == {'stopped'} and not efforts.any()


@pytest.mark.parametrize('last', [None, np.full(6, 5.0), np.full(6, np.nan), np.full(6, 1e3)])
def test_payload_and_gravity_are_awaited(last):
    which = law(fade_in_time=RAMP)
    which.known(False)
    which.activate(last)
    efforts, outcomes = which.updates(at(Q, 20), desired(20), MOTION)
    limits = aubo_i5().limits.effort
    held = np.zeros(6) if last is None or np.isnan(last).any() else np.minimum(last, limits)
    assert set(outcomes) == {'awaiting_payload_gravity'} and (efforts == held).all()
    which.known(True)
    efforts, outcomes = which.updates(at(Q, 150), desired(150), MOTION)
    assert set(outcomes) == {'sent'} and (efforts[-1] == torque()).all()
    assert_no_step(held, efforts)


def test_a_change_of_source_during_the_fade_in():
    which = law(fade_in_time=0.4)
    first, _ = which.updates(at(Q, 100), desired(100), MOTION)
    efforts, outcomes = which.updates(at(Q, 400))
    assert runs(outcomes) == ['sent', 'gravity_only'] and (efforts[-1] == gravity()).all()
    change = np.abs(gravity()) / 4 + np.abs(torque()) / 4 + np.abs(torque() - gravity())
    assert_no_step(np.zeros(6), np.vstack([first, efforts]), change)


def test_limits_of_effort_and_rate():
    which = law(effort_limit=[2.0], rate_limit=[30.0])
    efforts, _ = which.updates(at(Q, 400), desired(400, 1e6), BOTH)
    assert np.abs(efforts).max() == 2.0
    assert (steps(np.zeros(6), efforts) <= 30.0 / RATE + 1e-12).all()
    assert all(which.limited(k) & 3 for k in range(6))


def test_a_reference_beyond_the_limits_begins_and_ends_without_a_step():
    which = law(fade_in_time=RAMP)
    limits = aubo_i5().limits.effort
    efforts, _ = which.updates(at(Q, 150), desired(150, 1e6), BOTH)
    assert (efforts[-1] == limits).all() and all(which.limited(k) & 1 for k in range(6))
    assert_no_step(np.zeros(6), efforts)
    before = efforts[-1]
    efforts, _ = which.updates(at(Q, 250))
    assert (efforts[-1] == gravity()).all()
    assert_no_step(before, efforts)
    before = efforts[-1]
    efforts, _ = which.updates(at(Q, 150), desired(150, -1e6), BOTH)
    assert (efforts[-1] == -limits).all()
    assert_no_step(before, efforts)


def test_efforts_whose_difference_is_not_finite():
    which = law(effort_limit=[np.inf])
    one(which, MOTION)
    which.updates(at(Q, 1), desired(1, 1.7e308), BOTH)
    efforts, outcomes = which.updates(at(Q, 200), desired(200, -1.7e308), EFFORT)
    assert np.isfinite(efforts).all() and outcomes[0] == 'state_held'


@pytest.mark.parametrize('period', [0.0, -1.0, np.nan, 1e9])
def test_any_period(period):
    which = law(rate_limit=[100.0])
    times = np.full(10, which.now)
    efforts, _ = which.updates(at(Q, 10), desired(10), MOTION, times, period=0.0 if period != period else period)
    assert np.isfinite(efforts).all()
    assert (steps(np.zeros(6), efforts) <= 100.0 * HELD / RATE + 1e-9).all(), 'three periods count at most'


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
    which.clock_set_back(which.now, which.now - 100 * SECOND)
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


def test_efforts_alone_end_by_the_timeout():
    which = law()
    before = which.updates(at(Q, 5), desired(5, 4.0), EFFORT)[0][-1]
    assert (before == gravity() + 4.0).all()
    efforts, outcomes = which.updates(at(Q, 250))
    assert runs(outcomes) == ['sent', 'gravity_only'] and (efforts[-1] == gravity()).all()
    assert_no_step(before, efforts)
