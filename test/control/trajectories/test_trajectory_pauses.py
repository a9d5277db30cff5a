"""What becomes of a trajectory that is followed while no joint state comes, and where the clock is set back."""

from support.control.followed_trajectories import ROBOT, SECOND, START, ZERO, Following, dropped, following, line

import numpy as np
import pytest

from robot_dynamics_ros.control.law import TORQUE, Outcome
from robot_dynamics_ros.control.trajectories.trajectory_follower import CLOCK_SET_BACK, NO_TRAJECTORY, NOT_BEGUN

OVERDUE = Outcome.IDLE, 'trajectory dropped: it was to lead the arm while no joint state came for 3.000 s'


@pytest.mark.parametrize(('late', 'begins'), [(2.9, False), (1.1, False), (0.9, True), (-0.5, True)])
@pytest.mark.parametrize('is_moving', [False, True])
def test_one_that_was_to_begin_in_a_pause_of_the_states_does_not_catch_up(late, begins, is_moving):
    one = Following(9.0)
    if is_moving:
        one.receive(*line(0.0, 0.1))
    one.at(0.0)
    one.receive([0.0, 9.0], [[0.1] * 3, [2.0] * 3], start=3.0 - late)
    assert (one.at(3.0, [0.1] * 3, resumed=True) == OVERDUE) is not begins
    assert one.told == ([] if begins else [OVERDUE[1]]) or is_moving
    result = one.at(3.51, [0.1] * 3)
    assert (result is TORQUE) is begins and (begins or result == OVERDUE)


def test_of_several_that_were_to_begin_in_a_pause_none_does_and_one_reason_is_told():
    one = Following(9.0)
    one.at(0.0)
    for start in (0.5, 0.51):
        one.receive(*line(2.0, 2.0, 2.0), start=start, now=0.5)
    one.receive(*line(0.0, 0.0), start=4.0, now=0.5)
    assert one.at(3.0, resumed=True) == OVERDUE and one.told == [OVERDUE[1]]
    assert one.at(4.0) is TORQUE


@pytest.mark.parametrize(('pause', 'goes_on'), [(0.9, True), (1.1, False)])
def test_a_stream_of_points_goes_on_to_its_end_in_a_pause_and_a_long_one_breaks_it(pause, goes_on):
    one = Following(9.0)
    for k in range(5):
        one.receive([0.04], [[0.01 * (k + 1)] * 3], start=0.04 * k)
        one.at(0.04 * k)
    for k in range(5, round((0.16 + pause) / 0.04)):
        one.receive([0.04], [[0.01 * (k + 1)] * 3], start=0.04 * k)
    result = one.at(0.16 + pause, resumed=True)
    assert (result is TORQUE) is goes_on
    assert (
        goes_on
        or result[1] == f'trajectory dropped: it was to lead the arm while no joint state came for {pause:.3f} s'
    )


def test_without_a_pause_one_may_begin_late():
    one = Following(9.0)
    one.at(0.0)
    one.receive(*line(0.0, 0.0), start=1.0)
    assert one.at(1.9) is TORQUE


def test_after_a_silence_it_continues_only_near_the_arm():
    one = following(*line(0.0, 2.0))
    assert one.at(0.0) is TORQUE
    assert one.at(0.5, [0.95] * 3, resumed=True) is TORQUE
    assert one.desired[0] == pytest.approx([1.0] * 3)
    assert one.at(0.6, ZERO) is TORQUE
    assert one.at(0.7, [1.4, 1.4, 0.0], resumed=True) == dropped('slide', '1.400')
    assert one.told == [dropped('slide', '1.400').reason]
    assert one.at(0.8, [1.6] * 3) == dropped('slide', '1.400')


def test_after_its_end_too():
    one = following(*line(0.0, 2.0))
    assert one.at(0.0) is TORQUE
    assert one.at(50.0) is TORQUE
    assert one.at(51.0, [2.05] * 3, resumed=True) is TORQUE
    assert one.at(52.0, [2.0, 2.5, 2.0], resumed=True) == dropped('swing', '0.500')


@pytest.mark.parametrize('begun', [0.5, 50.0], ids=['in mid-motion', 'after its end'])
def test_an_interruption_ends_it_wherever_the_arm_is(begun):
    one = following(*line(0.0, 2.0))
    assert one.at(0.0) is TORQUE and one.at(begun) is TORQUE
    assert one.at(begun + 1.0, [min(2.0, 2.0 * begun + 2.0)] * 3, resumed=True) is TORQUE
    ended = one.at(begun + 2.001, [2.0] * 3, resumed=True)
    assert ended == (Outcome.IDLE, 'trajectory dropped: 1.001 s without a joint state')
    assert one.told == [ended.reason] and one.at(begun + 2.002, [2.0] * 3) is ended
    one.receive(*line(2.0, 0.0), start=begun + 3.0)
    assert one.at(begun + 3.0, [2.0] * 3) is TORQUE


def test_one_that_begins_after_an_interruption_is_not_ended_by_it():
    one = following(*line(0.0, 2.0), start=5.0)
    one.at(0.0)
    assert one.at(5.0, resumed=True) is TORQUE
    one.state.stamp -= 5 * SECOND  # no torque came of that state
    assert one.at(5.1, [0.2] * 3, resumed=True) is TORQUE


def test_states_that_are_that_rare_do_not_interrupt_it():
    one = following(*line(0.0, 2.0, 4.0, 6.0))
    assert [one.at(seconds, [2.0 * seconds] * 3) for seconds in (0.0, 1.5, 3.0)] == [TORQUE] * 3


def test_on_the_way_to_the_first_point_the_way_counts_and_not_the_speed():
    """0.4 rad away from the way is too far, though the joint could still reach the first point."""
    one = following([1.0, 2.0], [[0.4, 0.0, 0.0]] * 2, robot=ROBOT)
    assert one.at(0.0) is TORQUE
    assert one.at(0.5, [0.2, 0.0, 0.0], resumed=True) is TORQUE
    assert one.desired[0] == pytest.approx([0.2, 0.0, 0.0])
    assert one.at(0.5, [0.2 - 0.4, 0.0, 0.0], resumed=True) == dropped('turn', '0.400')


def test_a_silence_before_it_begins_changes_nothing():
    one = following(*line(0.0, 2.0), start=1.0)
    assert one.at(0.5, resumed=True) is NOT_BEGUN
    assert one.at(1.0, resumed=True) is TORQUE


def test_a_continuous_joint_is_where_it_should_be_modulo_a_turn_after_a_silence():
    one = following([0.0, 1.0], [ZERO] * 2)
    assert one.at(0.0) is TORQUE
    assert one.at(0.5, [2.0 * np.pi - 0.05, 0.0, 0.0], resumed=True) is TORQUE


def test_a_clock_that_is_set_back_drops_what_was_followed():
    """Received before or after the time to which the clock goes back, begun or not: the arm is elsewhere now."""
    for received, start in ((0.0, 0.0), (0.0, 6.0), (0.0, 20.0), (8.0, 20.0)):
        one = following(*line(0.0, 0.05), start=start, now=received)
        one.at(10.0)
        one.follower.set_back(START + 5 * SECOND)
        for seconds in (5.0, 6.5, 20.0):
            assert one.at(seconds, resumed=seconds == 5.0) is CLOCK_SET_BACK
        assert one.told == ['trajectory dropped: the clock was set back'] == [CLOCK_SET_BACK.reason]
        assert CLOCK_SET_BACK.outcome is Outcome.IDLE


def test_what_was_received_on_the_clock_as_it_is_now_is_followed():
    one = following(*line(0.0, 0.05))
    assert one.at(10.0) is TORQUE
    one.receive(*line(0.0, 0.05), start=5.5, now=5.0)  # no state has come between
    one.follower.set_back(START + 5 * SECOND)
    assert one.at(5.2, resumed=True) is CLOCK_SET_BACK and one.at(5.5) is TORQUE
    assert one.told == [CLOCK_SET_BACK.reason]  # of the one before


def test_a_trajectory_received_later_than_now_is_dropped_though_it_was_never_followed():
    one = following(*line(0.0, 0.05), start=9.0, now=5.000000001)
    one.follower.set_back(START + 5 * SECOND)
    assert one.at(9.0) is CLOCK_SET_BACK and len(one.told) == 1


def test_what_was_dropped_stays_so_for_its_first_reason():
    one = following(*line(0.0, 1.0))
    assert one.at(0.0, [0.0, 1.0, 0.0]) == dropped('swing', '1.000')
    one.follower.set_back(START - SECOND)
    assert one.at(0.0) == dropped('swing', '1.000') and len(one.told) == 1
    one.follower.stop()
    one.follower.set_back(START - SECOND)
    assert one.at(0.0) is NO_TRAJECTORY
