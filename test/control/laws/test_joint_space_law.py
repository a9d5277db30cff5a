"""What torque_controller computes: the joint-space control of the desired motion, or the torque that holds the arm."""

from types import SimpleNamespace

from support.control.joint_space_laws import (
    DAMPING,
    HERE,
    IDLE,
    MOVING,
    ROBOT,
    STIFFNESS,
    THERE,
    TOLERANCE,
    Controller,
    hold,
)

import numpy as np
import pytest

from robot_dynamics_ros.control.law import INTERRUPTION, NO_VELOCITIES, TORQUE, MeasuredState, Outcome
from robot_dynamics_ros.control.laws.hold_position import HoldPosition
from robot_dynamics_ros.control.laws.joint_space_control import JointSpaceControl
from robot_dynamics_ros.control.laws.joint_space_law import NO_FEEDFORWARD, JointSpaceLaw


def test_a_fault_has_its_reason():
    assert NO_FEEDFORWARD == (Outcome.INCOMPLETE, 'no feedforward torque for this state')
    assert NO_VELOCITIES == (Outcome.INCOMPLETE, 'the joint state has no velocities')
    assert TORQUE == (Outcome.TORQUE, '')


def test_a_state_is_nothing_until_it_is_one():
    state = MeasuredState(HERE, MOVING)
    assert state.q is HERE and state.qd is MOVING
    assert (state.stamp, state.has_velocity, state.resumed) == (0, False, True)


# Holding


@pytest.mark.parametrize('law', ['pd', 'pd_gravity', 'pd_feedforward', 'computed_torque'])
def test_without_a_motion_every_law_holds_the_arm(law):
    one = Controller(law)
    one.source.result = IDLE
    assert one.holds(HERE, resumed=True)
    assert one.holds(HERE, q=THERE)  # where holding began, not where the arm is
    assert one.holds(HERE, q=-THERE, qd=-MOVING)
    if one.feedforward:
        assert one.feedforward.asked == []


def test_the_joints_of_an_arm_that_is_free_are_held_nowhere_and_of_one_that_was_guided_where_that_left_them():
    one = Controller()
    one.source.result = IDLE
    assert one.holds(HERE, resumed=True)
    assert one.law.reference.tolist() == HERE.tolist()
    for is_free, is_guided in ((True, False), (True, True), (False, True), (False, False)):
        one.law._place = SimpleNamespace(is_free=is_free, is_guided=is_guided, joints=THERE.copy())
        assert one.holds(HERE, q=THERE)
        reference = one.law.reference
        assert reference is None if is_free else reference.tolist() == (THERE if is_guided else HERE).tolist()
        one.position.release()
        one.position.hold_at(HERE)


def test_at_its_end_a_frame_that_is_free_is_held_until_the_next_motion_which_does_not_begin_there():
    one = Controller('pd')  # without gravity, unlike the law that holds
    end, first, second = one.source.motion[0], *(SimpleNamespace(leads_nobody=False, due_since=0) for _ in range(2))
    one.source.rests, one.source.plan = True, first
    one.law._place = place = SimpleNamespace(is_free=False, is_guided=False, joints=THERE)
    assert not one.holds(end, q=THERE) and not first.leads_nobody
    place.is_free = True
    assert one.holds(end, q=THERE) and first.leads_nobody
    place.is_free, place.is_guided = False, True
    assert one.holds(end, q=THERE)
    place.is_guided = False
    assert one.holds(end, q=THERE)  # no step back to the law before
    one.source.plan = second
    assert not one.holds(end, q=THERE) and not second.leads_nobody


def test_after_a_silence_the_hold_position_is_measured_again():
    one = Controller()
    one.source.result = IDLE
    assert one.holds(HERE, resumed=True) and one.holds(HERE, q=THERE)
    assert one.holds(THERE, q=THERE, resumed=True, pause=INTERRUPTION + 0.001)
    assert one.holds(THERE, q=HERE)
    assert one.position.report() == {'hold position measured again': '1 after an interruption, 0 away from it'}
    assert one.told == []


def test_the_hold_position_survives_a_pause_that_is_no_interruption():
    one = Controller()
    one.source.result = IDLE
    assert one.holds(HERE, resumed=True, pause=np.inf)
    for pause in (0.007, 0.015, 0.2, INTERRUPTION):
        assert one.holds(HERE, q=THERE, resumed=True, pause=pause)
    assert one.position.report() == {'hold position measured again': '0 after an interruption, 0 away from it'}


@pytest.mark.parametrize('joint', range(6))
def test_an_arm_that_was_moved_in_a_pause_does_not_leap_back(joint):
    one, moved = Controller(), HERE.copy()
    moved[joint] -= TOLERANCE + 0.01
    one.source.result = IDLE
    assert one.holds(HERE, resumed=True, pause=np.inf)
    assert one.holds(HERE, q=moved)  # without a pause it was pushed, and is pushed back
    assert one.holds(moved, q=moved, resumed=True)
    assert one.holds(moved, q=HERE)
    assert one.position.report() == {'hold position measured again': '0 after an interruption, 1 away from it'}
    (said,) = one.told
    assert repr(ROBOT.joint_names[joint]) in said and '0.510' in said and 'start_tolerance' in said and '0.015' in said


def test_without_a_tolerance_a_moved_arm_is_pulled_back_after_a_pause():
    one = Controller()
    one.source.result = IDLE
    one.law = JointSpaceLaw(
        one.source,
        one.desired,
        one.control,
        one.blended(hold),
        one.feedforward,
        HoldPosition(ROBOT, 0.0, one.told.append),
    )
    assert one.holds(HERE, resumed=True, pause=np.inf)
    assert one.holds(HERE, q=HERE + 3.0, resumed=True) and one.told == []


def test_after_a_motion_the_arm_is_held_where_it_is_then():
    one = Controller()
    one.source.result = IDLE
    assert one.holds(HERE, resumed=True)
    one.source.result = TORQUE
    assert one.follows(q=THERE)
    one.source.result = IDLE
    assert one.holds(THERE, q=THERE) and one.holds(THERE)


def test_the_hold_position_is_a_copy():
    one = Controller()
    one.source.result = IDLE
    one.give(resumed=True)
    one.state.q += 1.0
    assert one.holds(HERE, q=THERE)


def test_activation_drops_motion_and_hold_position():
    one = Controller()
    one.source.result = IDLE
    assert one.holds(HERE, resumed=True)
    one.law.stop_following()
    assert one.source.calls == ['stop']
    assert one.holds(THERE, q=THERE)


def test_holding_needs_velocities_too():
    for result in (IDLE, TORQUE):
        one = Controller()
        one.source.result = result
        assert one.give(has_velocity=False) is NO_VELOCITIES
        assert np.isnan(one.out).all()


def test_a_state_without_velocities_moves_no_hold_position():
    one = Controller()
    one.source.result = IDLE
    assert one.holds(HERE, resumed=True)
    assert one.give(THERE, has_velocity=False) is NO_VELOCITIES
    assert one.holds(HERE, q=THERE)
    assert one.give(THERE, has_velocity=False, resumed=True) is NO_VELOCITIES
    assert one.holds(HERE, q=THERE, resumed=True)


# Following


@pytest.mark.parametrize('law', ['pd', 'pd_gravity', 'computed_torque'])
def test_a_law_without_feedforward_follows_at_once(law):
    one, expected = Controller(law), np.empty(6)
    assert one.give(resumed=True) is TORQUE
    JointSpaceControl(ROBOT, law, STIFFNESS, DAMPING, 5.0).torque(HERE, MOVING, one.source.motion, None, expected)
    assert one.out.tolist() == expected.tolist()


@pytest.mark.parametrize('law', ['pd', 'pd_gravity', 'computed_torque'])
def test_other_laws_go_on_at_the_last_point(law):
    one, expected = Controller(law), np.empty(6)
    one.source.rests = True
    assert one.give(resumed=True) is TORQUE
    JointSpaceControl(ROBOT, law, STIFFNESS, DAMPING, 5.0).torque(HERE, MOVING, one.source.motion, None, expected)
    assert one.out.tolist() == expected.tolist()
