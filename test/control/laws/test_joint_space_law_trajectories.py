"""The joint-space law with a real follower: one trajectory replaces another one, states pause, clocks go back."""

from support.control.joint_space_laws import AGE_LIMIT, DAMPING, HERE, MS, ROBOT, SECOND, START, STIFFNESS, hold

import numpy as np
import pytest

from robot_dynamics_ros.control.guards.state_gate import StateGate
from robot_dynamics_ros.control.law import TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.laws.hold_position import HoldPosition
from robot_dynamics_ros.control.laws.joint_space_control import JointSpaceControl
from robot_dynamics_ros.control.laws.joint_space_law import NO_FEEDFORWARD, JointSpaceLaw
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_follower import TrajectoryFollower

ACCELERATIONS = np.full(6, np.inf)

# A trajectory replaces another one


class Fed:
    """A follower and the law, whose feedforward torques are of the plans in ``known``; states come 5 ms apart."""

    age_limit, apart = AGE_LIMIT, None

    def __init__(self):
        self.told, self.desired, self.known, self.effort = [], np.zeros((3, 6)), set(), np.zeros(6)
        self.follower, load = (
            TrajectoryFollower(ROBOT, self.desired, 0.5, self.told.append, ACCELERATIONS),
            PayloadGravity.of(ROBOT),
        )
        control = PayloadBlender(
            lambda robot: JointSpaceControl(robot, 'pd_feedforward', STIFFNESS, DAMPING, 5.0), ROBOT, load
        )
        position = HoldPosition(ROBOT, 0.5, self.told.append)
        self.law = JointSpaceLaw(
            self.follower, self.desired, control, PayloadBlender(hold, ROBOT, load), self, position
        )
        self.follower.may_begin, self.follower.start.held = self.law.may_begin, position.at
        self.state, self.out = MeasuredState(HERE.copy(), np.zeros(6)), np.empty(6)
        self.state.has_velocity, self.state.stamp, self.used = True, START, START

    def fault(self, stamp, plan):
        return None if plan in self.known else NO_FEEDFORWARD

    def moves(self, stamp):
        return False

    def receive(self, end, start):
        """Receive a motion of 10 s from HERE, and return the plan."""
        self.follower.receive(Trajectory([0.0, 10.0], [HERE, HERE + end]), start, START)
        return self.follower._plans[-1]

    def step(self):
        """Return what becomes of the next state, and what it follows."""
        self.state.stamp += 5 * MS
        self.state.pause = (self.state.stamp - self.used) * 1e-9
        self.state.resumed = self.state.pause > 0.02
        result = self.law.torque(self.state, self.out)
        if result is TORQUE:
            self.used = self.state.stamp
        return result, self.follower.plan


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


def test_the_arm_is_held_while_the_newest_motion_is_led_from_elsewhere():
    """An older one that waits for its torque as well does not begin without it."""
    one, apart = Fed(), Result(Outcome.INCOMPLETE, 'from elsewhere')
    one.receive(0.1, START)
    one.step()
    newest = one.receive(0.2, START)
    one.fault = lambda stamp, plan: apart if plan is newest else NO_FEEDFORWARD
    one.apart = apart
    assert [one.step()[0] for _ in range(100)] == [TORQUE] * 100
    assert one.out == pytest.approx(ROBOT.gravity_torque(HERE))


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


def test_a_lone_point_is_reached_although_the_motion_before_it_had_lost_its_torques():
    one = Fed()
    old = one.receive(0.1, START)
    one.known.add(old)
    assert one.step() == (TORQUE, old)
    one.known.remove(old)
    assert one.step() == (NO_FEEDFORWARD, old)
    one.follower.receive(Trajectory([0.0], [HERE + 0.1]), START + 12 * MS, START)
    point = one.follower._plans[-1]
    one.known.add(point)
    assert one.step() == (TORQUE, point) and one.told == []
    assert [one.step() for _ in range(30)] == [(TORQUE, point)] * 30
    assert one.out == pytest.approx(0.1 * STIFFNESS + ROBOT.gravity_torque(HERE), rel=1e-12, abs=1e-10)


def test_a_motion_without_torques_for_a_second_is_dropped():
    one = Fed()
    motion = one.receive(0.1, START)
    one.known.add(motion)
    assert one.step() == (TORQUE, motion)
    one.known.clear()
    assert [one.step()[0] for _ in range(202)] == [NO_FEEDFORWARD] * 200 + [TORQUE] * 2
    assert one.out == pytest.approx(ROBOT.gravity_torque(HERE))  # it is held
    assert one.told == ['trajectory dropped: 1 s without a feedforward torque: no feedforward torque for this state']


def test_the_next_motion_has_a_second_of_its_own():
    one = Fed()
    old = one.receive(0.1, START)
    one.known.add(old)
    assert one.step() == (TORQUE, old)
    one.known.clear()
    assert [one.step()[0] for _ in range(180)] == [NO_FEEDFORWARD] * 180
    new = one.receive(0.2, one.state.stamp)
    # without the torque of either it begins after 50 ms
    assert [one.step() for _ in range(12)] == [(NO_FEEDFORWARD, old)] * 11 + [(NO_FEEDFORWARD, new)]
    assert [one.step()[0] for _ in range(190)] == [NO_FEEDFORWARD] * 189 + [TORQUE]
    assert new.dropped is not None and old.dropped is None


# With a trajectory


class Loop:
    """Gate, follower and law as the pipeline calls them; the arm is where ``q`` says."""

    def __init__(self, law='pd_gravity'):
        self.told, self.desired = [], np.zeros((3, 6))
        self.follower, self.gate = (
            TrajectoryFollower(ROBOT, self.desired, 0.1, self.told.append, ACCELERATIONS),
            StateGate(0.05),
        )
        load = PayloadGravity.of(ROBOT)
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


def test_a_silence_in_mid_motion_ends_in_a_hold_unless_it_is_short_and_the_arm_is_on_its_way():
    rise = Trajectory([0.0, 10.0], [HERE, HERE + 1.0])
    for away, silence, ends in ((0.05, 1.0, False), (0.4, 1.0, True), (0.05, 1.001, True)):
        loop = Loop()
        loop.follower.receive(rise, START, START)
        assert loop.give(START, HERE) == pytest.approx(DAMPING * 0.1)
        after = START + round(silence * SECOND)
        found = loop.give(after, HERE + 0.1 * silence - away)
        if ends:
            assert found == pytest.approx(np.zeros(6), abs=1e-9) and len(loop.told) == 1
            assert loop.give(after + 5 * MS, HERE) == loop.towards(HERE + 0.1 * silence - away, HERE)
        else:
            assert found == pytest.approx(STIFFNESS * away + DAMPING * 0.1)
            assert loop.told == []


def test_a_clock_that_is_set_back_in_mid_motion_ends_in_a_hold():
    loop = Loop()
    loop.follower.receive(Trajectory([0.0, 10.0], [HERE, HERE + 1.0]), START + 6 * SECOND, START)
    loop.give(START + 6 * SECOND, HERE)
    loop.give(START + 6 * SECOND + 5 * MS, HERE)
    for seconds in (5.0, 5.9, 6.0, 7.0):
        stamp = START + round(seconds * SECOND)
        assert loop.give(stamp, HERE + 0.9) == pytest.approx(np.zeros(6), abs=1e-9)
    assert loop.told == ['trajectory dropped: the clock was set back']
