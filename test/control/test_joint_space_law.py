"""What torque_controller computes: the joint-space control of the desired motion, or the torque that holds the arm."""

from support.given_motion import GivenMotion

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.hold_position import INTERRUPTION, HoldPosition
from robot_dynamics_ros.control.joint_space_control import Hold, JointSpaceControl
from robot_dynamics_ros.control.joint_space_law import NO_FEEDFORWARD, JointSpaceLaw
from robot_dynamics_ros.control.law import NO_VELOCITIES, TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.load import Load
from robot_dynamics_ros.control.payload_blending import PayloadBlender
from robot_dynamics_ros.control.state_gate import StateGate
from robot_dynamics_ros.control.trajectory import Trajectory
from robot_dynamics_ros.control.trajectory_follower import TrajectoryFollower

ROBOT = Robot.named('aubo_i5')
MS, SECOND = 1_000_000, 1_000_000_000
START = 50 * SECOND
STIFFNESS, DAMPING = np.array([300.0, 400.0, 300.0, 60.0, 50.0, 40.0]), np.array([30.0, 40.0, 20.0, 4.0, 3.0, 0.0])
AGE_LIMIT = 50 * MS
TOLERANCE = 0.5
IDLE, OTHER = Result(Outcome.IDLE, 'nothing'), Result(Outcome.INCOMPLETE, 'feedforward torque not added: ...')
HERE = np.array([0.1, -0.7, 0.2, -0.1, 0.3, 0.0])
THERE = HERE + 0.25
MOVING = np.array([0.5, -0.4, 0.3, 0.2, -0.1, 0.6])


class Feedforward:
    age_limit = AGE_LIMIT

    def __init__(self):
        self.effort, self.why, self.asked = np.arange(6.0), None, []

    def fault(self, stamp, plan):
        self.asked.append((stamp, plan))
        return self.why


class Controller:
    """A law with all that it needs, whose states come 5 ms apart."""

    def __init__(self, law='pd_feedforward'):
        self.desired = np.full((3, 6), np.nan)
        motion = np.random.default_rng(3).uniform(-1.0, 1.0, (3, 6))
        self.source, self.load = GivenMotion(self.desired, motion), Load.of(ROBOT)
        self.feedforward = Feedforward() if law == 'pd_feedforward' else None
        self.control = self.blended(lambda robot: JointSpaceControl(robot, law, STIFFNESS, DAMPING, 5.0))
        self.told = []
        self.position = HoldPosition(ROBOT, TOLERANCE, self.told.append)
        holding = self.blended(hold)
        self.law = JointSpaceLaw(self.source, self.desired, self.control, holding, self.feedforward, self.position)
        self.state, self.out = MeasuredState(np.zeros(6), np.zeros(6)), np.full(6, np.nan)
        self.state.stamp, self.state.resumed = START, True

    def blended(self, make):
        return PayloadBlender(make, ROBOT, self.load)

    def give(self, q=HERE, qd=MOVING, after=5 * MS, resumed=False, has_velocity=True, pause=0.015):
        """Return what becomes of a state ``after`` ns later."""
        state = self.state
        state.pause = pause
        state.stamp, state.resumed, state.has_velocity = state.stamp + after, resumed, has_velocity
        state.q[:], state.qd[:] = q, qd if has_velocity else np.nan
        self.out[:] = np.nan
        return self.law.torque(state, self.out)

    def holds(self, where, q=HERE, qd=MOVING, **more):
        """Return whether the torque for a state holds the arm at ``where``."""
        expected = STIFFNESS * (where - q) - DAMPING * qd + ROBOT.gravity_torque(q)
        return self.give(q, qd, **more) is TORQUE and self.out == pytest.approx(expected, rel=1e-12, abs=1e-10)

    def follows(self, q=HERE, qd=MOVING, **more):
        """Return whether the torque for a state is that of pd_feedforward."""
        result, (q_d, qd_d, _) = self.give(q, qd, **more), self.source.motion
        expected = STIFFNESS * (q_d - q) + DAMPING * (qd_d - qd) + self.feedforward.effort
        return result is TORQUE and self.out == pytest.approx(expected, rel=1e-12, abs=1e-10)


def hold(robot):
    return Hold(robot, STIFFNESS, DAMPING)


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


def test_pd_feedforward_adds_the_torque_of_now():
    one = Controller()
    assert one.follows(resumed=True)
    assert one.feedforward.asked == [(one.state.stamp, one.source.plan)]
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
    for k in range(100):
        result = one.give(resumed=k > 3, after=20 * MS)
        assert (result is TORQUE) == (k < 2) and (k < 2 or result is NO_FEEDFORWARD)


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


def test_warm_up_computes_everything_and_holds_nothing(monkeypatch):
    one, inputs = Controller(), []
    warm_up = PayloadBlender.warm_up
    monkeypatch.setattr(
        PayloadBlender, 'warm_up', lambda self, *given: (inputs.append((self, *given)), warm_up(self, *given))
    )
    one.desired[:] = 0.0
    one.law.warm_up()
    assert one.source.calls == ['warm_up']
    following, holding = inputs
    assert (
        following[:2] == (one.control, 2)
        and np.array_equal(following[2], one.desired)
        and following[3].tolist() == [0.0] * 6
    )
    assert holding[0] is not one.control and holding[1:] == (3,)
    one.source.result = IDLE
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
    one.feedforward.why = None
    assert one.holds(THERE, q=THERE)
    one.source.rests = False
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
    one.source.rests, one.feedforward.why = False, NO_FEEDFORWARD
    assert one.holds(one.source.motion[0]) and one.holds(one.source.motion[0], after=AGE_LIMIT)
    assert one.give() is NO_FEEDFORWARD


@pytest.mark.parametrize('law', ['pd', 'pd_gravity', 'computed_torque'])
def test_other_laws_go_on_at_the_last_point(law):
    one, expected = Controller(law), np.empty(6)
    one.source.rests = True
    assert one.give(resumed=True) is TORQUE
    JointSpaceControl(ROBOT, law, STIFFNESS, DAMPING, 5.0).torque(HERE, MOVING, one.source.motion, None, expected)
    assert one.out.tolist() == expected.tolist()


# A trajectory replaces another one


class Fed:
    """A follower and the law, whose feedforward torques are of the plans in ``known``; states come 5 ms apart."""

    age_limit = AGE_LIMIT

    def __init__(self):
        self.told, self.desired, self.known, self.effort = [], np.zeros((3, 6)), set(), np.zeros(6)
        self.follower, load = TrajectoryFollower(ROBOT, self.desired, 0.5, self.told.append), Load.of(ROBOT)
        control = PayloadBlender(
            lambda robot: JointSpaceControl(robot, 'pd_feedforward', STIFFNESS, DAMPING, 5.0), ROBOT, load
        )
        position = HoldPosition(ROBOT, 0.5, self.told.append)
        self.law = JointSpaceLaw(
            self.follower, self.desired, control, PayloadBlender(hold, ROBOT, load), self, position
        )
        self.follower.may_begin = self.law.may_begin
        self.state, self.out = MeasuredState(HERE.copy(), np.zeros(6)), np.empty(6)
        self.state.has_velocity, self.state.resumed, self.state.stamp = True, False, START

    def fault(self, stamp, plan):
        return None if plan in self.known else NO_FEEDFORWARD

    def receive(self, end, start):
        """Receive a motion of 10 s from HERE, and return the plan."""
        self.follower.receive(Trajectory([0.0, 10.0], [HERE, HERE + end]), start, START)
        return self.follower._plans[-1]

    def step(self):
        """Return what becomes of the next state, and what it follows."""
        self.state.stamp += 5 * MS
        return self.law.torque(self.state, self.out), self.follower.plan


def test_the_old_motion_goes_on_until_the_first_torque_of_the_new_one():
    one = Fed()
    old = one.receive(0.1, START)
    one.known.add(old)
    assert one.step() == (TORQUE, old)
    new = one.receive(0.2, START + 20 * MS)
    assert [one.step() for _ in range(6)] == [(TORQUE, old)] * 6  # until 35 ms, without the new one's torque
    one.known.add(new)
    assert one.step() == (TORQUE, new)
    one.known.remove(old)
    assert one.step() == (TORQUE, new) and one.told == []


def test_the_old_motion_goes_on_no_longer_than_the_age_limit():
    one = Fed()
    old = one.receive(0.1, START)
    one.known.add(old)
    assert one.step() == (TORQUE, old)
    new = one.receive(0.2, START)  # from the next state on, 10 ms after START
    assert [one.step() for _ in range(11)] == [(TORQUE, old)] * 11
    assert one.step() == (NO_FEEDFORWARD, new)


def test_the_old_motion_ends_where_it_has_no_torque_either():
    one = Fed()
    old = one.receive(0.1, START)
    one.known.add(old)
    assert one.step() == (TORQUE, old)
    one.known.clear()
    new = one.receive(0.2, START)
    assert one.step() == (NO_FEEDFORWARD, old)
    one.known.add(new)
    assert one.step() == (TORQUE, new)


# With a trajectory


class Loop:
    """Gate, follower and law as the pipeline calls them; the arm is where ``q`` says."""

    def __init__(self, law='pd_gravity'):
        self.told, self.desired = [], np.zeros((3, 6))
        self.follower, self.gate = TrajectoryFollower(ROBOT, self.desired, 0.1, self.told.append), StateGate(0.05)
        load = Load.of(ROBOT)
        control = PayloadBlender(lambda robot: JointSpaceControl(robot, law, STIFFNESS, DAMPING, 5.0), ROBOT, load)
        position = HoldPosition(ROBOT, 0.1, self.told.append)
        self.law = JointSpaceLaw(
            self.follower, self.desired, control, PayloadBlender(hold, ROBOT, load), None, position
        )
        self.state = MeasuredState(np.zeros(6), np.zeros(6))
        self.state.has_velocity = True

    def give(self, stamp, q):
        """Return the part of the torque that gravity does not explain, with the arm still at ``q``."""
        if self.gate.set_back(stamp):
            self.law.set_back(stamp)
        out, self.state.q[:] = np.empty(6), q
        self.state.stamp, self.state.resumed, self.state.pause = stamp, self.gate.resumes(stamp), self.gate.pause(stamp)
        assert self.law.torque(self.state, out) is TORQUE
        self.gate.used = stamp
        return out - ROBOT.gravity_torque(self.state.q)

    def towards(self, where, q):
        return pytest.approx(STIFFNESS * (where - np.asarray(q)), abs=1e-6)


def test_a_silence_in_mid_motion_ends_in_a_hold_unless_the_arm_is_on_its_way():
    rise = Trajectory([0.0, 10.0], [HERE, HERE + 1.0])
    for away, ends in ((0.05, False), (0.4, True)):
        loop = Loop()
        loop.follower.receive(rise, START, START)
        assert loop.give(START, HERE) == pytest.approx(DAMPING * 0.1)
        after = START + 5 * SECOND
        found = loop.give(after, HERE + 0.5 - away)
        if ends:
            assert found == pytest.approx(np.zeros(6), abs=1e-9) and len(loop.told) == 1
            assert loop.give(after + 5 * MS, HERE) == loop.towards(HERE + 0.5 - away, HERE)
        else:
            assert found == pytest.approx(STIFFNESS * away + DAMPING * 0.1)
            assert loop.told == []


def test_a_motion_received_just_after_the_clock_was_set_back_waits_too():
    """The one before was followed up to then."""
    one = Controller()
    assert one.follows()
    one.feedforward.why = NO_FEEDFORWARD
    one.law.set_back(7)
    assert one.holds(THERE, q=THERE)


def test_a_clock_that_is_set_back_in_mid_motion_ends_in_a_hold():
    loop = Loop()
    loop.follower.receive(Trajectory([0.0, 10.0], [HERE, HERE + 1.0]), START + 6 * SECOND, START)
    loop.give(START + 6 * SECOND, HERE)
    loop.give(START + 6 * SECOND + 5 * MS, HERE)
    for seconds in (5.0, 5.9, 6.0, 7.0):
        stamp = START + round(seconds * SECOND)
        assert loop.give(stamp, HERE + 0.9) == pytest.approx(np.zeros(6), abs=1e-9)
    assert loop.told == ['trajectory dropped: the clock was set back']
