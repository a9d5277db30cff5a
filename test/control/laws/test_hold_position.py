"""Holding an arm that is heavier than its model, with states that pause several times a second."""

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.guards.state_gate import StateGate
from robot_dynamics_ros.control.law import TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.laws.hold_position import HoldPosition
from robot_dynamics_ros.control.laws.joint_space_control import Hold
from robot_dynamics_ros.control.laws.joint_space_law import JointSpaceLaw
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity

PENDULUM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2"/><mass value="4"/>
    <inertia ixx="0.05" iyy="0.05" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0 0 0.15"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.005" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="200" velocity="3"/></joint>
  <joint name="elbow" type="revolute"><origin xyz="0 0 0.4"/><parent link="upper"/><child link="lower"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="100" velocity="3"/></joint>
</robot>"""
MS, SECOND = 1_000_000, 1_000_000_000
PERIOD, GAP, BETWEEN_GAPS = 2 * MS, 15 * MS, 250 * MS
STIFFNESS, DAMPING = np.array([300.0, 100.0]), np.array([40.0, 10.0])
START = np.array([1.0, 0.4])
IDLE = Result(Outcome.IDLE, 'no trajectory')


class NoMotion:
    """A source without a motion."""

    plan, rests = None, False

    def follow(self, state):
        return IDLE

    def stop(self):
        """Nothing to drop."""

    def set_back(self, now):
        """Nothing to drop."""


@pytest.fixture(scope='module')
def model():
    return Robot.from_urdf(PENDULUM)


def held(model, seconds, gap):
    """Return the positions of an arm 30 % heavier than its model, each state's, held with gaps of ``gap`` ns."""
    heavier = model.with_payload(Payload(1.2, (0.0, 0.0, 0.2)), link='upper').with_payload(Payload(0.6, (0, 0, 0.15)))
    load = PayloadGravity.of(model)
    hold = PayloadBlender(lambda robot: Hold(robot, STIFFNESS, DAMPING), model, load)
    told = []
    law = JointSpaceLaw(NoMotion(), np.zeros((3, 2)), hold, hold, None, HoldPosition(model, 0.5, told.append))
    gate, state, torque = StateGate(0.0), MeasuredState(START.copy(), np.zeros(2)), np.zeros(2)
    state.has_velocity = True
    stamp, paused, last, positions = SECOND, SECOND, SECOND, [START.copy()]
    while stamp < (1 + seconds) * SECOND:
        lost = gap and stamp - paused >= BETWEEN_GAPS
        paused = stamp if lost else paused
        stamp += gap if lost else PERIOD
        h = (stamp - last) * 1e-9 / 4
        for _ in range(4):  # semi-implicit Euler; the actuator keeps the last command
            state.qd += h * heavier.forward_dynamics(state.q, state.qd, torque)
            state.q += h * state.qd
        last = stamp
        gate.check(stamp, stamp)
        state.stamp, state.resumed, state.pause = stamp, gate.resumes(stamp), gate.pause(stamp)
        assert law.torque(state, torque) is TORQUE
        gate.used = stamp
        positions.append(state.q.copy())
    assert told == []
    return np.array(positions)


@pytest.mark.compiled
def test_a_heavier_arm_does_not_sink_when_states_pause_four_times_a_second(model):
    alone = held(model, 3, 0)[-1]
    assert np.abs(alone - START).max() > 0.005  # the model does not hold it: the feedback carries the rest
    paused = held(model, 6, GAP)
    assert np.abs(paused[len(paused) // 2 :] - alone).max() < 0.2 * np.abs(alone - START).max()


def test_joints_that_were_guided_have_moved_in_a_pause_by_what_was_measured_and_are_expected_where_that_left_them(
    model,
):
    told, joints = [], np.array([1.8, 0.4])
    position, state = HoldPosition(model, 0.5, told.append), MeasuredState(START.copy(), np.zeros(2))
    position.update(state)
    position.guide(joints, np.array([2.6, 0.4]))
    state.resumed, state.pause, state.q[:] = True, 0.1, [2.7, 0.4]
    # 0.1 rad in the pause; 0.9 from where they are expected
    assert position.at(state) is joints and not told
    assert position.is_left(state.q) and not position.is_left(np.array([2.2, 0.4]))
    state.q[:] = [3.2, 0.4]
    assert position.at(state) is None and len(told) == 1
    position.update(state)
    assert position.expected is position.position and position.position.tolist() == [3.2, 0.4]
    # without a tolerance, too, it is not known further away than a radian
    without = HoldPosition(model, 0.0, told.append)
    without.hold_at(START)
    assert not without.is_left(START + 2.0)
    without.guide(joints, START)
    far = np.array([1.0, 0.0])
    assert without.is_left(joints + far) and not without.is_left(joints + 0.9 * far)
