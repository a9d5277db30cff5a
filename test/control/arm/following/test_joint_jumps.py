"""Measured positions of actuated joints that jump are refused; right ones are followed, also after lost states."""

from contextlib import suppress

from support.matrices import matrix
from support.robots.driven_mechanisms import arm, closed, followed, positions_of, seen, standing
from support.robots.mechanisms import MECHANISMS, PALLETIZER_ACTUATED, actuated

import numpy as np
import pytest

from robot_dynamics_ros.control.arm.following.closed_mechanism import ClosedMechanism
from robot_dynamics_ros.errors import LoopError, SingularError

pytestmark = pytest.mark.compiled  # long without

GAPS = {
    'none': [0.002],
    'a repeated stamp': [0.0, 0.002],
    'lost states': [0.008],
}


@pytest.mark.parametrize('gaps', GAPS.values(), ids=GAPS)
def test_an_encoder_that_jumps_is_refused_until_it_is_back(gaps):
    robot, stamp = closed('palletizer'), 0.0
    home = robot.following.home
    for k in range(5):
        seen(robot, home + 0.001 * k, stamp := stamp + 0.002)
    jumped = home + 0.004
    jumped[1] += np.radians(5.0)
    for gap in [*gaps, *np.full(300, 0.002), 0.02, 0.1]:
        with pytest.raises(LoopError, match=r"^loop 'lever rod': joint 'upper arm joint' has jumped by 0.08"):
            seen(robot, jumped, stamp := stamp + gap)
        np.testing.assert_array_equal(robot.following.measured.y, home + 0.004)
    seen(robot, home + 0.005, stamp + 0.002)
    np.testing.assert_array_equal(robot.following.measured.y, home + 0.005)


def test_a_state_that_comes_late_is_refused_and_changes_nothing():
    robot = closed('palletizer')
    home, along = robot.following.home, np.array([0.0, 1.0, 1.0, 0.0])
    for k in range(40):
        if k == 30:
            with pytest.raises(LoopError, match='the stamp of the state is before that of the last one'):
                seen(robot, home + along * 0.004 * (k - 12), 0.002 * (k - 12))
        elif k > 1:
            followed(robot, home + along * 0.004 * k, 0.002 * k)
        else:
            seen(robot, home + along * 0.004 * k, 0.002 * k)


def test_an_encoder_that_jumps_while_the_arm_moves_comes_back_to_where_it_has_moved():
    robot = closed('palletizer')
    y, jump = robot.following.home.copy(), np.radians([0.0, 5.0, 0.0, 0.0])
    for k in range(1000):
        y += 0.0005 * np.array([1.0, -0.5, 0.5, 2.0])
        if 300 <= k < 600:
            with pytest.raises(LoopError, match='has jumped'):
                seen(robot, y + jump, 0.002 * k)
        else:
            seen(robot, y, 0.002 * k)
    np.testing.assert_array_equal(robot.following.measured.y, y)


def test_a_jump_counts_no_more_after_an_activation():
    robot = closed('palletizer')
    for k in range(2):
        seen(robot, robot.following.home + 0.001 * k, 0.002 * k)
    moved = robot.following.home + 0.3
    with pytest.raises(LoopError, match='has jumped'):
        seen(robot, moved, 0.004)
    robot.following.begin()
    seen(robot, moved, 0.006)


def test_an_arm_that_moves_while_states_are_refused_is_accepted_at_once_when_they_are_right():
    robot = closed('palletizer')
    home = robot.following.home
    seen(robot, home, 0.0)
    for k in range(1, 300):
        y = home + 0.001 * k
        with pytest.raises(LoopError, match="joint 'wrist joint' is at"):
            seen(robot, y, 0.002 * k, wrist=5.0)
    np.testing.assert_array_equal(robot.following.measured.y, home)
    seen(robot, y + 0.001, 0.6, wrist=positions_of(robot, y + 0.001)['wrist'])
    np.testing.assert_array_equal(robot.following.measured.y, y + 0.001)


def test_a_first_state_that_is_refused_does_not_count():
    """Drivers begin with zeros."""
    robot = closed('palletizer')
    home, flat = robot.following.home, np.zeros(4)
    for k in range(3):
        with pytest.raises(SingularError):
            seen(robot, flat, 0.002 * k)
    seen(robot, home + 0.1, 0.008)
    np.testing.assert_array_equal(robot.following.measured.y, home + 0.1)


CONFIRMS = r"^loop '.*': joint '.*' is [\d.]+ rad or m from where its motion leads: the next state has to confirm that"


@pytest.mark.parametrize('stands', [True, False])
def test_an_arm_that_moved_while_states_were_lost_is_followed_from_the_second_state_on(stands):
    """The first one alone may be wrong. An arm that stands repeats its position."""
    robot = closed('palletizer')
    home = robot.following.home
    stamp = standing(robot, home, 20)
    moved = home + np.array([0.0, 0.1, 0.0, 0.0])
    with pytest.raises(LoopError, match=CONFIRMS):
        seen(robot, moved, stamp := stamp + 0.1)
    refused = 0
    for k in range(1, 100):
        try:
            seen(robot, moved if stands else moved + 1e-4 * k, stamp + 0.002 * k)
        except LoopError:
            refused += 1
    assert refused <= 20 and robot.following.measured.y[1] == moved[1] + (0.0 if stands else 1e-4 * 99)


@pytest.mark.parametrize('gap', [0.012, 0.03, 0.06])
def test_one_wrong_state_after_a_gap_has_no_torque_and_right_ones_go_on(gap):
    robot = closed('palletizer')
    home = robot.following.home
    stamp = standing(robot, home, 20) + gap
    with pytest.raises(LoopError, match=f'{CONFIRMS}|has jumped'):
        seen(robot, home + np.radians([0.0, 5.0, 0.0, 0.0]), stamp)
    for k in range(1, 4):  # the first of them may be the wrong one
        with suppress(LoopError):
            seen(robot, home + 1e-4 * k, stamp + 0.002 * k)
    followed(robot, home, stamp + 0.008)


def test_one_wrong_state_after_a_gap_in_which_the_arm_speeds_up_stops_nothing():
    for period in (0.001, 0.004, 0.01):
        for off in (0.05, 0.15, 0.3):
            robot = closed('palletizer')
            home, along = robot.following.home, np.array([0.0, 1.0, 1.0, 0.0])
            standing(robot, home, 30, period)
            begin, stamp = period * 29, period * 29 + 0.1
            refused = 0
            for k in range(12):
                t = stamp + k * period - begin
                y = home - along * 0.5 * 10.0 * min(t, 0.1) ** 2 - along * max(t - 0.1, 0.0)
                try:
                    seen(robot, y + (off if k == 0 else 0.0) * np.array([0.0, 1.0, 0.0, 0.0]), begin + t)
                except LoopError:
                    refused += 1
            assert refused <= 3
            np.testing.assert_array_equal(robot.following.measured.y, y)


def test_a_jump_is_not_forgiven_after_a_gap_in_which_the_arm_moved_against_it():
    robot = closed('palletizer')
    home, jump = robot.following.home, np.radians([0.0, 5.0, 0.0, 0.0])
    standing(robot, home, 30)
    for k, sag in [(30, 0.0), (31, 0.0), (56, 0.05), (57, 0.05), (80, 0.08)]:
        with pytest.raises(LoopError, match='has jumped'):
            seen(robot, home + jump - sag * np.sign(jump), 0.002 * k)


def test_a_jump_after_a_stop_in_lost_states_is_refused():
    """The velocity before them counts no more."""
    for speed, lost in ((2.0, 0.1), (1.0, 0.1), (1.0, 0.05)):
        robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
        home = robot.following.home - 0.3 * along
        for k in range(100):
            with suppress(LoopError):
                seen(robot, home + along * speed * 0.001 * k, 0.001 * k)
        stopped = home + along * speed * (0.1 + 0.5 * lost)
        for k in range(600):
            with suppress(LoopError):
                seen(robot, stopped, 0.1 + lost + 0.001 * k)
        np.testing.assert_array_equal(robot.following.measured.y, stopped)
        for k in range(600, 700):
            with pytest.raises(LoopError, match='has jumped'):
                seen(robot, stopped - np.radians([0.0, 5.0, 0.0, 0.0]), 0.1 + lost + 0.001 * k)


@pytest.mark.parametrize(
    ('period', 'degrees', 'count'), [(0.025, 1.75, 1), (0.017, 1.5, 1), (0.004, 2.0, 2), (0.001, 1.5, 3)]
)
@pytest.mark.parametrize('speed', [0.0, 2.0])
def test_small_wrong_states_stop_nothing(period, degrees, count, speed):
    robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
    home, refused = robot.following.home - 0.1 * np.sign(speed) * along, 0
    for k in range(12):
        off = np.radians([0.0, degrees, 0.0, 0.0]) * (6 <= k < 6 + count)
        try:
            seen(robot, home + along * (speed * period + 1e-5) * k + off, period * k)
        except LoopError:
            refused += 1
    np.testing.assert_array_equal(robot.following.measured.y, home + along * (speed * period + 1e-5) * 11)
    assert refused <= 4


def test_states_that_come_more_often_in_motion_are_followed():
    robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
    stamp, stamps = 0.0, []
    for k in range(40):
        stamps.append(stamp)
        stamp += 1.0 / 60.0 if k < 10 else 0.002
    for k, t in enumerate(stamps):
        y = robot.following.home - along * 2.4 * t
        if k > 1:
            followed(robot, y, t)
        else:
            with suppress(LoopError):
                seen(robot, y, t)


@pytest.mark.parametrize(('degrees', 'count'), [(30.0, 20), (10.0, 6), (5.0, 3)])
def test_an_encoder_that_runs_away_faster_than_the_joint_is_refused(degrees, count):
    robot = closed('palletizer')
    home, published = robot.following.home, 0
    standing(robot, home, 50, 0.001)
    for k in range(200):
        off = np.radians([0.0, degrees, 0.0, 0.0]) * min(1.0, (k + 1) / count)
        with suppress(LoopError):
            seen(robot, home + off + 1e-6 * k, 0.05 + 0.001 * k)
            published += 1
    # within the noise of encoders, and 5 rad/s
    assert published <= 3 and robot.following.measured.y[1] < home[1] + 0.06


@pytest.mark.parametrize(
    ('rate', 'degrees', 'count'),
    matrix(
        [(1000.0, 30.0, 40), (1000.0, 60.0, 100), (500.0, 15.0, 10), (250.0, 30.0, 20)],
        [(1000.0, 30.0, 40), (250.0, 30.0, 20)],
    ),
)
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_small_steps_of_an_encoder_that_runs_away_add_up_to_a_jump(rate, degrees, count, sign):
    robot = closed('palletizer')
    home, published = robot.following.home, []
    standing(robot, home, 50, 1.0 / rate)
    for k in range(count + int(rate)):
        off = np.radians([0.0, sign * degrees, 0.0, 0.0]) * min(1.0, (k + 1) / count)
        with suppress(LoopError):
            seen(robot, home + off, (50 + k) / rate)
            published.append(k)
    # each small step may be confirmed by the next one, until all of them are 0.05 rad beyond noise and 5 rad/s
    assert max(published, default=0) < count
    assert abs(robot.following.measured.y[1] - home[1]) < 0.5


@pytest.mark.parametrize('rate', [25.0, 40.0, 60.0, 125.0, 250.0, 500.0, 1000.0])
@pytest.mark.parametrize('speed', [0.0, 1.0, -1.0, 2.0])
def test_jumps_of_five_degrees_are_refused_at_all_rates(rate, speed):
    robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
    home, period = robot.following.home - 0.2 * np.sign(speed) * along, 1.0 / rate
    for k in range(int(0.2 * rate) + 6):
        with suppress(LoopError):
            seen(robot, home + along * (speed * period + 1e-5) * k, period * k)
    followed(robot, home + along * (speed * period + 1e-5) * k, period * k)
    for n in range(k + 1, k + 3):
        with pytest.raises(LoopError, match='has jumped'):
            seen(robot, home + along * (speed * period + 1e-5) * n + np.radians([0.0, 5.0, 0.0, 0.0]), period * n)


WRONG_STATES = [(0.02, 1.0, 0.0873), (0.05, 1.0, 0.15), (0.01, 2.0, 0.06), (0.004, 2.0, 0.037), (0.001, 1.0, 0.031)]


@pytest.mark.parametrize(('period', 'speed', 'off'), WRONG_STATES)
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_one_wrong_state_in_motion_has_no_torque_and_right_ones_go_on(period, speed, off, sign):
    robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
    home = robot.following.home - 0.2 * along
    for k in range(12):
        y = home + along * speed * period * k
        if k == 7:
            with pytest.raises(LoopError, match=r'has to confirm|has jumped'):
                # against the motion it might be a stop
                wrong = off if sign > 0.0 else off + speed * period
                seen(robot, y + sign * wrong * np.array([0.0, 1.0, 0.0, 0.0]), period * k)
        elif k > 2 and not (k == 8 and period >= 0.05):  # at 20 Hz a second one says which of both was wrong
            seen(robot, y, period * k)
        else:
            with suppress(LoopError):
                seen(robot, y, period * k)


@pytest.mark.parametrize('hardware', [0.02, 0.01])
def test_a_jump_of_hardware_that_is_read_less_often_is_not_forgiven(hardware):
    robot, jump = closed('palletizer'), np.array([0.0, -0.3, 0.0, 0.0])
    for k in range(500):
        t = hardware * (0.001 * k // hardware)
        y = robot.following.home - np.array([0.0, 2.0, 2.0, 0.0]) * 0.3 * np.sin(t) * min(1.0, t)
        if k < 200:
            seen(robot, y, 0.001 * k)
        else:
            with pytest.raises(LoopError, match='has jumped'):
                seen(robot, y + jump, 0.001 * k)


def test_an_activation_in_motion_is_followed():
    """From the third state on: either of the first two may be wrong."""
    for period, speed in ((0.04, 1.5), (0.02, 2.4), (0.002, 2.4)):
        robot = closed('palletizer')
        for k in range(10):
            y = robot.following.home - np.array([0.0, 1.0, 1.0, 0.0]) * speed * period * k
            if k > 1:
                followed(robot, y, period * k)
            else:
                with suppress(LoopError):
                    seen(robot, y, period * k)


def test_another_order_of_the_joints_releases_nothing():
    before = closed('palletizer')
    robot = actuated(MECHANISMS['palletizer'], PALLETIZER_ACTUATED[::-1])
    after = ClosedMechanism(robot, robot.loops.actuated)
    after.joint_names = after.joint_names[::-1]
    home, nothing = before.following.home, np.full(len(before.followers), np.nan)
    standing(before, home, 2)
    with pytest.raises(LoopError, match='has jumped'):
        seen(before, home + np.radians([0.0, 5.0, 0.0, 0.0]), 0.004)
    after.continue_from(before.following)
    after.begin()
    for stamp in (6_000_000, 7_000_000):
        with pytest.raises(SingularError, match=r'this description came while .* activate again'):
            after.measure(after.home, nothing, stamp)
    after.begin()
    after.measure(after.home, nothing, 8_000_000)


def test_states_of_hardware_that_is_read_less_often_are_followed():
    """A controller of 1 kHz sees each position several times."""
    robot, velocity = closed('palletizer'), np.array([1.0, 0.6, 0.5, 1.0])
    for cycles in (5, 15, 30):
        robot.following.begin()
        for k in range(600):
            t = 0.001 * cycles * (k // cycles)
            swing = 0.3 * np.sin(t / 0.3 * velocity)
            followed(robot, robot.following.home + swing, 0.001 * k)


@pytest.mark.parametrize(('period', 'speed'), [(0.02, 1.7), (0.04, 1.0), (0.002, 2.4)])
def test_a_stamp_that_repeats_in_motion_stops_nothing(period, speed):
    robot, stamp = closed('palletizer'), 0.0
    home, along = robot.following.home, np.array([0.0, 1.0, 1.0, 0.0])
    for k in range(20):
        # begins at rest
        y = home + along * 0.2 * np.sin(min(1.0, k / 10) * speed * period * k / 0.2)
        stamp += 0.0 if k == 12 else period
        try:
            seen(robot, y, stamp)
        except LoopError as error:
            assert 'has to confirm' in str(error)
    for k in (20, 21, 22):
        y = home + along * 0.2 * np.sin(speed * period * k / 0.2)
        with suppress(LoopError):
            seen(robot, y, stamp + (k - 19) * period)
    followed(robot, home + along * 0.2 * np.sin(speed * period * 23 / 0.2), stamp + 4 * period)


@pytest.mark.parametrize('frozen', [0.025, 0.05, 0.08])
@pytest.mark.parametrize(('rate', 'speed'), [(60, 2.0), (125, 1.0), (125, 2.0), (500, 2.0), (1000, 1.0)])
def test_positions_that_stand_still_once_in_motion_stop_nothing(rate, speed, frozen):
    """As where hardware is not read for a moment: refused before they are 5 degrees off, then followed again."""
    robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
    home, since = robot.following.home - 0.3 * along, 0.0
    for k in range(int((0.3 + frozen) * rate)):
        t = k / rate
        since = t if t <= 0.2 or t > 0.2 + frozen else since
        try:
            followed(robot, home + along * speed * since, t)
            assert speed * (t - since) < np.radians(5.0)
        except LoopError as error:
            assert 'to confirm that' in str(error)
    followed(robot, home + along * speed * (k + 1) / rate, (k + 1) / rate)


@pytest.mark.parametrize('rate', [60, 250, 1000])
def test_a_joint_that_stops_at_once_is_followed_after_a_tenth_of_a_second(rate):
    robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
    home = robot.following.home - 0.3 * along
    for k in range(int(0.35 * rate)):
        y = home + along * 2.0 * min(k / rate, 0.2)
        with suppress(LoopError):
            seen(robot, y, k / rate)
    np.testing.assert_array_equal(robot.following.measured.y, y)
    # and a jump of its encoder is one, whatever its velocity was
    with pytest.raises(LoopError, match=r'has jumped by 0\.087'):
        seen(robot, y + np.radians([0.0, 5.0, 0.0, 0.0]), (k + 1) / rate)


@pytest.mark.parametrize(('rate', 'off'), [(25, 0.04), (25, 0.06), (30, 0.045), (40, 0.035)])
@pytest.mark.parametrize('speed', [0.0, 1.0])
def test_one_wrong_state_of_a_slow_stream_stops_nothing(rate, off, speed):
    robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
    home = robot.following.home - 0.3 * speed * along
    for sign in (-1.0, 1.0):
        robot = closed('palletizer')
        for k in range(15):
            y = home + along * speed * k / rate
            with suppress(LoopError):
                seen(robot, y + sign * off * np.array([0.0, 1.0, 0.0, 0.0]) * (k == 10), k / rate)
        np.testing.assert_array_equal(robot.following.measured.y, y)


def test_turns_of_a_continuous_joint_are_followed():
    robot = closed('palletizer')
    home = robot.following.home.copy()
    for k, tool in enumerate((3.0, 3.14, 3.16 - 2.0 * np.pi, 3.3 - 2.0 * np.pi)):
        seen(robot, [*home[:3], tool], 0.02 * k)
    assert robot.following.measured.y[3] == pytest.approx(3.3)
    expected = arm('palletizer').gravity_torque([*home[:3], 3.3])
    np.testing.assert_allclose(robot.gravity_torque([*home[:3], 3.3 - 2.0 * np.pi]), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize('lost', [0.1, 0.15])
@pytest.mark.parametrize('rate', [60, 250, 1000])
def test_a_jump_by_what_an_arm_moved_in_lost_states_is_one(rate, lost):
    """An arm that had stopped there, and then an encoder that jumps to where it would be without that."""
    robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
    home, period, since = robot.following.home - 0.2 * along, 1.0 / rate, int(0.2 * rate)
    for k in range(since):
        with suppress(LoopError):
            seen(robot, home + along * period * k, period * k)
    begin = period * since + lost
    stopped = home + along * period * since
    for k in range(int(0.1 * rate)):
        with suppress(LoopError):
            seen(robot, stopped + 1e-5 * (k % 2), begin + period * k)
    jump = max(lost, np.radians(5.0)) * np.array([0.0, 1.0, 0.0, 0.0])
    for n in range(k + 1, k + 5):
        with pytest.raises(LoopError, match='upper arm joint'):
            seen(robot, stopped + jump, begin + period * n)


@pytest.mark.parametrize(('rate', 'hardware'), [(125, 40), (250, 60), (500, 60), (1000, 100)])
@pytest.mark.parametrize('phase', [0.1, 0.5, 0.9])
def test_an_arm_in_motion_is_followed_from_its_activation_on_by_slow_hardware(rate, hardware, phase):
    """Hardware is read less often than states are sent: how often is not known at first."""
    robot, along = closed('palletizer'), np.array([0.0, 1.0, 1.0, 0.0])
    home = robot.following.home - 0.4 * along
    refused = 0
    for k in range(int(0.4 * rate)):
        y = home + along * 2.0 * np.floor(k / rate * hardware + phase) / hardware
        try:
            followed(robot, y, k / rate)
        except LoopError:
            refused += 1
    followed(robot, home + along * 2.0 * np.floor((k + 1) / rate * hardware + phase) / hardware, (k + 1) / rate)
    assert refused < 0.1 * rate


@pytest.mark.parametrize(('rate', 'count', 'degrees'), [(60, 3, 5.0), (250, 3, 5.0), (500, 3, 5.0), (1000, 20, 15.0)])
def test_an_arm_that_stood_since_its_activation_has_jumped(rate, count, degrees):
    """Positions that are repeated were no single wrong one, although hardware may be read less often."""
    robot = closed('palletizer')
    jumped = robot.following.home + np.radians([0.0, degrees, 0.0, 0.0])
    for k in range(count):
        followed(robot, robot.following.home, k / rate)
    for k in range(count, count + 20):
        with pytest.raises(LoopError, match='has jumped'):
            seen(robot, jumped + 1e-5 * (k % 2), k / rate)
