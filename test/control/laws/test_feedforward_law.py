"""What feedforward_node computes: the chosen terms at the desired motion, or with what is measured of it."""

from support.control.given_motion import GivenMotion

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.law import NO_VELOCITIES, TORQUE, MeasuredState, Outcome, Result
from robot_dynamics_ros.control.laws.feedforward_law import FeedforwardLaw
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity, PayloadRamp
from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation, MeasuredCompensation
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_follower import NO_TRAJECTORY, NOT_BEGUN, TrajectoryFollower

ROBOT = Robot.named('aubo_i5')
SECOND = 1_000_000_000
Q, QD = np.random.default_rng(1).uniform(-1.0, 1.0, (2, 6))
MOTION = np.random.default_rng(2).uniform(-1.0, 1.0, (3, 6))
PAYLOAD = Payload(3.0, (0.1, 0.0, 0.2))


def made(measured, terms=TERMS, load=None):
    """Return a law, its source and a state."""
    source = GivenMotion(np.zeros((3, 6)), MOTION)
    make = MeasuredCompensation if measured else Compensation
    blender = PayloadBlender(lambda robot: make(robot, terms), ROBOT, load or PayloadGravity.of(ROBOT))
    state = MeasuredState(Q.copy(), QD.copy())
    state.stamp, state.has_velocity = 7 * SECOND, True
    return FeedforwardLaw(source, source.desired, blender, measured), source, state


def expected(q, qd, qdd, robot=ROBOT, tolerance=1e-12):
    whole = robot.inverse_dynamics(q, qd, qdd) + robot.friction_torque(qd)
    return pytest.approx(whole, rel=tolerance, abs=tolerance)


def test_it_is_the_torque_of_the_desired_motion():
    (law, _, state), out = made(measured=False), np.full(6, np.nan)
    assert law.torque(state, out) is TORQUE
    assert out == expected(*MOTION)
    state.has_velocity = False  # nothing measured counts but the time
    state.qd[:] = np.nan
    assert law.torque(state, out) is TORQUE and out == expected(*MOTION)


def test_positions_and_velocities_may_be_the_measured_ones():
    (law, source, state), out = made(measured=True), np.full(6, np.nan)
    assert law.torque(state, out) is TORQUE
    rigid = ROBOT.inverse_dynamics(Q, QD, MOTION[2])
    # friction of the measured velocity would be positive feedback
    assert out == pytest.approx(rigid + ROBOT.friction_torque(MOTION[1], rigid), rel=1e-12, abs=1e-12)
    assert source.desired.tolist() == MOTION.tolist()


def test_measured_velocities_must_be_there():
    (law, source, state), out = made(measured=True), np.full(6, np.nan)
    state.has_velocity = False
    assert law.torque(state, out) is NO_VELOCITIES
    assert np.isnan(out).all() and source.stamps == []


@pytest.mark.parametrize('measured', [False, True])
@pytest.mark.parametrize('outcome', [Outcome.IDLE, Outcome.INCOMPLETE])
def test_without_a_motion_there_is_the_sources_reason(measured, outcome):
    (law, source, state), out = made(measured), np.full(6, np.nan)
    source.result = Result(outcome, 'why')
    assert law.torque(state, out) is source.result
    assert np.isnan(out).all() and source.stamps == [state.stamp]


@pytest.mark.parametrize('terms', [['gravity'], ['coriolis', 'inertia'], ['friction']], ids='+'.join)
def test_only_the_chosen_terms_count(terms):
    (law, _, state), out, alone = made(False, terms), np.full(6, np.nan), np.empty(6)
    law.torque(state, out)
    Compensation(ROBOT, terms).torque(*MOTION, alone)
    assert out.tolist() == alone.tolist()


def test_payload_is_that_of_the_time_at_which_the_state_came():
    load = PayloadGravity(PayloadRamp().to('ee_link', PAYLOAD, 7 * SECOND, 2.0), PayloadGravity.of(ROBOT).gravity)
    (law, _, state), out = made(False, load=load), np.full(6, np.nan)
    state.stamp, state.time = 7 * SECOND, 8 * SECOND
    law.torque(state, out)
    half = Payload(0.5 * PAYLOAD.mass, PAYLOAD.com, 0.5 * PAYLOAD.inertia)
    assert out == expected(*MOTION, ROBOT.with_payload(half, 'ee_link'), tolerance=1e-9)


def test_stop_and_a_clock_that_is_set_back_reach_the_source():
    source = GivenMotion(np.zeros((3, 6)), MOTION)
    blender = PayloadBlender(lambda robot: Compensation(robot, TERMS), ROBOT, PayloadGravity.of(ROBOT))
    law = FeedforwardLaw(source, source.desired, blender, False)
    law.stop_following()
    law.set_back(5)
    assert source.calls == ['stop', ('set_back', 5)]


def test_along_a_trajectory_it_is_the_torque_of_each_time():
    """And nothing after a silence where the arm is no longer on it."""
    desired, told, out = np.zeros((3, 6)), [], np.full(6, np.nan)
    follower = TrajectoryFollower(ROBOT, desired, 0.1, told.append, np.full(6, np.inf))
    blender = PayloadBlender(lambda robot: Compensation(robot, TERMS), ROBOT, PayloadGravity.of(ROBOT))
    law, state = FeedforwardLaw(follower, desired, blender, False), MeasuredState(Q.copy(), QD.copy())
    assert law.torque(state, out) is NO_TRAJECTORY
    trajectory = Trajectory([0.0, 2.0], [Q, Q + 1.0], [QD, -QD], np.zeros((2, 6)))
    follower.receive(trajectory, SECOND, SECOND)
    assert law.torque(state, out) is NOT_BEGUN and np.isnan(out).all()
    motion, state.resumed = np.empty((3, 6)), False
    for seconds in (0.0, 0.5, 1.9, 2.0):
        state.stamp = SECOND + round(seconds * SECOND)
        assert law.torque(state, out) is TORQUE
        trajectory.sample(seconds, *motion)
        assert out == expected(*motion)
    state.resumed = True
    assert law.torque(state, out).outcome is Outcome.IDLE and len(told) == 1
    law.stop_following()
    assert law.torque(state, out) is NO_TRAJECTORY
