"""Efforts of plans: against the same law at single states, and against what a controller makes of them."""

import numpy as np
import pytest

from robot_dynamics_ros import Payload, Robot
from robot_dynamics_ros.control.payload.payload_blending import PayloadBlender
from robot_dynamics_ros.control.payload.payload_gravity import PayloadGravity, PayloadRamp
from robot_dynamics_ros.control.terms.compensation import TERMS, Compensation
from robot_dynamics_ros.control.trajectories.planned_efforts import PlannedEfforts, check_defined, planned_efforts
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import sampled
from robot_dynamics_ros.errors import ArgumentError

ROBOT = Robot.named('aubo_i5')
SECOND = 1_000_000_000
START = 7 * SECOND
NO_LIMIT = np.full(6, np.inf)
POSITIONS = np.array(
    [[0.0, -0.3, 0.6, 0.0, 0.4, 0.0], [0.5, -0.9, 0.9, 0.3, 0.1, -0.4], [1.1, -0.4, 0.2, 0.6, 0.5, 0.3]]
)
REST = np.zeros(6)


def law_of(terms=TERMS, ramp=None):
    current = PayloadGravity.of(ROBOT)
    if ramp is not None:
        current = PayloadGravity(ramp, current.gravity)
    return PayloadBlender(lambda robot: Compensation(robot, terms), ROBOT, current)


def quintic():
    """A motion through three points, at rest at both ends."""
    qd = np.array([REST, [0.5, -0.1, -0.2, 0.3, 0.0, 0.2], REST])
    qdd = np.array([REST, [0.2, 0.3, 0.1, -0.2, 0.4, -0.1], REST])
    return Trajectory([0.0, 0.8, 2.0], POSITIONS, qd, qdd)


def cubic():
    return Trajectory([0.0, 0.8, 2.0], POSITIONS, np.zeros((3, 6)))


@pytest.mark.parametrize('terms', [TERMS, ('gravity',), ('coriolis', 'inertia'), ('inertia', 'friction')], ids='+'.join)
def test_each_effort_is_the_sum_of_the_terms_at_its_time(terms):
    plan = quintic()
    found = planned_efforts(law_of(terms), sampled(plan, 0.05), START, START, NO_LIMIT)
    assert found.limited == 0 and len(found.times) == 41
    out = np.empty((3, 6))
    for t, effort in zip(found.times, found.effort, strict=True):
        plan.sample(t, *out)
        q, qd, qdd = out
        parts = {
            'gravity': ROBOT.gravity_torque(q),
            'coriolis': ROBOT.coriolis_torque(q, qd),
            'inertia': ROBOT.mass_matrix(q) @ qdd,
        }
        parts['friction'] = ROBOT.friction_torque(qd, sum(parts.values()))
        assert effort == pytest.approx(sum(parts[term] for term in terms), rel=1e-9, abs=1e-9)


def test_a_controller_holds_the_last_effort_which_is_that_of_an_arm_at_rest():
    """A cubic brakes hardest at its last point."""
    plan = cubic()
    found = planned_efforts(law_of(), sampled(plan, 0.05), START, START, NO_LIMIT)
    assert found.effort[-1] == pytest.approx(ROBOT.gravity_torque(POSITIONS[-1]) + ROBOT.friction_torque(REST))
    before = ROBOT.inverse_dynamics(*(row[-1] for row in sampled(plan, 0.05)[1:4]))
    assert np.abs(before - found.effort[-1]).max() > 1.0


def test_the_motion_that_is_passed_is_not_changed():
    motion = sampled(cubic(), 0.05)
    before = [values.copy() for values in motion]
    planned_efforts(law_of(), motion, START, START, NO_LIMIT)
    for values, expected in zip(motion, before, strict=True):
        np.testing.assert_array_equal(values, expected)


def test_the_payload_is_that_of_the_time_of_each_point():
    """It changes from 0.5 s to 1.5 s after the start of the motion."""
    payload = Payload(3.0, (0.0, 0.0, 0.1))
    frame = ROBOT.link_names[-1]
    ramp = PayloadRamp({frame: payload}, {}, START + SECOND // 2, SECOND)
    plan = Trajectory([0.0, 2.0], [POSITIONS[1], POSITIONS[1]], np.zeros((2, 6)))
    found = planned_efforts(law_of(('gravity',), ramp), sampled(plan, 0.25), START, START, NO_LIMIT)
    bare = ROBOT.gravity_torque(POSITIONS[1])
    loaded = ROBOT.with_payload(payload, frame).gravity_torque(POSITIONS[1])
    assert np.abs(loaded - bare).max() > 5.0
    for t, effort in zip(found.times, found.effort, strict=True):
        assert effort == pytest.approx(bare + np.clip(t - 0.5, 0.0, 1.0) * (loaded - bare), rel=1e-9, abs=1e-9)


def test_points_before_now_get_the_payload_in_force_now():
    """Of a plan that began 1 s ago by its stamp, in the middle of a ramp."""
    payload, now = Payload(3.0, (0.0, 0.0, 0.1)), START + SECOND
    frame = ROBOT.link_names[-1]
    ramp = PayloadRamp({frame: payload}, {}, START, 2 * SECOND)
    plan = Trajectory([0.0, 3.0], [POSITIONS[1], POSITIONS[1]], np.zeros((2, 6)))
    found = planned_efforts(law_of(('gravity',), ramp), sampled(plan, 0.25), START, now, NO_LIMIT)
    bare = ROBOT.gravity_torque(POSITIONS[1])
    loaded = ROBOT.with_payload(payload, frame).gravity_torque(POSITIONS[1])
    for t, effort in zip(found.times, found.effort, strict=True):
        assert effort == pytest.approx(bare + np.clip(t / 2.0, 0.5, 1.0) * (loaded - bare), rel=1e-9, abs=1e-9)


def test_an_effort_at_its_limit_is_not_counted_for_its_rounding():
    free = planned_efforts(law_of(), sampled(quintic(), 0.05), START, START, NO_LIMIT)
    limit = np.abs(free.effort).max(axis=0) * (1.0 - 1e-14)
    found = planned_efforts(law_of(), sampled(quintic(), 0.05), START, START, limit)
    assert found.limited == 0 and (np.abs(found.effort) <= limit).all()
    assert planned_efforts(law_of(), sampled(quintic(), 0.05), START, START, limit * (1.0 - 1e-6)).limited > 0


def test_efforts_are_limited_and_counted():
    limit = np.array([30.0, 20.0, 30.0, 5.0, 5.0, 5.0])
    free = planned_efforts(law_of(), sampled(quintic(), 0.05), START, START, NO_LIMIT)
    found = planned_efforts(law_of(), sampled(quintic(), 0.05), START, START, limit)
    np.testing.assert_array_equal(found.effort, np.clip(free.effort, -limit, limit))
    assert 0 < found.limited == (np.abs(free.effort) > limit).any(axis=1).sum()


def test_an_effort_that_is_not_finite_is_refused_with_its_time():
    class Law:
        def torque(self, time, q, qd, qdd, out):
            out[:] = np.nan if time == START + SECOND // 5 else 0.0

    with pytest.raises(ArgumentError, match=r'its effort at 0\.2 s is not finite'):
        planned_efforts(Law(), sampled(quintic(), 0.2), START, START, NO_LIMIT)


def test_the_interpolation_error_is_that_of_lines_between_the_points():
    """Against each sample, by the line through the two points around it."""
    plan = quintic()
    found = planned_efforts(law_of(), sampled(plan, 0.02), START, START, NO_LIMIT)
    times = [0.0, 0.8, 2.0]
    expected = np.zeros(6)
    for t, effort in zip(found.times, found.effort, strict=True):
        k = 0 if t < 0.8 else 1
        share = (t - times[k]) / (times[k + 1] - times[k])
        line = (1.0 - share) * found.at(times)[k] + share * found.at(times)[k + 1]
        expected = np.maximum(expected, np.abs(line - effort))
    assert found.interpolation_error(times) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert expected.max() > 1.0
    assert found.interpolation_error(found.times).max() == 0.0


def test_efforts_at_points_are_those_of_their_samples():
    found = PlannedEfforts(np.array([0.0, 0.1, 0.2]), np.arange(6.0).reshape(3, 2), np.zeros((3, 2)), np.ones(2))
    assert found.at([0.0, 0.2]).tolist() == [[0.0, 1.0], [4.0, 5.0]]


UNDEFINED = {
    'positions only': (Trajectory([0.0, 1.0], POSITIONS[:2]), 'points 0 and 1 do not both have velocities'),
    'one point without': (
        Trajectory([0.0, 1.0, 2.0], POSITIONS, [REST, REST, REST * np.nan]),
        'points 1 and 2 do not both have velocities',
    ),
    'a start that is open': (Trajectory([0.3], POSITIONS[:1]), 'its first point is at 0.3 s'),
}


@pytest.mark.parametrize('case', UNDEFINED)
def test_a_plan_that_leaves_its_motion_open_is_refused(case):
    plan, culprit = UNDEFINED[case]
    with pytest.raises(ArgumentError, match=culprit):
        check_defined(plan)


def test_rest_constant_velocity_and_curves_are_determined():
    cruise = np.full((2, 6), 0.5)
    check_defined(Trajectory([0.0], POSITIONS[:1]))
    check_defined(Trajectory([0.0, 1.0], POSITIONS[[0, 0]]))
    check_defined(Trajectory([0.0, 1.0], [REST, REST + 0.5], cruise))
    check_defined(cubic())
    check_defined(quintic())
