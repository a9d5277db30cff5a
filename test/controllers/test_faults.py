"""Whatever comes, the effort of a controller is finite, within its limits, and makes no step."""

from support.controllers.controllers_core import (
    BOTH,
    EFFORT,
    MOTION,
    NONE,
    OUTCOMES,
    RATE,
    Law,
    counts_of,
    exported,
    has_compilers,
)
from support.controllers.controllers_law import (
    BODY,
    DESIRED,
    HELD,
    RAMP,
    SECOND,
    Q,
    assert_no_step,
    at,
    aubo_i5,
    desired,
    gravity,
    law,
    one,
    rates_around,
    runs,
    steps,
    torque,
)
from support.robots.example_robots import example_urdfs

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.laws.gain_limits import LIMIT, DelayedLimit, SamplingLimit, configurations
from robot_dynamics_ros.errors import ArgumentError

EFFORT_LIMIT, RATE_LIMIT = 1, 2  # flags of the limiter
pytestmark = pytest.mark.skipif(not has_compilers(), reason='no C and C++ compiler')


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


@pytest.mark.parametrize(('measured', 'damping'), [(False, 0.0), (True, 0.0), (False, 1.0)])
def test_velocities_count_where_they_are_used(measured, damping):
    which = law(measured=measured, damping=damping)
    one(which, MOTION)
    _, outcomes = which.updates(at(Q, 10, np.nan), desired(10), MOTION)
    assert outcomes[-1] == ('state_lost' if measured or damping else 'sent')


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
def test_the_first_effort_grows_from_the_last_one(last):
    which = law(fade_in_time=RAMP)
    which.activate(last)
    limits = aubo_i5().limits.effort
    before = np.zeros(6) if last is None or np.isnan(last).any() else np.minimum(last, limits)
    efforts, outcomes = which.updates(at(Q, 150), desired(150), MOTION)
    assert set(outcomes) == {'sent'} and (efforts[-1] == torque()).all()
    assert_no_step(before, efforts)


@pytest.mark.parametrize('fade_in_time', [0.0, RAMP])
@pytest.mark.parametrize('duration', [0, SECOND // 2])
def test_a_payload_that_becomes_known_after_the_first_effort_makes_no_step(fade_in_time, duration):
    """The first effort is the gravity torque of the library: an arm must not fall while nobody answers."""
    which = law(fade_in_time=fade_in_time)
    before = which.updates(at(Q, 300))[0]
    if not fade_in_time:
        assert (before == gravity()).all()
    accepted, _, message = which.payload(BODY, start=which.now - 60 * SECOND, duration=duration)
    assert accepted and 'ramp over 0.5 s' in message
    efforts, _ = which.updates(at(Q, 600))
    carried = gravity(robot=aubo_i5().with_payload(Payload(3.0, (0.1, 0.02, 0.05), 0.01 * np.eye(3))))
    assert (efforts[-1] == carried).all()
    assert (steps(before[-1], efforts) <= 1.01 * np.abs(carried - gravity()) / (0.5 * RATE) + 1e-9).all()


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


def test_a_reset_clears_what_was_limited():
    which = law(effort_limit=[2.0], rate_limit=[30.0])
    which.updates(at(Q, 400), desired(400, 1e6), BOTH)
    assert which.count(EFFORT_LIMIT) > 300 and which.count(RATE_LIMIT) > 50
    which.reset()
    assert [which.count(it) for it in (EFFORT_LIMIT, RATE_LIMIT)] == [0, 0] and not any(map(which.limited, range(6)))
    which.updates(at(Q, 1), desired(1, 1e6), BOTH)
    assert which.count(EFFORT_LIMIT) == 1


def test_a_reset_clears_the_counts_of_what_was_refused():
    outcomes = [
        OUTCOMES.index(it) for it in ('sent', 'reference_refused', 'state_held', 'state_lost', 'gravity_only')
    ] * 2
    written = [1, 1, 0, 1, 1] * 2
    assert counts_of(outcomes, written) == [10, 2, 2, 4, 2, 1]
    assert counts_of(outcomes, written, reset_after=9) == [10, 2, 0, 0, 0, 1]
    assert counts_of(outcomes, written, reset_after=6) == [10, 2, 1, 2, 1, 1]


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
def test_the_rate_limiter_accepts_any_period(period):
    which = law(rate_limit=[100.0])
    times = np.full(10, which.now)
    efforts, _ = which.updates(at(Q, 10), desired(10), MOTION, times, period=0.0 if period != period else period)
    assert np.isfinite(efforts).all()
    changes = np.abs(np.diff(np.vstack([np.zeros(6), efforts]), axis=0)).max(axis=1)
    assert (changes <= 100.0 * 3 / RATE * 1.2 ** np.arange(10) + 1e-9).all(), 'three cycles as they are lately'


def test_efforts_alone_end_by_the_timeout():
    which = law()
    before = which.updates(at(Q, 5), desired(5, 4.0), EFFORT)[0][-1]
    assert (before == gravity() + 4.0).all()
    efforts, outcomes = which.updates(at(Q, 250))
    assert runs(outcomes) == ['sent', 'gravity_only'] and (efforts[-1] == gravity()).all()
    assert_no_step(before, efforts)


def test_ramps_in_a_manager_that_is_slow_last_as_long_as_they_should():
    """At a twentieth of its rate; the law learns the length of the cycles."""
    slow = 20.0 / RATE
    which = law(ramp_time=1.0)
    which.updates(at(Q, 40), desired(40), MOTION, period=slow)
    which.request_stop()
    _, outcomes = which.updates(at(Q, 100), period=slow)
    assert 48 <= outcomes.index('stopped') <= 51


def test_a_pause_counts_for_three_cycles():
    which = law(rate_limit=[100.0])
    efforts = [which.updates(at(Q, 3), desired(3), MOTION, period=it)[0] for it in (1.0 / RATE, 10.0, 1.0 / RATE)]
    changes = np.abs(np.diff(np.vstack([np.zeros((1, 6)), *efforts]), axis=0)).max(axis=1) * RATE / 100.0
    assert np.allclose(changes, [1, 1, 1, 3, 3.6, 4.32, 1, 1, 1], rtol=1e-9, atol=0.0)


@pytest.mark.parametrize(
    'damping', [[90.0, 80.0, 40.0, 2.0, 1.0, 0.3], [3.0] * 6, [0.01, 50.0, 0.01, 0.01, 0.01, 0.01]]
)
def test_gains_are_refused_from_the_largest_stable_damping_on(damping):
    """To the last bit as by torque_controller."""
    limit = SamplingLimit(aubo_i5(), np.ones(6), damping)
    slow, fast = rates_around(limit.period)
    law(stiffness=1.0, damping=damping, update_rate=fast)
    said = limit.fault(1.0 / slow)
    with pytest.raises(ValueError, match='invalid_argument: ' + said[: said.index(': ', 9) + 2]) as error:
        law(stiffness=1.0, damping=damping, update_rate=slow)
    assert 'largest eigenvalue of T M^-1 D) is 2, ' in str(error.value)


def test_gains_are_refused_from_the_largest_delay_on_that_torque_controller_accepts():
    limit = DelayedLimit(SamplingLimit(aubo_i5(), np.ones(6), np.full(6, 3.0)), 0.003)
    slow, fast = rates_around(limit.period)
    law(stiffness=1.0, damping=3.0, torque_delay=0.003, update_rate=fast)
    said = limit.fault(1.0 / slow)
    with pytest.raises(ValueError, match='invalid_argument: ' + said[: said.index(': damping')]):
        law(stiffness=1.0, damping=3.0, torque_delay=0.003, update_rate=slow)


def test_gains_are_judged_at_the_lightest_position_of_an_arm_where_samples_miss_it():
    robot = Robot.from_urdf(next(path for path in example_urdfs() if path.endswith('/kinova.urdf')))
    damping = 24.0 * np.diagonal(robot.mass_matrix(configurations(robot)), axis1=1, axis2=2).max(0)
    limit = SamplingLimit(robot, np.ones(6), damping).period
    sampled = np.linalg.eigvals(robot.mass_matrix_inverse(configurations(robot)) * damping).real.max()
    assert LIMIT / limit > 1.2 * sampled
    slow, fast = rates_around(limit)
    library = exported(robot, 'kinova')
    Law(library, robot.joint_names, stiffness=1.0, damping=damping, update_rate=fast)
    with pytest.raises(ValueError, match='largest eigenvalue'):
        Law(library, robot.joint_names, stiffness=1.0, damping=damping, update_rate=slow)


@pytest.mark.parametrize('damping', [1e9, 1e308])
def test_gains_of_any_size_are_judged(damping):
    with pytest.raises(ValueError, match=r"invalid_argument: damping: joint '\w+': "):
        law(stiffness=1.0, damping=damping)


def test_gains_of_a_joint_without_inertia_are_refused():
    parameters = aubo_i5().inertial_parameters.copy()
    parameters[-10:] = 0.0
    robot = aubo_i5().with_inertial_parameters(parameters).with_rotor_inertia(np.zeros(6))
    with pytest.raises(ValueError, match='damping: the mass matrix of the library is singular'):
        Law(exported(robot, 'massless'), robot.joint_names, stiffness=1.0, damping=1.0)
    with pytest.raises(ArgumentError, match='the mass matrix is singular'):
        SamplingLimit(robot, np.ones(6), np.ones(6))


@pytest.mark.parametrize('pause', [4, 40, 1000])
@pytest.mark.parametrize('lost', [0, HELD])
def test_the_effort_of_a_pd_returns_after_a_pause_within_half_of_it(pause, lost):
    """At most over ramp_time, and also where the first states after the pause are not finite."""
    gains = {'stiffness': 100.0, 'damping': 0.5, 'effort_limit': [np.inf]}
    which, moved = law(**gains), Q - 0.3
    before = which.updates(at(Q, 10), desired(10), MOTION)[0][-1]
    states = at(moved, 1 + lost)
    states[:lost, 0] = np.nan
    efforts = [
        which.updates(states[k : k + 1], desired(1), MOTION, period=pause ** (k == 0) / RATE)[0]
        for k in range(1 + lost)
    ]
    assert which.blends
    efforts = np.vstack([*efforts, which.updates(at(moved, 250), desired(250), MOTION)[0]])
    change = np.abs(efforts[-1] - before)
    assert change.min() > 20.0 and not which.blends
    assert_no_step(before, efforts, change * max(1.0, RAMP * RATE / (0.5 * pause)))
    other = law(**gains)
    assert (one(other, MOTION, moved) == efforts[-1]).all()


@pytest.mark.parametrize(('pause', 'every'), [(6, 25), (20, 12)])
def test_pauses_that_repeat_do_not_keep_a_pd_off(pause, every):
    which, moved = law(stiffness=100.0, damping=0.5, effort_limit=[np.inf]), Q - 0.3
    whole = one(law(stiffness=100.0, damping=0.5, effort_limit=[np.inf]), MOTION, moved)
    which.updates(at(Q, 10), desired(10), MOTION)
    for _ in range(20):
        which.updates(at(moved, 1), desired(1), MOTION, period=pause / RATE)
        last = which.updates(at(moved, every), desired(every), MOTION)[0][-1]
        assert np.allclose(last, whole, rtol=1e-12, atol=0.0)


def test_three_cycles_are_no_pause():
    which = law(stiffness=100.0, damping=0.5)
    which.updates(at(Q, 10), desired(10), MOTION)
    which.updates(at(Q, 1), desired(1), MOTION, period=2.9 / RATE)
    assert not which.blends
