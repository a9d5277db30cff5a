"""The law of external_torque_node: what it needs of a state, the meanings of effort, contacts and interruptions."""

from types import SimpleNamespace

import numpy as np
import pytest

from robot_dynamics_ros import Robot
from robot_dynamics_ros.control.contact_detection import ContactDetector
from robot_dynamics_ros.control.external_torque_law import NO_EFFORTS, REPEATED, SETTLES, ExternalTorqueLaw
from robot_dynamics_ros.control.friction_tracker import FrictionTracker
from robot_dynamics_ros.control.law import NO_VELOCITIES, TORQUE
from robot_dynamics_ros.control.measured_effort import MeasuredEffort
from robot_dynamics_ros.control.momentum_observer import GAIN, MomentumObserver
from robot_dynamics_ros.control.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.control.payload_gravity import PayloadGravity
from robot_dynamics_ros.control.threshold_learning import ThresholdLearning

ROBOT = Robot.named('aubo_i5')
N = ROBOT.nv
Q = np.array([0.2, -0.5, 0.7, 0.3, 0.6, 0.1])
GRAVITY = ROBOT.gravity_torque(Q)
PUSH = np.array([4.0, -8.0, 3.0, 0.5, 0.2, 0.1])
PERIOD = 4_000_000


class Arm:
    """A law whose arm stands still, and what became of the last state."""

    def __init__(self, meaning='torque', levels=1.0):
        self.tracker, self.detector = FrictionTracker(ROBOT), ContactDetector(N, GAIN)
        self.detector.thresholds[0] = levels
        learning = ThresholdLearning(self.detector, ROBOT.joint_names, np.zeros(N))
        effort = MeasuredEffort(meaning, ROBOT.joint_names, ROBOT.model.torque_constant)
        gravity = PayloadBlender(GravityTorque, ROBOT, PayloadGravity.of(ROBOT))
        observer = MomentumObserver(ROBOT, tracker=self.tracker)
        self.law = ExternalTorqueLaw(observer, self.detector, learning, effort, gravity)
        self.law.warm_up()
        self.state = SimpleNamespace(q=Q, qd=np.zeros(N), effort=np.zeros(N), has_velocity=True, has_effort=True)
        self.state.stamp, self.out = 10 * PERIOD, np.full(N, np.nan)

    def step(self, effort, count=1):
        for _ in range(count):
            self.state.stamp += PERIOD
            self.state.effort = effort
            result = self.law.torque(self.state, self.out)
        return result


@pytest.mark.parametrize(
    ('meaning', 'effort'),
    [
        ('torque', lambda torque: torque),
        ('current', ROBOT.motor_current),
        ('torque_without_gravity', lambda torque: torque - GRAVITY),
    ],
)
def test_every_meaning_of_effort_leads_to_the_same_external_torque(meaning, effort):
    arm = Arm(meaning)
    held = effort(GRAVITY - PUSH + ROBOT.friction.offset)
    assert arm.step(held) is SETTLES
    assert arm.step(held, 200) is TORQUE
    np.testing.assert_allclose(arm.out, PUSH, atol=1e-6)


def test_a_contact_is_counted_once_and_teaches_no_friction():
    arm = Arm()
    arm.step(GRAVITY + ROBOT.friction.offset, 100)
    assert not arm.detector.contact
    arm.state.qd = np.full(N, 0.1)  # it would learn
    arm.step(GRAVITY - 100.0, 100)
    assert arm.detector.contact and arm.law.contacts == 1
    assert (arm.tracker.scale == 1.0).all() and not arm.tracker.offset.any()


def test_a_state_that_lacks_something_has_no_torque():
    arm, held = Arm(), GRAVITY + ROBOT.friction.offset
    arm.step(held, 100)
    arm.state.has_velocity = False
    assert arm.step(held) is NO_VELOCITIES
    arm.state.has_velocity, arm.state.has_effort = True, False
    assert arm.step(held) is NO_EFFORTS
    arm.state.has_effort = True
    assert arm.step(held) is TORQUE  # a step of three periods
    assert arm.law.torque(arm.state, arm.out) is REPEATED
    assert arm.step(held) is TORQUE


@pytest.mark.parametrize('interrupt', [ExternalTorqueLaw.stop_following, lambda law: law.set_back(0)])
def test_an_activation_and_a_clock_that_goes_back_end_contact_and_start_the_observer_anew(interrupt):
    arm = Arm()
    arm.step(GRAVITY - PUSH, 200)
    assert arm.detector.contact
    interrupt(arm.law)
    assert not arm.detector.contact
    assert arm.step(GRAVITY - PUSH) is SETTLES
    assert arm.law.learning.begin(1.0, 1.5).startswith('no external torque is known')
