"""A law while the payload changes: against the same law of a robot that carries what is carried in between."""

import sys
import threading

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.compensation import TERMS, Compensation
from robot_dynamics_ros.control.handover import GravityTorque, Handover
from robot_dynamics_ros.control.joint_control import LAWS, JointControl
from robot_dynamics_ros.control.payload_ramp import PayloadRamp

ROBOT = Robot.named('aubo_i5')
FRAME = 'ee_link'
OLD = Payload(1.0, (0.0, 0.02, 0.05), np.diag([0.002, 0.002, 0.001]))
NEW = Payload(4.0, (0.1, -0.05, 0.2), np.diag([0.05, 0.06, 0.04]))
SECOND = 1_000_000_000
START, RAMP_TIME = 7 * SECOND, 2.0
ENOUGH = 300
RAMP = PayloadRamp({FRAME: OLD}).to(FRAME, NEW, START, RAMP_TIME)
Q, QD, QDD, FEEDFORWARD = np.random.default_rng(5).uniform(-2.0, 2.0, (4, 6))
DESIRED = np.random.default_rng(6).uniform(-2.0, 2.0, (3, 6))


def at(share):
    return START + round(share * RAMP_TIME * SECOND)


def carried(share):
    """Return the robot with what it carries in between, by the payload's definition."""
    mix = (1.0 - share) * OLD.ten_parameters + share * NEW.ten_parameters
    m, h = mix[0], mix[1:4]
    c = h / m
    about_origin = np.array([[mix[4], mix[5], mix[6]], [mix[5], mix[7], mix[8]], [mix[6], mix[8], mix[9]]])
    about_centre = about_origin - m * (c @ c * np.eye(3) - np.outer(c, c))
    return ROBOT.with_payload(Payload(m, c, about_centre), FRAME)


def control(law):
    return lambda robot: JointControl(robot, law, np.full(6, 100.0), np.full(6, 10.0), 5.0)


MAKES = {
    'gravity': (GravityTorque, (Q,)),
    'compensation': (lambda robot: Compensation(robot, TERMS), (Q, QD, QDD)),
    'without gravity': (lambda robot: Compensation(robot, ['inertia', 'coriolis']), (Q, QD, QDD)),
    **{law: (control(law), (Q, QD, DESIRED, FEEDFORWARD)) for law in LAWS},
}


@pytest.mark.parametrize(('make', 'inputs'), MAKES.values(), ids=MAKES)
@pytest.mark.parametrize('share', [-0.5, 0.0, 0.3, 0.9, 1.0, 1.5])
def test_the_torque_is_that_of_what_is_carried_in_between(make, inputs, share):
    found, expected = np.full(6, np.nan), np.empty(6)
    Handover(make, ROBOT, RAMP).torque(at(share), *inputs, out=found)
    make(carried(min(max(share, 0.0), 1.0))).torque(*inputs, out=expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize('binding', ['generic', 'specialised'])
def test_it_does_not_matter_what_answers(binding):
    found = np.empty(6)
    Handover(GravityTorque, ROBOT.with_binding(binding), RAMP).torque(at(0.5), Q, out=found)
    np.testing.assert_allclose(found, carried(0.5).gravity_torque(Q), rtol=0, atol=1e-11)


def test_a_torque_of_the_end_is_mixed_with_that_of_the_beginning():
    handover = Handover(GravityTorque, ROBOT, RAMP)
    found = np.empty(6)
    handover.after.torque(Q, out=found)
    np.testing.assert_array_equal(found, ROBOT.with_payload(NEW, FRAME).gravity_torque(Q))
    handover.mix(at(0.25), Q, out=found)
    np.testing.assert_allclose(found, carried(0.25).gravity_torque(Q), rtol=0, atol=1e-11)


def test_a_clock_that_jumps_back_after_the_ramp_brings_nothing_back():
    handover = Handover(GravityTorque, ROBOT, RAMP)
    found = np.empty(6)
    for share in (1.0, 0.5, -1.0):
        handover.torque(at(share), Q, out=found)
        np.testing.assert_array_equal(found, ROBOT.with_payload(NEW, FRAME).gravity_torque(Q))


def test_the_next_load_takes_the_place_of_the_last_from_where_that_is():
    handover = Handover(GravityTorque, ROBOT, RAMP)
    found, wall = np.empty(6), ROBOT.with_gravity((0.0, 9.81, 0.0))
    handover.take(wall, RAMP.to(FRAME, Payload(0.0, (0.0, 0.0, 0.0)), at(0.5), RAMP_TIME))
    middle = carried(0.5).with_gravity(wall.gravity).gravity_torque(Q)
    for share, expected in (
        (0.5, middle),
        (1.0, 0.5 * (middle + wall.gravity_torque(Q))),
        (1.5, wall.gravity_torque(Q)),
    ):
        handover.torque(at(share), Q, out=found)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


@pytest.fixture
def threads_take_turns_often():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures('threads_take_turns_often')
def test_loads_may_change_while_torques_are_asked_for():
    """Every torque is that of one load, however the threads meet."""
    handover = Handover(GravityTorque, ROBOT, RAMP)
    changes, over = [], threading.Event()

    def change():
        k = len(changes)
        handover.take(ROBOT, PayloadRamp().to(FRAME, NEW if k % 2 else OLD, at(k % 3 * 0.5), RAMP_TIME * (k % 2)))
        changes.append(k)

    def torque(out):
        handover.torque(at(0.7), Q, out=out)
        return out

    def keep_changing():
        while not over.is_set():
            change()

    right = []
    for _ in range(6):
        change()
        right.append(torque(np.empty(6)))
    thread = threading.Thread(target=keep_changing)
    thread.start()
    try:
        found, asked = np.empty(6), 0
        while thread.is_alive() and (asked < ENOUGH or len(changes) < ENOUGH):
            asked += 1
            assert (np.abs(torque(found) - right).max(axis=1) < 1e-9).any()
    finally:
        over.set()
        thread.join()
    assert asked >= ENOUGH and len(changes) >= ENOUGH
