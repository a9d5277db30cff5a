"""pd_feedforward: how long a motion waits for its first torque, and where the arm is held without one."""

from support.control.joint_space_laws import AGE_LIMIT, HERE, IDLE, MS, SECOND, THERE, Controller

import numpy as np
import pytest

from robot_dynamics_ros.control.law import INTERRUPTION, TORQUE, Outcome, Result
from robot_dynamics_ros.control.laws.joint_space_law import NO_FEEDFORWARD

OTHER = Result(Outcome.INCOMPLETE, 'feedforward torque not added: ...')


def test_pd_feedforward_adds_the_torque_of_now():
    one = Controller()
    assert one.follows(resumed=True)
    assert set(one.feedforward.asked) == {(one.state.stamp, one.source.plan)}
    one.feedforward.effort = np.arange(6.0, 12.0)
    assert one.follows(q=THERE)


def test_it_holds_until_the_first_feedforward_torque_is_received():
    one = Controller()
    one.source.result = IDLE
    assert one.holds(HERE, resumed=True)
    one.source.result, one.feedforward.why = TORQUE, NO_FEEDFORWARD
    for _ in range(3):
        assert one.holds(HERE, q=THERE)
    one.feedforward.why = None
    assert one.follows(q=THERE)


def test_the_first_state_of_all_may_wait_for_it_too():
    one = Controller()
    one.feedforward.why = NO_FEEDFORWARD
    assert one.holds(HERE, resumed=True) and one.holds(HERE, q=THERE)


def test_it_waits_no_longer_than_the_age_limit_of_the_feedforward_torque():
    one = Controller()
    one.feedforward.why = NO_FEEDFORWARD
    assert one.holds(HERE, resumed=True)
    assert one.holds(HERE, after=AGE_LIMIT)
    assert one.give(after=1) is NO_FEEDFORWARD and np.isnan(one.out).all()
    assert one.give() is NO_FEEDFORWARD
    one.feedforward.why = OTHER  # the reason is the source's
    assert one.give() is OTHER
    one.feedforward.why = None
    assert one.follows()


def test_a_motion_that_waited_too_long_does_not_wait_again_after_a_silence():
    """States without a torque make a silence themselves: hold and silence would take turns for ever."""
    one = Controller()
    one.feedforward.why = NO_FEEDFORWARD
    assert one.holds(HERE, resumed=True)
    for k in range(50):
        result = one.give(resumed=k > 3, after=20 * MS)
        assert (result is TORQUE) == (k < 2) and (k < 2 or result is NO_FEEDFORWARD)


@pytest.mark.parametrize('followed', [True, False], ids=['lost in mid-motion', 'never there'])
def test_a_motion_ends_after_a_second_without_torques_and_the_arm_is_held_where_it_is(followed):
    one = Controller()
    if followed:
        assert one.follows(resumed=True)
    one.feedforward.why = OTHER
    one.give(resumed=not followed)
    assert one.give(after=2 * AGE_LIMIT) is OTHER
    assert one.give(resumed=True, pause=INTERRUPTION) is OTHER and one.source.calls == []
    assert one.holds(THERE, q=THERE, resumed=True, pause=INTERRUPTION + 0.001) and one.holds(THERE)
    assert one.source.calls == [('end', f'1 s without a feedforward torque: {OTHER.reason}')]
    one.feedforward.why = None
    assert one.holds(THERE)  # it does not go on


def test_once_following_a_torque_is_missed_at_once_and_for_good():
    """Not held either after the silence that the missing torques make."""
    one = Controller()
    assert one.follows(resumed=True)
    one.feedforward.why = NO_FEEDFORWARD
    for k in range(100):
        assert one.give(resumed=k > 3) is NO_FEEDFORWARD
        assert np.isnan(one.out).all()
    one.feedforward.why = None
    assert one.follows()


def test_after_missing_torques_the_hold_position_is_measured_again():
    one = Controller()
    one.feedforward.why = NO_FEEDFORWARD
    assert one.holds(HERE, resumed=True)
    assert one.give(after=AGE_LIMIT + 1) is NO_FEEDFORWARD
    one.source.result = IDLE
    assert one.holds(THERE, q=THERE)


def test_the_next_motion_may_wait_again():
    one = Controller()
    for _ in range(3):
        one.source.result, one.feedforward.why = TORQUE, NO_FEEDFORWARD
        assert one.holds(HERE) and one.holds(HERE, after=AGE_LIMIT) and one.give() is NO_FEEDFORWARD
        one.source.result = IDLE
        assert one.holds(HERE)
    one.source.result, one.feedforward.why = TORQUE, None
    assert one.follows()
    one.source.result = IDLE
    assert one.holds(HERE)
    one.source.result, one.feedforward.why = TORQUE, NO_FEEDFORWARD
    assert one.holds(HERE)


def test_a_received_torque_ends_the_waiting():
    one = Controller()
    one.feedforward.why = NO_FEEDFORWARD
    assert one.holds(HERE, resumed=True)
    one.feedforward.why = None
    assert one.follows(after=AGE_LIMIT)
    one.source.result = IDLE
    assert one.holds(HERE)
    one.source.result, one.feedforward.why = TORQUE, NO_FEEDFORWARD
    assert one.holds(HERE) and one.holds(HERE, after=AGE_LIMIT)


def test_after_activation_a_motion_may_wait_again():
    for prepare in (Controller.follows, Controller.give):
        one = Controller()
        if prepare is Controller.give:
            one.feedforward.why = NO_FEEDFORWARD
            one.give(resumed=True)
            one.give(after=2 * AGE_LIMIT)
        else:
            assert one.follows(resumed=True)
        one.law.stop_following()
        one.feedforward.why = NO_FEEDFORWARD
        assert one.holds(THERE, q=THERE, resumed=True) and one.holds(THERE, after=AGE_LIMIT)
        assert one.give() is NO_FEEDFORWARD


def test_after_the_clock_is_set_back_a_motion_may_wait_again():
    one = Controller()
    one.feedforward.why = NO_FEEDFORWARD
    assert one.holds(HERE, resumed=True)
    one.law.set_back(7)
    assert one.source.calls == [('set_back', 7)]
    assert one.holds(THERE, q=THERE, after=-20 * SECOND, resumed=True)
    assert one.holds(THERE, after=AGE_LIMIT)
    assert one.give() is NO_FEEDFORWARD


def test_a_motion_received_just_after_the_clock_was_set_back_waits_too():
    """The one before was followed up to then."""
    one = Controller()
    assert one.follows()
    one.feedforward.why = NO_FEEDFORWARD
    one.law.set_back(7)
    assert one.holds(THERE, q=THERE)


# After the last point


def test_after_the_last_point_the_arm_is_held_there_without_a_feedforward_torque():
    one = Controller()
    assert one.follows(resumed=True)
    one.source.rests, one.feedforward.why = True, NO_FEEDFORWARD  # its source may end, and start again
    end = one.source.motion[0]
    for k in range(100):
        assert one.holds(end, q=THERE, resumed=k > 3)
    one.feedforward.why = None
    assert one.holds(end)
    asked = len(one.feedforward.asked)
    assert one.holds(end) and len(one.feedforward.asked) == asked


@pytest.mark.parametrize('followed', [True, False], ids=['lost in mid-motion', 'never there'])
def test_an_arm_that_lost_its_feedforward_torque_is_held_where_it_is_and_not_at_the_last_point(followed):
    one = Controller()
    if followed:
        assert one.follows(resumed=True)
    one.feedforward.why = NO_FEEDFORWARD
    one.give(resumed=not followed)
    assert one.give(after=2 * AGE_LIMIT) is NO_FEEDFORWARD
    one.source.rests = True
    assert one.holds(THERE, q=THERE, resumed=True) and one.holds(THERE, q=THERE)
    assert one.source.calls == [('end', f'it ended without a feedforward torque: {NO_FEEDFORWARD.reason}')]
    one.feedforward.why = None
    assert one.holds(THERE, q=THERE)
    one.source.rests, one.source.result = False, TORQUE  # the next one
    assert one.follows()
    one.source.rests = True
    assert one.holds(one.source.motion[0])


def test_a_motion_that_is_ended_after_its_last_point_leaves_the_arm_held_there():
    one = Controller()
    assert one.follows(resumed=True)
    one.source.rests = True
    end = one.source.motion[0]
    assert one.holds(end, q=THERE)
    one.source.result = IDLE
    assert one.holds(end, q=THERE) and one.holds(end, q=end + 0.1, resumed=True, pause=0.015)


def test_a_motion_after_the_last_point_of_another_one_may_wait_for_its_torque():
    one = Controller()
    assert one.follows(resumed=True)
    one.source.rests = True
    assert one.holds(one.source.motion[0])
    one.source.rests, one.source.begun, one.source.plan.due_since = False, False, 0
    one.feedforward.why = NO_FEEDFORWARD
    assert one.holds(one.source.motion[0]) and one.holds(one.source.motion[0], after=AGE_LIMIT)
    assert one.give() is NO_FEEDFORWARD


def test_it_tells_each_position_that_it_measures_to_hold():
    one = Controller()
    one.source.result = IDLE
    assert one.holds(HERE, resumed=True) and one.held == [one.state.stamp]
    assert one.holds(HERE, HERE + 0.1) and len(one.held) == 1
    one.law.stop_following()
    assert one.holds(THERE, THERE) and one.held[1:] == [one.state.stamp]


def test_it_tells_at_each_state_that_the_arm_is_held_while_the_torque_is_that_of_another_motion():
    """After its age limit: one that has just begun may be that of this node's next motion."""
    one = Controller()
    one.source.result = IDLE
    assert one.holds(HERE, resumed=True)
    one.feedforward.other_moves, first = True, one.state.stamp + 5 * MS
    assert all(one.holds(HERE) for _ in range(30))
    assert one.held[1:] == list(range(first + AGE_LIMIT + 5 * MS, first + 150 * MS, 5 * MS))
    one.feedforward.other_moves, count = False, len(one.held)
    assert one.holds(HERE)
    one.feedforward.other_moves = True
    assert all(one.holds(HERE) for _ in range(11)) and len(one.held) == count


def test_so_it_does_while_a_trajectory_waits_for_its_torque():
    one = Controller()
    one.source.may_begin = lambda plan, stamp, newer_waits: False
    assert all(one.holds(HERE) for _ in range(11)) and len(one.held) == 1
    assert one.holds(HERE) and one.held[1:] == [one.state.stamp]
