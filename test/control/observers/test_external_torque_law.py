"""The law of external_torque_node: what it needs of a state, the meanings of effort, contacts and interruptions."""

from dataclasses import replace

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.guards.measured_effort import MeasuredEffort
from robot_dynamics_ros.control.law import NO_VELOCITIES, TORQUE, MeasuredState
from robot_dynamics_ros.control.observers.contact_detection import ContactDetector
from robot_dynamics_ros.control.observers.external_torque_law import (
    NO_EFFORTS,
    REPEATED,
    SETTLES,
    SLOW,
    ExternalTorqueLaw,
)
from robot_dynamics_ros.control.observers.friction_tracker import FrictionTracker
from robot_dynamics_ros.control.observers.momentum_observer import FRICTION_TIME_CONSTANT, GAIN, MomentumObserver
from robot_dynamics_ros.control.observers.threshold_learning import ThresholdLearning
from robot_dynamics_ros.control.payload.payload_blending import GravityTorque, PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity, PayloadRamp

ROBOT = Robot.named('aubo_i5')
N = ROBOT.nv
Q = np.array([0.2, -0.5, 0.7, 0.3, 0.6, 0.1])
GRAVITY = ROBOT.gravity_torque(Q)
PUSH = np.array([4.0, -8.0, 3.0, 0.5, 0.2, 0.1])
PERIOD = 4_000_000


class Arm:
    """A law whose arm stands still, and what became of the last state."""

    def __init__(self, meaning='torque', levels=1.0):
        self.detector = ContactDetector(N, GAIN)
        self.tracker = FrictionTracker(ROBOT, FRICTION_TIME_CONSTANT, self.detector.threshold)
        self.detector.thresholds[0] = levels
        learning = ThresholdLearning(self.detector, ROBOT.joint_names, np.zeros(N))
        effort = MeasuredEffort(meaning, ROBOT.joint_names, ROBOT.model.torque_constant)
        gravity = PayloadBlender(GravityTorque, ROBOT, PayloadGravity.of(ROBOT))
        observer = MomentumObserver(ROBOT, tracker=self.tracker)
        self.law = ExternalTorqueLaw(ROBOT, observer, self.detector, learning, effort, gravity)
        self.state = MeasuredState(Q, np.zeros(N), np.zeros(N))
        self.state.has_velocity = self.state.has_effort = True
        self.state.stamp = self.state.time = 10 * PERIOD
        self.out = np.full(N, np.nan)

    def step(self, effort, count=1):
        for _ in range(count):
            self.state.stamp += PERIOD
            self.state.time = self.state.stamp
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


def swing(seconds):
    """Positions, velocities and joint torques (m, n) of a motion of all joints that reverses."""
    t = PERIOD * 1e-9 * np.arange(round(seconds / (PERIOD * 1e-9)))[:, None]
    rate = 1.5 + 0.2 * np.arange(N)
    q, qd, qdd = Q - 0.6 / rate * np.cos(rate * t), 0.6 * np.sin(rate * t), 0.6 * rate * np.cos(rate * t)
    friction = ROBOT.friction_torque(qd)
    return t[:, 0], q, qd, ROBOT.inverse_dynamics(q, qd, qdd) + friction


@pytest.mark.compiled
@pytest.mark.parametrize('load', ['a force that grows at 3 N/s to 40 N', 'a body of 3 kg'])
def test_a_load_that_was_taken_for_friction_is_no_contact_that_stays_once_it_is_gone(load):
    t, q, qd, torque = swing(40.0)
    if load == 'a body of 3 kg':
        carried = ROBOT.with_payload(Payload(3.0, (0.0, 0.0, 0.0)), 'ee_link')
        pushed = torque + carried.gravity_torque(q) - ROBOT.gravity_torque(q)
    else:
        force = np.minimum(3.0 * t, 40.0)[:, None] * np.array([0.0, 0.6, 0.8])
        pushed = torque - np.einsum('ki,kij->kj', force, ROBOT.jacobian(q, ROBOT.link_names[-1])[:, 3:])
    pushed = np.where(t[:, None] < 20.0, pushed, torque)
    # those of the measured AUBO-i5
    arm = Arm(levels=np.array([4.1, 7.8, 4.7, 0.6, 0.4, 0.6]) if 'force' in load else np.full(N, np.inf))
    contact = []
    for k in range(len(t)):
        if 'body' in load and k == len(t) // 2:
            arm.detector.thresholds[0] = [4.1, 7.8, 4.7, 0.6, 0.4, 0.6]
        arm.state.q, arm.state.qd = q[k], qd[k]
        arm.step(pushed[k])
        contact.append(arm.detector.contact)
    assert not np.array(contact)[t > 21.0].any()


def test_friction_is_forgotten_where_payload_or_gravity_change_and_at_activation():
    arm = Arm(levels=np.inf)
    now = PayloadGravity.of(ROBOT)
    load = replace(now, payload=PayloadRamp().to('ee_link', Payload(3.0, (0.0, 0.0, 0.0)), 0, 1.0))
    held = GRAVITY + ROBOT.friction.offset

    def stays(change):
        arm.tracker.scale[:] = 1.1
        change()
        arm.step(held)
        return bool((arm.tracker.scale == 1.1).all())

    arm.step(held, 100)
    assert stays(lambda: arm.law.take(now))
    assert not stays(lambda: arm.law.take(load))
    assert stays(lambda: arm.law.take(load)), 'a message that is repeated'
    assert not stays(lambda: arm.law.take(now))
    assert not stays(arm.law.stop_following)


def test_an_effort_far_beyond_the_limit_has_no_torque_and_the_observer_starts_anew():
    arm, held = Arm(), GRAVITY + ROBOT.friction.offset
    effort = ROBOT.limits.effort[1]
    arm.step(held, 100)
    wrong = held + np.where(np.arange(N) == 1, 11.0 * effort, 0.0)
    name = ROBOT.joint_names[1]
    assert arm.step(wrong).reason == f'effort of joint {name!r} above 10 times its limit {effort:g}'
    assert arm.step(held) is SETTLES


def test_states_below_ten_hertz_are_named():
    arm, held = Arm(), GRAVITY + ROBOT.friction.offset
    assert arm.step(held) is SETTLES
    for _ in range(3):
        arm.state.stamp += 150_000_000
        assert arm.step(held) is SLOW
    assert arm.step(held) is SETTLES
