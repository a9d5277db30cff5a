"""The position command of hand guiding: where the arm is, to within the dead band, and only with the whole torque."""

from types import SimpleNamespace

from support.robots import openarm_type

import numpy as np
import pytest

from robot_dynamics_ros.control.law import TORQUE, MeasuredState
from robot_dynamics_ros.control.laws.hand_guiding import HandGuidingLaw
from robot_dynamics_ros.control.payload.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import GravityRamp, PayloadGravity, PayloadRamp

ROBOT = openarm_type.robot()
BAND = np.array([0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.0])
SPEED = 2.0
LIMIT = ROBOT.limits.velocity
STEP = 0.01
"""Time between two states, s."""
Q = np.array([0.8, 0.5, 0.3, 1.2, 0.2, 0.1, -0.3])


class Guided:
    """The law at a position that a test moves."""

    def __init__(self, robot=ROBOT, speed=SPEED, dead_band=BAND):
        gravity = GravityRamp(openarm_type.MOUNTED, openarm_type.MOUNTED)
        blender = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(PayloadRamp({}), gravity))
        self.law = HandGuidingLaw(blender, robot, dead_band, np.full(7, speed))
        self.state, self.torque = MeasuredState(np.zeros(7), np.zeros(7)), np.zeros(7)

    def at(self, q, share=1.0, elapsed=10.0):
        """Compute the torque at ``q``, ``elapsed`` s after the last state.

        Return whether the position command follows where a ``share`` of it is sent.
        """
        self.state.q[:], self.state.elapsed = q, elapsed
        assert self.law.torque(self.state, self.torque) is TORQUE
        self.torque *= share
        return self.law.follow(self.torque)

    @property
    def command(self):
        return self.law.position_command


def test_the_torque_is_that_of_gravity():
    guided = Guided()
    guided.at(Q)
    np.testing.assert_allclose(guided.torque, ROBOT.gravity_torque(Q), rtol=0, atol=1e-12)


def test_the_first_command_is_the_measured_position():
    guided = Guided()
    assert guided.at(Q, elapsed=STEP)
    np.testing.assert_array_equal(guided.command, Q)


def test_within_the_dead_band_the_command_stays():
    guided = Guided()
    guided.at(Q)
    for share in (0.9, -0.9, 0.0, 0.5):
        assert guided.at(Q + share * BAND)
        np.testing.assert_array_equal(guided.command, Q)


@pytest.mark.parametrize('direction', [1.0, -1.0])
def test_beyond_it_the_arm_drags_the_command_behind(direction):
    guided = Guided()
    guided.at(Q)
    for distance in (0.1, 0.2, 0.5):
        guided.at(Q + direction * distance)
        np.testing.assert_allclose(guided.command, Q + direction * (distance - BAND), rtol=0, atol=1e-14)
    guided.at(Q + direction * (0.5 - BAND))
    np.testing.assert_allclose(guided.command, Q + direction * (0.5 - BAND), rtol=0, atol=1e-14)


@pytest.mark.parametrize('share', [0.0, 0.5, 0.999999999])
def test_while_a_part_of_the_torque_is_sent_there_is_no_command_and_the_last_one_stays(share):
    guided = Guided()
    assert not guided.at(Q, share)
    assert np.isnan(guided.command).all()
    assert guided.at(Q)
    assert not guided.at(Q + 1.0, share)
    assert not guided.law.follows
    np.testing.assert_array_equal(guided.command, Q)


def test_one_joint_whose_torque_is_limited_stops_the_commands_of_all():
    guided, share = Guided(), np.ones(7)
    guided.at(Q)
    share[3] -= 1e-9
    assert not guided.at(Q, share)


def test_a_torque_that_is_not_of_a_new_state_comes_without_a_command():
    guided = Guided()
    assert guided.at(Q)
    assert not guided.law.follow(guided.torque)
    assert not guided.law.follows


def test_at_an_activation_the_command_begins_at_the_measured_position_again():
    guided = Guided()
    guided.at(Q)
    guided.law.stop_following()
    assert guided.at(Q + 0.5 * BAND)
    np.testing.assert_array_equal(guided.command, Q + 0.5 * BAND)


# what limits it


@pytest.mark.parametrize('direction', [1.0, -1.0])
@pytest.mark.parametrize('speed', [SPEED, 1e6])
def test_the_command_moves_at_the_guiding_speed_at_most_and_not_above_the_velocity_limit(direction, speed):
    guided, allowed = Guided(speed=speed), np.minimum(speed, LIMIT) * STEP
    goal = Q + direction * (1.4 * LIMIT * STEP + BAND)
    guided.at(Q, elapsed=0.0)
    guided.at(Q + direction * BAND, elapsed=STEP)
    for states in (1, 2):
        assert guided.at(goal - direction * BAND * (states == 1), elapsed=STEP)
        assert not guided.law.jumps
        expected = np.minimum(states * allowed, abs(goal - BAND * direction * (states == 1) - Q) - BAND)
        np.testing.assert_allclose(direction * (guided.command - Q), expected, rtol=0, atol=1e-14)
    for _ in range(20):
        guided.at(goal, elapsed=STEP)
    np.testing.assert_allclose(guided.command, goal - direction * BAND, rtol=0, atol=1e-14)


def test_where_no_time_has_passed_the_command_stays():
    guided = Guided()
    guided.at(Q, elapsed=0.0)
    guided.at(Q + 1.0, elapsed=0.0)
    np.testing.assert_array_equal(guided.command, Q)


@pytest.mark.parametrize('wrong', [-Q, np.eye(7)[6] * 1e11, np.eye(7)[0] * 2.0 * np.pi, -np.eye(7)[3]], ids=str)
def test_a_state_that_the_arm_cannot_have_reached_does_not_move_the_command(wrong):
    guided = Guided()
    guided.at(Q, elapsed=0.0)
    jumped = ROBOT.joint_names[np.flatnonzero(abs(wrong) > 1.5 * LIMIT * STEP)[0]]
    for q in (Q + wrong, Q):  # to there and back
        assert not guided.at(q, elapsed=STEP)
        assert guided.law.jumped == jumped
        np.testing.assert_array_equal(guided.command, Q)
    assert guided.law.jumps == 2
    assert guided.at(Q, elapsed=STEP)
    assert (guided.law.jumps, guided.law.jumped) == (2, jumped)
    guided.law.stop_following()
    assert (guided.law.jumps, guided.law.jumped) == (0, '')


def test_a_jump_is_judged_by_the_velocity_limit_else_by_the_guiding_speed():
    limits = SimpleNamespace(velocity=np.where(np.arange(7) == 2, np.nan, LIMIT))
    robot = SimpleNamespace(joint_names=ROBOT.joint_names, continuous_joints=np.zeros(7, bool), limits=limits)
    allowed = 1.5 * np.where(np.arange(7) == 2, SPEED, LIMIT) * STEP
    for factor, follows in ((0.99, True), (1.01, False)):
        for joint in np.eye(7):
            guided = Guided(robot)
            guided.at(Q, elapsed=0.0)
            assert guided.at(Q + factor * allowed * joint, elapsed=STEP) == follows


def test_a_command_does_not_begin_at_a_state_that_jumps():
    guided = Guided()
    guided.at(Q, 0.5, elapsed=0.0)
    assert not guided.at(Q + 1.0, elapsed=STEP)
    assert not guided.at(Q, elapsed=STEP)
    assert guided.at(Q, elapsed=STEP)
    np.testing.assert_array_equal(guided.command, Q)


@pytest.mark.parametrize('direction', [1.0, -1.0])
def test_a_turn_of_a_continuous_joint_is_no_motion(direction):
    continuous = np.arange(7) == 4
    robot = SimpleNamespace(joint_names=ROBOT.joint_names, continuous_joints=continuous, limits=ROBOT.limits)
    guided, start = Guided(robot, dead_band=np.zeros(7)), np.where(continuous, direction * 3.13, Q)
    guided.at(start, elapsed=0.0)
    for k in range(1, 5):
        angle = direction * (3.13 + 0.01 * k)
        wrapped = (angle + np.pi) % (2.0 * np.pi) - np.pi
        assert guided.at(np.where(continuous, wrapped, Q), elapsed=STEP)
        np.testing.assert_allclose(guided.command, np.where(continuous, angle, Q), rtol=0, atol=1e-12)


def test_a_change_of_payload_after_the_first_torque_holds_the_command_until_the_next_activation():
    guided = Guided()
    guided.law.load_changed()
    assert guided.at(Q) and not guided.law.held
    guided.law.load_changed()
    assert guided.law.held
    assert not guided.at(Q + 0.5)
    np.testing.assert_array_equal(guided.command, Q)
    guided.law.stop_following()
    assert not guided.law.held
    assert guided.at(Q + 0.5)
    np.testing.assert_array_equal(guided.command, Q + 0.5)
