"""JointSpaceLaw with stand-ins for its motion and its feedforward torque, and what it should write."""

from support.control.given_motion import GivenMotion

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.law import TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.laws.hold_position import HoldPosition
from robot_dynamics_ros.control.laws.joint_space_control import Hold, JointSpaceControl
from robot_dynamics_ros.control.laws.joint_space_law import JointSpaceLaw
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity

ROBOT = Robot.named('aubo_i5')
MS, SECOND = 1_000_000, 1_000_000_000
START = 50 * SECOND
STIFFNESS, DAMPING = np.array([300.0, 400.0, 300.0, 60.0, 50.0, 40.0]), np.array([30.0, 40.0, 20.0, 4.0, 3.0, 0.0])
AGE_LIMIT = 50 * MS
TOLERANCE = 0.5
IDLE = Result(Outcome.IDLE, 'nothing')
HERE = np.array([0.1, -0.7, 0.2, -0.1, 0.3, 0.0])
THERE = HERE + 0.25
MOVING = np.array([0.5, -0.4, 0.3, 0.2, -0.1, 0.6])


class Feedforward:
    age_limit = AGE_LIMIT

    def __init__(self):
        self.effort, self.why, self.apart, self.asked = np.arange(6.0), None, None, []
        self.other_moves = False

    def fault(self, stamp, plan):
        self.asked.append((stamp, plan))
        return self.why

    def moves(self, stamp):
        return self.other_moves


class Controller:
    """A law with all that it needs, whose states come 5 ms apart."""

    def __init__(self, law='pd_feedforward'):
        self.desired = np.full((3, 6), np.nan)
        motion = np.random.default_rng(3).uniform(-1.0, 1.0, (3, 6))
        self.source, self.load = GivenMotion(self.desired, motion), PayloadGravity.of(ROBOT)
        self.feedforward = Feedforward() if law == 'pd_feedforward' else None
        self.control = self.blended(lambda robot: JointSpaceControl(robot, law, STIFFNESS, DAMPING, 5.0))
        self.told = []
        self.held = []
        self.position = HoldPosition(ROBOT, TOLERANCE, self.told.append, self.held.append)
        parts = self.control, self.blended(hold), self.feedforward, self.position
        self.law = JointSpaceLaw(self.source, self.desired, *parts, self.held.append)
        self.source.may_begin = self.law.may_begin
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
