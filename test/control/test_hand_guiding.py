"""The position command of hand guiding: where the arm is, to within the dead band, and only with the whole torque."""

from support import openarm_type

import numpy as np
import pytest

from robot_dynamics_ros.control.hand_guiding import HandGuidingLaw
from robot_dynamics_ros.control.law import TORQUE, MeasuredState
from robot_dynamics_ros.control.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.control.payload_gravity import GravityRamp, PayloadGravity, PayloadRamp

ROBOT = openarm_type.robot()
BAND = np.array([0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.0])
Q = np.array([0.8, 0.5, 0.3, 1.2, 0.2, 0.1, -0.3])


class Guided:
    """The law at a position that a test moves."""

    def __init__(self):
        gravity = GravityRamp(openarm_type.MOUNTED, openarm_type.MOUNTED)
        blender = PayloadBlender(GravityTorque, ROBOT, PayloadGravity(PayloadRamp({}), gravity))
        self.law = HandGuidingLaw(blender, BAND)
        self.state, self.torque = MeasuredState(np.zeros(7), np.zeros(7)), np.zeros(7)

    def at(self, q, share=1.0):
        """Compute the torque at ``q``; return whether the position command follows where a ``share`` of it is sent."""
        self.state.q[:] = q
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
    assert guided.at(Q)
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
        np.testing.assert_allclose(guided.command, Q + direction * (distance - BAND), rtol=0, atol=1e-15)
    guided.at(Q + direction * (0.5 - BAND))
    np.testing.assert_allclose(guided.command, Q + direction * (0.5 - BAND), rtol=0, atol=1e-15)


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
    guided = Guided()
    guided.at(Q)
    guided.torque[3] -= 1e-9
    assert not guided.law.follow(guided.torque)


def test_at_an_activation_the_command_begins_at_the_measured_position_again():
    guided = Guided()
    guided.at(Q)
    guided.law.stop_following()
    assert guided.at(Q + 0.5 * BAND)
    np.testing.assert_array_equal(guided.command, Q + 0.5 * BAND)
